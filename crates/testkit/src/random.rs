//! Random small trees.
//!
//! A block of height 0 is one leaf; a block of height `h` is some blocks of height `h - 1` and switches on
//! top: the tops of its blocks are dealt to groups by position, and every new switch of a group is cabled to
//! all tops of that group. With equal blocks these are the fat trees of the generators; with unequal ones,
//! dropped cables and shuffled ports and names they are what machine rooms are like.

use netloom_model::rng::{Stream, below, shuffle, stream};
use netloom_model::{End, Fabric, FabricBuilder, HostSpec, LinkId, SwitchId, SwitchSpec};
use netloom_topology::detect;

use crate::cases::RATE;

/// What may happen to a random tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Fewest and most switch levels, within 2..=4.
    pub levels: (u8, u8),
    /// Unequal numbers of hosts a leaf, leaves a pod, and so on.
    pub uneven: bool,
    /// Several cables between two switches.
    pub parallel: bool,
    /// Cables of half and quarter speed.
    pub speeds: bool,
    /// Missing and dead cables between switches; every pair of hosts keeps an up*/down* route.
    pub missing: bool,
    /// Names, port numbers and the order of nodes say nothing of the place in the tree.
    pub shuffled: bool,
}

impl Recipe {
    /// Trees that `detect` calls regular.
    pub const PERFECT: Self =
        Self { levels: (2, 3), uneven: false, parallel: true, speeds: false, missing: false, shuffled: true };
    /// Everything may happen.
    pub const ANY: Self =
        Self { levels: (2, 4), uneven: true, parallel: true, speeds: true, missing: true, shuffled: true };
}

/// A random fabric, and the truth about it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The fabric.
    pub fabric: Fabric,
    /// The level at which every switch was put.
    pub level: Vec<u8>,
    /// How many levels were built.
    pub levels: u8,
}

/// A tree with anything that may happen, all hosts joined by up*/down* routes.
pub fn any_fabric(seed: u64) -> Fabric {
    sample(seed, &Recipe::ANY).fabric
}

/// A perfect tree of two or three levels.
pub fn perfect_fabric(seed: u64) -> Fabric {
    sample(seed, &Recipe::PERFECT).fabric
}

/// [`any_fabric`] with so many dead cables, host cables too, that parts may be cut off.
pub fn broken_fabric(seed: u64) -> Fabric {
    let fabric = any_fabric(seed);
    let mut random = stream(seed, 1);
    let share = below(&mut random, 60);
    let dead: Vec<LinkId> = fabric.links().filter(|_| below(&mut random, 200) < share).collect();
    fabric.with_dead(dead)
}

/// A tree of two to four levels with anything that may happen, and then so much damage between its switches as
/// luck wants, up to a third of the cables: leaves may be left without a common spine, or cut off.
pub fn damaged_sample(seed: u64) -> Sample {
    let whole = sample(seed, &Recipe { missing: false, ..Recipe::ANY });
    let fabric = &whole.fabric;
    let mut random = stream(seed, 3);
    let share = below(&mut random, 100);
    let dead: Vec<LinkId> = (fabric.links())
        .filter(|&l| fabric.between_switches(l) && l < fabric.reverse(l))
        .filter(|_| below(&mut random, 300) < share)
        .collect();
    Sample { fabric: fabric.with_dead(dead), ..whole }
}

/// The random tree of a seed.
///
/// # Panics
/// If the recipe's levels are not within 2..=4.
pub fn sample(seed: u64, recipe: &Recipe) -> Sample {
    let (low, high) = recipe.levels;
    assert!(2 <= low && low <= high && high <= 4, "trees have 2 to 4 levels");
    let mut random = stream(seed, 0);
    let levels = low + below(&mut random, u64::from(high - low) + 1) as u8;
    let mut plan = Plan::new(&mut random, recipe, levels);
    plan.block(&mut random, usize::from(levels) - 1, None);
    if recipe.missing {
        plan.drop_cables(&mut random);
    }
    let (fabric, level) = plan.wire();
    let fabric = if recipe.missing { kill_some(&mut random, fabric) } else { fabric };
    Sample { fabric, level, levels }
}

/// One number of the tree: fixed for perfect trees, drawn anew at every place for uneven ones.
fn count(random: &mut Stream, uneven: bool, usual: usize, least: usize) -> usize {
    if uneven { least + below(random, (usual + 2 - least) as u64) as usize } else { usual }
}

/// A tree on paper: switches by level, hosts by switch, cables by ends.
struct Plan {
    recipe: Recipe,
    seed: u64,
    /// Usual hosts a leaf.
    hosts: usize,
    /// Usual children of a block, by height - 1.
    children: Vec<usize>,
    /// New switches a group, by height - 1.
    tops: Vec<usize>,
    /// Groups at most, by height - 1.
    groups: Vec<usize>,
    /// Cables between neighbours, by height - 1.
    cables: Vec<usize>,
    /// Level of every switch.
    level: Vec<u8>,
    hosts_of: Vec<usize>,
    /// Lower switch, upper switch, speed.
    wires: Vec<(usize, usize, f64)>,
}

impl Plan {
    fn new(random: &mut Stream, recipe: &Recipe, levels: u8) -> Self {
        let heights = usize::from(levels) - 1;
        let mut draw = |n: usize, least: usize, most: usize| -> Vec<usize> {
            (0..n).map(|_| least + below(random, (most - least + 1) as u64) as usize).collect()
        };
        let most = if heights == 1 { 6 } else { 3 };
        let mut plan = Self {
            recipe: *recipe,
            seed: 0,
            hosts: draw(1, 1, 4)[0],
            children: draw(heights, 2, most),
            tops: draw(heights, 1, if heights == 1 { 4 } else { 2 }),
            groups: draw(heights, 1, 2),
            cables: draw(heights, 1, if recipe.parallel { 2 } else { 1 }),
            level: Vec::new(),
            hosts_of: Vec::new(),
            wires: Vec::new(),
        };
        plan.seed = draw(1, 0, usize::MAX - 1)[0] as u64;
        plan
    }

    fn speed(&self, random: &mut Stream) -> f64 {
        let slower = if self.recipe.speeds { below(random, 8) } else { 0 };
        match slower {
            6 => RATE / 2.0,
            7 => RATE / 4.0,
            _ => RATE,
        }
    }

    /// Plans a block and returns its tops in order.
    fn block(&mut self, random: &mut Stream, height: usize, parent: Option<usize>) -> Vec<usize> {
        let uneven = self.recipe.uneven;
        if height == 0 {
            self.level.push(0);
            self.hosts_of.push(count(random, uneven, self.hosts, 1));
            return vec![self.level.len() - 1];
        }
        let at = height - 1;
        // The whole tree has at least two blocks, so that its top joins something; so has every block
        // below it in perfect trees.
        let least = if parent.is_none() { 2 } else { 1 };
        let children = count(random, uneven, self.children[at], least);
        let blocks: Vec<Vec<usize>> =
            (0..children).map(|_| self.block(random, height - 1, Some(height))).collect();
        let width = blocks[0].len();
        // Groups of equal size, as the tree's definition asks for.
        let groups = if width.is_multiple_of(self.groups[at]) { self.groups[at] } else { 1 };
        let mut tops = Vec::new();
        for group in 0..groups {
            for _ in 0..self.tops[at] {
                let top = self.level.len();
                self.level.push(height as u8);
                self.hosts_of.push(0);
                tops.push(top);
                let members = group * (width / groups)..(group + 1) * (width / groups);
                for &lower in blocks.iter().flat_map(|b| &b[members.clone()]) {
                    let cables = count(random, uneven && self.recipe.parallel, self.cables[at], 1);
                    for _ in 0..cables {
                        let speed = self.speed(random);
                        self.wires.push((lower, top, speed));
                    }
                }
            }
        }
        tops
    }

    /// Leaves some cables out, but none that hosts need.
    fn drop_cables(&mut self, random: &mut Stream) {
        for _ in 0..below(random, 4) {
            let at = below(random, self.wires.len() as u64) as usize;
            let wire = self.wires.remove(at);
            let (fabric, level) = self.wire();
            if !still_good(&fabric, &level) {
                self.wires.insert(at, wire);
            }
        }
    }

    /// Builds the fabric; the same plan gives the same fabric.
    fn wire(&self) -> (Fabric, Vec<u8>) {
        let mut random = stream(self.seed, 2);
        let mixed = |random: &mut Stream, n: usize| -> Vec<usize> {
            let mut order: Vec<usize> = (0..n).collect();
            if self.recipe.shuffled {
                shuffle(random, &mut order);
            }
            order
        };
        let switches = self.level.len();
        let hosts: usize = self.hosts_of.iter().sum();
        let (switch_name, host_name) = (mixed(&mut random, switches), mixed(&mut random, hosts));
        let mut ports: Vec<usize> = self.hosts_of.clone();
        for &(a, b, _) in &self.wires {
            ports[a] += 1;
            ports[b] += 1;
        }
        let mut free: Vec<Vec<usize>> = ports.iter().map(|&n| mixed(&mut random, n + 1)).collect();
        let mut take = |s: usize| free[s].pop().expect("ports were counted") as u16 + 1;

        let mut b = FabricBuilder::new();
        for s in 0..switches {
            let name = format!("sw{}", switch_name[s]);
            b.switch(SwitchSpec::new(name, 0x1_0000 + 16 * s as u64, ports[s] as u16 + 1));
        }
        let mut next = 0;
        for s in 0..switches {
            for _ in 0..self.hosts_of[s] {
                let host =
                    b.host(HostSpec::new(format!("host{}", host_name[next]), 0x10_0000 + 16 * next as u64));
                next += 1;
                let speed = self.speed(&mut random);
                b.cable(End::Switch(s, take(s)), End::Host(host), speed);
            }
        }
        for &(lower, upper, speed) in &self.wires {
            let (p, q) = (take(lower), take(upper));
            b.cable(End::Switch(lower, p), End::Switch(upper, q), speed);
        }
        let fabric = b.build().unwrap_or_else(|e| panic!("{e}"));
        let mut level = vec![0; switches];
        for s in 0..switches {
            level[switch_name[s]] = self.level[s];
        }
        debug_assert!(fabric.switches().all(|s| fabric.switch_name(s) == format!("sw{}", s.0)));
        (fabric, level)
    }
}

/// Whether all hosts still reach one another, on the levels that were meant.
fn still_good(fabric: &Fabric, level: &[u8]) -> bool {
    let structure = detect(fabric);
    structure.level == level && structure.parts == 1 && structure.by_levels()
}

/// Makes some cables between switches dead, as damage does; none that hosts need.
fn kill_some(random: &mut Stream, fabric: Fabric) -> Fabric {
    let level: Vec<u8> = detect(&fabric).level;
    let mut fabric = fabric;
    for _ in 0..below(random, 4) {
        let link = LinkId(below(random, fabric.link_count() as u64) as u32);
        let damaged = fabric.with_dead(fabric.between_switches(link).then_some(link));
        if still_good(&damaged, &level) {
            fabric = damaged;
        }
    }
    fabric
}

/// The switches of `fabric` that have hosts.
pub fn hosted(fabric: &Fabric) -> Vec<SwitchId> {
    fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect()
}
