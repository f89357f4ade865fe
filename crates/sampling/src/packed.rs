//! A whole link with its congestion and hops in one word: what a simulated packet carries takes little of a cache.

use crate::tag::{HopBits, REPLACES, WholeTag};

/// Bits of the hop count less 1, then congestion, then the link.
const HOPS: u32 = 0x1f;
const CONGESTED: u32 = 0x20;
const LINK: u32 = 6;

/// What switches do to packed tags.
#[derive(Clone, Debug)]
pub struct Steps {
    /// `[hops - 1]`: a draw below this replaces what there is.
    replaces: [u16; 32],
    /// The most hops that are told apart, less 1.
    last: u32,
}

impl Steps {
    /// For a hop count of so many bits.
    pub fn new(bits: HopBits) -> Self {
        Self { replaces: std::array::from_fn(|hop| REPLACES[hop + 1]), last: u32::from(bits.most()) - 1 }
    }

    /// A switch forwards a sampled packet: what it carries if the switch's link does not replace its own, and whether it does
    /// (Algorithm 2; then [`PackedTag::with`]).
    #[inline(always)]
    pub fn forward(&self, tag: PackedTag, draw: u16) -> (PackedTag, bool) {
        let hops = tag.0 & HOPS;
        (PackedTag(tag.0 + u32::from(hops < self.last)), draw < self.replaces[hops as usize])
    }
}

/// What a packet carries, or that it carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedTag(u32);

impl PackedTag {
    /// A packet that is not sampled.
    pub const BARE: Self = Self(u32::MAX);
    /// Links have numbers below this; the last one is for [`PackedTag::BARE`].
    pub const MOST_LINKS: usize = (1 << (32 - LINK)) - 1;

    /// As an adapter sends it over its link (Algorithm 1).
    #[inline]
    pub fn sent(link: u32, congested: bool) -> Self {
        Self(Self::of(link, congested))
    }

    /// Whether it is not sampled.
    #[inline]
    pub fn is_bare(self) -> bool {
        self == Self::BARE
    }

    /// Links so far.
    #[inline]
    pub fn hops(self) -> u8 {
        (self.0 & HOPS) as u8 + 1
    }

    /// With another link.
    #[inline]
    #[must_use]
    pub fn with(self, link: u32, congested: bool) -> Self {
        Self(self.0 & HOPS | Self::of(link, congested))
    }

    /// What it carries, of a sampled packet.
    #[inline]
    pub fn tag(self) -> WholeTag {
        WholeTag { link: self.0 >> LINK, congested: self.0 & CONGESTED != 0, hops: self.hops() }
    }

    #[inline]
    fn of(link: u32, congested: bool) -> u32 {
        debug_assert!((link as usize) < Self::MOST_LINKS);
        link << LINK | if congested { CONGESTED } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps are those of a [`WholeTag`], to the end of what a hop count holds.
    #[test]
    fn it_carries_what_a_whole_tag_does() {
        for bits in (1..=5).filter_map(HopBits::new) {
            let (mut whole, mut packed) = (WholeTag::sent(7, true), PackedTag::sent(7, true));
            let steps = Steps::new(bits);
            for hop in 1..40u32 {
                assert_eq!(packed.tag(), whole);
                let (link, congested) = (PackedTag::MOST_LINKS as u32 - 1 - hop, hop % 3 == 0);
                let draw = hop.wrapping_mul(0x9e37_79b9) as u16;
                whole.forward(link, congested, draw, bits);
                let (kept, replaces) = steps.forward(packed, draw);
                packed = if replaces { kept.with(link, congested) } else { kept };
            }
            assert!(!packed.is_bare());
        }
    }
}
