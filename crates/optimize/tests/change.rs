//! Today's tables, changed as little as asked: caps, prices and frozen destinations hold, and gains grow with changes.

use netloom_model::{Control, Csr, Fabric, HostId, Routes};
use netloom_optimize::{Change, OptimizeOptions, Optimized, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Structure, detect, generate};

struct Case {
    fabric: Fabric,
    structure: Structure,
    paths: PathSet,
    today: Routes,
    traffic: Csr,
}

impl Case {
    /// A small tree whose ftree routes are bad for a shuffle.
    fn new() -> Self {
        let fabric = generate("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let today = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        let traffic = netloom_traffic::pattern("bisection-shuffle:seed=3", Some(32)).unwrap();
        Self { fabric, structure, paths, today, traffic: traffic.total().into_owned() }
    }

    fn changed(&self, penalty: f64, most: Option<u64>, frozen: &[bool]) -> Optimized {
        let change = Change { from: &self.today, penalty, most, frozen };
        let options =
            OptimizeOptions { work: Some(50_000), change: Some(change), ..OptimizeOptions::default() };
        let Self { fabric, structure, paths, today, traffic } = self;
        optimize(fabric, structure, paths, traffic, today, &options, &Control::new()).unwrap()
    }
}

#[test]
fn no_change_allowed_is_no_change_made() {
    let case = Case::new();
    let result = case.changed(0.0, Some(0), &[]);
    assert_eq!(result.changed_entries, Some(0));
    assert_eq!(result.routes.lft(), case.today.lft());
}

#[test]
fn more_changes_gain_more_and_caps_hold() {
    let case = Case::new();
    let before = loads(&case.fabric, &case.today, &case.traffic).unwrap().max();
    let mut last = before;
    for most in [1, 4, 16, 64] {
        let result = case.changed(0.0, Some(most), &[]);
        assert!(result.changed_entries.unwrap() <= most, "{:?} of {most}", result.changed_entries);
        assert!(result.loads.max() <= last, "{most}: {} after {last}", result.loads.max());
        last = result.loads.max();
    }
    // The shuffle fits without sharing a link: one unit everywhere.
    assert!(before > 1.0);
    assert_eq!(last, 1.0);
}

#[test]
fn a_price_above_any_gain_changes_nothing_and_a_low_one_something() {
    let case = Case::new();
    assert_eq!(case.changed(1e6, None, &[]).changed_entries, Some(0));
    let cheap = case.changed(1e-6, None, &[]);
    assert!(cheap.changed_entries.unwrap() > 0);
    assert_eq!(cheap.loads.max(), 1.0);
}

#[test]
fn frozen_destinations_keep_their_entries() {
    let case = Case::new();
    let frozen: Vec<bool> = (0..32).map(|h| h % 4 != 0).collect();
    let result = case.changed(0.0, None, &frozen);
    let (old, new) = (case.today.lft().unwrap(), result.routes.lft().unwrap());
    let dests = case.fabric.dests(0);
    for switch in case.fabric.switches() {
        for (h, _) in frozen.iter().enumerate().filter(|(_, f)| **f) {
            let dest = dests.host(HostId(h as u32), 0);
            assert_eq!(old.get(switch, dest), new.get(switch, dest));
        }
    }
    let before = loads(&case.fabric, &case.today, &case.traffic).unwrap().max();
    assert!(result.bound.claim <= result.loads.max() && result.loads.max() <= before);
    assert!(!result.bound.frozen.is_empty(), "the bound says what it holds for");
}

#[test]
fn free_changes_are_few_where_few_suffice() {
    let case = Case::new();
    let best = case.changed(0.0, None, &[]);
    assert_eq!(best.loads.max(), 1.0);
    // Today's tables now send two of leaf 0's destinations the way of a third.
    let mut lft = best.routes.lft().unwrap().clone();
    let (leaf, dests) = (case.fabric.leaf(HostId(0)), case.fabric.dests(0));
    let to = |source: u32| dests.host(HostId(case.traffic.row(source as usize).0[0]), 0);
    let port = lft.get(leaf, to(2));
    lft.set(leaf, to(0), port);
    lft.set(leaf, to(1), port);
    let today = Routes { table: netloom_model::Table::ByDest(lft), ..best.routes };
    let case = Case { today, ..case };
    assert!(loads(&case.fabric, &case.today, &case.traffic).unwrap().max() >= 3.0);
    let mended = case.changed(0.0, None, &[]);
    assert_eq!(mended.loads.max(), 1.0);
    // Two entries lead back; ways that join elsewhere may take a few more, a new routing takes dozens.
    assert!(mended.changed_entries.unwrap() <= 8, "{:?}", mended.changed_entries);
    let told = mended.history.last().unwrap().changed_entries;
    assert_eq!(Some(told), mended.changed_entries, "history tells what was changed");
}
