//! The operators, against walking every pair, on random fabrics and routings.

use netloom_counters::{SynthOptions, lane_scheme, synth};
use netloom_infer::operator::Pair;
use netloom_infer::{LaneScheme, Operator, Participants};
use netloom_model::rng::{stream, unit};
use netloom_model::{Fabric, HostId, LaneMap, PathChoice, Placement, Quantity, Routes};
use netloom_routing::{Engine, EngineOptions, loads, route, walk};
use netloom_testkit::random::{any_fabric, perfect_fabric};
use netloom_topology::detect;

fn amounts(n: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, 5);
    (0..n).map(|_| unit(&mut random)).collect()
}

fn everybody(fabric: &Fabric) -> Vec<Participants> {
    vec![Participants::one_a_host("all", fabric.hosts().collect())]
}

fn routed(seed: u64, fabric: &Fabric) -> Option<Routes> {
    let engine = [Engine::Updn, Engine::Minhop, Engine::Random][seed as usize % 3];
    let options = EngineOptions { lmc: (seed % 3 == 1).into(), ..EngineOptions::default() };
    let mut routes = route(engine, fabric, &detect(fabric), &options).ok()?;
    if routes.lmc > 0 {
        routes.path = PathChoice::SourceMod;
    }
    Some(routes)
}

fn schemes(fabric: &Fabric, seed: u64) -> [LaneScheme; 6] {
    let scheme = |words: &str| lane_scheme(fabric, &format!("{words}:seed={seed}")).unwrap();
    let [pairs, groups, sources] = ["3sl4vl", "3sl4vl:groups", "3sl4vl:sources:uniform"].map(scheme);
    [LaneScheme::One, pairs, groups, sources, scheme("3vl:random"), scheme("5vl:galois")]
}

/// The operator and the counters that traffic leaves agree row by row, for every scheme.
#[test]
fn forward_is_what_counters_count() {
    for seed in 0..6 {
        let fabric = perfect_fabric(seed);
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let matrix = netloom_testkit::traffic::random_matrix(&fabric, seed);
        for scheme in schemes(&fabric, seed) {
            let operator = Operator::new(&fabric, &routes, &scheme, &everybody(&fabric)).unwrap();
            let mut x = vec![0.0; operator.pairs()];
            for (source, destination, bytes) in matrix.iter().filter(|(s, d, _)| s != d) {
                x[operator.find(Pair { job: 0, source, destination }).unwrap()] += bytes;
            }
            let rows = operator.forward(&x);
            let counted = synth(&fabric, &routes, &matrix, Some(&scheme), &SynthOptions::default()).unwrap();
            for lane in 0..operator.lanes() {
                let bytes = &counted.column(Quantity::XmitBytes, Some(lane)).unwrap().values;
                for link in fabric.links() {
                    let (row, bytes) = (rows[operator.row(link, lane)], bytes[link.index()] as f64);
                    // Counters are whole bytes.
                    assert!((row - bytes).abs() <= 0.5 + 1e-9 * bytes, "seed {seed}, {link:?}, lane {lane}");
                }
            }
        }
    }
}

/// Every pair's rows are the links that a packet crosses, one lane each, and nothing else; summed over lanes, `R x` is what
/// `routing::loads` finds.
#[test]
fn rows_of_a_pair_are_the_links_on_its_way() {
    let mut tried = 0;
    for seed in 0..24 {
        let fabric = any_fabric(seed);
        let Some(routes) = routed(seed, &fabric) else { continue };
        let jobs = everybody(&fabric);
        for scheme in schemes(&fabric, seed) {
            let Ok(operator) = Operator::new(&fabric, &routes, &scheme, &jobs) else { continue };
            tried += 1;
            let lanes = usize::from(operator.lanes());
            assert_eq!(operator.pairs(), fabric.host_count() * (fabric.host_count() - 1));
            for (number, pair) in operator.iter().enumerate() {
                let (source, destination) = (HostId(pair.source), HostId(pair.destination));
                let mut links = Vec::new();
                operator.way(number, |row| links.push(row / lanes));
                let way = walk(&fabric, &routes, source, destination).unwrap();
                assert_eq!(links, way.iter().map(|l| l.index()).collect::<Vec<_>>(), "seed {seed}, {pair:?}");
                assert_eq!(operator.find(pair), Some(number));
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn lanes_of_a_link_add_up_to_its_load() {
    for seed in 0..8 {
        let fabric = perfect_fabric(seed);
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let matrix = netloom_testkit::traffic::random_matrix(&fabric, seed);
        let bytes = loads(&fabric, &routes, &matrix).unwrap();
        for scheme in schemes(&fabric, seed) {
            let operator = Operator::new(&fabric, &routes, &scheme, &everybody(&fabric)).unwrap();
            let mut x = vec![0.0; operator.pairs()];
            for (source, destination, bytes) in matrix.iter().filter(|(s, d, _)| s != d) {
                x[operator.find(Pair { job: 0, source, destination }).unwrap()] += bytes;
            }
            let rows = operator.forward(&x);
            for link in fabric.links() {
                let sum: f64 = (0..operator.lanes()).map(|lane| rows[operator.row(link, lane)]).sum();
                let load = bytes.load[link.index()] * fabric.relative_capacity(link);
                assert!((sum - load).abs() <= 1e-9 * load.max(1.0), "{sum} {load}");
            }
        }
    }
}

/// `(R x, u) = (x, R'u)`, for all operators made of one: whole, restricted, compact; and restricting is leaving out.
#[test]
fn the_adjoint_is_the_transpose() {
    for seed in 0..12 {
        let fabric = any_fabric(seed);
        let Some(routes) = routed(seed, &fabric) else { continue };
        for scheme in schemes(&fabric, seed) {
            let Ok(operator) = Operator::new(&fabric, &routes, &scheme, &everybody(&fabric)) else {
                continue;
            };
            let keep: Vec<bool> = amounts(operator.pairs(), seed + 100).iter().map(|&a| a < 0.3).collect();
            let small = operator.restrict(&keep);
            let (compact, rows) = small.clone().compact();
            for one in [&operator, &small, &compact] {
                let (x, u) = (amounts(one.pairs(), seed), amounts(one.rows(), seed + 7));
                let there: f64 = one.forward(&x).iter().zip(&u).map(|(a, b)| a * b).sum();
                let back: f64 = one.adjoint(&u).iter().zip(&x).map(|(a, b)| a * b).sum();
                assert!((there - back).abs() <= 1e-9 * there.abs().max(1.0), "{there} {back}");
            }
            let x = amounts(small.pairs(), seed);
            let mut all = vec![0.0; operator.pairs()];
            all.iter_mut().zip(&keep).filter(|k| *k.1).zip(&x).for_each(|((all, _), &x)| *all = x);
            let (whole, part) = (operator.forward(&all), compact.forward(&x));
            assert!(whole.iter().sum::<f64>() - part.iter().sum::<f64>() < 1e-9 * part.len().max(1) as f64);
            for (&row, &value) in rows.iter().zip(&part) {
                assert!((whole[row as usize] - value).abs() < 1e-9);
            }
            let opposites = small.opposites();
            for (number, pair) in small.iter().enumerate() {
                assert_eq!(small.find(pair), Some(number));
                let back = Pair { source: pair.destination, destination: pair.source, ..pair };
                let back = small.find(back).map_or(u32::MAX, |back| back as u32);
                assert_eq!(opposites[number], back, "seed {seed}, {pair:?}");
            }
        }
    }
}

/// Two jobs have the pairs of each and none between them; hosts with several ranks are one unknown.
#[test]
fn pairs_stay_inside_jobs() {
    let fabric = netloom_testkit::cases::ft2_32();
    let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let a = Participants::one_a_host("a", [3, 9, 20].map(HostId).to_vec());
    let b = Participants::new("b", &Placement { host_of_rank: [1, 1, 2, 2].map(HostId).to_vec() });
    let operator = Operator::new(&fabric, &routes, &LaneScheme::One, &[a, b]).unwrap();
    let pairs: Vec<_> = operator.iter().map(|p| (p.job, p.source, p.destination)).collect();
    let of_a = [(0, 1, 0), (0, 2, 0), (0, 0, 1), (0, 2, 1), (0, 0, 2), (0, 1, 2)];
    assert_eq!(pairs, of_a.into_iter().chain([(1, 1, 0), (1, 0, 1)]).collect::<Vec<_>>());
}

#[test]
fn threads_don_t_change_a_bit() {
    let fabric = perfect_fabric(3);
    let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let scheme = LaneScheme::Tables(LaneMap::random(&fabric, 5, 5, 1));
            let operator = Operator::new(&fabric, &routes, &scheme, &everybody(&fabric)).unwrap();
            let rows = operator.forward(&amounts(operator.pairs(), 4));
            (operator.adjoint(&rows), rows)
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn routes_of_another_fabric_and_tables_with_holes_are_refused() {
    let (fabric, other) = (perfect_fabric(1), perfect_fabric(2));
    let routes = route(Engine::Updn, &other, &detect(&other), &EngineOptions::default()).unwrap();
    let refused = Operator::new(&fabric, &routes, &LaneScheme::One, &everybody(&fabric)).unwrap_err();
    assert!(refused.to_string().contains("another fabric"), "{refused}");
    let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let broken = fabric.with_dead([fabric.reverse(fabric.host_link(HostId(0)))]);
    let routes = Routes { cabling_hash: None, ..routes };
    assert!(Operator::new(&broken, &routes, &LaneScheme::One, &everybody(&broken)).is_err());
}
