//! Megaflies (dragonfly+): groups of leaves and spines, and cables between spines of every two groups.
//!
//! Within a group every leaf has a cable to every spine. A spine has `h` ports for global cables; those of a group are
//! numbered spine by spine, and lead to the other groups as those of a dragonfly do (`dragonfly.rs` has the
//! arrangements). With `g` groups, `l` leaves, `s` spines, `p` hosts a leaf and `k` cables between two groups there are
//! `g (l + s)` switches, `g l p` hosts, `g l s` local and `g (g - 1) k / 2` global cables.
//!
//! Ports of a leaf: hosts, then spines. Ports of a spine: leaves, then global cables.
//! Sources: M. Flajslik, E. Borch, M. A. Parker, "Megafly: a topology for exascale systems", ISC 2018; A. Shpiner et
//! al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017.

use netloom_model::Fabric;

use super::SpecError;
use super::dragonfly::{Arrangement, arrangement, global_ends};
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "megafly";
pub(super) const EXAMPLE: &str = "megafly:groups=9,leaves=4,spines=4,hosts=4";
pub(super) const KEYS: &[&str] = &[
    "groups",
    "leaves",
    "spines",
    "hosts",
    "h",
    "links",
    "arrangement",
    "speed",
    "local-speed",
    "global-speed",
];

/// A megafly. Counts are at least 1, groups at least 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Megafly {
    /// Groups.
    pub groups: u64,
    /// Leaves a group.
    pub leaves: u64,
    /// Spines a group.
    pub spines: u64,
    /// Hosts a leaf.
    pub hosts: u64,
    /// Global ports a spine.
    pub global_ports: u64,
    /// Cables between two groups.
    pub links: u64,
    /// Which global port leads where.
    pub arrangement: Arrangement,
    /// Data rate of cables to hosts, bytes per second.
    pub host_bytes_per_s: f64,
    /// Data rate of cables within groups, bytes per second.
    pub local_bytes_per_s: f64,
    /// Data rate of cables between groups, bytes per second.
    pub global_bytes_per_s: f64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let (groups, spines, links) = (spec.groups("groups")?, spec.count("spines")?, spec.count_or("links", 1)?);
    let speed = spec.speed("EDR")?;
    let needed = product([groups - 1, links]).div_ceil(u128::from(spines)) as u64;
    let megafly = Megafly {
        groups,
        leaves: spec.count("leaves")?,
        spines,
        hosts: spec.count("hosts")?,
        global_ports: spec.count_or("h", needed)?,
        links,
        arrangement: arrangement(spec)?,
        host_bytes_per_s: speed,
        local_bytes_per_s: spec.rate("local-speed")?.unwrap_or(speed),
        global_bytes_per_s: spec.rate("global-speed")?.unwrap_or(speed),
    };
    megafly.build()
}

impl Megafly {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, fewer than two groups, more global cables than ports, and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        self.check()?;
        let &Self { groups, leaves, spines, hosts, global_ports, links, arrangement, .. } = self;
        let [g, l, s, p, h, links] = [groups, leaves, spines, hosts, global_ports, links].map(|n| n as usize);
        let mut make = Maker::new(g * l * p, self.host_bytes_per_s);
        let (wide, of_leaf, of_spine) = (digits(g).max(2), digits(l), digits(s));
        let (mut leaf, mut spine) = (Vec::with_capacity(g * l), Vec::with_capacity(g * s));
        for group in 0..g {
            let leaves = (0..l).map(|i| make.switch(format!("g{group:0wide$}l{i:0of_leaf$}"), p + s));
            leaf.extend(leaves);
            let spines = (0..s).map(|i| make.switch(format!("g{group:0wide$}s{i:0of_spine$}"), l + h));
            spine.extend(spines);
        }
        for &one in &leaf {
            (1..=p).for_each(|port| make.host(one, port));
        }
        for (leaves, spines) in leaf.chunks(l).zip(spine.chunks(s)) {
            for (i, &lower) in leaves.iter().enumerate() {
                for (j, &upper) in spines.iter().enumerate() {
                    make.cable_at((lower, p + 1 + j), (upper, 1 + i), self.local_bytes_per_s);
                }
            }
        }
        let end = |(group, port): (usize, usize)| (spine[group * s + port / h], l + 1 + port % h);
        for (near, far) in global_ends(arrangement, g, links) {
            make.cable_at(end(near), end(far), self.global_bytes_per_s);
        }
        make.build()
    }

    fn check(&self) -> Result<(), SpecError> {
        let &Self { groups, leaves, spines, hosts, global_ports, links, .. } = self;
        let counts = [
            ("groups", groups),
            ("leaves", leaves),
            ("spines", spines),
            ("hosts", hosts),
            ("h", global_ports),
            ("links", links),
        ];
        check_counts(NAME, counts)?;
        if groups < 2 {
            return Err(bad(NAME, "groups", "at least 2 groups", groups.to_string()));
        }
        let (ports, needed) = (product([spines, global_ports]), product([groups - 1, links]));
        if needed > ports {
            let expected = format!(
                "at most {ports} global cables a group, as spines={spines} have h={global_ports} ports for them"
            );
            return Err(bad(NAME, "groups, links", expected, format!("{} x {links} = {needed}", groups - 1)));
        }
        let all_hosts = product([groups, leaves, hosts]);
        let cables = [product([groups, leaves, spines]), product([groups, groups - 1, links]) / 2];
        let upper = u128::from(leaves) + u128::from(global_ports);
        check_size(
            NAME,
            &Size {
                hosts: all_hosts,
                switches: u128::from(groups).saturating_mul(u128::from(leaves) + u128::from(spines)),
                radix: upper.max(u128::from(hosts) + u128::from(spines)),
                cables: cables.into_iter().fold(all_hosts, u128::saturating_add),
            },
        )
    }
}
