//! What counts in the end: routes from inferred traffic, under the true one.

use netloom_infer::Verdict;
use netloom_routing::Engine;

use super::field::{Field, Readings};
use crate::inputs::{resolved, resolved_text};
use crate::study::{Claim, Section, Study, coarse, heads};
use crate::table::spell;

/// Seconds for an optimisation.
const LIMIT: f64 = 10.0;

/// A case: its name, its jobs file or the text of one, whether inference knows which rank is where.
const CASES: [(&str, &str, bool); 4] = [
    ("LULESH 512 x 6, fragmented", "lulesh6.toml", true),
    ("LULESH, miniAMR and HPCG", "mix.toml", true),
    (
        "miniAMR 512 x 6, fragmented",
        "[[job]]\nmatrix = \"../data/miniamr-512.mtx.gz\"\nallocation = \"fragmented\"\ncopies = 6\n",
        true,
    ),
    (
        "27-point stencil, renumbered, 1024 x 3",
        "[[job]]\npattern = \"stencil27:16x8x8,bytes=1000000\"\nmapping = \"random\"\ncopies = 3\n",
        false,
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
        "time to infer",
    ])];
    let mut claims = Vec::new();
    for (name, jobs, known) in CASES {
        let jobs = if jobs.contains('\n') {
            resolved_text(jobs.as_bytes(), name, "examples/jobs")
        } else {
            resolved(&format!("examples/jobs/{jobs}"))
        };
        let field = Field::new(jobs, known);
        let ground = &field.ground;
        let best = ground.optimize(&field.truth, LIMIT);
        let bound = best.found.ar.as_ref().expect("no bound was given").lower;
        let gap = |max: Option<f64>| max.expect("delivered") / bound - 1.0;
        let under = |which: Engine| gap(ground.under(which, &field.truth));
        let (ftree, random) = (under(Engine::Ftree), under(Engine::Random));
        let from_truth = gap(Some(best.found.loads.max()));
        for lanes in [1, 5] {
            let inferred = field.inferred(lanes, Readings::Exact);
            let routes = ground.optimize(&inferred.traffic, LIMIT).found.routes;
            let from_counters = gap(ground.max(&routes, &field.truth));
            let trust = &inferred.found.trust;
            table.push(vec![
                name.into(),
                lanes.to_string(),
                format!("{:.3}", 100.0 * inferred.errors.pairs),
                format!("{:.3}", 100.0 * inferred.errors.leaf_sums),
                format!("{:.3}", 100.0 * trust.leaf_error),
                trust.verdict.name().into(),
                coarse(ftree),
                coarse(random),
                coarse(from_truth),
                coarse(from_counters),
                spell(inferred.seconds),
            ]);
            eprintln!("  {}", table[table.len() - 1].join(" | "));
            let within_a_point = from_counters <= from_truth + 0.01;
            let (asked, kept) = match trust.verdict {
                Verdict::Identified => ("within 1 point of the truth's", within_a_point),
                _ if lanes > 1 => {
                    ("at most 0.65 of ftree's, below random's", from_counters <= (0.65 * ftree).min(random))
                }
                _ => ("not worse than ftree's", from_counters <= ftree + 1e-9),
            };
            claims.push(Claim {
                what: format!("{name}, {lanes} VL: {}", trust.verdict.name()),
                asked: asked.into(),
                measured: format!(
                    "{} (truth {}, ftree {})",
                    coarse(from_counters),
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
            "Jobs on the whole of quartz1, exact counters. Gaps are the largest link load of the *true* traffic over its adaptive-routing bound, less 1: with `ftree`, \
             with random routes, with routes optimised for the truth and with routes optimised for what was inferred ({LIMIT:.0} s each, one thread). Of the renumbered stencil only the \
             jobs' hosts are known."
        ),
        tables: vec![table],
        claims,
    }
}
