//! Levels, pods and core groups of any fabric, found from its alive cables alone.
//!
//! Definitions:
//! - **level** of a switch: 0 = leaves; see `levels.rs` for how. [`NO_LEVEL`] where no host can be reached.
//! - **rank**: the order of up and down. That of the levels, but where these would leave two leaves without a
//!   way that other ranks have; see `ranks.rs`.
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
use crate::levels;
use crate::ranks;
use crate::reach;
use crate::recognise;
use crate::shape::Shape;
use crate::structure::{NO_GROUP, NO_LEVEL, NO_POD, Structure};

/// Finds the shape of a fabric. Only alive links count. Linear in the number of links for trees.
pub fn detect(fabric: &Fabric) -> Structure {
    let graph = SwitchGraph::new(fabric);
    let mut found = Findings::default();
    let mut level = vec![FAR; graph.len()];
    let mut rank = level.clone();
    let (mut lost_by_levels, mut pairs_without_route) = (0, 0);
    let mut guessed = false;
    let parts = graph.parts();
    for part in parts.iter().filter(|part| has_host(&graph, part)) {
        let outcome = levels::assign(&graph, part, &mut level);
        part.iter().for_each(|&s| rank[s] = level[s]);
        if outcome.lost_pairs > 0 {
            ranks::mend(&graph, part, &mut rank);
            lost_by_levels += outcome.lost_pairs;
            pairs_without_route += reach::pairs_without_route(&graph, part, &rank);
        }
        if let Some(root) = outcome.root {
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
    if rank.iter().any(|&l| l != FAR && l > HIGHEST) {
        found.note(
            "too-many-levels",
            format!("there are more than {} levels: those above are taken as one", HIGHEST + 1),
        );
    }
    let narrow = |levels: Vec<u32>| -> Vec<u8> {
        levels.into_iter().map(|l| if l == FAR { NO_LEVEL } else { l.min(HIGHEST) as u8 }).collect()
    };
    let (level, rank) = (narrow(level), narrow(rank));
    let levels = level.iter().filter(|&&l| l != NO_LEVEL).map(|&l| l + 1).max().unwrap_or(0);
    let (pod, pods) = pods(&graph, &level, levels);
    let (core_group, core_groups) = core_groups(&graph, &level, levels);

    let mut peer_links = Vec::new();
    for s in (0..graph.len()).filter(|&s| rank[s] != NO_LEVEL) {
        peer_links.extend(graph.links(s).filter(|&(t, _)| rank[t] == rank[s]).map(|(_, link)| link));
    }

    let shape = match guessed {
        false => Shape::Tree,
        true => groups::find(fabric).map_or(Shape::Graph, Shape::Dragonfly),
    };
    let is_dragonfly = shape.groups().is_some();
    if is_dragonfly {
        // Levels are no concern of a dragonfly.
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
        peer_links,
        pairs_without_route,
        findings: Vec::new(),
        tree: None,
    };
    match recognise::regular_tree(fabric, &structure) {
        _ if is_dragonfly => structure.irregular = Some("a dragonfly, no tree".into()),
        Ok(tree) => {
            structure.regular = true;
            structure.tree = Some(tree);
        }
        Err(reason) => structure.irregular = Some(reason),
    }
    found.about(fabric, &graph, &parts, &structure, lost_by_levels);
    structure.findings = found.0;
    structure
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
        // What follows is about levels, which no dragonfly has.
        if let Some(groups) = structure.shape.groups() {
            groups.deviations.iter().for_each(|text| self.note("uneven-groups", text.clone()));
            return;
        }
        if lost_by_levels > 0 {
            let other = |&s: &usize| structure.rank[s] != structure.level[s];
            let moved: Vec<usize> = (0..graph.len()).filter(other).collect();
            let (count, names) = (moved.len(), some_switches(fabric, &moved));
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
                    "cables between switches of equal level, which no up*/down* route uses: {}, such as {}",
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
