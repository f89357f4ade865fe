//! DCQCN (Zhu et al., SIGCOMM 2015): marks at random by what waits, and a rate that follows an estimate of congestion.
//!
//! Output: a packet that comes to `q` waiting bytes is marked with a probability of 0 below Kmin, `Pmax (q - Kmin) / (Kmax - Kmin)` between, 1 from
//! Kmax on. Receiver: one notification a flow in `cnp_interval`.
//!
//! Flow, at a notification: its target is its rate, its rate falls by `alpha / 2` of itself, `alpha = (1 - g) alpha + g`. Without one alpha falls
//! by `g` of itself every `alpha_timer`. A timer and a counter of bytes raise the rate as QCN's do: half way to the target,
//! which rises too once either has had `stages` stages.

use netloom_model::rng::{stream, unit};
use serde::{Deserialize, Serialize};

use super::policy::{Output, Policy, Sign, put};
use crate::SimError;
use crate::calendar::NEVER;
use crate::congestion::Dcqcn;
use crate::state_codec::{StateReader, StateWriter};

/// A rate within this part of its link's speed has recovered.
const RECOVERED: f64 = 1e-3;

/// DCQCN at all outputs and for all flows.
#[derive(Debug)]
pub(super) struct DcqcnPolicy {
    numbers: Dcqcn,
    seed: u64,
    /// By link: draws made.
    draws: Vec<u32>,
    flows: Vec<Rate>,
}

/// A flow's rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Rate {
    rate: f64,
    target: f64,
    speed: f64,
    /// The estimate of congestion, 0 to 1.
    alpha: f64,
    time_stage: u32,
    byte_stage: u32,
    to_stage: i64,
    /// When the rate rises, and when the estimate falls, ps.
    timer_ps: u64,
    alpha_ps: u64,
}

impl Rate {
    fn new(speed: f64) -> Self {
        Self {
            rate: speed,
            target: speed,
            speed,
            alpha: 1.0,
            time_stage: 0,
            byte_stage: 0,
            to_stage: 0,
            timer_ps: NEVER,
            alpha_ps: NEVER,
        }
    }

    fn is_told(&mut self, numbers: &Dcqcn, now_ps: u64) {
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(numbers.min_rate).min(self.speed);
        self.alpha = (1.0 - numbers.g) * self.alpha + numbers.g;
        (self.time_stage, self.byte_stage) = (0, 0);
        self.to_stage = i64::from(numbers.byte_reset_bytes);
        self.timer_ps = now_ps.saturating_add(numbers.time_reset_ps);
        self.alpha_ps = now_ps.saturating_add(numbers.alpha_timer_ps);
    }

    fn times_out(&mut self, numbers: &Dcqcn) {
        if self.alpha_ps <= self.timer_ps {
            self.alpha *= 1.0 - numbers.g;
            self.alpha_ps += numbers.alpha_timer_ps;
        } else {
            self.time_stage += 1;
            self.timer_ps += numbers.time_reset_ps;
            self.rises(numbers);
        }
    }

    fn sends(&mut self, numbers: &Dcqcn, wire: u16) {
        self.to_stage -= i64::from(wire);
        if self.to_stage <= 0 {
            self.byte_stage += 1;
            self.to_stage = i64::from(numbers.byte_reset_bytes);
            self.rises(numbers);
        }
    }

    fn rises(&mut self, numbers: &Dcqcn) {
        let (low, high) = (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        if low > numbers.stages {
            self.target += numbers.hyper_increase * f64::from(low - numbers.stages);
        } else if high >= numbers.stages {
            self.target += numbers.active_increase;
        }
        self.target = self.target.min(self.speed);
        self.rate = (self.rate + self.target) / 2.0;
        if self.rate > self.speed * (1.0 - RECOVERED) {
            self.rate = self.speed;
        }
    }
}

impl DcqcnPolicy {
    /// On so many links.
    pub fn new(numbers: &Dcqcn, seed: u64, links: usize) -> Self {
        Self { numbers: numbers.clone(), seed, draws: vec![0; links], flows: Vec::new() }
    }
}

/// With which probability a packet is marked that comes to so many waiting bytes.
fn probability(numbers: &Dcqcn, waiting: u32) -> f64 {
    if waiting >= numbers.kmax_bytes {
        return 1.0;
    }
    if waiting <= numbers.kmin_bytes {
        return 0.0;
    }
    numbers.pmax * f64::from(waiting - numbers.kmin_bytes)
        / f64::from(numbers.kmax_bytes - numbers.kmin_bytes)
}

impl Policy for DcqcnPolicy {
    fn comes(&mut self, Output { link, waiting, .. }: Output, _wire: u16) -> Sign {
        let part = probability(&self.numbers, waiting);
        if part == 0.0 {
            return Sign::Nothing;
        }
        let draws = &mut self.draws[link as usize];
        *draws = draws.wrapping_add(1);
        let draw = unit(&mut stream(self.seed, u64::from(link) << 32 | u64::from(*draws)));
        if draw < part { Sign::Marked } else { Sign::Looked }
    }

    fn interval_ps(&self) -> u64 {
        self.numbers.cnp_interval_ps
    }

    fn limits(&mut self, flow: u32, _host: u32, speed: f64, _now_ps: u64) {
        put(&mut self.flows, flow, Rate::new(speed));
    }

    fn is_told(&mut self, flow: u32, _feedback: u8, now_ps: u64) {
        self.flows[flow as usize].is_told(&self.numbers, now_ps);
    }

    fn sends(&mut self, flow: u32, wire: u16) {
        self.flows[flow as usize].sends(&self.numbers, wire);
    }

    fn times_out(&mut self, flow: u32) {
        self.flows[flow as usize].times_out(&self.numbers);
    }

    fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    fn timer_ps(&self, flow: u32) -> u64 {
        let rate = &self.flows[flow as usize];
        rate.timer_ps.min(rate.alpha_ps)
    }

    fn has_recovered(&self, flow: u32) -> bool {
        let rate = &self.flows[flow as usize];
        rate.rate >= rate.speed
    }

    fn save(&self, to: &mut StateWriter) {
        to.put(&(&self.draws, &self.flows));
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        let links = self.draws.len();
        (self.draws, self.flows) = from.take()?;
        if self.draws.len() == links { Ok(()) } else { Err(SimError::State) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 125_000.0;

    #[test]
    fn marks_follow_the_queue() {
        let numbers = Dcqcn::default();
        let found = [0, 5_000, 102_500, 200_000].map(|waiting| probability(&numbers, waiting));
        assert_eq!(found, [0.0, 0.0, 0.005, 1.0]);
        let step = Dcqcn { kmin_bytes: 9, kmax_bytes: 9, ..numbers };
        assert_eq!([8, 9].map(|waiting| probability(&step, waiting)), [0.0, 1.0]);
    }

    /// 40 Gb/s, told at 0: the rate is halved; four steps half way back; from the fifth on the target rises by 40 Mb/s each.
    #[test]
    fn a_rate_is_cut_by_the_estimate_and_recovers() {
        let (numbers, speed) = (Dcqcn::default(), 40_000.0 * MB);
        let mut rate = Rate::new(speed);
        rate.is_told(&numbers, 0);
        assert_eq!((rate.rate, rate.target), (speed / 2.0, speed));
        assert_eq!(rate.alpha, 1.0, "(1 - g) + g");
        rate.is_told(&numbers, 0);
        assert_eq!((rate.rate, rate.target), (speed / 4.0, speed / 2.0));
        let mut targets = Vec::new();
        while rate.time_stage < 7 {
            let stage = rate.time_stage;
            rate.times_out(&numbers);
            if rate.time_stage > stage {
                targets.push((rate.target - speed / 2.0) / MB);
            }
        }
        assert_eq!(targets, [0.0, 0.0, 0.0, 0.0, 40.0, 80.0, 120.0]);
        assert!((rate.alpha - (255.0f64 / 256.0).powi(7)).abs() < 1e-12, "{}", rate.alpha);
    }

    #[test]
    fn a_counter_of_bytes_raises_it_too() {
        let (numbers, speed) = (Dcqcn { byte_reset_bytes: 2000, ..Dcqcn::default() }, 40_000.0 * MB);
        let mut rate = Rate::new(speed);
        rate.is_told(&numbers, 0);
        rate.sends(&numbers, 1500);
        assert_eq!(rate.rate, speed / 2.0);
        rate.sends(&numbers, 1500);
        assert_eq!(rate.rate, speed * 0.75);
        (rate.time_stage, rate.byte_stage) = (6, 7);
        rate.target = speed / 2.0;
        rate.rises(&numbers);
        assert_eq!((rate.target - speed / 2.0) / MB, 400.0, "hyper: both above five, by one");
    }
}
