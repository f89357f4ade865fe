//! A barrier beside a bully: equal maxima, but how many links carry it decides the run time.
//!
//! Source: Taffet, dissertation, sec. 5.4.1, the stylised case: 200 units on 15 links by Partitioned Binary in 2.6 minutes,
//! 201 on 114 links by the master problem in 12, four links after 11 more minutes with an objective made for it.

use netloom_bounds::links_at_max;
use netloom_model::{Control, Routes};
use netloom_routing::{Engine, loads};
use netloom_topology::generate;

use super::ground::Ground;
use super::{Claim, Section, Study, heads, percent, work};
use crate::inputs::jobs;
use crate::table::spell;

const LIMIT: f64 = 10.0;
/// Two bully flows on one link: what counts as hot.
const HOT: f64 = 200.0;
/// Links that must carry them: two leaves with 17 flows for 16 links, up and down.
const LINKS: usize = 4;

/// The one case.
pub fn run(_: &mut Study) -> Section {
    let ground = Ground::new(generate("quartz1").expect("a known spec"));
    let traffic = jobs("examples/jobs/bully.toml", &ground.fabric);
    let matrix = traffic.total();
    let ours = ground.optimize(&matrix, LIMIT);
    // The largest load, links with two bully flows and more, links with more than one.
    let of = |routes: &Routes| {
        let loads = loads(&ground.fabric, routes, &matrix).expect("delivered");
        let fabric = &ground.fabric;
        let above = |least: f64| {
            fabric.links().filter(|&l| fabric.between_switches(l) && loads.load[l.index()] >= least).count()
        };
        (loads.max(), above(HOT * (1.0 - 1e-9)), above(150.0))
    };
    let (max, hot, warm) = of(&ours.found.routes);
    let Ground { fabric, structure, paths, .. } = &ground;
    let least = links_at_max(fabric, structure, paths, &matrix, None, max, &Control::new())
        .map_or(0, |least| least.count);
    let line = |name: &str, (max, hot, warm): (f64, usize, usize), time: String| {
        vec![name.to_owned(), format!("{max:.0}"), hot.to_string(), warm.to_string(), time]
    };
    let mut table = vec![heads(&["routes", "maximum", "links at 200 or more", "at 150 or more", "time"])];
    let spent = format!("{} ({} searches)", spell(ours.seconds), work(ours.found.work));
    table.push(line("ours", (max, hot, warm), spent));
    if let Some(afar) = ground.afar_from(&ground.background, &matrix, u64::MAX, LIMIT) {
        table.push(line("AFAR", of(&afar.routes), String::new()));
    }
    if let Some(coloured) = ground.coloured_routes(&matrix) {
        table.push(line("coloured", of(&coloured), String::new()));
    }
    table.push(line("ftree", of(&ground.background), String::new()));
    table.push(line("random", of(&ground.routes(Engine::Random).expect("any tree")), String::new()));
    for (name, maximum, links, time) in [
        ("*Combined*", "200", "15", "2.6 min"),
        ("*master problem alone*", "201", "114", "12 min"),
        ("*fewest links above 150*", "200", "4", "11 min more"),
    ] {
        table.push(heads(&[name, maximum, links, "–", time]));
    }
    let ar = ours.found.ar.as_ref().map_or(0.0, |ar| ar.lower);
    Section {
        title: "Links below the maximum: a barrier with a bully".into(),
        text: format!(
            "`examples/jobs/bully.toml`: 100 units a bully host, 1 a barrier partner, two leaves with 17 bully hosts. The adaptive-routing bound is {ar:.2} (the dissertation's \
             allocation: 112.81), the proven bound for tables by destination {:.0}; no routes with that maximum have it on \
             fewer than {least} links, which is proved too. The lines in italics are the dissertation's.",
            ours.found.bound.claim
        ),
        tables: vec![table],
        claims: vec![Claim {
            what: "a barrier with a bully".into(),
            asked: format!("maximum 200 proved, on {LINKS} links, in {LIMIT:.0} s"),
            measured: format!(
                "maximum {max:.0} ({}), {hot} links at 200 ({least} proved), {}",
                if ours.found.proven_optimal { "proved".into() } else { percent(ours.gap) },
                spell(ours.to_best)
            ),
            kept: ours.found.proven_optimal && hot == LINKS && ours.to_best <= LIMIT,
        }],
    }
}
