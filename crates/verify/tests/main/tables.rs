//! Sound tables for tests, made without the engines: the admissible link number `destination mod count`.

use netloom_model::{Dest, Fabric, Lft, Routes, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;

/// Minimal up*/down* tables; switches are reached by the shortest way over working links that goes up first.
pub fn sound(fabric: &Fabric, structure: &Structure, lmc: u8) -> Routes {
    let paths = PathSet::admissible(fabric, structure);
    let space = fabric.dests(lmc);
    let mut lft = Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    for dest in space.iter() {
        match space.resolve(dest) {
            Dest::Host(h, _) => {
                let leaf = fabric.leaf(h);
                for s in fabric.switches() {
                    let links = paths.links(s, leaf);
                    let link = if s == leaf {
                        Some(fabric.reverse(fabric.host_link(h)))
                    } else if links.is_empty() {
                        None
                    } else {
                        Some(links[dest.index() % links.len()])
                    };
                    lft.set(s, dest, link.map(|l| fabric.link_port(l)));
                }
            }
            Dest::Switch(to) => {
                for (s, port) in towards_switch(fabric, structure, to) {
                    lft.set(s, dest, Some(port));
                }
            }
        }
    }
    Routes::by_dest(fabric, lmc, lft)
}

/// Breadth first from `to`: first all that reach it going down, then those that go up first.
fn towards_switch(fabric: &Fabric, structure: &Structure, to: SwitchId) -> Vec<(SwitchId, u16)> {
    let level = |s: SwitchId| structure.level[s.index()];
    let mut known = vec![false; fabric.switch_count()];
    let mut entries = vec![(to, 0)];
    known[to.index()] = true;
    for climbing in [false, true] {
        let mut i = 0;
        while i < entries.len() {
            let near = entries[i].0;
            for out in fabric.switch_links(near).filter(|&l| fabric.alive(l)) {
                let Some(s) = fabric.link_to_switch(out) else { continue };
                let goes_up = level(s) < level(near);
                if goes_up == climbing && level(s) != level(near) && !known[s.index()] {
                    known[s.index()] = true;
                    entries.push((s, fabric.link_port(fabric.reverse(out))));
                }
            }
            i += 1;
        }
    }
    entries
}
