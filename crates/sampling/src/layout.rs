//! Where the bits of path sampling are in real packets: layout `ds`, on the bytes of Ethernet frames.
//!
//! The byte of IPv4's differentiated services is `E HHHH B CC`: E is 1, HHHH the links so far (1 to 15), B the hash bit, CC 1, or 3 if the
//! link that B names was congested. The packet's id is IPv4's identification. A step keeps the header's checksum right (RFC 1624), and
//! leaves frames alone that it may not touch; it never panics, whatever a frame holds.
//!
//! This is the model that `dataplane/netloom_layouts.h` and the BPF programs are held to, by `dataplane/golden/ds.json`.
//!
//! Source: Taffet, dissertation, sec. 2.6.1 (figures 2.11 to 2.13); RFC 6864 (which identifications are free).

use crate::tag::{HopBits, REPLACES, Tag};

/// The largest hop count; on longer ways it stands for all beyond.
pub const MOST: u8 = 15;

/// Bytes of an Ethernet header, and of the shortest IPv4 header.
const ETHERNET: usize = 14;
const IPV4: usize = 20;
/// Offsets in the IPv4 header.
const DS: usize = ETHERNET + 1;
const ID: usize = ETHERNET + 4;
const FRAGMENT: usize = ETHERNET + 6;
const PROTOCOL: usize = ETHERNET + 9;
const CHECKSUM: usize = ETHERNET + 10;

/// What a step did to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It carries a tag, and did before unless the sender put it there.
    Sampled,
    /// A switch put its own link into the tag.
    Replaced,
    /// Left as it was: no tag, or no frame that may have one.
    NotOurs,
    /// Left as it was: a fragment.
    Fragment,
    /// Left as it was: whole, but it may be cut on its way (no DF), and needs its identification.
    MayFragment,
    /// Left as it was by the sender: somebody else uses the byte.
    DsInUse,
}

impl Did {
    /// Its name in golden packets.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sampled => "sampled",
            Self::Replaced => "replaced",
            Self::NotOurs => "not_ours",
            Self::Fragment => "fragments",
            Self::MayFragment => "may_fragment",
            Self::DsInUse => "ds_in_use",
        }
    }
}

/// A tag as the byte that carries it.
pub fn byte(tag: Tag) -> u8 {
    0x80 | tag.hops.min(MOST) << 3 | u8::from(tag.bit) << 2 | if tag.congested { 3 } else { 1 }
}

/// The tag of a byte; `None` of one that is no tag.
pub fn tag(byte: u8) -> Option<Tag> {
    let hops = byte >> 3 & 15;
    let is_tag = byte & 0x81 == 0x81 && hops != 0;
    is_tag.then_some(Tag { bit: byte & 4 != 0, congested: byte & 3 == 3, hops })
}

/// A host sends a frame over the link of `mask` ([`crate::Hash::mask`]); `id` should be random.
pub fn send(frame: &mut [u8], id: u16, mask: u32, congested: bool) -> Did {
    if !is_ipv4(frame) || ![6, 17].contains(&frame[PROTOCOL]) {
        return Did::NotOurs;
    }
    if !is_atomic(frame) {
        return fragment(frame);
    }
    if frame[DS] != 0 && tag(frame[DS]).is_none() {
        return Did::DsInUse;
    }
    put(frame, ID, id);
    put_ds(frame, byte(Tag::sent(id.into(), mask, congested)));
    Did::Sampled
}

/// A switch forwards a frame over the link of `mask`; `draw` are 16 random bits.
pub fn forward(frame: &mut [u8], mask: u32, congested: bool, draw: u16) -> Did {
    let mut kept = match found(frame) {
        Ok(kept) => kept,
        Err(did) => return did,
    };
    let did = if draw < REPLACES[usize::from(kept.hops)] { Did::Replaced } else { Did::Sampled };
    let bits = HopBits::new(4).expect("4 bits");
    kept.forward(word(frame, ID).into(), mask, congested, draw, bits);
    put_ds(frame, byte(kept));
    did
}

/// A host receives a frame: takes the tag off, and returns it with the packet's id.
///
/// # Errors
/// Why there is none.
pub fn receive(frame: &mut [u8]) -> Result<(u16, Tag), Did> {
    let kept = found(frame)?;
    put_ds(frame, 0);
    Ok((word(frame, ID), kept))
}

fn found(frame: &[u8]) -> Result<Tag, Did> {
    if !is_ipv4(frame) {
        return Err(Did::NotOurs);
    }
    let kept = tag(frame[DS]).ok_or(Did::NotOurs)?;
    if is_atomic(frame) { Ok(kept) } else { Err(fragment(frame)) }
}

fn is_ipv4(frame: &[u8]) -> bool {
    frame.len() >= ETHERNET + IPV4
        && frame[12..14] == [8, 0]
        && frame[ETHERNET] >> 4 == 4
        && frame[ETHERNET] & 15 >= 5
}

/// Why a frame that is not atomic is left alone.
fn fragment(frame: &[u8]) -> Did {
    if word(frame, FRAGMENT) & 0x3FFF == 0 { Did::MayFragment } else { Did::Fragment }
}

/// Whether the packet is whole and stays so; the reserved bit says nothing.
fn is_atomic(frame: &[u8]) -> bool {
    word(frame, FRAGMENT) & 0x7FFF == 0x4000
}

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn put_ds(frame: &mut [u8], ds: u8) {
    let version = frame[ETHERNET];
    put(frame, ETHERNET, u16::from_be_bytes([version, ds]));
}

/// Puts a word into the header; the checksum follows.
fn put(frame: &mut [u8], at: usize, value: u16) {
    let fold = |sum: u32| (sum & 0xFFFF) + (sum >> 16);
    let sum = u32::from(!word(frame, CHECKSUM)) + u32::from(!word(frame, at)) + u32::from(value);
    let checksum = !(fold(fold(sum)) as u16);
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_tags_are_read_as_they_are_written() {
        let tags = (0..=255u8).filter_map(|b| tag(b).map(|t| (b, t)));
        // 15 hop counts, two bits, congested or not.
        assert_eq!(tags.clone().count(), 60);
        assert!(tags.clone().all(|(b, t)| byte(t) == b));
        // EF, CS4 to CS7 and CS1 without ECN.
        assert!([0xB8, 0x80, 0xA0, 0xC0, 0xE0, 0x20].map(tag).iter().all(Option::is_none));
    }
}
