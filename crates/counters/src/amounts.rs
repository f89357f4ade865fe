//! Amounts that were counted, how noisy counters are, and whether two may have counted the same.

use netloom_model::Quality;

/// Two ends that differ by more standard deviations than this do not agree.
pub const CONFLICT_DEVIATIONS: f64 = 6.0;
/// What ends may differ by even where most agree exactly: a packet here or there between two readings.
const SLACK: f64 = 1e-3;
/// The same for small amounts, in packets.
const SLACK_PACKETS: f64 = 16.0;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Octets.
    Bytes,
    /// Packets; where they were not counted, bytes over this.
    Packets {
        /// Largest payload, bytes.
        mtu_bytes: f64,
    },
    /// MTU / 2 times packets plus half the bytes (dissertation, sec. 5.4.2): small packets count for what they hold up.
    Mixed {
        /// Largest payload, bytes.
        mtu_bytes: f64,
    },
}

/// An amount for every link, or for every lane of every link, in the unit asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amounts {
    /// How much.
    pub value: Vec<f64>,
    /// What is wrong with it.
    pub quality: Vec<Quality>,
    /// How many ends of the link it rests on, 0 to 2.
    pub ends: Vec<u8>,
}

impl Amounts {
    /// The amount, if it can be trusted.
    #[inline]
    pub fn get(&self, at: usize) -> Option<f64> {
        is_usable(self.quality[at]).then(|| self.value[at])
    }

    /// Standard deviation of an amount that can be trusted.
    pub fn deviation(&self, at: usize, noise: &Noise) -> f64 {
        noise.deviation(self.value[at]) / f64::from(self.ends[at].max(1)).sqrt()
    }
}

/// The standard deviation of one counter: `relative * value + floor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Relative part.
    pub relative: f64,
    /// What is left for small values, in the unit of the amounts.
    pub floor: f64,
    /// What a packet of middling size counts in the unit of the amounts.
    pub packet: f64,
    /// How many comparisons of links, or of switches, say so; 0: nothing is known.
    pub comparisons: usize,
}

impl Noise {
    /// Standard deviation of one counter of this value.
    #[inline]
    pub fn deviation(&self, value: f64) -> f64 {
        self.relative * value + self.floor
    }

    /// Whether two counters may have counted the same.
    #[inline]
    pub fn agree(&self, a: f64, b: f64) -> bool {
        let larger = a.max(b);
        let slack = (SLACK * larger).max((SLACK_PACKETS * self.packet).min(0.05 * larger)).max(1.0);
        (a - b).abs() <= CONFLICT_DEVIATIONS * std::f64::consts::SQRT_2 * self.deviation(larger) + slack
    }
}

/// Whether a value may be fitted.
#[inline]
pub fn is_usable(quality: Quality) -> bool {
    quality == Quality::GOOD || quality == Quality::SCALED
}
