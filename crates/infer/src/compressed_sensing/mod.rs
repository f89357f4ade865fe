//! The dissertation's own way, to compare with: compressed sensing in bases in which traffic is sparse (sec. 4.2, 4.3, 4.6).
//!
//! Knows the bases, how few coefficients a matrix has in each, and the traffic with the least sum of coefficients that explains the
//! counters. [`crate::estimate()`] does not use it.

mod bases;
mod coefficients;
mod recovery;
mod sparsity;

pub use self::bases::{Basis, Before, Frame, cells};
pub use self::recovery::{Recovery, recover};
pub use self::sparsity::{Sparsity, sparsity};
