//! A three-level tree laid out so that path searches are straight runs over memory.
//!
//! Leaves and spines by pod, spines and cores by core group; at most one cable between two switches.
//! Uneven or damaged trees fit too: what is missing is a *hole* (a slot without link, of infinite cost).
//! A hole never hides or adds an admissible path: in such a tree the admissible paths between two leaves
//! are all unbroken paths of the least length, which is two or four.
//!
//! Slots, in this order (`C` = cores a group, `S` = spines a pod, groups one after another):
//! `leaf_up[leaf][spine]`, `leaf_down[leaf][spine]` (spine to leaf), `core_up[pod][spine][core]`,
//! `core_down[pod][spine][core]` (core to spine).

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::Structure;

/// "No slot", "no switch".
pub(crate) const NONE: u32 = u32::MAX;

/// Where every switch stands, and how many there are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Number of pods.
    pub pods: usize,
    /// Number of leaf places, all pods together.
    pub leaves: usize,
    /// Core groups.
    pub groups: usize,
    /// Spine places a pod and group.
    pub group_spines: usize,
    /// Spine places a pod (`groups * group_spines`).
    pub spines: usize,
    /// Core places a group.
    pub cores: usize,
    /// No hole at all.
    pub full: bool,
    /// Leaf place of a switch, or [`NONE`].
    pub leaf_place: Vec<u32>,
    /// Pod of a switch, or [`NONE`].
    pub pod: Vec<u32>,
    /// Switch at a spine place `pod * spines + spine`, or [`NONE`].
    pub spine_at: Vec<u32>,
    /// Switch at a core place `group * cores + core`, or [`NONE`].
    pub core_at: Vec<u32>,
    spine_place: Vec<u32>,
    core_place: Vec<u32>,
}

impl Layout {
    /// Lays `fabric` out, if it is such a tree.
    pub fn detect(fabric: &Fabric, structure: &Structure) -> Option<Self> {
        if structure.levels != 3 || !structure.by_levels() {
            return None;
        }
        let switches = fabric.switch_count();
        let (pods, groups) = (structure.pods as usize, structure.core_groups as usize);
        let mut leaf_place = vec![NONE; switches];
        let mut pod = vec![NONE; switches];
        let mut leaves = 0;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); pods * groups];
        let mut cores_of: Vec<Vec<u32>> = vec![Vec::new(); groups];
        for s in 0..switches {
            let (p, g) = (structure.pod[s] as usize, structure.core_group[s] as usize);
            if structure.level[s] > 0 && !fabric.hosts_on(SwitchId(s as u32)).is_empty() {
                return None;
            }
            match structure.level[s] {
                0 if p < pods => {
                    leaf_place[s] = leaves;
                    leaves += 1;
                    pod[s] = p as u32;
                }
                1 if p < pods && g < groups => {
                    members[p * groups + g].push(s as u32);
                    pod[s] = p as u32;
                }
                2 if g < groups => cores_of[g].push(s as u32),
                0..=2 => return None,
                _ => {}
            }
        }
        let group_spines = members.iter().map(Vec::len).max().unwrap_or(0);
        let cores = cores_of.iter().map(Vec::len).max().unwrap_or(0);
        let spines = groups * group_spines;
        let places = |lists: &[Vec<u32>], width: usize| {
            let mut at = vec![NONE; lists.len() * width];
            let mut place = vec![NONE; switches];
            for (k, list) in lists.iter().enumerate() {
                for (i, &s) in list.iter().enumerate() {
                    at[k * width + i] = s;
                    place[s as usize] = (k * width + i) as u32;
                }
            }
            (at, place)
        };
        let (spine_at, spine_place) = places(&members, group_spines);
        let (core_at, core_place) = places(&cores_of, cores);
        let mut layout = Self {
            pods,
            leaves: leaves as usize,
            groups,
            group_spines,
            spines,
            cores,
            full: false,
            leaf_place,
            pod,
            spine_at,
            core_at,
            spine_place,
            core_place,
        };
        // Wasteful layouts (one odd switch among many) are better searched as graphs.
        let alive = fabric.links().filter(|&l| fabric.alive(l) && fabric.between_switches(l)).count();
        if layout.slots() > 2 * alive + 1024 {
            return None;
        }
        let mut seen = vec![false; layout.slots()];
        for link in fabric.links().filter(|&l| fabric.alive(l) && fabric.between_switches(l)) {
            let slot = layout.slot(fabric, link)?;
            if std::mem::replace(&mut seen[slot], true) {
                return None;
            }
        }
        layout.full = seen.iter().all(|&s| s);
        Some(layout)
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        2 * self.leaves * self.spines + 2 * self.pods * self.spines * self.cores
    }

    /// Slot of leaf place `leaf` to spine `spine` of its pod.
    #[inline]
    pub fn leaf_up(&self, leaf: usize, spine: usize) -> usize {
        leaf * self.spines + spine
    }

    /// Slot of spine `spine` of the leaf's pod to leaf place `leaf`.
    #[inline]
    pub fn leaf_down(&self, leaf: usize, spine: usize) -> usize {
        (self.leaves + leaf) * self.spines + spine
    }

    /// Slot of spine place `pod * spines + spine` to core `core` of its group.
    #[inline]
    pub fn core_up(&self, spine_place: usize, core: usize) -> usize {
        2 * self.leaves * self.spines + spine_place * self.cores + core
    }

    /// Slot of core `core` of the spine's group to spine place `pod * spines + spine`.
    #[inline]
    pub fn core_down(&self, spine_place: usize, core: usize) -> usize {
        self.core_up(self.pods * self.spines + spine_place, core)
    }

    fn slot(&self, fabric: &Fabric, link: LinkId) -> Option<usize> {
        let (a, b) = (fabric.link_from_switch(link)?.index(), fabric.link_to_switch(link)?.index());
        let pair = |low: usize, high: usize| -> Option<(bool, usize, usize)> {
            let (leaf, spine) = (self.leaf_place[low], self.spine_place[high]);
            if leaf != NONE && spine != NONE {
                // A leaf and a spine of its pod.
                let spine = spine as usize;
                return (self.pod[low] == self.pod[high]).then_some((
                    true,
                    leaf as usize,
                    spine % self.spines,
                ));
            }
            let (spine, core) = (self.spine_place[low], self.core_place[high]);
            if spine != NONE && core != NONE {
                let (spine, core) = (spine as usize, core as usize);
                let group = spine % self.spines / self.group_spines;
                return (core / self.cores == group).then_some((false, spine, core % self.cores));
            }
            None
        };
        match pair(a, b) {
            Some((true, leaf, spine)) => Some(self.leaf_up(leaf, spine)),
            Some((false, spine, core)) => Some(self.core_up(spine, core)),
            None => match pair(b, a)? {
                (true, leaf, spine) => Some(self.leaf_down(leaf, spine)),
                (false, spine, core) => Some(self.core_down(spine, core)),
            },
        }
    }

    /// Link of every slot.
    pub fn link_of(&self, fabric: &Fabric) -> Vec<u32> {
        let mut link_of = vec![NONE; self.slots()];
        for link in fabric.links().filter(|&l| fabric.alive(l) && fabric.between_switches(l)) {
            let slot = self.slot(fabric, link).expect("every link was placed when the layout was detected");
            link_of[slot] = link.0;
        }
        link_of
    }
}
