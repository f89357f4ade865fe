//! The shape of a fabric: what `detect` finds and everybody else reads.

use netloom_model::{Fabric, Finding, LinkId, SwitchId};

use crate::regular::RegularTree;
use crate::shape::Shape;

/// Level of a switch from which no host can be reached.
pub const NO_LEVEL: u8 = u8::MAX;
/// Rank of such a switch.
pub const NO_RANK: u16 = u16::MAX;
/// Pod of a switch that is in none.
pub const NO_POD: u32 = u32::MAX;
/// Core group of a switch that is in none.
pub const NO_GROUP: u32 = u32::MAX;

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To a higher rank; also from a host to its switch.
    Up,
    /// To a lower rank; also from a switch to a host.
    Down,
    /// At a switch from which no host can be reached: no up*/down* route uses it.
    Peer,
}

/// The shape of a fabric.
#[derive(Clone, Debug)]
pub struct Structure {
    /// What kind of network it is.
    pub shape: Shape,
    /// Number of switch levels (at least 1 unless no host is connected).
    pub levels: u8,
    /// Level of every switch, [`NO_LEVEL`] if cut off from all hosts.
    pub level: Vec<u8>,
    /// What is up: every up*/down* route climbs to higher ranks, then goes down to lower ones. The two ends of a cable
    /// have different ranks. The levels, but where these lose pairs of hosts, or where a cable joins equal levels (the
    /// lower GUID is above); [`NO_RANK`] for switches without a level.
    pub rank: Vec<u16>,
    /// What up and down go by, in words, where it is not the levels alone: `with leaf0 on top`.
    pub order: Option<String>,
    /// Whether up*/down* routes by levels alone, cables between equal levels unused, would lose pairs of switches with
    /// hosts that cables join. OpenSM's ftree gives up on such a tree.
    pub levels_lose_pairs: bool,
    /// Pod of every switch, or [`NO_POD`].
    pub pod: Vec<u32>,
    /// Core group of every top switch and of those just below it, or [`NO_GROUP`].
    pub core_group: Vec<u32>,
    /// Number of pods; 1 for one or two levels.
    pub pods: u32,
    /// Number of core groups; 0 for one or two levels.
    pub core_groups: u32,
    /// Whether this is a perfect two- or three-level tree, so that [`tree`](Self::tree) is there.
    pub regular: bool,
    /// Why it is not regular: the first thing found. `None` if it is.
    pub irregular: Option<String>,
    /// Connected parts of the fabric that have a host: 1 unless hosts are cut off from one another.
    pub parts: u32,
    /// Directed alive links between switches of equal level, by id; of equal distance from the root where levels are a
    /// guess. Up is where the GUID is lower.
    pub peer_links: Vec<LinkId>,
    /// Unordered pairs of switches with hosts, in one connected part, that no up*/down* route joins: none, as ranks
    /// are chosen so.
    pub pairs_without_route: u64,
    /// What an administrator should know, the weightiest first.
    pub findings: Vec<Finding>,
    pub(crate) tree: Option<RegularTree>,
}

impl Structure {
    /// Where a link leads, dead or alive.
    #[inline]
    pub fn direction(&self, fabric: &Fabric, link: LinkId) -> Direction {
        let (Some(from), Some(to)) = (fabric.link_from_switch(link), fabric.link_to_switch(link)) else {
            return if fabric.link_to_switch(link).is_some() { Direction::Up } else { Direction::Down };
        };
        let (a, b) = (self.rank[from.index()], self.rank[to.index()]);
        if a == b || a == NO_RANK || b == NO_RANK {
            Direction::Peer
        } else if a < b {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    /// How many ranks there are: a route has at most one link up and one down for each step between them.
    pub fn ranks(&self) -> u16 {
        self.rank.iter().filter(|&&r| r != NO_RANK).map(|&r| r + 1).max().unwrap_or(0)
    }

    /// Whether levels are a guess: a part is no up*/down* tree, and its levels count down from one switch.
    pub fn guessed(&self) -> bool {
        self.shape != Shape::Tree
    }

    /// Whether up and down go by the levels, and no cable joins equal ones.
    pub fn by_levels(&self) -> bool {
        let same = |(&r, &l): (&u16, &u8)| if l == NO_LEVEL { r == NO_RANK } else { r == u16::from(l) };
        self.rank.iter().zip(&self.level).all(same)
    }

    /// The rank of every switch that has one, unless up and down go by the levels alone: what a certificate states.
    pub fn own_order(&self) -> Option<Vec<Option<u16>>> {
        let known = |&r: &u16| (r != NO_RANK).then_some(r);
        (!self.by_levels()).then(|| self.rank.iter().map(known).collect())
    }

    /// The index tables of a perfect tree.
    pub fn tree(&self) -> Option<&RegularTree> {
        self.tree.as_ref()
    }

    /// The switches of a level, in order.
    pub fn switches_at(&self, level: u8) -> impl Iterator<Item = SwitchId> {
        let at = self.level.iter().enumerate().filter(move |&(_, &l)| l == level);
        at.map(|(s, _)| SwitchId::from_index(s))
    }
}
