//! The transform and the direct method say the same.

use std::sync::Arc;

use netloom_model::rng::stream;
use netloom_model::{HostId, LinkId};
use netloom_sampling::{Decoder, Direct, Estimate, HashFunction, Received, Tag};
use netloom_testkit::{any_fabric, broken_fabric};

use crate::network::Network;

/// Packets of random hosts, a third of the links congested.
fn packets(network: &Network, seed: u64, count: usize) -> Vec<Received> {
    let mut random = stream(seed, 2);
    let mut all = Vec::new();
    while all.len() < count {
        let Some(hosts) = network.hosts(&mut random) else { break };
        all.push(network.send(hosts, |link| link.0 % 3 == 0, &mut random).one_bit);
    }
    all
}

fn decoder(network: &Network) -> Decoder {
    Decoder::new(Arc::clone(&network.candidates), Arc::clone(&network.hash))
}

fn sums(of: &Estimate) -> (f64, f64, u64) {
    (of.traffic, of.congested, of.tested)
}

#[test]
fn all_links_between_switches_have_the_same_sums_either_way() {
    for seed in 0..60 {
        let fabric = if seed % 2 == 0 { any_fabric(seed) } else { broken_fabric(seed) };
        let network = Network::new(fabric).unwrap();
        let mut quick = decoder(&network);
        let mut direct = Direct::new(Arc::clone(&network.candidates), HashFunction::STANDARD);
        for packet in packets(&network, seed, 3_000) {
            quick.add(&packet);
            assert!(direct.add(&packet));
        }
        assert_eq!(direct.estimates_and_counts(), quick.estimates(), "seed {seed}");
        let (quick, direct) = (quick.estimates(), direct.estimates());
        for link in network.fabric.links() {
            let (a, b) = (&quick[link.index()], &direct[link.index()]);
            if network.fabric.link_from_switch(link).is_some()
                && network.fabric.link_to_switch(link).is_some()
            {
                assert_eq!(sums(a), sums(b), "seed {seed}, {link:?}");
                assert_eq!((a.traffic_error, a.congested_error), (b.traffic_error, b.congested_error));
            } else {
                // What hosts sent and received needs no estimate; what of it met congestion does.
                assert_eq!((a.congested, a.tested), (b.congested, b.tested), "seed {seed}, {link:?}");
                assert_eq!((a.traffic, a.traffic_error), (b.tested as f64, 0.0));
            }
        }
    }
}

#[test]
fn what_several_received_adds_up_in_any_order() {
    let network = Network::new(netloom_testkit::cases::ft3_32()).unwrap();
    let packets = packets(&network, 5, 5_000);
    let mut whole = decoder(&network);
    packets.iter().for_each(|packet| whole.add(packet));
    let mut parts = [decoder(&network), decoder(&network), decoder(&network)];
    packets.iter().enumerate().for_each(|(i, packet)| parts[i % 3].add(packet));
    let [a, b, mut c] = parts;
    c.merge(&a);
    c.merge(&b);
    assert_eq!((c.received(), c.impossible()), (5_000, 0));
    assert_eq!(c.estimates(), whole.estimates());
    // Read once, it goes on.
    packets.iter().for_each(|packet| c.add(packet));
    let twice = c.estimates();
    let doubled = |(now, then): (&Estimate, &Estimate)| now.traffic == 2.0 * then.traffic;
    assert!(twice.iter().zip(&whole.estimates()).all(doubled));
    c.reset();
    assert!(c.estimates().iter().all(|of| *of == Estimate::default()));
}

/// A tree whose links have numbers of more than 16 bits.
const WIDE: &str = "fattree:pods=2,leaves=2,hosts=4500,spines=2,groups=2,cores=2";

/// More than a host's word holds, some of it merged.
#[test]
fn sums_outgrow_their_words() {
    for fabric in ["fattree:pods=2,leaves=2,hosts=2,spines=2,groups=2,cores=2", WIDE] {
        let network = Network::new(netloom_topology::generate(fabric).unwrap()).unwrap();
        assert_eq!(network.candidates.bits() > 16, fabric == WIDE);
        let mut direct = Direct::new(Arc::clone(&network.candidates), HashFunction::STANDARD);
        let [mut whole, mut one, mut other] = [decoder(&network), decoder(&network), decoder(&network)];
        let hosts = (HostId(0), HostId(network.fabric.host_count() as u32 - 1));
        let mut random = stream(3, 2);
        for i in 0..150_000 {
            let packet = network.send(hosts, |link| link.0 % 3 == 0, &mut random).one_bit;
            direct.add(&packet);
            whole.add(&packet);
            if i % 3 == 0 { one.add(&packet) } else { other.add(&packet) }
        }
        other.merge(&one);
        assert_eq!((other.received(), other.of_host(hosts.1)), (150_000, [0, 150_000]));
        let (whole, merged, direct) = (whole.estimates(), other.estimates(), direct.estimates());
        assert_eq!(whole, merged);
        for link in network.fabric.links() {
            assert_eq!(sums(&whole[link.index()]).1, sums(&direct[link.index()]).1, "{fabric}, {link:?}");
        }
    }
}

/// Two hosts that no cable joins.
fn apart() -> netloom_model::Fabric {
    netloom_testkit::cases::wired(&[("a", 1), ("b", 1)], &[])
}

#[test]
fn packets_that_cannot_be_are_counted_and_left_out() {
    let network = Network::new(apart()).unwrap();
    let mut quick = decoder(&network);
    let tag = Tag { bit: true, congested: true, hops: 2 };
    for (source, destination) in [(0, 99), (1, 1), (0, 1)] {
        quick.add(&Received { id: 7, source: HostId(source), destination: HostId(destination), tag });
    }
    assert_eq!((quick.received(), quick.impossible()), (3, 3));
    assert!(quick.estimates().iter().all(|of| of.tested == 0));
}

/// Two leaves, two spines: a packet between leaves has its hosts' links and four between switches, two each way.
#[test]
fn a_small_tree_has_its_links_in_groups_of_two() {
    let network = Network::new(netloom_testkit::cases::two_spines()).unwrap();
    let host = |leaf: usize| {
        let leaf = network.paths.leaves()[leaf];
        network.fabric.hosts_on(leaf)[0]
    };
    let mut candidates: Vec<LinkId> = Vec::new();
    network.candidates.visit(host(0), host(1), |link| candidates.push(link));
    assert_eq!(candidates.len(), 6);
    let number = |at: usize| network.candidates.number(candidates[at]).unwrap();
    assert_eq!((number(1) ^ number(2), number(3) ^ number(4)), (1, 1));
}
