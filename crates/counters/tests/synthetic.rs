//! Counters that traffic would leave, measured again; and bad counters, found by name.

use netloom_counters::{
    LaneScheme, Measured, SynthOptions, Unit, check, lane_scheme, lane_tables, measure, synth,
};
use netloom_model::{Column, Csr, Fabric, HostId, Interval, LinkId, Quality, Quantity, Routes, Traffic};
use netloom_routing::{Engine, EngineOptions, loads, route};
use netloom_testkit::cases;
use netloom_topology::{detect, generate};
use proptest::prelude::*;

fn ftree(fabric: &Fabric) -> Routes {
    route(Engine::Ftree, fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

/// Everybody to everybody, of unequal sizes.
fn traffic(hosts: usize) -> Csr {
    let (mut from, mut to, mut bytes) = (vec![], vec![], vec![]);
    for i in 0..hosts as u64 {
        for j in (0..hosts as u64).filter(|&j| j != i) {
            from.push(i);
            to.push(j);
            bytes.push(1e6 * (1 + (i * 7 + j * 13) % 29) as f64);
        }
    }
    Traffic::from_triples(hosts as u32, &from, &to, &bytes, None).unwrap().total().into_owned()
}

fn synthesised(fabric: &Fabric, scheme: Option<&str>, options: &SynthOptions) -> Interval {
    let lanes = scheme.map(|spec| lane_scheme(fabric, spec).unwrap());
    synth(fabric, &ftree(fabric), &traffic(fabric.host_count()), lanes.as_ref(), options).unwrap()
}

const REAL: SynthOptions = SynthOptions {
    noise: 0.005,
    skew: 0.02,
    missing: 0.02,
    seed: 3,
    mtu_bytes: 4096.0,
    scale: 1.0,
    span_ns: 1_000_000_000,
};

fn column(interval: &mut Interval, quantity: Quantity, lane: Option<u8>) -> &mut Column {
    interval.columns.iter_mut().find(|c| c.quantity == quantity && c.lane == lane).unwrap()
}

fn kinds(fabric: &Fabric, interval: &Interval) -> Vec<(&'static str, String)> {
    check(fabric, interval).into_iter().map(|f| (f.kind, f.text)).collect()
}

#[test]
fn whole_links_carry_the_loads() {
    let fabric = cases::ft3_32();
    let (routes, traffic) = (ftree(&fabric), traffic(32));
    let found = synth(&fabric, &routes, &traffic, None, &SynthOptions::default()).unwrap();
    let loads = loads(&fabric, &routes, &traffic).unwrap();
    for quantity in [Quantity::XmitBytes, Quantity::RcvBytes] {
        let column = found.column(quantity, None).unwrap();
        for link in fabric.links() {
            let wanted = loads.load[link.index()] * fabric.relative_capacity(link);
            assert_eq!(column.values[link.index()] as f64, wanted.round());
        }
    }
    // 4096 bytes a packet.
    let packets = found.column(Quantity::XmitPackets, None).unwrap();
    assert_eq!(packets.values[0], (loads.load[0] / 4096.0).round() as u64);
}

#[test]
fn lanes_follow_the_tables_hop_by_hop() {
    let fabric = cases::ft3_32();
    let routes = ftree(&fabric);
    let map = lane_tables(&fabric, "5sl5vl:seed=1").unwrap();
    let scheme = LaneScheme::Tables(map.clone());
    let (from, to) = (HostId(0), HostId(31));
    let one = Traffic::from_triples(32, &[0], &[31], &[4096e3], None).unwrap();
    let found = synth(&fabric, &routes, &one.total(), Some(&scheme), &SynthOptions::default()).unwrap();
    let way = netloom_routing::walk(&fabric, &routes, from, to).unwrap();
    let level = map.level(from, to).unwrap();
    let mut lane = map.first_lane(from.0, level);
    for (hop, link) in way.iter().enumerate() {
        if hop > 0 {
            lane = map.lane(way[hop - 1].0, link.0, level);
        }
        for other in 0..map.lanes() {
            let bytes = found.column(Quantity::XmitBytes, Some(other)).unwrap().values[link.index()];
            assert_eq!(bytes, if other == lane { 4_096_000 } else { 0 });
        }
    }
    assert_eq!(way.len(), 6);
}

#[test]
fn exact_counters_measure_exactly_and_nothing_is_wrong() {
    let fabric = cases::ft3_32();
    let exact = synthesised(&fabric, Some("3sl2vl"), &SynthOptions::default());
    assert_eq!(kinds(&fabric, &exact), []);
    let measured = measure(&fabric, &exact, Unit::Bytes);
    assert_eq!((measured.lanes, measured.noise.relative), (2, 0.0));
    for link in fabric.links() {
        let lanes: f64 = (0..2).map(|lane| measured.lane(link, lane).unwrap()).sum();
        assert_eq!(Some(lanes), measured.whole.get(link.index()));
    }
    assert_eq!(measured.rows(&fabric).len(), 2 * fabric.link_count());
    assert!(measured.rows(&fabric).iter().all(|row| row.lane.is_some() && row.deviation == 0.0));
}

#[test]
fn amounts_come_in_the_lanes_of_a_scheme() {
    let fabric = cases::two_spines();
    let exact = synthesised(&fabric, Some("3sl2vl"), &SynthOptions::default());
    let measured = measure(&fabric, &exact, Unit::Bytes);
    let [one, two, three] = [1, 2, 3].map(|lanes| measured.in_lanes(lanes));
    for link in 0..fabric.link_count() {
        assert_eq!(one.value[link], two.value[2 * link] + two.value[2 * link + 1]);
        assert_eq!(three.value[3 * link..3 * link + 2], two.value[2 * link..2 * link + 2]);
        assert_eq!(three.get(3 * link + 2), Some(0.0));
    }
    let whole = measure(&fabric, &synthesised(&fabric, None, &SynthOptions::default()), Unit::Bytes);
    assert!(whole.in_lanes(2).quality.iter().all(|&q| q == Quality::MISSING));
}

#[test]
fn every_unit_is_what_it_says() {
    let fabric = cases::two_spines();
    let traffic = Traffic::from_triples(4, &[0], &[1], &[10_000.0], Some(&[5.0])).unwrap();
    let found = synth(&fabric, &ftree(&fabric), &traffic.total(), None, &SynthOptions::default()).unwrap();
    let mtu_bytes = 2048.0;
    let first = |interval: &Interval, unit| measure(&fabric, interval, unit).whole.get(0).unwrap();
    assert_eq!(first(&found, Unit::Bytes), 10_000.0);
    assert_eq!(first(&found, Unit::Packets { mtu_bytes }), 5.0);
    assert_eq!(first(&found, Unit::Mixed { mtu_bytes }), 0.5 * (2048.0 * 5.0 + 10_000.0));
    // Packets that nobody counted follow from bytes.
    let mut bytes_only = found.clone();
    bytes_only.columns.retain(|c| matches!(c.quantity, Quantity::XmitBytes | Quantity::RcvBytes));
    let measured = measure(&fabric, &bytes_only, Unit::Mixed { mtu_bytes });
    assert_eq!((measured.whole.get(0), measured.whole.quality[0]), (Some(10_000.0), Quality::SCALED));
}

fn relative_errors(exact: &Measured, found: &Measured) -> Vec<f64> {
    let error = |at: usize| Some((found.whole.get(at)? - exact.whole.value[at]) / exact.whole.value[at]);
    (0..exact.whole.value.len()).filter(|&at| exact.whole.value[at] > 0.0).filter_map(error).collect()
}

#[test]
fn noisy_counters_are_as_noisy_as_their_ends_tell() {
    let fabric = generate("fattree:pods=4,leaves=4,hosts=4,spines=2,groups=2,cores=2").unwrap();
    let exact = measure(&fabric, &synthesised(&fabric, None, &SynthOptions::default()), Unit::Bytes);
    for options in [REAL, SynthOptions { skew: 0.0, ..REAL }] {
        let real = synthesised(&fabric, None, &options);
        assert_eq!(kinds(&fabric, &real), []);
        let measured = measure(&fabric, &real, Unit::Bytes);
        let errors = relative_errors(&exact, &measured);
        // 2 % of the values are missing, and so 0.04 % of the links.
        assert!(errors.len() + 2 >= fabric.link_count(), "{}", errors.len());
        // Two ends halve the variance. Skew adds that of the difference of two uniform variates, skew^2 / 6.
        let wanted = (options.noise.powi(2) + options.skew.powi(2) / 6.0).sqrt();
        let spread = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
        assert!((0.8..1.25).contains(&(spread * 2f64.sqrt() / wanted)), "{spread} {wanted}");
        let told = measured.noise.relative;
        assert!((0.75..1.33).contains(&(told / wanted)), "{told} {wanted}");
    }
}

#[test]
fn switches_tell_the_noise_where_only_one_end_was_read() {
    let fabric = generate("fattree:pods=4,leaves=4,hosts=4,spines=2,groups=2,cores=2").unwrap();
    let options = SynthOptions { noise: 0.01, seed: 5, ..SynthOptions::default() };
    let mut one_end = synthesised(&fabric, None, &options);
    one_end.columns.retain(|c| !c.quantity.is_at_far_end());
    let measured = measure(&fabric, &one_end, Unit::Bytes);
    assert!((0.4..2.0).contains(&(measured.noise.relative / 0.01)), "{:?}", measured.noise);
    assert!(measured.whole.ends.iter().all(|&ends| ends == 1));
}

#[test]
fn a_bad_counter_is_found_by_name_and_not_used() {
    let fabric = generate("fattree:pods=4,leaves=4,hosts=4,spines=2,groups=2,cores=2").unwrap();
    let options = SynthOptions { missing: 0.0, ..REAL };
    let good = measure(&fabric, &synthesised(&fabric, None, &options), Unit::Bytes);
    // A link between switches: what its sender counts, then what its receiver counts.
    let link = fabric.links().find(|&l| fabric.between_switches(l)).unwrap();
    for (quantity, word) in [(Quantity::XmitBytes, "bytes sent"), (Quantity::RcvBytes, "bytes received")] {
        let mut bad = synthesised(&fabric, None, &options);
        column(&mut bad, quantity, None).values[link.index()] /= 2;
        let found = kinds(&fabric, &bad);
        let [("conflict", text)] = found.as_slice() else { panic!("{found:?}") };
        assert!(text.contains(&format!(": {word} at ")) && text.contains("are wrong"), "{text}");
        let measured = measure(&fabric, &bad, Unit::Bytes);
        assert_eq!(measured.whole.ends[link.index()], 1);
        let error = measured.whole.get(link.index()).unwrap() / good.whole.value[link.index()] - 1.0;
        assert!(error.abs() < 0.04, "{error}");
    }
}

#[test]
fn many_bad_counters_at_once_are_still_told_from_good_ones() {
    let fabric = generate("quartz1").unwrap();
    let options = SynthOptions { missing: 0.0, span_ns: 1_000_000_000_000, ..REAL };
    let mut bad = synthesised(&fabric, None, &options);
    let between: Vec<LinkId> = fabric.links().filter(|&l| fabric.between_switches(l)).collect();
    let mut spoilt = Vec::new();
    for (i, link) in between.iter().step_by(251).enumerate() {
        let quantity = if i % 2 == 0 { Quantity::XmitBytes } else { Quantity::RcvBytes };
        let value = &mut column(&mut bad, quantity, None).values[link.index()];
        *value = if i % 3 == 0 { *value / 2 } else { *value * 7 / 8 };
        spoilt.push((*link, if i % 2 == 0 { "bytes sent" } else { "bytes received" }));
    }
    let found = kinds(&fabric, &bad);
    let verdict = |text: &str| text.split_once(" received: ").map(|(_, verdict)| verdict.to_owned());
    let mut halves = 0;
    for (i, (link, word)) in spoilt.iter().enumerate() {
        let name = fabric.describe_link(*link);
        let mine = found.iter().find(|(kind, text)| *kind == "conflict" && text.starts_with(&name));
        // A half is beyond all noise; an eighth is near to what noise explains.
        assert!(mine.is_some() || i % 3 > 0, "{name}");
        let Some(verdict) = mine.and_then(|(_, text)| verdict(text)) else { continue };
        assert!(verdict.starts_with(word), "{name}: {verdict}");
        halves += usize::from(i % 3 == 0);
    }
    // Nothing else is wrong, no verdict is wrong, and most that can be told is: the sums of 96 ports are noisy themselves.
    assert!(found.iter().all(|(kind, _)| *kind == "conflict") && found.len() <= spoilt.len(), "{found:?}");
    assert!(halves * 10 >= spoilt.len().div_ceil(3) * 9, "{halves} of {}", spoilt.len().div_ceil(3));
}

/// The port's four counters are one hypothesis: its switch balances as well without what it lost both ways, and so would the other end's.
#[test]
fn a_port_that_was_set_back_is_the_wrong_end_of_its_cable() {
    let fabric = cases::ft3_32();
    // As much there as back, so that no switch is off balance by it.
    let alike = (0..32u64).flat_map(|i| (0..32).filter(move |&j| j != i).map(move |j| (i, j)));
    let (from, to): (Vec<u64>, Vec<u64>) = alike.unzip();
    let bytes = vec![4096e3; from.len()];
    let traffic = Traffic::from_triples(32, &from, &to, &bytes, None).unwrap();
    let exact = synth(&fabric, &ftree(&fabric), &traffic.total(), None, &SynthOptions::default()).unwrap();
    let right = measure(&fabric, &exact, Unit::Bytes).whole;
    let mut set_back = 0;
    for out in fabric.links() {
        let back = fabric.reverse(out);
        let mut found = exact.clone();
        for (quantity, link) in [
            (Quantity::XmitBytes, out),
            (Quantity::XmitPackets, out),
            (Quantity::RcvBytes, back),
            (Quantity::RcvPackets, back),
        ] {
            let value = &mut column(&mut found, quantity, None).values[link.index()];
            *value = *value * 2 / 5;
        }
        let measured = measure(&fabric, &found, Unit::Bytes);
        assert_eq!(measured.whole.value, right.value, "{}", fabric.describe_link(out));
        assert_eq!([out, back].map(|link| measured.whole.ends[link.index()]), [1, 1]);
        let cable = fabric.describe_link(out);
        let port = cable.split(" -> ").next().unwrap();
        for (kind, text) in kinds(&fabric, &found) {
            assert_eq!(kind, "conflict");
            assert!(text.contains(&format!("at {port} are wrong")), "{text}");
            set_back += 1;
        }
    }
    // Two of bytes and two of packets, a port.
    assert_eq!(set_back, 4 * fabric.link_count());
}

#[test]
fn ends_that_nobody_can_judge_are_left_out() {
    // The leaf's other counters are missing: nothing tells which end is right.
    let fabric = cases::two_spines();
    let mut bad = synthesised(&fabric, None, &SynthOptions::default());
    let link = fabric.host_link(HostId(0));
    for column in &mut bad.columns {
        column.quality = vec![Quality::GOOD; fabric.link_count()];
        for other in [1, 5] {
            column.quality[other] = Quality::MISSING;
        }
    }
    column(&mut bad, Quantity::XmitBytes, None).values[link.index()] *= 2;
    let measured = measure(&fabric, &bad, Unit::Bytes);
    assert_eq!(measured.whole.get(link.index()), None);
    assert_eq!(measured.whole.quality[link.index()], Quality::CONFLICT);
    assert!(measured.rows(&fabric).iter().all(|row| row.link != link));
}

#[test]
fn what_counters_say_of_themselves_is_told() {
    let fabric = cases::two_spines();
    let mut bad = synthesised(&fabric, Some("2sl2vl"), &SynthOptions::default());
    let links = fabric.link_count();
    let spoil = |bad: &mut Interval, quantity, lane, link: usize, flag| {
        let column = column(bad, quantity, lane);
        column.quality.resize(links, Quality::GOOD);
        column.quality[link] = flag;
    };
    spoil(&mut bad, Quantity::XmitBytes, None, 0, Quality::SATURATED);
    spoil(&mut bad, Quantity::RcvPackets, Some(1), 1, Quality::RESET);
    for quantity in Quantity::ALL.into_iter().take(4) {
        for lane in [None, Some(0), Some(1)] {
            spoil(&mut bad, quantity, lane, 2, Quality::MISSING);
        }
    }
    spoil(&mut bad, Quantity::RcvBytes, Some(0), 3, Quality::UNSUPPORTED);
    let found = kinds(&fabric, &bad);
    let has = |kind: &str, text: &str| {
        assert!(found.iter().any(|(k, t)| *k == kind && t == text), "{kind}: {found:?}")
    };
    has("saturated", "bytes sent at host0000[1]: at its largest value");
    has("reset", "packets received at leaf00[2], lane 1: was set back in between");
    has("missing", "host0002[1] -> leaf01[1]: neither end was read");
    has("unsupported", "leaf01 does not count by lane");
    assert_eq!(found.len(), 4);
    // The far end still tells what a full counter does not.
    assert!(measure(&fabric, &bad, Unit::Bytes).whole.get(0).is_some());
    assert_eq!(measure(&fabric, &bad, Unit::Bytes).whole.quality[2], Quality::MISSING);
}

#[test]
fn units_that_are_mixed_up_are_noticed() {
    let fabric = cases::ft2_32();
    let mut words = synthesised(
        &fabric,
        Some("2sl2vl"),
        &SynthOptions { span_ns: 1_000_000_000_000, ..Default::default() },
    );
    let link = LinkId(0);
    for quantity in [Quantity::XmitBytes, Quantity::RcvBytes] {
        column(&mut words, quantity, None).values[link.index()] *= 4;
    }
    let found = kinds(&fabric, &words);
    let sizes =
        found.iter().filter(|(kind, text)| *kind == "packet-size" && text.contains("16384.0 each")).count();
    let lanes = found.iter().filter(|(kind, _)| *kind == "lanes").count();
    // One end is the host's, whose balance nobody knows; the leaf receives more than it sends.
    let balance =
        found.iter().filter(|(kind, text)| *kind == "balance" && text.starts_with("leaf00: ")).count();
    assert_eq!((sizes, lanes, balance, found.len()), (2, 2, 1, 5), "{found:?}");
    let mut fast = synthesised(&fabric, None, &SynthOptions { span_ns: 1000, ..Default::default() });
    assert!(kinds(&fabric, &fast).iter().all(|(kind, _)| *kind == "too-fast"));
    fast.end_ns = 0; // No times: nothing can be said of speed.
    assert_eq!(kinds(&fabric, &fast), []);
}

/// Two pairs of different hosts, one after the other over all pairs with one destination: with the Galois field none shares more than two
/// thirds of its (link, lane) rows with another (dissertation, sec. 4.4.3); with random lanes some do.
#[test]
fn galois_lanes_keep_any_two_pairs_apart() {
    let fabric = netloom_topology::generate("two-level:leaves=4,hosts=16,spines=4").unwrap();
    let routes = ftree(&fabric);
    let walker = netloom_routing::Walker::new(&fabric, &routes).unwrap();
    let shared = |spec: &str| {
        let scheme = lane_scheme(&fabric, spec).unwrap();
        let mut rows: Vec<Vec<(u32, u8)>> = Vec::new();
        for (from, to) in
            fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))).filter(|(a, b)| a != b)
        {
            let (mut way, mut lanes) = (Vec::new(), Vec::new());
            walker.visit(from, to, |link| way.push(link)).unwrap();
            scheme.on_way(&walker, (from, to), &way, &mut lanes).unwrap();
            assert_eq!(way.len(), lanes.len());
            assert!(lanes.iter().all(|&lane| lane < 5));
            rows.push(way.iter().map(|link| link.0).zip(lanes).collect());
        }
        let of_four: Vec<_> = rows.iter().filter(|row| row.len() == 4).collect();
        let common = |a: &[(u32, u8)], b: &[(u32, u8)]| a.iter().filter(|row| b.contains(row)).count();
        let most =
            (0..of_four.len()).map(|i| of_four[..i].iter().map(|b| common(of_four[i], b)).max().unwrap_or(0));
        most.max().unwrap()
    };
    assert_eq!(shared("5vl:galois:seed=3"), 2);
    assert_eq!(shared("5vl:random:seed=3"), 3);
}

#[test]
fn schemes_that_no_switch_can_do_are_refused_as_tables_with_the_reason() {
    let fabric = cases::ft2_32();
    let refused = |spec| lane_tables(&fabric, spec).unwrap_err().to_string();
    assert!(
        refused("5vl:random:seed=1")
            .contains("pairs of hosts with the same level and ports have different lanes")
    );
    assert!(refused("5vl:galois").contains("every sender to a destination has lanes of its own"));
    assert!(refused("5lanes").contains("expected SslVvl"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// On any fabric: exact counters have no findings, measure what was sent, and don't depend on threads.
    #[test]
    fn exact_counters_of_any_fabric_are_faultless(seed in 0u64..1000) {
        let fabric = netloom_testkit::any_fabric(seed);
        let demand = netloom_testkit::random_matrix(&fabric, seed);
        let options = EngineOptions::default();
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &options).unwrap();
        let map = lane_scheme(&fabric, "4sl3vl:seed=2").unwrap();
        let exact = SynthOptions { span_ns: 0, ..SynthOptions::default() };
        let Ok(found) = synth(&fabric, &routes, &demand, Some(&map), &exact) else { return Ok(()) };
        prop_assert_eq!(kinds(&fabric, &found), []);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let again = pool.install(|| synth(&fabric, &routes, &demand, Some(&map), &exact)).unwrap();
        prop_assert_eq!(&again, &found);
        let measured = measure(&fabric, &found, Unit::Bytes);
        let sent: f64 = demand.iter().filter(|(i, j, _)| i != j).map(|(.., bytes)| bytes).sum();
        let left: f64 = fabric.hosts().map(|h| measured.whole.get(fabric.host_link(h).index()).unwrap()).sum();
        prop_assert!((left - sent).abs() <= fabric.host_count() as f64);
    }
}
