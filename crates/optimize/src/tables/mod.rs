//! Complete forwarding tables: the search's entries where traffic flows, the background's elsewhere.
//!
//! A background entry that is not admissible could close a loop together with the others, so it is
//! replaced by an admissible one (destination modulo the number of choices). Entries of switches' own
//! addresses carry no application traffic and stay as they are where they are sound (`management`).

pub(crate) mod management;
pub(crate) mod repair;

use netloom_model::{DestId, Fabric, HostId, Lft, LftRow, LinkId, Routes, SwitchId, Table};
use netloom_routing::PathSet;
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::search::state::slots::{NONE, Slots};

/// The admissible choice where there is nothing better: destination modulo the number of choices.
pub(crate) fn default_link(links: &[LinkId], host: HostId) -> LinkId {
    links[host.index() % links.len()]
}

/// `background` with every entry towards hosts admissible and those towards switches sound; what cannot be reached has
/// none.
pub(crate) fn admissible_lft(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    background: &Lft,
    lmc: u8,
) -> Lft {
    let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    let repairs: Vec<Vec<(DestId, Option<u16>)>> = (0..fabric.switch_count())
        .into_par_iter()
        .map(|s| row_repairs(fabric, paths, background, lmc, SwitchId::from_index(s), &leaves))
        .collect();
    let mut lft = background.clone();
    for (s, row) in repairs.into_iter().enumerate() {
        for (dest, port) in row {
            lft.set(SwitchId::from_index(s), dest, port);
        }
    }
    management::mend(fabric, structure, &mut lft, lmc);
    lft
}

fn row_repairs(
    fabric: &Fabric,
    paths: &PathSet,
    background: &Lft,
    lmc: u8,
    switch: SwitchId,
    leaves: &[SwitchId],
) -> Vec<(DestId, Option<u16>)> {
    let row = background.row(switch);
    let mut repairs = Vec::new();
    // Per port the group of links that it was last seen in; groups are few, so this rarely changes.
    let mut group_of = vec![0; usize::from(fabric.radix(switch)).max(usize::from(u8::MAX)) + 1];
    let mut marked = 0;
    for &leaf in leaves {
        let group = paths.group(switch, leaf);
        let links = paths.group_links(group);
        if group != marked {
            links.iter().for_each(|&link| group_of[usize::from(fabric.link_port(link))] = group);
            marked = group;
        }
        let hosts = fabric.hosts_on(leaf);
        // Nearly always all is well: then one look at a stretch of bytes settles a leaf.
        if let (LftRow::Narrow(row), [first, .., last]) = (row, hosts)
            && last.index() - first.index() + 1 == hosts.len()
            && group != 0
        {
            let row = &row[first.index() << lmc..(last.index() + 1) << lmc];
            // 255 is no port of such a switch, so it belongs to no group.
            let good = match consecutive(fabric, links) {
                Some((least, more)) => {
                    row.iter().fold(true, |good, &p| good & (p.wrapping_sub(least) <= more))
                }
                None => row.iter().fold(true, |good, &port| good & (group_of[usize::from(port)] == group)),
            };
            if good {
                continue;
            }
        }
        for &host in hosts {
            for path in 0..1u32 << lmc {
                let dest = DestId((host.0 << lmc) + path);
                let port = row.port(dest);
                if group != 0 && group_of.get(usize::from(port)) == Some(&group) {
                    continue;
                }
                let wanted = if switch == leaf {
                    let back = fabric.reverse(fabric.host_link(host));
                    fabric.alive(back).then(|| fabric.link_port(back))
                } else if links.is_empty() {
                    None
                } else {
                    Some(fabric.link_port(default_link(links, HostId(dest.0))))
                };
                if wanted != row_entry(port) {
                    repairs.push((dest, wanted));
                }
            }
        }
    }
    repairs
}

/// The least port of a group and how many more follow it, if they follow without gap and none is 255.
fn consecutive(fabric: &Fabric, links: &[LinkId]) -> Option<(u8, u8)> {
    let (least, last) = (fabric.link_port(*links.first()?), fabric.link_port(*links.last()?));
    let more = usize::from(last.checked_sub(least)?);
    (more + 1 == links.len() && last < u16::from(u8::MAX)).then_some((least as u8, more as u8))
}

fn row_entry(port: u16) -> Option<u16> {
    (port != netloom_model::NO_PORT).then_some(port)
}

/// Routes with the given paths over an admissible table, which is written into. Entries towards switches are looked at
/// again: what waits for nobody in one table may do so in another.
pub(crate) fn routes_with_paths(
    view: &Slots,
    structure: &Structure,
    base: Lft,
    like: &Routes,
    items: &crate::search::state::items::Items,
    path: &[u32],
) -> Routes {
    let mut lft = base;
    for item in 0..items.len() {
        let address = items.address[items.group[item] as usize];
        for &slot in path[item * view.stride..(item + 1) * view.stride].iter().take_while(|&&s| s != NONE) {
            let link = LinkId(view.link_of[slot as usize]);
            let switch = SwitchId(view.from[slot as usize]);
            lft.set(switch, address, Some(view.fabric.link_port(link)));
        }
    }
    management::mend(view.fabric, structure, &mut lft, like.lmc);
    Routes {
        lmc: like.lmc,
        table: Table::ByDest(lft),
        path: like.path.clone(),
        cabling_hash: Some(view.fabric.cabling_hash()),
        // Up*/down* ways need none.
        lanes: None,
    }
}
