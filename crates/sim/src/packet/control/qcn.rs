//! Quantized congestion notification: the arithmetic of a congestion point and of a rate limiter.
//!
//! Congestion point (802.1Q, clause 30.2.1; one an output): every so many bytes the frame that arrives is a sample. With `q` the bytes that wait
//! and `q_old` those at the last sample, `Fb = (Qeq - q) - W (q - q_old)`; negative feedback is quantised to 6 bits and sent to the
//! frame's source. The more negative it is, the sooner the next sample.
//!
//! Reaction point (clause 30.2.2; one a limited flow): feedback cuts the rate by at most a half; after it the rate goes back half way to where it was,
//! once every `byte_reset` bytes and once every `time_reset` (fast recovery), then on above it.
//!
//! The talk of paper 002 writes `Fb = Qoff - W Qdelta` with `Qdelta = Qold - Qnow`; with these two its second sign must be plus, as here.

use serde::{Deserialize, Serialize};

use super::jitter::Jitter;
use crate::calendar::NEVER;
use crate::congestion::Qcn;

/// Largest feedback: 6 bits.
pub(crate) const MOST_FEEDBACK: u8 = 63;
/// Bytes until the next sample, as a part of the base, by the three upper bits of the last feedback (802.1Q, table 30-1: 150, 75, 50, 37.5, 30,
/// 25, 21.5 and 18.5 kB for a base of 150 kB).
const DISTANCES: [f64; 8] = [1.0, 0.5, 1.0 / 3.0, 0.25, 0.2, 1.0 / 6.0, 21.5 / 150.0, 18.5 / 150.0];
/// A rate within this part of its link's speed has recovered.
const RECOVERED: f64 = 1e-3;

/// What a congestion point keeps.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Bytes until the next sample.
    to_sample: i64,
    /// Bytes that waited at the last one.
    old_bytes: u32,
    /// Samples taken.
    samples: u32,
}

impl Point {
    /// A frame of `wire` bytes comes to where `waiting` bytes wait, itself left out, and `setpoint` should: feedback for its source if it
    /// is a sample, 0 to 63.
    pub fn arrives(
        &mut self,
        qcn: &Qcn,
        (waiting, setpoint): (u32, u32),
        wire: u16,
        mut jitter: Jitter,
    ) -> Option<u8> {
        if self.samples == 0 && self.to_sample == 0 {
            self.to_sample = distance(qcn, 0, jitter.factor(0));
        }
        self.to_sample -= i64::from(wire);
        if self.to_sample > 0 {
            return None;
        }
        let feedback = feedback(qcn, setpoint, waiting, self.old_bytes);
        self.old_bytes = waiting;
        self.samples = self.samples.wrapping_add(1).max(1);
        self.to_sample = distance(qcn, feedback, jitter.factor(self.samples));
        Some(feedback)
    }
}

/// Feedback for `waiting` bytes where `old` waited before: 0 if the queue is short and does not grow.
fn feedback(qcn: &Qcn, setpoint: u32, waiting: u32, old: u32) -> u8 {
    let (setpoint, waiting, old) = (f64::from(setpoint), f64::from(waiting), f64::from(old));
    let most = (2.0 * qcn.weight + 1.0) * setpoint;
    let value = (setpoint - waiting) - qcn.weight * (waiting - old);
    let size = (-value).clamp(0.0, most);
    (f64::from(MOST_FEEDBACK) * size / most) as u8
}

/// Bytes until the next sample after such a feedback.
fn distance(qcn: &Qcn, feedback: u8, jitter: f64) -> i64 {
    let part = DISTANCES[usize::from(feedback / 8)];
    ((f64::from(qcn.sample_bytes) * part * jitter).round() as i64).max(1)
}

/// What a rate limiter keeps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Limiter {
    /// The rate, and the one that it recovers to, bytes a second.
    rate: f64,
    target: f64,
    /// The speed of its host's link.
    speed: f64,
    byte_stage: u32,
    time_stage: u32,
    /// Bytes until the byte counter's next stage.
    to_stage: i64,
    /// When the timer's next stage is, ps.
    timer_ps: u64,
    /// Times that the timer or the counter was set.
    sets: u32,
}

impl Limiter {
    /// A flow that has not been limited yet, on a link of `speed` bytes a second.
    pub fn new(speed: f64) -> Self {
        Self {
            rate: speed,
            target: speed,
            speed,
            byte_stage: 0,
            time_stage: 0,
            to_stage: 0,
            timer_ps: NEVER,
            sets: 0,
        }
    }

    /// The rate, bytes a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// When its timer runs out, ps.
    pub fn timer_ps(&self) -> u64 {
        self.timer_ps
    }

    /// Whether it limits nothing any more.
    pub fn has_recovered(&self) -> bool {
        self.rate >= self.speed
    }

    /// A notification has come.
    pub fn is_told(&mut self, qcn: &Qcn, feedback: u8, now_ps: u64, mut jitter: Jitter) {
        if self.byte_stage != 0 {
            self.target = self.rate;
        }
        let factor = (1.0 - qcn.gain * f64::from(feedback)).max(qcn.min_decrease);
        self.rate = (self.rate * factor).max(qcn.min_rate).min(self.speed);
        (self.byte_stage, self.time_stage) = (0, 0);
        self.set_counter(qcn, &mut jitter);
        self.set_timer(qcn, now_ps, &mut jitter);
    }

    /// So many bytes of the flow leave.
    pub fn sends(&mut self, qcn: &Qcn, wire: u16, mut jitter: Jitter) {
        self.to_stage -= i64::from(wire);
        if self.to_stage <= 0 {
            self.byte_stage += 1;
            self.increase(qcn);
            self.set_counter(qcn, &mut jitter);
        }
    }

    /// The timer has run out.
    pub fn times_out(&mut self, qcn: &Qcn, mut jitter: Jitter) {
        let now_ps = self.timer_ps;
        self.time_stage += 1;
        self.increase(qcn);
        self.set_timer(qcn, now_ps, &mut jitter);
    }

    fn set_counter(&mut self, qcn: &Qcn, jitter: &mut Jitter) {
        self.sets = self.sets.wrapping_add(1);
        let half = if self.byte_stage >= qcn.stages { 0.5 } else { 1.0 };
        self.to_stage = (f64::from(qcn.byte_reset_bytes) * half * jitter.factor(self.sets)).round() as i64;
    }

    fn set_timer(&mut self, qcn: &Qcn, now_ps: u64, jitter: &mut Jitter) {
        self.sets = self.sets.wrapping_add(1);
        let half = if self.time_stage >= qcn.stages { 0.5 } else { 1.0 };
        let after_ps = (qcn.time_reset_ps as f64 * half * jitter.factor(self.sets)).round() as u64;
        self.timer_ps = now_ps.saturating_add(after_ps.max(1));
    }

    /// A stage of the counter or of the timer.
    fn increase(&mut self, qcn: &Qcn) {
        let (low, high) = (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        let increase = if high < qcn.stages {
            0.0
        } else if low >= qcn.stages {
            // At a stage of exactly `stages` the product is 0, and a flow would stand still where both count together.
            (qcn.hyper_increase * f64::from(low - qcn.stages)).max(qcn.active_increase)
        } else {
            qcn.active_increase
        };
        let is_first = self.byte_stage == 1 || self.time_stage == 1;
        if is_first && self.target > 10.0 * self.rate {
            self.target /= 8.0;
        } else {
            self.target = (self.target + increase).min(self.speed);
        }
        self.rate = (self.rate + self.target) / 2.0;
        if self.rate > self.speed * (1.0 - RECOVERED) {
            self.rate = self.speed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gb/s.
    const SPEED: f64 = 1.25e9;

    fn exact() -> Qcn {
        Qcn { jitter: 0.0, ..Qcn::default() }
    }

    fn steady() -> Jitter {
        Jitter::new(0, 0, 0.0)
    }

    #[test]
    fn feedback_is_quantised_to_six_bits() {
        let feedback = |qcn: &Qcn, waiting, old| super::feedback(qcn, qcn.setpoint_bytes, waiting, old);
        let qcn = exact();
        // (Qeq - q) - 2 (q - q_old), of at most 5 Qeq = 130,000.
        assert_eq!(feedback(&qcn, 26_000, 26_000), 0, "at the setpoint");
        assert_eq!(feedback(&qcn, 0, 0), 0, "an empty queue");
        assert_eq!(feedback(&qcn, 52_000, 52_000), (63 * 26_000 / 130_000) as u8);
        assert_eq!(feedback(&qcn, 26_000, 0), (63 * 52_000 / 130_000) as u8, "it grows");
        assert_eq!(feedback(&qcn, 52_000, 78_000), 0, "it falls: positive feedback is not sent");
        assert_eq!(feedback(&qcn, 1_000_000, 0), 63, "at most");
        // 2,063 bytes above the setpoint are one unit: 63 x 2,063 / 130,000 = 0.9998, and 2,064 are 1.0002.
        assert_eq!((feedback(&qcn, 28_063, 28_063), feedback(&qcn, 28_064, 28_064)), (0, 1));
    }

    #[test]
    fn the_next_sample_is_the_sooner_the_worse_it_is() {
        let qcn = exact();
        let distances: Vec<i64> = (0..8).map(|upper| distance(&qcn, 8 * upper, 1.0)).collect();
        assert_eq!(distances, [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500]);
        assert_eq!(distance(&qcn, 7, 1.0), 150_000);
        // Frames of 1,500 bytes: the hundredth is the first sample, and with feedback 63 the thirteenth after it the next.
        let mut point = Point::default();
        let sampled: Vec<usize> = (1..=113)
            .filter(|_| point.arrives(&qcn, (1_000_000, 26_000), 1500, steady()).is_some())
            .collect();
        assert_eq!(sampled, [100, 113]);
    }

    /// Half of the rate before a message of 750,000 bytes: 1/2, 3/4, 7/8, 15/16, 31/32 of it over 150,000 bytes each.
    #[test]
    fn one_halving_costs_a_message_a_third() {
        // A cut of exactly a half: the standard's largest is 1 - 63/128.
        let qcn = Qcn { gain: 1.0, ..exact() };
        let mut limiter = Limiter::new(SPEED);
        limiter.is_told(&qcn, 63, 0, steady());
        let mut seconds = 0.0;
        let mut rates = Vec::new();
        for frame in 0..500 {
            if frame % 100 == 0 {
                rates.push(limiter.rate() / SPEED);
            }
            seconds += 1500.0 / limiter.rate();
            limiter.sends(&qcn, 1500, steady());
        }
        assert_eq!(rates, [0.5, 0.75, 0.875, 0.9375, 0.968_75]);
        assert!((seconds * 1e3 - 0.789).abs() < 5e-4, "{seconds}");
    }

    #[test]
    fn a_notification_takes_at_most_a_half() {
        let qcn = exact();
        let mut limiter = Limiter::new(SPEED);
        limiter.is_told(&qcn, 63, 7, steady());
        assert_eq!(limiter.rate(), SPEED * (1.0 - 63.0 / 128.0));
        assert_eq!(limiter.timer_ps(), 7 + 15_000_000_000);
        limiter.is_told(&qcn, 1, 8, steady());
        assert_eq!(limiter.rate(), SPEED * (65.0 / 128.0) * (127.0 / 128.0));
        assert_eq!(limiter.target, SPEED, "the byte counter was at 0: the target stays");
    }

    #[test]
    fn rates_end_at_the_least_rate_and_at_the_links() {
        let qcn = exact();
        let mut limiter = Limiter::new(SPEED);
        for _ in 0..100 {
            limiter.is_told(&qcn, 63, 0, steady());
        }
        assert_eq!(limiter.rate(), qcn.min_rate);
        for _ in 0..10_000 {
            limiter.times_out(&qcn, steady());
        }
        assert!(limiter.has_recovered());
        assert_eq!(limiter.rate(), SPEED);
    }

    /// A target far above the rate falls to an eighth first, so that a flow does not jump back.
    #[test]
    fn a_target_above_ten_rates_is_divided_by_eight() {
        let qcn = exact();
        let mut limiter = Limiter { rate: SPEED / 20.0, ..Limiter::new(SPEED) };
        limiter.times_out(&qcn, steady());
        assert_eq!(limiter.target, SPEED / 8.0);
        assert_eq!(limiter.rate(), (SPEED / 20.0 + SPEED / 8.0) / 2.0);
        let mut near = Limiter { rate: SPEED / 9.0, ..Limiter::new(SPEED) };
        near.times_out(&qcn, steady());
        assert_eq!(near.target, SPEED);
    }

    #[test]
    fn increase_is_fast_recovery_then_active_then_hyper_active() {
        let qcn = exact();
        let start = || {
            let mut limiter = Limiter { rate: SPEED / 4.0, target: SPEED / 2.0, ..Limiter::new(SPEED) };
            limiter.set_counter(&qcn, &mut steady());
            limiter
        };
        let mut limiter = start();
        limiter.timer_ps = 0;
        let targets: Vec<f64> = (0..6)
            .map(|_| {
                limiter.times_out(&qcn, steady());
                limiter.target - SPEED / 2.0
            })
            .collect();
        // Four stages of fast recovery; from the fifth on 5 Mb/s each, as the byte counter has none.
        let step = qcn.active_increase;
        assert_eq!(targets, [0.0, 0.0, 0.0, 0.0, step, 2.0 * step]);
        let mut both = Limiter { byte_stage: 6, time_stage: 6, ..start() };
        both.timer_ps = 0;
        both.times_out(&qcn, steady());
        assert_eq!(both.target - SPEED / 2.0, qcn.hyper_increase, "one stage of both above the fifth");
        let mut fifth = Limiter { byte_stage: 5, time_stage: 4, ..start() };
        fifth.timer_ps = 0;
        fifth.times_out(&qcn, steady());
        assert_eq!(fifth.target - SPEED / 2.0, step, "both at the fifth: it goes on as before");
    }
}
