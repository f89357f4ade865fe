//! Who talks to whom, from switch counters.
//!
//! | module | what |
//! |---|---|
//! | [`alike`] | links that share traffic evenly, taken together |
//! | [`answer`] | the answer, the same as traffic, and how far that is from the truth |
//! | [`bases`] | bases in which the traffic of applications is sparse |
//! | [`case`] | what stays the same while models are tried |
//! | [`change`] | the least change of a guess that explains the counters; solved exactly (`change::exact`) before they are refused |
//! | [`collective`] | whom ranks talk to in collectives |
//! | `coefficients` | least sums of coefficients in a basis |
//! | `communicators` | the grid whose rows and columns collectives run over |
//! | [`dictionary`] | sets of pairs that may carry the same bytes |
//! | [`error`] | why there is no answer |
//! | [`jobs`] | which pairs of hosts may have talked |
//! | [`memory`] | what a job showed before |
//! | [`model`] | what is tried: the guess, its changes, how hard |
//! | [`operator`] | pairs to counters and back, without a matrix |
//! | [`estimate`] | the whole way |
//! | [`fit`] | whether the answer fits the counters |
//! | [`grid`] | process grids: pairs of ranks by their offset |
//! | [`pattern`] | what whole applications do: atoms that are tried together |
//! | [`prior`] | which pairs differ from a guess together |
//! | [`pursuit`] | the few atoms that explain the counters |
//! | [`range`] | what pairs carry at least and at most, whoever talks to whom |
//! | [`ranking`] | which grid explains a job's counters |
//! | `reach` | how pairs reach their destinations: one way each, or split over many |
//! | [`recovery`] | the dissertation's own way: the least sum of coefficients in a basis |
//! | `rest` | what atoms leave to be explained |
//! | [`rows`] | counters as rows of the operator; who talked without a job |
//! | [`scope`](mod@scope) | what share of the counted traffic a verdict speaks of |
//! | [`sound`] | whether counters, lanes, jobs and routes can belong together, in words |
//! | [`sparsity`](mod@sparsity) | how few coefficients a matrix has in a basis |
//! | [`span`] | several intervals, each under routes of its own, as one |
//! | [`sparse`] | the fewest flows that explain the counters |
//! | `split` | the ways of all pairs where switches choose packet by packet |
//! | `sums` | sums over (source leaf, destination), by job, and what doubts make of them |
//! | [`target`] | what was counted, and how much each row of it matters |
//! | [`trust`] | how far an answer can be trusted |
//! | [`verdict`] | how far an answer can be trusted, in figures and in a word |
//! | [`turns`] | the fewest flows where jobs differ much: the loudest first |
//! | `ways` | the ways of all pairs under one routing, grown together |
//! | [`windows`] | what intervals under several routings say together |
//! | [`words`] | atoms in words |

pub mod alike;
pub mod answer;
pub mod bases;
pub mod case;
pub mod change;
mod coefficients;
pub mod collective;
mod communicators;
pub mod dictionary;
pub mod error;
pub mod estimate;
pub mod fit;
pub mod grid;
pub mod jobs;
pub mod memory;
pub mod model;
pub mod operator;
pub mod pattern;
pub mod prior;
pub mod pursuit;
pub mod range;
pub mod ranking;
mod reach;
pub mod recovery;
mod rest;
pub mod rows;
pub mod scope;
pub mod sound;
pub mod span;
pub mod sparse;
pub mod sparsity;
mod split;
mod sums;
pub mod target;
pub mod trust;
pub mod turns;
pub mod verdict;
mod ways;
pub mod windows;
pub mod words;

pub use netloom_counters::LaneScheme;

pub use alike::{Alike, alike_as_one, uneven};
pub use answer::{Errors, Estimate, errors, sums, traffic};
pub use bases::{Basis, Frame};
pub use dictionary::{Atom, Dictionary};
pub use error::InferError;
pub use estimate::{estimate, estimate_again};
pub use fit::{Fit, fit};
pub use grid::{Grid, Order};
pub use jobs::Participants;
pub use memory::Memory;
pub use model::Options;
pub use netloom_numeric::{LpEffort, LpEnd};
pub use operator::{Operator, Routing};
pub use pattern::{Hypothesis, Pattern};
pub use range::{Range, Told, largest, ranges};
pub use recovery::{Recovery, recover};
pub use rows::{OUTSIDE, Outsider, Rows, outsiders, rows};
pub use scope::{Scope, scope};
pub use span::{Span, span};
pub use sparsity::{Sparsity, sparsity};
pub use target::{Counted, Target};
pub use verdict::{JobTrust, Trust, Verdict};
pub use windows::{Joined, Seen, Window, joined};
pub use words::in_words;
