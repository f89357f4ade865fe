//! `aware:steady`: ours, beside Algorithm 1, which oscillates where a mode shows fewer stalls as soon as it is no longer in use.
//!
//! A sender remembers what each mode took, a byte, by *class*: how far the receiver is (the same group or another), a power of two of size, and
//! whether it is an all-to-all. What a message took is what its sender sees: from its first packet's turn until its last response. At
//! first the two modes take turns. Then the better one is in use, and the other is tried once in a while: a switch needs a gain above
//! [`LEAST_GAIN`], and above what the last switch missed by. Every trial, and every switch, doubles the time until the
//! next trial, up to [`MOST_WAIT`] messages, so changes become rare.
//!
//! Nothing of it is published.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Mode;

/// Messages of a class by each mode before one is chosen.
const FIRST: u32 = 3;
/// From the choice to the first trial of the other mode, messages of the class.
const WAIT: u32 = 16;
/// Most of that.
const MOST_WAIT: u32 = 1 << 16;
/// A gain worth a switch.
const LEAST_GAIN: f64 = 0.03;
/// How much a new time counts.
const WEIGHT: f64 = 0.25;

/// Messages that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Class {
    /// The receiver is in the sender's group.
    near: bool,
    all_to_all: bool,
    /// Power of two of its bytes.
    log2: u8,
}

impl Class {
    pub fn of(bytes: u64, near: bool, all_to_all: bool) -> Self {
        Self { near, all_to_all, log2: bytes.max(1).ilog2() as u8 }
    }
}

/// What is known of a class. Places: without a bias, with a high one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Known {
    /// Time a byte, a mean that forgets.
    cost: [f64; 2],
    samples: [u32; 2],
    sent: u32,
    high_bias: bool,
    is_chosen: bool,
    /// The other mode is tried when so many have been sent.
    trial: u32,
    wait: u32,
    /// What the mode in use was expected to take when it was taken up, and its samples then; 0: it has been judged.
    expected: f64,
    from: u32,
    /// By how much the last switch missed what was expected of it.
    missed: f64,
}

impl Known {
    fn better(&self) -> bool {
        self.cost[1] <= self.cost[0]
    }

    fn takes_up(&mut self, high_bias: bool) {
        self.high_bias = high_bias;
        self.expected = self.cost[usize::from(high_bias)];
        self.from = self.samples[usize::from(high_bias)];
    }

    fn waits_longer(&mut self) {
        self.wait = (2 * self.wait).clamp(WAIT, MOST_WAIT);
        self.trial = self.sent.saturating_add(self.wait);
    }

    fn next(&mut self) -> bool {
        self.sent = self.sent.saturating_add(1);
        if !self.is_chosen {
            if self.samples.iter().any(|&samples| samples < FIRST) {
                return self.sent.is_multiple_of(2); // they take turns
            }
            self.is_chosen = true;
            self.takes_up(self.better());
            self.waits_longer();
        }
        let gain = self.cost[usize::from(self.high_bias)] / self.cost[usize::from(!self.high_bias)] - 1.0;
        if gain > LEAST_GAIN.max(self.missed) {
            self.takes_up(!self.high_bias);
            self.waits_longer();
        } else if self.sent >= self.trial {
            self.waits_longer();
            return !self.high_bias;
        }
        self.high_bias
    }

    fn took(&mut self, high_bias: bool, cost: f64) {
        let at = usize::from(high_bias);
        self.samples[at] = self.samples[at].saturating_add(1);
        let weight = WEIGHT.max(1.0 / f64::from(self.samples[at]));
        self.cost[at] += weight * (cost - self.cost[at]);
        if high_bias == self.high_bias && self.expected > 0.0 && self.samples[at] >= self.from + 2 * FIRST {
            self.missed = (self.cost[at] / self.expected - 1.0).max(0.0);
            self.expected = 0.0;
        }
    }
}

/// The state of a sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    classes: BTreeMap<Class, Known>,
}

impl Steady {
    /// The mode of the next message of a class.
    pub(crate) fn select(&mut self, class: Class) -> Mode {
        match (self.classes.entry(class).or_default().next(), class.all_to_all) {
            (true, _) => Mode::HighBias,
            (false, true) => Mode::Increasing,
            (false, false) => Mode::Unbiased,
        }
    }

    /// What a message of a class took, in any unit, a byte.
    pub(crate) fn took(&mut self, class: Class, mode: Mode, cost: f64) {
        self.classes.entry(class).or_default().took(mode == Mode::HighBias, cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modes of so many messages whose times are told at once.
    fn modes(steady: &mut Steady, messages: u32, cost: impl Fn(u32, Mode) -> f64) -> Vec<Mode> {
        let class = Class::of(5_000, false, false);
        let one = |i| {
            let mode = steady.select(class);
            steady.took(class, mode, cost(i, mode));
            mode
        };
        (0..messages).map(one).collect()
    }

    fn switches(modes: &[Mode]) -> usize {
        modes.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn the_better_mode_is_found_and_kept_but_for_trials() {
        for better in [Mode::Unbiased, Mode::HighBias] {
            let mut steady = Steady::default();
            let found = modes(&mut steady, 5_000, |_, mode| if mode == better { 1.0 } else { 1.2 });
            let other = found.iter().filter(|&&mode| mode != better).count();
            assert!(other <= 3 + 9, "{other}: at first, and trials that are ever rarer");
        }
    }

    /// A mode that looks better as soon as the other one is in use makes Algorithm 1 oscillate.
    #[test]
    fn what_is_always_better_over_there_changes_ever_more_rarely() {
        let mut steady = Steady::default();
        let mut last = Mode::Unbiased;
        let class = Class::of(5_000, true, false);
        let mut found = Vec::new();
        for _ in 0..20_000 {
            let mode = steady.select(class);
            // The first message by a mode is quick, the next ones are slow.
            steady.took(class, mode, if mode == last { 1.5 } else { 1.0 });
            last = mode;
            found.push(mode);
        }
        assert!(switches(&found[10_000..]) <= 8, "{}", switches(&found[10_000..]));
    }

    #[test]
    fn it_follows_when_the_other_mode_becomes_better() {
        let mut steady = Steady::default();
        let found = modes(
            &mut steady,
            4_000,
            |i, mode| {
                if (mode == Mode::HighBias) == (i < 100) { 1.0 } else { 2.0 }
            },
        );
        assert_eq!((found[90], found[3_999]), (Mode::HighBias, Mode::Unbiased));
    }

    #[test]
    fn classes_know_nothing_of_each_other() {
        let mut steady = Steady::default();
        modes(&mut steady, 100, |_, mode| if mode == Mode::HighBias { 1.0 } else { 2.0 });
        assert_eq!(steady.select(Class::of(5_000, false, true)), Mode::Increasing, "the first of its class");
        assert_eq!(Class::of(4_096, true, false), Class::of(8_191, true, false));
        assert_ne!(Class::of(4_095, true, false), Class::of(4_096, true, false));
    }
}
