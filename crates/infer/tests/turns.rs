//! Jobs whose bytes differ by orders of magnitude, on links that they share.

use netloom_infer::model::Start;
use netloom_infer::operator::Pair;
use netloom_infer::{Counted, Estimate, LaneScheme, Operator, Participants, Settings, estimate};
use netloom_model::rng::{normal, stream};
use netloom_model::{Control, HostId, LaneMap};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::{detect, generate};
use netloom_traffic::pattern;

/// 256 hosts, full bisection.
const TREE: &str = "two-level:leaves=16,hosts=16,spines=16";

/// Two jobs of 128 hosts, every other host, five lanes: random partners that exchange a byte a pair, and others that exchange so many. The
/// answer, and each job's relative error.
fn beside(louder: f64, noise: f64) -> (Estimate, [f64; 2]) {
    let fabric = generate(TREE).unwrap();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let scheme = LaneScheme::Tables(LaneMap::random(&fabric, 5, 5, 1));
    let hosts = |first: u32| (first..256).step_by(2).map(HostId).collect();
    let jobs = [("quiet", 0), ("loud", 1)].map(|(name, first)| Participants::one_a_host(name, hosts(first)));
    let operator = Operator::new(&fabric, &routes, &scheme, &jobs).unwrap();
    let mut truth = vec![0.0; operator.pairs()];
    for (job, (spec, bytes)) in
        [("matching:seed=1", 1.0), ("matching:seed=2", louder)].into_iter().enumerate()
    {
        for (source, destination, one) in pattern(spec, Some(128)).unwrap().total().iter() {
            truth[operator.find(Pair { job: job as u32, source, destination }).unwrap()] = bytes * one;
        }
    }
    let exact = operator.forward(&truth);
    let mut draw = stream(5, 5);
    let bytes = exact.iter().map(|b| (b * (1.0 + noise * normal(&mut draw))).max(0.0)).collect();
    let counted = Counted { bytes, deviation: exact.iter().map(|b| noise * b).collect() };
    let found = estimate(&operator, &jobs, &counted, &[], &Settings::default(), &Control::new());
    let error = |job: u32| {
        let of_job = operator.iter().zip(&found.bytes).zip(&truth).filter(|((pair, _), _)| pair.job == job);
        let add = |(wrong, all): (f64, f64), ((_, x), t): ((Pair, &f64), &f64)| {
            (wrong + (x - t).powi(2), all + t * t)
        };
        let (wrong, all) = of_job.fold((0.0, 0.0), add);
        (wrong / all).sqrt()
    };
    let errors = [error(0), error(1)];
    (found, errors)
}

#[test]
fn what_is_quiet_is_found_beside_what_is_a_million_times_louder() {
    let (found, errors) = beside(1e6, 0.0);
    assert!(found.model.start == Start::Fewest, "{:?}", found.model);
    assert!(errors[0] < 1e-6 && errors[1] < 1e-9, "{errors:?}");
}

/// What counters may be wrong by is more than the quiet job carries on links that it shares: its own must do.
#[test]
fn noise_of_what_is_loud_rules_nothing_out() {
    let (_, errors) = beside(1e4, 0.01);
    assert!(errors[0] < 0.02 && errors[1] < 0.02, "{errors:?}");
}
