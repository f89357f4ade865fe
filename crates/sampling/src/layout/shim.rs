//! `shim`: eight bytes behind UDP, for programs of one's own that send to port 28268 and leave them free.
//!
//! An id of 32 bits, the layout's version (4 bits, 1; 0: free) and the hops (4), six bits of zero, the hash bit and the congested bit, and
//! the letters `nl`. UDP's checksum follows, if there is one.
//!
//! Source: our own; Taffet, dissertation, sec. 2.6.1, has no layout with an id of its own.

use super::Did;
use super::bytes::{UDP, fragment_word, is_udp_to, put_udp, word};
use crate::tag::Tag;

/// UDP's port.
const PORT: u16 = 28_268;
/// The letters.
const LETTERS: u16 = 0x6E6C;
const SHIM: usize = UDP + 8;
const VERSION: u16 = 1;

/// A program's packet that has room, or has a tag already.
pub(super) fn free(frame: &[u8]) -> Result<(), Did> {
    there(frame)?;
    let said = word(frame, SHIM + 4);
    if (said == 0 && id(frame) == 0) || tag(said).is_some() { Ok(()) } else { Err(Did::InUse) }
}

pub(super) fn found(frame: &[u8]) -> Result<Tag, Did> {
    there(frame)?;
    tag(word(frame, SHIM + 4)).ok_or(Did::NotOurs)
}

pub(super) fn id(frame: &[u8]) -> u32 {
    u32::from(word(frame, SHIM)) << 16 | u32::from(word(frame, SHIM + 2))
}

pub(super) fn put_id(frame: &mut [u8], id: u32) {
    put_udp(frame, SHIM, (id >> 16) as u16);
    put_udp(frame, SHIM + 2, id as u16);
}

/// Takes the id away too, with the tag.
pub(super) fn put(frame: &mut [u8], tag: Option<Tag>) {
    let said = tag.map_or(0, |tag| {
        VERSION << 12 | u16::from(tag.hops) << 8 | u16::from(tag.bit) << 1 | u16::from(tag.congested)
    });
    put_udp(frame, SHIM + 4, said);
    if tag.is_none() {
        put_id(frame, 0);
    }
}

fn there(frame: &[u8]) -> Result<(), Did> {
    if !is_udp_to(frame, PORT, 8) || word(frame, SHIM + 6) != LETTERS {
        return Err(Did::NotOurs);
    }
    if fragment_word(frame) & 0x3FFF == 0 { Ok(()) } else { Err(Did::Fragment) }
}

fn tag(said: u16) -> Option<Tag> {
    let hops = (said >> 8 & 15) as u8;
    let is_tag = said >> 12 == VERSION && hops != 0 && said & 0xFC == 0;
    is_tag.then_some(Tag { bit: said & 2 != 0, congested: said & 1 != 0, hops })
}
