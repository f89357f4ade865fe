//! The cyclic stencil as six phases: routes for the sum of its traffic congest each of them.
//!
//! Source: Taffet, dissertation, sec. 5.3.1, where the optimised routes took 2.39 ms and ftree's 1.33 ms. That shows only where bytes are
//! not exactly equal: ftree's tables meet the bound of the exact sum, and a search for it ends where it begins.

use netloom_model::Routes;
use netloom_optimize::{Combine, Layer, optimize_layers};
use netloom_routing::Engine;
use netloom_topology::generate;
use netloom_traffic::{Estimate, perturb};

use super::ground::{Ground, options};
use super::{Claim, Section, Study, heads, percent, work};
use crate::inputs::jobs;
use crate::race::race;
use crate::table::spell;

const LIMIT: f64 = 10.0;
/// What the sum over phases may be above the sum of the phases' bounds.
const GAP: f64 = 1e-2;

/// Six phases.
pub fn run(_: &mut Study) -> Section {
    let ground = Ground::new(generate("quartz1").expect("a known spec"));
    let traffic = jobs("examples/jobs/cyclic-stencil.toml", &ground.fabric);
    let layers: Vec<Layer> = (traffic.phases().iter())
        .map(|p| Layer { name: p.name.clone(), matrix: &p.matrix, weight: p.repeats })
        .collect();
    let run = race(LIMIT, |control| {
        let Ground { fabric, structure, paths, .. } = &ground;
        // From random tables: ftree's are optimal for this pattern, and would win before the search begins.
        let start = ground.routes(Engine::Random).expect("any tree");
        optimize_layers(fabric, structure, paths, &layers, Combine::Sum, &start, &options(), control)
            .expect("every pair has a way")
    });
    let found = &run.found;
    let total = ground.optimize(&traffic.total(), LIMIT);
    let off = perturb(&traffic, Estimate::Relative(0.0007), 1).expect("an error that can be");
    let others: [(&str, Routes); 5] = [
        ("optimised for the sum", total.found.outcome.routes),
        ("… bytes off by 0.07 %", ground.optimize(&off.total(), LIMIT).found.outcome.routes),
        ("ftree", ground.routes(Engine::Ftree).expect("a fat tree")),
        ("d-mod-k", ground.routes(Engine::Dmodk).expect("a fat tree")),
        ("random", ground.routes(Engine::Random).expect("any tree")),
    ];
    let maxima = |routes: &Routes| -> Vec<f64> {
        traffic.phases().iter().map(|p| ground.max(routes, &p.matrix).expect("delivered")).collect()
    };
    let mut names = vec!["routes"];
    names.extend(layers.iter().map(|l| l.name.as_str()));
    names.push("sum");
    let mut table = vec![heads(&names)];
    let mut line = |name: &str, each: &[f64]| {
        let mut cells = vec![name.to_owned()];
        cells.extend(each.iter().chain(&[each.iter().sum()]).map(|b| format!("{:.1}", b / 1e6)));
        table.push(cells);
    };
    line("proven bound", &found.layers.iter().map(|l| l.bound.claim).collect::<Vec<_>>());
    line("optimised for the phases", &found.layers.iter().map(|l| l.loads.max()).collect::<Vec<_>>());
    others.iter().for_each(|(name, routes)| line(name, &maxima(routes)));
    let gap = found.objective / found.objective_bound - 1.0;
    let at_bound = found.layers.iter().filter(|l| l.proven_optimal).count();
    Section {
        title: "Time: the cyclic stencil".into(),
        text: format!(
            "`examples/jobs/cyclic-stencil.toml`; maximum loads of each phase in MB, and their sum (a proxy of the run time). The search started from random \
             tables and took {} and {} path searches.",
            spell(run.seconds),
            work(found.work)
        ),
        tables: vec![table],
        claims: vec![Claim {
            what: "cyclic stencil, large messages, six phases".into(),
            asked: format!("sum within {} of the sum of the phases' bounds", percent(GAP)),
            measured: format!(
                "{}, {at_bound} of {} phases at their bound, {}",
                percent(gap),
                layers.len(),
                spell(run.seconds)
            ),
            kept: gap <= GAP,
        }],
    }
}
