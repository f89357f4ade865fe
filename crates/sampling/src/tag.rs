//! What a packet carries, and what adapters and switches do to it.
//!
//! Every link of the way is kept with the same probability: the k-th replaces what is there with probability 1/k. Draws have 16 bits, so
//! probabilities are off by less than 2^-16. The hop count saturates: on longer ways its last value stands for all beyond.
//!
//! `dataplane/netloom_sampling.h` has the same steps in C, held to the same packets by a test.
//!
//! Source: Taffet, dissertation, Algorithms 1 to 6 and sec. 2.5.2 (thresholds by hop count).

use netloom_model::HostId;

use crate::field::parity;

/// The most hops that any hop count tells apart.
pub const MOST_HOPS: u8 = 32;

/// Bits of the hop count: 3 hold 8 hops, enough for trees; 4 are for tori.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopBits(u8);

impl HopBits {
    /// 1 to 5 bits.
    pub fn new(bits: u8) -> Option<Self> {
        (1..=5).contains(&bits).then_some(Self(bits))
    }

    /// The most hops that are told apart.
    pub fn most(self) -> u8 {
        1 << self.0
    }
}

impl Default for HopBits {
    fn default() -> Self {
        Self(3)
    }
}

/// `[hops]`: a draw of 16 bits below this replaces what a packet of so many hops has.
pub(crate) static REPLACES: [u16; 33] = replaces();

const fn replaces() -> [u16; 33] {
    let mut table = [u16::MAX; 33];
    let mut hops = 1;
    while hops < 33 {
        table[hops] = (65_536 / (hops as u32 + 1)) as u16;
        hops += 1;
    }
    table
}

/// One bit for the link, one for congestion, and the hops: five or six bits a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Of a hash of packet and link.
    pub bit: bool,
    /// Whether that link was congested.
    pub congested: bool,
    /// Links so far.
    pub hops: u8,
}

impl Tag {
    /// As an adapter sends it over its link (Algorithm 4); `mask` is the link's ([`crate::Hash::mask`]).
    pub fn sent(id: u32, mask: u32, congested: bool) -> Self {
        Self { bit: parity(id & mask), congested, hops: 1 }
    }

    /// What a packet of one bit would carry that has taken the same draws as one with a whole link; `mask` is that link's.
    #[inline]
    pub fn of(tag: WholeTag, id: u32, mask: u32) -> Self {
        Self { bit: parity(id & mask), congested: tag.congested, hops: tag.hops }
    }

    /// A switch forwards it over a link (Algorithm 5).
    #[inline]
    pub fn forward(&mut self, id: u32, mask: u32, congested: bool, draw: u16, bits: HopBits) {
        if draw < REPLACES[usize::from(self.hops)] {
            self.bit = parity(id & mask);
            self.congested = congested;
        }
        self.hops = (self.hops + 1).min(bits.most());
    }
}

/// A whole link instead of its bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WholeTag {
    /// The link's number.
    pub link: u32,
    /// Whether it was congested.
    pub congested: bool,
    /// Links so far.
    pub hops: u8,
}

impl WholeTag {
    /// As an adapter sends it over its link (Algorithm 1).
    pub fn sent(link: u32, congested: bool) -> Self {
        Self { link, congested, hops: 1 }
    }

    /// A switch forwards it over a link (Algorithm 2).
    #[inline]
    pub fn forward(&mut self, link: u32, congested: bool, draw: u16, bits: HopBits) {
        if draw < REPLACES[usize::from(self.hops)] {
            (self.link, self.congested) = (link, congested);
        }
        self.hops = (self.hops + 1).min(bits.most());
    }
}

/// A packet of one bit that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its id, which the hash was made with; ids should be random.
    pub id: u32,
    /// Who sent it.
    pub source: HostId,
    /// Who received it.
    pub destination: HostId,
    /// What it carries.
    pub tag: Tag,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_link_is_kept_by_half_of_all_draws_the_third_by_a_third() {
        let kept = |hops| {
            let kept = |draw: &u16| {
                let mut tag = WholeTag { link: 1, congested: false, hops };
                tag.forward(2, true, *draw, HopBits::default());
                tag.link == 2 && tag.congested
            };
            (0..=u16::MAX).filter(kept).count()
        };
        assert_eq!([kept(1), kept(2), kept(5)], [32_768, 21_845, 10_922]);
    }

    #[test]
    fn hops_saturate() {
        let mut tag = Tag::sent(1, 1, false);
        for _ in 0..40 {
            tag.forward(1, 1, false, 9, HopBits::default());
        }
        assert_eq!(tag.hops, 8);
        assert_eq!((HopBits::new(0), HopBits::new(6)), (None, None));
        assert_eq!(HopBits::new(5).map(HopBits::most), Some(32));
    }
}
