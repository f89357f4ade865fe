//! Today's tables, changed as little as asked: caps, prices and frozen destinations hold, and gains grow with changes.

use netloom_model::{Control, Csr, HostId, Routes};
use netloom_optimize::{Change, OptimizeOptions, Optimized};
use netloom_routing::{Engine, loads};

use crate::shared::Case;

struct Today {
    case: Case,
    today: Routes,
    traffic: Csr,
}

impl Today {
    /// A small tree whose ftree routes are bad for a shuffle.
    fn new() -> Self {
        let case = Case::generated("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4");
        let today = case.routes(Engine::Ftree);
        let traffic = netloom_traffic::pattern("bisection-shuffle:seed=3", Some(32)).unwrap();
        Self { case, today, traffic: traffic.total().into_owned() }
    }

    /// Today's largest load.
    fn max(&self) -> f64 {
        loads(&self.case.fabric, &self.today, &self.traffic).unwrap().max()
    }

    fn changed(&self, penalty: f64, most: Option<u64>, frozen: &[bool]) -> Optimized {
        let change = Change { from: &self.today, penalty, most, frozen };
        let options =
            OptimizeOptions { work: Some(50_000), change: Some(change), ..OptimizeOptions::default() };
        self.case.optimize_with(&self.traffic, &self.today, &options, &Control::new()).unwrap()
    }
}

#[test]
fn no_change_allowed_is_no_change_made() {
    let now = Today::new();
    let result = now.changed(0.0, Some(0), &[]);
    assert_eq!(result.changed_entries, Some(0));
    assert_eq!(result.routes.lft(), now.today.lft());
}

#[test]
fn more_changes_gain_more_and_caps_hold() {
    let now = Today::new();
    let before = now.max();
    let mut last = before;
    for most in [1, 4, 16, 64] {
        let result = now.changed(0.0, Some(most), &[]);
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
    let now = Today::new();
    assert_eq!(now.changed(1e6, None, &[]).changed_entries, Some(0));
    let cheap = now.changed(1e-6, None, &[]);
    assert!(cheap.changed_entries.unwrap() > 0);
    assert_eq!(cheap.loads.max(), 1.0);
}

#[test]
fn frozen_destinations_keep_their_entries() {
    let now = Today::new();
    let frozen: Vec<bool> = (0..32).map(|h| h % 4 != 0).collect();
    let result = now.changed(0.0, None, &frozen);
    let (old, new) = (now.today.lft().unwrap(), result.routes.lft().unwrap());
    let dests = now.case.fabric.dests(0);
    for switch in now.case.fabric.switches() {
        for (h, _) in frozen.iter().enumerate().filter(|(_, f)| **f) {
            let dest = dests.host(HostId(h as u32), 0);
            assert_eq!(old.get(switch, dest), new.get(switch, dest));
        }
    }
    let before = now.max();
    assert!(result.bound.claim <= result.loads.max() && result.loads.max() <= before);
    assert!(!result.bound.frozen.is_empty(), "the bound says what it holds for");
}

#[test]
fn free_changes_are_few_where_few_suffice() {
    let now = Today::new();
    let best = now.changed(0.0, None, &[]);
    assert_eq!(best.loads.max(), 1.0);
    // Today's tables now send two of leaf 0's destinations the way of a third.
    let mut lft = best.routes.lft().unwrap().clone();
    let (leaf, dests) = (now.case.fabric.leaf(HostId(0)), now.case.fabric.dests(0));
    let to = |source: u32| dests.host(HostId(now.traffic.row(source as usize).0[0]), 0);
    let port = lft.get(leaf, to(2));
    lft.set(leaf, to(0), port);
    lft.set(leaf, to(1), port);
    let today = Routes { table: netloom_model::Table::ByDest(lft), ..best.outcome.routes };
    let now = Today { today, ..now };
    assert!(now.max() >= 3.0);
    let mended = now.changed(0.0, None, &[]);
    assert_eq!(mended.loads.max(), 1.0);
    // Two entries lead back; ways that join elsewhere may take a few more, a new routing takes dozens.
    assert!(mended.changed_entries.unwrap() <= 8, "{:?}", mended.changed_entries);
    let told = mended.history.last().unwrap().changed_entries;
    assert_eq!(Some(told), mended.changed_entries, "history tells what was changed");
}
