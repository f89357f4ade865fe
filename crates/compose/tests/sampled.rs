//! Runs whose packets are sampled: what receivers make of them against what packets really did.

use std::sync::Arc;

use netloom_compose::sampled::{Decoded, Kept, Sampled, Sampling, decode};
use netloom_compose::{Marking, Method, Sampler};
use netloom_model::{Control, Fabric, HostId, LinkId};
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, HopBits, Modulus, field};
use netloom_sim::{
    Exchange, Job, Measure, Model, Outcome, PerPacket, Profile, Scheme, Setup, simulate_observed,
};
use netloom_topology::{detect, generate};

fn one_bit(fabric: &Fabric) -> Method {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let candidates = Arc::new(Candidates::new(fabric, &structure, &paths).unwrap());
    Method::one_bit(candidates, Modulus::SMALLEST, field::FEWER_RUNS).unwrap()
}

fn hashed(fabric: &Fabric, function: &str) -> Method {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let candidates = Arc::new(Candidates::new(fabric, &structure, &paths).unwrap());
    Method::hashed(candidates, function.parse().unwrap()).unwrap()
}

/// Packets of this fabric to estimates.
fn decoded(
    fabric: &Fabric,
    method: &Method,
    bits: HopBits,
    share: (f64, Option<u64>),
    kept: &[Kept],
) -> Decoded {
    let paths = PathSet::admissible(fabric, &detect(fabric));
    decode(fabric, &paths, method, bits, share, kept)
}

fn asked(method: Method) -> Sampling {
    Sampling {
        method,
        rate: 1.0,
        every_ps: None,
        by_tag: false,
        marking: Marking::Queue,
        hop_bits: HopBits::default(),
        seed: 3,
        packets: true,
        truth: false,
    }
}

/// Everybody sends to three others, under adaptive routing, where waiting packets move to other outputs.
fn run(fabric: &Fabric, sampling: Sampling) -> (Outcome, Sampled) {
    let hosts = fabric.host_count() as u32;
    let all = (0..3 * hosts).map(|k| (k % hosts, (k * 7 + 1 + k / hosts) % hosts, 60_000));
    let script = Exchange::new(hosts, all.filter(|(from, to, _)| from != to), 1);
    let paths = PathSet::admissible(fabric, &detect(fabric));
    let setup = Setup {
        fabric,
        scheme: Scheme::PerPacket(PerPacket::Adaptive, &paths),
        model: Model::Packet,
        profile: Profile::infiniband(),
        jobs: vec![Job::new("all", fabric.hosts().collect(), script)],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let (outcome, sampler) =
        simulate_observed(setup, Sampler::new(fabric, sampling), &Control::new()).unwrap();
    let end_ps = outcome.end_ps;
    (outcome, sampler.finish(end_ps))
}

/// What the simulator says that links have carried is what the truth of delivered packets says, link by link, moves included.
#[test]
fn the_truth_is_what_ports_counted() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=2").unwrap();
    let (outcome, sampled) = run(&fabric, Sampling { truth: true, ..asked(Method::Whole) });
    for link in fabric.links() {
        let told = sampled.truth.iter().find(|row| row.link == link).map_or(0, |row| row.traffic);
        assert_eq!(told, outcome.counters.sent[link.index()].packets, "{}", fabric.describe_link(link));
    }
    assert!(sampled.truth.iter().any(|row| row.congested > 0));
    assert!(sampled.truth.iter().all(|row| row.congested <= row.traffic));
    let received: u64 = sampled.received.iter().map(|pair| pair.packets).sum();
    assert_eq!((received, sampled.astray), (outcome.packets, 0));
}

/// The two methods take the same draws: the bit is the hash of the link that the other carries.
#[test]
fn a_bit_is_the_hash_of_the_link_that_a_whole_packet_carries() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=2").unwrap();
    let method = one_bit(&fabric);
    let Method::OneBit { masks, .. } = &method else { panic!("one bit") };
    let masks = Arc::clone(masks);
    let (_, bits) = run(&fabric, asked(method));
    let (_, whole) = run(&fabric, asked(Method::Whole));
    assert_eq!(bits.packets.len(), whole.packets.len());
    for (bit, link) in bits.packets.iter().zip(&whole.packets) {
        assert_eq!(bit.carries, (link.id & masks[link.carries as usize]).count_ones() & 1);
        assert_eq!((bit.id, bit.hops, bit.congested), (link.id, link.hops, link.congested));
    }
}

/// Whatever the hash, packets take the same draws and carry its bit; what hosts sent is counted, not estimated.
#[test]
fn another_hash_is_of_the_same_links() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=2").unwrap();
    let (_, whole) = run(&fabric, asked(Method::Whole));
    let (_, linear) = run(&fabric, Sampling { truth: true, ..asked(one_bit(&fabric)) });
    for function in ["md5", "siphash", "siphash:00112233445566778899aabbccddeeff"] {
        let method = hashed(&fabric, function);
        let Method::Hashed { candidates, function } = method.clone() else { panic!("not linear") };
        let (_, sampled) = run(&fabric, Sampling { truth: true, ..asked(method) });
        for (bit, link) in sampled.packets.iter().zip(&whole.packets) {
            let number = candidates.number(LinkId(link.carries)).unwrap();
            assert_eq!(bit.carries, u32::from(function.bit(link.id, number)));
        }
        assert_eq!((sampled.truth.as_slice(), sampled.astray), (linear.truth.as_slice(), 0));
        for (one, other) in sampled.samples.iter().zip(&linear.samples) {
            assert_eq!((one.link, one.tested), (other.link, other.tested));
            assert_eq!(one.traffic_error == 0.0, other.traffic_error == 0.0);
        }
        assert!(sampled.samples != linear.samples);
    }
}

/// Packets as they were kept give the run's own samples; windows add up; and what can't be is counted.
#[test]
fn kept_packets_decode_to_the_runs_samples() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=2").unwrap();
    for method in [Method::Whole, one_bit(&fabric), hashed(&fabric, "md5"), hashed(&fabric, "siphash")] {
        let every_ps = Some(20_000_000);
        let (_, sampled) = run(&fabric, Sampling { every_ps, rate: 0.5, ..asked(method.clone()) });
        let mut kept: Vec<Kept> = sampled
            .packets
            .iter()
            .map(|row| Kept {
                time_ps: row.time_ps,
                context: row.context,
                id: row.id,
                source: row.source.0,
                destination: row.destination.0,
                hops: row.hops,
                carries: row.carries,
                congested: row.congested,
            })
            .collect();
        let bits = HopBits::default();
        let found = decoded(&fabric, &method, bits, (0.5, every_ps), &kept);
        assert_eq!(found.sampled.samples, sampled.samples);
        assert!(sampled.windows.len() > 1);
        let strange = [
            Kept { source: 99, ..kept[0] },
            Kept { hops: 1, ..kept[0] },
            Kept { carries: 1 << 20, ..kept[0] },
        ];
        kept.extend(strange);
        let found = decoded(&fabric, &method, bits, (0.5, every_ps), &kept);
        assert_eq!(found.sampled.samples, sampled.samples);
        let first = sampled.packets.len();
        let told = [found.no_way, found.hops, found.impossible];
        assert_eq!(told.map(|odd| (odd.packets, odd.first)), [(1, first), (1, first + 1), (1, first + 2)]);
    }
}

/// A packet of the same leaf has two links: a wrong bit is noticed where both hash to the other one.
#[test]
fn impossible_bits_are_left_out() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=2").unwrap();
    let method = one_bit(&fabric);
    let packet = Kept {
        time_ps: 0,
        context: 0,
        id: 0,
        source: HostId(0).0,
        destination: HostId(1).0,
        hops: 2,
        carries: 1,
        congested: false,
    };
    // Every hash of id 0 is 0.
    let found =
        decoded(&fabric, &method, HopBits::default(), (1.0, None), &[packet, Kept { carries: 0, ..packet }]);
    assert_eq!((found.impossible.packets, found.sampled.received[0].packets), (1, 1));
}

/// Three leaves of two hosts and a spine: host 0 reaches host 2 by its own link, one up, one down, and host 2's.
#[test]
fn links_and_hops_that_hosts_cannot_have_are_counted() {
    let fabric = generate("two-level:leaves=3,hosts=2,spines=1").unwrap();
    let leaf = |host| fabric.link_to_switch(fabric.host_link(HostId(host))).unwrap();
    let spine = fabric.links().filter(|&link| fabric.link_from_switch(link) == Some(leaf(0)));
    let spine = spine.filter_map(|link| fabric.link_to_switch(link)).next().unwrap();
    let between = |from, to| {
        let ends = |&link: &LinkId| {
            fabric.link_from_switch(link) == Some(from) && fabric.link_to_switch(link) == Some(to)
        };
        fabric.links().find(ends).unwrap().0
    };
    let up = between(leaf(0), spine);
    let packet = |destination: u32, hops: u8, link: u32| Kept {
        time_ps: 5,
        context: 0,
        id: 1,
        source: 0,
        destination,
        hops,
        carries: link,
        congested: false,
    };
    let own = fabric.host_link(HostId(0)).0;
    let down_to = |host| fabric.reverse(fabric.host_link(HostId(host))).0;
    let bits = HopBits::default();
    let one = |kept: Kept| decoded(&fabric, &Method::Whole, bits, (1.0, None), &[kept]);
    for right in [packet(2, 4, up), packet(2, 4, own), packet(2, 4, down_to(2)), packet(1, 2, own)] {
        let found = one(right);
        assert_eq!((found.sampled.received.len(), found.off_way.packets, found.long.packets), (1, 0, 0));
        assert_eq!(found.sampled.windows, [(0, 0, 5)]);
    }
    // Another host's links, another leaf's, those of other ways.
    let other = [fabric.host_link(HostId(1)).0, down_to(3), between(leaf(2), spine), between(spine, leaf(0))];
    for link in other {
        let found = one(packet(2, 4, link));
        assert_eq!((found.sampled.received.len(), found.off_way.packets), (0, 1), "{link}");
    }
    assert_eq!(one(packet(1, 2, up)).off_way.packets, 1);
    assert_eq!(one(packet(2, 3, up)).short.packets, 1);
    // A detour over the third leaf is possible, over another host's link is not; a bit does not know of detours.
    let found = one(packet(2, 6, between(leaf(2), spine)));
    assert_eq!((found.sampled.received.len(), found.long.packets), (1, 1));
    assert_eq!(one(packet(2, 6, down_to(3))).off_way.packets, 1);
    let found = decoded(&fabric, &one_bit(&fabric), bits, (1.0, None), &[packet(2, 6, 1)]);
    assert_eq!((found.sampled.received.len(), found.long.packets), (0, 1));
    // Four links do not fit a bit of the hop count.
    let found = decoded(&fabric, &Method::Whole, HopBits::new(1).unwrap(), (1.0, None), &[packet(2, 2, up)]);
    assert_eq!((found.sampled.received.len(), found.full.packets), (1, 1));
}

/// With ids of 16 bits the source's first g takes links for others; with another g, with 32 bits, or with another hash none is taken.
#[test]
fn a_hash_says_which_links_look_alike_for_ids_of_few_bits() {
    let fabric = generate("quartz1").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).unwrap());
    let alike = |hash: &str, ids| {
        let method = Method::hashed(Arc::clone(&candidates), hash.parse().unwrap());
        method.unwrap().alike(ids)
    };
    let links = fabric.link_count();
    let (of, all) = alike("0x8d,0xb5e4dc75", 0xFFFF);
    assert!(of > links / 2 && all == links, "{of} of {all}");
    for (hash, ids) in [("gf", 0xFFFF), ("0x8d,0xb5e4dc75", u32::MAX)] {
        assert_eq!(alike(hash, ids), (0, links));
    }
    assert_eq!(alike("md5", 0xFF), (0, 0));
}
