//! Levels, pods and core groups of any fabric, found from its alive cables alone.
//!
//! Definitions:
//! - **level** of a switch: 0 = leaves; see `levels.rs` for how. [`NO_LEVEL`] where no host can be reached.
//! - **rank**: the order of up and down, one in which the ends of a cable differ. That of the levels, ties by GUID, but
//!   where these would leave two leaves without a way that other ranks have; see `order.rs`.
//! - **pods** (three levels or more): the connected pieces that are left when the switches of the top level
//!   are taken away, so far as they hold a leaf or a host. Top switches are in no pod. A fabric of one or two
//!   levels is one pod, all of its switches included.
//! - **core groups** (three levels or more): top switches that share a switch below them, directly or by way
//!   of others (so a missing cable splits nothing that another cable still joins). The switches just below
//!   the top carry the group of theirs.
//!
//! Both are numbered by their first switch. Nothing here trusts a name or a port number, and no input
//! panics: what is no tree gets levels all the same, and a finding.

use netloom_model::{Fabric, Finding, SwitchId};

use crate::graph::{FAR, Sets, SwitchGraph, some_names, some_switches};
use crate::groups;
use crate::lattice;
use crate::levels;
use crate::megafly;
use crate::order;
use crate::recognise;
use crate::shape::Shape;
use crate::structure::{NO_GROUP, NO_LEVEL, NO_POD, NO_RANK, Structure};

/// The shape of what is no tree, or is said to have groups.
fn shape(fabric: &Fabric) -> Shape {
    let dragonfly = || groups::find(fabric).map(Shape::Dragonfly);
    if fabric.groups().is_some() {
        return dragonfly().unwrap_or(Shape::Graph);
    }
    if let Some(lattice) = lattice::coordinates(fabric) {
        // Groups whose cables all join the same two places are a product of two cliques, too. What has more cables side
        // by side in one dimension is taken for groups.
        return lattice.may_be_groups().then(dragonfly).flatten().unwrap_or(Shape::Lattice(lattice));
    }
    megafly::find(fabric).map(Shape::Megafly).or_else(dragonfly).unwrap_or(Shape::Graph)
}

/// Finds the shape of a fabric. Only alive links count. Linear in the number of links for trees.
pub fn detect(fabric: &Fabric) -> Structure {
    let graph = SwitchGraph::new(fabric);
    let mut found = Findings::default();
    let mut level = vec![FAR; graph.len()];
    // Ranks, and what they were before ties were broken.
    let (mut rank, mut base) = (level.clone(), level.clone());
    let (mut lost_by_levels, mut pairs_without_route, mut levels_lose_pairs) = (0, 0, false);
    let mut guessed = false;
    let parts = graph.parts();
    for part in parts.iter().filter(|part| has_host(&graph, part)) {
        let outcome = levels::assign(&graph, part, &mut level);
        let roots: Vec<usize> =
            part.iter().copied().filter(|&s| fabric.roots().contains(&SwitchId::from_index(s))).collect();
        let (order, root) = match outcome.root {
            None if roots.is_empty() => (order::of_tree(&graph, part, &level, outcome.lost_pairs), None),
            None => (order::of_roots(&graph, part, &roots), None),
            Some(central) if roots.is_empty() => {
                let (order, root) = order::of_graph(&graph, part, central);
                (order, Some(root))
            }
            Some(_) => (order::of_roots(&graph, part, &roots), Some(roots[0])),
        };
        for &s in part {
            (rank[s], base[s]) = (order.rank[s], order.base[s]);
            if root.is_some() {
                level[s] = order.base[s];
            }
        }
        pairs_without_route += order.lost_pairs;
        // None where levels are a guess.
        levels_lose_pairs |= outcome.lost_pairs > 0;
        if roots.is_empty() && part.iter().any(|&s| base[s] != level[s]) {
            lost_by_levels += outcome.lost_pairs;
        }
        if let Some(root) = root {
            guessed = true;
            let root = fabric.switch_name(SwitchId::from_index(root));
            found.note(
                "no-tree",
                format!(
                    "not an up*/down* tree: levels of its {} switches are counted down from \"{root}\"",
                    part.len()
                ),
            );
        }
    }
    // A chain of hundreds of switches is beyond any subnet, but no reason to panic.
    const HIGHEST: u32 = NO_LEVEL as u32 - 1;
    if level.iter().any(|&l| l != FAR && l > HIGHEST) {
        found.note(
            "too-many-levels",
            format!("there are more than {} levels: those above are taken as one", HIGHEST + 1),
        );
    }
    let moved: Vec<usize> = (0..graph.len()).filter(|&s| base[s] != level[s]).collect();
    let mut peer_links = Vec::new();
    for s in (0..graph.len()).filter(|&s| base[s] != FAR) {
        peer_links.extend(graph.links(s).filter(|&(t, _)| base[t] == base[s]).map(|(_, link)| link));
    }
    let level: Vec<u8> =
        level.into_iter().map(|l| if l == FAR { NO_LEVEL } else { l.min(HIGHEST) as u8 }).collect();
    // No subnet has so many switches in a row that their ranks would not fit.
    let rank: Vec<u16> = rank
        .into_iter()
        .map(|r| if r == FAR { NO_RANK } else { r.min(u32::from(NO_RANK) - 1) as u16 })
        .collect();
    let levels = level.iter().filter(|&&l| l != NO_LEVEL).map(|&l| l + 1).max().unwrap_or(0);
    let (pod, pods) = pods(&graph, &level, levels);
    let (core_group, core_groups) = core_groups(&graph, &level, levels);

    let shape = match guessed || fabric.groups().is_some() {
        // A damaged lattice may have levels by chance, with cables between switches of one.
        false if peer_links.is_empty() => Shape::Tree,
        false => lattice::coordinates(fabric).map_or(Shape::Tree, Shape::Lattice),
        true => shape(fabric),
    };
    let has_levels = matches!(shape, Shape::Tree | Shape::Graph);
    if !has_levels {
        // Levels are no concern of what has groups or coordinates.
        found.0.clear();
    }

    let mut structure = Structure {
        shape,
        levels,
        level,
        rank,
        pod,
        core_group,
        pods,
        core_groups,
        regular: false,
        irregular: None,
        parts: parts.iter().filter(|part| has_host(&graph, part)).count() as u32,
        order: None,
        levels_lose_pairs,
        peer_links,
        pairs_without_route,
        findings: Vec::new(),
        tree: None,
    };
    let by_distance =
        || parts.iter().filter(|part| has_host(&graph, part)).all(|part| counts_down(&graph, part, &base));
    structure.order = order_in_words(fabric, &structure, guessed, !moved.is_empty(), by_distance);
    match recognise::regular_tree(fabric, &structure) {
        _ if !has_levels => structure.irregular = Some(format!("a {}, no tree", structure.shape)),
        Ok(tree) => {
            structure.regular = true;
            structure.tree = Some(tree);
        }
        Err(reason) => structure.irregular = Some(reason),
    }
    found.about(fabric, &graph, &parts, &structure, lost_by_levels, &moved);
    structure.findings = found.0;
    structure
}

/// Whether ranks count down from the highest, so that these as stated roots give the same order.
fn counts_down(graph: &SwitchGraph, part: &[usize], rank: &[u32]) -> bool {
    let highest = part.iter().map(|&s| rank[s]).max().unwrap_or(0);
    let distance = graph.distances(part.iter().copied().filter(|&s| rank[s] == highest));
    let deepest = part.iter().map(|&s| distance[s]).max().unwrap_or(0);
    part.iter().all(|&s| rank[s] == deepest - distance[s])
}

/// What up and down go by, where it is not the levels alone.
fn order_in_words(
    fabric: &Fabric,
    structure: &Structure,
    guessed: bool,
    moved: bool,
    by_distance: impl Fn() -> bool,
) -> Option<String> {
    if structure.by_levels() && !guessed {
        return None;
    }
    if !(guessed || moved) {
        return Some("between equal levels up to the lower GUID".into());
    }
    let top = structure.rank.iter().copied().filter(|&r| r != NO_RANK).max()?;
    let on_top: Vec<usize> = (0..structure.rank.len()).filter(|&s| structure.rank[s] == top).collect();
    let of = if by_distance() { "" } else { " of mended levels" };
    Some(format!("with {} on top{of}", some_switches(fabric, &on_top)))
}

fn has_host(graph: &SwitchGraph, part: &[usize]) -> bool {
    part.iter().any(|&s| graph.hosts[s] > 0)
}

fn pods(graph: &SwitchGraph, level: &[u8], levels: u8) -> (Vec<u32>, u32) {
    if levels <= 2 {
        let pod = level.iter().map(|&l| if l == NO_LEVEL { NO_POD } else { 0 }).collect();
        return (pod, u32::from(levels > 0));
    }
    let below = |s: usize| level[s] < levels - 1;
    let mut sets = Sets::new(graph.len());
    for s in (0..graph.len()).filter(|&s| below(s)) {
        for &t in graph.neighbours(s) {
            if below(t as usize) {
                sets.join(s, t as usize);
            }
        }
    }
    let mut counts = vec![false; graph.len()];
    for s in (0..graph.len()).filter(|&s| below(s) && (level[s] == 0 || graph.hosts[s] > 0)) {
        counts[sets.find(s)] = true;
    }
    number(&mut sets, below, &counts)
}

fn core_groups(graph: &SwitchGraph, level: &[u8], levels: u8) -> (Vec<u32>, u32) {
    if levels <= 2 {
        return (vec![NO_GROUP; level.len()], 0);
    }
    let mut sets = Sets::new(graph.len());
    let mut counts = vec![false; graph.len()];
    let top = |s: usize| level[s] == levels - 1;
    for s in (0..graph.len()).filter(|&s| top(s)) {
        for &t in graph.neighbours(s) {
            if level[t as usize] == levels - 2 {
                sets.join(s, t as usize);
            }
        }
    }
    for s in (0..graph.len()).filter(|&s| top(s)) {
        counts[sets.find(s)] = true;
    }
    // Numbered by the first *top* switch, so that g0 is group 0 whatever the spines are called.
    let (mut group, mut next) = (vec![NO_GROUP; graph.len()], 0);
    for s in (0..graph.len()).filter(|&s| top(s)) {
        let root = sets.find(s);
        if group[root] == NO_GROUP {
            group[root] = next;
            next += 1;
        }
        group[s] = group[root];
    }
    for s in (0..graph.len()).filter(|&s| level[s] == levels - 2) {
        let root = sets.find(s);
        group[s] = if counts[root] { group[root] } else { NO_GROUP };
    }
    (group, next)
}

/// Numbers the sets that count by their first member.
fn number(sets: &mut Sets, member: impl Fn(usize) -> bool, counts: &[bool]) -> (Vec<u32>, u32) {
    let (mut numbers, mut next) = (vec![u32::MAX; counts.len()], 0);
    for s in (0..counts.len()).filter(|&s| member(s)) {
        let root = sets.find(s);
        if counts[root] {
            if root == s {
                numbers[s] = next;
                next += 1;
            } else {
                numbers[s] = numbers[root];
            }
        }
    }
    (numbers, next)
}

/// Sentences in the order of their weight.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn note(&mut self, kind: &'static str, text: String) {
        self.0.push(Finding { kind, text });
    }

    fn about(
        &mut self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        parts: &[Vec<usize>],
        structure: &Structure,
        lost_by_levels: u64,
        moved: &[usize],
    ) {
        let inhabited: Vec<&Vec<usize>> = parts.iter().filter(|part| has_host(graph, part)).collect();
        if inhabited.len() > 1 {
            let sizes = || inhabited.iter().map(|part| hosts_in(graph, part));
            let (all, largest) = (sizes().sum::<u64>(), sizes().max().unwrap_or(0));
            let (count, outside) = (inhabited.len(), all - largest);
            self.note(
                "parts",
                format!("the fabric is in {count} parts: {outside} of {all} hosts are outside the largest"),
            );
        }
        let cut_off: Vec<usize> = (0..graph.len()).filter(|&s| structure.level[s] == NO_LEVEL).collect();
        if !cut_off.is_empty() {
            let names = some_switches(fabric, &cut_off);
            self.note(
                "cut-off-switch",
                format!("switches from which no host can be reached: {} ({names})", cut_off.len()),
            );
        }
        let unplugged: Vec<_> = fabric.hosts().filter(|&h| !fabric.alive(fabric.host_link(h))).collect();
        if !unplugged.is_empty() {
            let names = some_names(unplugged.iter().map(|&h| fabric.host_name(h)));
            self.note("dead-host-cable", format!("hosts whose cable is dead: {} ({names})", unplugged.len()));
        }
        let dead = (fabric.link_count() - fabric.alive_count()) / 2 - unplugged.len();
        if dead > 0 {
            self.note("dead-cable", format!("dead cables between switches: {dead}"));
        }
        if !fabric.roots().is_empty() {
            let named: Vec<usize> = fabric.roots().iter().map(|s| s.index()).collect();
            let names = some_switches(fabric, &named);
            self.note("stated-roots", format!("up and down go by the distance from stated roots: {names}"));
        }
        let odd = match structure.shape {
            Shape::Lattice(_) => "uneven-lattice",
            _ => "uneven-groups",
        };
        structure.shape.deviations().iter().for_each(|text| self.note(odd, text.clone()));
        // What follows is about levels.
        if !matches!(structure.shape, Shape::Tree | Shape::Graph) {
            return;
        }
        if lost_by_levels > 0 {
            let (count, names) = (moved.len(), some_switches(fabric, moved));
            self.note(
                "other-ranks",
                format!(
                    "pairs of switches with hosts that no up*/down* route by levels joins: {lost_by_levels}; up \
                     and down go by other ranks of {count} switches ({names}), and none is lost"
                ),
            );
        }
        if let Some(&first) = structure.peer_links.first() {
            self.note(
                "level-cable",
                format!(
                    "cables between switches of equal level: {}, such as {}; up*/down* routes take the lower GUID as the upper end",
                    structure.peer_links.len() / 2,
                    fabric.describe_link(first)
                ),
            );
        }
        let high: Vec<usize> = (0..graph.len())
            .filter(|&s| graph.hosts[s] > 0 && !matches!(structure.level[s], 0 | NO_LEVEL))
            .collect();
        if !high.is_empty() {
            let hosts: u32 = high.iter().map(|&s| graph.hosts[s]).sum();
            let names = some_switches(fabric, &high);
            self.note("high-host", format!("hosts above the leaf level: {hosts} (on {names})"));
        }
        let bare: Vec<usize> =
            (0..graph.len()).filter(|&s| graph.hosts[s] == 0 && structure.level[s] == 0).collect();
        if !bare.is_empty() {
            let names = some_switches(fabric, &bare);
            self.note(
                "bare-leaf",
                format!("switches of the leaf level without hosts: {} ({names})", bare.len()),
            );
        }
    }
}

fn hosts_in(graph: &SwitchGraph, part: &[usize]) -> u64 {
    part.iter().map(|&s| u64::from(graph.hosts[s])).sum()
}
