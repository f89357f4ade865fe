//! On which virtual lane a pair's packets travel, hop by hop.
//!
//! What makes lanes useful here is that the pair alone decides: then a counter by lane tells pairs apart that share a link
//! (Taffet, dissertation, sec. 4.4). Switches see a packet's service level and ports, nothing else: [`LaneScheme::Tables`] is what they can
//! do. The other schemes say how much better it could be.

use netloom_model::{HostId, LaneMap, LinkId};
use netloom_routing::{RoutingError, Walker};

use crate::galois;

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
    /// Five lanes, by elements of a Galois field: no two pairs share more than two thirds of their (link, lane) rows (sec. 4.4.3).
    Galois {
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
            Self::Galois { .. } => galois::LANES,
        }
    }

    /// The service level of a pair, which with the links decides its lanes; `None`: the pair does.
    #[inline]
    pub fn level(&self, source: HostId, destination: HostId) -> Option<u8> {
        match self {
            Self::One => Some(0),
            Self::Tables(map) => Some(map.level(source, destination).unwrap_or(0)),
            Self::PairRandom { .. } | Self::Galois { .. } => None,
        }
    }

    /// The lane on a source's own link, for a service level; 0 where levels don't decide.
    #[inline]
    pub fn first(&self, source: HostId, level: u8) -> u8 {
        match self {
            Self::Tables(map) => map.first_lane(source.0, level),
            _ => 0,
        }
    }

    /// The lane on `out`, for packets of a service level that came over `via`; 0 where levels don't decide.
    #[inline]
    pub fn next(&self, level: u8, via: LinkId, out: LinkId) -> u8 {
        match self {
            Self::Tables(map) => map.lane(via.0, out.0, level),
            _ => 0,
        }
    }

    /// `[hop]`: the lanes of a pair, whose way has these links.
    ///
    /// # Errors
    /// [`RoutingError`] if another pair's packets, on whose way these lanes depend, don't arrive.
    pub fn on_way(
        &self,
        walker: &Walker,
        (source, destination): (HostId, HostId),
        way: &[LinkId],
        lanes: &mut Vec<u8>,
    ) -> Result<(), RoutingError> {
        lanes.clear();
        match self {
            Self::Galois { seed } => galois::lanes(*seed, walker, (source, destination), way, lanes)?,
            Self::PairRandom { lanes: all, seed } => {
                lanes.extend(
                    way.iter().map(|&link| galois::at_random(*seed, *all, (source, destination), link)),
                );
            }
            Self::One | Self::Tables(_) => {
                let level = self.level(source, destination).unwrap_or(0);
                lanes.extend(way.first().map(|_| self.first(source, level)));
                lanes.extend(way.windows(2).map(|hop| self.next(level, hop[0], hop[1])));
            }
        }
        Ok(())
    }
}
