//! For how much of its run time on a full tree an application's busiest host sends or receives, and what follows.
//!
//! Let *W* be the wire time: the bytes of the busiest host of every phase over the speed of a link, added up; let *R* be
//! the run time on a full tree, and *f* = *W* / *R* the share of wire time. Phases follow each other, so a design on which
//! the bytes of the phases take *T* times as long at its fullest level needs at least *T W*, and at least *R*:
//! the slowdown is at least max(1, *f T*). That is the **bound**. If all that is no wire time takes as long as before, the
//! slowdown is 1 - *f* + *f T*. That is the **estimate**; waiting that hides transfers makes runs quicker, collisions slower.

/// Where the share of wire time is from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Told by who asks, 0 to 1.
    Given(f64),
    /// From the run time on a full tree, seconds, as it was measured.
    Measured(f64),
    /// From the run time on a full tree, seconds, as packets have it.
    Simulated(f64),
    /// Nothing is known: the application does nothing but send.
    Assumed,
}

/// By how much wire time may exceed a measured run time: phases that differ by a percent count as one.
const ROUNDING: f64 = 0.01;

impl Share {
    /// The share, if the wire time is `wire_s`.
    ///
    /// # Errors
    /// The wire time, if it is more than a measured run time.
    pub fn of(self, wire_s: f64) -> Result<f64, f64> {
        match self {
            Self::Given(share) => Ok(share),
            Self::Measured(run_s) if wire_s > run_s * (1.0 + ROUNDING) => Err(wire_s),
            Self::Measured(run_s) | Self::Simulated(run_s) if run_s > 0.0 => Ok((wire_s / run_s).min(1.0)),
            Self::Measured(_) | Self::Simulated(_) => Ok(0.0),
            Self::Assumed => Ok(1.0),
        }
    }

    /// The word for its source.
    pub fn source(self) -> &'static str {
        match self {
            Self::Given(_) => "given",
            Self::Measured(_) => "run",
            Self::Simulated(_) => "packets",
            Self::Assumed => "assumed",
        }
    }
}

/// How many times as long a run or a mix takes as on a full tree; at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// At least so long, by the busiest switch: max(1, f T).
    pub bound: f64,
    /// By the busiest switch: 1 - f + f T.
    pub estimate: f64,
    /// The same by the means over each level.
    pub mean: f64,
}

impl Slowdown {
    /// Not slowed.
    pub const NONE: Self = Self { bound: 1.0, estimate: 1.0, mean: 1.0 };

    /// Adds another, which counts `weight`: sums of what is above 1, so that nothing comes out below it by rounding.
    pub(crate) fn add(&mut self, weight: f64, other: &Self) {
        self.bound += weight * (other.bound - 1.0);
        self.estimate += weight * (other.estimate - 1.0);
        self.mean += weight * (other.mean - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_wire_time_over_run_time() {
        assert_eq!(Share::Given(0.25).of(9.0), Ok(0.25));
        assert_eq!(Share::Measured(8.0).of(2.0), Ok(0.25));
        assert_eq!(Share::Simulated(8.0).of(2.0), Ok(0.25));
        assert_eq!(Share::Assumed.of(2.0), Ok(1.0));
        // Rounding is forgiven, a run shorter than its wire time is not.
        assert_eq!(Share::Measured(8.0).of(8.05), Ok(1.0));
        assert_eq!(Share::Measured(8.0).of(9.0), Err(9.0));
        assert_eq!(Share::Simulated(8.0).of(9.0), Ok(1.0));
    }
}
