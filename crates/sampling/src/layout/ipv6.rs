//! `ipv6`: the byte of `ds` in IPv6's traffic class, and the checksum of UDP or TCP as the id.
//!
//! The flow label steers ECMP, and must not vary within a flow. A checksum is fixed once the adapter's offload is through; it does not
//! cover the traffic class. Packets with headers between IPv6 and UDP or TCP, fragments among them, are left alone.
//!
//! Source: Taffet, dissertation, sec. 2.6.1; RFC 8200; RFC 6936 (checksums of 0).

use super::Did;
use super::bytes::{ETHERNET, PROTOCOL_TCP, PROTOCOL_UDP, word};
use super::ds;
use crate::tag::Tag;

const NEXT: usize = ETHERNET + 6;
const TRANSPORT: usize = ETHERNET + 40;

pub(super) fn free(frame: &[u8]) -> Result<(), Did> {
    checksum_at(frame)?;
    let class = class(frame);
    if class != 0 && ds::tag(class).is_none() { Err(Did::InUse) } else { Ok(()) }
}

pub(super) fn found(frame: &[u8]) -> Result<Tag, Did> {
    checksum_at(frame)?;
    ds::tag(class(frame)).ok_or(Did::NotOurs)
}

pub(super) fn id(frame: &[u8]) -> u32 {
    checksum_at(frame).map_or(0, |at| word(frame, at).into())
}

pub(super) fn put(frame: &mut [u8], tag: Option<Tag>) {
    let class = tag.map_or(0, ds::byte);
    frame[ETHERNET] = frame[ETHERNET] & 0xF0 | class >> 4;
    frame[ETHERNET + 1] = frame[ETHERNET + 1] & 0x0F | class << 4;
}

fn class(frame: &[u8]) -> u8 {
    frame[ETHERNET] << 4 | frame[ETHERNET + 1] >> 4
}

/// Where the checksum is; a packet without one (0) has no id.
fn checksum_at(frame: &[u8]) -> Result<usize, Did> {
    if frame.len() < TRANSPORT + 8 || frame[12..14] != [0x86, 0xDD] || frame[ETHERNET] >> 4 != 6 {
        return Err(Did::NotOurs);
    }
    let at = match frame[NEXT] {
        PROTOCOL_UDP => TRANSPORT + 6,
        PROTOCOL_TCP if frame.len() >= TRANSPORT + 20 => TRANSPORT + 16,
        _ => return Err(Did::NotOurs),
    };
    if word(frame, at) == 0 { Err(Did::NotOurs) } else { Ok(at) }
}
