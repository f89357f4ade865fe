//! The cheapest of the class, against a count of its own: every number of leaves, of cables up, of spines.
//!
//! One in 31 of the numbers of hosts from radix + 1 to radix^2 / 2, and some below; with NETLOOM_TRIALS (`make hostile`) all.

use netloom_model::Traffic;
use netloom_planning::{Answer, Bundles, Share};

use crate::fixtures::{answer, application, prices, request};

/// The share of wire time of the only application.
const SHARE: f64 = 0.5;
/// Slowdowns within which the cheapest is looked for.
const TARGETS: [f64; 6] = [1.0, 1.02, 1.1, 1.3, 1.8, 3.0];

/// A design as counted here: price, estimate, without taper.
struct Counted {
    price: f64,
    estimate: f64,
    full: bool,
}

/// Host i sends one byte to host i + n / 2, round the end.
fn halves(hosts: u32) -> Traffic {
    let from: Vec<u64> = (0..u64::from(hosts)).collect();
    let to: Vec<u64> = from.iter().map(|i| (i + u64::from(hosts) / 2) % u64::from(hosts)).collect();
    Traffic::from_triples(hosts, &from, &to, &vec![1.0; hosts as usize], None).unwrap()
}

/// Most bytes out of, or into, a run of `down` hosts.
fn busiest(hosts: u32, down: u32) -> f64 {
    let leaves = hosts.div_ceil(down) as usize;
    let (mut out, mut into) = (vec![0u32; leaves], vec![0u32; leaves]);
    for host in 0..hosts {
        let (from, to) = ((host / down) as usize, ((host + hosts / 2) % hosts / down) as usize);
        if from != to {
            out[from] += 1;
            into[to] += 1;
        }
    }
    f64::from(out.into_iter().chain(into).max().unwrap())
}

/// Whether so many leaves, each with `up` cables dealt in turn, fit on so many spines.
fn fits(leaves: u32, up: u32, spines: u32, radix: u32, bundles: Bundles) -> bool {
    let most = (leaves * up).div_ceil(spines);
    let even = up.is_multiple_of(spines);
    most <= radix && up >= spines && (even || bundles == Bundles::Any)
}

fn counted(hosts: u32, radix: u32, bundles: Bundles) -> Vec<Counted> {
    let money = prices(radix);
    let of_hosts = f64::from(hosts) * money.cables[0].price;
    let mut found = Vec::new();
    if hosts <= radix {
        found.push(Counted { price: money.switch + of_hosts, estimate: 1.0, full: true });
    }
    for leaves in 2..=radix {
        let down = hosts.div_ceil(leaves);
        if down >= radix || hosts.div_ceil(down) != leaves {
            continue;
        }
        let bytes = busiest(hosts, down);
        for up in 1..=radix - down {
            let Some(spines) = (1..=up).find(|&spines| fits(leaves, up, spines, radix, bundles)) else {
                continue;
            };
            let switches = f64::from(leaves + spines) * money.switch;
            let cables = f64::from(leaves * up) * money.cables[1].price;
            let stretch = (bytes / f64::from(up)).max(1.0);
            let estimate = 1.0 + SHARE * (stretch - 1.0);
            found.push(Counted { price: switches + of_hosts + cables, estimate, full: up >= down });
        }
    }
    found
}

fn cheapest(found: impl Iterator<Item = f64>) -> Option<f64> {
    found.min_by(f64::total_cmp)
}

fn check(hosts: u32, radix: u32, bundles: Bundles) {
    let mut one = application("halves", halves(hosts));
    one.share = Share::Given(SHARE);
    let mut asked = request(hosts, radix, &[2], vec![one]);
    asked.bundles = bundles;
    let Answer { front, full, .. } = answer(&asked);
    let class = counted(hosts, radix, bundles);
    let same = |what: &str, found: Option<f64>, expected: Option<f64>| match (found, expected) {
        (None, None) => {}
        (Some(found), Some(expected)) if (found / expected - 1.0).abs() < 1e-9 => {}
        _ => panic!("{hosts} hosts, {radix} ports, {bundles:?}, {what}: {found:?} is not {expected:?}"),
    };
    let expected = cheapest(class.iter().filter(|c| c.full).map(|c| c.price));
    same("full", full.map(|full| full.price), expected);
    for target in TARGETS {
        let most = target * (1.0 + 1e-9);
        let found = cheapest(front.iter().filter(|p| p.slowdown.estimate <= most).map(|p| p.price));
        let expected = cheapest(class.iter().filter(|c| c.estimate <= most).map(|c| c.price));
        same(&format!("slowdown {target}"), found, expected);
    }
}

#[test]
fn hostile_full_and_chosen_are_the_cheapest_of_the_class() {
    let all = std::env::var("NETLOOM_TRIALS").is_ok();
    for radix in [36, 40, 64] {
        // 97 hosts on 36 ports: 6 + 3 switches with 18 cables up for 17 hosts, where 7 + 7 were proposed.
        let few = [2, radix - 1, radix, radix + 1, 97, 500, radix * radix / 2 - 1, radix * radix / 2];
        let step = if all { 1 } else { 31 };
        let some = few.into_iter().chain((radix + 1..=radix * radix / 2).step_by(step));
        for hosts in some {
            for bundles in [Bundles::Any, Bundles::Equal] {
                check(hosts, radix, bundles);
            }
        }
    }
}

/// Switches by level of the cheapest tree without taper.
fn full(hosts: u32, radix: u32, bundles: Bundles) -> (Vec<u64>, String) {
    let mut asked = request(hosts, radix, &[2, 3], vec![application("halves", halves(hosts))]);
    asked.bundles = bundles;
    let full = answer(&asked).full.unwrap();
    (full.counts.switches, full.design.spec())
}

#[test]
fn spines_are_filled_as_far_as_they_go() {
    let (switches, spec) = full(500, 40, Bundles::Any);
    assert_eq!(switches, [25, 13]);
    assert_eq!(spec, "two-level:leaves=25,hosts=20,spines=13,up=20");
    assert_eq!(full(500, 40, Bundles::Equal).0, [25, 20]);
    assert_eq!(full(5000, 128, Bundles::Any).0, [79, 40]);
}

#[test]
fn cables_up_may_be_more_than_hosts_and_one_switch_may_do() {
    assert_eq!(full(97, 36, Bundles::Equal).0, [6, 3]);
    assert_eq!(full(20, 36, Bundles::Any), (vec![1], "xgft:m=20,w=1".into()));
    assert_eq!(full(36, 36, Bundles::Any).0, [1]);
    assert_eq!(full(37, 36, Bundles::Any).0.len(), 2);
}
