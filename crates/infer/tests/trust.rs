//! Whether answers know how good they are.

use netloom_formats::read_mtx;
use netloom_infer::operator::Pair;
use netloom_infer::{
    Counted, Estimate, LaneScheme, Operator, Participants, Settings, Verdict, errors, estimate, traffic,
};
use netloom_model::rng::{below, normal, stream, unit};
use netloom_model::{Control, Fabric, HostId, LaneMap};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::{ft2_32, star};
use netloom_topology::{detect, generate};

/// The answer to counters with this relative noise, and its errors: of pairs, of sums over (source leaf, destination).
fn infer(
    fabric: &Fabric,
    hosts: Vec<HostId>,
    lanes: u8,
    noise: f64,
    bytes: impl Fn(Pair) -> f64,
) -> (Estimate, [f64; 2]) {
    let routes = route(Engine::Ftree, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let scheme = match lanes {
        1 => LaneScheme::One,
        _ => LaneScheme::Tables(LaneMap::random(fabric, lanes, lanes, 1)),
    };
    let jobs = [Participants::one_a_host("a", hosts)];
    let operator = Operator::new(fabric, &routes, &scheme, &jobs).unwrap();
    let truth: Vec<f64> = operator.iter().map(bytes).collect();
    let mut counted = Counted::exactly(operator.forward(&truth));
    let mut draw = stream(3, 0);
    for (bytes, deviation) in counted.bytes.iter_mut().zip(&mut counted.deviation) {
        *deviation = noise * *bytes;
        *bytes = (*bytes + *deviation * normal(&mut draw)).max(0.0);
    }
    let found = estimate(&operator, &jobs, &counted, &[], &Settings::default(), &Control::new());
    let over_hosts = |bytes: &[f64]| traffic(fabric, &operator, &jobs, bytes);
    let off = errors(fabric, &over_hosts(&found.bytes), &over_hosts(&truth)).unwrap();
    (found, [off.pairs, off.leaf_sums])
}

fn everyone(fabric: &Fabric) -> Vec<HostId> {
    fabric.hosts().collect()
}

/// Two applications that are not found exactly: what is off is known within a factor of three (measured: two and a half), from exact and
/// from noisy counters.
#[test]
fn what_is_off_is_known_about() {
    let fabric = generate("quartz1").unwrap();
    for (name, lanes, noise) in [("amg-125", 1, 0.0), ("amg-125", 5, 0.006), ("nekbone-256", 1, 0.006)] {
        let path = format!("{}/../../examples/data/{name}.mtx.gz", env!("CARGO_MANIFEST_DIR"));
        let matrix = read_mtx(&std::fs::read(path).unwrap(), name).unwrap().total().into_owned();
        let ranks = matrix.size();
        let mut dense = vec![0.0; ranks * ranks];
        matrix.iter().for_each(|(from, to, bytes)| dense[from as usize * ranks + to as usize] += bytes);
        let hosts = (10..10 + ranks as u32).map(HostId).collect();
        let bytes = |pair: Pair| dense[pair.source as usize * ranks + pair.destination as usize];
        let (found, [pairs, sums]) = infer(&fabric, hosts, lanes, noise, bytes);
        let told = [(found.trust.pair_error, pairs), (found.trust.leaf_error, sums)];
        for (estimated, error) in told {
            let times = estimated / error;
            assert!(
                (1.0 / 3.0..=3.0).contains(&times),
                "{name}, {lanes} lanes: {error} is told as {estimated}"
            );
        }
    }
}

/// Random bytes between all hosts on one lane: each spine's counters say 16 sums of 64 unknown ones. No more than that is claimed.
#[test]
fn what_cannot_be_known_is_not_claimed() {
    let fabric = ft2_32();
    for noise in [0.0, 0.006] {
        let bytes = |pair: Pair| {
            let id = u64::from(pair.source) << 32 | u64::from(pair.destination);
            1e4 * (1.0 + 3.0 * unit(&mut stream(5, id)))
        };
        let (found, [_, sums]) = infer(&fabric, everyone(&fabric), 1, noise, bytes);
        assert!(sums > 0.1, "known after all: {sums}");
        assert_ne!(found.trust.verdict, Verdict::Identified, "noise {noise}: {sums}");
        let times = found.trust.leaf_error / sums;
        assert!((0.5..=2.0).contains(&times), "{sums} is told as {}", found.trust.leaf_error);
    }
}

/// Everyone talks to everyone, there and back alike, by random amounts. On one lane a few patterns explain the counters better than
/// bytes spread evenly, but not by much: they are chance (their answer was 330 % off, called partly known and told as 42 %).
#[test]
fn dense_traffic_is_not_taken_for_patterns() {
    let fabric = generate("two-level:leaves=16,hosts=8,spines=8").unwrap();
    let bytes = |pair: Pair| {
        let (a, b) = (pair.source.min(pair.destination), pair.source.max(pair.destination));
        -1e6 * (1.0 - unit(&mut stream(5, u64::from(a) << 32 | u64::from(b)))).ln()
    };
    for (lanes, noise) in [(1, 0.0), (1, 0.006), (5, 0.0)] {
        let (found, [pairs, sums]) = infer(&fabric, everyone(&fabric), lanes, noise, bytes);
        assert!(pairs < 0.8 && sums < 0.4, "{lanes} lanes: {pairs}, {sums}");
        assert_ne!(found.trust.verdict, Verdict::Identified);
        let told = [(found.trust.pair_error, pairs), (found.trust.leaf_error, sums)];
        assert!(told.iter().all(|(told, error)| *told > 0.5 * error), "{lanes} lanes: {told:?}");
    }
}

/// Six random partners each, one lane.
#[test]
fn random_partners_on_one_lane_are_not_known() {
    let fabric = generate("two-level:leaves=16,hosts=8,spines=8").unwrap();
    let bytes = |pair: Pair| {
        let id = u64::from(pair.source) << 32 | u64::from(pair.destination);
        if below(&mut stream(6, id), 128) < 6 { 1e6 } else { 0.0 }
    };
    let (found, [_, sums]) = infer(&fabric, everyone(&fabric), 1, 0.0, bytes);
    assert!(sums > 0.3, "known after all: {sums}");
    assert_eq!(found.trust.verdict, Verdict::NotIdentifiable);
}

/// All to all is one atom, whatever the grid, and noise doesn't hide it.
#[test]
fn all_pairs_alike_are_found() {
    let fabric = ft2_32();
    let (found, [pairs, _]) = infer(&fabric, everyone(&fabric), 1, 0.006, |_| 1e6);
    assert_eq!(found.jobs[0].atoms.len(), 1);
    assert!(pairs < 1e-3, "{pairs}");
    assert_eq!(found.trust.verdict, Verdict::Identified);
}

/// What noise alone makes is not explained: no traffic is made up for it.
#[test]
fn noise_is_not_traffic() {
    let fabric = ft2_32();
    let bytes = |pair: Pair| if pair.destination == (pair.source + 8) % 32 { 1e6 } else { 0.0 };
    let (found, [pairs, _]) = infer(&fabric, everyone(&fabric), 5, 0.006, bytes);
    assert!(pairs < 0.01, "{pairs}");
    assert!(found.residual > 0.003 && found.residual < 0.009, "{}", found.residual);
}

/// The counters of a star whose hosts sent these bytes, and what a job of its hosts 0 and 1 alone makes of them.
fn two_of_a_star(sent: [(u32, u32, f64); 2]) -> Estimate {
    let fabric = star(4);
    let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let of = |hosts: Vec<HostId>| {
        let jobs = vec![Participants::one_a_host("a", hosts)];
        (Operator::new(&fabric, &routes, &LaneScheme::One, &jobs).unwrap(), jobs)
    };
    let (all, _) = of(everyone(&fabric));
    let mut truth = vec![0.0; all.pairs()];
    for (source, destination, bytes) in sent {
        truth[all.find(Pair { job: 0, source, destination }).unwrap()] = bytes;
    }
    let counted = Counted::exactly(all.forward(&truth));
    let (operator, jobs) = of(vec![HostId(0), HostId(1)]);
    estimate(&operator, &jobs, &counted, &[], &Settings::default(), &Control::new())
}

/// A jobs file that names hosts which did not talk explains nothing, and knows nothing.
#[test]
fn nothing_explained_is_nothing_known() {
    let found = two_of_a_star([(2, 3, 1e6), (3, 2, 1e6)]);
    assert!(found.bytes.iter().all(|&bytes| bytes == 0.0));
    assert_eq!(found.trust.verdict, Verdict::NotIdentifiable);
    assert_eq!((found.trust.leaf_error, found.trust.identified_fraction), (1.0, 0.0));
}

/// Most of what a job's host sends goes elsewhere: whatever is made of it leaves most of the counters unexplained.
#[test]
fn little_explained_is_nothing_known() {
    let found = two_of_a_star([(0, 1, 1e4), (0, 2, 1e6)]);
    assert!(found.residual > 0.3, "{}", found.residual);
    assert_eq!(found.trust.verdict, Verdict::NotIdentifiable);
}
