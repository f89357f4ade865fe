//! What a bound may be held against: whether routes and fabric are within its class, and what holds for any routes.
//!
//! Bounds of up*/down* ways say nothing of routes that take others, and mislead where the fabric has others that are as
//! good: on a torus or a dragonfly levels are a guess, and ways that are not up*/down* are shorter.
//!
//! A bound of *any* routes is the better of
//! - the best cut (`cuts`): what leaves a set of switches crosses the links out of it, whatever way it takes;
//! - hops: bytes times the links between switches that they cross at least, over the capacity of all such links.
//!
//! On a regular tree the best cut *is* the adaptive-routing bound.

use netloom_model::{BoundClass, Csr, Fabric, Routes, SwitchId};
use netloom_routing::{PathSet, first_outside};
use netloom_topology::{Direction, Structure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cuts;
use crate::demand::Demand;

/// How near two bounds are the same number.
const EQUAL_BOUNDS: f64 = 1e-9;
/// Hops of what no link leads to.
const UNREACHABLE: u32 = u32::MAX;

/// Why bounds of up*/down* ways are not to be held against something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// The fabric has shorter ways, or on guessed levels as short ones, that are not up*/down*.
    Fabric {
        /// Name of a switch,
        from: String,
        /// and of one with hosts that it has such a way to.
        to: String,
        /// Links between switches of the shortest way,
        shortest: u32,
        /// and of the shortest up*/down* way.
        up_down: u32,
    },
    /// These routes take other ways.
    Ways {
        /// Name of a sender with traffic,
        from: String,
        /// and of the receiver.
        to: String,
    },
}

impl Outside {
    /// In one word, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fabric { .. } => "fabric",
            Self::Ways { .. } => "ways",
        }
    }

    /// In words, for people.
    pub fn text(&self) -> String {
        match self {
            Self::Fabric { from, to, shortest, up_down } if shortest == up_down => {
                format!(
                    "no tree: from {from} to {to} ways that are not up*/down* are as short ({shortest} links)"
                )
            }
            Self::Fabric { from, to, shortest, up_down } => {
                format!(
                    "no tree: the shortest way from {from} to {to} crosses {shortest} links, the shortest up*/down* way {up_down}"
                )
            }
            Self::Ways { from, to } => {
                format!("these routes take other ways, such as from {from} to {to}")
            }
        }
    }
}

/// Whether up*/down* ways are the shortest ways of `fabric`; where levels are guessed, whether they are all of these.
///
/// On trees, damaged ones too, they are. Depends on no traffic. `None`: they are.
pub fn fabric_outside(fabric: &Fabric, structure: &Structure, paths: &PathSet) -> Option<Outside> {
    if layered(fabric, structure) {
        return None;
    }
    other_ways(fabric, paths, |others| {
        let up_down = others.up_down?;
        let longer = others.shortest < up_down && !fabric.hosts_on(others.from).is_empty();
        (longer || structure.guessed() && others.differ(fabric, paths)).then(|| Outside::Fabric {
            from: fabric.switch_name(others.from).to_owned(),
            to: fabric.switch_name(others.to).to_owned(),
            shortest: others.shortest,
            up_down,
        })
    })
}

/// Whether `fabric` has shortest ways that are not up*/down*: as short or shorter ones.
///
/// Then tables of shortest ways may carry less than the best of the ways in `paths`. Depends on no traffic.
pub fn has_other_shortest(fabric: &Fabric, structure: &Structure, paths: &PathSet) -> bool {
    !layered(fabric, structure)
        && other_ways(fabric, paths, |others| others.differ(fabric, paths).then_some(())).is_some()
}

/// Shortest ways and up*/down* ways from a switch to another, which has hosts.
struct Between<'a> {
    from: SwitchId,
    to: SwitchId,
    shortest: u32,
    /// None where no up*/down* way leads there.
    up_down: Option<u32>,
    /// Links between switches from every switch to `to`.
    hops: &'a [u32],
}

impl Between<'_> {
    /// Whether some are not among the others: by their length, or by the cables, parallel ones too, that bring a packet nearer.
    fn differ(&self, fabric: &Fabric, paths: &PathSet) -> bool {
        let near = |l| fabric.link_to_switch(l).is_some_and(|t| self.hops[t.index()] + 1 == self.shortest);
        let nearer = || fabric.switch_links(self.from).filter(|&l| fabric.alive(l) && near(l)).count();
        self.up_down != Some(self.shortest) || nearer() != paths.links(self.from, self.to).len()
    }
}

/// What `tell` says first of any two switches.
fn other_ways<T: Send>(
    fabric: &Fabric,
    paths: &PathSet,
    tell: impl Fn(&Between) -> Option<T> + Sync,
) -> Option<T> {
    let neighbours = Neighbours::new(fabric);
    // What hosts see tells people more than what a switch between them sees.
    let (with, without): (Vec<SwitchId>, Vec<SwitchId>) =
        fabric.switches().partition(|&s| !fabric.hosts_on(s).is_empty());
    paths.leaves().par_iter().find_map_first(|&to| {
        let hops = neighbours.hops(to);
        with.iter().chain(&without).filter(|&&from| from != to).find_map(|&from| {
            let shortest = hops[from.index()];
            let up_down = paths.hops(from, to).map(u32::from);
            let reached = shortest != UNREACHABLE;
            reached.then(|| tell(&Between { from, to, shortest, up_down, hops: &hops })).flatten()
        })
    })
}

/// Trees of up to three levels, hosts on the lowest, cables between neighbouring levels only: two leaves with a common
/// neighbour have it above both, and no way between others is shorter than over the top.
fn layered(fabric: &Fabric, structure: &Structure) -> bool {
    let level = |s: SwitchId| structure.level[s.index()];
    let step = |l| match (fabric.link_from_switch(l), fabric.link_to_switch(l)) {
        (Some(s), Some(t)) if level(s) < level(t) => {
            level(t) == level(s) + 1 && structure.direction(fabric, l) == Direction::Up
        }
        (Some(s), Some(t)) => level(s) != level(t),
        (None, Some(leaf)) => level(leaf) == 0,
        _ => true,
    };
    !structure.guessed()
        && structure.by_levels()
        && structure.levels <= 3
        && (structure.tree().is_some() || fabric.links().filter(|&l| fabric.alive(l)).all(step))
}

/// Whether routes take shortest up*/down* ways wherever `traffic` goes. `None`: they do.
///
/// # Panics
/// If shapes disagree: they come from loads of the same three.
pub fn ways_outside(fabric: &Fabric, paths: &PathSet, routes: &Routes, traffic: &Csr) -> Option<Outside> {
    let found =
        first_outside(fabric, paths, routes, traffic).expect("loads were computed of the same routes");
    found.map(|(from, to)| Outside::Ways {
        from: fabric.host_name(from).to_owned(),
        to: fabric.host_name(to).to_owned(),
    })
}

/// A lower bound on the largest load of any routes whatsoever.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyBound {
    /// Bytes at the reference bandwidth.
    pub claim: f64,
    /// Where it binds, for people: `leaf12 up`, `hops`.
    pub place: String,
}

impl AnyBound {
    /// The widest class that a bound of so many bytes, proven for `own`, holds for.
    pub fn widest(&self, bound: f64, own: BoundClass) -> BoundClass {
        if bound <= self.claim * (1.0 + EQUAL_BOUNDS) { BoundClass::AnyRoutes } else { own }
    }
}

/// The best bound of any routes for `traffic`; see the head of this file. Pairs that no links join are left out.
///
/// # Panics
/// If `traffic` is of another size than the fabric.
pub fn any_bound(fabric: &Fabric, structure: &Structure, traffic: &Csr) -> AnyBound {
    assert_eq!(traffic.size(), fabric.host_count(), "traffic is between the hosts of the fabric");
    let demand = Demand::new(fabric, traffic);
    let cut = cuts::best(fabric, structure, &demand);
    let best = AnyBound { claim: cut.claim, place: cut.place };
    if structure.tree().is_some() {
        return best;
    }
    let neighbours = Neighbours::new(fabric);
    let crossed: Vec<f64> = (demand.leaves.par_iter().zip(&demand.pairs))
        .map(|(&leaf, row)| {
            let hops = if row.is_empty() { Vec::new() } else { neighbours.hops(leaf) };
            let far = |&(b, bytes): &(u32, f64)| match hops[demand.leaves[b as usize].index()] {
                UNREACHABLE => 0.0,
                hops => bytes * f64::from(hops),
            };
            row.iter().map(far).sum()
        })
        .collect();
    let between = fabric.links().filter(|&l| fabric.alive(l) && fabric.between_switches(l));
    let capacity: f64 = between.map(|l| fabric.relative_capacity(l)).sum();
    let hops = crossed.iter().sum::<f64>() / capacity.max(f64::MIN_POSITIVE);
    if capacity > 0.0 && hops > best.claim { AnyBound { claim: hops, place: "hops".into() } } else { best }
}

/// Neighbouring switches, parallel cables once. Cables work in both directions or in none.
struct Neighbours(Vec<Vec<SwitchId>>);

impl Neighbours {
    fn new(fabric: &Fabric) -> Self {
        let of = |s: SwitchId| {
            let alive = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            let mut to: Vec<SwitchId> = alive.filter_map(|l| fabric.link_to_switch(l)).collect();
            to.sort_unstable();
            to.dedup();
            to
        };
        Self(fabric.switches().map(of).collect())
    }

    /// Links between switches from every switch to `to`, or [`UNREACHABLE`].
    fn hops(&self, to: SwitchId) -> Vec<u32> {
        let mut hops = vec![UNREACHABLE; self.0.len()];
        hops[to.index()] = 0;
        let mut queue = vec![to];
        let mut next = 0;
        while let Some(&s) = queue.get(next) {
            next += 1;
            for &t in &self.0[s.index()] {
                if hops[t.index()] == UNREACHABLE {
                    hops[t.index()] = hops[s.index()] + 1;
                    queue.push(t);
                }
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::two_level;
    use netloom_model::{HostId, Traffic};

    fn all_to_all(n: u64) -> Csr {
        let pairs: Vec<(u64, u64)> = (0..n * n).map(|e| (e / n, e % n)).filter(|(i, j)| i != j).collect();
        let (from, to): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        Traffic::from_triples(n as u32, &from, &to, &vec![1.0; from.len()], None)
            .unwrap()
            .total()
            .into_owned()
    }

    #[test]
    fn on_a_regular_tree_the_best_cut_holds_for_any_routes() {
        let (f, s) = two_level(2, 4, 2, 1);
        let paths = PathSet::admissible(&f, &s);
        assert_eq!(fabric_outside(&f, &s, &paths), None);
        // Sixteen bytes leave leaf 0 over two links.
        let bound = any_bound(&f, &s, &all_to_all(8));
        assert_eq!((bound.claim, bound.place.as_str()), (8.0, "leaf0 up"));
        assert_eq!(bound.widest(8.0, BoundClass::UpDownTables), BoundClass::AnyRoutes);
        assert_eq!(bound.widest(8.1, BoundClass::UpDownTables), BoundClass::UpDownTables);
    }

    #[test]
    fn a_damaged_tree_is_a_tree() {
        let (f, _) = two_level(3, 2, 2, 1);
        let leaf = f.leaf(HostId(0));
        let cable = f.switch_links(leaf).find(|&l| f.between_switches(l)).unwrap();
        let f = f.with_dead([cable]);
        let s = netloom_topology::detect(&f);
        assert_eq!(fabric_outside(&f, &s, &PathSet::admissible(&f, &s)), None);
    }
}
