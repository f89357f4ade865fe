//! Paths sampled inside the packets of a simulated run (crate `sampling`), as adapters and switches would do it.
//!
//! What adapters, switches and receivers do is in `sampler`, what receivers add up in `sums`. They keep sums by *context*: a job, or a job's
//! messages of one tag, those of collectives together. Every window of time sums are read and begin anew; what was under way belongs to
//! the window in which it arrives.
//!
//! Source: Taffet, dissertation, sec. 2.3.1 (Algorithms 1 to 3, the footnote on congestion) and 2.5.1 (Algorithms 4 to 6).

use std::sync::Arc;

use netloom_model::{HostId, LinkId};
use netloom_sampling::{Candidates, Hash, HashFunction, HopBits, Modulus, SamplingError};

mod decode;
mod pairs;
mod sampler;
mod sums;
mod ways;

pub use decode::{Decoded, Kept, Odd, decode};
pub use pairs::Pair;
pub use sampler::Sampler;
pub use sums::{Sample, TrueLink};

/// Contexts that are told apart; later tags of a job are one more.
pub const MOST_CONTEXTS: usize = 512;

/// What packets carry.
#[derive(Clone, Debug)]
pub enum Method {
    /// A whole link.
    Whole,
    /// One bit of the hash that is linear.
    OneBit {
        /// What might have been crossed, with numbers.
        candidates: Arc<Candidates>,
        /// The hash.
        hash: Arc<Hash>,
        /// `[link]`: of the hash; what switches keep for their ports.
        masks: Arc<Vec<u32>>,
    },
    /// One bit of another hash: decoded link by link.
    Hashed {
        /// What might have been crossed, with numbers.
        candidates: Arc<Candidates>,
        /// The hash.
        function: HashFunction,
    },
}

impl Method {
    /// One bit of a hash, with what suits it best.
    ///
    /// # Errors
    /// [`SamplingError`] for constants that make no field, or under which links look alike.
    pub fn hashed(candidates: Arc<Candidates>, function: HashFunction) -> Result<Self, SamplingError> {
        match function {
            HashFunction::Field { modulus, g } => Self::one_bit(candidates, modulus, g),
            HashFunction::Md5 | HashFunction::SipHash { .. } => Ok(Self::Hashed { candidates, function }),
        }
    }

    /// One bit of the hash that is linear, with masks for a fabric's links.
    ///
    /// # Errors
    /// [`SamplingError`] for a hash under which links look alike.
    pub fn one_bit(candidates: Arc<Candidates>, modulus: Modulus, g: u32) -> Result<Self, SamplingError> {
        let hash = Hash::new(modulus, g, candidates.bits(), 32)?;
        let number = |link| candidates.number(LinkId::from_index(link)).unwrap_or(0);
        let masks = (0..candidates.links()).map(|link| hash.mask(number(link))).collect();
        Ok(Self::OneBit { candidates, hash: Arc::new(hash), masks: Arc::new(masks) })
    }

    /// Links that look like another one, or whose bit never changes, where ids have the bits of `ids` alone; and all links that have a number.
    /// Only a hash that is linear can take links for others.
    pub fn alike(&self, ids: u32) -> (usize, usize) {
        let Self::OneBit { candidates, masks, .. } = self else { return (0, 0) };
        let numbered = |link: &usize| candidates.number(LinkId::from_index(*link)).is_some();
        let mut seen: Vec<u32> = (0..masks.len()).filter(numbered).map(|link| masks[link] & ids).collect();
        seen.sort_unstable();
        let same = |group: &[u32]| if group.len() > 1 || group[0] == 0 { group.len() } else { 0 };
        (seen.chunk_by(|a, b| a == b).map(same).sum(), seen.len())
    }
}

/// What makes a link congested for a packet that is queued there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// The queue is longer than the credits for it: the source's.
    Queue,
    /// With a probability of queue / (queue + credits).
    Probabilistic,
    /// The queue is longer than so many bytes, as switches mark for congestion control.
    Ecn {
        /// The threshold.
        bytes: u32,
    },
}

/// How a run is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// What packets carry.
    pub method: Method,
    /// The share of packets that carry it.
    pub rate: f64,
    /// When sums are read and begin anew, ps; `None`: at the end.
    pub every_ps: Option<u64>,
    /// Whether tags are contexts of their own.
    pub by_tag: bool,
    /// What congested means.
    pub marking: Marking,
    /// Of the hop count.
    pub hop_bits: HopBits,
    /// Of draws and packets' ids.
    pub seed: u64,
    /// Whether received packets are kept one by one.
    pub packets: bool,
    /// Whether what links really carried is counted besides.
    pub truth: bool,
}

/// What a context is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All of a job.
    All,
    /// Messages of a tag.
    Tag(u32),
    /// Messages of collectives.
    Collective,
    /// Messages of tags beyond [`MOST_CONTEXTS`].
    Others,
}

impl Phase {
    /// As tables spell it.
    pub fn name(&self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Tag(tag) => tag.to_string(),
            Self::Collective => "collective".into(),
            Self::Others => "others".into(),
        }
    }
}

/// Whose messages, and how much of them was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRow {
    /// The job's number.
    pub job: u32,
    /// Which of its messages.
    pub phase: Phase,
    /// Packets received.
    pub packets: u64,
    /// Those of them that were sampled.
    pub sampled: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// A sampled packet as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// When, ps.
    pub time_ps: u64,
    /// Its context.
    pub context: u32,
    /// Its id.
    pub id: u32,
    /// Who sent it.
    pub source: HostId,
    /// Who received it.
    pub destination: HostId,
    /// Its hops, at most what the hop count holds.
    pub hops: u8,
    /// The bit, or the link.
    pub carries: u32,
    /// Whether that link was congested.
    pub congested: bool,
}

/// What was sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// By number: jobs in order, in each its phases.
    pub contexts: Vec<ContextRow>,
    /// By window, context and link: links that sampled packets may have crossed.
    pub samples: Vec<Sample>,
    /// By window, context, source and destination: exact.
    pub received: Vec<Pair>,
    /// In order of arrival, if asked for.
    pub packets: Vec<PacketRow>,
    /// By window, context and link, if asked for: exact.
    pub truth: Vec<TrueLink>,
    /// Windows in which something was received: number, from when to when they went, ps.
    pub windows: Vec<(u32, u64, u64)>,
    /// Packets of one bit whose link is on no admissible way of their hosts: they are decoded wrongly, and only a simulator knows.
    pub astray: u64,
}
