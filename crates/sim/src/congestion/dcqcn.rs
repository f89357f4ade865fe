//! The numbers of DCQCN (Y. Zhu et al., *Congestion control for large-scale RDMA deployments*, SIGCOMM 2015).

use super::MEGABIT;
use crate::SimError;

/// The numbers of DCQCN.
#[derive(Clone, Debug, PartialEq)]
pub struct Dcqcn {
    /// Waiting bytes below which an output marks nothing, from which on it marks everything, and the probability just below that.
    pub kmin_bytes: u32,
    /// See `kmin_bytes`.
    pub kmax_bytes: u32,
    /// See `kmin_bytes`.
    pub pmax: f64,
    /// A receiver notifies a flow at most once in so long, ps.
    pub cnp_interval_ps: u64,
    /// How fast the estimate of congestion follows notifications.
    pub g: f64,
    /// Without a notification the estimate falls so often, ps.
    pub alpha_timer_ps: u64,
    /// A rate rises so often, ps.
    pub time_reset_ps: u64,
    /// A rate also rises each time that so many bytes were sent.
    pub byte_reset_bytes: u32,
    /// Stages of fast recovery (F).
    pub stages: u32,
    /// What additive increase adds to a target rate, bytes a second.
    pub active_increase: f64,
    /// What hyper increase adds, for each stage of both above `stages`, bytes a second.
    pub hyper_increase: f64,
    /// Least rate, bytes a second.
    pub min_rate: f64,
}

/// The paper's; it names no least rate: that is an adapter's, 1 Mb/s.
impl Default for Dcqcn {
    fn default() -> Self {
        Self {
            kmin_bytes: 5_000,
            kmax_bytes: 200_000,
            pmax: 0.01,
            cnp_interval_ps: 50_000_000,
            g: 1.0 / 256.0,
            alpha_timer_ps: 55_000_000,
            time_reset_ps: 55_000_000,
            byte_reset_bytes: 10_000_000,
            stages: 5,
            active_increase: 40.0 * MEGABIT,
            hyper_increase: 400.0 * MEGABIT,
            min_rate: MEGABIT,
        }
    }
}

impl Dcqcn {
    /// Refuses numbers that can't work.
    pub(super) fn check(&self) -> Result<(), SimError> {
        let refuse = |what, expected: String| Err(SimError::Config { what, expected });
        if self.kmin_bytes > self.kmax_bytes {
            return refuse("kmin_bytes", format!("at most kmax_bytes, {}", self.kmax_bytes));
        }
        if !(0.0..=1.0).contains(&self.pmax) {
            return refuse("pmax", "0 to 1".into());
        }
        if !(0.0..=1.0).contains(&self.g) {
            return refuse("g", "0 to 1".into());
        }
        if self.alpha_timer_ps == 0 || self.time_reset_ps == 0 {
            return refuse("alpha_timer_us, time_reset_ms", "above 0".into());
        }
        if self.byte_reset_bytes == 0 {
            return refuse("byte_reset_bytes", "at least 1".into());
        }
        super::check_rates(self.min_rate, self.active_increase, self.hyper_increase)
    }
}
