//! What recorded applications send across leaves and pods, and how much slimmer trees slow them.

use netloom_bounds as _;
use netloom_planning::{Answer, Design, Planned};

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
        on(name, 256, 32, &spec).slowdown.busiest_switch
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
