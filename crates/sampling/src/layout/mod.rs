//! Where the bits of path sampling are in real packets, on the bytes of Ethernet frames.
//!
//! | layout | bits | id |
//! |---|---|---|
//! | `ds` | the DS byte of IPv4 | its identification |
//! | `ds-ttl` | three bits of DSCP; hops are how far the TTL has come down | its identification |
//! | `ipv6` | the traffic class | the checksum of UDP or TCP |
//! | `shim` | eight bytes behind UDP | 32 bits of these |
//! | `bth` | six reserved bits of RoCEv2's base transport header | destination QP and PSN, mixed |
//!
//! A step keeps checksums right (RFC 1624), and leaves frames alone that it may not touch; it never panics, whatever a frame holds. This
//! is the model that `dataplane/netloom_layouts.h` and the BPF programs are held to, by `dataplane/golden`. `dataplane/layouts.md` says
//! where each may be used.
//!
//! Source: Taffet, dissertation, Algorithms 4 and 5, sec. 2.6.1 (figures 2.11 to 2.13).

mod bth;
mod bytes;
mod ds;
mod ds_ttl;
mod ipv6;
mod shim;

use crate::field::parity;
use crate::tag::{REPLACES, Tag};

/// Where the bits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The dissertation's own: IPv4's DS byte.
    Ds,
    /// Three bits of IPv4's DSCP; every sender's packets begin with this TTL.
    DsTtl {
        /// 33 to 255.
        initial: u8,
    },
    /// IPv6's traffic class.
    Ipv6,
    /// Eight bytes behind UDP.
    Shim,
    /// RoCEv2's base transport header.
    Bth,
}

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
    /// Left as it was by the sender: somebody else uses the bits, or the TTL is not the initial one.
    InUse,
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
            Self::InUse => "ds_in_use",
        }
    }
}

/// Who looks at a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A switch that is about to send it.
    Switch,
    /// The host that receives it.
    Receiver,
}

impl Layout {
    /// All of them, with the usual TTL.
    pub const ALL: [Self; 5] = [Self::Ds, Self::DsTtl { initial: 64 }, Self::Ipv6, Self::Shim, Self::Bth];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ds => "ds",
            Self::DsTtl { .. } => "ds-ttl",
            Self::Ipv6 => "ipv6",
            Self::Shim => "shim",
            Self::Bth => "bth",
        }
    }

    /// Bits of a packet's id.
    pub fn id_bits(self) -> u32 {
        if matches!(self, Self::Shim | Self::Bth) { 32 } else { 16 }
    }

    /// The largest hop count; on longer ways it stands for all beyond, except for `ds-ttl`, which has none there.
    pub fn most(self) -> u8 {
        match self {
            Self::DsTtl { .. } => 32,
            Self::Bth => 8,
            Self::Ds | Self::Ipv6 | Self::Shim => 15,
        }
    }

    /// A host sends a frame over the link of `mask` ([`crate::Hash::mask`]); `id` should be random, and is used by layouts that write one.
    pub fn send(self, frame: &mut [u8], id: u32, mask: u32, congested: bool) -> Did {
        let free = match self {
            Self::Ds => ds::free(frame),
            Self::DsTtl { initial } => ds_ttl::free(frame, initial),
            Self::Ipv6 => ipv6::free(frame),
            Self::Shim => shim::free(frame),
            Self::Bth => bth::free(frame),
        };
        if let Err(did) = free {
            return did;
        }
        match self {
            Self::Ds | Self::DsTtl { .. } => bytes::put_ipv4(frame, ds::ID, id as u16),
            Self::Shim => shim::put_id(frame, id),
            Self::Ipv6 | Self::Bth => {}
        }
        self.put(frame, Some(Tag::sent(self.id(frame), mask, congested)));
        Did::Sampled
    }

    /// A switch forwards a frame over the link of `mask`; `draw` are 16 random bits.
    pub fn forward(self, frame: &mut [u8], mask: u32, congested: bool, draw: u16) -> Did {
        let mut kept = match self.found(frame, At::Switch) {
            Ok(kept) => kept,
            Err(did) => return did,
        };
        let replaces = draw < REPLACES[usize::from(kept.hops)];
        if replaces {
            kept.bit = parity(self.id(frame) & mask);
            kept.congested = congested;
        }
        kept.hops = (kept.hops + 1).min(self.most());
        self.put(frame, Some(kept));
        if replaces { Did::Replaced } else { Did::Sampled }
    }

    /// A host receives a frame: takes the tag off, and returns it with the packet's id.
    ///
    /// # Errors
    /// Why there is none.
    pub fn receive(self, frame: &mut [u8]) -> Result<(u32, Tag), Did> {
        let kept = self.found(frame, At::Receiver)?;
        let id = self.id(frame);
        self.put(frame, None);
        Ok((id, kept))
    }

    fn found(self, frame: &[u8], at: At) -> Result<Tag, Did> {
        match self {
            Self::Ds => ds::found(frame),
            Self::DsTtl { initial } => ds_ttl::found(frame, initial, at),
            Self::Ipv6 => ipv6::found(frame),
            Self::Shim => shim::found(frame),
            Self::Bth => bth::found(frame),
        }
    }

    /// The id of a frame that has a tag, or may have one.
    fn id(self, frame: &[u8]) -> u32 {
        match self {
            Self::Ds | Self::DsTtl { .. } => bytes::word(frame, ds::ID).into(),
            Self::Ipv6 => ipv6::id(frame),
            Self::Shim => shim::id(frame),
            Self::Bth => bth::id(frame),
        }
    }

    fn put(self, frame: &mut [u8], tag: Option<Tag>) {
        match self {
            Self::Ds => ds::put(frame, tag),
            Self::DsTtl { .. } => ds_ttl::put(frame, tag),
            Self::Ipv6 => ipv6::put(frame, tag),
            Self::Shim => shim::put(frame, tag),
            Self::Bth => bth::put(frame, tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_tags_are_read_as_they_are_written() {
        // 15 hop counts, two bits, congested or not; 8 of them for the base transport header.
        for (byte, tag, count) in [
            (ds::byte as fn(Tag) -> u8, ds::tag as fn(u8) -> Option<Tag>, 60),
            (bth::byte as fn(Tag) -> u8, bth::tag as fn(u8) -> Option<Tag>, 32),
        ] {
            let tags: Vec<(u8, Tag)> = (0..=255u8).filter_map(|b| tag(b).map(|t| (b, t))).collect();
            let own: Vec<_> = tags.iter().filter(|(b, t)| byte(*t) == *b).collect();
            assert_eq!(own.len(), count);
        }
        // EF, CS4 to CS7 and CS1 without ECN.
        assert!([0xB8, 0x80, 0xA0, 0xC0, 0xE0, 0x20].map(ds::tag).iter().all(Option::is_none));
    }

    #[test]
    fn code_points_of_others_are_no_tags() {
        // Default, CS1 to CS7, AF11 to AF43, EF, VOICE-ADMIT, LE: none is for local use (pool 2).
        let known: Vec<u8> = (0..8)
            .map(|c| c << 3)
            .chain([10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38, 46, 44, 1])
            .collect();
        for ecn in 0..4 {
            assert!(known.iter().all(|dscp| ds_ttl::bits(dscp << 2 | ecn).is_none()));
        }
        assert_eq!((0..=255u8).filter(|&b| ds_ttl::bits(b).is_some()).count(), 16);
    }
}
