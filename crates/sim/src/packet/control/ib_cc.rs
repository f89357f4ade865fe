//! InfiniBand's congestion control (InfiniBand Architecture, annex A10): which packets an output marks, and how long a flow waits after each packet.
//!
//! Output: it is a *root* of congestion if more waits than its threshold and it has credits, a *victim* if it lacks them. Roots mark the packets
//! that leave, victims if their port is in the victim mask; of the packets that could be marked one in `marking_rate + 1`, at random.
//!
//! Flow: an index into a table of waits. A notification raises it by `ccti_increase`; a timer, which runs from the start of the
//! run and is the host's, lowers it by one.
//!
//! In equilibrium a flow's index rises as often as it falls: whatever the table, `increase x marks a second = 1 / timer`, so marks are
//! `N / (increase x timer)` a second for N flows. The simulator's tests ask for that.

use serde::{Deserialize, Serialize};

use super::policy::{Output, Policy, Sign, Wires, put};
use crate::SimError;
use crate::calendar::NEVER;
use crate::congestion::{Congestion, IbCc, SIZE_BYTES, TIMER_PS};
use crate::state_codec::{StateReader, StateWriter};
use netloom_model::rng::{stream, unit};

/// Streams of draws that are none of an output's: phases of hosts' timers.
const PHASES: u64 = 1 << 63;

/// InfiniBand's control at all outputs and for all flows.
#[derive(Debug)]
pub(super) struct IbPolicy {
    numbers: IbCc,
    seed: u64,
    from_ps: u64,
    /// By link: the port, as the victim mask counts.
    ports: Vec<u16>,
    /// Bytes that wait where a port is congested; `None`: none ever is.
    threshold_bytes: Option<u32>,
    /// By link: packets that could be marked.
    met: Vec<u32>,
    flows: Vec<Index>,
    /// Index x ps of flows that are limited no more.
    passed: f64,
}

/// A flow's index into the table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Index {
    at: u16,
    /// When it falls next, ps.
    timer_ps: u64,
    /// The speed of its host's link, bytes a second.
    speed: f64,
    /// Index x ps in the measured time, until `since_ps`.
    area: f64,
    since_ps: u64,
}

impl Index {
    /// Adds what it was until `now_ps`.
    fn pass(&mut self, now_ps: u64) {
        if now_ps > self.since_ps {
            self.area += f64::from(self.at) * (now_ps - self.since_ps) as f64;
            self.since_ps = now_ps;
        }
    }

    /// It falls by one.
    fn falls(&mut self, numbers: &IbCc) {
        self.pass(self.timer_ps);
        self.at = self.at.saturating_sub(1).max(numbers.ccti_min);
        self.timer_ps += u64::from(numbers.ccti_timer) * TIMER_PS;
    }
}

impl IbPolicy {
    pub fn new(numbers: &IbCc, congestion: &Congestion, wires: Wires) -> Self {
        Self {
            threshold_bytes: threshold_bytes(numbers.threshold, wires.buffer_bytes),
            met: vec![0; wires.ports.len()],
            ports: wires.ports,
            numbers: numbers.clone(),
            seed: congestion.seed,
            from_ps: congestion.measure_from_ps,
            flows: Vec::new(),
            passed: 0.0,
        }
    }

    fn may_mark_without_credits(&self, link: u32) -> bool {
        let port = usize::from(self.ports[link as usize]);
        self.numbers.victim_mask.get(port / 64).is_some_and(|ports| ports >> (port % 64) & 1 == 1)
    }
}

/// Waiting bytes above which a port is congested, of a buffer of so many; `None` for a threshold of 0.
fn threshold_bytes(threshold: u8, buffer_bytes: u32) -> Option<u32> {
    (threshold > 0).then(|| (u64::from(buffer_bytes) * u64::from(16 - threshold) / 16) as u32)
}

impl Policy for IbPolicy {
    fn goes(&mut self, output: Output, wire: u16) -> Sign {
        let Output { link, waiting, lacked_credits } = output;
        let congested = self.threshold_bytes.is_some_and(|most| waiting > most);
        let too_short = u32::from(wire) < u32::from(self.numbers.packet_size) * SIZE_BYTES;
        if !congested || too_short || (lacked_credits && !self.may_mark_without_credits(link)) {
            return Sign::Nothing;
        }
        let met = &mut self.met[link as usize];
        *met = met.wrapping_add(1);
        let one_in = f64::from(self.numbers.marking_rate) + 1.0;
        let draw = || unit(&mut stream(self.seed, u64::from(link) << 32 | u64::from(*met)));
        if one_in > 1.0 && draw() * one_in >= 1.0 { Sign::Looked } else { Sign::Marked }
    }

    fn begins_limited(&self) -> bool {
        self.numbers.ccti_min > 0
    }

    fn limits(&mut self, flow: u32, host: u32, speed: f64, now_ps: u64) {
        let period_ps = u64::from(self.numbers.ccti_timer) * TIMER_PS;
        let phase_ps = (unit(&mut stream(self.seed, PHASES | u64::from(host))) * period_ps as f64) as u64;
        let timer_ps = phase_ps + (now_ps.saturating_sub(phase_ps) / period_ps + 1) * period_ps;
        let since_ps = now_ps.max(self.from_ps);
        put(&mut self.flows, flow, Index { at: self.numbers.ccti_min, timer_ps, speed, area: 0.0, since_ps });
    }

    fn is_told(&mut self, flow: u32, _feedback: u8, now_ps: u64) {
        let index = &mut self.flows[flow as usize];
        index.pass(now_ps);
        index.at = (index.at + u16::from(self.numbers.ccti_increase)).min(self.numbers.ccti_limit);
    }

    fn sends(&mut self, _flow: u32, _wire: u16) {}

    fn times_out(&mut self, flow: u32) {
        self.flows[flow as usize].falls(&self.numbers);
    }

    fn rate(&self, flow: u32) -> f64 {
        let index = &self.flows[flow as usize];
        index.speed / (1.0 + self.numbers.table[usize::from(index.at)].gap())
    }

    fn timer_ps(&self, flow: u32) -> u64 {
        let index = &self.flows[flow as usize];
        if index.at == self.numbers.ccti_min && self.numbers.ccti_min > 0 { NEVER } else { index.timer_ps }
    }

    fn has_recovered(&self, flow: u32) -> bool {
        self.numbers.ccti_min == 0 && self.flows[flow as usize].at == 0
    }

    fn retires(&mut self, flow: u32) {
        self.passed += std::mem::take(&mut self.flows[flow as usize].area);
        self.flows[flow as usize].since_ps = NEVER;
    }

    fn index_ps(&self, end_ps: u64) -> Option<f64> {
        let of_flow = |index: &Index| {
            let mut index = *index;
            while index.timer_ps <= end_ps && index.at > self.numbers.ccti_min {
                index.falls(&self.numbers);
            }
            index.pass(end_ps);
            index.area
        };
        Some(self.passed + self.flows.iter().map(of_flow).sum::<f64>())
    }

    fn save(&self, to: &mut StateWriter) {
        to.put(&(&self.met, &self.flows, self.passed));
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        let links = self.met.len();
        (self.met, self.flows, self.passed) = from.take()?;
        if self.met.len() == links { Ok(()) } else { Err(SimError::State) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ControlKind;

    fn policy(numbers: &IbCc) -> IbPolicy {
        let congestion = Congestion::new(ControlKind::IbCc(numbers.clone()), 1);
        IbPolicy::new(
            numbers,
            &congestion,
            Wires { ports: vec![1, 2], to_host: vec![true; 2], buffer_bytes: 1600 },
        )
    }

    fn leaves(policy: &mut IbPolicy, link: u32, waiting: u32, lacked_credits: bool, wire: u16) -> Sign {
        policy.goes(Output { link, waiting, lacked_credits }, wire)
    }

    #[test]
    fn roots_mark_and_victims_do_if_the_mask_says_so() {
        // Threshold 15 of 16 is 100 bytes of 1,600; port 2 is in the mask.
        let mut policy = policy(&IbCc { victim_mask: [0b100, 0, 0, 0], ..IbCc::gran() });
        assert_eq!(leaves(&mut policy, 0, 101, false, 512), Sign::Marked, "a root");
        assert_eq!(leaves(&mut policy, 0, 100, false, 512), Sign::Nothing, "at the threshold");
        assert_eq!(leaves(&mut policy, 0, 101, true, 512), Sign::Nothing, "a victim");
        assert_eq!(leaves(&mut policy, 1, 101, true, 512), Sign::Marked, "a victim in the mask");
        assert_eq!(leaves(&mut policy, 0, 101, false, 511), Sign::Nothing, "shorter than 8 x 64 bytes");
        let mut none = self::policy(&IbCc { threshold: 0, ..IbCc::gran() });
        assert_eq!(leaves(&mut none, 0, u32::MAX, false, 512), Sign::Nothing);
        assert_eq!([1, 8, 15].map(|t| threshold_bytes(t, 1600)), [Some(1500), Some(800), Some(100)]);
    }

    #[test]
    fn one_packet_in_so_many_is_marked() {
        let mut policy = policy(&IbCc { marking_rate: 4, ..IbCc::gran() });
        let marked = (0..10_000).filter(|_| leaves(&mut policy, 0, 200, false, 512) == Sign::Marked).count();
        assert!(marked.abs_diff(2000) < 120, "{marked}, three standard deviations are 120");
    }

    /// Timer 150: 153.6 us. Told twice: rates C/3, then C/2, then C.
    #[test]
    fn an_index_rises_with_notifications_and_falls_with_time() {
        let numbers = IbCc::gran();
        let mut policy = policy(&numbers);
        policy.limits(0, 7, 9.0, 0);
        let first_ps = policy.timer_ps(0);
        assert!(first_ps <= 2 * 153_600_000);
        policy.is_told(0, 1, 10);
        policy.is_told(0, 1, 10);
        let mut rates = vec![policy.rate(0)];
        for _ in 0..2 {
            policy.times_out(0);
            rates.push(policy.rate(0));
        }
        assert_eq!(rates, [3.0, 4.5, 9.0]);
        assert!(policy.has_recovered(0));
        assert_eq!(policy.timer_ps(0), first_ps + 2 * 153_600_000);
        // Twice 2 from 10 ps to the first timer, 1 from there to the next.
        assert_eq!(policy.index_ps(NEVER - 1), Some(2.0 * (first_ps - 10) as f64 + 153_600_000.0));
    }

    #[test]
    fn an_index_stays_between_its_bounds() {
        let numbers = IbCc { ccti_limit: 9, ccti_min: 2, ccti_increase: 5, ..IbCc::gran() };
        let mut policy = policy(&numbers);
        policy.limits(0, 0, 1.0, 0);
        assert_eq!(policy.rate(0), 1.0 / 3.0, "from the beginning");
        assert!(policy.begins_limited());
        policy.is_told(0, 1, 0);
        policy.is_told(0, 1, 0);
        assert_eq!(policy.rate(0), 0.1);
        for _ in 0..20 {
            policy.times_out(0);
        }
        assert_eq!(policy.rate(0), 1.0 / 3.0);
        assert!(!policy.has_recovered(0));
    }
}
