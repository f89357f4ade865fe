//! Model selection: what is tried, and judged by rows that were held out.
//!
//! Knows what a guess may begin with ([`Start`]), how its changes spread, the pairs, jobs and grids that stay the same meanwhile ([`Case`]),
//! and which model predicts the rows held out best. It does not say how far that one can be trusted.

use crate::settings::{ModelSettings, Shares};

mod case;
mod held_out;

pub use self::case::{Case, Guess};
pub(crate) use self::held_out::{HeldOut, tried_out};

/// What a guess begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Every host's bytes go to all others, by what these receive ([`crate::tomography::gravity`]).
    Gravity,
    /// Neighbours on the grid and so many more atoms.
    Atoms(usize),
    /// Jobs that atoms don't explain have the fewest flows ([`crate::basis_pursuit`]).
    Fewest,
    /// What jobs sent before ([`crate::estimate`]).
    Earlier,
}

/// How the guess is made and what may change of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// What it begins with.
    pub start: Start,
    /// How changes spread.
    pub shares: Shares,
}

/// What is tried with so many rows and neighbours, in order of atoms.
pub fn models(rows: usize, neighbours: usize, settings: &ModelSettings) -> impl Iterator<Item = Model> {
    let rows_per_atom = settings.rows_per_atom;
    let few = move |atoms: &usize| (neighbours + atoms) * rows_per_atom <= rows;
    let atoms = ModelSettings::ATOMS.into_iter().filter(few).map(Start::Atoms);
    let starts = std::iter::once(Start::Gravity).chain(atoms);
    starts.flat_map(|start| ModelSettings::SHARES.map(|shares| Model { start, shares }))
}

/// What a model made of the rows that were not held out.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub model: Model,
    /// What it leaves of those that were.
    pub error: f64,
    /// The same, less what is allowed to it for being dull or known from before: models are compared by this.
    pub judged: f64,
    /// `[pair]`: bytes.
    pub bytes: Vec<f32>,
}
