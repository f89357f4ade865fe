//! Recorded applications, packet by packet: tables optimised for what they send, beside those that the optimiser starts from.
//!
//! Loads are sums over a run; that a table is better by them does not make the run shorter. Beside each time stand two figures of the
//! tables that loads alone would choose: the largest load of all, and the sum over spans of the start's run of each span's largest load.

use std::path::Path;

use netloom_compose::judged::PATIENCE;
use netloom_compose::{Asked, Choice, Scene, choose, oblivious};
use netloom_formats::{Found, read_scenario};
use netloom_model::{Control, Csr, Fabric, Routes};
use netloom_optimize::OptimizeOptions;
use netloom_routing::{EngineOptions, PathSet, loads};
use netloom_sim::Model;
use netloom_topology::{Structure, detect, generate};
use rayon::prelude::*;

use super::{Claim, Section, Study, abreast, heads};

const TRACES: [&str; 10] = [
    "boxlibmg-64",
    "cg-128",
    "cns-512",
    "ft-128",
    "lu-64",
    "lulesh-512",
    "lulesh-64",
    "mg-64",
    "nekbone-64",
    "snap-168-short",
];
const FABRICS: [(&str, &str); 2] = [("B", "two-level:leaves=24,hosts=16,spines=8"), ("quartz1", "quartz1")];
const PLACES: [(&str, &str, &str); 2] = [("in order", "contiguous", "block"), ("random", "random", "random")];
/// Spans of the run for the proxy: about as long as an exchange of messages.
const SPANS: u64 = 256;
/// How much slower optimised tables may be.
const SLOWER: f64 = 1.02;

/// A recorded run somewhere.
struct Row {
    cells: Vec<String>,
    ratio: f64,
    by_loads: f64,
    by_sums: f64,
    by_spans: f64,
}

/// A fabric with what is derived from it.
struct Ground {
    fabric: Fabric,
    structure: Structure,
    paths: PathSet,
}

/// Ten applications, two fabrics, two placements.
pub fn run(_: &mut Study) -> Section {
    let grounds: Vec<Ground> = FABRICS
        .iter()
        .map(|(_, spec)| {
            let fabric = generate(spec).expect("a known spec");
            let structure = detect(&fabric);
            let paths = PathSet::admissible(&fabric, &structure);
            Ground { fabric, structure, paths }
        })
        .collect();
    let cases: Vec<_> = TRACES.iter().flat_map(|&trace| (0..4).map(move |k| (trace, k / 2, k % 2))).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(abreast()).build().expect("threads");
    let rows: Vec<Row> =
        pool.install(|| cases.par_iter().map(|&(t, place, f)| row(t, place, f, &grounds[f])).collect());
    let mut table = vec![heads(&[
        "run",
        "hosts",
        "fabric",
        "ftree",
        "taken",
        "time",
        "by loads alone",
        "largest load",
        "sum over spans",
    ])];
    table.extend(rows.iter().map(|row| row.cells.clone()));
    let worst = rows.iter().map(|row| row.ratio).fold(0.0, f64::max);
    let slower = rows.iter().filter(|row| row.ratio > SLOWER).count();
    let before = rows.iter().filter(|row| row.by_loads > SLOWER).count();
    let agree = |get: fn(&Row) -> f64| {
        let told = rows.iter().filter(|row| (row.by_loads - 1.0).abs() > 0.02);
        let right = told.clone().filter(|row| (get(row) < 1.0) == (row.by_loads < 1.0)).count();
        format!("{right} of {}", told.count())
    };
    let gain = percent(1.0 - median(rows.iter().map(|row| row.ratio).collect()));
    let gain_by_loads = percent(1.0 - median(rows.iter().map(|row| row.by_loads).collect()));
    Section {
        title: "Recorded applications, packet by packet".into(),
        text: format!(
            "`examples/data`, 512 ranks two a host on B (`{}`), collectives as messages, no time for computing. *ftree* is the time with the tables that the search starts \
             from; *taken* is the candidate that the simulation chose; all else is relative to ftree: its *time*, the time of tables chosen *by loads alone* (the search for the \
             whole traffic, its tail included), their *largest load* between switches, and the *sum over {SPANS} spans* of ftree's run of each one's largest load. Where the time by loads \
             differs by more than 2 %, the largest load tells which is better in {}, the sum over spans in {}. By loads alone the median gains {gain_by_loads} and {before} of {} runs are slower by over 2 %.",
            FABRICS[0].1,
            agree(|row| row.by_sums),
            agree(|row| row.by_spans),
            rows.len(),
        ),
        tables: vec![table],
        claims: vec![
            Claim {
                what: format!("`optimized` against its start, {} runs", rows.len()),
                asked: "never more than 2 % slower".into(),
                measured: format!("{slower} slower, worst {:+.1} %", 100.0 * (worst - 1.0)),
                kept: slower == 0 && rows.iter().all(|row| row.ratio.is_finite()),
            },
            Claim {
                what: "… median".into(),
                asked: "a gain, printed".into(),
                measured: format!("{gain} shorter"),
                kept: true,
            },
        ],
    }
}

/// One run.
fn row(trace: &str, place: usize, f: usize, ground: &Ground) -> Row {
    let Ground { fabric, structure, paths } = ground;
    let (hosts, allocation, mapping) = PLACES[place];
    let dense = fabric.host_count() < 512 && trace.ends_with("512");
    let text = format!(
        "fabric = \"{}\"\nseed = 1\n[[job]]\nname = \"{trace}\"\ntrace = \"{trace}.ti.gz\"\nallocation = \"{allocation}\"\nmapping = \"{mapping}\"\nranks_per_host = {}\n",
        FABRICS[f].1,
        if dense { 2 } else { 1 }
    );
    let scenario = read_scenario(text.as_bytes(), trace, &[]).expect("a scenario");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data");
    let scene =
        Scene::new(fabric, scenario, &mut |_, name| std::fs::read(folder.join(name)).map(Found::File))
            .unwrap_or_else(|e| panic!("{trace}: {e}"));
    let control = Control::new();
    let goal = netloom_compose::traffic::total(fabric, &scene.jobs, &control).expect("not stopped");
    let start = &oblivious(fabric, structure, &EngineOptions { seed: 1, lmc: 0 }).expect("a tree");
    let options = &OptimizeOptions {
        seed: 1,
        work: Some(1_000_000 + 20 * goal.total().entry_count() as u64),
        ..OptimizeOptions::default()
    };
    let model = Some(Model::Packet);
    let asked =
        Asked { fabric, structure, paths, scene: &scene, goal: &goal, start, options, model, threads: 1 };
    let choice: Choice = choose(&asked, &control).unwrap_or_else(|e| panic!("{trace}: {e}"));
    let first = asked.run(start, Model::Packet, None, &control).expect("runs").expect("ends");
    let spans = asked.windows(&first, SPANS, &control).expect("runs");
    let searched = choice.candidates.iter().find(|c| c.name == "search").unwrap_or(&choice.candidates[0]);
    let of = |routes: &Routes| {
        let largest =
            |matrix: &Csr| loads(fabric, routes, matrix).expect("delivered").max_between_switches(fabric);
        (largest(&goal.total()), spans.iter().map(largest).sum::<f64>())
    };
    let ((sum, time), (start_sum, start_time)) = (of(&searched.routes), of(start));
    let part = |now: f64, before: f64| if before > 0.0 { now / before } else { 1.0 };
    let taken = &choice.candidates[choice.chosen];
    let ratio = taken.ratio.unwrap_or(f64::INFINITY);
    let by_loads = searched.ratio.unwrap_or(f64::INFINITY);
    let (by_sums, by_spans) = (part(sum, start_sum), part(time, start_time));
    let mut cells = vec![
        trace.trim_end_matches("-short").to_owned(),
        hosts.to_owned(),
        FABRICS[f].0.to_owned(),
        format!("{:.3} ms", first.end_ps as f64 * 1e-9),
        taken.name.to_owned(),
    ];
    let told = |r: &f64| if r.is_finite() { format!("{r:.3}") } else { format!("over {PATIENCE}") };
    cells.extend([ratio, by_loads, by_sums, by_spans].iter().map(told));
    Row { cells, ratio, by_loads, by_sums, by_spans }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}
