//! Routes to the switches themselves: few packets (management), but they must arrive.
//!
//! Minimal up*/down* where there is such a path, spread over the admissible links by the target's number.
//! A switch from which there is none (say, spine to spine of a two-level tree) steps to a neighbour
//! nearest to one that has: only switches send such packets, so no host's traffic can wait on them.

use netloom_model::{Fabric, LinkId, NO_PORT, SwitchId};
use rayon::prelude::*;

use crate::paths::{FAR, Search};
use crate::updown::{HopLists, UpDown, all_hops};

/// One output port per (switch, target switch).
pub(crate) struct SwitchRoutes {
    switches: usize,
    /// `[target][switch]`.
    ports: Vec<u16>,
}

impl SwitchRoutes {
    pub fn new(fabric: &Fabric, updown: &UpDown) -> Self {
        let switches = fabric.switch_count();
        let all = all_hops(fabric);
        let mut ports = vec![NO_PORT; switches * switches];
        ports.par_chunks_mut(switches).enumerate().for_each_init(
            || (Search::new(updown), vec![FAR; switches]),
            |(search, hops), (target, ports)| {
                hops.fill(FAR);
                search.run(SwitchId::from_index(target), hops, |s, links: &[LinkId]| {
                    ports[s.index()] = fabric.link_port(links[target % links.len()]);
                });
                ports[target] = 0;
                if hops.contains(&FAR) {
                    detour(fabric, &all, hops, ports);
                }
            },
        );
        Self { switches, ports }
    }

    /// The port of `s` towards `target` (0 for itself), or [`NO_PORT`].
    #[inline]
    pub fn port(&self, s: SwitchId, target: SwitchId) -> u16 {
        self.ports[target.index() * self.switches + s.index()]
    }
}

/// Gives every switch without a path a step towards the nearest one with a path, nearest by total hops.
fn detour(fabric: &Fabric, all: &HopLists, hops: &mut [u8], ports: &mut [u16]) {
    let mut by_distance: Vec<Vec<SwitchId>> = Vec::new();
    let put = |buckets: &mut Vec<Vec<SwitchId>>, distance: u8, s| {
        buckets.resize(buckets.len().max(usize::from(distance) + 1), Vec::new());
        buckets[usize::from(distance)].push(s);
    };
    for (s, &distance) in hops.iter().enumerate().filter(|(_, h)| **h != FAR) {
        put(&mut by_distance, distance, SwitchId::from_index(s));
    }
    let mut distance = 0;
    while distance < by_distance.len() {
        for s in std::mem::take(&mut by_distance[distance]) {
            for hop in all.of(s) {
                if hops[hop.to.index()] == FAR {
                    hops[hop.to.index()] = distance as u8 + 1;
                    ports[hop.to.index()] = fabric.link_port(fabric.reverse(hop.link));
                    put(&mut by_distance, distance as u8 + 1, hop.to);
                }
            }
        }
        distance += 1;
    }
}
