//! Memory of the path search, kept between searches.

use crate::search::state::slots::{NONE, Slots};

/// Work space of one search, reused.
#[derive(Clone, Default)]
pub(crate) struct Scratch {
    pub(crate) epoch: u32,
    pub(crate) stamp: Vec<u32>,
    pub(crate) dist: Vec<f64>,
    pub(crate) via: Vec<u32>,
    pub(crate) layer: Vec<u32>,
    pub(crate) next: Vec<u32>,
    pub(crate) down: Vec<f64>,
    /// Weights that an item of several layers sees.
    pub(crate) mix: Vec<f64>,
    /// The path found.
    pub found: Vec<u32>,
    /// Slots that may not be used.
    pub forbidden: Vec<u32>,
}

impl Scratch {
    pub fn new(view: &Slots) -> Self {
        let switches = view.fabric.switch_count();
        Self {
            epoch: 0,
            stamp: vec![0; switches],
            dist: vec![0.0; switches],
            via: vec![NONE; switches],
            layer: Vec::new(),
            next: Vec::new(),
            down: vec![0.0; view.layout.as_ref().map_or(0, |l| l.cores * l.groups)],
            mix: Vec::new(),
            found: Vec::with_capacity(view.stride),
            forbidden: Vec::new(),
        }
    }
}
