//! What section 2.5.2 asks of a hash, of all of them: fair coins, that know nothing of each other; and errors as the formulas say.

use std::sync::Arc;

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{HostId, LinkId};
use netloom_sampling::{Direct, HashFunction, HopBits, Received, Tag, WholeTag};
use netloom_testkit::cases::ft2_32;

use crate::network::Network;
use crate::statistics::moments;

fn all() -> [HashFunction; 4] {
    ["gf", "0x8d,0xb5e4dc75", "md5", "siphash"].map(|name| name.parse().unwrap())
}

fn bit(function: HashFunction, id: u32, number: u32) -> bool {
    function.bit(id, function.port(number))
}

/// Deviations from half of so many.
fn deviations(ones: u32, of: u32) -> f64 {
    (f64::from(ones) - f64::from(of) / 2.0) / (f64::from(of) / 4.0).sqrt()
}

/// Theorem 2.1 and 2.2 with random ids: for 300 pairs of links each is one for half of 4,096 packets, and they agree for half.
/// The largest of 600 normal numbers is below 5; their mean square is 1 to a tenth.
#[test]
fn links_are_fair_coins_and_so_is_their_agreement() {
    for function in all() {
        let mut random = stream(1, 0);
        let mut squares = 0.0;
        for _ in 0..300 {
            let (one, other) =
                (1 + below(&mut random, 9_999) as u32, 10_000 + below(&mut random, 9_999) as u32);
            let (mut ones, mut alike) = (0, 0);
            for _ in 0..4_096 {
                let id = below(&mut random, 1 << 32) as u32;
                ones += u32::from(bit(function, id, one));
                alike += u32::from(bit(function, id, one) == bit(function, id, other));
            }
            for off in [deviations(ones, 4_096), deviations(alike, 4_096)] {
                assert!(off.abs() < 5.0, "{function}: {off}");
                squares += off * off / 600.0;
            }
        }
        assert!((0.8..1.2).contains(&squares), "{function}: {squares}");
    }
}

/// The section's second demand: agreement for one packet says nothing of agreement for another one.
#[test]
fn packets_are_independent() {
    for function in all() {
        let mut random = stream(2, 0);
        for lag in [1, 2, 64] {
            let coins: Vec<bool> = (0..20_000)
                .map(|_| {
                    let id = below(&mut random, 1 << 32) as u32;
                    bit(function, id, 77) == bit(function, id, 1 + below(&mut random, 76) as u32)
                })
                .collect();
            let same = coins.iter().zip(&coins[lag..]).filter(|(a, b)| a == b).count();
            let off = deviations(same as u32, (coins.len() - lag) as u32);
            assert!(off.abs() < 4.5, "{function}, {lag} packets apart: {off}");
        }
    }
}

/// A packet with a bit of some hash, along a given way.
fn along(
    network: &Network,
    function: HashFunction,
    (source, destination): (HostId, HostId),
    way: &[LinkId],
    id: u32,
    random: &mut Stream,
) -> Received {
    let mut whole = WholeTag::sent(way[0].0, false);
    for link in &way[1..] {
        whole.forward(link.0, link.0 % 3 == 0, below(random, 1 << 16) as u16, HopBits::default());
    }
    let number = network.candidates.number(LinkId(whole.link)).unwrap();
    let tag = Tag { bit: bit(function, id, number), congested: whole.congested, hops: whole.hops };
    Received { id, source, destination, tag }
}

/// Variances of all links together over their formula, and the worst link's; estimates are held to what packets did.
///
/// 300 experiments of 600 packets from a host to another, four links away over one of four spines each.
fn variance(function: HashFunction, ids: impl Fn(&mut Stream, u32, u32) -> u32) -> (f64, f64) {
    const EXPERIMENTS: u64 = 300;
    let network = Network::new(ft2_32()).unwrap();
    let hosts = (HostId(0), HostId(31));
    let links = network.fabric.link_count();
    let mut random = stream(3, 0);
    let ways: Vec<Vec<LinkId>> = (0..600).map(|_| network.send(hosts, |_| false, &mut random).way).collect();
    let mut truth = vec![0.0; links];
    ways.iter().flatten().for_each(|link| truth[link.index()] += 1.0);
    let mut told = vec![Vec::new(); links];
    for experiment in 0..EXPERIMENTS {
        let mut random = stream(4, experiment);
        let first = below(&mut random, 1 << 32) as u32;
        let mut direct = Direct::new(Arc::clone(&network.candidates), function);
        for (number, way) in (0..).zip(&ways) {
            let id = ids(&mut random, first, number);
            assert!(direct.add(&along(&network, function, hosts, way, id, &mut random)));
        }
        told.iter_mut().zip(direct.estimates()).for_each(|(told, of)| told.push(of.traffic));
    }
    let (mut found, mut expected, mut worst) = (0.0, 0.0, 0.0f64);
    for link in (0..links).filter(|&link| truth[link] > 0.0) {
        let (mean, of) = moments(&told[link]);
        // Q l^2 - N.
        let formula = 600.0 * 16.0 - truth[link];
        let error = (of / EXPERIMENTS as f64).sqrt();
        assert!((mean - truth[link]).abs() < 4.5 * error, "{function}: {mean} of {}", truth[link]);
        (found, expected, worst) = (found + of, expected + formula, worst.max(of / formula));
    }
    (found / expected, worst)
}

/// A variance from 300 experiments is known to 8 %, that of ten links together to 3 %.
#[test]
fn variances_of_any_hash_are_those_of_the_source() {
    for function in all() {
        let (ratio, worst) = variance(function, |random, _, _| below(random, 1 << 32) as u32);
        assert!((0.9..1.1).contains(&ratio) && worst < 1.35, "{function}: {ratio}, {worst}");
    }
}

/// 1,024 ids in a row have ten bits that change; numbers of 14 bits, so 15 differences of numbers are never seen by the linear hash: such links
/// are taken for each other, all the way. The others tell them apart by half of the packets.
#[test]
fn ids_in_a_row_hide_some_links_from_the_linear_hash_alone() {
    for function in all() {
        let hidden = |number: &u32| {
            matches!(function, HashFunction::Field { .. }) && function.port(*number) & 1_023 == 0
        };
        let unseen: Vec<u32> = (1..1 << 14).filter(hidden).collect();
        let linear = matches!(function, HashFunction::Field { .. });
        assert_eq!(unseen.len(), if linear { 15 } else { 0 }, "{function}");
        let apart = unseen.first().copied().unwrap_or(5);
        for first in [0, 1_024, 0xABCD_E000_u32] {
            let ids = first..first + 1_024;
            let alike =
                ids.filter(|&id| bit(function, id, 0x1234) == bit(function, id, 0x1234 ^ apart)).count();
            if linear {
                assert!(alike == 0 || alike == 1_024, "{function}: {alike}");
            } else {
                assert!(deviations(alike as u32, 1_024).abs() < 4.5, "{function}: {alike}");
            }
        }
    }
}

/// On small fabrics that does no harm: ids that count up give errors no larger than the formulas'.
#[test]
fn ids_in_a_row_do_no_harm_on_a_small_fabric() {
    for function in all() {
        let (ratio, worst) = variance(function, |_, first, number| first.wrapping_add(number));
        assert!(ratio < 1.1 && worst < 1.35, "{function}: {ratio}, {worst}");
    }
}
