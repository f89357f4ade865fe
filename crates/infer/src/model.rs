//! What is tried: what a guess begins with, how its changes spread, and how hard.

use crate::change::Effort;
use crate::prior::Shares;

/// Models have no more atoms than one for so many rows.
const MANY: usize = 5;
/// A pattern must predict the held-out rows so many times better than the gravity model.
pub(crate) const DULL: f64 = 1.5;
/// More than [`DULL`] where the gravity model leaves less than this part, as it does on dense traffic: a pattern that leaves half as much is then chance.
pub(crate) const DENSE: f64 = 0.08;

/// What is tried and how hard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Atoms beside neighbours while grids are compared: first of the better third of all grids, then of the best.
    pub first_steps: [usize; 2],
    /// Conjugate gradients of the answer.
    pub effort: Effort,
    /// One row of so many is held out.
    pub hold_out: u64,
    /// Of what is held out.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let effort = Effort { rounds: 30, steps: 50, tolerance: 1e-9 };
        Self { first_steps: [8, 22], effort, hold_out: 8, seed: 1 }
    }
}

/// What a guess begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Every host's bytes go to all others, by what these receive ([`crate::change::evenly`]).
    Even,
    /// Neighbours on the grid and so many more atoms.
    Atoms(usize),
    /// Jobs that atoms don't explain have the fewest flows ([`crate::sparse`]).
    Fewest,
    /// What jobs sent before ([`crate::memory`]).
    Remembered,
}

/// How the guess is made and what may change of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// What it begins with.
    pub start: Start,
    /// How changes spread.
    pub shares: Shares,
}

/// Changes go to whole families as well as to single pairs, to those that carry much a little more.
pub(crate) const BROAD: Shares = Shares { opposite: 0.9, offset: 0.5, alike: 0.5, growth: 0.5, floor: 0.3 };
/// Changes go to pairs that carry much.
pub(crate) const MIDDLE: Shares = Shares { opposite: 0.9, offset: 0.2, alike: 0.2, growth: 1.0, floor: 0.3 };
/// Hardly any go to pairs that carry little.
pub(crate) const NARROW: Shares = Shares { opposite: 0.9, offset: 0.1, alike: 0.1, growth: 1.5, floor: 0.1 };

/// How many atoms beside neighbours are tried.
pub(crate) const ATOMS: [usize; 5] = [0, 12, 24, 48, 96];

/// What is tried with so many rows and neighbours, in order of atoms.
pub fn models(rows: usize, neighbours: usize) -> impl Iterator<Item = Model> {
    let few = move |atoms: &usize| (neighbours + atoms) * MANY <= rows;
    let atoms = ATOMS.into_iter().filter(few).map(Start::Atoms);
    let starts = std::iter::once(Start::Even).chain(atoms);
    starts.flat_map(|start| [BROAD, MIDDLE, NARROW].map(|shares| Model { start, shares }))
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
