//! What recorded applications send across leaves and pods, and how much slimmer trees slow them.

use netloom_bounds::ar_bound;
use netloom_model::{Control, Traffic};
use netloom_planning::application::demands;
use netloom_planning::{Answer, Design, Order, Planned, Sizes};
use netloom_routing::PathSet;
use netloom_topology::{detect, generate};

use crate::fixtures::{answer, application, recorded, request};

/// A recorded application, one copy in order, on a design.
fn on(name: &str, hosts: u32, radix: u32, spec: &str) -> Planned {
    let design = Design::parse(spec).unwrap();
    let levels = [design.levels() as u32];
    let mut request = request(hosts, radix, &levels, vec![application(name, recorded(name))]);
    request.compare = vec![design];
    let Answer { compared, .. } = answer(&request);
    compared.into_iter().next().unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.00501, "{found} is not {expected}");
}

/// Slowdown at 25, 50 and 75 % fewer cables up.
fn slimmed(name: &str) -> [f64; 3] {
    [12, 8, 4].map(|spines| {
        let spec = format!("two-level:leaves=16,hosts=16,spines={spines}");
        on(name, 256, 32, &spec).slowdown.bound
    })
}

#[test]
fn slimming_a_16_ary_2_tree_slows_recorded_applications() {
    let expected = [
        ("ft-128.ti.gz", [1.18, 1.76, 3.53]),
        ("nekbone-256.mtx.gz", [1.00, 1.07, 2.14]),
        ("snap-168.mtx.gz", [1.00, 1.00, 1.62]),
        ("cg-128.ti.gz", [1.00, 1.00, 1.00]),
        ("hpcg-216.mtx.gz", [1.00, 1.01, 2.02]),
    ];
    for (name, expected) in expected {
        let found = slimmed(name);
        println!("{name}: {found:.3?}");
        found.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));
    }
}

#[test]
fn shares_that_leave_leaves_and_pods() {
    // P(H >= 2) on leaves of 32 (quartz1), ranks in order.
    let rows = [
        ("lulesh-64.mtx.gz", 0.1148),
        ("lulesh-512.mtx.gz", 0.4047),
        ("snap-168.mtx.gz", 0.1935),
        ("nekbone-256.mtx.gz", 0.3988),
        ("hpcg-216.mtx.gz", 0.4432),
        ("amg-125.mtx.gz", 0.4331),
        ("cg-128.ti.gz", 0.1538),
        ("ft-128.ti.gz", 0.7559),
        ("miniamr-512.mtx.gz", 0.2431),
    ];
    for (name, expected) in rows {
        let found = &on(name, 3072, 48, "quartz1").applications[0];
        assert!((found.share[0] - expected).abs() < 0.00006, "{name}: {} is not {expected}", found.share[0]);
    }
    // 8-ary 3-tree of 512 hosts: P(H >= 2), P(H >= 3).
    let tree = "fattree:pods=8,leaves=8,hosts=8,spines=8,groups=8,cores=8";
    for (name, expected) in [("nekbone-256.mtx.gz", [0.6799, 0.3222]), ("ft-128.ti.gz", [0.9449, 0.5039])] {
        let found = &on(name, 512, 32, tree).applications[0];
        for (found, expected) in found.share.iter().zip(expected) {
            assert!((found - expected).abs() < 0.00006, "{name}: {found} is not {expected}");
        }
    }
}

/// The AR bound of the placed traffic on the fabric that the spec makes, over the bytes of the busiest host: another
/// crate's way to the same number.
#[test]
fn the_busiest_switch_is_the_bound_of_adaptive_routing() {
    let cases = [
        ("lulesh-512.mtx.gz", "quartz1", 48),
        ("hpcg-216.mtx.gz", "two-level:leaves=20,hosts=16,spines=4", 32),
        ("nekbone-256.mtx.gz", "fattree:pods=6,leaves=8,hosts=8,spines=4,groups=4,cores=1,core-cables=2", 16),
    ];
    for (name, spec, radix) in cases {
        let design = Design::parse(spec).unwrap();
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let (ranks, hosts) = (recorded(name), fabric.host_count() as u32);
        for order in Order::ALL {
            let place = &order.place(hosts, 1, ranks.endpoints(), 5, 0)[0];
            let at = |rank: u32| u64::from(place[rank as usize]);
            let total = ranks.total();
            let (from, to): (Vec<u64>, Vec<u64>) = total.iter().map(|(i, j, _)| (at(i), at(j))).unzip();
            let placed = Traffic::from_triples(hosts, &from, &to, total.bytes(), None).unwrap();
            let placed = placed.total();
            let bound = ar_bound(&fabric, &structure, &paths, &placed, &Control::new(), None).unwrap();

            let mut request =
                request(hosts, radix, &[design.levels() as u32], vec![application(name, ranks.clone())]);
            (request.orders, request.seed, request.compare) = (vec![order], 5, vec![design]);
            let found = answer(&request).compared[0].slowdown.bound;
            let mut into = vec![0.0; hosts as usize];
            placed.iter().for_each(|(_, to, bytes)| into[to as usize] += bytes);
            let out = (0..hosts as usize).map(|host| placed.row(host).1.iter().sum::<f64>());
            let busiest = into.iter().copied().chain(out).fold(0.0, f64::max);
            let expected = bound.lower / busiest;
            assert!((found / expected - 1.0).abs() < 1e-9, "{name} {order:?}: {found} is not {expected}");
        }
    }
}

/// What sums over a level hide, ranks in order.
#[test]
fn the_busiest_leaf_sends_more_than_the_mean_one() {
    let rows = [
        ("lulesh-512.mtx.gz", [1.17, 1.21]),
        ("nekbone-256.mtx.gz", [1.27, 1.32]),
        ("hpcg-216.mtx.gz", [1.25, 1.26]),
        ("snap-168.mtx.gz", [1.30, 1.16]),
        ("amg-125.mtx.gz", [1.35, 1.28]),
        ("miniamr-512.mtx.gz", [1.16, 1.17]),
    ];
    let sizes = Sizes::of([(16, 0), (32, 0)]);
    for (name, expected) in rows {
        let traffic = recorded(name);
        let (bytes, ranks) = (traffic.total().total_bytes(), f64::from(traffic.endpoints()));
        let applications = [application(name, traffic)];
        let found = demands(&applications, &[Order::Block], 1, 3072, 0, &sizes, &Control::new()).unwrap();
        let ratio = |size: usize| {
            let leaves = &found[0].groups[size][0];
            leaves.busiest[0] / (leaves.mean * bytes / ranks)
        };
        println!("{name}: {:.3} {:.3}", ratio(1), ratio(0));
        [ratio(1), ratio(0)].into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));
    }
}
