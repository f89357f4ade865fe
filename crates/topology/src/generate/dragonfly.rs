//! Dragonflies: groups of switches that are cliques, and cables between every two groups.
//!
//! A group has `a` switches with `p` hosts and `h` ports for global cables each. The global ports of a group are
//! numbered switch by switch; `links` times over they lead to all other groups, in an order that is the
//! *arrangement*. With `j` the number within one round and `g` groups, port `j` of group `G` leads to group
//!
//! | arrangement | leads to |
//! |---|---|
//! | absolute | `j` where `j < G`, else `j + 1` |
//! | relative | `(G + j + 1) mod g` (the palm tree) |
//! | circulant | `G + 1`, `G - 1`, `G + 2`, `G - 2`, … modulo `g` |
//!
//! Ports of a switch: hosts, then the other switches of its group in order, then global cables. Ports that are
//! left over, where `(g - 1) links < a h`, are the last ones of a group and stay free.
//! Sources: J. Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008; C. Camarero et al.,
//! "Topological characterization of Hamming and dragonfly networks and its implications on routing", ACM TACO 11
//! (2014), for the arrangements.

use std::fmt;

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "dragonfly";
pub(super) const EXAMPLE: &str = "dragonfly:p=4,a=8,h=4";
pub(super) const KEYS: &[&str] =
    &["p", "a", "h", "g", "links", "arrangement", "speed", "local-speed", "global-speed"];

/// Which group a global port leads to; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// By the groups' numbers.
    Absolute,
    /// By the distance of the groups' numbers.
    Relative,
    /// By the distance, one step forward, one back, two forward, …
    Circulant,
}

impl Arrangement {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Absolute, Self::Relative, Self::Circulant];

    /// The name in specs and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Relative => "relative",
            Self::Circulant => "circulant",
        }
    }

    /// The group that number `j` of a round leads to from `group` of `groups`; `j + 1 < groups`.
    pub fn target(self, group: usize, j: usize, groups: usize) -> usize {
        match self {
            Self::Absolute => j + usize::from(j >= group),
            Self::Relative => (group + j + 1) % groups,
            Self::Circulant if j.is_multiple_of(2) => (group + j / 2 + 1) % groups,
            Self::Circulant => (group + groups - (j / 2 + 1)) % groups,
        }
    }
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A dragonfly. Counts are at least 1, groups at least 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Dragonfly {
    /// Hosts a switch.
    pub hosts: u64,
    /// Switches a group.
    pub switches: u64,
    /// Global ports a switch.
    pub global_ports: u64,
    /// Groups.
    pub groups: u64,
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
    let (a, h, links) = (spec.count("a")?, spec.count("h")?, spec.count_or("links", 1)?);
    let full = (product([a, h]) / u128::from(links) + 1).min(u128::from(u64::MAX)) as u64;
    let speed = spec.speed("EDR")?;
    let dragonfly = Dragonfly {
        hosts: spec.count("p")?,
        switches: a,
        global_ports: h,
        groups: spec.count_or("g", full)?,
        links,
        arrangement: arrangement(spec)?,
        host_bytes_per_s: speed,
        local_bytes_per_s: spec.rate("local-speed")?.unwrap_or(speed),
        global_bytes_per_s: spec.rate("global-speed")?.unwrap_or(speed),
    };
    let fabric = dragonfly.build()?;
    // A few shapes have the cables of a HyperX as well: what was asked for settles it.
    let group = |s: usize| (s / dragonfly.switches as usize) as u32;
    Ok(fabric.with_groups((0..fabric.switch_count()).map(group).collect::<Vec<u32>>()))
}

/// The arrangement that a spec names, or absolute.
pub(super) fn arrangement(spec: &Spec) -> Result<Arrangement, SpecError> {
    let Some(text) = spec.get("arrangement") else { return Ok(Arrangement::Absolute) };
    let found = Arrangement::ALL.into_iter().find(|arrangement| arrangement.name() == text);
    found.ok_or_else(|| spec.bad("arrangement", "one of absolute, relative, circulant", text))
}

/// The two ends of every global cable: a group, and the number of the port among its global ones. `links` cables join
/// every two of `groups` groups.
pub(super) fn global_ends(
    arrangement: Arrangement,
    groups: usize,
    links: usize,
) -> impl Iterator<Item = ((usize, usize), (usize, usize))> {
    // Where a round of a group's ports meets another group: the other way around of `target`.
    let round: Vec<Vec<usize>> = (0..groups)
        .map(|group| {
            let mut number = vec![0; groups];
            (0..groups - 1).for_each(|j| number[arrangement.target(group, j, groups)] = j);
            number
        })
        .collect();
    let rounds = (0..links).map(move |k| k * (groups - 1));
    let pairs =
        move |first| (0..groups).flat_map(move |one| (one + 1..groups).map(move |two| (first, one, two)));
    rounds
        .flat_map(pairs)
        .map(move |(first, one, two)| ((one, first + round[one][two]), (two, first + round[two][one])))
}

impl Dragonfly {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, fewer than two groups, more global cables than ports, and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        self.check()?;
        let &Self { hosts, switches, global_ports, groups, links, arrangement, .. } = self;
        let [p, a, h, g, links] = [hosts, switches, global_ports, groups, links].map(|n| n as usize);
        let mut make = Maker::new(g * a * p, self.host_bytes_per_s);
        let (wide, narrow) = (digits(g).max(2), digits(a));
        let names = (0..g * a).map(|s| format!("g{:0wide$}r{:0narrow$}", s / a, s % a));
        let switch: Vec<usize> = names.map(|name| make.switch(name, p + a - 1 + h)).collect();
        for &s in &switch {
            (1..=p).for_each(|port| make.host(s, port));
        }
        for group in switch.chunks(a) {
            for (i, &one) in group.iter().enumerate() {
                for (j, &other) in group.iter().enumerate().skip(i + 1) {
                    make.cable_at((one, p + j), (other, p + i + 1), self.local_bytes_per_s);
                }
            }
        }
        let end = |(group, port): (usize, usize)| (switch[group * a + port / h], p + a + port % h);
        for (near, far) in global_ends(arrangement, g, links) {
            make.cable_at(end(near), end(far), self.global_bytes_per_s);
        }
        make.build()
    }

    fn check(&self) -> Result<(), SpecError> {
        let &Self { hosts, switches, global_ports, groups, links, .. } = self;
        let counts = [("p", hosts), ("a", switches), ("h", global_ports), ("g", groups), ("links", links)];
        check_counts(NAME, counts)?;
        let ports = product([switches, global_ports]);
        if groups < 2 {
            return Err(bad(NAME, "g", "at least 2 groups", groups.to_string()));
        }
        if product([groups - 1, links]) > ports {
            let needed = product([groups - 1, links]);
            let expected = format!(
                "at most {ports} global cables a group, as a={switches} switches have h={global_ports} ports for them"
            );
            return Err(bad(NAME, "g, links", expected, format!("{} x {links} = {needed}", groups - 1)));
        }
        let all = product([groups, switches]);
        let cables = all
            .saturating_mul(u128::from(hosts))
            .saturating_add(all.saturating_mul(u128::from(switches - 1)) / 2)
            .saturating_add(product([groups, groups - 1, links]) / 2);
        check_size(
            NAME,
            &Size {
                hosts: all.saturating_mul(u128::from(hosts)),
                switches: all,
                radix: product([hosts]) + product([switches - 1]) + product([global_ports]),
                cables,
            },
        )
    }
}
