//! Estimates are right on average, and as uncertain as their formulas say.

use std::sync::Arc;

use netloom_model::rng::stream;
use netloom_model::{HostId, LinkId};
use netloom_sampling::{Decoder, Reservoirs, false_positive_threshold};
use netloom_testkit::cases::{ft2_32, generated};

use crate::network::Network;

/// Mean and variance.
pub fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, squares / (values.len() - 1) as f64)
}

/// 400 experiments of 600 packets from one host to another four links away, over one of four spines each.
///
/// `N` packets of `l = 4` links: a whole link has variance `N (l - 1)`; one bit `Q l^2 - N`, with `Q` = all 600. A variance from 400
/// experiments is known to 7 %, and links share packets: all links together are held to 10 %.
#[test]
fn variances_are_those_of_the_source() {
    let network = Network::new(ft2_32()).unwrap();
    let (source, destination) = (HostId(0), HostId(31));
    let links = network.fabric.link_count();
    let mut told: [Vec<Vec<f64>>; 2] = [vec![Vec::new(); links], vec![Vec::new(); links]];
    let mut truth = vec![0.0; links];
    let mut random = stream(11, 0);
    let ways: Vec<Vec<LinkId>> =
        (0..600).map(|_| network.send((source, destination), |_| false, &mut random).way).collect();
    ways.iter().flatten().for_each(|link| truth[link.index()] += 1.0);
    for experiment in 0..400 {
        let mut random = stream(12, experiment);
        let mut decoder = Decoder::new(Arc::clone(&network.candidates), Arc::clone(&network.hash));
        let mut whole = Reservoirs::new(links);
        for way in &ways {
            let trip = along(&network, (source, destination), way, &mut random);
            decoder.add(&trip.0);
            assert!(whole.add(trip.1));
        }
        for (told, estimates) in told.iter_mut().zip([whole.estimates(), decoder.estimates()]) {
            told.iter_mut().zip(&estimates).for_each(|(told, of)| told.push(of.traffic));
        }
    }
    let between: Vec<usize> = (32..links).filter(|&l| truth[l] > 0.0 && l != ways[0][3].index()).collect();
    assert_eq!(between.len(), 8);
    for (told, variance) in told.iter().zip([|n: f64| n * 3.0, |n: f64| 600.0 * 16.0 - n]) {
        let (mut found, mut expected) = (0.0, 0.0);
        for &link in &between {
            let (mean, of) = moments(&told[link]);
            let error = (variance(truth[link]) / 400.0).sqrt();
            assert!((mean - truth[link]).abs() < 4.0 * error, "{mean} of {}", truth[link]);
            (found, expected) = (found + of, expected + variance(truth[link]));
        }
        assert!((found / expected - 1.0).abs() < 0.1, "{found} of {expected}");
    }
}

/// The packet's tags along a given way.
fn along(
    network: &Network,
    hosts: (HostId, HostId),
    way: &[LinkId],
    random: &mut netloom_model::rng::Stream,
) -> (netloom_sampling::Received, netloom_sampling::WholeTag) {
    use netloom_model::rng::below;
    use netloom_sampling::{HopBits, Received, Tag, WholeTag};
    let id = below(random, 1 << 32) as u32;
    let mask = |link| network.hash.mask(network.candidates.number(link).unwrap());
    let mut tag = Tag::sent(id, mask(way[0]), false);
    let mut whole = WholeTag::sent(way[0].0, false);
    for &link in &way[1..] {
        let draw = below(random, 1 << 16) as u16;
        tag.forward(id, mask(link), false, draw, HopBits::default());
        whole.forward(link.0, false, draw, HopBits::default());
    }
    (Received { id, source: hosts.0, destination: hosts.1, tag }, whole)
}

/// Ways of two, four and six links: a three-level tree, all hosts to all. The told errors are the true ones.
#[test]
fn told_errors_are_true_with_ways_of_several_lengths() {
    let network =
        Network::new(generated("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=2")).unwrap();
    let links = network.fabric.link_count();
    let mut random = stream(3, 0);
    let mut decoder = Decoder::new(Arc::clone(&network.candidates), Arc::clone(&network.hash));
    let mut whole = Reservoirs::new(links);
    let (mut traffic, mut congested) = (vec![0.0; links], vec![0.0; links]);
    let hot = |link: LinkId| link.0.is_multiple_of(3);
    for _ in 0..60_000 {
        let hosts = network.hosts(&mut random).unwrap();
        let trip = network.send(hosts, hot, &mut random);
        for link in trip.way {
            traffic[link.index()] += 1.0;
            congested[link.index()] += f64::from(u8::from(hot(link)));
        }
        decoder.add(&trip.one_bit);
        assert!(whole.add(trip.whole));
    }
    for estimates in [decoder.estimates(), whole.estimates()] {
        let (mut off, mut squares) = (0usize, 0.0);
        for (link, of) in estimates.iter().enumerate() {
            if of.traffic_error > 0.0 {
                let apart = (of.traffic - traffic[link]) / of.traffic_error;
                squares += apart * apart;
                off += 1;
            } else {
                assert_eq!(of.traffic, traffic[link]);
            }
            assert!((of.congested - congested[link]).abs() < 5.0 * of.congested_error.max(1.0));
        }
        // The mean square of so many standard normal numbers, that share packets.
        let mean = squares / off as f64;
        assert!((0.75..1.3).contains(&mean), "{mean} over {off}");
    }
}

/// All traffic goes over one spine: the others' links pass the threshold in about one case of a hundred.
#[test]
fn false_links_pass_the_threshold_in_one_case_of_a_hundred() {
    let network = Network::new(ft2_32()).unwrap();
    let hosts = (HostId(0), HostId(31));
    let (mut passed, mut tried) = (0, 0);
    for experiment in 0..500 {
        let mut random = stream(21, experiment);
        let way = network.send(hosts, |_| false, &mut random).way;
        let mut decoder = Decoder::new(Arc::clone(&network.candidates), Arc::clone(&network.hash));
        (0..400).for_each(|_| decoder.add(&along(&network, hosts, &way, &mut random).0));
        for (link, of) in decoder.estimates().iter().enumerate() {
            if of.tested > 0 && !way.iter().any(|l| l.index() == link) {
                let threshold = false_positive_threshold(4, of.tested, 2.33);
                passed += usize::from(of.above(threshold).traffic > 0.0);
                tried += 1;
            }
        }
    }
    // 500 times 6 links: 30 expected.
    assert_eq!(tried, 3_000);
    assert!((12..=52).contains(&passed), "{passed}");
}
