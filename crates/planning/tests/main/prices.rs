//! Money and power with the published prices of 2014, 3,072 hosts on 48-port switches.

use netloom_planning::{Catalogue, Design, PlanError, Rate, Run};

use crate::fixtures::{answer, application, prices, request, runs, slimfly};

/// $, $ a host, W a host.
fn cost(spec: &str) -> (f64, f64, f64) {
    let (price, power) = prices(48).of(&Design::parse(spec).unwrap(), 3072);
    (price, price / 3072.0, power / 3072.0)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

const FULL: &str = "fattree:pods=16,leaves=8,hosts=24,spines=8,groups=8,cores=8,leaf-cables=3,core-cables=3";

#[test]
fn single_prices() {
    let prices = prices(48);
    near(prices.switch, 15_926.90, 0.005);
    near(prices.cables[0].price, 55.72, 0.005);
    near(prices.cables[1].price, 364.50, 0.005);
}

#[test]
fn four_trees_for_3072_hosts() {
    let rows = [
        (FULL, 7.507e6, 2444.0, 14.0),
        ("quartz1", 4.604e6, 1499.0, 9.1),
        (
            "fattree:pods=4,leaves=24,hosts=32,spines=16,groups=16,cores=2,core-cables=12",
            4.349e6,
            1416.0,
            8.4,
        ),
        ("fattree:pods=3,leaves=32,hosts=32,spines=16,groups=1,cores=16", 3.559e6, 1159.0, 7.0),
    ];
    for (spec, price, each, watts) in rows {
        let found = cost(spec);
        near(found.0, price, 500.0);
        near(found.1, each, 0.5);
        near(found.2, watts, 0.05);
    }
}

#[test]
fn taper_pays_below_a_slowdown_that_falls_as_nodes_get_dearer() {
    // (node + 2,444) / (node + 1,499).
    for (node, expected) in [(5_000.0, 1.145), (10_000.0, 1.082), (20_000.0, 1.044)] {
        let idle = netloom_model::Traffic::from_matrix(netloom_model::Csr::empty(2));
        let mut request = request(3072, 48, &[3], vec![application("idle", idle)]);
        request.node_price = Some(node);
        request.compare = vec![Design::parse("quartz1").unwrap()];
        let answer = answer(&request);
        near(answer.full.as_ref().unwrap().price, 7.507e6, 500.0);
        assert_eq!(answer.full.unwrap().pays_below, Some(1.0));
        near(answer.compared[0].pays_below.unwrap(), expected, 0.0005);
    }
}

#[test]
fn what_a_catalogue_does_not_have_is_said() {
    let error = |catalogue: &Catalogue, radix: u32, speed: Option<f64>, runs: &[Run]| {
        catalogue.prices(radix, speed, runs).unwrap_err()
    };
    let mut two = slimfly();
    two.switches.push(two.switches[0].clone());
    two.switches[1].speed_gbps = 100.0;
    let speeds = error(&two, 48, None, &runs());
    assert!(speeds.to_string().contains("speeds of 40, 100 Gb/s: expected machine.speed_gbps"), "{speeds}");
    assert!(two.prices(48, Some(40.0), &runs()).is_ok());
    assert_eq!(error(&two, 48, Some(100.0), &runs()).key().unwrap(), "cables.hosts");

    let mut fixed = slimfly();
    fixed.switches[0].ports = Some(36);
    assert!(error(&fixed, 48, None, &runs()).to_string().ends_with("expected one of 36 ports"));
    fixed.switches[0] = slimfly().switches[0].clone();
    fixed.switches[0].price = Rate { fixed: -892.3, each: 10.0 };
    assert!(matches!(error(&fixed, 48, None, &runs()), PlanError::NegativeSwitch { radix: 48, .. }));

    let mut runs = runs();
    runs[2].kind = Some("wireless".into());
    let missing = error(&slimfly(), 48, None, &runs);
    assert_eq!(missing.key().unwrap(), "cables.spines");
    assert!(
        missing.to_string().contains("no cable of the kind \"wireless\" of 20 m at 40 Gb/s"),
        "{missing}"
    );
}

#[test]
fn without_a_kind_the_cheapest_cable_that_is_long_enough_is_bought() {
    let mut catalogue = slimfly();
    catalogue.cables[0].most_m = 7.0;
    let kind = |length_m: f64| {
        let run = Run { kind: None, length_m };
        catalogue.prices(48, None, &[run]).unwrap().cables[0].kind.clone()
    };
    assert_eq!((kind(2.0), kind(20.0)), ("copper".into(), "optical".into()));
}
