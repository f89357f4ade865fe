//! Whatever today's tables, the damage and the options: what the optimiser makes passes the judge that shares no code
//! with it, and no pair of hosts is lost that cables join.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Control, Csr, DestId, Fabric, Hose, HostId, Lft, Routes, SwitchId, Table};
use netloom_optimize::{
    Change, Combine, Layer, OptimizeError, OptimizeOptions, coloured, optimize_hose, optimize_layers,
    optimize_lmc, repaired,
};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::{Recipe, damaged_sample, matrix, random_matrix, sample, trials};
use netloom_topology::detect;
use netloom_verify::check;

use crate::shared::Case;

/// The connected part of every live host; `None` where its cable is dead.
fn parts(fabric: &Fabric) -> Vec<Option<u32>> {
    let mut part: Vec<u32> = (0..fabric.switch_count() as u32).collect();
    loop {
        let before = part.clone();
        for l in fabric.links().filter(|&l| fabric.alive(l)) {
            if let (Some(s), Some(t)) = (fabric.link_from_switch(l), fabric.link_to_switch(l)) {
                let least = part[s.index()].min(part[t.index()]);
                (part[s.index()], part[t.index()]) = (least, least);
            }
        }
        if part == before {
            break;
        }
    }
    let of = |h| fabric.alive(fabric.host_link(h)).then(|| part[fabric.leaf(h).index()]);
    fabric.hosts().map(of).collect()
}

/// Everything that must hold of tables that leave the optimiser.
fn judge(case: &Case, routes: &Routes, what: &str) {
    let part = parts(&case.fabric);
    let apart = |a: &Option<u32>, b: &Option<u32>| a.is_none() || a != b;
    let pairs =
        part.iter().enumerate().flat_map(|(i, a)| part.iter().enumerate().map(move |(j, b)| (i, a, j, b)));
    let lost = pairs.filter(|&(i, a, j, b)| i != j && apart(a, b)).count() as u64;
    let report = check(&case.fabric, &case.structure, routes);
    assert_eq!(
        report.unreachable_pairs - report.unreachable_management,
        lost << routes.lmc,
        "{what}: {report:?}"
    );
    assert_eq!(report.unreachable_management, report.no_way_to_switch, "{what}: {report:?}");
    assert_eq!((report.credit_loops, report.up_down_violations), (0, 0), "{what}: {report:?}");
    assert_eq!((report.missing_entries, report.invalid_entries), (0, 0), "{what}: {report:?}");
    assert_eq!(report.non_minimal_pairs, report.detours, "{what}: {report:?}");
}

/// Tables in force: an engine's, often from before the damage, sometimes with a few entries that lead anywhere.
fn today(case: &Case, whole: &Fabric, seed: u64, random: &mut Stream) -> Routes {
    let engine = Engine::ALL[below(random, Engine::ALL.len() as u64) as usize];
    let before = below(random, 2) == 0;
    let fabric = if before { whole } else { &case.fabric };
    let structure = detect(fabric);
    let options = EngineOptions { seed, lmc: 0 };
    let mut routes = route(engine, fabric, &structure, &options)
        .ok()
        .filter(|routes| routes.lft().is_some())
        .unwrap_or_else(|| route(Engine::Minhop, fabric, &structure, &options).unwrap());
    let mut lft: Lft = routes.lft().unwrap().clone();
    for _ in 0..below(random, 3) * below(random, 8) {
        let switch = SwitchId(below(random, fabric.switch_count() as u64) as u32);
        let dest = DestId(below(random, lft.dests() as u64) as u32);
        let port = below(random, u64::from(fabric.radix(switch)) + 2) as u16;
        lft.set(switch, dest, (port <= fabric.radix(switch)).then_some(port));
    }
    routes.table = Table::ByDest(lft);
    routes.cabling_hash = Some(case.fabric.cabling_hash());
    routes
}

/// Random traffic among the hosts of the first one's part.
fn traffic(case: &Case, seed: u64) -> Csr {
    let part = parts(&case.fabric);
    let mine = part.iter().flatten().next().copied();
    let joined = |h: u32| part[h as usize].is_some() && part[h as usize] == mine;
    let entries: Vec<(u64, u64, f64)> = random_matrix(&case.fabric, seed)
        .iter()
        .filter(|&(i, j, _)| joined(i) && joined(j))
        .map(|(i, j, b)| (u64::from(i), u64::from(j), b))
        .collect();
    matrix(case.fabric.host_count(), &entries)
}

#[test]
fn hostile_whatever_is_made_passes_the_judge() {
    let mut judged = 0;
    for seed in 0..trials(60) {
        let whole = sample(seed, &Recipe { missing: false, ..Recipe::ANY }).fabric;
        let case = Case::new(damaged_sample(seed).fabric);
        let Case { fabric, structure, paths } = &case;
        let random = &mut stream(seed, 77);
        let given = today(&case, &whole, seed, random);
        let mended = repaired(fabric, structure, paths, &given).unwrap();
        judge(&case, &mended, &format!("seed {seed}: repaired"));
        assert_eq!(
            repaired(fabric, structure, paths, &mended).unwrap(),
            mended,
            "seed {seed}: what is sound stays"
        );

        let one = traffic(&case, seed);
        let control = Control::new();
        let frozen: Vec<bool> = fabric.hosts().map(|_| below(random, 2) == 0).collect();
        let most = [None, Some(0), Some(1), Some(5)][below(random, 4) as usize];
        let penalty = [0.0, 0.0, 1.0][below(random, 3) as usize];
        let keeps: &[bool] = if below(random, 2) == 0 { &frozen } else { &[] };
        let from = if below(random, 2) == 0 && keeps.is_empty() { &given } else { &mended };
        let change = Change { from, penalty, most, frozen: keeps };
        let free = OptimizeOptions { seed, work: Some(1_500), ..OptimizeOptions::default() };
        let kept = OptimizeOptions { change: Some(change), ..free.clone() };
        let told = |door: &str| {
            format!("seed {seed}, {door}, {penalty} a change, at most {most:?}, frozen {}", !keeps.is_empty())
        };
        for (options, door) in [(&free, "anew"), (&kept, "from today's")] {
            let start = if options.change.is_some() { &mended } else { &given };
            let made = case.optimize_with(&one, start, options, &control).unwrap();
            judge(&case, &made.routes, &told(door));
            judged += 1;
        }
        let options = if below(random, 2) == 0 { &free } else { &kept };
        match below(random, 4) {
            0 => {
                let two = traffic(&case, seed + 1_000_000);
                let layer = |matrix| Layer { name: "phase".into(), matrix, weight: 1.0 };
                let combine = [Combine::Sum, Combine::Worst, Combine::WorstGap][below(random, 3) as usize];
                let layers = [layer(&one), layer(&two)];
                let made =
                    optimize_layers(fabric, structure, paths, &layers, combine, &mended, options, &control);
                judge(&case, &made.unwrap().routes, &told("layers"));
            }
            1 => {
                let lmc = 1 + below(random, 2) as u8;
                let made = optimize_lmc(fabric, structure, paths, &one, lmc, &given, &free, &control);
                judge(&case, &made.unwrap().routes, &told("lmc"));
            }
            2 => {
                // Its door wants tables that deliver to begin with.
                let kept =
                    OptimizeOptions { change: Some(Change { from: &mended, ..change }), ..free.clone() };
                let options = if options.change.is_some() { &kept } else { &free };
                let made = optimize_hose(
                    fabric,
                    structure,
                    paths,
                    &Hose::of(&one, None),
                    &mended,
                    options,
                    &control,
                );
                match made {
                    Ok(made) => judge(&case, &made.routes, &told("hose")),
                    Err(OptimizeError::Bound(_)) => {}
                    Err(other) => panic!("{}: {other}", told("hose")),
                }
            }
            _ => {
                let made = coloured(fabric, structure, paths, &one, &given, seed).unwrap();
                judge(&case, &made, &told("coloured"));
            }
        }
        judged += 1;
    }
    println!("{judged} tables judged");
}

/// Minhop's tables of an irregular tree, whose entries towards switches' own addresses wait for each other in a
/// circle although nothing towards hosts does: kept as they were, they kept the circle.
#[test]
fn a_credit_loop_of_entries_towards_switches_is_not_kept() {
    let read = |name: &str| {
        std::fs::read(format!("{}/../../tests/data/credit-loop/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let fabric = netloom_formats::read_fabric(&read("net.txt"), "net.txt", None).unwrap().fabric;
    let given = netloom_formats::read_lfts(&read("today.lfts"), "today.lfts", &fabric).unwrap().routes;
    let case = Case::new(fabric);
    let Case { fabric, structure, paths } = &case;
    assert_eq!(check(fabric, structure, &given).credit_loops, 1);
    let mended = repaired(fabric, structure, paths, &given).unwrap();
    judge(&case, &mended, "repaired");
    let some_host = fabric.dests(0).host(HostId(0), 0);
    assert_eq!(
        mended.lft().unwrap().get(SwitchId(0), some_host),
        given.lft().unwrap().get(SwitchId(0), some_host)
    );
}
