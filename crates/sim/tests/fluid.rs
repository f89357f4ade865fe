//! Flows against times worked out by hand, and against packets. Links run at 12.5 GB/s: 80 ps a byte.

use netloom_model::{Fabric, HostId, LinkId, Routes};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_sim::{Config, Fluid, Injection, PerPacket, Profile, Scheme, SimError};
use netloom_testkit::cases::{ft2_32, ft3_32, star};
use netloom_testkit::{any_fabric, matrix};
use netloom_topology::detect;

use crate::common::{AtOnce, run, three_each};

const MIB: u64 = 1 << 20;

fn tables(fabric: &Fabric) -> Routes {
    route(Engine::Updn, fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

fn flow<'f>(
    fabric: &'f Fabric,
    config: &Config,
    scheme: Scheme<'f>,
    messages: &[(u32, u32, u64)],
) -> Fluid<'f, AtOnce> {
    let mut fluid = Fluid::new(fabric, config, scheme, AtOnce::new(messages)).unwrap();
    fluid.run().unwrap();
    fluid
}

fn done(fluid: &Fluid<AtOnce>) -> Vec<f64> {
    fluid.program().done_ps.iter().map(|t| t.expect("every message arrives") as f64).collect()
}

/// Within a relative difference.
fn near(a: f64, b: f64, within: f64) -> bool {
    (a / b - 1.0).abs() <= within
}

/// In an empty network flows and packets take equally long, long messages and short ones.
#[test]
fn a_lone_message_takes_as_long_as_with_packets() {
    for config in [Profile::codes().config, Profile::infiniband().config] {
        for (fabric, to) in [(star(2), 1), (ft2_32(), 31), (ft3_32(), 31)] {
            let routes = tables(&fabric);
            let lft = routes.lft().unwrap();
            for bytes in [1, 4096, 4097, 2 * MIB, 2 * MIB + 1] {
                let packets = run(&fabric, &config, lft, &[(0, to, bytes)]).unwrap().program().end_ps();
                let flows = done(&flow(&fabric, &config, Scheme::Tables(&routes), &[(0, to, bytes)]))[0];
                // The last packet of a long message may be shorter than what the flow's tail is reckoned with.
                assert!((flows - packets as f64).abs() <= 4.0 * 4122.0 * 80.0, "{bytes}: {flows} {packets}");
                assert!(bytes % 4096 > 0 || near(flows, packets as f64, 1e-6), "{bytes}: {flows} {packets}");
            }
        }
    }
}

/// Hosts 1 and 2 send 1 and 3 MiB to host 0: both at half speed until the first is through, after 2 MiB of the link's time;
/// the second has sent 1 MiB then and needs 2 more.
#[test]
fn two_flows_share_a_link_until_the_first_ends() {
    let (fabric, config) = (star(3), Config::codes());
    let routes = tables(&fabric);
    let scheme = Scheme::Tables(&routes);
    let ends = done(&flow(&fabric, &config, scheme, &[(1, 0, MIB), (2, 0, 3 * MIB)]));
    let tail = (4096 * 80 + config.switch_delay_ps) as f64;
    for (end, mib) in ends.iter().zip([2, 4]) {
        assert!((end - tail - (mib * MIB * 80) as f64).abs() < 10.0, "{ends:?}");
    }
}

/// In order, a host's messages follow each other; else its receivers share its link, and messages to one follow each other, unless they take turns.
#[test]
fn a_host_serves_its_messages_in_order_or_evenly() {
    let fabric = star(3);
    let routes = tables(&fabric);
    let ends = |injection, messages: &[(u32, u32, u64)]| {
        let config = Config { injection, ..Config::codes() };
        let fluid = flow(&fabric, &config, Scheme::Tables(&routes), messages);
        let tail = (4096 * 80 + config.switch_delay_ps) as f64;
        done(&fluid)
            .iter()
            .map(|end| ((end - tail) / (MIB * 80) as f64 * 1e3).round() / 1e3)
            .collect::<Vec<_>>()
    };
    for (messages, by_receiver) in
        [([(0, 1, MIB), (0, 2, 2 * MIB)], [2.0, 3.0]), ([(0, 1, MIB), (0, 1, 2 * MIB)], [1.0, 3.0])]
    {
        assert_eq!(ends(Injection::InOrder, &messages), [1.0, 3.0]);
        assert_eq!(ends(Injection::RoundRobin, &messages), by_receiver);
        assert_eq!(ends(Injection::RoundRobinMessages, &messages), [2.0, 3.0]);
    }
}

/// Short messages of a host follow each other, and each other's on the receiver's link.
#[test]
fn short_messages_queue() {
    let (fabric, config) = (star(3), Config::codes());
    let routes = tables(&fabric);
    let lft = routes.lft().unwrap();
    let messages: Vec<_> = (0..100).flat_map(|_| [(1, 0, 2000), (2, 0, 2000)]).collect();
    let flows = done(&flow(&fabric, &config, Scheme::Tables(&routes), &messages));
    let packets = run(&fabric, &config, lft, &messages).unwrap();
    assert_eq!(flows.into_iter().fold(0.0, f64::max), packets.program().end_ps() as f64);
}

/// Hosts 1 and 2 send 24 KiB each to host 0, at half speed; host 3 sends it 8 bytes after 8 KiB to host 4, at 0.66 us, when 8 KiB of the others
/// wait there: less than the 32 KiB that buffers hold, which take 2.6 us.
#[test]
fn short_messages_wait_for_no_more_than_flows_have_sent() {
    let (fabric, config) = (star(5), Config::codes());
    let routes = tables(&fabric);
    let messages = [(1, 0, 24 << 10), (2, 0, 24 << 10), (3, 4, 8 << 10), (3, 0, 8)];
    let packets = run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap();
    let packets = packets.program().done_ps[3].unwrap() as f64;
    let flows = done(&flow(&fabric, &config, Scheme::Tables(&routes), &messages))[3];
    assert!(near(flows, packets, 0.25), "{flows} {packets}");
}

/// Everything goes over the links that the tables say, once.
#[test]
fn links_carry_what_the_tables_say() {
    for seed in 0..8 {
        let fabric = any_fabric(seed);
        let hosts = fabric.host_count() as u32;
        let messages = three_each(&fabric);
        let routes = tables(&fabric);
        let config = Config::infiniband();
        let fluid = flow(&fabric, &config, Scheme::Tables(&routes), &messages);
        let wire = |b: u64| b + b.div_ceil(4096) * u64::from(config.header_bytes);
        let entries: Vec<_> =
            messages.iter().map(|&(i, j, b)| (i.into(), j.into(), wire(b) as f64)).collect();
        let expected = loads(&fabric, &routes, &matrix(hosts as usize, &entries)).unwrap();
        let counters = fluid.counters();
        for link in fabric.links() {
            let load = expected.load[link.index()] * fabric.relative_capacity(link);
            assert_eq!(
                counters.bytes(link) as f64,
                load.round(),
                "seed {seed}, {}",
                fabric.describe_link(link)
            );
        }
    }
}

/// Spread over all minimal paths, what enters a fabric leaves it, and equal links carry equal parts.
#[test]
fn spread_traffic_is_conserved() {
    for seed in 0..8 {
        let fabric = any_fabric(seed);
        let paths = PathSet::admissible(&fabric, &detect(&fabric));
        let hosts = fabric.host_count() as u32;
        let messages: Vec<_> =
            (0..hosts).map(|h| (h, (h + 1) % hosts, 100_000)).filter(|(from, to, _)| from != to).collect();
        let fluid =
            flow(&fabric, &Config::codes(), Scheme::PerPacket(PerPacket::Adaptive, &paths), &messages);
        let counters = fluid.counters();
        let mut balance = vec![0i64; fabric.switch_count()];
        let mut tolerance = vec![1i64; fabric.switch_count()];
        for link in fabric.links() {
            let bytes = counters.bytes(link) as i64;
            if let Some(to) = fabric.link_to_switch(link) {
                (balance[to.index()], tolerance[to.index()]) =
                    (balance[to.index()] + bytes, tolerance[to.index()] + 1);
            }
            if let Some(from) = fabric.link_from_switch(link) {
                balance[from.index()] -= bytes;
            }
        }
        // A link's bytes are rounded.
        for (b, t) in balance.iter().zip(&tolerance) {
            assert!(b.abs() <= 2 * t, "seed {seed}: {balance:?}");
        }
        for &(from, to, bytes) in &messages {
            assert_eq!(counters.bytes(fabric.host_link(HostId(from))), bytes);
            assert_eq!(counters.bytes(fabric.reverse(LinkId(to))), bytes);
        }
    }
}

/// Permutations with conflicts on a tree, against packets: the last message within 8 %, messages on average within 15 %.
#[test]
fn conflicting_flows_take_about_as_long_as_with_packets() {
    let fabric = ft3_32();
    let routes = tables(&fabric);
    let lft = routes.lft().unwrap();
    for config in [Config::codes(), Config::infiniband()] {
        for step in [3, 5, 11, 19] {
            let messages: Vec<_> =
                (0..32).map(|h| (h, (h * step + 7) % 32, MIB)).filter(|m| m.0 != m.1).collect();
            let packets = run(&fabric, &config, lft, &messages).unwrap();
            let flows = done(&flow(&fabric, &config, Scheme::Tables(&routes), &messages));
            let end = flows.iter().copied().fold(0.0, f64::max);
            assert!(near(end, packets.program().end_ps() as f64, 0.08), "{step}: {end}");
            let sum: u64 = packets.program().done_ps.iter().flatten().sum();
            assert!(
                near(flows.iter().sum(), sum as f64, 0.15),
                "{step}: {} {sum}",
                flows.iter().sum::<f64>()
            );
        }
    }
}

#[test]
fn a_hole_in_the_tables_is_named() {
    let fabric = star(2);
    let lft = netloom_model::Lft::empty(1, fabric.dests(0).count(), fabric.max_radix());
    let routes = netloom_model::Routes::by_dest(&fabric, 0, lft);
    let scheme = Scheme::Tables(&routes);
    let mut fluid = Fluid::new(&fabric, &Config::codes(), scheme, AtOnce::new(&[(0, 1, MIB)])).unwrap();
    let error = fluid.run().unwrap_err();
    assert!(
        matches!(&error, SimError::NoRoute { host, .. } if host == fabric.host_name(HostId(1))),
        "{error}"
    );
}
