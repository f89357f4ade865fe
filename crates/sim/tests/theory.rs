//! Closed formulas. Links of the cases run at 12.5 GB/s: 80 ps a byte, a packet of 4096 bytes takes 327,680 ps.

use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Admission, Config, Injection};
use netloom_testkit::cases::{ft2_32, ft3_32, star};
use netloom_topology::detect;

use crate::common::run;

const PACKET_PS: u64 = 4096 * 80;

fn tables(fabric: &netloom_model::Fabric) -> netloom_model::Routes {
    route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

/// Stored and forwarded over `h` switches, a lone packet takes `h + 1` times its time on the wire and `h` switch delays.
#[test]
fn a_lone_packet_takes_its_time_on_every_wire_and_in_every_switch() {
    let config = Config::codes();
    for (fabric, to, switches) in [(star(2), 1, 1), (ft2_32(), 31, 3), (ft3_32(), 31, 5)] {
        let routes = tables(&fabric);
        let network = run(&fabric, &config, routes.lft().unwrap(), &[(0, to, 4096)]).unwrap();
        let expected = (switches + 1) * PACKET_PS + switches * config.switch_delay_ps;
        assert_eq!(network.program().end_ps(), expected);
        assert_eq!(network.packet_hops(), switches + 1);
    }
}

/// Cut through, the wire's time is paid once: `h` switch delays, `h + 1` cables, one packet with its headers.
#[test]
fn cutting_through_pays_for_the_wire_once() {
    let config = Config::infiniband();
    for (fabric, to, switches) in [(star(2), 1, 1), (ft2_32(), 31, 3), (ft3_32(), 31, 5)] {
        let routes = tables(&fabric);
        let network = run(&fabric, &config, routes.lft().unwrap(), &[(0, to, 4096)]).unwrap();
        let wire = u64::from(config.wire_bytes()) * 80;
        let expected = wire + switches * config.switch_delay_ps + (switches + 1) * config.cable_delay_ps;
        assert_eq!(network.program().end_ps(), expected);
    }
}

/// `n` packets of a message follow each other without a gap: `n - 1` more times on the wire.
#[test]
fn packets_of_a_message_follow_each_other_without_a_gap() {
    for config in [Config::codes(), Config::infiniband()] {
        let fabric = ft3_32();
        let routes = tables(&fabric);
        let end = |bytes| {
            run(&fabric, &config, routes.lft().unwrap(), &[(0, 31, bytes)]).unwrap().program().end_ps()
        };
        let wire = u64::from(config.wire_bytes()) * 80;
        assert_eq!(end(100 * 4096) - end(4096), 99 * wire);
    }
}

/// Incast of `k` hosts, `n` packets each: the receiver's link is busy from the first packet to the last.
#[test]
fn incast_takes_as_long_as_the_receivers_link_needs() {
    for admission in [Admission::InOrder, Admission::RoundRobin] {
        let config = Config { admission, ..Config::codes() };
        let fabric = star(5);
        let routes = tables(&fabric);
        let messages: Vec<_> = (1..5).map(|from| (from, 0, 64 * 4096)).collect();
        let network = run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap();
        // One packet's time to reach the switch, 4 x 64 on the receiver's link, the switch's delay.
        assert_eq!(network.program().end_ps(), (1 + 4 * 64) * PACKET_PS + config.switch_delay_ps);
    }
}

/// In round robin all senders of an incast end together, within a round.
#[test]
fn round_robin_is_fair_to_the_senders_of_an_incast() {
    let config = Config { admission: Admission::RoundRobin, ..Config::infiniband() };
    let fabric = star(5);
    let routes = tables(&fabric);
    let messages: Vec<_> = (1..5).map(|from| (from, 0, 64 * 4096)).collect();
    let network = run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap();
    let done: Vec<u64> = network.program().done_ps.iter().map(|t| t.unwrap()).collect();
    let spread = done.iter().max().unwrap() - done.iter().min().unwrap();
    assert!(spread <= 3 * u64::from(config.wire_bytes()) * 80, "{done:?}");
}

/// A victim shares its input buffer with packets for a congested output: it waits behind them only where the
/// buffer is one queue.
#[test]
fn head_of_line_blocking_delays_the_victim() {
    let fabric = star(5);
    let routes = tables(&fabric);
    // Host 0 sends to the congested host 3, then one packet to the idle host 4; hosts 1 and 2 congest host 3.
    let messages = [(1, 3, 200 * 4096), (2, 3, 200 * 4096), (0, 3, 8 * 4096), (0, 4, 4096)];
    let victim = |head_of_line| {
        let config = Config { head_of_line, injection: Injection::InOrder, ..Config::infiniband() };
        run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap().program().done_ps[3].unwrap()
    };
    let wire = u64::from(Config::infiniband().wire_bytes()) * 80;
    // Without it the victim leaves as soon as it has come: eight packets before it on host 0's link.
    assert_eq!(victim(false), 9 * wire + 100_000 + 2 * 25_000);
    // With it the eight wait for every third turn of the congested output.
    assert!(victim(true) > 20 * wire, "{}", victim(true));
}
