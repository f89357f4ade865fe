//! Few flows without a grid: partners at random, on five lanes.

use netloom_infer::model::Start;
use netloom_infer::operator::Pair;
use netloom_infer::{Counted, Estimate, LaneScheme, Operator, Participants, Settings, Verdict, estimate};
use netloom_model::rng::{below, normal, stream};
use netloom_model::{Control, HostId, LaneMap};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::{detect, generate};
use netloom_traffic::pattern;

/// 256 hosts, full bisection.
const TREE: &str = "two-level:leaves=16,hosts=16,spines=16";

/// Jobs as (pattern, hosts) one after the other, every pair's bytes times `factor(source, destination)`, counters with a noise of so much
/// of their bytes: the answer, its relative error and what the operator was.
fn infer(jobs: &[(&str, u32)], factor: impl Fn(u32, u32) -> f64, noise: f64) -> (Estimate, f64) {
    let fabric = generate(TREE).unwrap();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let scheme = LaneScheme::Tables(LaneMap::random(&fabric, 5, 5, 1));
    let mut first = 0;
    let participants: Vec<Participants> = (jobs.iter())
        .map(|&(spec, hosts)| {
            first += hosts;
            Participants::one_a_host(spec, (first - hosts..first).map(HostId).collect())
        })
        .collect();
    let operator = Operator::new(&fabric, &routes, &scheme, &participants).unwrap();
    let mut truth = vec![0.0; operator.pairs()];
    for (job, &(spec, hosts)) in jobs.iter().enumerate() {
        for (source, destination, bytes) in pattern(spec, Some(hosts)).unwrap().total().iter() {
            let pair = operator.find(Pair { job: job as u32, source, destination }).unwrap();
            truth[pair] = bytes * factor(source, destination);
        }
    }
    let exact = operator.forward(&truth);
    let mut draw = stream(5, 5);
    let bytes = exact.iter().map(|b| (b * (1.0 + noise * normal(&mut draw))).max(0.0)).collect();
    let counted = Counted { bytes, deviation: exact.iter().map(|b| noise * b).collect() };
    let found = estimate(&operator, &participants, &counted, &[], &Settings::default(), &Control::new());
    let square = |v: f64| v * v;
    let wrong: f64 = found.bytes.iter().zip(&truth).map(|(a, b)| square(a - b)).sum();
    (found, (wrong / truth.iter().copied().map(square).sum::<f64>()).sqrt())
}

/// Over five orders of magnitude, the same both ways or not.
fn varied(source: u32, destination: u32, one_way: bool) -> f64 {
    let (low, high) =
        if one_way { (source, destination) } else { (source.min(destination), source.max(destination)) };
    10f64.powf(below(&mut stream(7, u64::from(low) << 32 | u64::from(high)), 5_000) as f64 / 1_000.0)
}

#[test]
fn random_partners_are_found() {
    let (found, error) = infer(&[("bisection-shuffle:seed=1", 256)], |_, _| 1.0, 0.0);
    assert!(found.model.start == Start::Fewest && error < 1e-9, "{error}");
    assert_eq!((found.trust.verdict, found.trust.rivals), (Verdict::Identified, 0));
    assert_eq!(found.bytes.iter().filter(|b| **b > 0.0).count(), 256);
}

#[test]
fn partners_that_exchange_from_little_to_very_much_are_found() {
    let (_, error) = infer(&[("matching:seed=2", 256)], |a, b| varied(a, b, false), 0.0);
    assert!(error < 1e-9, "{error}");
}

/// Nothing comes back: that bytes differ tells flows apart.
#[test]
fn one_way_flows_of_different_bytes_are_found() {
    let (_, error) = infer(&[("permutation:seed=3", 256)], |a, b| varied(a, b, true), 0.0);
    assert!(error < 1e-6, "{error}");
}

/// One-way flows of equal bytes can't be told from others by a sum of costs: the answer is wrong and said to be.
#[test]
fn one_way_flows_of_equal_bytes_are_not_claimed_to_be_known() {
    let (found, error) = infer(&[("permutation:seed=3", 256)], |_, _| 1.0, 0.0);
    assert!(error < 1e-6 || found.trust.verdict != Verdict::Identified, "{error} {:?}", found.trust);
}

#[test]
fn noise_stays_noise() {
    let (found, error) = infer(&[("bisection-shuffle:seed=1", 256)], |_, _| 1.0, 0.01);
    assert!(error < 0.01 && found.model.start == Start::Fewest, "{error}");
    assert!((0.001..0.02).contains(&found.trust.pair_error), "{:?}", found.trust);
}

/// A job whose grid explains it keeps its atoms.
#[test]
fn a_job_on_a_grid_is_left_as_it_is() {
    let jobs = [("shift:1", 64), ("bisection-shuffle:seed=4", 192)];
    let (found, error) = infer(&jobs, |_, _| 1.0, 0.0);
    assert!(found.model.start == Start::Fewest && error < 1e-9, "{error}");
    assert!(!found.jobs[0].atoms.is_empty() && found.jobs[1].atoms.is_empty());
}
