//! `ds-ttl`: three bits of IPv4's DSCP, and hops by how far the TTL has come down; ECN stays whose it is.
//!
//! The DS byte is `1 B C 0 1 1 EE`: code points `xxxx11` are for experiments and local use (RFC 2474, pool 2), so none of those that are
//! given out is taken for a tag. A switch must be a router: it looks when it has counted the TTL down.
//!
//! Source: Taffet, dissertation, sec. 2.6.1 (hops from a TTL that begins with one value); RFC 2474, sec. 6.

use super::bytes::ETHERNET;
use super::ds::{DS, atomic, is_transport, put_byte, transport};
use super::{At, Did};
use crate::tag::{MOST_HOPS, Tag};

const TTL: usize = ETHERNET + 8;
const ECN: u8 = 3;

/// Hash bit and congested of a byte that is a tag.
pub(super) fn bits(byte: u8) -> Option<(bool, bool)> {
    (byte & 0x9C == 0x8C).then_some((byte & 0x40 != 0, byte & 0x20 != 0))
}

/// A sender tags packets whose TTL is the initial one.
pub(super) fn free(frame: &[u8], initial: u8) -> Result<(), Did> {
    transport(frame)?;
    let unused = frame[DS] & !ECN == 0 || bits(frame[DS]).is_some();
    if unused && frame[TTL] == initial { Ok(()) } else { Err(Did::InUse) }
}

pub(super) fn found(frame: &[u8], initial: u8, at: At) -> Result<Tag, Did> {
    if !is_transport(frame) {
        return Err(Did::NotOurs);
    }
    let (bit, congested) = bits(frame[DS]).ok_or(Did::NotOurs)?;
    atomic(frame)?;
    let routers = initial.checked_sub(frame[TTL]).ok_or(Did::NotOurs)?;
    // A switch is the last of the routers so far, and has not sent it yet; a receiver's link is one more.
    let hops = if at == At::Switch { routers } else { routers.saturating_add(1) };
    let most = if at == At::Switch { MOST_HOPS - 1 } else { MOST_HOPS };
    if (1..=most).contains(&hops) { Ok(Tag { bit, congested, hops }) } else { Err(Did::NotOurs) }
}

pub(super) fn put(frame: &mut [u8], tag: Option<Tag>) {
    let ecn = frame[DS] & ECN;
    let code = tag.map_or(0, |tag| 0x8C | u8::from(tag.bit) << 6 | u8::from(tag.congested) << 5);
    put_byte(frame, code | ecn);
}
