//! minhop and updn: every switch, for itself, spreads the destinations over its equally short links.
//!
//! Each switch goes through the destinations in one common order and gives each the candidate link that
//! has the fewest destinations so far, the lowest port among equals. Candidates are all links on a shortest
//! path (minhop) or on a shortest up*/down* path (updn). Entries for switches are chosen alike after the
//! hosts but count for nothing.
//!
//! The order is OpenSM's: switches by falling number of hosts (ties by GUID, its bytes read from the last
//! to the first: OpenSM compares GUIDs in network order on little-endian machines), on each switch the
//! hosts by port; one round per address of a host. With several addresses, a link to a neighbour that
//! carries no other address of the same host goes first, and the search starts behind the port of the
//! address before.
//!
//! Where OpenSM 3.3.23 differs: its updn guesses the root switches from a histogram of distances and ranks
//! from there, we take the levels that were detected (the same on proper fat trees of up to 20 leaves a
//! tree or with three levels; on a larger two-level tree OpenSM takes leaves for roots as well, which
//! changes nothing for hosts); where a way down is longer than one that goes up first, we go down, it goes
//! up; it spares systems (chassis) as well as switches when it spreads addresses,
//! and the model knows no chassis. Sources: OpenSM's osm_ucast_mgr.c, osm_switch.c and osm_ucast_updn.c,
//! read, and its tables on simulated fabrics (tests/data/opensm-engines).

use netloom_model::{Fabric, HostId, LinkId, NO_PORT, Routes, SwitchId};

use crate::context::EngineOptions;
use crate::paths::PathSet;
use crate::tables;

/// Routes along `paths`, which must lead to every switch.
pub(crate) fn route(fabric: &Fabric, paths: &PathSet, options: &EngineOptions) -> Routes {
    let order = host_order(fabric);
    let space = fabric.dests(options.lmc);
    let lft = tables::build(fabric, space.count(), |s, row| {
        let mut balance = Balance::new(fabric, s, options.lmc);
        for path in 0..1 << options.lmc {
            for &host in &order {
                let own = fabric.reverse(fabric.host_link(host));
                let leaf = fabric.leaf(host);
                let slot = space.host(host, path).index();
                row[slot] = if leaf == s {
                    fabric.link_port(own)
                } else if options.lmc == 0 {
                    balance.take_least(paths.links(s, leaf))
                } else {
                    let before = if path == 0 { 0 } else { row[slot - 1] };
                    balance.take_other(paths.links(s, leaf), host, path, before)
                };
            }
            if path == 0 {
                for target in fabric.switches() {
                    row[space.switch(target).index()] =
                        if target == s { 0 } else { balance.look(paths.links(s, target)) };
                }
            }
        }
    });
    Routes::by_dest(fabric, options.lmc, lft)
}

/// A GUID as OpenSM orders it.
pub(crate) fn guid_key(guid: u64) -> u64 {
    guid.swap_bytes()
}

/// The connected hosts in the order in which every switch serves them.
fn host_order(fabric: &Fabric) -> Vec<HostId> {
    let mut switches: Vec<(usize, u64, Vec<HostId>)> = fabric
        .switches()
        .map(|s| {
            let hosts = hosts_by_port(fabric, s);
            (usize::MAX - hosts.len(), guid_key(fabric.switch_guid(s)), hosts)
        })
        .collect();
    switches.sort_by_key(|s| (s.0, s.1));
    switches.into_iter().flat_map(|s| s.2).collect()
}

/// The hosts of a switch whose cable works, by port of the switch.
pub(crate) fn hosts_by_port(fabric: &Fabric, s: SwitchId) -> Vec<HostId> {
    let links = fabric.switch_links(s).filter(|&l| fabric.alive(l) && fabric.link_to_switch(l).is_none());
    links.map(|l| HostId(fabric.link_to(l).0)).collect()
}

/// How many destinations each link of one switch carries.
struct Balance<'a> {
    fabric: &'a Fabric,
    first: u32,
    count: Vec<u32>,
    /// `[host][path]`: the neighbour and how many addresses of the host went there; only for LMC > 0.
    used: Vec<Option<(SwitchId, u32)>>,
    lmc: u8,
}

impl<'a> Balance<'a> {
    fn new(fabric: &'a Fabric, s: SwitchId, lmc: u8) -> Self {
        let links = fabric.switch_links(s).len();
        let first = fabric.switch_links(s).next().map_or(0, |l| l.0);
        let used = if lmc == 0 { Vec::new() } else { vec![None; fabric.host_count() << lmc] };
        Self { fabric, first, count: vec![0; links], used, lmc }
    }

    #[inline]
    fn count(&mut self, link: LinkId) -> &mut u32 {
        &mut self.count[(link.0 - self.first) as usize]
    }

    /// The least loaded link, the first among equals.
    #[inline]
    fn least(&mut self, links: &[LinkId]) -> Option<LinkId> {
        let mut best = (u32::MAX, None);
        for &link in links {
            let count = *self.count(link);
            if count < best.0 {
                best = (count, Some(link));
            }
        }
        best.1
    }

    /// The port of the least loaded link.
    fn look(&mut self, links: &[LinkId]) -> u16 {
        self.least(links).map_or(NO_PORT, |link| self.fabric.link_port(link))
    }

    /// The same, counting the destination.
    #[inline]
    fn take_least(&mut self, links: &[LinkId]) -> u16 {
        match self.least(links) {
            Some(link) => {
                *self.count(link) += 1;
                self.fabric.link_port(link)
            }
            None => NO_PORT,
        }
    }

    /// The port of a link for one of several addresses of `host`; `before` is that of the address before.
    fn take_other(&mut self, links: &[LinkId], host: HostId, path: u32, before: u16) -> u16 {
        let fabric = self.fabric;
        let all = (host.index() << self.lmc)..((host.index() + 1) << self.lmc);
        let neighbour = |link: LinkId| fabric.link_to_switch(link).expect("admissible links join switches");
        let start = links.partition_point(|&l| path > 0 && fabric.link_port(l) <= before);
        let (mut best, mut best_new) = ((u32::MAX, None), (u32::MAX, None));
        let mut least_used = u32::MAX;
        for &link in links[start..].iter().chain(&links[..start]) {
            let count = *self.count(link);
            let to = neighbour(link);
            let used = self.used[all.clone()].iter().flatten().find(|u| u.0 == to).map(|u| u.1);
            if used.is_none() && count < best_new.0 {
                best_new = (count, Some(link));
                least_used = 0;
            }
            if count < best.0 {
                best = (count, Some(link));
                least_used = used.map_or(least_used, |u| u.min(least_used));
            } else if let Some(u) = used
                && count == best.0
                && u < least_used
            {
                best.1 = Some(link);
                least_used = u;
            }
        }
        let Some(link) = best_new.1.or(best.1) else { return NO_PORT };
        *self.count(link) += 1;
        let to = neighbour(link);
        for slot in &mut self.used[all] {
            match slot {
                Some((node, times)) if *node == to => {
                    *times += 1;
                    break;
                }
                None => {
                    *slot = Some((to, 1));
                    break;
                }
                _ => {}
            }
        }
        fabric.link_port(link)
    }
}
