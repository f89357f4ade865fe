//! What travels with a message, and which message it is.
//!
//! Invariant: a message's number and identity do not depend on when anything happens, so a job's messages have the same ones whatever other jobs
//! do.

use netloom_model::rng::mixed;
use netloom_traffic::collective::Collective;
use serde::{Deserialize, Serialize};

/// Tags from here on belong to collectives.
pub(super) const COLLECTIVE_TAG: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A whole message.
    Whole,
    /// May I?
    Ask,
    /// You may.
    Answer,
}

/// What travels with a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Sender and receiver of the payload, ranks of all jobs.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    mark: Mark,
}

/// Which part of which of its sender's messages: two bits of part, one that says that nobody waits for its leaving, 29 bits of number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Mark(u32);

const PART: u32 = 0b11;
const FORGOTTEN: u32 = 0b100;
const NUMBER_FROM: u32 = 3;
/// The bits that numbers have.
pub(super) const NUMBERS: u32 = u32::MAX >> NUMBER_FROM;

impl Envelope {
    /// A message from one rank to another, with a number. Nobody waits for the leaving of one that is `forgotten`.
    pub(super) fn new(
        part: Part,
        (from, to): (u32, u32),
        (bytes, tag): (u64, u32),
        forgotten: bool,
        number: u32,
    ) -> Self {
        let forgotten = if forgotten { FORGOTTEN } else { 0 };
        Self { from, to, tag, bytes, mark: Mark(number << NUMBER_FROM | forgotten | part as u32) }
    }

    #[inline]
    pub(super) fn part(self) -> Part {
        match self.mark.0 & PART {
            0 => Part::Whole,
            1 => Part::Ask,
            _ => Part::Answer,
        }
    }

    /// Another part of the same message.
    pub(super) fn with_part(self, part: Part) -> Self {
        Self { mark: Mark(self.mark.0 & !PART | part as u32), ..self }
    }

    /// Whether nobody waits for its leaving.
    #[inline]
    pub(super) fn is_forgotten(self) -> bool {
        self.mark.0 & FORGOTTEN != 0
    }

    /// Counted from 0 by sender, its collectives' messages by themselves; a question, its answer and what follows have one number. After 2^29 it
    /// starts over.
    pub(super) fn number(self) -> u32 {
        self.mark.0 >> NUMBER_FROM
    }

    /// The same part of the message that its sender sends so many later.
    pub(super) fn moved_on(self, more: u32) -> Self {
        Self { mark: Mark(self.mark.0.wrapping_add(more << NUMBER_FROM)), ..self }
    }

    /// Whether a collective sent it.
    pub(super) fn is_collective(self) -> bool {
        self.tag >= COLLECTIVE_TAG
    }

    /// What tells it from all others of its job, with numbers of ranks within that.
    pub(super) fn identity(self, number: impl Fn(u32) -> u32) -> u64 {
        let ranks = u64::from(number(self.from)) << 32 | u64::from(number(self.to));
        let which = u64::from(self.mark.0 & !FORGOTTEN) << 1 | u64::from(self.is_collective());
        mixed(mixed(ranks) ^ which)
    }
}

// Hosts keep one beside each message, in a line of the cache.
const _: () = assert!(size_of::<Envelope>() == 24);

/// One tag a group of ranks.
pub(super) fn tag_of(collective: &Collective) -> u32 {
    let Collective { first, stride, count, .. } = *collective;
    let mixed =
        [first, stride, count].iter().fold(0u32, |h, &x| (h.rotate_left(11) ^ x).wrapping_mul(0x9e37_79b9));
    COLLECTIVE_TAG | mixed >> 1
}
