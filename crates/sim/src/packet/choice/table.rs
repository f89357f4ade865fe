//! Forwarding tables: one output per destination.

use std::sync::Arc;

use netloom_model::rng::Stream;
use netloom_model::{DestId, Fabric, Lft, LinkId, SwitchId};

use super::{Choice, Here, Outputs};

/// No usable output.
const NONE: u16 = u16::MAX;

/// Outputs by forwarding table, laid out so that a lookup is one access to memory. Clones share the tables.
#[derive(Clone, Debug)]
pub struct ByTable {
    dests: usize,
    lmc: u8,
    /// First outgoing link of every switch.
    first: Arc<[u32]>,
    /// `[switch * dests + destination]`: which of the switch's links, [`NONE`] for none that works.
    rank: Ranks,
}

#[derive(Clone, Debug)]
enum Ranks {
    /// 255 is "none".
    Narrow(Arc<[u8]>),
    Wide(Arc<[u16]>),
}

impl ByTable {
    /// The tables of `fabric`'s switches; how many addresses a host has follows from the number of destinations.
    pub fn new(fabric: &Fabric, lft: &Lft) -> Self {
        let dests = lft.dests();
        let addresses = dests.saturating_sub(fabric.switch_count()) / fabric.host_count().max(1);
        let first: Arc<[u32]> =
            fabric.switches().map(|s| fabric.switch_links(s).next().map_or(0, |link| link.0)).collect();
        let rank = |s: SwitchId, dest: u32| {
            let link = fabric.link_at(s, lft.port(s, DestId(dest))).filter(|&link| fabric.alive(link));
            link.map_or(NONE, |link| (link.0 - first[s.index()]) as u16)
        };
        let narrow = fabric.switches().all(|s| fabric.switch_links(s).len() < 255);
        let ranks = if narrow {
            Ranks::Narrow(table(fabric, dests, |s, d| rank(s, d).min(255) as u8))
        } else {
            Ranks::Wide(table(fabric, dests, rank))
        };
        Self { dests, lmc: addresses.max(1).ilog2() as u8, first, rank: ranks }
    }
}

/// A row a switch, allocated once.
fn table<T: Copy + Default>(fabric: &Fabric, dests: usize, entry: impl Fn(SwitchId, u32) -> T) -> Arc<[T]> {
    let mut table: Arc<[T]> = std::iter::repeat_n(T::default(), fabric.switch_count() * dests).collect();
    let entries = Arc::get_mut(&mut table).expect("nobody else has it yet");
    let places = fabric.switches().flat_map(|s| (0..dests as u32).map(move |d| (s, d)));
    entries.iter_mut().zip(places).for_each(|(to, (s, d))| *to = entry(s, d));
    table
}

impl Choice for ByTable {
    const LOOKS: bool = false;

    fn lmc(&self) -> u8 {
        self.lmc
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut []
    }

    #[inline(always)]
    fn output(&mut self, here: Here, _: &mut Outputs) -> Option<LinkId> {
        self.foresee(here)
    }

    #[inline(always)]
    fn foresee(&self, here: Here) -> Option<LinkId> {
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

#[cfg(test)]
mod tests {
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_testkit::cases::star;
    use netloom_topology::detect;

    use super::*;

    /// A partition more must not cost the tables' memory again.
    #[test]
    fn partitions_share_the_tables() {
        let fabric = star(3);
        let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let one = ByTable::new(&fabric, routes.lft().unwrap());
        let (Ranks::Narrow(a), Ranks::Narrow(b)) = (&one.rank, &one.clone().rank) else {
            panic!("a star of three hosts has few ports");
        };
        assert!(Arc::ptr_eq(a, b));
    }
}
