//! Five lanes, by who has which: random levels of pairs, levels that a QoS policy or a setting of MPI can say, one table for all ports, and
//! the two schemes that no switch can do.

use netloom_counters::lane_scheme;

use super::field::{Field, Readings};
use crate::study::{Claim, Section, Study, heads};
use crate::table::spell;

/// Applications.
const APPLICATIONS: [&str; 5] = ["lulesh-512", "snap-168", "nekbone-256", "amg-125", "miniamr-512"];
/// Schemes, the dissertation's three first.
const SCHEMES: [&str; 8] = [
    "5sl5vl",
    "5vl:random",
    "5vl:galois",
    "5sl5vl:groups",
    "5sl5vl:sources",
    "5sl5vl:uniform",
    "5sl5vl:groups:uniform",
    "5sl5vl:sources:uniform",
];
/// How many times worse than levels of pairs what can be deployed may be.
const WORSE: f64 = 1.5;
/// A difference (%) that is none.
const NOTHING: f64 = 1.0;

/// Every application alone, by scheme.
pub fn run(_: &mut Study) -> Section {
    let mut table = vec![heads(&[
        "application",
        "scheme",
        "pairs %",
        "estimated",
        "leaf sums %",
        "estimated",
        "verdict",
        "time",
    ])];
    let mut claims = Vec::new();
    for name in APPLICATIONS {
        let field = Field::recorded(name);
        let mut errors = Vec::new();
        for spec in SCHEMES {
            let scheme = lane_scheme(&field.ground.fabric, &format!("{spec}:seed=1")).expect("a scheme");
            let found = field.inferred_with(&scheme, Readings::Exact);
            let (trust, percent) = (&found.found.trust, |part: f64| format!("{:.3}", 100.0 * part));
            table.push(vec![
                name.into(),
                format!("`{spec}`"),
                percent(found.errors.pairs),
                percent(trust.pair_error),
                percent(found.errors.leaf_sums),
                percent(trust.leaf_error),
                trust.verdict.name().into(),
                spell(found.seconds),
            ]);
            eprintln!("  {}", table[table.len() - 1].join(" | "));
            errors.push((spec, 100.0 * found.errors.leaf_sums));
        }
        let of_pairs = errors[0].1;
        let limit = (WORSE * of_pairs).max(of_pairs + NOTHING);
        let groups = errors.iter().find(|(spec, _)| *spec == "5sl5vl:groups:uniform").expect("listed").1;
        claims.push(Claim {
            what: format!("{name}: leaf sums with levels by a QoS policy"),
            asked: format!("at most {limit:.2} % (levels of pairs: {of_pairs:.2} %)"),
            measured: format!("{groups:.2} %"),
            kept: groups <= limit,
        });
    }
    Section {
        title: "Assignment of lanes".into(),
        text: "Five lanes, seed 1, exact counters, one rank a host on consecutive hosts of quartz1 from number 10, routes by `ftree`.".into(),
        tables: vec![table],
        claims,
    }
}
