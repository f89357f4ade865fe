//! A perfect two- or three-level tree as index tables: what the closed forms and the fast engines use.
//!
//! Perfect means: every leaf has equally many hosts, no other switch has any; every leaf is joined to
//! every spine of its pod by equally many cables, and to nothing else; every pod has equally many spines
//! of each core group; every spine is joined to every core of its group by equally many cables, and to
//! nothing else; one speed per stage; nothing is cut off. A two-level tree is one pod without cores, whose
//! spines are one group.
//!
//! Order: pods, leaves, groups and cores by their first `SwitchId`; the spines of a pod by (core group,
//! `SwitchId`); the cables between two switches by the port of the lower one.

use netloom_model::{Fabric, HostId, LinkId, SwitchId};

/// The tables. Counts are per pod, per leaf or per group as their names say, all at least 1 except
/// `groups`, `cores_per_group` and `core_cables` of a two-level tree.
#[derive(Clone, Debug, PartialEq)]
pub struct RegularTree {
    /// Pods; 1 for a two-level tree.
    pub pods: usize,
    /// Leaves of a pod.
    pub leaves_per_pod: usize,
    /// Hosts of a leaf.
    pub hosts_per_leaf: usize,
    /// Spines of a pod.
    pub spines_per_pod: usize,
    /// Cables between a leaf and a spine.
    pub leaf_cables: usize,
    /// Core groups; 0 for a two-level tree.
    pub groups: usize,
    /// Spines of a pod in one core group (all spines for a two-level tree).
    pub spines_per_group: usize,
    /// Cores of a group; 0 for a two-level tree.
    pub cores_per_group: usize,
    /// Cables between a spine and a core; 0 for a two-level tree.
    pub core_cables: usize,
    /// Relative capacity of host links, 0 < c <= 1.
    pub host_capacity: f64,
    /// Relative capacity of links between leaves and spines.
    pub leaf_capacity: f64,
    /// Relative capacity of links between spines and cores; 1 for a two-level tree.
    pub core_capacity: f64,
    pub(crate) leaves: Vec<SwitchId>,
    pub(crate) spines: Vec<SwitchId>,
    pub(crate) cores: Vec<SwitchId>,
    pub(crate) index: Vec<u32>,
    pub(crate) leaf_up: Vec<LinkId>,
    pub(crate) spine_up: Vec<LinkId>,
}

impl RegularTree {
    /// All leaves, pod by pod: leaf `i` of pod `p` is entry `p * leaves_per_pod + i`.
    pub fn leaves(&self) -> &[SwitchId] {
        &self.leaves
    }

    /// All spines, pod by pod, within a pod group by group: spine `i` of group `g` in pod `p` is entry
    /// `p * spines_per_pod + g * spines_per_group + i`.
    pub fn spines(&self) -> &[SwitchId] {
        &self.spines
    }

    /// All cores, group by group; empty for a two-level tree.
    pub fn cores(&self) -> &[SwitchId] {
        &self.cores
    }

    /// Position of a switch in [`leaves`](Self::leaves), [`spines`](Self::spines) or [`cores`](Self::cores),
    /// whichever its level says.
    #[inline]
    pub fn index(&self, switch: SwitchId) -> usize {
        self.index[switch.index()] as usize
    }

    /// The hosts of leaf number `leaf`, in order.
    pub fn hosts<'a>(&self, fabric: &'a Fabric, leaf: usize) -> &'a [HostId] {
        fabric.hosts_on(self.leaves[leaf])
    }

    /// The link up from leaf number `leaf` to spine `spine` *of its pod* (`0..spines_per_pod`).
    #[inline]
    pub fn leaf_up(&self, leaf: usize, spine: usize, cable: usize) -> LinkId {
        self.leaf_up[(leaf * self.spines_per_pod + spine) * self.leaf_cables + cable]
    }

    /// The link up from spine number `spine` (of all) to core `core` *of its group* (`0..cores_per_group`).
    #[inline]
    pub fn spine_up(&self, spine: usize, core: usize, cable: usize) -> LinkId {
        self.spine_up[(spine * self.cores_per_group + core) * self.core_cables + cable]
    }

    /// The core group of spine number `spine` of all (or of its pod).
    #[inline]
    pub fn group_of_spine(&self, spine: usize) -> usize {
        spine % self.spines_per_pod / self.spines_per_group
    }
}
