//! Three-level fat trees: pods of leaves and spines, cores in groups.
//!
//! Every leaf is cabled to every spine of its pod. The spines of a pod are dealt to the core groups in
//! order (the first `spines / groups` to group 0), and every spine is cabled to every core of its group.
//! Ports: a leaf has its hosts first, then spines; a spine leaves, then cores; a core the spines of its
//! group, pod by pod. Parallel cables sit side by side.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "fattree";
pub(super) const EXAMPLE: &str = "fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24";
pub(super) const KEYS: &[&str] =
    &["pods", "leaves", "hosts", "spines", "groups", "cores", "leaf-cables", "core-cables", "speed"];

/// A three-level fat tree. Counts are at least 1; `spines` is a multiple of `groups`.
#[derive(Clone, Debug, PartialEq)]
pub struct FatTree {
    /// Pods.
    pub pods: u64,
    /// Leaves a pod.
    pub leaves: u64,
    /// Hosts a leaf.
    pub hosts: u64,
    /// Spines a pod.
    pub spines: u64,
    /// Core groups.
    pub groups: u64,
    /// Cores a group.
    pub cores: u64,
    /// Cables between a leaf and a spine.
    pub leaf_cables: u64,
    /// Cables between a spine and a core.
    pub core_cables: u64,
    /// Data rate of every cable, bytes per second.
    pub bandwidth_bytes_per_s: f64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let tree = FatTree {
        pods: spec.count("pods")?,
        leaves: spec.count("leaves")?,
        hosts: spec.count("hosts")?,
        spines: spec.count("spines")?,
        groups: spec.count("groups")?,
        cores: spec.count("cores")?,
        leaf_cables: spec.count_or("leaf-cables", 1)?,
        core_cables: spec.count_or("core-cables", 1)?,
        bandwidth_bytes_per_s: spec.speed("EDR")?,
    };
    tree.build()
}

impl FatTree {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, spines that cannot be shared out among the groups, and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        self.check()?;
        let FatTree { pods, leaves, hosts, spines, groups, cores, leaf_cables, core_cables, .. } = *self;
        let [pods, leaves, hosts, spines] = [pods, leaves, hosts, spines].map(|n| n as usize);
        let [groups, cores, leaf_cables, core_cables] =
            [groups, cores, leaf_cables, core_cables].map(|n| n as usize);
        let group_spines = spines / groups;
        let mut make = Maker::new(pods * leaves * hosts, self.bandwidth_bytes_per_s);
        let name = |outer: char, n: usize, of: usize, kind: &str, i: usize, count: usize| {
            format!("{outer}{n:0a$}{kind}{i:0b$}", a = digits(of), b = digits(count))
        };
        let mut tier = |outer, of, kind: &str, count, radix| -> Vec<usize> {
            let each = |n| (0..count).map(move |i| (n, i));
            (0..of)
                .flat_map(each)
                .map(|(n, i)| make.switch(name(outer, n, of, kind, i, count), radix))
                .collect()
        };
        let leaf = tier('p', pods, "leaf", leaves, hosts + spines * leaf_cables);
        let spine = tier('p', pods, "spine", spines, leaves * leaf_cables + cores * core_cables);
        let core = tier('g', groups, "core", cores, pods * group_spines * core_cables);

        for (l, &switch) in leaf.iter().enumerate() {
            for port in 1..=hosts {
                make.host(switch, port);
            }
            let (pod, at) = (l / leaves, l % leaves);
            for s in 0..spines {
                for k in 0..leaf_cables {
                    let up = hosts + s * leaf_cables + k + 1;
                    make.cable((switch, up), (spine[pod * spines + s], at * leaf_cables + k + 1));
                }
            }
        }
        for (s, &switch) in spine.iter().enumerate() {
            let (pod, group, at) = (s / spines, s % spines / group_spines, s % group_spines);
            for c in 0..cores {
                for k in 0..core_cables {
                    let up = leaves * leaf_cables + c * core_cables + k + 1;
                    let down = (pod * group_spines + at) * core_cables + k + 1;
                    make.cable((switch, up), (core[group * cores + c], down));
                }
            }
        }
        make.build()
    }

    fn check(&self) -> Result<(), SpecError> {
        check_counts(
            NAME,
            [
                ("pods", self.pods),
                ("leaves", self.leaves),
                ("hosts", self.hosts),
                ("spines", self.spines),
                ("groups", self.groups),
                ("cores", self.cores),
                ("leaf-cables", self.leaf_cables),
                ("core-cables", self.core_cables),
            ],
        )?;
        if !self.spines.is_multiple_of(self.groups) {
            let expected = format!(
                "a divisor of spines={} (the spines of a pod are shared out evenly among the groups)",
                self.spines
            );
            return Err(bad(NAME, "groups", expected, self.groups.to_string()));
        }
        check_size(NAME, &self.size())
    }

    fn size(&self) -> Size {
        let leaf_ports = u128::from(self.hosts) + product([self.spines, self.leaf_cables]);
        let spine_ports = product([self.leaves, self.leaf_cables]) + product([self.cores, self.core_cables]);
        let core_ports = product([self.pods, self.spines / self.groups, self.core_cables]);
        let hosts = product([self.pods, self.leaves, self.hosts]);
        let leaf_cables = product([self.pods, self.leaves, self.spines, self.leaf_cables]);
        let core_cables = product([self.pods, self.spines, self.cores, self.core_cables]);
        Size {
            hosts,
            switches: product([self.pods, self.leaves])
                + product([self.pods, self.spines])
                + product([self.groups, self.cores]),
            radix: leaf_ports.max(spine_ports).max(core_ports),
            cables: hosts.saturating_add(leaf_cables).saturating_add(core_cables),
        }
    }
}
