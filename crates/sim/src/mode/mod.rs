//! Modes of Aries: how much a packet's detours are disliked, by job, size of message and collective; and who chooses one message by message.
//!
//! Source: De Sensi et al., SC 2019, sec. 2.2, and the names of `MPICH_GNI_ROUTING_MODE`. What is not public is ours, and said in
//! docs/methods/dragonfly.md: the bias of ADAPTIVE_3 is [`HIGH_BIAS_BYTES`], that of ADAPTIVE_2 a quarter of it, that of ADAPTIVE_1 the high
//! one over the hops that are left of the minimal way.
//!
//! | module | what |
//! |---|---|
//! | `published` | Algorithm 1 of the paper |
//! | `steady` | ours, which does not oscillate |
//! | `choosing` | either of them at work, for a rank |

mod choosing;
mod published;
mod steady;

use serde::{Deserialize, Serialize};

pub(crate) use choosing::{Choosing, Sends};
pub use published::{Aware, FRESH_SAMPLES, LATENCY_RATIO, STALL_RATIO, Sample, Size, THRESHOLD_BYTES};
pub use steady::Steady;

/// The high bias: bytes that are added to the load of a detour's output. The one fitted number of the modes; where and how is in docs/methods/noise.md.
pub const HIGH_BIAS_BYTES: u32 = 4_096;

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// ADAPTIVE_0, "Adaptive": no bias.
    Unbiased,
    /// ADAPTIVE_1, "Increasingly Minimal Bias": chosen again on the way, with a bias that grows.
    Increasing,
    /// ADAPTIVE_2: a low bias.
    LowBias,
    /// ADAPTIVE_3, "Adaptive with High Bias".
    HighBias,
    /// MIN_HASH: minimal, packet by packet, by a hash of sender, receiver, message and the packet's place in it.
    MinHash,
    /// NMIN_HASH: a detour, by such a hash.
    NminHash,
    /// IN_ORDER: minimal, one way for all that a host sends another.
    InOrder,
}

impl Mode {
    /// All of them, by number.
    pub const ALL: [Self; 7] = [
        Self::Unbiased,
        Self::Increasing,
        Self::LowBias,
        Self::HighBias,
        Self::MinHash,
        Self::NminHash,
        Self::InOrder,
    ];

    /// As routings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unbiased => "adaptive:0",
            Self::Increasing => "adaptive:1",
            Self::LowBias => "adaptive:2",
            Self::HighBias => "adaptive:3",
            Self::MinHash => "min-hash",
            Self::NminHash => "nmin-hash",
            Self::InOrder => "in-order",
        }
    }

    /// The mode that a word names: a routing's, or a number as in ADAPTIVE_0.
    pub fn parse(word: &str) -> Option<Self> {
        let is = |mode: &Self| mode.word() == word || mode.word().strip_prefix("adaptive:") == Some(word);
        Self::ALL.into_iter().find(is)
    }

    /// Its place in [`Mode::ALL`].
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether it looks at no queue.
    pub(crate) fn is_blind(self) -> bool {
        matches!(self, Self::MinHash | Self::NminHash | Self::InOrder)
    }
}

/// Cray's MPI as it comes, as routings spell it: ADAPTIVE_0, and ADAPTIVE_1 for all-to-all.
pub(crate) const AS_IT_COMES: &str = "adaptive:default";

/// Who chooses modes message by message, by what adapters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ByMessage {
    /// Algorithm 1 of the paper.
    Aware,
    /// Ours, which does not oscillate.
    Steady,
}

impl ByMessage {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Aware, Self::Steady];

    /// As routings spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aware => "aware",
            Self::Steady => "aware:steady",
        }
    }

    /// Whose word it is.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// The modes of a job's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Messages below so many bytes have a mode; in order.
    below: Vec<(u64, Mode)>,
    /// Messages of all-to-all collectives.
    all_to_all: Option<Mode>,
    /// All others, unless they have the routing's.
    others: Option<Mode>,
    /// Who chooses for them.
    by_message: Option<ByMessage>,
}

impl Modes {
    /// One for all messages.
    pub fn all(mode: Mode) -> Self {
        Self { others: Some(mode), ..Self::default() }
    }

    /// Chosen message by message.
    pub fn by_message(by_message: ByMessage) -> Self {
        Self { by_message: Some(by_message), ..Self::default() }
    }

    /// Those of all messages, by a word: a mode's, `default`, or who chooses; as routings spell it, or as scenarios do.
    pub fn parse(word: &str) -> Option<Self> {
        if AS_IT_COMES == word || AS_IT_COMES.strip_prefix("adaptive:") == Some(word) {
            return Some(Self::all(Mode::Unbiased).with_all_to_all(Some(Mode::Increasing)));
        }
        let chosen = || ByMessage::parse(word).map(Self::by_message);
        Mode::parse(word).map(Self::all).or_else(chosen)
    }

    /// Modes of messages below some sizes, the first that fits, and of all others; `None`: the routing's.
    pub fn new(mut below: Vec<(u64, Mode)>, others: Option<Mode>) -> Self {
        below.sort_unstable();
        Self { below, others, ..Self::default() }
    }

    /// The same, with one for all-to-all collectives.
    #[must_use]
    pub fn with_all_to_all(self, mode: Option<Mode>) -> Self {
        Self { all_to_all: mode.or(self.all_to_all), ..self }
    }

    /// The same; messages for which nothing is said have the modes that they have in `all`.
    #[must_use]
    pub fn or(mut self, all: Self) -> Self {
        if self.others.is_none() && self.by_message.is_none() {
            self.others = all.others;
            self.by_message = all.by_message;
            self.all_to_all = self.all_to_all.or(all.all_to_all);
        }
        self
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Who chooses, if somebody does.
    pub fn chooses(&self) -> Option<ByMessage> {
        self.by_message
    }

    /// That of a message, of an all-to-all or not; `None`: chosen for it, or the routing's.
    #[inline]
    pub fn of(&self, bytes: u64, all_to_all: bool) -> Option<Mode> {
        let first = self.below.iter().find(|&&(below, _)| bytes < below);
        match first {
            Some(&(_, mode)) => Some(mode),
            None if all_to_all && self.all_to_all.is_some() => self.all_to_all,
            None => self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_size_that_a_message_is_below_decides() {
        let modes = Modes::new(vec![(4_096, Mode::Unbiased), (100, Mode::HighBias)], None);
        let found = [1, 99, 100, 4_095, 4_096].map(|bytes| modes.of(bytes, false).map(Mode::number));
        assert_eq!(found, [Some(3), Some(3), Some(0), Some(0), None]);
        assert_eq!(Modes::all(Mode::HighBias).of(u64::MAX, true), Some(Mode::HighBias));
        assert!(Modes::default().is_empty() && !modes.is_empty());
    }

    #[test]
    fn what_is_said_of_a_job_goes_before_what_is_said_of_the_routing() {
        let of = |modes: &Modes| [false, true].map(|all_to_all| modes.of(5_000, all_to_all));
        let word = |word| Modes::parse(word).unwrap();
        assert_eq!(of(&word("default")), [Some(Mode::Unbiased), Some(Mode::Increasing)]);
        assert_eq!(Modes::default().or(word("default")), word("adaptive:default"));
        assert_eq!(of(&word("3").or(word("default"))), [Some(Mode::HighBias); 2]);
        let low = Modes::default().with_all_to_all(Some(Mode::LowBias));
        assert_eq!(of(&low.clone().or(word("default"))), [Some(Mode::Unbiased), Some(Mode::LowBias)]);
        let own = low.or(word("aware"));
        assert_eq!((of(&own), own.chooses()), ([None, Some(Mode::LowBias)], Some(ByMessage::Aware)));
        assert_eq!(own.or(word("0")).of(1, false), None);
    }

    #[test]
    fn names_are_read_back_and_nothing_else_is() {
        for mode in Mode::ALL {
            assert_eq!(Mode::parse(mode.word()), Some(mode));
            assert_eq!(Mode::ALL[usize::from(mode.number())], mode);
        }
        assert_eq!(Mode::parse("2"), Some(Mode::LowBias));
        for it in ByMessage::ALL {
            assert_eq!(ByMessage::parse(it.word()), Some(it));
        }
        for bad in ["", "4", "adaptive", "hash", "MIN_HASH", "steady"] {
            assert!(Mode::parse(bad).is_none() && Modes::parse(bad).is_none(), "{bad:?}");
        }
    }
}
