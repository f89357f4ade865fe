//! Tables 4.2 and 4.3: recorded applications one by one, and whether their errors are known.

use netloom_infer::Verdict;

use super::field::{Field, Readings};
use crate::study::{Claim, Section, Study, heads};
use crate::table::spell;

/// An application, the most that its error may be with 1, 2 and 5 lanes (%), and the dissertation's best for its kind.
/// miniAMR stands beside nobody: its limits are what was measured on 2026-11-22 and a tenth more.
const APPLICATIONS: [(&str, [f64; 3], &str); 8] = [
    ("lulesh-512", [0.02, 0.01, 0.01], "29.4 / 0.9 / 0.0"),
    ("snap-168", [0.02, 0.01, 0.01], "23.4 / 0.1 / 0.0 (PARTISN)"),
    ("hpcg-216", [0.02, 0.01, 0.01], ""),
    ("boxlibmg-64", [66.1, 5.2, 0.4], "66.1 / 5.2 / 0.4 (MG C)"),
    ("nekbone-256", [15.0, 4.0, 2.0], "16.5 / 4.8 / 2.4 (1024 ranks)"),
    ("amg-125", [50.0, 15.0, 5.0], "49.2 / 8.8 / 1.8 (1728 ranks)"),
    ("cns-512", [0.02, 0.01, 0.01], "97.6 / 97.1 / 86.9 (BoxLib CNS)"),
    ("miniamr-512", [53.0, 51.0, 34.0], ""),
];
/// Errors below this (%) are nothing, whatever was estimated below it.
const NOTHING: f64 = 0.1;

/// Every application alone, from exact and from real counters.
pub fn run(_: &mut Study) -> Section {
    let mut table = vec![heads(&[
        "application",
        "counters",
        "lanes",
        "pairs %",
        "estimated",
        "leaf sums %",
        "estimated",
        "verdict",
        "time",
        "dissertation, 1 / 2 / 5 lanes",
    ])];
    let mut claims = Vec::new();
    let (mut cases, mut near) = (0, [0, 0]);
    for (name, most, paper) in APPLICATIONS {
        let field = Field::recorded(name);
        for readings in [Readings::Exact, Readings::Real] {
            for (lanes, most) in [1, 2, 5].into_iter().zip(most) {
                let found = field.inferred(lanes, readings);
                let trust = &found.found.trust;
                let [pairs, leaves] = percents(found.errors.pairs, found.errors.leaf_sums);
                let [of_pairs, of_leaves] = percents(trust.pair_error, trust.leaf_error);
                cases += 1;
                near[0] += usize::from(is_near(pairs, of_pairs));
                near[1] += usize::from(is_near(leaves, of_leaves));
                table.push(vec![
                    name.into(),
                    readings.name().into(),
                    lanes.to_string(),
                    format!("{pairs:.3}"),
                    format!("{of_pairs:.3}"),
                    format!("{leaves:.3}"),
                    format!("{of_leaves:.3}"),
                    trust.verdict.name().into(),
                    spell(found.seconds),
                    paper.into(),
                ]);
                eprintln!("  {}", table[table.len() - 1].join(" | "));
                if readings == Readings::Exact {
                    claims.push(Claim {
                        what: format!("{name}, {lanes} VL"),
                        asked: format!("{most} % in 30 s"),
                        measured: format!("{pairs:.3} % in {}", spell(found.seconds)),
                        kept: pairs <= most && found.seconds <= 30.0,
                    });
                }
                if trust.verdict == Verdict::Identified && leaves > 10.0 {
                    claims.push(Claim {
                        what: format!("{name}, {lanes} VL, verdict"),
                        asked: "right".into(),
                        measured: format!("identified, but {leaves:.1} % off"),
                        kept: false,
                    });
                }
            }
        }
    }
    for (of, near) in ["pairs", "leaf sums"].into_iter().zip(near) {
        claims.push(Claim {
            what: format!("estimated error of {of} within a factor of two"),
            asked: "9 of 10".into(),
            measured: format!("{near} of {cases}"),
            kept: near * 10 >= cases * 9,
        });
    }
    Section {
        title: "Recorded applications".into(),
        text: format!(
            "One rank a host on consecutive hosts of quartz1 from number 10 (sec. 4.7), `ftree`. Errors are `|x - x*| / |x*|`; an error and \
             its estimate that are both below {NOTHING} % agree. The last column is the dissertation's best of tables 4.2 and 4.3, from exact counters."
        ),
        tables: vec![table],
        claims,
    }
}

/// Of pairs and of leaf sums, %.
fn percents(pairs: f64, leaf_sums: f64) -> [f64; 2] {
    [100.0 * pairs, 100.0 * leaf_sums]
}

fn is_near(error: f64, estimated: f64) -> bool {
    let (error, estimated) = (error.max(NOTHING), estimated.max(NOTHING));
    estimated <= 2.0 * error && error <= 2.0 * estimated
}
