//! What is minimised: the largest load (eq. 3.3.2), or the number of links above a threshold (sec. 5.4.1).
//!
//! A formulation says the load of every link as a sum of columns and a constant; both objectives take it from there.
//! "Fewest links above a threshold" needs one binary a link that may become hot, with the largest load that could get
//! there as its constant: the tighter, the better the relaxation, so a limit on all loads helps twice.

use crate::exact::instance::NONE;
use crate::exact::model::{Model, Name, Objective, Var};

/// The flow over a link: columns with their units, and what flows anyway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// Columns and units.
    pub terms: Vec<(u32, f64)>,
    /// What crosses the link in every solution, in units.
    pub always: f64,
}

impl Flow {
    /// Adds up what several items say of one column.
    fn merge(&mut self) {
        self.terms.sort_by_key(|t| t.0);
        self.terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
    }
}

/// What to minimise. Loads in the instance's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The largest load of a link, at least `least` (the hosts' own links, or 0).
    MaxLoad {
        /// No solution can be below.
        least: f64,
    },
    /// The number of links between switches with loads above `threshold`; no load above `limit`.
    FewHot {
        /// A link above this counts.
        threshold: f64,
        /// No link may be above this (infinite: no limit).
        limit: f64,
    },
}

/// Adds the objective for the flows of all links to a model.
pub(crate) fn minimise(model: &mut Model, mut flows: Vec<Flow>, goal: Goal) {
    flows.iter_mut().for_each(Flow::merge);
    match goal {
        Goal::MaxLoad { least } => max_load(model, flows, least),
        Goal::FewHot { threshold, limit } => few_hot(model, flows, threshold, limit),
    }
}

/// The largest load; the column's number.
pub(crate) fn max_load(model: &mut Model, flows: Vec<Flow>, least: f64) {
    let capacity = |l: usize| model.instance.links[l].capacity;
    let always = flows.iter().enumerate().map(|(l, f)| f.always / capacity(l)).fold(least, f64::max);
    let max = model.column(Var::MaxLoad, always, f64::INFINITY, false);
    for (l, flow) in flows.into_iter().enumerate().filter(|(_, f)| !f.terms.is_empty()) {
        let (name, inv) = (link_name(model, "load_s#_p#", l), 1.0 / model.instance.links[l].capacity);
        let terms = flow.terms.into_iter().map(|(c, v)| (c, v * inv));
        model.at_most(name, -flow.always * inv, terms.chain([(max, -1.0)]));
    }
    model.objectives.push(Objective { name: "max_load", terms: vec![(max, 1.0)] });
}

fn few_hot(model: &mut Model, flows: Vec<Flow>, threshold: f64, limit: f64) {
    // What could flow over each link at most, one destination after the other.
    let mut most = vec![0.0; flows.len()];
    for hop in &model.instance.hops {
        most[hop.link as usize] += model.instance.nodes[hop.tail as usize].reach;
    }
    let mut hot = Vec::new();
    for (l, flow) in flows.into_iter().enumerate() {
        let inv = 1.0 / model.instance.links[l].capacity;
        let most = (most[l] * inv).min(limit);
        if flow.terms.is_empty() && flow.always * inv <= threshold {
            continue;
        }
        let name = link_name(model, "load_s#_p#", l);
        let terms = flow.terms.into_iter().map(|(c, v)| (c, v * inv));
        if most <= threshold {
            // It can't be hot, but for the limit.
            model.at_most(name, most - flow.always * inv, terms);
            continue;
        }
        let column = model.binary(Var::Hot(l as u32));
        hot.push((column, 1.0));
        model.at_most(name, threshold - flow.always * inv, terms.chain([(column, threshold - most)]));
    }
    model.objectives.push(Objective { name: "hot_links", terms: hot });
}

fn link_name(model: &Model, stem: &'static str, link: usize) -> Name {
    let link = &model.instance.links[link];
    Name(stem, [link.from, u32::from(link.port), NONE])
}
