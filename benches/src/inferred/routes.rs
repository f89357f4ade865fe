//! What counts in the end: routes from inferred traffic, under the true one.

use netloom_infer::Verdict;
use netloom_model::{Csr, Hose, Routes};
use netloom_optimize::optimize_hose;
use netloom_routing::Engine;

use super::field::{Field, Readings};
use crate::inputs::{resolved, resolved_text};
use crate::race::race;
use crate::study::ground::{Ground, options};
use crate::study::{Claim, Section, Study, coarse, heads};
use crate::table::spell;

/// Seconds for an optimisation.
const LIMIT: f64 = 10.0;
/// Of ftree's gap, irregular traffic may leave this part on several lanes.
const IRREGULAR: f64 = 0.65;

/// Where a case's jobs come from.
#[derive(Clone, Copy)]
enum From {
    /// A file below `examples/jobs`.
    File(&'static str),
    /// A jobs file's text, as if it lay there.
    Text(&'static str),
}

/// A case: its name, its jobs, whether inference knows which rank is where, on how many lanes.
type Case = (&'static str, From, bool, &'static [u8]);

const CASES: [Case; 12] = [
    ("LULESH 512 x 6", From::File("table/lulesh.toml"), true, &[1, 5]),
    ("SNAP 168 x 18", From::File("table/snap.toml"), true, &[1, 5]),
    ("HPCG 216 x 14", From::File("table/hpcg.toml"), true, &[1, 5]),
    (
        "BoxLib MG 64 x 48",
        From::Text(
            "[[job]]\nmatrix = \"../data/boxlibmg-64.mtx.gz\"\nallocation = \"fragmented\"\ncopies = 48\n",
        ),
        true,
        &[1, 5],
    ),
    ("Nekbone 256 x 12", From::File("table/nekbone.toml"), true, &[1, 5]),
    ("AMG 125 x 24", From::File("table/amg.toml"), true, &[1, 5]),
    ("LULESH, miniAMR x 3, HPCG x 4", From::File("mix.toml"), true, &[1, 5]),
    (
        "miniAMR 512, consecutive",
        From::Text("[[job]]\nmatrix = \"../data/miniamr-512.mtx.gz\"\nallocation = \"contiguous:10\"\n"),
        true,
        &[1, 5],
    ),
    ("BoxLib CNS 512 x 6", From::File("table/cns.toml"), true, &[1, 5]),
    ("miniAMR 512 x 6", From::File("table/miniamr.toml"), true, &[1, 5]),
    (
        "stencil27 1024, renumbered, consecutive",
        From::Text(
            "[[job]]\npattern = \"stencil27:16x8x8,bytes=1000000\"\nmapping = \"random\"\nallocation = \"contiguous:10\"\n",
        ),
        false,
        &[1, 5],
    ),
    (
        "stencil27 1024 x 3, renumbered",
        From::Text(
            "[[job]]\npattern = \"stencil27:16x8x8,bytes=1000000\"\nmapping = \"random\"\ncopies = 3\n",
        ),
        false,
        &[1, 5],
    ),
];

/// Gaps from the adaptive-routing bound of the true traffic.
pub fn run(_: &mut Study) -> Section {
    let mut table = vec![heads(&[
        "jobs",
        "lanes",
        "pairs %",
        "leaf sums %",
        "estimated",
        "verdict",
        "ftree",
        "random",
        "from the truth",
        "from counters",
        "from sums",
        "time to infer",
    ])];
    let mut claims = Vec::new();
    for (name, jobs, known, lanes) in &CASES {
        let jobs = match jobs {
            From::File(path) => resolved(&format!("examples/jobs/{path}")),
            From::Text(text) => resolved_text(text.as_bytes(), name, "examples/jobs"),
        };
        let field = Field::new(jobs, *known);
        let ground = &field.ground;
        let best = ground.optimize(&field.truth, LIMIT);
        let bound = best.found.ar.as_ref().expect("no bound was given").lower;
        let gap = |max: Option<f64>| max.expect("delivered") / bound - 1.0;
        let under = |which: Engine| gap(ground.under(which, &field.truth));
        let (ftree, random) = (under(Engine::Ftree), under(Engine::Random));
        let from_truth = gap(Some(best.found.loads.max()));
        // Exact counters give the true sums on any number of lanes.
        let from_sums = gap(ground.max(&for_sums(ground, &field.truth), &field.truth));
        for &lanes in *lanes {
            let inferred = field.inferred(lanes, Readings::Exact);
            let routes = ground.optimize(&inferred.traffic, LIMIT).found.outcome.routes;
            let from_counters = gap(ground.max(&routes, &field.truth));
            let trust = &inferred.found.trust;
            table.push(vec![
                (*name).into(),
                lanes.to_string(),
                format!("{:.3}", 100.0 * inferred.errors.pairs),
                format!("{:.3}", 100.0 * inferred.errors.leaf_sums),
                format!("{:.3}", 100.0 * trust.leaf_error),
                trust.verdict.name().into(),
                coarse(ftree),
                coarse(random),
                coarse(from_truth),
                coarse(from_counters),
                coarse(from_sums),
                spell(inferred.seconds),
            ]);
            eprintln!("  {}", table[table.len() - 1].join(" | "));
            // What is a guess is not to be routed by; the sums are certain.
            let guess = trust.verdict == Verdict::NotIdentifiable;
            let of_answer = if guess { from_sums } else { from_counters };
            let (asked, kept) = match trust.verdict {
                Verdict::Identified => ("within 1 point of the truth's", of_answer <= from_truth + 0.01),
                _ if lanes > 1 => {
                    ("at most 0.65 of ftree's, below random's", of_answer <= (IRREGULAR * ftree).min(random))
                }
                _ => ("not worse than ftree's", of_answer <= ftree + 1e-9),
            };
            claims.push(Claim {
                what: format!("{name}, {lanes} VL: {}", trust.verdict.name()),
                asked: asked.into(),
                measured: format!(
                    "{} (truth {}, ftree {})",
                    coarse(of_answer),
                    coarse(from_truth),
                    coarse(ftree)
                ),
                kept,
            });
        }
    }
    Section {
        title: "Routes from inferred traffic".into(),
        text: format!(
            "Jobs on quartz1, several copies fragmented over all of it or one on consecutive hosts from number 10; exact counters. Gaps are the largest link load of the *true* \
             traffic over its adaptive-routing bound, less 1: with `ftree`, with random routes, with routes optimised for the truth, for what was inferred, and for nothing but \
             what every host sends and receives ({LIMIT:.0} s each, one thread). Of the renumbered stencil only the jobs' hosts are known."
        ),
        tables: vec![table],
        claims,
    }
}

/// Routes for the sums alone.
fn for_sums(ground: &Ground, truth: &Csr) -> Routes {
    let Ground { fabric, structure, paths, background } = ground;
    let hose = Hose::of(truth, Some(fabric.hosts_hash()));
    let run = race(LIMIT, |control| {
        optimize_hose(fabric, structure, paths, &hose, background, &options(), control)
            .expect("every pair has a way")
    });
    run.found.outcome.routes
}
