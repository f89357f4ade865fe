//! The best division of a budget among the levels: worked by hand, against random divisions, against all designs.

use netloom_model::rng::{stream, unit};
use netloom_planning::{Mix, Order, Share};

use crate::fixtures::{answer, application, prices, recorded, request};

/// A port and a host's cable; two ports and a cable, twice: `slimfly-2014`, 48 ports.
fn units() -> [f64; 3] {
    prices(48).units(48)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

/// 0.9 LULESH on 512 hosts in order, 0.1 uniform traffic, on quartz1's leaves and pods.
fn lulesh_and_uniform() -> Mix {
    let mut mix = Mix::new();
    mix.add(0.9, [[1.0, 0.4047, 0.0]].into_iter());
    mix.add(0.1, [[1.0, 0.9899, 0.7503]].into_iter());
    mix
}

#[test]
fn unit_prices_are_those_of_ports_and_cables() {
    for (found, expected) in units().into_iter().zip([387.5, 1028.1, 1028.1]) {
        near(found, expected, 0.05);
    }
}

#[test]
fn a_mix_under_three_budgets() {
    let mix = lulesh_and_uniform();
    let rows = [
        (1_500.0, 1.0608, [0.6155, 0.4665], 1.083),
        (1_200.0, 1.1202, [0.4495, 0.3407], 1.172),
        (1_000.0, 1.2926, [0.4047, 0.1911], 1.555),
    ];
    for (budget, slowdown, bandwidth, even_taper) in rows {
        let found = mix.fastest(&units(), budget).unwrap();
        // The shares above are rounded to 1e-4, which moves the third slowdown by 2e-4.
        near(found.slowdown, slowdown, 2e-4);
        near(found.bandwidth[0], bandwidth[0], 5e-5);
        near(found.bandwidth[1], bandwidth[1], 1e-4);
        let even = (budget - units()[0]) / (units()[1] + units()[2]);
        near(mix.slowdown([even; 2]), even_taper, 5e-4);
        // The other way round: that slowdown costs that much.
        near(mix.cheapest(&units(), found.slowdown).unwrap().price, budget, 1e-3);
    }
}

#[test]
fn one_application_is_theorem_3_3_with_prices() {
    // mu_i = v_i (B - c_1) / sum c v, slowdown v_i / mu_i at both levels.
    let mut mix = Mix::new();
    mix.add(1.0, [[1.0, 0.8, 0.5]].into_iter());
    let [hosts, leaf, pod] = [100.0, 30.0, 70.0];
    let found = mix.fastest(&[hosts, leaf, pod], 130.0).unwrap();
    let slowdown = (leaf * 0.8 + pod * 0.5) / 30.0;
    near(found.slowdown, slowdown, 1e-9);
    near(found.bandwidth[0], 0.8 / slowdown, 1e-9);
    near(found.bandwidth[1], 0.5 / slowdown, 1e-9);
    // All that it needs, and nothing.
    assert_eq!(mix.fastest(&[hosts, leaf, pod], 159.0).unwrap().slowdown, 1.0);
    assert_eq!(mix.fastest(&[hosts, leaf, pod], 100.0), None);
    assert_eq!(mix.cheapest(&[hosts, leaf, pod], 0.99), None);
    assert_eq!(Mix::new().fastest(&[hosts, leaf, pod], 100.0).unwrap().slowdown, 1.0);
}

#[test]
fn no_division_of_the_budget_is_quicker() {
    let mut random = stream(45, 0);
    for _ in 0..100 {
        let mut mix = Mix::new();
        for _ in 0..4 {
            let phases: Vec<[f64; 3]> = (0..3)
                .map(|_| {
                    let leaf = unit(&mut random);
                    [1.0, leaf, leaf * unit(&mut random)]
                })
                .collect();
            mix.add(0.25 * unit(&mut random), phases.into_iter());
        }
        let prices: [f64; 3] = std::array::from_fn(|_| 0.1 + unit(&mut random));
        let budget = prices[0] + 0.05 + unit(&mut random) * 0.5 * (prices[1] + prices[2]);
        let found = mix.fastest(&prices, budget).unwrap();
        let paid = prices[0] + prices[1] * found.bandwidth[0] + prices[2] * found.bandwidth[1];
        assert!(paid <= budget * (1.0 + 1e-12), "{paid} is above the budget {budget}");
        near(mix.slowdown(found.bandwidth), found.slowdown, 1e-12);
        let mut closest = f64::INFINITY;
        for step in 1..2_000 {
            let leaves = (budget - prices[0]) * f64::from(step) / 2_000.0;
            let other = mix.slowdown([leaves / prices[1], (budget - prices[0] - leaves) / prices[2]]);
            assert!(other >= found.slowdown * (1.0 - 1e-9), "{other} is quicker than {}", found.slowdown);
            closest = closest.min(other / found.slowdown);
        }
        assert!(closest < 1.01, "no division comes near: {closest}");
        assert!(mix.at_least(&prices, budget) <= found.slowdown);
    }
}

#[test]
fn no_design_beats_the_limit_at_its_price() {
    let mut mix = vec![
        application("lulesh", recorded("lulesh-512.mtx.gz")),
        application("ft", recorded("ft-128.ti.gz")),
    ];
    for one in &mut mix {
        one.copies = None;
        one.share = Share::Given(0.5);
    }
    let mut request = request(1_024, 36, &[2, 3], mix);
    request.orders = vec![Order::Block, Order::Random];
    request.draws = 2;
    let answer = answer(&request);
    assert!(answer.front.len() > 6);
    let mut least = f64::INFINITY;
    for planned in answer.front.iter().chain(&answer.full) {
        let gap = planned.gap_percent();
        assert!(gap >= 0.0, "{}: {gap} %", planned.design.spec());
        assert!(planned.limit.optimum.price <= planned.price * (1.0 + 1e-12));
        least = least.min(gap);
    }
    assert!(least < 10.0, "the limit is nowhere near: {least} %");
    let slowdowns: Vec<f64> = answer.limits.iter().map(|limit| limit.optimum.slowdown).collect();
    assert_eq!(slowdowns.len(), 25);
    assert!(slowdowns.is_sorted_by(|a, b| a >= b), "more money is not slower: {slowdowns:?}");
}
