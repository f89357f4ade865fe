//! `bth`: the six reserved bits beside FECN and BECN in RoCEv2's base transport header.
//!
//! They are `E HHH B C`: E is 1, HHH the links so far less one (1 to 8), B the hash bit, C whether the link that B names was congested.
//! The invariant CRC leaves this byte out. The id is made of destination QP and PSN by multiplications: PSNs count up, and a mix that is
//! linear over GF(2), such as a CRC, would leave the hash bits of consecutive packets as dependent as they are.
//!
//! Source: InfiniBand Architecture Specification, vol. 1, sec. 9.2 (base transport header), annex A17 (RoCEv2); Linux, rxe_icrc.c.

use super::Did;
use super::bytes::{UDP, fragment_word, is_udp_to, put_udp, word};
use crate::tag::Tag;

/// UDP's port of RoCEv2.
const PORT: u16 = 4791;
const BTH: usize = UDP + 8;
const BITS: usize = BTH + 4;
const MOST: u8 = 8;
const RESERVED: u8 = 0x3F;

/// A tag as the six bits that carry it.
pub(super) fn byte(tag: Tag) -> u8 {
    0x20 | (tag.hops.min(MOST) - 1) << 2 | u8::from(tag.bit) << 1 | u8::from(tag.congested)
}

/// The tag of a byte; its two highest bits are FECN and BECN.
pub(super) fn tag(byte: u8) -> Option<Tag> {
    let tag = Tag { bit: byte & 2 != 0, congested: byte & 1 != 0, hops: (byte >> 2 & 7) + 1 };
    (byte & 0x20 != 0).then_some(tag)
}

pub(super) fn free(frame: &[u8]) -> Result<(), Did> {
    there(frame)?;
    if frame[BITS] & RESERVED != 0 && tag(frame[BITS]).is_none() { Err(Did::InUse) } else { Ok(()) }
}

pub(super) fn found(frame: &[u8]) -> Result<Tag, Did> {
    there(frame)?;
    tag(frame[BITS]).ok_or(Did::NotOurs)
}

pub(super) fn id(frame: &[u8]) -> u32 {
    let low = |at: usize| word(frame, at) as u32 & 0xFF;
    let pair = low(BITS) << 16 | u32::from(word(frame, BITS + 2));
    let psn = low(BTH + 8) << 16 | u32::from(word(frame, BTH + 10));
    mixed(pair, psn)
}

/// The last steps of MurmurHash3, of a sum: what differs in one bit differs in half of all.
fn mixed(pair: u32, psn: u32) -> u32 {
    let mut id = pair.wrapping_mul(0x9E37_79B1).wrapping_add(psn);
    id = (id ^ id >> 16).wrapping_mul(0x85EB_CA6B);
    id = (id ^ id >> 13).wrapping_mul(0xC2B2_AE35);
    id ^ id >> 16
}

pub(super) fn put(frame: &mut [u8], tag: Option<Tag>) {
    let notices = frame[BITS] & !RESERVED;
    let bits = notices | tag.map_or(0, byte);
    put_udp(frame, BITS, u16::from_be_bytes([bits, frame[BITS + 1]]));
}

fn there(frame: &[u8]) -> Result<(), Did> {
    if !is_udp_to(frame, PORT, 12) {
        return Err(Did::NotOurs);
    }
    if fragment_word(frame) & 0x3FFF == 0 { Ok(()) } else { Err(Did::Fragment) }
}
