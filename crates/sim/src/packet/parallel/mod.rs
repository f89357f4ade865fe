//! What several partitions of a network share: the division, mail between them, and the barrier at which their threads wait.

mod barrier;
mod mail;
mod partition;

pub(crate) use barrier::{Barrier, Guard};
pub(crate) use mail::{Mail, STOP};
pub(crate) use partition::Partition;
