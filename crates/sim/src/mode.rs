//! Modes of Aries: how much a packet's detours are disliked, by job and size of message.
//!
//! Source: De Sensi et al., SC 2019, sec. 2.2: ADAPTIVE_0 ("Adaptive") has no bias, ADAPTIVE_3 ("Adaptive with High Bias") a high one that is added to
//! the congestion of detours. The numbers of the machine are not public; ours is [`HIGH_BIAS_BYTES`]. ADAPTIVE_1 (a bias that grows on the way) and
//! ADAPTIVE_2 (a low one) are not here.

use serde::{Deserialize, Serialize};

/// The high bias: bytes that are added to the load of a detour's output. The one fitted number of the modes; where and how is in docs/methods/noise.md.
pub const HIGH_BIAS_BYTES: u32 = 4_096;

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// ADAPTIVE_0: no bias.
    Unbiased,
    /// ADAPTIVE_3: a high bias.
    HighBias,
}

impl Mode {
    /// Those that there are.
    pub const ALL: [Self; 2] = [Self::Unbiased, Self::HighBias];

    /// Its number, as in ADAPTIVE_0.
    pub fn number(self) -> u8 {
        match self {
            Self::Unbiased => 0,
            Self::HighBias => 3,
        }
    }

    /// The mode of a number.
    ///
    /// # Errors
    /// What is to be expected, if there is none.
    pub fn of_number(number: u8) -> Result<Self, String> {
        let expected = "expected mode 0 (no bias) or 3 (high bias)";
        match number {
            0 => Ok(Self::Unbiased),
            3 => Ok(Self::HighBias),
            1 => Err(format!("{expected}, found 1: the increasingly minimal bias is not in this version")),
            2 => Err(format!("{expected}, found 2: the low bias is not in this version")),
            other => Err(format!("{expected}, found {other}")),
        }
    }
}

/// The modes of a job's messages by their size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Messages below so many bytes have a mode; in order.
    below: Vec<(u64, Mode)>,
    /// All others, unless they have the routing's.
    others: Option<Mode>,
}

impl Modes {
    /// One for all messages.
    pub fn all(mode: Mode) -> Self {
        Self { below: Vec::new(), others: Some(mode) }
    }

    /// Modes of messages below some sizes, the first that fits, and of all others; `None`: the routing's.
    pub fn new(mut below: Vec<(u64, Mode)>, others: Option<Mode>) -> Self {
        below.sort_unstable();
        Self { below, others }
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.below.is_empty() && self.others.is_none()
    }

    /// That of a message; `None`: the routing's.
    #[inline]
    pub fn of(&self, bytes: u64) -> Option<Mode> {
        let first = self.below.iter().find(|&&(below, _)| bytes < below);
        first.map_or(self.others, |&(_, mode)| Some(mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_size_that_a_message_is_below_decides() {
        let modes = Modes::new(vec![(4_096, Mode::Unbiased), (100, Mode::HighBias)], None);
        let found = [1, 99, 100, 4_095, 4_096].map(|bytes| modes.of(bytes).map(Mode::number));
        assert_eq!(found, [Some(3), Some(3), Some(0), Some(0), None]);
        assert_eq!(Modes::all(Mode::HighBias).of(u64::MAX), Some(Mode::HighBias));
        assert!(Modes::default().is_empty() && !modes.is_empty());
        for mode in Mode::ALL {
            assert_eq!(Mode::of_number(mode.number()), Ok(mode));
        }
    }
}
