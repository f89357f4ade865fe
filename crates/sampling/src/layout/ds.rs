//! `ds`, the dissertation's own: `E HHHH B CC` in IPv4's DS byte, and the id in its identification.
//!
//! E is 1, HHHH the links so far (1 to 15), B the hash bit, CC 1, or 3 if the link that B names was congested.
//!
//! Source: Taffet, dissertation, sec. 2.6.1 (figures 2.11 to 2.13); RFC 6864 (which identifications are free).

use super::Did;
use super::bytes::{ETHERNET, PROTOCOL_TCP, PROTOCOL_UDP, fragment_word, is_ipv4, protocol, put_ipv4};
use crate::tag::Tag;

/// Offsets of the byte and the identification.
pub(super) const DS: usize = ETHERNET + 1;
pub(super) const ID: usize = ETHERNET + 4;
const MOST: u8 = 15;

/// A tag as the byte that carries it.
pub(super) fn byte(tag: Tag) -> u8 {
    0x80 | tag.hops.min(MOST) << 3 | u8::from(tag.bit) << 2 | if tag.congested { 3 } else { 1 }
}

/// The tag of a byte; `None` of one that is no tag.
pub(super) fn tag(byte: u8) -> Option<Tag> {
    let hops = byte >> 3 & 15;
    let is_tag = byte & 0x81 == 0x81 && hops != 0;
    is_tag.then_some(Tag { bit: byte & 4 != 0, congested: byte & 3 == 3, hops })
}

/// Whether a sender may put a tag into a frame.
pub(super) fn free(frame: &[u8]) -> Result<(), Did> {
    transport(frame)?;
    if frame[DS] != 0 && tag(frame[DS]).is_none() { Err(Did::InUse) } else { Ok(()) }
}

pub(super) fn found(frame: &[u8]) -> Result<Tag, Did> {
    if !is_transport(frame) {
        return Err(Did::NotOurs);
    }
    let kept = tag(frame[DS]).ok_or(Did::NotOurs)?;
    atomic(frame).map(|()| kept)
}

pub(super) fn put(frame: &mut [u8], tag: Option<Tag>) {
    put_byte(frame, tag.map_or(0, byte));
}

/// UDP or TCP in IPv4 that cannot be fragmented.
pub(super) fn transport(frame: &[u8]) -> Result<(), Did> {
    if is_transport(frame) { atomic(frame) } else { Err(Did::NotOurs) }
}

/// UDP or TCP in IPv4: DS bytes of all else are others'.
pub(super) fn is_transport(frame: &[u8]) -> bool {
    is_ipv4(frame) && [PROTOCOL_TCP, PROTOCOL_UDP].contains(&protocol(frame))
}

/// Whether the packet is whole and stays so; the reserved bit says nothing.
pub(super) fn atomic(frame: &[u8]) -> Result<(), Did> {
    let word = fragment_word(frame);
    match (word & 0x7FFF == 0x4000, word & 0x3FFF == 0) {
        (true, _) => Ok(()),
        (false, true) => Err(Did::MayFragment),
        (false, false) => Err(Did::Fragment),
    }
}

pub(super) fn put_byte(frame: &mut [u8], ds: u8) {
    let version = frame[ETHERNET];
    put_ipv4(frame, ETHERNET, u16::from_be_bytes([version, ds]));
}
