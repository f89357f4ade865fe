//! What was found: bytes, how the guess was made, and how far it can be trusted.

use crate::dictionary::Atom;
use crate::grid::Grid;
use crate::model::Model;
use crate::verdict::Trust;

/// What was found of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFound {
    /// Its grid; `None` where it has no rows of its own or fewer than two hosts.
    pub grid: Option<Grid>,
    /// The next best grid that does not explain it as well, and how much worse: its residual over the best's.
    pub rival: Option<(Grid, f64)>,
    /// The atoms of the guess, and what each of their pairs carries.
    pub atoms: Vec<(Atom, f64)>,
    /// Whether what was remembered of it has a part in the answer: its grid, or its bytes.
    pub remembered: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// `[pair of the operator given]`: bytes.
    pub bytes: Vec<f64>,
    /// Pairs that may carry something.
    pub possible: usize,
    /// What was found of every job.
    pub jobs: Vec<JobFound>,
    /// How the guess was made.
    pub model: Model,
    /// What the answer leaves unexplained: weighted residual over the counters' norm.
    pub residual: f64,
    /// The same on rows that were held out, of an answer without them; `None` where few atoms or flows explain all.
    pub held_out: Option<f64>,
    /// `[row of the operator given]`: counted minus explained, bytes; 0 where nothing is known.
    pub unexplained: Vec<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
}
