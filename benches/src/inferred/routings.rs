//! Counters of the same traffic under several routings: what the errors of one lane come to.

use netloom_infer::{LaneScheme, Verdict};
use netloom_model::{PathChoice, Routes};
use netloom_routing::{Engine, EngineOptions, route};

use super::field::{Field, Readings};
use crate::study::{Claim, Section, Study, heads};
use crate::table::spell;

/// Applications.
const APPLICATIONS: [&str; 7] =
    ["lulesh-512", "snap-168", "hpcg-216", "boxlibmg-64", "nekbone-256", "amg-125", "miniamr-512"];
/// How many routings.
const COUNTS: [usize; 4] = [1, 2, 4, 8];
/// Eight addresses a host.
const LMC: u8 = 3;
/// An error of leaf sums (%) that is nothing.
const NOTHING: f64 = 0.1;

/// Every application alone, by the number of routings.
pub fn run(_: &mut Study) -> Section {
    let mut table = vec![heads(&[
        "application",
        "routings",
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
        let by_destination: Vec<Routes> = std::iter::once(field.ground.background.clone())
            .chain((1..*COUNTS.last().expect("some") as u64).map(|seed| random(&field, seed, 0)))
            .collect();
        let by_source: Vec<Routes> = (1..=4).map(|seed| random(&field, seed, LMC)).collect();
        let cases = COUNTS.map(|count| (count.to_string(), &by_destination[..count]));
        let more = (format!("{}, by source", by_source.len()), &by_source[..]);
        let mut leaves = Vec::new();
        for (label, routings) in cases.into_iter().chain([more]) {
            let found = field.inferred_under(routings, &LaneScheme::One, Readings::Exact);
            let trust = &found.found.trust;
            let percent = |part: f64| format!("{:.3}", 100.0 * part);
            let (pairs, sums) = (found.errors.pairs, found.errors.leaf_sums);
            table.push(vec![
                name.into(),
                label,
                percent(pairs),
                percent(trust.pair_error),
                percent(sums),
                percent(trust.leaf_error),
                trust.verdict.name().into(),
                spell(found.seconds),
            ]);
            eprintln!("  {}", table[table.len() - 1].join(" | "));
            leaves.push((100.0 * sums, trust.verdict));
        }
        let (one, eight) = (leaves[0].0, leaves[COUNTS.len() - 1].0);
        claims.push(Claim {
            what: format!("{name}: leaf sums under 8 routings"),
            asked: format!("at most half of one's {one:.2} %, or {NOTHING} %"),
            measured: format!("{eight:.3} %"),
            kept: eight <= (0.5 * one).max(NOTHING),
        });
        if let Some(wrong) =
            leaves.iter().find(|(sums, verdict)| *verdict == Verdict::Identified && *sums > 10.0)
        {
            claims.push(Claim {
                what: format!("{name}: verdict under several routings"),
                asked: "right".into(),
                measured: format!("identified, but {:.1} % off", wrong.0),
                kept: false,
            });
        }
    }
    Section {
        title: "Several routings".into(),
        text: "One lane, exact counters, one rank a host on consecutive hosts of quartz1 from number 10; an interval under each of so many routings: `ftree`, then `random` \
               with seeds 1 to 7. `by source`: four times `random` with eight addresses a host (LMC 3), chosen by the source's number. Senders of a leaf cannot be told apart by \
               routes that look at the destination alone, so these errors of pairs are what hypotheses leave."
            .into(),
        tables: vec![table],
        claims,
    }
}

/// Random routes; with several addresses a host, sources choose by their number.
fn random(field: &Field, seed: u64, lmc: u8) -> Routes {
    let ground = &field.ground;
    let options = EngineOptions { seed, lmc };
    let routes =
        route(Engine::Random, &ground.fabric, &ground.structure, &options).expect("quartz1 is whole");
    let path = if lmc > 0 { PathChoice::SourceMod } else { PathChoice::Base };
    Routes { path, ..routes }
}
