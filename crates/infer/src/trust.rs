//! How far an answer can be trusted, and in what.
//!
//! With one lane and tables by destination, hosts of the same leaf are interchangeable as senders: pairs are known only *given* a
//! hypothesis. What routes need is less: the sums over (source leaf, destination). Both errors are estimated, and the verdict is about
//! the sums.
//!
//! Source: Taffet, dissertation, fig. 4.9 (what counters cannot tell apart).

use netloom_model::HostId;

/// What is known of the sums over (source leaf, destination).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Most of them, well enough to choose routes by.
    Identified,
    /// Some of them.
    Partly,
    /// What every host sends and receives, and little more.
    #[default]
    NotIdentifiable,
}

impl Verdict {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identified => "identified",
            Self::Partly => "partly",
            Self::NotIdentifiable => "not identifiable",
        }
    }
}

/// What hosts of a leaf send to a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSum {
    /// Any host of the leaf.
    pub leaf_of: HostId,
    /// Who receives.
    pub destination: HostId,
    /// The answer's bytes.
    pub bytes: f64,
    /// The truth is likely not less.
    pub low: f64,
    /// Nor more.
    pub high: f64,
}

/// How far the answer can be trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trust {
    /// In a word.
    pub verdict: Verdict,
    /// Estimated `|y - y*| / |y*|` of the sums over (source leaf, destination), 0 to 1.
    pub leaf_error: f64,
    /// The same of pairs, given the hypotheses.
    pub pair_error: f64,
    /// This part of the bytes is in sums that are known to a tenth.
    pub identified_fraction: f64,
    /// Grids that explain the counters about as well as the ones chosen.
    pub rivals: usize,
    /// The largest sums.
    pub leaf_sums: Vec<LeafSum>,
}
