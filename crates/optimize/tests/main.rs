//! The optimiser and AFAR against exhaustive search, against other crates' arithmetic, and against their
//! own promises.

use netloom_model::{Control, Csr, Fabric, HostId, Routes, StopReason, SwitchId, Table};
use netloom_optimize::{AfarOptions, OptimizeError, OptimizeOptions, Optimized, afar, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_testkit::{any_fabric, broken_fabric, matrix, perfect_fabric, random_matrix};
use netloom_topology::{Damage, Structure, damage, detect, generate};
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

    fn generated(spec: &str) -> Self {
        Self::new(generate(spec).unwrap())
    }

    fn routes(&self, engine: Engine) -> Routes {
        route(engine, &self.fabric, &self.structure, &EngineOptions { seed: 3, lmc: 0 }).unwrap()
    }

    fn optimize(&self, traffic: &Csr, background: &Routes, work: u64) -> Optimized {
        let options = OptimizeOptions { seed: 1, work: Some(work), ..OptimizeOptions::default() };
        self.optimize_with(traffic, background, &options, &Control::new()).unwrap()
    }

    fn optimize_with(
        &self,
        traffic: &Csr,
        background: &Routes,
        options: &OptimizeOptions,
        control: &Control,
    ) -> Result<Optimized, OptimizeError> {
        optimize(&self.fabric, &self.structure, &self.paths, traffic, background, options, control)
    }

    /// Largest load between switches, by the routing crate's arithmetic.
    fn switch_max(&self, routes: &Routes, traffic: &Csr) -> f64 {
        let load = loads(&self.fabric, routes, traffic).unwrap().load;
        let between = self.fabric.links().filter(|&l| self.fabric.between_switches(l));
        between.map(|l| load[l.index()]).fold(0.0, f64::max)
    }

    /// Everything that must hold of any result.
    fn assert_sound(&self, traffic: &Csr, background: &Routes, result: &Optimized) {
        let load = loads(&self.fabric, &result.routes, traffic).unwrap().load;
        assert_eq!(load, result.loads.load, "what is reported is what the tables do, to the last bit");
        let max = load.iter().copied().fold(0.0, f64::max);
        assert!(max >= result.bound.claim * (1.0 - 1e-9), "{max} is below the bound {}", result.bound.claim);
        assert_eq!(result.proven_optimal, max <= result.bound.claim * (1.0 + 1e-9));
        assert!(result.switch_max_load >= result.switch_bound * (1.0 - 1e-9));
        let start = self.switch_max(background, traffic);
        assert!(result.switch_max_load <= start * (1.0 + 1e-9), "{} from {start}", result.switch_max_load);
        self.assert_admissible(&result.routes);
    }

    /// Every entry towards a host is admissible, none is missing where there is a way.
    fn assert_admissible(&self, routes: &Routes) {
        let (lft, space) = (routes.lft().unwrap(), routes.dests(&self.fabric));
        for switch in self.fabric.switches() {
            for host in self.fabric.hosts() {
                let leaf = self.fabric.leaf(host);
                let links = self.paths.links(switch, leaf);
                for path in 0..1 << routes.lmc {
                    let port = lft.get(switch, space.host(host, path));
                    if switch == leaf {
                        let back = self.fabric.reverse(self.fabric.host_link(host));
                        assert_eq!(port, self.fabric.alive(back).then(|| self.fabric.link_port(back)));
                    } else {
                        let link = port.and_then(|p| self.fabric.link_at(switch, p));
                        assert_eq!(link.is_none(), links.is_empty());
                        assert!(link.is_none_or(|l| links.contains(&l)));
                    }
                }
            }
        }
    }
}

/// The least maximum load over all tables, by trying all; `None` if there are too many.
fn exhaustive(case: &Case, traffic: &Csr) -> Option<f64> {
    let fabric = &case.fabric;
    // Per destination: every way (as bytes per link) that its senders' traffic can take.
    let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut total = 1.0;
    for d in fabric.hosts() {
        let senders: Vec<(SwitchId, f64)> = (traffic.iter())
            .filter(|&(i, j, _)| j == d.0 && i != j && fabric.leaf(HostId(i)) != fabric.leaf(d))
            .map(|(i, _, b)| (fabric.leaf(HostId(i)), b))
            .collect();
        let mut ways = Vec::new();
        let mut table = vec![None; fabric.switch_count()];
        ways_to(case, fabric.leaf(d), &senders, &mut table, &mut ways);
        total *= ways.len() as f64;
        if ways.len() > 3000 || total > 2e5 {
            return None;
        }
        all.push(ways);
    }
    let mut base = vec![0.0; fabric.link_count()];
    for (i, j, b) in traffic.iter().filter(|&(i, j, _)| i != j) {
        base[fabric.host_link(HostId(i)).index()] += b;
        base[fabric.reverse(fabric.host_link(HostId(j))).index()] += b;
    }
    let mut best = f64::INFINITY;
    combine(fabric, &all, base, &mut best);
    Some(best)
}

fn ways_to(
    case: &Case,
    leaf: SwitchId,
    senders: &[(SwitchId, f64)],
    table: &mut Vec<Option<netloom_model::LinkId>>,
    ways: &mut Vec<Vec<f64>>,
) {
    if ways.len() > 3000 {
        return;
    }
    // Walk every sender; branch at the first switch without an entry.
    let mut way = vec![0.0; case.fabric.link_count()];
    for &(from, bytes) in senders {
        let mut at = from;
        while at != leaf {
            let Some(link) = table[at.index()] else {
                for &link in case.paths.links(at, leaf) {
                    table[at.index()] = Some(link);
                    ways_to(case, leaf, senders, table, ways);
                }
                table[at.index()] = None;
                return;
            };
            way[link.index()] += bytes;
            at = case.fabric.link_to_switch(link).unwrap();
        }
    }
    ways.push(way);
}

fn combine(fabric: &Fabric, rest: &[Vec<Vec<f64>>], base: Vec<f64>, best: &mut f64) {
    let max = fabric.links().map(|l| base[l.index()] / fabric.relative_capacity(l)).fold(0.0, f64::max);
    if max >= *best {
        return;
    }
    let Some((first, rest)) = rest.split_first() else {
        *best = max;
        return;
    };
    for way in first {
        combine(fabric, rest, base.iter().zip(way).map(|(a, b)| a + b).collect(), best);
    }
}

#[test]
fn small_fabrics_reach_the_exhaustive_optimum() {
    let (mut compared, mut equal) = (0, 0);
    for seed in 0..400 {
        let fabric = if seed % 2 == 0 { perfect_fabric(seed) } else { any_fabric(seed) };
        let traffic = sparse(&fabric, seed);
        let case = Case::new(fabric);
        let Some(optimum) = exhaustive(&case, &traffic) else { continue };
        let background = case.routes(Engine::Random);
        let result = case.optimize(&traffic, &background, 20_000);
        case.assert_sound(&traffic, &background, &result);
        let max = result.loads.load.iter().copied().fold(0.0, f64::max);
        assert!(max >= optimum * (1.0 - 1e-9), "seed {seed}: {max} is below the optimum {optimum}");
        // A proof is never wrong.
        assert!(
            !result.proven_optimal || max <= optimum * (1.0 + 1e-9),
            "seed {seed}: proved {max} over {optimum}"
        );
        compared += 1;
        equal += u32::from(max <= optimum * (1.0 + 1e-9));
    }
    assert!(compared > 100, "only {compared} cases were small enough");
    assert!(equal * 100 >= compared * 98, "{equal} of {compared} reach the optimum");
}

/// A handful of flows, so that all tables can be tried.
fn sparse(fabric: &Fabric, seed: u64) -> Csr {
    use netloom_model::rng::{below, stream};
    let n = fabric.host_count() as u64;
    let mut random = stream(seed, 5);
    let entries: Vec<_> = (0..2 + below(&mut random, 5))
        .map(|_| (below(&mut random, n), below(&mut random, n), 1.0 + below(&mut random, 6) as f64))
        .collect();
    matrix(n as usize, &entries)
}

#[test]
fn any_fabric_and_traffic_gives_sound_routes() {
    for seed in 0..150 {
        let fabric = if seed % 3 == 0 { broken_fabric(seed) } else { any_fabric(seed) };
        let traffic = random_matrix(&fabric, seed);
        let case = Case::new(fabric);
        let background = case.routes(if seed % 2 == 0 { Engine::Dmodk } else { Engine::Updn });
        let options = OptimizeOptions { seed, work: Some(3_000), ..OptimizeOptions::default() };
        match case.optimize_with(&traffic, &background, &options, &Control::new()) {
            Ok(result) => case.assert_sound(&traffic, &background, &result),
            Err(OptimizeError::Unreachable { .. } | OptimizeError::Bound(_)) => {
                // Then no up*/down* tables deliver it.
                let updn = case.routes(Engine::Dmodk);
                assert!(loads(&case.fabric, &updn, &traffic).is_err(), "seed {seed}");
            }
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
}

#[test]
fn a_minhop_background_is_made_admissible() {
    // Shortest paths of minhop need not be up*/down*; whatever they are, the result is.
    for seed in 0..40 {
        let case = Case::new(any_fabric(seed));
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let traffic = random_matrix(&case.fabric, seed);
        let result = case.optimize(&traffic, &case.routes(Engine::Minhop), 2_000);
        case.assert_admissible(&result.routes);
        let report = check(&case.fabric, &case.structure, &result.routes);
        assert_eq!((report.unreachable_pairs, report.credit_loops, report.up_down_violations), (0, 0, 0));
    }
}

#[test]
fn synthetic_patterns_on_quartz1_are_optimal() {
    // Table 3.2: AR gap 0 for all of these; the optimiser proves it.
    let case = Case::generated("quartz1");
    let background = case.routes(Engine::Dmodk);
    for spec in ["stencil:16x16x12", "bisection", "bisection-shuffle:seed=1"] {
        let traffic = netloom_traffic::pattern(spec, Some(3072)).unwrap();
        let result = case.optimize(&traffic.total(), &background, 300_000);
        assert!(result.proven_optimal, "{spec}: {} over {}", result.switch_max_load, result.bound.claim);
        let ar = result.ar.as_ref().unwrap();
        assert!((result.loads.max() / ar.lower - 1.0).abs() < 1e-9);
    }
    let traffic = netloom_traffic::pattern("bisection-shuffle:seed=1", Some(3072)).unwrap();
    let result = case.optimize(&traffic.total(), &background, 300_000);
    let report = check(&case.fabric, &case.structure, &result.routes);
    assert!(report.ok(), "{:?}", report.findings);
}

#[test]
fn all_to_all_needs_one_tree_a_destination() {
    // 4 pods of 4 leaves of 4 hosts, 4 spines a pod, 2 groups of 4 cores: each of a leaf's 4 uplinks carries a quarter
    // of what its 4 hosts send to the 60 others: 60.
    let case = Case::generated("fattree:pods=4,leaves=4,hosts=4,spines=4,groups=2,cores=4");
    let n = case.fabric.host_count() as u64;
    let entries: Vec<_> = (0..n * n).map(|e| (e / n, e % n, 1.0)).filter(|e| e.0 != e.1).collect();
    let result = case.optimize(&matrix(64, &entries), &case.routes(Engine::Random), 50_000);
    assert!(result.proven_optimal);
    assert_eq!(result.switch_max_load, 60.0);
}

#[test]
fn results_do_not_depend_on_threads_and_repeat() {
    let case = Case::generated("fattree:pods=3,leaves=4,hosts=4,spines=4,groups=2,cores=3");
    let traffic = random_matrix(&case.fabric, 11);
    let background = case.routes(Engine::Random);
    let run = |threads| {
        let options = OptimizeOptions { seed: 5, threads, work: Some(20_000), ..OptimizeOptions::default() };
        case.optimize_with(&traffic, &background, &options, &Control::new()).unwrap()
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.routes, four.routes);
    assert_eq!((one.work, &one.history), (four.work, &four.history));
    assert!(one.reproducible);
}

#[test]
fn a_stop_returns_a_valid_routing_and_its_reason() {
    let case = Case::generated("fattree:pods=3,leaves=4,hosts=4,spines=4,groups=2,cores=3");
    let traffic = random_matrix(&case.fabric, 11);
    let background = case.routes(Engine::Random);
    let control = Control::new();
    control.stop(StopReason::Interrupted);
    let result = case.optimize_with(&traffic, &background, &OptimizeOptions::default(), &control).unwrap();
    assert_eq!((result.stopped, result.reproducible), (Some(StopReason::Interrupted), false));
    case.assert_sound(&traffic, &background, &result);
}

#[test]
fn damaged_trees_are_optimised_too() {
    let whole = generate("fattree:pods=4,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap();
    for seed in 0..6 {
        let what = Damage { random_links: 10, random_switches: 1, ..Damage::default() };
        let case = Case::new(damage(&whole, &what, seed).unwrap().fabric);
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let traffic = random_matrix(&case.fabric, seed);
        let background = case.routes(Engine::Random);
        if loads(&case.fabric, &background, &traffic).is_ok() {
            let result = case.optimize(&traffic, &background, 20_000);
            case.assert_sound(&traffic, &background, &result);
        }
    }
}

#[test]
fn several_addresses_a_host_are_separate_destinations() {
    // Two leaves, two spines; four hosts of the first leaf send to one host of the second. With one address
    // all 4 bytes take one link; with two addresses (source modulo 2) they halve.
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    let traffic = matrix(8, &[(0, 4, 1.0), (1, 4, 1.0), (2, 4, 1.0), (3, 4, 1.0)]);
    let one = case.optimize(&traffic, &case.routes(Engine::Dmodk), 1_000);
    assert_eq!(one.switch_max_load, 4.0);
    let mut background =
        route(Engine::Dmodk, &case.fabric, &case.structure, &EngineOptions { seed: 0, lmc: 1 }).unwrap();
    background.path = netloom_model::PathChoice::SourceMod;
    // Whole items would bound one address (and one link) to 4; only the adaptive bound holds here. Host 4's link
    // carries 4 anyway, so the overall maximum says little: the part between switches does.
    let two = case.optimize(&traffic, &background, 1_000);
    case.assert_sound(&traffic, &background, &two);
    assert_eq!((two.switch_max_load, two.switch_bound), (2.0, 2.0));
}

#[test]
fn no_bound_on_whole_items_is_issued_where_senders_choose_the_address() {
    // Three hosts send 4 to one host each. One address: two of three items of 4 share one of two links: 8. Two
    // addresses: the leaf has more to choose, and only 12 / 2 = 6 holds.
    let case = Case::generated("two-level:leaves=2,hosts=6,spines=2");
    let entries: Vec<(u64, u64, f64)> = (0..3).flat_map(|d| [(0, 6 + d, 2.0), (1, 6 + d, 2.0)]).collect();
    let traffic = matrix(12, &entries);
    let one = case.optimize(&traffic, &case.routes(Engine::Dmodk), 1_000);
    assert_eq!((one.bound.claim, one.bound.reason.kind()), (8.0, "pigeonhole"));
    let options = EngineOptions { seed: 0, lmc: 1 };
    let mut background = route(Engine::Dmodk, &case.fabric, &case.structure, &options).unwrap();
    background.path = netloom_model::PathChoice::SourceMod;
    let two = case.optimize(&traffic, &background, 1_000);
    case.assert_sound(&traffic, &background, &two);
    assert_eq!((two.bound.claim, two.bound.reason.kind()), (6.0, "dual"));
    assert_eq!((two.switch_max_load, two.proven_optimal), (6.0, true));
    // With one address in use the items stay whole.
    background.path = netloom_model::PathChoice::Base;
    assert_eq!(case.optimize(&traffic, &background, 1_000).bound.claim, 8.0);
}

#[test]
fn no_bound_on_whole_items_is_issued_for_frozen_destinations_of_several_addresses() {
    // As above, but hosts 9 to 11, to which nobody sends, keep their entries: that brought back the 8 of whole items,
    // and 6 was called better than possible.
    let case = Case::generated("two-level:leaves=2,hosts=6,spines=2");
    let entries: Vec<(u64, u64, f64)> = (0..3).flat_map(|d| [(0, 6 + d, 2.0), (1, 6 + d, 2.0)]).collect();
    let traffic = matrix(12, &entries);
    let options = EngineOptions { seed: 0, lmc: 1 };
    let mut background = route(Engine::Dmodk, &case.fabric, &case.structure, &options).unwrap();
    background.path = netloom_model::PathChoice::SourceMod;
    let frozen: Vec<bool> = (0..12).map(|h| h >= 9).collect();
    let change = netloom_optimize::Change { from: &background, penalty: 0.0, most: None, frozen: &frozen };
    let options = OptimizeOptions { work: Some(1000), change: Some(change), ..OptimizeOptions::default() };
    let result = case.optimize_with(&traffic, &background, &options, &Control::new()).unwrap();
    case.assert_sound(&traffic, &background, &result);
    assert_eq!((result.bound.claim, result.switch_max_load, result.proven_optimal), (6.0, 6.0, true));
}

#[test]
fn what_is_reported_is_what_the_tables_do_to_the_last_bit() {
    // Tenths do not add up exactly, so the search's sums, in another order, differ in their last bits.
    let case = Case::generated("two-level:leaves=4,hosts=4,spines=2");
    let tenths = |i: u64, j: u64| (i, j, 0.1 * (1 + (7 * i + 3 * j) % 10) as f64);
    let entries: Vec<_> =
        (0..16).flat_map(|i| (0..16).filter(move |&j| j != i).map(move |j| tenths(i, j))).collect();
    let traffic = matrix(16, &entries);
    let background = case.routes(Engine::Random);
    let result = case.optimize(&traffic, &background, 2_000);
    case.assert_sound(&traffic, &background, &result);
    assert_eq!(result.switch_max_load, case.switch_max(&result.routes, &traffic));
}

#[test]
fn no_traffic_is_fine() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let background = case.routes(Engine::Dmodk);
    let result = case.optimize(&Csr::empty(4), &background, 100);
    assert_eq!((result.switch_max_load, result.proven_optimal), (0.0, true));
    assert_eq!(result.routes.lft(), background.lft());
}

#[test]
fn what_does_not_fit_is_refused() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let background = case.routes(Engine::Dmodk);
    let options = OptimizeOptions::default();
    let refused = |traffic: &Csr, routes: &Routes| {
        case.optimize_with(traffic, routes, &options, &Control::new()).unwrap_err()
    };
    assert!(matches!(refused(&Csr::empty(5), &background), OptimizeError::Size { endpoints: 5, hosts: 4 }));
    let by_source = case.routes(Engine::Smodk);
    if matches!(by_source.table, Table::UpBySource { .. }) {
        assert_eq!(refused(&Csr::empty(4), &by_source), OptimizeError::NotByDestination);
    }
    let other = Case::generated("two-level:leaves=2,hosts=2,spines=3").routes(Engine::Dmodk);
    assert!(matches!(refused(&Csr::empty(4), &other), OptimizeError::Shape { .. }));
}

#[test]
fn afar_moves_the_first_destination_that_helps() {
    // Two leaves of two hosts, two spines. d-mod-k sends host 2 by spine 0 and host 3 by spine 1; both
    // forced by spine 0 the link carries 2, and one move halves it.
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let traffic = matrix(4, &[(0, 2, 1.0), (1, 3, 1.0)]);
    let mut start = case.routes(Engine::Dmodk);
    let leaf = case.fabric.leaf(HostId(0));
    let Table::ByDest(lft) = &mut start.table else { panic!("d-mod-k is by destination") };
    let port = lft.get(leaf, netloom_model::DestId(2));
    lft.set(leaf, netloom_model::DestId(3), port);
    assert_eq!(case.switch_max(&start, &traffic), 2.0);
    let result = run_afar(&case, &start, &traffic);
    assert_eq!((result.max_load, result.iterations, result.stuck), (1.0, 1, true));
    assert_eq!(case.switch_max(&result.routes, &traffic), 1.0);
    // Host 2 is the first destination across the link.
    let changed = result.routes.lft().unwrap().get(leaf, netloom_model::DestId(2));
    assert_ne!(changed, port);
}

fn run_afar(case: &Case, start: &Routes, traffic: &Csr) -> netloom_optimize::AfarResult {
    let options = AfarOptions::default();
    afar(&case.fabric, &case.paths, start, traffic, &options, &Control::new()).unwrap()
}

#[test]
fn afar_is_never_worse_than_its_start_and_keeps_its_books() {
    for seed in 0..120 {
        let case = Case::new(any_fabric(seed));
        let traffic = random_matrix(&case.fabric, seed);
        let start = case.routes(if seed % 2 == 0 { Engine::Random } else { Engine::Dmodk });
        if loads(&case.fabric, &start, &traffic).is_err() {
            continue;
        }
        let result = run_afar(&case, &start, &traffic);
        let max = case.switch_max(&result.routes, &traffic);
        assert!((max - result.max_load).abs() <= 1e-9 * (1.0 + max), "seed {seed}");
        assert!(max <= case.switch_max(&start, &traffic) * (1.0 + 1e-9), "seed {seed}");
        assert!(check(&case.fabric, &case.structure, &result.routes).credit_loops == 0, "seed {seed}");
    }
}

#[test]
fn odd_shapes_come_near_their_bound() {
    // What is not a plain three-level tree: no engine's routes are better, and every pair of hosts has its way.
    let shapes = [
        "two-level:leaves=6,hosts=6,spines=3",
        "two-level:leaves=6,hosts=6,spines=2,cables=3",
        "fattree:pods=3,leaves=3,hosts=6,spines=2,groups=1,cores=2,leaf-cables=2,core-cables=2",
        "xgft:m=4x2x2x2,w=1x2x2x2",
    ];
    for (spec, seed) in shapes.iter().flat_map(|s| (0..4).map(move |seed| (s, seed))) {
        let whole = generate(spec).unwrap();
        // Every other one has lost two cables.
        let what = Damage { random_links: 2 * (seed as usize % 2), ..Damage::default() };
        let case = Case::new(damage(&whole, &what, seed).unwrap().fabric);
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let n = case.fabric.host_count() as u64;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| (1..6).map(move |k| (i, (i + k * (k + 3 + seed)) % n, (1 + (i + k) % 4) as f64)))
            .filter(|e| e.0 != e.1)
            .collect();
        let traffic = matrix(n as usize, &entries);
        let background = case.routes(Engine::Random);
        let result = case.optimize(&traffic, &background, 20_000);
        case.assert_sound(&traffic, &background, &result);
        for engine in [Engine::Dmodk, Engine::Updn] {
            let other = case.switch_max(&case.routes(engine), &traffic);
            assert!(
                result.switch_max_load <= other * (1.0 + 1e-9),
                "{spec}, seed {seed}: {engine} is better"
            );
        }
        // Items of up to four bytes on links of some tens: rounding costs a few of them.
        let gap = result.switch_max_load / result.switch_bound - 1.0;
        assert!(gap <= 0.1, "{spec}, seed {seed}: {gap} above the bound");
    }
}
