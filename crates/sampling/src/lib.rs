//! Path sampling inside packets: which links packets took and where they met congestion, a few bits a packet.
//!
//! | module | what |
//! |---|---|
//! | [`field`] | products in GF(2^32), and the hash of one bit that they make |
//! | [`hash`] | the functions that can make the bit, by name |
//! | [`tag`] | what a packet carries, and what adapters and switches do to it |
//! | [`layout`] | where the bits are in real packets |
//! | [`packed`] | the same with a whole link in one word |
//! | [`candidates`] | which links a packet can have crossed, in groups, with numbers to match |
//! | `kinds` | leaves that have the same classes with all others |
//! | [`decoder`] | one bit a packet to estimates of all links, by Walsh-Hadamard transforms |
//! | `lists` | what it looks packets up in |
//! | `words` | how several of its sums share a word |
//! | `transform` | the transform |
//! | [`direct`] | the same link by link, for any hash, as the source has it: the judge of the other |
//! | [`reservoir`] | estimates where packets carry a whole link |
//! | [`estimate`] | a link's traffic and congestion with their standard errors |
//!
//! Source: Taffet, dissertation, ch. 2.

pub mod candidates;
pub mod decoder;
pub mod direct;
pub mod estimate;
pub mod field;
pub mod hash;
mod kinds;
pub mod layout;
mod lists;
pub mod packed;
pub mod reservoir;
pub mod tag;
mod transform;
mod words;

pub use candidates::{Candidates, SamplingError};
pub use decoder::Decoder;
pub use direct::Direct;
pub use estimate::{Estimate, false_positive_threshold};
pub use field::{Hash, Modulus};
pub use hash::{HashFunction, UnknownHash};
pub use packed::{PackedTag, Steps};
pub use reservoir::Reservoirs;
pub use tag::{HopBits, Received, Tag, WholeTag};
