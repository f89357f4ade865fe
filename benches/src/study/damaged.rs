//! quartz1 with cables and switches missing: three kinds of damage, three kinds of traffic, five seeds.
//!
//! Judged by the damaged fabric's own proven bound for tables by destination. ftree is routed as OpenSM does on
//! what is left; minhop needs no tree.

use netloom_model::Traffic;
use netloom_model::rng::{below, stream};
use netloom_routing::Engine;
use netloom_topology::{Damage, damage, detect, generate};

use super::ground::{Ground, Outcome};
use super::{Claim, Section, Study, abreast, coarse, heads, percent};
use crate::inputs::{jobs, pattern};
use crate::race::abreast as side_by_side;
use crate::table::spell;

/// Seconds a row may take.
const ASKED: f64 = 10.0;
/// Seconds a row gets in the study: 45 rows in a few minutes.
const LIMIT: f64 = 3.0;
/// What the gap may be.
const GAP: f64 = 1e-2;
const SEEDS: u64 = 5;

/// What is broken.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// So many percent of the cables between switches.
    Cables(usize),
    /// One spine and one core switch.
    Switches,
}

const KINDS: [(&str, Kind); 3] = [
    ("1 % of the cables", Kind::Cables(1)),
    ("5 % of the cables", Kind::Cables(5)),
    ("a spine and a core", Kind::Switches),
];
const TRAFFIC: [&str; 3] = ["shuffle", "LULESH x 6", "a mix of three"];

struct Row {
    ours: Outcome,
    minhop: Option<f64>,
    ftree: Option<f64>,
}

/// All of them; a line of the table is the worst and the median of its seeds.
pub fn run(_: &mut Study) -> Section {
    let cases: Vec<(usize, u64)> = (0..KINDS.len()).flat_map(|k| (1..=SEEDS).map(move |s| (k, s))).collect();
    let rows = side_by_side(abreast(), &cases, |&(kind, seed)| {
        let ground = Ground::new(broken(KINDS[kind].1, seed));
        (0..TRAFFIC.len()).map(|t| measure(&ground, t, seed)).collect::<Vec<Row>>()
    });
    let mut lines = vec![heads(&[
        "damage",
        "traffic",
        "gap: worst",
        "median",
        "proved",
        "time: worst",
        "bound over AR",
        "ftree",
        "minhop",
    ])];
    let mut claims = Vec::new();
    for (k, (name, _)) in KINDS.iter().enumerate() {
        let mut all = Vec::new();
        for (t, traffic) in TRAFFIC.iter().enumerate() {
            let of: Vec<&Row> =
                cases.iter().zip(&rows).filter(|(c, _)| c.0 == k).map(|(_, r)| &r[t]).collect();
            lines.push(line(name, traffic, &of));
            all.extend(of.iter().map(|r| (r.ours.gap, r.ours.seconds)));
        }
        let worst = all.iter().map(|a| a.0).fold(0.0, f64::max);
        let slowest = all.iter().map(|a| a.1).fold(0.0, f64::max);
        claims.push(Claim {
            what: format!("quartz1 without {name}, {} rows", all.len()),
            asked: format!("within {} of the proven bound in {ASKED:.0} s", coarse(GAP)),
            measured: format!("worst {} in {}", percent(worst), spell(slowest)),
            kept: worst <= GAP && slowest <= ASKED,
        });
    }
    Section {
        title: "Damaged: quartz1 with cables and switches missing".into(),
        text: format!(
            "{SEEDS} seeds a line; {LIMIT:.0} s a row of the {ASKED:.0} s asked for. Gaps are over the damaged fabric's proven bound for tables by \
             destination; ftree's and minhop's are medians over the same bound (– where the engine refuses the fabric)."
        ),
        tables: vec![lines],
        claims,
    }
}

fn broken(kind: Kind, seed: u64) -> netloom_model::Fabric {
    let whole = generate("quartz1").expect("a known spec");
    let cables = whole.links().filter(|&l| whole.between_switches(l)).count() / 2;
    let what = match kind {
        Kind::Cables(percent) => {
            Damage { random_links: (cables * percent).div_ceil(100), ..Damage::default() }
        }
        Kind::Switches => {
            let level = detect(&whole).level;
            let mut random = stream(seed, 5);
            let mut one = |wanted: u8| {
                let of: Vec<_> = whole.switches().filter(|s| level[s.index()] == wanted).collect();
                whole.switch_name(of[below(&mut random, of.len() as u64) as usize]).to_string()
            };
            Damage { switches: vec![one(1), one(2)], ..Damage::default() }
        }
    };
    damage(&whole, &what, seed).expect("there is that much to break").fabric
}

fn measure(ground: &Ground, traffic: usize, seed: u64) -> Row {
    let traffic: Traffic = match traffic {
        0 => pattern(&format!("bisection-shuffle:seed={seed}"), &ground.fabric),
        1 => jobs("examples/jobs/lulesh6.toml", &ground.fabric),
        _ => jobs("examples/jobs/mix.toml", &ground.fabric),
    };
    let matrix = traffic.total();
    let ours = ground.optimize(&matrix, LIMIT);
    let over = |max: Option<f64>| max.map(|m| m / ours.found.bound.claim - 1.0);
    let (minhop, ftree) =
        (over(ground.under(Engine::Minhop, &matrix)), over(ground.under(Engine::Ftree, &matrix)));
    Row { ours, minhop, ftree }
}

fn line(damage: &str, traffic: &str, rows: &[&Row]) -> Vec<String> {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let most = |of: fn(&Row) -> f64| rows.iter().map(|r| of(r)).fold(0.0, f64::max);
    let cell = |value: Option<f64>| value.map_or("–".into(), coarse);
    let bound =
        rows.iter().filter_map(|r| Some(r.ours.found.bound.claim / r.ours.found.ar.as_ref()?.lower - 1.0));
    vec![
        damage.into(),
        traffic.into(),
        percent(most(|r| r.ours.gap)),
        median(rows.iter().map(|r| r.ours.gap).collect()).map_or(String::new(), percent),
        format!("{} of {}", rows.iter().filter(|r| r.ours.found.proven_optimal).count(), rows.len()),
        spell(most(|r| r.ours.seconds)),
        cell(median(bound.collect())),
        cell(median(rows.iter().filter_map(|r| r.ftree).collect())),
        cell(median(rows.iter().filter_map(|r| r.minhop).collect())),
    ]
}
