//! Schemes that choose packet by packet: where the packets go.

use netloom_model::{Control, Fabric, HostId, SwitchId};
use netloom_routing::PathSet;
use netloom_sim::choice::{Adaptive, AdaptiveRemote, RandomPerPacket};
use netloom_sim::{
    Choice, Config, Job, Measure, Model, Network, Nobody, Pairs, PerPacket, Profile, Scheme, Setup, simulate,
};
use netloom_testkit::cases::{generated, wired};
use netloom_topology::detect;

use crate::common::AtOnce;

fn play<'f, C: Choice>(
    fabric: &'f Fabric,
    config: &Config,
    choice: C,
    messages: &[(u32, u32, u64)],
) -> Network<'f, C, AtOnce, Nobody> {
    let mut network = Network::new(fabric, config, choice, AtOnce::new(messages), Nobody).unwrap();
    network.run().unwrap();
    network
}

/// Packets from one switch to another, by cable.
fn packets<C: Choice>(
    network: &Network<C, AtOnce, Nobody>,
    fabric: &Fabric,
    from: u32,
    to: impl Fn(SwitchId) -> bool,
) -> Vec<u64> {
    let counters = network.counters();
    let links =
        fabric.switch_links(SwitchId(from)).filter(|&link| fabric.link_to_switch(link).is_some_and(&to));
    links.map(|link| counters.sent[link.index()].packets).collect()
}

/// Four hosts on a leaf with four uplinks send 100 packets each: adaptive routing keeps all uplinks busy.
#[test]
fn adaptive_routing_shares_the_load_between_all_minimal_outputs() {
    let fabric = generated("two-level:leaves=2,hosts=4,spines=4");
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    let messages: Vec<_> = (0..4).map(|h| (h, h + 4, 100 * 4096)).collect();
    for config in [Config::codes(), Config::infiniband()] {
        let network = play(&fabric, &config, Adaptive::new(&fabric, &paths, 1), &messages);
        let leaf = fabric.leaf(HostId(0));
        let sent = packets(&network, &fabric, leaf.0, |_| true);
        assert_eq!(sent.iter().sum::<u64>(), 400);
        assert!(sent.iter().all(|&n| (80..=120).contains(&n)), "{sent:?}");
        // Not twice the time of 100 packets one after another, though heads of inputs wait for outputs.
        let floor = 100 * u64::from(config.wire_bytes()) * 80;
        assert!(network.program().end_ps() < floor * 13 / 10, "{} of {floor}", network.program().end_ps());
    }
}

/// 4,000 packets over four outputs: chi-square with three degrees of freedom is above 16.27 once in 1,000 times.
#[test]
fn random_per_packet_takes_every_minimal_output_as_often() {
    let fabric = generated("two-level:leaves=2,hosts=4,spines=4");
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    for seed in 0..5 {
        let choice = RandomPerPacket::new(&fabric, &paths, seed);
        let network = play(&fabric, &Config::infiniband(), choice, &[(0, 4, 4_000 * 4096)]);
        let sent = packets(&network, &fabric, fabric.leaf(HostId(0)).0, |_| true);
        assert_eq!((sent.len(), sent.iter().sum::<u64>()), (4, 4_000));
        let chi_square: f64 = sent.iter().map(|&n| (n as f64 - 1_000.0).powi(2) / 1_000.0).sum();
        assert!(chi_square < 16.27 && chi_square > 0.0, "{sent:?}");
    }
}

/// Two leaves of four hosts send to a third one, over spines with one cable and with three to it. Uplinks are all alike, and
/// large output buffers give credits back at once: local information sends half over the one cable, what it has no way
/// of knowing; with news of the spines' queues it carries its quarter.
#[test]
fn remote_information_avoids_a_hot_spot_that_local_information_cannot_see() {
    let switches = [("near", 4), ("too", 4), ("far", 8), ("thin", 0), ("thick", 0)];
    let cables = [(0, 3, 2), (0, 4, 2), (1, 3, 2), (1, 4, 2), (3, 2, 1), (4, 2, 3)];
    let fabric = wired(&switches, &cables);
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    let messages: Vec<_> = (0..8).map(|h| (h, h + 8, 40 * 4096)).collect();
    let config = Config { output_buffer_bytes: 1 << 20, ..Config::infiniband() };
    let local = play(&fabric, &config, Adaptive::new(&fabric, &paths, 1), &messages);
    let remote = play(&fabric, &config, AdaptiveRemote::new(&fabric, &paths, 1), &messages);
    let called = |name| fabric.switches().find(|&s| fabric.switch_name(s) == name).unwrap();
    let (thin, far) = (called("thin").0, called("far"));
    let thin_by_local = packets(&local, &fabric, thin, |to| to == far)[0];
    let thin_by_remote = packets(&remote, &fabric, thin, |to| to == far)[0];
    // Of 320 packets: a half, and a quarter.
    assert!((140..=180).contains(&thin_by_local), "{thin_by_local}");
    assert!((70..=100).contains(&thin_by_remote), "{thin_by_remote}");
    assert!(remote.program().end_ps() * 3 < local.program().end_ps() * 2);
    let again = play(&fabric, &config, AdaptiveRemote::new(&fabric, &paths, 1), &messages);
    assert_eq!(again.program().done_ps, remote.program().done_ps);
}

/// Every scheme brings every message, and shows the same whether somebody watches or not, on one thread or two.
#[test]
fn every_scheme_of_the_list_runs_alike_watched_and_unwatched() {
    let fabric = generated("two-level:leaves=4,hosts=4,spines=4");
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    for scheme in PerPacket::ALL {
        let run = |trace_ps, threads| {
            let partner = (0..16).map(|rank| rank ^ 4).collect();
            let pairs = Pairs { partner, rounds: 3, messages: 2, bytes: 40_000 };
            let setup = Setup {
                fabric: &fabric,
                scheme: Scheme::PerPacket(scheme, &paths),
                model: Model::Packet,
                profile: Profile::infiniband(),
                jobs: vec![Job::new("all", fabric.hosts().collect(), pairs)],
                seed: 7,
                threads,
                measure: Measure { trace_ps, ..Measure::default() },
                keep: None,
                skip_repeats: None,
                until_ps: None,
            };
            let outcome = simulate(setup, &Control::new()).unwrap();
            assert_eq!((outcome.jobs[0].messages, outcome.stuck.len()), (96, 0), "{}", scheme.name());
            (outcome.end_ps, outcome.packet_hops, outcome.packet_latency, outcome.counters)
        };
        let bare = run(None, 1);
        assert_eq!(run(None, 2), bare, "{}", scheme.name());
        assert_eq!(run(Some((0, u64::MAX)), 1), bare, "{}", scheme.name());
    }
}
