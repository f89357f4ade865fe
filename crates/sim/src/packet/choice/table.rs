//! Forwarding tables: one output per destination.

use netloom_model::{DestId, Fabric, Lft, LinkId};

use super::{Choice, Here, Outputs};

/// No usable output.
const NONE: u16 = u16::MAX;

/// Outputs by forwarding table, laid out so that a lookup is one access to memory.
#[derive(Clone, Debug)]
pub struct ByTable {
    dests: usize,
    lmc: u8,
    /// First outgoing link of every switch.
    first: Vec<u32>,
    /// `[switch * dests + destination]`: which of the switch's links, [`NONE`] for none that works.
    rank: Ranks,
}

#[derive(Clone, Debug)]
enum Ranks {
    /// 255 is "none".
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

impl ByTable {
    /// The tables of `fabric`'s switches; how many addresses a host has follows from the number of destinations.
    pub fn new(fabric: &Fabric, lft: &Lft) -> Self {
        let dests = lft.dests();
        let addresses = dests.saturating_sub(fabric.switch_count()) / fabric.host_count().max(1);
        let first: Vec<u32> =
            fabric.switches().map(|s| fabric.switch_links(s).next().map_or(0, |link| link.0)).collect();
        let rank = |s: netloom_model::SwitchId, dest: u32| {
            let link = fabric.link_at(s, lft.port(s, DestId(dest))).filter(|&link| fabric.alive(link));
            link.map_or(NONE, |link| (link.0 - first[s.index()]) as u16)
        };
        let all = || fabric.switches().flat_map(|s| (0..dests as u32).map(move |d| (s, d)));
        let narrow = fabric.switches().all(|s| fabric.switch_links(s).len() < 255);
        let ranks = if narrow {
            Ranks::Narrow(all().map(|(s, d)| rank(s, d).min(255) as u8).collect())
        } else {
            Ranks::Wide(all().map(|(s, d)| rank(s, d)).collect())
        };
        Self { dests, lmc: addresses.max(1).ilog2() as u8, first, rank: ranks }
    }
}

impl Choice for ByTable {
    const LOOKS: bool = false;

    fn lmc(&self) -> u8 {
        self.lmc
    }

    #[inline]
    fn output(&mut self, here: Here, _: &mut Outputs) -> Option<LinkId> {
        let at = here.switch.index() * self.dests + here.address.index();
        let rank = match &self.rank {
            Ranks::Narrow(rank) => match rank[at] {
                u8::MAX => return None,
                rank => u32::from(rank),
            },
            Ranks::Wide(rank) => match rank[at] {
                NONE => return None,
                rank => u32::from(rank),
            },
        };
        Some(LinkId(self.first[here.switch.index()] + rank))
    }
}
