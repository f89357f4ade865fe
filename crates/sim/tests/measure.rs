//! What is measured, against numbers worked out by hand and against totals.
//!
//! Links of the star run at 12.5 GB/s: a packet of 4096 bytes takes `W` ps.

use netloom_model::{Fabric, HostId, LinkId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Config, Forwarding, LinkCounters};
use netloom_testkit::cases::star;
use netloom_topology::detect;

use crate::common::run;

const W: u64 = 4096 * 80;

fn counters(fabric: &Fabric, config: &Config, messages: &[(u32, u32, u64)]) -> LinkCounters {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    run(fabric, config, routes.lft().unwrap(), messages).unwrap().counters()
}

fn to_host(fabric: &Fabric, host: u32) -> LinkId {
    fabric.reverse(fabric.host_link(HostId(host)))
}

/// Hosts 1 and 2 send two packets each to host 0, through buffers of one packet; cables and credits take `C` ps, the switch none.
///
/// | packet | leaves its host | is admitted | leaves the switch |
/// |---|---|---|---|
/// | 1a | 0 | W + C | W + C |
/// | 2a | 0 | 2W + C | 2W + 3C: its credit comes when 1a is with host 0 |
/// | 1b | W + 2C: credit of 1a | 3W + 3C | 3W + 5C |
/// | 2b | 2W + 2C: credit of 2a | 4W + 5C | 4W + 7C |
#[test]
fn two_senders_wait_for_the_credits_that_they_lack() {
    const C: u64 = 1_000;
    let config = Config {
        header_bytes: 0,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(4096),
        output_buffer_bytes: 4096,
        host_output_buffer_bytes: 4096,
        switch_delay_ps: 0,
        cable_delay_ps: C,
        credit_bytes: 0,
        ..Config::infiniband()
    };
    let fabric = star(3);
    let counters = counters(&fabric, &config, &[(1, 0, 2 * 4096), (2, 0, 2 * 4096)]);
    let wait = |link: LinkId| counters.sent[link.index()].wait_ps;
    assert_eq!(wait(fabric.host_link(HostId(1))), 2 * C);
    assert_eq!(wait(fabric.host_link(HostId(2))), W + 2 * C);
    assert_eq!(wait(to_host(&fabric, 0)), 3 * 2 * C);
    assert_eq!(wait(to_host(&fabric, 1)), 0);
    // With one lane, the link's waiting is its lane's.
    assert!(fabric.links().all(|link| counters.wait_ps[link.index()] == wait(link)));
}

/// Where room is kept until the next buffer admits, a host waits for word of that (8 bytes, 640 ps); the switch for as long as its delay.
#[test]
fn a_sender_waits_for_word_of_admission() {
    let config = Config { host_output_buffer_bytes: 4096, ..Config::codes() };
    let fabric = star(2);
    let counters = counters(&fabric, &config, &[(0, 1, 2 * 4096)]);
    let wait = |link: LinkId| counters.sent[link.index()].wait_ps;
    assert_eq!(wait(fabric.host_link(HostId(0))), 640);
    // The second packet comes at 2W + 640, when the link has been free for 640; it goes at 2W + delay + 640.
    assert_eq!(wait(to_host(&fabric, 1)), config.switch_delay_ps);
}

#[test]
fn nobody_waits_without_contention() {
    for config in [Config::infiniband(), Config { host_output_buffer_bytes: 65_536, ..Config::codes() }] {
        let fabric = star(2);
        let counters = counters(&fabric, &config, &[(0, 1, 1 << 20)]);
        assert!(counters.wait_ps.iter().all(|&ps| ps == 0), "{:?}", counters.wait_ps);
    }
}
