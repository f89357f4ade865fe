//! The papers' baselines: offline coloured routing, and AFAR on the patterns that table 3.3 has figures for.

use netloom_model::{Control, Csr, Fabric, Routes};
use netloom_optimize::{AfarOptions, OptimizeError, afar, coloured};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_testkit::{any_fabric, random_matrix};
use netloom_topology::{Structure, detect, generate};
use netloom_verify::check;

struct Case {
    fabric: Fabric,
    structure: Structure,
    paths: PathSet,
}

impl Case {
    fn new(fabric: Fabric) -> Self {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        Self { fabric, structure, paths }
    }

    fn routes(&self, engine: Engine) -> Routes {
        route(engine, &self.fabric, &self.structure, &EngineOptions::default()).unwrap()
    }

    fn coloured(&self, traffic: &Csr, seed: u64) -> Result<Routes, OptimizeError> {
        let background = self.routes(Engine::Updn);
        coloured(&self.fabric, &self.structure, &self.paths, traffic, &background, seed)
    }

    fn switch_max(&self, routes: &Routes, traffic: &Csr) -> f64 {
        loads(&self.fabric, routes, traffic).unwrap().max_between_switches(&self.fabric)
    }
}

#[test]
fn colours_give_every_link_of_a_permutation_one_flow() {
    // 16 hosts of one half of a full-bisection tree send 1 to 16 of the other, in random order. Every leaf has 4 flows
    // and 4 uplinks, every spine 4 flows and 4 cores: with as many colours as links each carries 1. Nothing merges,
    // for no two flows share a destination.
    let case = Case::new(generate("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap());
    for seed in 1..=20 {
        let spec = format!("bisection-shuffle:seed={seed},bytes=1");
        let traffic = netloom_traffic::pattern(&spec, Some(32)).unwrap();
        let traffic = traffic.total();
        let routes = case.coloured(&traffic, seed).unwrap();
        assert_eq!(case.switch_max(&routes, &traffic), 1.0, "seed {seed}");
        assert!(case.switch_max(&case.routes(Engine::Ftree), &traffic) > 1.0, "seed {seed}");
    }
}

#[test]
fn coloured_routes_are_sound_on_any_fabric() {
    for seed in 0..120 {
        let case = Case::new(any_fabric(seed));
        let traffic = random_matrix(&case.fabric, seed);
        match case.coloured(&traffic, seed) {
            Ok(routes) => {
                loads(&case.fabric, &routes, &traffic).unwrap();
                let of = |routes: &Routes| check(&case.fabric, &case.structure, routes);
                let (ours, updn) = (of(&routes), of(&case.routes(Engine::Updn)));
                assert_eq!((ours.credit_loops, ours.up_down_violations), (0, 0), "seed {seed}");
                assert_eq!(
                    ours.unreachable_pairs, updn.unreachable_pairs,
                    "seed {seed}: {:?}",
                    ours.findings
                );
                assert_eq!(ours.non_minimal_pairs, 0, "seed {seed}");
            }
            Err(OptimizeError::Unreachable { .. }) => {
                assert!(case.structure.pairs_without_route > 0, "seed {seed}: every pair has a way");
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
}

#[test]
fn colouring_depends_on_traffic_and_seed_alone() {
    let case = Case::new(generate("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap());
    let traffic = netloom_traffic::pattern("bisection-shuffle:seed=1", Some(32)).unwrap();
    let of = |seed| case.coloured(&traffic.total(), seed).unwrap().lft().cloned();
    assert!(of(1) == of(1) && of(1) != of(2));
    assert_eq!(case.coloured(&Csr::empty(32), 1).unwrap().lft(), case.routes(Engine::Updn).lft());
}

#[test]
fn afar_does_as_table_3_3_says_on_the_shuffles() {
    // quartz1: 32 hosts of a leaf send 1 each over 16 uplinks, so 2 at best. The dissertation's AFAR gets stuck at twice
    // that (100 %), and with 5 % noise at three flows on a link (49.61 %): where no two loads are equal, moves below
    // the top go on and unlock it. Ours once left such links alone and stopped at four.
    let case = Case::new(generate("quartz1").unwrap());
    let max = |spec: &str| {
        let traffic = netloom_traffic::pattern(spec, Some(3072)).unwrap();
        let (start, options) = (case.routes(Engine::Ftree), AfarOptions::default());
        let found =
            afar(&case.fabric, &case.paths, &start, &traffic.total(), &options, &Control::new()).unwrap();
        assert!(found.stuck && found.stopped.is_none());
        let max = case.switch_max(&found.routes, &traffic.total());
        assert!((found.max_load - max).abs() < 1e-9);
        max
    };
    assert_eq!(max("bisection-shuffle:seed=1,bytes=1"), 4.0);
    let noisy = max("bisection-shuffle:seed=1,noise=0.05,bytes=1");
    assert!((3.0 * 0.95..=3.0 * 1.05).contains(&noisy), "{noisy} is not three flows");
}
