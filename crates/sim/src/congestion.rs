//! Congestion control of end points: which control a run has, and with which numbers.
//!
//! Units: bytes, picoseconds, bytes a second. QCN's defaults are those of IEEE 802.1Q (IEEE8021-CN-MIB).

use crate::SimError;

mod dcqcn;
mod ib_cc;

pub use dcqcn::Dcqcn;
pub use ib_cc::{IbCc, MOST_ENTRIES, MOST_MULTIPLIER, TableEntry};
pub(crate) use ib_cc::{SIZE_BYTES, TIMER_PS};

/// Flows that share one rate limiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limiters {
    /// Packets of a host to one destination at one service level.
    #[default]
    Destination,
    /// All packets of a host at one service level: the MIB's default, with which other destinations pay too.
    Host,
}

/// The congestion control of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Congestion {
    /// What switches notice and hosts do about it.
    pub control: ControlKind,
    /// Who shares a rate limiter.
    pub limiters: Limiters,
    /// Seed of the jitter of sampling distances and timers.
    pub seed: u64,
    /// Whether notifications that come to a host slow it down. (Without, only switches that listen do anything.)
    pub limit: bool,
    /// How long a switch that listens to notifications remembers one, ps.
    pub memory_ps: u64,
    /// The mean length of queues counts from here on, ps: start-up is left out.
    pub measure_from_ps: u64,
}

/// The controls there are.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlKind {
    /// Quantized congestion notification, IEEE 802.1Qau.
    Qcn(Qcn),
    /// InfiniBand's, annex A10: outputs mark packets, receivers tell sources, sources look a wait up in a table.
    IbCc(IbCc),
    /// DCQCN: outputs mark packets at random, receivers tell sources now and then, sources keep an estimate of congestion.
    Dcqcn(Dcqcn),
}

impl ControlKind {
    /// As scenarios and results spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Qcn(_) => "qcn",
            Self::IbCc(_) => "ib-cc",
            Self::Dcqcn(_) => "dcqcn",
        }
    }
}

/// The numbers of QCN (IEEE 802.1Qau; 802.1Q, clauses 30 to 33).
#[derive(Clone, Debug, PartialEq)]
pub struct Qcn {
    /// Length at which a switch holds the queue of an output (cpQSp), bytes.
    pub setpoint_bytes: u32,
    /// The same for outputs to hosts; `None`: no other.
    pub host_setpoint_bytes: Option<u32>,
    /// Weight of a queue's growth against its length (cpW).
    pub weight: f64,
    /// What a unit of feedback takes off a rate (rpgGd).
    pub gain: f64,
    /// A notification leaves at least this part of a rate (rpgMinDecFac).
    pub min_decrease: f64,
    /// Bytes between two samples of an output that is not congested (cpSampleBase).
    pub sample_bytes: u32,
    /// Bytes that a limiter sends until its byte counter's next stage (rpgByteReset).
    pub byte_reset_bytes: u32,
    /// Time until its timer's next stage (rpgTimeReset), ps.
    pub time_reset_ps: u64,
    /// Stages of fast recovery (rpgThreshold).
    pub stages: u32,
    /// What active increase adds to a target rate (rpgAiRate), bytes a second.
    pub active_increase: f64,
    /// What hyper-active increase adds, for each stage above `stages` (rpgHaiRate), bytes a second.
    pub hyper_increase: f64,
    /// Least rate (rpgMinRate), bytes a second.
    pub min_rate: f64,
    /// Sampling distances and timers are drawn uniformly from 1 - jitter to 1 + jitter of what they are.
    pub jitter: f64,
}

/// How long a switch that listens remembers a notification unless told otherwise: 0.3 ms, 250 packets at 10 Gb/s. Paper 002 does not say; chosen
/// on CG (docs/methods/congestion.md).
const MEMORY_PS: u64 = 300_000_000;

/// Bytes a second of 1 Mb/s.
pub(crate) const MEGABIT: f64 = 125_000.0;

impl Default for Qcn {
    fn default() -> Self {
        Self {
            setpoint_bytes: 26_000,
            host_setpoint_bytes: None,
            weight: 2.0,
            gain: 1.0 / 128.0,
            min_decrease: 0.5,
            sample_bytes: 150_000,
            byte_reset_bytes: 150_000,
            time_reset_ps: 15_000_000_000,
            stages: 5,
            active_increase: 5.0 * MEGABIT,
            hyper_increase: 50.0 * MEGABIT,
            min_rate: 5.0 * MEGABIT,
            jitter: 0.15,
        }
    }
}

impl Congestion {
    /// A control with a limiter a destination.
    pub fn new(control: ControlKind, seed: u64) -> Self {
        Self {
            control,
            limiters: Limiters::Destination,
            seed,
            limit: true,
            memory_ps: MEMORY_PS,
            measure_from_ps: 0,
        }
    }

    /// Refuses numbers that can't work.
    ///
    /// # Errors
    /// [`SimError::Config`] names the parameter and what it must be.
    pub fn check(&self) -> Result<(), SimError> {
        if self.memory_ps == 0 {
            return Err(SimError::Config { what: "memory_ms", expected: "above 0".into() });
        }
        match &self.control {
            ControlKind::Qcn(qcn) => qcn.check(),
            ControlKind::IbCc(numbers) => numbers.check(),
            ControlKind::Dcqcn(numbers) => numbers.check(),
        }
    }
}

impl Qcn {
    /// Refuses numbers that can't work.
    fn check(&self) -> Result<(), SimError> {
        let (qcn, refuse) =
            (self, |what, expected: &str| Err(SimError::Config { what, expected: expected.into() }));
        let part = |x: f64| (0.0..=1.0).contains(&x);
        if qcn.setpoint_bytes == 0 || qcn.host_setpoint_bytes == Some(0) {
            return refuse("setpoint_bytes, host_setpoint_bytes", "at least 1");
        }
        if !(0.0..=1e6).contains(&qcn.weight) {
            return refuse("weight", "0 to 1e6");
        }
        if !part(qcn.gain) {
            return refuse("gain", "0 to 1");
        }
        if !part(qcn.min_decrease) {
            return refuse("min_decrease", "0 to 1");
        }
        if qcn.sample_bytes == 0 {
            return refuse("sample_bytes", "at least 1");
        }
        if qcn.byte_reset_bytes == 0 {
            return refuse("byte_reset_bytes", "at least 1");
        }
        if qcn.time_reset_ps == 0 {
            return refuse("time_reset_ms", "above 0");
        }
        if !(0.0..1.0).contains(&qcn.jitter) {
            return refuse("jitter", "0 to below 1");
        }
        check_rates(qcn.min_rate, qcn.active_increase, qcn.hyper_increase)
    }
}

/// Refuses rates that can't work.
fn check_rates(least: f64, active: f64, hyper: f64) -> Result<(), SimError> {
    let refuse = |what, expected: &str| Err(SimError::Config { what, expected: expected.into() });
    if !(least.is_finite() && least >= MEGABIT / 1000.0) {
        return refuse("min_rate_mbps", "at least 0.001");
    }
    let rate = |x: f64| x.is_finite() && x >= 0.0;
    if !rate(active) || !rate(hyper) {
        return refuse("active_increase_mbps, hyper_increase_mbps", "0 or more");
    }
    Ok(())
}
