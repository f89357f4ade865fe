//! Who talks to whom, from switch counters.
//!
//! The method is told, top down, in [`estimate`](mod@estimate); it calls the other rooms in this order, and each uses only those above it
//! (but for `estimate`, which uses all):
//!
//! | room | what it does |
//! |---|---|
//! | [`error`] | why there is no answer |
//! | [`settings`] | every constant that a figure depends on, with unit, range and source |
//! | [`operator`] | `R`: pairs to counters and back, without a matrix; the jobs whose pairs they are |
//! | [`residual`] | `t`: what was counted, what an answer leaves of it, and whether that is more than noise |
//! | [`measure`] | port counters of intervals made rows of one operator |
//! | [`dictionary`] | atoms: sets of pairs on a process grid that may carry the same bytes |
//! | [`pursuit`] | the few atoms that explain the counters, and the grid on which they do |
//! | [`tomography`] | the gravity model, and the least change of a guess that explains the counters |
//! | [`basis_pursuit`] | the fewest flows that explain the counters, where no grid does |
//! | [`model`] | what is tried, and judged by rows held out |
//! | [`confidence`] | how far an answer may be off, and the verdict |
//! | [`compressed_sensing`] | the dissertation's own way, beside it: bases, and the least sum of coefficients |
//! | [`estimate`](mod@estimate) | the method, and the answer |

pub mod basis_pursuit;
pub mod compressed_sensing;
pub mod confidence;
pub mod dictionary;
pub mod error;
pub mod estimate;
pub mod measure;
pub mod model;
pub mod operator;
pub mod pursuit;
pub mod residual;
pub mod settings;
pub mod tomography;

pub use netloom_counters::LaneScheme;
pub use netloom_numeric::{LpEffort, LpEnd};

pub use compressed_sensing::{Basis, Frame, Recovery, Sparsity, recover, sparsity};
pub use confidence::{JobTrust, Range, Scope, Told, Trust, Verdict, largest, ranges, scope};
pub use dictionary::{Atom, Dictionary, Grid, Hypothesis, Order, Pattern, in_words};
pub use error::InferError;
pub use estimate::{Earlier, Errors, Estimate, Inferred, errors, estimate, infer, traffic};
pub use measure::{
    EquivalentLinks, Joined, OUTSIDE, Outsider, Rows, Span, Window, WindowCounters, joined,
    merge_equivalent_links,
};
pub use measure::{imbalance, outsiders, rows, span};
pub use operator::{Operator, Pair, Participants, Routing};
pub use residual::{Counted, Fit, Target, fit};
pub use settings::Settings;
