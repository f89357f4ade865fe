//! The search: every design obeys the ports, the front is in order, and the answer is the same for any threads.

use netloom_model::{Control, StopReason};
use netloom_planning::{Design, Order, PlanError, Share, plan};

use crate::fixtures::{answer, application, recorded, request};

fn mix(hosts: u32, radix: u32) -> netloom_planning::Request {
    let applications = vec![
        application("lulesh", recorded("lulesh-64.mtx.gz")),
        application("ft", recorded("ft-128.ti.gz")),
    ];
    let mut request = request(hosts, radix, &[2, 3], applications);
    request.applications.iter_mut().for_each(|a| (a.copies, a.share) = (None, Share::Given(0.5)));
    request.orders = Order::ALL.to_vec();
    request.draws = 2;
    request
}

#[test]
fn designs_of_the_front_hold_the_hosts_and_are_neither_dearer_nor_slower_than_the_next() {
    for (hosts, radix) in [(200, 16), (500, 24), (768, 64)] {
        let answer = answer(&mix(hosts, radix));
        assert!(answer.front.len() > 2, "{hosts}");
        for planned in &answer.front {
            let counts = &planned.counts;
            assert!(
                counts.host_ports >= u64::from(hosts) && counts.ports.iter().all(|&p| p <= u64::from(radix))
            );
            assert_eq!(Design::parse(&planned.design.spec()).unwrap(), planned.design);
            assert!(planned.slowdown.estimate >= 1.0 && planned.slowdown.mean >= 1.0);
        }
        for pair in answer.front.windows(2) {
            assert!(pair[0].price < pair[1].price);
            assert!(pair[0].slowdown.estimate > pair[1].slowdown.estimate);
        }
        // Nothing quicker than the cheapest full tree is on the front, and nothing as quick is dearer.
        let full = answer.full.unwrap();
        assert!((full.slowdown.estimate - 1.0).abs() < 1e-12, "{:?}", full.slowdown);
        let last = answer.front.last().unwrap();
        assert!(last.price <= full.price && last.slowdown.estimate <= 1.0 + 1e-9);
    }
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads() {
    let request = mix(500, 24);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| answer(&request))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn what_does_not_fit_is_said() {
    let control = Control::new();
    let error = plan(&mix(49 * 48 * 48, 48), &control).unwrap_err();
    assert!(error.to_string().starts_with("expected at most 106032 hosts (27648 without taper)"), "{error}");
    assert_eq!(error.key().unwrap(), "machine.hosts");

    let mut few = mix(100, 16);
    let error = plan(&few, &control).unwrap_err();
    assert!(
        matches!(error, PlanError::TooManyRanks { application: 1, ranks: 128, hosts: 100, .. }),
        "{error}"
    );
    few.applications[1].ranks_per_host = 2;
    assert!(plan(&few, &control).is_ok());

    few.goal.budget = Some(1.0);
    let error = plan(&few, &control).unwrap_err();
    let cheapest = answer(&mix(128, 16)).front[0].price;
    assert!(cheapest > 1.0 && matches!(error, PlanError::Budget { budget: 1.0, .. }), "{error}");

    few.goal.budget = None;
    for (spec, expected) in
        [("two-level:leaves=2,hosts=4,spines=1", "ports for 8 hosts"), ("quartz1", "at most 16")]
    {
        few.compare = vec![Design::parse(spec).unwrap()];
        let error = plan(&few, &control).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let stopped = Control::new();
    stopped.stop(StopReason::TimeLimit);
    assert_eq!(plan(&mix(500, 24), &stopped), Err(PlanError::Stopped));
}

#[test]
fn money_or_slowdown_or_the_price_of_nodes_choose() {
    let mut request = mix(500, 24);
    let front = answer(&request).front;
    let slowdown = |i: usize| front[i].slowdown.estimate;
    request.goal.budget = Some(front[2].price + 0.5 * (front[3].price - front[2].price));
    assert_eq!(answer(&request).chosen, Some(2));
    request.goal.budget = None;
    request.goal.slowdown = Some(0.5 * (slowdown(1) + slowdown(2)));
    assert_eq!(answer(&request).chosen, Some(2));
    request.goal.slowdown = Some(0.9);
    assert_eq!(answer(&request).chosen, None);
    request.goal.slowdown = None;
    // Nodes that cost nothing leave the network's price times its slowdown; very dear ones only the slowdown.
    request.node_price = Some(1e12);
    assert_eq!(answer(&request).chosen, Some(front.len() - 1));
}
