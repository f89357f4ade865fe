//! The variants of sec. 3.3.4 that are not built: simple stand-ins, measured beside the search.
//!
//! Each has the time the search has, on one thread, and keeps its best routing: all leaves of a pod alike (Twist), the least
//! sum of squares (L2), in-trees under prices of which one a destination is chosen (Dantzig–Wolfe), greedy trees regenerated
//! under prices set by hand (semi-greedy). They move whole destinations; the search moves items.
//! Source: Taffet, dissertation, sec. 3.3.4.

use std::time::Instant;

use netloom_model::rng::{Stream, below, shuffle, stream, unit};
use netloom_model::{Csr, LinkId, SwitchId};
use netloom_topology::generate;

use super::ground::Ground;
use super::trees::{Price, Trees};
use super::{Section, Study, abreast, coarse, heads};
use crate::inputs::{jobs, pattern};
use crate::race::abreast as side_by_side;

/// Seconds each has.
const LIMIT: f64 = 2.0;
/// Trees a destination that are generated before one is chosen.
const COLUMNS: usize = 20;

type Method = fn(&mut Trees, f64, &Clock) -> f64;
const METHODS: [(&str, Method); 5] = [
    ("leaves of a pod alike (Twist)", alike),
    ("alike, then relaxed", relaxed),
    ("least sum of squares (L2)", squares),
    ("one of 20 priced trees (Dantzig–Wolfe)", columns),
    ("greedy trees (semi-greedy)", greedy),
];

struct Clock(Instant);

impl Clock {
    fn over(&self, share: f64) -> bool {
        self.0.elapsed().as_secs_f64() > share * LIMIT
    }
}

/// All stand-ins on four rows.
pub fn run(_: &mut Study) -> Section {
    let ground = Ground::new(generate("quartz1").expect("a known spec"));
    let names = ["shuffle", "shuffle, 5 % noise", "LULESH", "SNAP"];
    let traffics = [
        pattern("bisection-shuffle:seed=1", &ground.fabric),
        pattern("bisection-shuffle:seed=1,noise=0.05", &ground.fabric),
        jobs("examples/jobs/table/lulesh.toml", &ground.fabric),
        jobs("examples/jobs/table/snap.toml", &ground.fabric),
    ];
    let columns = side_by_side(abreast(), &traffics, |traffic| column(&ground, &traffic.total()));
    let mut table = vec![heads(&["over the proven bound"])];
    table[0].extend(names.map(String::from));
    let labels = ["adaptive-routing bound", "ours"].into_iter().chain(METHODS.iter().map(|m| m.0));
    for (row, label) in labels.enumerate() {
        let mut line = vec![label.to_owned()];
        line.extend(columns.iter().map(|c| coarse(c[row])));
        table.push(line);
    }
    Section {
        title: "Variants of sec. 3.3.4".into(),
        text: format!(
            "Simple stand-ins for what the dissertation tried and dropped, {LIMIT:.0} s each on one thread (`benches/src/study/variants.rs`); largest load between switches over the \
             proven bound. The linear relaxation of Dantzig–Wolfe's master problem is the adaptive-routing bound: a splittable flow to a destination is a mix of in-trees."
        ),
        tables: vec![table],
        claims: Vec::new(),
    }
}

/// The rows of one traffic: adaptive bound, ours, then the methods.
fn column(ground: &Ground, matrix: &Csr) -> Vec<f64> {
    let ours = ground.optimize(matrix, LIMIT).found;
    let bound = ours.switch_bound;
    let ar = ours.ar.as_ref().expect("no bound was given").lower.min(bound);
    let mut rows = vec![ar / bound - 1.0, ours.switch_max_load / bound - 1.0];
    for (_, method) in METHODS {
        let mut trees = Trees::new(ground, matrix);
        rows.push(method(&mut trees, bound, &Clock(Instant::now())) / bound - 1.0);
    }
    rows
}

/// All destinations lifted and placed in random order, sharper every time; the least maximum.
fn anneal(trees: &mut Trees, goal: f64, clock: &Clock, share: f64, twist: bool) -> f64 {
    let mut random = stream(1, 1);
    let mut order: Vec<usize> = (0..trees.dests.len()).collect();
    let (mut best, mut alpha) = (f64::INFINITY, 10.0);
    while !clock.over(share) && best > goal * (1.0 + 1e-9) {
        shuffle(&mut random, &mut order);
        for &dest in &order {
            trees.lift(dest);
            let price = Price::Soft(alpha, goal);
            if twist { trees.place_alike(dest, price) } else { trees.place(dest, price) }
        }
        best = best.min(trees.max());
        alpha = if alpha > 1000.0 { 10.0 } else { alpha * 1.5 };
    }
    best
}

fn alike(trees: &mut Trees, goal: f64, clock: &Clock) -> f64 {
    anneal(trees, goal, clock, 1.0, true)
}

fn relaxed(trees: &mut Trees, goal: f64, clock: &Clock) -> f64 {
    anneal(trees, goal, clock, 0.5, true).min(anneal(trees, goal, clock, 1.0, false))
}

fn squares(trees: &mut Trees, _: f64, clock: &Clock) -> f64 {
    let mut random = stream(1, 2);
    let mut order: Vec<usize> = (0..trees.dests.len()).collect();
    let mut sum = f64::INFINITY;
    loop {
        for &dest in &order {
            trees.lift(dest);
            trees.place(dest, Price::Square);
        }
        let now = trees.load.iter().map(|l| l * l).sum::<f64>();
        if clock.over(1.0) || now >= sum * (1.0 - 1e-9) {
            return trees.max();
        }
        sum = now;
        shuffle(&mut random, &mut order);
    }
}

/// Columns by multiplicative weights on the mean of all trees so far, then the best one a destination.
fn columns(trees: &mut Trees, goal: f64, clock: &Clock) -> f64 {
    let mut random = stream(1, 3);
    let mut mean = vec![0.0; trees.load.len()];
    let mut found: Vec<Vec<_>> = vec![Vec::new(); trees.dests.len()];
    for round in 0..COLUMNS {
        let price = |load: &f64, random: &mut Stream| {
            let mean = load / (round.max(1) as f64 * goal);
            (10.0 * (mean - 1.0)).exp() * (1.0 + 0.1 * unit(random))
        };
        let mut prices: Vec<f64> = mean.iter().map(|load| price(load, &mut random)).collect();
        for (dest, found) in found.iter_mut().enumerate() {
            if clock.over(0.5) {
                break;
            }
            trees.lift(dest);
            trees.place(dest, Price::Fixed(&prices));
            let column = trees.column(dest);
            // What this tree uses is dearer for the next.
            column.iter().for_each(|&(_, link)| prices[link.index()] *= 1.02);
            found.push(column);
        }
        mean.iter_mut().zip(&trees.load).for_each(|(mean, load)| *mean += load);
    }
    let mut best = trees.max();
    let mut alpha = 10.0;
    while !clock.over(1.0) {
        for (dest, columns) in found.iter().enumerate() {
            trees.lift(dest);
            let price = Price::Soft(alpha, goal);
            let cost = |trees: &mut Trees, column: &[(SwitchId, LinkId)]| -> f64 {
                trees.plant(dest, column);
                let after: Vec<f64> = column.iter().map(|&(_, link)| trees.load[link.index()]).collect();
                trees.lift(dest);
                let before = |link: LinkId| trees.load[link.index()];
                let rises = column
                    .iter()
                    .zip(after)
                    .map(|(&(_, l), after)| price.rise(l, before(l), after - before(l)));
                rises.sum()
            };
            let costs: Vec<f64> = columns.iter().map(|column| cost(trees, column)).collect();
            let at = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            if let Some(at) = at {
                trees.plant(dest, &columns[at]);
            }
        }
        best = best.min(trees.max());
        alpha = if alpha > 1000.0 { 10.0 } else { alpha * 1.5 };
    }
    best
}

/// Every destination once, then those on the hottest link under prices that make it dear, as long as that helps.
fn greedy(trees: &mut Trees, goal: f64, clock: &Clock) -> f64 {
    let mut random = stream(1, 4);
    for dest in 0..trees.dests.len() {
        trees.place(dest, Price::Square);
    }
    let mut best = trees.max();
    while !clock.over(1.0) && best > goal * (1.0 + 1e-9) {
        let hot = trees.on_hottest();
        if hot.is_empty() {
            break;
        }
        let dest = hot[below(&mut random, hot.len() as u64) as usize];
        let old = trees.column(dest);
        let max = trees.max();
        trees.lift(dest);
        trees.place(dest, Price::Soft(60.0, max));
        if trees.max() > max * (1.0 + 1e-9) {
            trees.lift(dest);
            trees.plant(dest, &old);
        }
        best = best.min(trees.max());
    }
    best
}
