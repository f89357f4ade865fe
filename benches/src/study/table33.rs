//! The shape of table 3.3 on quartz1, our columns and the dissertation's.
//!
//! Five synthetic rows; for every recorded application with more than 100 ranks a trace and a trace* row
//! (`examples/jobs/table`). The dissertation's allocations are not published and half its traces are of other
//! applications: its columns stand beside ours where the application is the same (LULESH, AMG, Nekbone) or its proxy
//! (SNAP for PARTISN); ours are judged by our own certified bounds.
//! Source: Taffet, dissertation, tables 3.2 and 3.3.

use netloom_model::Traffic;
use netloom_routing::Engine;
use netloom_topology::generate;

use super::ground::{Ground, Outcome};
use super::{Claim, Section, Study, abreast, coarse, heads, percent, plot, work};
use crate::inputs::{jobs, pattern};
use crate::race::abreast as side_by_side;
use crate::table::spell;

/// Seconds a row has.
pub const LIMIT: f64 = 10.0;
/// What a row's gap may be.
const GAP: f64 = 5e-4;
/// What is as good as proved.
const CLOSE: f64 = 1e-5;

/// Where a row's traffic comes from.
#[derive(Clone, Copy)]
enum From {
    /// A pattern over all hosts; whether its adaptive gap must be 0.
    Pattern(&'static str, bool),
    /// A jobs file of `examples/jobs/table`.
    Jobs(&'static str),
}

/// Name, traffic, and the dissertation's Combined, bound for static routes, AFAR, ftree, random, in percent.
type Line = (&'static str, From, Option<[&'static str; 5]>);

const LINES: [Line; 17] = [
    ("stencil", From::Pattern("stencil:16x16x12", true), Some(["0.00", "0.00", "0.00", "0.00", "150.00"])),
    ("bisection", From::Pattern("bisection", true), Some(["0.00", "0.00", "0.00", "0.00", "350.00"])),
    (
        "shuffle",
        From::Pattern("bisection-shuffle:seed=1", true),
        Some(["0.00", "0.00", "100.00", "250.00", "350.00"]),
    ),
    ("all-to-all", From::Pattern("all-to-all", true), Some(["0.00", "0.00", "0.00", "0.00", "39.98"])),
    (
        "shuffle, 5 % noise",
        From::Pattern("bisection-shuffle:seed=1,noise=0.05", false),
        Some(["1.83", "0.88–1.64", "49.61", "246.37", "343.35"]),
    ),
    ("LULESH", From::Jobs("lulesh"), Some(["3.92", "2.52–2.97", "27.29", "73.55", "118.76"])),
    ("SNAP (there PARTISN)", From::Jobs("snap"), Some(["7.98", "7.98", "46.55", "110.89", "177.69"])),
    ("AMG", From::Jobs("amg"), Some(["0.00", "0.00", "35.57", "66.38", "83.76"])),
    ("Nekbone", From::Jobs("nekbone"), Some(["5.32", "≤ 0.02", "17.38", "66.11", "106.76"])),
    ("HPCG", From::Jobs("hpcg"), None),
    ("miniAMR", From::Jobs("miniamr"), None),
    ("LULESH*", From::Jobs("lulesh-star"), Some(["0.47", "≤ 0.07", "9.98", "23.94", "53.07"])),
    ("SNAP*", From::Jobs("snap-star"), Some(["0.17", "≤ 0.09", "6.16", "31.26", "63.02"])),
    ("AMG*", From::Jobs("amg-star"), Some(["0.00", "0.00", "35.57", "66.38", "81.93"])),
    ("Nekbone*", From::Jobs("nekbone-star"), Some(["0.54", "≤ 0.01", "15.63", "34.75", "79.24"])),
    ("HPCG*", From::Jobs("hpcg-star"), None),
    ("miniAMR*", From::Jobs("miniamr-star"), None),
];

/// Rows whose way to the best is drawn.
const DRAWN: [&str; 5] = ["shuffle, 5 % noise", "LULESH", "Nekbone", "LULESH*", "miniAMR*"];

struct Measured {
    ours: Outcome,
    /// Adaptive gaps: AFAR, coloured, ftree, d-mod-k, random.
    others: [Option<f64>; 5],
    ar: f64,
}

/// All rows.
pub fn run(study: &mut Study) -> Section {
    let ground = Ground::new(generate("quartz1").expect("a known spec"));
    let measured = side_by_side(abreast(), &LINES, |line| measure(&ground, line));
    for (line, row) in LINES.iter().zip(&measured) {
        if DRAWN.contains(&line.0) {
            study.curves.push(plot::Curve { name: line.0.into(), points: row.ours.history.clone() });
        }
    }
    Section {
        title: "Table 3.3's shape, on quartz1".into(),
        text: format!(
            "First the search, judged by the proven bound for tables by destination: limit {LIMIT:.0} s, time to the end (cooler links included) and to the final maximum \
             on one thread, work in path searches, and where the bound binds. Then maximum loads over the adaptive-routing bound (AR gaps) of \
             ours and of the other methods; AFAR, as ours, has {LIMIT:.0} s. Columns in italics are the dissertation's (tables 3.2 and 3.3; 12 minutes on \
             48 cores), on its own, unpublished allocations."
        ),
        tables: vec![search(&measured), methods(&measured)],
        claims: claims(&measured),
    }
}

fn measure(ground: &Ground, line: &Line) -> Measured {
    let traffic: Traffic = match line.1 {
        From::Pattern(spec, _) => pattern(spec, &ground.fabric),
        From::Jobs(name) => jobs(&format!("examples/jobs/table/{name}.toml"), &ground.fabric),
    };
    let matrix = traffic.total();
    let ours = ground.optimize(&matrix, LIMIT);
    let ar = ours.found.ar.as_ref().expect("no bound was given").lower;
    let over = |max: Option<f64>| max.map(|m| m / ar - 1.0);
    let others = [
        over(ground.afar(&matrix, LIMIT)),
        over(ground.coloured(&matrix)),
        over(ground.under(Engine::Ftree, &matrix)),
        over(ground.under(Engine::Dmodk, &matrix)),
        over(ground.under(Engine::Random, &matrix)),
    ];
    Measured { ours, others, ar }
}

fn search(measured: &[Measured]) -> Vec<Vec<String>> {
    let mut table = vec![heads(&["traffic", "gap to bound", "bound at", "time", "to best", "work"])];
    table.extend(LINES.iter().zip(measured).map(|(line, row)| {
        let found = &row.ours.found;
        let gap = if found.proven_optimal { "proved".into() } else { percent(row.ours.gap) };
        let place = found.bound.place.clone();
        vec![line.0.into(), gap, place, spell(row.ours.seconds), spell(row.ours.to_best), work(found.work)]
    }));
    table
}

fn methods(measured: &[Measured]) -> Vec<Vec<String>> {
    let ours = ["traffic", "ours", "AFAR", "coloured", "ftree", "d-mod-k", "random"];
    let theirs = ["*Combined*", "*possible*", "*AFAR*", "*ftree*", "*random*"];
    let mut table = vec![heads(&[&ours[..], &theirs].concat())];
    table.extend(LINES.iter().zip(measured).map(|((name, _, theirs), row)| {
        let mut line = vec![(*name).into(), coarse(row.ours.found.loads.max() / row.ar - 1.0)];
        line.extend(row.others.iter().map(|o| o.map_or("–".into(), coarse)));
        line.extend(
            theirs.map_or([""; 5], |t| t).map(|t| if t.is_empty() { "–".into() } else { format!("{t} %") }),
        );
        line
    }));
    table
}

fn claims(measured: &[Measured]) -> Vec<Claim> {
    let count = measured.len();
    let worst = measured.iter().map(|m| m.ours.gap).fold(0.0, f64::max);
    let within = measured.iter().filter(|m| m.ours.gap <= GAP).count();
    let slowest = measured.iter().map(|m| m.ours.seconds).fold(0.0, f64::max);
    let proved = measured.iter().filter(|m| m.ours.found.proven_optimal).count();
    let close = measured.iter().filter(|m| m.ours.found.proven_optimal || m.ours.gap <= CLOSE).count();
    let exact = LINES.iter().zip(measured).filter(|(line, _)| matches!(line.1, From::Pattern(_, true)));
    let exact: Vec<bool> = exact.map(|(_, m)| m.ours.found.loads.max() <= m.ar * (1.0 + 1e-9)).collect();
    vec![
        Claim {
            what: format!("table 3.3's shape, {count} rows"),
            asked: format!("every row within {} of its proven bound in {LIMIT:.0} s", coarse(GAP)),
            measured: format!("{within} of {count}; worst {}, slowest {}", percent(worst), spell(slowest)),
            kept: within == count && slowest <= LIMIT * 1.1,
        },
        Claim {
            what: "… optimal".into(),
            asked: "four in five proved or within 0.001 %".into(),
            measured: format!("{close} of {count} ({proved} proved)"),
            kept: close * 5 >= count * 4,
        },
        Claim {
            what: "… synthetic rows without noise".into(),
            asked: "AR gap 0.00 %".into(),
            measured: format!("{} of {}", exact.iter().filter(|&&e| e).count(), exact.len()),
            kept: exact.iter().all(|&e| e),
        },
    ]
}
