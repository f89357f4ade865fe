//! Random numbers of a packet at a switch.
//!
//! A draw follows from the seed, the packet and the switch, never from what other packets do: the same message makes the same draws whoever else is
//! in the network and whenever it is sent. Two runs that differ in their neighbours alone can so be compared message by message. Streams of
//! switches, as most simulators have, would give a job other draws as soon as anybody else's packet comes by.
//!
//! Numbers are SplitMix64's (see [`mixed`]), counted from a place of the packet's own.

use netloom_model::SwitchId;
use netloom_model::rng::mixed;

/// Steps of SplitMix64: the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// What makes the draws of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws(u64);

/// The draws of one packet at one switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(mixed(seed.wrapping_add(STEP)))
    }

    /// Those of a packet, by its mark, at a switch.
    #[inline]
    pub fn of(self, mark: u32, switch: SwitchId) -> Draw {
        Draw(self.0 ^ (u64::from(mark) << 32 | u64::from(switch.0)))
    }
}

impl Draw {
    /// A number below `n`, each as likely but for 2^-32.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(STEP);
        (((mixed(self.0) >> 32) * n as u64) >> 32) as usize
    }

    /// One of several.
    #[inline]
    pub fn one_of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square with three degrees of freedom is above 16.27 once in 1,000 times.
    #[test]
    fn packets_switches_and_draws_are_all_told_apart() {
        for seed in 0..4 {
            let draws = Draws::new(seed);
            let mut of_packets = [0u32; 4];
            let mut of_switches = [0u32; 4];
            let mut of_one = [0u32; 4];
            let mut one = draws.of(7, SwitchId(3));
            for i in 0..4_000 {
                of_packets[draws.of(i, SwitchId(0)).below(4)] += 1;
                of_switches[draws.of(0, SwitchId(i)).below(4)] += 1;
                of_one[one.below(4)] += 1;
            }
            for counts in [of_packets, of_switches, of_one] {
                let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - 1e3).powi(2) / 1e3).sum();
                assert!(chi_square < 16.27, "{counts:?}");
            }
        }
    }
}
