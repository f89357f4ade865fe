//! Forwarding tables: one output per destination.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use netloom_model::{DestId, Fabric, Lft, LftRow, LinkId, SwitchId};

use super::{Choice, Here, Outputs};

/// No usable output.
const NONE: u16 = u16::MAX;

/// Destinations of a block.
const BLOCK: usize = 32;

/// Outputs by forwarding table, laid out so that lookups stay in the cache. Clones share the tables.
#[derive(Clone, Debug)]
pub struct ByTable {
    /// Blocks of a switch.
    blocks: usize,
    lmc: u8,
    /// First outgoing link of every switch.
    first: Arc<[u32]>,
    ranks: Ranks,
}

#[derive(Clone, Debug)]
enum Ranks {
    /// 255 is "none".
    Narrow(Table<u8>),
    Wide(Table<u16>),
}

/// Which of a switch's links leads to a destination.
///
/// Hosts with adjacent numbers are mostly on one leaf, so that a block of them looks alike at many switches; each look is kept once.
#[derive(Clone, Debug)]
struct Table<T> {
    /// `[switch * blocks + block]`: which look.
    look: Arc<[u32]>,
    /// `[look * BLOCK + destination in its block]`
    ranks: Arc<[T]>,
}

impl<T: Copy + Eq + Hash> Table<T> {
    /// `rank_of` gives the ranks of a switch's links, by port.
    fn new(fabric: &Fabric, lft: &Lft, none: T, rank_of: impl Fn(SwitchId) -> Vec<T>) -> Self {
        let dests = lft.dests();
        let mut known: HashMap<[T; BLOCK], u32> = HashMap::new();
        let blocks = dests.div_ceil(BLOCK);
        let (mut look, mut ranks) = (Vec::<u32>::with_capacity(fabric.switch_count() * blocks), Vec::new());
        for s in fabric.switches() {
            let (row, rank_of) = (lft.row(s), rank_of(s));
            let rank = |port: usize| rank_of.get(port).copied().unwrap_or(none);
            for first in (0..dests).step_by(BLOCK) {
                let entries = first..dests.min(first + BLOCK);
                let mut block = [none; BLOCK];
                match row {
                    LftRow::Narrow(row) => {
                        block.iter_mut().zip(&row[entries]).for_each(|(at, &port)| *at = rank(port.into()));
                    }
                    LftRow::Wide(row) => {
                        block.iter_mut().zip(&row[entries]).for_each(|(at, &port)| *at = rank(port.into()));
                    }
                }
                // It looks as the block before it, or as that of the switch before, most of the time.
                let same = |&look: &u32| ranks[look as usize * BLOCK..][..BLOCK] == block;
                let above = look.len().checked_sub(blocks).map(|at| look[at]);
                let near = look.last().copied().filter(same).or_else(|| above.filter(same));
                look.push(near.unwrap_or_else(|| {
                    *known.entry(block).or_insert_with(|| {
                        ranks.extend(block);
                        (ranks.len() / BLOCK - 1) as u32
                    })
                }));
            }
        }
        Self { look: look.into(), ranks: ranks.into() }
    }

    #[inline(always)]
    fn rank(&self, blocks: usize, switch: SwitchId, dest: DestId) -> T {
        let look = self.look[switch.index() * blocks + dest.index() / BLOCK];
        self.ranks[look as usize * BLOCK + dest.index() % BLOCK]
    }
}

impl ByTable {
    /// The tables of `fabric`'s switches; how many addresses a host has follows from the number of destinations.
    pub fn new(fabric: &Fabric, lft: &Lft) -> Self {
        let dests = lft.dests();
        let addresses = dests.saturating_sub(fabric.switch_count()) / fabric.host_count().max(1);
        let first: Arc<[u32]> =
            fabric.switches().map(|s| fabric.switch_links(s).next().map_or(0, |link| link.0)).collect();
        let rank_of = |s: SwitchId| {
            let rank = |port| {
                let link = fabric.link_at(s, port).filter(|&link| fabric.alive(link));
                link.map_or(NONE, |link| (link.0 - first[s.index()]) as u16)
            };
            (0..=fabric.radix(s)).map(rank).collect::<Vec<u16>>()
        };
        let narrow = fabric.switches().all(|s| fabric.switch_links(s).len() < 255);
        let ranks = if narrow {
            let rank_of = |s| rank_of(s).into_iter().map(|rank| rank.min(255) as u8).collect();
            Ranks::Narrow(Table::new(fabric, lft, u8::MAX, rank_of))
        } else {
            Ranks::Wide(Table::new(fabric, lft, NONE, rank_of))
        };
        Self { blocks: dests.div_ceil(BLOCK), lmc: addresses.max(1).ilog2() as u8, first, ranks }
    }
}

impl Choice for ByTable {
    const LOOKS: bool = false;
    fn lmc(&self) -> u8 {
        self.lmc
    }

    fn keeps_order(&self) -> bool {
        true
    }

    #[inline(always)]
    fn output(&mut self, here: Here, _: &mut Outputs) -> Option<LinkId> {
        self.foresee(here)
    }

    #[inline(always)]
    fn foresee(&self, here: Here) -> Option<LinkId> {
        let rank = match &self.ranks {
            Ranks::Narrow(table) => match table.rank(self.blocks, here.switch, here.address) {
                u8::MAX => return None,
                rank => u32::from(rank),
            },
            Ranks::Wide(table) => match table.rank(self.blocks, here.switch, here.address) {
                NONE => return None,
                rank => u32::from(rank),
            },
        };
        Some(LinkId(self.first[here.switch.index()] + rank))
    }
}

#[cfg(test)]
mod tests {
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_testkit::cases::star;
    use netloom_topology::{detect, generate};

    use super::super::Way;
    use super::*;

    /// A partition more must not cost the tables' memory again.
    #[test]
    fn partitions_share_the_tables() {
        let fabric = star(3);
        let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let one = ByTable::new(&fabric, routes.lft().unwrap());
        let (Ranks::Narrow(a), Ranks::Narrow(b)) = (&one.ranks, &one.clone().ranks) else {
            panic!("a star of three hosts has few ports");
        };
        assert!(Arc::ptr_eq(&a.look, &b.look) && Arc::ptr_eq(&a.ranks, &b.ranks));
    }

    /// Blocks that hosts do not fill, and that leaves do not fit.
    #[test]
    fn every_switch_and_destination_has_the_output_of_its_table() {
        let fabric = generate("two-level:leaves=3,hosts=21,spines=2").unwrap();
        for engine in [Engine::Dmodk, Engine::Random] {
            let routes = route(engine, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
            let lft = routes.lft().unwrap();
            let table = ByTable::new(&fabric, lft);
            for (switch, address) in
                fabric.switches().flat_map(|s| (0..lft.dests() as u32).map(move |d| (s, DestId(d))))
            {
                let here = Here { switch, via: LinkId(0), address, lane: 0, way: Way::default() };
                assert_eq!(table.foresee(here), fabric.link_at(switch, lft.port(switch, address)));
            }
        }
    }
}
