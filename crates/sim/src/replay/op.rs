//! What a rank can do, and scripts of it.

use super::collective::Collective;
use super::tasks::Tasks;

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

/// The program of a job, as a function of the step: nothing is unrolled in memory.
pub trait Script: Send + Sync {
    /// Step number `step` of `rank`; `None` at its end.
    fn op(&self, rank: u32, step: u64) -> Option<Op>;

    /// Bytes by rank of the collective of step `step`, as `rank` knows them ([`Collective::op_uneven`]); empty if all are equal.
    fn shares(&self, _rank: u32, _step: u64) -> &[u64] {
        &[]
    }

    /// The tasks, if this is a graph of them: then they are run, not the steps.
    fn tasks(&self) -> Option<&Tasks> {
        None
    }
}

impl<S: Script + ?Sized> Script for std::sync::Arc<S> {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        (**self).op(rank, step)
    }

    fn shares(&self, rank: u32, step: u64) -> &[u64] {
        (**self).shares(rank, step)
    }

    fn tasks(&self) -> Option<&Tasks> {
        (**self).tasks()
    }
}

impl Script for Vec<Vec<Op>> {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        self.get(rank as usize)?.get(step as usize).copied()
    }
}
