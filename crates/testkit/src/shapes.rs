//! Fabrics of ten kinds: what machine rooms have, whether up*/down* routes suit it or not.
//!
//! Trees are those of [`random`](crate::random); the others are small ones of the shapes that the field has names for, with
//! parallel cables, unequal speeds and dead cables where the seed says so. All hosts of the others are joined.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Fabric, LinkId};

use crate::cases::{RATE, dragonfly, wired_at};
use crate::random::{Recipe, any_fabric, broken_fabric, perfect_fabric, sample};

/// The kinds, in the order of [`shape`]'s turns.
pub const SHAPES: [&str; 10] = [
    "regular tree",
    "uneven tree",
    "damaged tree",
    "tree of mixed speeds",
    "torus",
    "mesh",
    "dragonfly",
    "HyperX",
    "random graph",
    "random graph of mixed speeds",
];

/// The fabric of a seed: of kind `SHAPES[seed % 10]`.
pub fn shape(seed: u64) -> Fabric {
    let mut random = stream(seed, 0x7368);
    match seed % 10 {
        0 => perfect_fabric(seed),
        1 => any_fabric(seed),
        2 => broken_fabric(seed),
        3 => {
            let recipe = Recipe { speeds: true, parallel: true, ..Recipe::PERFECT };
            sample(seed, &recipe).fabric
        }
        4 => grid(&mut random, true),
        5 => grid(&mut random, false),
        6 => {
            let (groups, routers) = (2 + draw(&mut random, 4), 2 + draw(&mut random, 3));
            dragonfly(groups, routers)
        }
        7 => hyperx(&mut random),
        8 => graph(&mut random, false),
        _ => graph(&mut random, true),
    }
}

fn draw(random: &mut Stream, most: u64) -> usize {
    below(random, most) as usize
}

/// One or two hosts a switch, and these cables; a few cables without which all are still joined are dead.
fn joined(random: &mut Stream, switches: usize, cables: &[(usize, usize, usize, f64)]) -> Fabric {
    let names: Vec<String> = (0..switches).map(|i| format!("sw{i}")).collect();
    let hosts = 1 + draw(random, 2);
    let switches: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), hosts)).collect();
    let mut fabric = wired_at(&switches, cables);
    for _ in 0..draw(random, 3) {
        let link = LinkId(below(random, fabric.link_count() as u64) as u32);
        let damaged = fabric.with_dead(fabric.between_switches(link).then_some(link));
        if one_part(&damaged) {
            fabric = damaged;
        }
    }
    fabric
}

fn one_part(fabric: &Fabric) -> bool {
    let mut seen = vec![false; fabric.switch_count()];
    let mut open: Vec<_> = fabric.switches().take(1).collect();
    while let Some(s) = open.pop() {
        if !std::mem::replace(&mut seen[s.index()], true) {
            let alive = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            open.extend(alive.filter_map(|l| fabric.link_to_switch(l)));
        }
    }
    seen.into_iter().all(|s| s)
}

/// A torus or a mesh of one to three dimensions.
fn grid(random: &mut Stream, wraps: bool) -> Fabric {
    let sizes: Vec<usize> = match draw(random, 3) {
        0 => vec![3 + draw(random, 5)],
        1 => vec![2 + draw(random, 3), 2 + draw(random, 3)],
        _ => vec![2 + draw(random, 2), 2, 2 + draw(random, 2)],
    };
    let count = 1 + draw(random, 2);
    let mut cables = Vec::new();
    let switches: usize = sizes.iter().product();
    for s in 0..switches {
        let mut stride = 1;
        for &size in &sizes {
            let at = s / stride % size;
            // A ring of two has one cable, not two.
            if at + 1 < size {
                cables.push((s, s + stride, count, RATE));
            } else if wraps && size > 2 {
                cables.push((s, s - at * stride, count, RATE));
            }
            stride *= size;
        }
    }
    joined(random, switches, &cables)
}

/// All switches of a row joined, in every dimension.
fn hyperx(random: &mut Stream) -> Fabric {
    let sizes = [2 + draw(random, 4), 1 + draw(random, 4)];
    let mut cables = Vec::new();
    for a in 0..sizes[0] * sizes[1] {
        for b in a + 1..sizes[0] * sizes[1] {
            if a % sizes[0] == b % sizes[0] || a / sizes[0] == b / sizes[0] {
                cables.push((a, b, 1, RATE));
            }
        }
    }
    joined(random, sizes[0] * sizes[1], &cables)
}

/// A random tree and some more cables.
fn graph(random: &mut Stream, speeds: bool) -> Fabric {
    let switches = 3 + draw(random, 10);
    let mut ends: Vec<(usize, usize)> = (1..switches).map(|s| (draw(random, s as u64), s)).collect();
    for _ in 0..draw(random, 2 * switches as u64) {
        let (a, b) = (draw(random, switches as u64), draw(random, switches as u64));
        if a != b {
            ends.push((a, b));
        }
    }
    let mut cables = Vec::new();
    for (a, b) in ends {
        let rate = if speeds { RATE / f64::from(1u32 << draw(random, 3)) } else { RATE };
        cables.push((a, b, 1, rate));
    }
    joined(random, switches, &cables)
}
