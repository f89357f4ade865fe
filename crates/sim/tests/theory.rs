//! Closed formulas for single packets, incast, credits and blocking. Links of the cases run at 12.5 GB/s: 80 ps a byte, a packet of 4096 bytes takes 327,680 ps.

use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Admission, Config, Forwarding, Injection};
use netloom_testkit::cases::{ft2_32, ft3_32, star};
use netloom_topology::detect;

use crate::common::run;

const PACKET_PS: u64 = 4096 * 80;

fn tables(fabric: &netloom_model::Fabric) -> netloom_model::Routes {
    route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

/// A lone packet over 2, 4 and 6 links (1, 3 and 5 switches), by hand.
///
/// `codes`: 4096 bytes at 80 ps on every link, 90 ns in every switch: 2 x 327.68 + 90 ns = 745.36 ns and so on.
/// `infiniband`: 4122 bytes with headers once (329.76 ns), 100 ns in every switch, 25 ns on every cable.
#[test]
fn a_lone_packet_takes_the_time_worked_out_by_hand() {
    let fabrics = [(star(2), 1), (ft2_32(), 31), (ft3_32(), 31)];
    let by_hand = [
        (Config::codes(), [745_360, 1_580_720, 2_416_080]),
        (Config::infiniband(), [479_760, 729_760, 979_760]),
    ];
    for (config, times_ps) in by_hand {
        for ((fabric, to), (links, time_ps)) in fabrics.iter().zip([2, 4, 6].into_iter().zip(times_ps)) {
            let routes = tables(fabric);
            let network = run(fabric, &config, routes.lft().unwrap(), &[(0, *to, 4096)]).unwrap();
            assert_eq!((network.packet_hops(), network.program().end_ps()), (links, time_ps));
        }
    }
}

/// Storing pays for the wire at every switch, cutting through once: over `h` switches `h` packets' times more.
#[test]
fn storing_takes_a_packets_time_more_a_switch_than_cutting_through() {
    for (fabric, to, switches) in [(star(2), 1, 1), (ft2_32(), 31, 3), (ft3_32(), 31, 5)] {
        let routes = tables(&fabric);
        let time_ps = |forwarding| {
            let config = Config { forwarding, ..Config::infiniband() };
            run(&fabric, &config, routes.lft().unwrap(), &[(0, to, 4096)]).unwrap().program().end_ps()
        };
        let wire = u64::from(Config::infiniband().wire_bytes()) * 80;
        assert_eq!(time_ps(Forwarding::StoreAndForward) - time_ps(Forwarding::CutThrough), switches * wire);
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

/// A lane with room for `k` packets at the far end sends `k` packets a round trip: their last byte's way there, the
/// credit's way back. `n = k m` packets leave in `m` bursts.
///
/// The round trip of the slower of the two links, that of the switch: wire + switch + 2 cables + 8 bytes.
#[test]
fn credits_limit_throughput_to_the_buffer_by_the_round_trip() {
    let fabric = star(2);
    let routes = tables(&fabric);
    for k in [1, 2, 4] {
        // 5 us of cable: 1 km. A packet takes 0.33 us, so four of them don't fill it.
        let base = Config { cable_delay_ps: 5_000_000, ..Config::infiniband() };
        let wire = u64::from(base.wire_bytes()) * 80;
        let config = Config { input_buffer_bytes: Some(k * base.wire_bytes()), ..base.clone() };
        let bursts = 50;
        let bytes = u64::from(k) * bursts * 4096;
        let end_ps =
            run(&fabric, &config, routes.lft().unwrap(), &[(0, 1, bytes)]).unwrap().program().end_ps();
        let round_trip = wire + base.switch_delay_ps + 2 * base.cable_delay_ps + 8 * 80;
        let alone = wire + base.switch_delay_ps + 2 * base.cable_delay_ps;
        let expected = (bursts - 1) * round_trip + (u64::from(k) - 1) * wire + alone;
        let off = end_ps as f64 / expected as f64 - 1.0;
        assert!(off.abs() < 0.01, "{k} packets: {end_ps} ps, expected {expected}");
    }
}
