//! A link's traffic and congestion with their standard errors.
//!
//! Of `N` packets of `l` hops that cross a link, a whole link in the packet leaves a variance of `N (l - 1)`, one bit in `Q` packets that might
//! have crossed it `Q l^2 - N`; ways of several lengths add up. Estimates count packets that were delivered, and of those the ones that were
//! sampled.
//!
//! Source: Taffet, dissertation, sec. 2.3.2 and 2.5.1.

/// What is known of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Packets that crossed it; can be negative where it is next to none.
    pub traffic: f64,
    /// Those that were congested there.
    pub congested: f64,
    /// Standard error of `traffic`.
    pub traffic_error: f64,
    /// Standard error of `congested`.
    pub congested_error: f64,
    /// Packets that might have crossed it.
    pub tested: u64,
}

impl Estimate {
    /// The share of packets that were congested there, 0 to 1; `None` below `deviations` of the traffic's standard error.
    pub fn congested_fraction(&self, deviations: f64) -> Option<f64> {
        let known = self.traffic > 0.0 && self.traffic >= deviations * self.traffic_error;
        known.then(|| (self.congested / self.traffic).clamp(0.0, 1.0))
    }

    /// What is known of all packets where this is of a sampled share of them. A packet that is sampled with probability `r` counts `l / r`
    /// where it would count `l`, so that sums of squares are over `r^2`.
    pub fn of_all(self, rate: f64) -> Self {
        let error = |value: f64, error: f64| {
            let (value, squares) = (value.max(0.0), error * error + value.max(0.0));
            (squares / (rate * rate) - value / rate).max(0.0).sqrt()
        };
        Self {
            traffic: self.traffic / rate,
            congested: self.congested / rate,
            traffic_error: error(self.traffic, self.traffic_error),
            congested_error: error(self.congested, self.congested_error),
            tested: self.tested,
        }
    }

    /// The same with traffic and congestion set to zero where they don't exceed the threshold.
    pub fn above(self, threshold: f64) -> Self {
        let kept = |value: f64| if value > threshold { value } else { 0.0 };
        Self { traffic: kept(self.traffic), congested: kept(self.congested), ..self }
    }
}

/// Estimates up to this may be false (sec. 2.5.1): `deviations` is 2.33 for one false link in a hundred; over a whole network 4 are wanted.
pub fn false_positive_threshold(most_hops: u8, tested: u64, deviations: f64) -> f64 {
    f64::from(most_hops) * (tested as f64).sqrt() * deviations
}
