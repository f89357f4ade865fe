//! Today's tables made fit to start from: what a search replaces whatever it is asked to keep.

use netloom_model::{DestId, Fabric, HostId, LftRow, Routes, SwitchId, Table};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::tables::admissible_lft;

/// `routes` with every entry towards a host that is missing or not admissible (not on a shortest up*/down* way)
/// replaced by an admissible one, and those towards switches that lead nowhere, are missing or turn up after they went
/// down where there is a better way. The optimiser begins with these, so no other entry changes against one's will.
///
/// # Errors
/// [`OptimizeError`] if the tables are of another shape or not by destination.
pub fn repaired(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    routes: &Routes,
) -> Result<Routes, OptimizeError> {
    let lft = routes.lft().ok_or(OptimizeError::NotByDestination)?;
    for (expected, found) in
        [(fabric.switch_count(), lft.switches()), (routes.dests(fabric).count(), lft.dests())]
    {
        if expected != found {
            return Err(OptimizeError::Shape { expected, found });
        }
    }
    let table = Table::ByDest(admissible_lft(fabric, structure, paths, lft, routes.lmc));
    Ok(Routes { table, ..routes.clone() })
}

/// `routes` with what is dead replaced, and nothing else: entries from which a packet does not arrive, at hosts and at
/// switches' own addresses.
///
/// Where an entry leads nowhere the shortest up*/down* way takes its place; an entry that leads to such a place stays if
/// packets arrive then. What has no up*/down* way is left empty. Ways that work stay even if they are others: together
/// with new ones they may close a credit loop, which is for whoever asks to look at.
///
/// # Errors
/// As [`repaired`].
pub fn revived(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    routes: &Routes,
) -> Result<Routes, OptimizeError> {
    let mended = repaired(fabric, structure, paths, routes)?;
    let (Table::ByDest(new), Some(old)) = (&mended.table, routes.lft()) else {
        unreachable!("by destination")
    };
    // What is as it would be made anew arrives: a cut cable leaves most destinations so.
    let mut differs = vec![false; new.dests()];
    for s in fabric.switches() {
        match (old.row(s), new.row(s)) {
            (LftRow::Narrow(a), LftRow::Narrow(b)) if a == b => {}
            (a, b) => (0..)
                .zip(&mut differs)
                .for_each(|(d, differs)| *differs |= a.port(DestId(d)) != b.port(DestId(d))),
        }
    }
    let mut lft = new.clone();
    let space = routes.dests(fabric);
    let hosts = fabric.hosts().flat_map(|host| (0..1 << routes.lmc).map(move |path| (End::Host(host), path)));
    for (end, path) in hosts.chain(fabric.switches().map(|switch| (End::Switch(switch), 0))) {
        let dest = match end {
            End::Host(host) => space.host(host, path),
            End::Switch(switch) => space.switch(switch),
        };
        if !differs[dest.index()] {
            continue;
        }
        let mut column: Vec<Option<u16>> = fabric.switches().map(|s| old.get(s, dest)).collect();
        let replace = |column: &mut [Option<u16>], which: &dyn Fn(SwitchId) -> bool| {
            let of = fabric.switches().filter(|&s| which(s));
            of.for_each(|s| column[s.index()] = new.get(s, dest));
        };
        // First what leads nowhere itself, then what leads to a place without a way, then whatever is left.
        let next = |column: &[Option<u16>], s| step(fabric, end, s, column[s.index()]);
        let at = column.clone();
        replace(&mut column, &|s| next(&at, s).is_none());
        loop {
            let (at, arrives) = (column.clone(), arrives(fabric, end, &column));
            let lost = |s: SwitchId| !arrives[s.index()] && new.get(s, dest) != at[s.index()];
            let ends = |s: SwitchId| match next(&at, s) {
                Some(Some(t)) => !arrives[t.index()] && next(&at, t).is_none(),
                at => at.is_none(),
            };
            if !fabric.switches().any(lost) {
                break;
            }
            let some = fabric.switches().any(|s| lost(s) && ends(s));
            replace(&mut column, &|s| lost(s) && (ends(s) || !some));
        }
        fabric.switches().for_each(|s| lft.set(s, dest, column[s.index()]));
    }
    Ok(Routes { table: Table::ByDest(lft), ..mended })
}

/// What packets are for.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Host(HostId),
    Switch(SwitchId),
}

/// Where an entry of a switch towards an end leads: over a working cable to a switch, or there (`Some(None)`).
fn step(fabric: &Fabric, end: End, s: SwitchId, port: Option<u16>) -> Option<Option<SwitchId>> {
    if end == End::Switch(s) {
        return (port == Some(0)).then_some(None);
    }
    let link = fabric.link_at(s, port.filter(|&port| port > 0)?).filter(|&link| fabric.alive(link))?;
    match (fabric.link_to_switch(link), end) {
        (Some(next), _) => Some(Some(next)),
        (None, End::Host(host)) => (fabric.reverse(link) == fabric.host_link(host)).then_some(None),
        (None, End::Switch(_)) => None,
    }
}

/// From which switches packets towards an end arrive.
fn arrives(fabric: &Fabric, end: End, column: &[Option<u16>]) -> Vec<bool> {
    const UNKNOWN: u8 = 0;
    const OPEN: u8 = 1;
    const LOST: u8 = 2;
    const HOME: u8 = 3;
    let mut state = vec![UNKNOWN; column.len()];
    let mut way = Vec::new();
    for s in fabric.switches() {
        let mut at = s;
        let found = loop {
            match state[at.index()] {
                UNKNOWN => {}
                OPEN => break LOST,
                known => break known,
            }
            state[at.index()] = OPEN;
            way.push(at);
            match step(fabric, end, at, column[at.index()]) {
                None => break LOST,
                Some(None) => break HOME,
                Some(Some(next)) => at = next,
            }
        };
        way.drain(..).for_each(|v| state[v.index()] = found);
    }
    state.into_iter().map(|found| found == HOME).collect()
}

#[cfg(test)]
mod tests {
    use netloom_model::Lft;
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{Damage, damage, detect, generate};

    use super::*;

    #[test]
    fn only_what_is_missing_or_leads_astray_is_replaced() {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let good = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        assert_eq!(repaired(&fabric, &structure, &paths, &good).unwrap(), good);
        let Table::ByDest(mut lft) = good.table.clone() else { panic!() };
        // Leaf 0 sends to host 5 of leaf 2 nowhere, and to host 4 back to its own host 0.
        let leaf = fabric.leaf(HostId(0));
        lft.set(leaf, DestId(5), None);
        lft.set(leaf, DestId(4), Some(fabric.link_port(fabric.reverse(fabric.host_link(HostId(0))))));
        let bad = Routes { table: Table::ByDest(lft.clone()), ..good.clone() };
        let mended = repaired(&fabric, &structure, &paths, &bad).unwrap();
        assert_eq!(mended.lft().unwrap().changed_entries(&lft), 2);
        assert_eq!(revived(&fabric, &structure, &paths, &bad).unwrap(), mended);
    }

    /// Leaf 0 lost its cable to the first spine: that spine's entries, the leaf's own over it, and those of the other
    /// leaves towards hosts of leaf 0 that go over it. Ways that are no shortest ones but work stay.
    #[test]
    fn what_works_stays_where_only_the_dead_is_replaced() {
        let whole = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let before = route(Engine::Ftree, &whole, &detect(&whole), &EngineOptions::default()).unwrap();
        let what = Damage { links: vec![("leaf00".into(), 3)], ..Damage::default() };
        let fabric = damage(&whole, &what, 0).unwrap().fabric;
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let revived = revived(&fabric, &structure, &paths, &before).unwrap();
        let (old, new) = (before.lft().unwrap(), revived.lft().unwrap());
        for host in fabric.hosts() {
            let dest = fabric.dests(0).host(host, 0);
            let column = |lft: &Lft| fabric.switches().map(|s| lft.get(s, dest)).collect::<Vec<_>>();
            let (was, is) = (column(old), column(new));
            let end = End::Host(host);
            let (dead, alive) = (arrives(&fabric, end, &was), arrives(&fabric, end, &is));
            for s in fabric.switches() {
                assert!(alive[s.index()] || is[s.index()].is_none(), "{s:?} to {host:?}");
                assert!(was[s.index()] == is[s.index()] || !dead[s.index()], "{s:?} to {host:?} worked");
            }
        }
    }

    #[test]
    fn a_detour_to_a_switch_stays_and_a_dead_end_does_not() {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let good = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        let Table::ByDest(mut lft) = good.table.clone() else { panic!() };
        let named = |name: &str| fabric.switches().find(|&s| fabric.switch_name(s) == name).unwrap();
        let port = |from: &str, to: &str| {
            let link =
                fabric.switch_links(named(from)).find(|&l| fabric.link_to_switch(l) == Some(named(to)));
            Some(fabric.link_port(link.unwrap()))
        };
        let dest = fabric.dests(0).switch(named("leaf01"));
        // Down, up and down again; it arrives.
        for (from, to) in [("spine00", "leaf02"), ("leaf02", "spine01"), ("spine01", "leaf01")] {
            lft.set(named(from), dest, port(from, to));
        }
        lft.set(named("leaf00"), dest, port("leaf00", "spine00"));
        let detour = Routes { table: Table::ByDest(lft.clone()), ..good.clone() };
        assert_ne!(repaired(&fabric, &structure, &paths, &detour).unwrap(), detour);
        assert_eq!(revived(&fabric, &structure, &paths, &detour).unwrap(), detour);
        lft.set(named("leaf00"), dest, Some(1));
        let dead = Routes { table: Table::ByDest(lft.clone()), ..good };
        let mended = revived(&fabric, &structure, &paths, &dead).unwrap();
        assert_eq!(mended.lft().unwrap().changed_entries(&lft), 1);
    }
}
