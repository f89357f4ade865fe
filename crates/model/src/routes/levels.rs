//! Which service level a pair of hosts uses.
//!
//! Three rules, from the one that tells most to the one that is easiest to deploy: a level of its own for every pair; a level for every pair
//! of *groups* of hosts, which a QoS policy of the subnet manager can say in a few rules; a level for every sender, which a setting of its
//! MPI library can say.
//!
//! What makes pairs distinguishable is that hosts of one leaf, whose packets take the same ways, differ in their levels. So groups cut
//! *across* leaves: no two hosts of a leaf share one. The level from group i to group j is `s((i + j) mod groups) mod levels`, with `s` a
//! random permutation: every destination sees the senders of a leaf spread evenly over the levels, differently from its neighbours, and both
//! directions of a pair have one level, as a connection has that one side asked the subnet manager for.
//!
//! Source: Taffet, dissertation, sec. 4.4.1, for a random level a pair; the other two are ours.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::fabric::Fabric;
use crate::ids::HostId;
use crate::rng::{below, shuffle, stream};

/// Service levels, 0 to 15.
pub const SERVICE_LEVELS: u8 = 16;
/// Groups of hosts, at least: fewer would make destinations alike on small leaves.
const LEAST_GROUPS: usize = 32;

/// Which service level a pair of hosts uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Levels {
    /// A random one below `levels` for every pair.
    Pairs {
        /// How many.
        levels: u8,
        /// Of the random numbers.
        seed: u64,
    },
    /// One for every pair of groups.
    Groups(LevelGroups),
}

/// Groups of hosts, and the level that each uses to each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelGroups {
    /// `[host]`
    group: Vec<u16>,
    /// `[group of the sender][group of the destination]`
    level: Vec<u8>,
    groups: u16,
    by_source: bool,
}

impl Levels {
    /// A random level below `levels` (at most 16) for every pair.
    pub fn pairs(levels: u8, seed: u64) -> Self {
        Self::Pairs { levels: levels.clamp(1, SERVICE_LEVELS), seed }
    }

    /// Whether they are levels of so many hosts: what was read back from memory may be none.
    pub fn fit(&self, hosts: usize) -> bool {
        match self {
            Self::Pairs { levels, .. } => (1..=SERVICE_LEVELS).contains(levels),
            Self::Groups(LevelGroups { group, level, groups, .. }) => {
                group.len() == hosts
                    && group.iter().all(|own| own < groups)
                    && level.len() == usize::from(*groups).pow(2)
                    && level.iter().all(|&level| level < SERVICE_LEVELS)
            }
        }
    }

    /// How many there are: one more than the highest.
    pub fn count(&self) -> u8 {
        match self {
            Self::Pairs { levels, .. } => *levels,
            Self::Groups(groups) => groups.level.iter().max().map_or(0, |most| most + 1),
        }
    }

    /// The level from one host to another.
    #[inline]
    pub fn level(&self, from: HostId, to: HostId) -> u8 {
        match self {
            Self::Pairs { levels, seed } => {
                let pair = u64::from(from.0) << 32 | u64::from(to.0);
                below(&mut stream(*seed, pair), u64::from(*levels)) as u8
            }
            Self::Groups(groups) => groups.level(groups.group(from), groups.group(to)),
        }
    }
}

impl LevelGroups {
    /// A level below `levels` for every pair of groups; hosts of one leaf are in different groups.
    pub fn across_leaves(fabric: &Fabric, levels: u8, seed: u64) -> Self {
        let most = fabric.switches().map(|s| fabric.hosts_on(s).len()).max().unwrap_or(0);
        let groups = most.max(LEAST_GROUPS);
        let mut group = vec![0; fabric.host_count()];
        for leaf in fabric.switches() {
            let first = below(&mut stream(seed, leaf.0.into()), groups as u64) as usize;
            for (at, host) in fabric.hosts_on(leaf).iter().enumerate() {
                group[host.index()] = ((first + at) % groups) as u16;
            }
        }
        let mut order: Vec<usize> = (0..groups).collect();
        shuffle(&mut stream(seed, u64::MAX), &mut order);
        let levels = usize::from(levels.clamp(1, SERVICE_LEVELS));
        let pairs = (0..groups).flat_map(|i| (0..groups).map(move |j| (i, j)));
        let level = pairs.map(|(i, j)| (order[(i + j) % groups] % levels) as u8).collect();
        Self { group, level, groups: groups as u16, by_source: false }
    }

    /// A level below `levels` for every sender, whatever the destination: ports of one machine share one, machines of a leaf have them in
    /// turn.
    pub fn by_source(fabric: &Fabric, levels: u8, seed: u64) -> Self {
        let levels = u16::from(levels.clamp(1, SERVICE_LEVELS));
        let (mut group, mut known) = (vec![0; fabric.host_count()], HashMap::new());
        for leaf in fabric.switches() {
            let mut hosts = fabric.hosts_on(leaf).to_vec();
            let mut random = stream(seed, leaf.0.into());
            shuffle(&mut random, &mut hosts);
            let first = below(&mut random, levels.into()) as u16;
            let mut turn = (0..levels).cycle().skip(first.into());
            for host in hosts {
                let level = known.entry(fabric.machine(host)).or_insert_with(|| turn.next().unwrap_or(0));
                group[host.index()] = *level;
            }
        }
        let level = (0..levels).flat_map(|i| (0..levels).map(move |_| i as u8)).collect();
        Self { group, level, groups: levels, by_source: true }
    }

    /// Every host a group of its own, with the levels of `levels`.
    pub fn of_hosts(fabric: &Fabric, levels: &Levels) -> Self {
        let hosts = fabric.host_count();
        let pairs = fabric.hosts().flat_map(|from| fabric.hosts().map(move |to| (from, to)));
        Self::by_pair(hosts, pairs.map(|(from, to)| levels.level(from, to)).collect())
    }

    /// Every host a group of its own, with a table of levels: `[sender][destination]`.
    ///
    /// # Panics
    /// If the table is not that of at most 65,535 hosts.
    pub fn by_pair(hosts: usize, level: Vec<u8>) -> Self {
        assert!(level.len() == hosts * hosts && hosts <= usize::from(u16::MAX), "a table of all pairs");
        Self { group: (0..hosts as u16).collect(), level, groups: hosts as u16, by_source: false }
    }

    /// Groups of hosts and a table of levels: `[sender's group][destination's group]`.
    ///
    /// # Panics
    /// If the table is not that of so many groups, or a host is in none of them.
    pub fn by_groups(group: Vec<u16>, groups: u16, level: Vec<u8>) -> Self {
        assert!(level.len() == usize::from(groups).pow(2), "a table of all pairs of groups");
        assert!(group.iter().all(|&own| own < groups), "a group for every host");
        Self { group, level, groups, by_source: false }
    }

    /// How many groups.
    pub fn groups(&self) -> u16 {
        self.groups
    }

    /// Whether the destination does not matter.
    pub fn by_sender(&self) -> bool {
        self.by_source
    }

    /// A host's group.
    #[inline]
    pub fn group(&self, host: HostId) -> u16 {
        self.group[host.index()]
    }

    /// The level that hosts of one group use to hosts of another.
    #[inline]
    pub fn level(&self, from: u16, to: u16) -> u8 {
        self.level[usize::from(from) * usize::from(self.groups) + usize::from(to)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::build::{End, FabricBuilder, HostSpec, SwitchSpec};

    /// Three leaves of `hosts` hosts; every second host is the second port of its neighbour's machine if `rails`.
    fn fabric(hosts: u16, rails: bool) -> Fabric {
        let mut b = FabricBuilder::new();
        for leaf in 0..3u16 {
            let s = b.switch(SwitchSpec::new(format!("leaf{leaf}"), u64::from(leaf) + 1, hosts));
            for at in 0..hosts {
                let number = u64::from(leaf * hosts + at);
                let mut host = HostSpec::new(format!("node{number}"), 1000 + 16 * number);
                if rails {
                    host.machine = format!("machine{}", number / 2);
                }
                let h = b.host(host);
                b.cable(End::Switch(s, at + 1), End::Host(h), 1e9);
            }
        }
        b.build().unwrap()
    }

    #[test]
    fn hosts_of_a_leaf_are_in_different_groups_and_both_directions_have_one_level() {
        let f = fabric(40, false);
        let groups = LevelGroups::across_leaves(&f, 5, 7);
        assert_eq!(groups.groups(), 40);
        for leaf in f.switches() {
            let mut of_leaf: Vec<u16> = f.hosts_on(leaf).iter().map(|&h| groups.group(h)).collect();
            of_leaf.sort_unstable();
            assert_eq!(of_leaf, (0..40).collect::<Vec<_>>());
        }
        for to in 0..40 {
            // 40 senders over 5 levels: 8 each.
            let mut count = [0; 5];
            (0..40).for_each(|from| count[usize::from(groups.level(from, to))] += 1);
            assert_eq!(count, [8; 5]);
            assert!((0..40).all(|from| groups.level(from, to) == groups.level(to, from)));
        }
        // Two senders agree to some destinations and differ to others.
        let agree = (0..40).filter(|&to| groups.level(3, to) == groups.level(17, to)).count();
        assert!((1..30).contains(&agree), "{agree}");
    }

    #[test]
    fn senders_have_one_level_to_all_and_machines_one_for_all_ports() {
        let f = fabric(10, true);
        let levels = LevelGroups::by_source(&f, 5, 1);
        let level = |from: HostId, to: HostId| levels.level(levels.group(from), levels.group(to));
        for from in f.hosts() {
            assert!(f.hosts().all(|to| level(from, to) == level(from, HostId(0))));
        }
        for leaf in f.switches() {
            let of_leaf: Vec<u8> = f.hosts_on(leaf).iter().map(|&h| level(h, HostId(0))).collect();
            assert!(of_leaf.chunks(2).all(|ports| ports[0] == ports[1]), "{of_leaf:?}");
            // Five machines, five levels.
            let mut machines: Vec<u8> = of_leaf.iter().step_by(2).copied().collect();
            machines.sort_unstable();
            assert_eq!(machines, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn every_host_can_be_a_group() {
        let f = fabric(3, false);
        let pairs = Levels::pairs(4, 9);
        let groups = LevelGroups::of_hosts(&f, &pairs);
        for (from, to) in f.hosts().flat_map(|a| f.hosts().map(move |b| (a, b))) {
            assert_eq!(groups.level(groups.group(from), groups.group(to)), pairs.level(from, to));
        }
    }
}
