//! On which virtual lane a pair's packets travel, hop by hop.
//!
//! What makes lanes useful here is that the pair alone decides: then a counter by lane tells pairs apart that share a link
//! (Taffet, dissertation, sec. 4.4).

use netloom_model::rng::{below, stream};
use netloom_model::{HostId, LaneMap, LinkId};

/// How lanes are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneScheme {
    /// Everything on one lane, as fabrics are installed.
    One,
    /// A service level a pair, and SL-to-VL tables: what switches can do (s SL v VL, sec. 4.4.1).
    Tables(LaneMap),
    /// A lane for each pair and link, at random: no switch can do it (v VL Random, sec. 4.4.2).
    PairRandom {
        /// How many.
        lanes: u8,
        /// Of the random numbers.
        seed: u64,
    },
}

impl LaneScheme {
    /// Lanes of a link.
    pub fn lanes(&self) -> u8 {
        match self {
            Self::One => 1,
            Self::Tables(map) => map.lanes(),
            Self::PairRandom { lanes, .. } => *lanes,
        }
    }

    /// What besides the destination decides how a source's packets go on after its own link: equal keys, equal lanes. `None`: everything.
    pub(crate) fn key(&self, source: HostId, destination: HostId) -> Option<u8> {
        match self {
            Self::One => Some(0),
            Self::Tables(map) => Some(map.level(source, destination).unwrap_or(0)),
            Self::PairRandom { .. } => None,
        }
    }

    /// The lane on the source's own link.
    pub(crate) fn first(&self, source: HostId, destination: HostId, key: Option<u8>, link: LinkId) -> u8 {
        match self {
            Self::One => 0,
            Self::Tables(map) => map.first_lane(source.0, key.unwrap_or(0)),
            Self::PairRandom { .. } => self.at_random(source, destination, link),
        }
    }

    /// The lane on `out`, for a packet that came over `via`.
    pub(crate) fn next(
        &self,
        source: HostId,
        destination: HostId,
        key: Option<u8>,
        via: LinkId,
        out: LinkId,
    ) -> u8 {
        match self {
            Self::One => 0,
            Self::Tables(map) => map.lane(via.0, out.0, key.unwrap_or(0)),
            Self::PairRandom { .. } => self.at_random(source, destination, out),
        }
    }

    fn at_random(&self, source: HostId, destination: HostId, link: LinkId) -> u8 {
        let Self::PairRandom { lanes, seed } = self else { return 0 };
        let pair = u64::from(source.0) << 32 | u64::from(destination.0);
        let id = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(link.0);
        below(&mut stream(*seed, id), u64::from((*lanes).max(1))) as u8
    }
}
