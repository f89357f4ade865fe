//! What a rank can do.

use netloom_traffic::collective::{Collective, Step};

/// One step of a rank's program. Ranks are those of its job; `tag`s of programs stay below 2^31.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Computes for so long.
    Compute {
        /// Picoseconds.
        ps: u64,
    },
    /// Starts to send; [`Op::Wait`] and [`Op::WaitAll`] wait until the message has left.
    Isend {
        /// The receiver.
        to: u32,
        /// Payload.
        bytes: u64,
        /// What a receive must ask for.
        tag: u32,
    },
    /// Starts to receive.
    Irecv {
        /// The sender.
        from: u32,
        /// As sent.
        tag: u32,
    },
    /// Sends, and goes on when the message has left; at once if it is eager.
    Send {
        /// The receiver.
        to: u32,
        /// Payload.
        bytes: u64,
        /// What a receive must ask for.
        tag: u32,
    },
    /// Receives.
    Recv {
        /// The sender.
        from: u32,
        /// As sent.
        tag: u32,
    },
    /// Waits for the oldest send to (receive from) `peer` with this tag that was not waited for.
    Wait {
        /// The other rank.
        peer: u32,
        /// The tag.
        tag: u32,
        /// It is a send.
        sends: bool,
    },
    /// Waits for one more operation to be complete.
    WaitAny,
    /// Waits for all that was started.
    WaitAll,
    /// All ranks of the job together.
    Together(Collective),
}

impl Op {
    /// A step of a collective whose messages have this tag.
    pub fn of_step(step: Step, tag: u32) -> Self {
        match step {
            Step::To(to, bytes) => Self::Isend { to, bytes, tag },
            Step::From(from) => Self::Irecv { from, tag },
            Step::Wait => Self::WaitAll,
        }
    }
}
