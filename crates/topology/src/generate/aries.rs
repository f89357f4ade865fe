//! Cray XC: groups of two cabinets, and the machines Edison and Theta.
//!
//! A group is a grid: the slots of a chassis are joined by a *green* cable each, the chassis of a slot by three *black* ones each.
//! A router has ten tiles for *blue* cables to other groups, which come in twos between two routers.
//!
//! Blue cables: a group lists the other groups in order, and its routers slot by slot, in a slot chassis by chassis. Each of these
//! groups in turn takes the next `links / 2` routers, round and round. The first router that group `G` gives to `H` is joined to the
//! first that `H` gives to `G`, and so on. So are the cables of Edison and Theta, router by router, as these machines print
//! them; which tile a cable is in is not modelled: a router's ports are hosts, green, black, blue.
//! Sources: B. Alverson et al., "Cray XC series network", white paper WP-Aries01-1112 (2012); the wiring of both machines, as the CODES
//! simulator ships it.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "aries";
pub(super) const EXAMPLE: &str = "aries:groups=9,links=48";
pub(super) const KEYS: &[&str] = &["groups", "links", "slots", "chassis", "hosts"];

/// Bytes per second: three lanes of 14 Gb/s within groups, of 12.5 Gb/s between them; a flit of 16 bytes each 1.25 ns to a host.
const LOCAL: f64 = 5.25e9;
const GLOBAL: f64 = 4.7e9;
const HOST: f64 = 12.8e9;

/// Cables between two chassis at a slot, and tiles of a router for cables to other groups.
const BLACK: u64 = 3;
const BLUE: u64 = 10;

/// A Cray XC, or something smaller that is built like one. Counts are at least 1, groups at least 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aries {
    /// Groups.
    pub groups: u64,
    /// Cables between two groups, an even number.
    pub links: u64,
    /// Routers of a chassis: 16.
    pub slots: u64,
    /// Chassis of a group: 6.
    pub chassis: u64,
    /// Hosts of a router: 4.
    pub hosts: u64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let machine = Aries {
        groups: spec.groups("groups")?,
        links: spec.count("links")?,
        slots: spec.count_or("slots", 16)?,
        chassis: spec.count_or("chassis", 6)?,
        hosts: spec.count_or("hosts", 4)?,
    };
    machine.build()
}

/// NERSC's Edison: 15 groups, 24 cables between two.
pub(super) fn edison(_: &Spec) -> Result<Fabric, SpecError> {
    Aries { groups: 15, links: 24, slots: 16, chassis: 6, hosts: 4 }.build()
}

/// Argonne's Theta: 9 groups, 48 cables between two.
pub(super) fn theta(_: &Spec) -> Result<Fabric, SpecError> {
    Aries { groups: 9, links: 48, slots: 16, chassis: 6, hosts: 4 }.build()
}

impl Aries {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, fewer than two groups, an odd number of cables between two, more of them than tiles, and sizes above the
    /// limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        let rounds = self.check()?;
        let &Self { groups, links, slots, chassis, hosts } = self;
        let [g, w, slots, chassis, p] = [groups, links / 2, slots, chassis, hosts].map(|n| n as usize);
        let black = BLACK as usize;
        let routers = slots * chassis;
        // The first port of each kind.
        let green_from = p + 1;
        let black_from = green_from + slots - 1;
        let blue_from = black_from + black * (chassis - 1);
        let mut make = Maker::new(g * routers * p, HOST);
        let wide = digits(g).max(2);
        let (of_chassis, of_slot) = (digits(chassis), digits(slots));
        let mut switch = Vec::with_capacity(g * routers);
        for i in 0..g * routers {
            let (group, at) = (i / routers, i % routers);
            let name = format!("g{group:0wide$}c{:0of_chassis$}s{:0of_slot$}", at / slots, at % slots);
            let one = make.switch(name, blue_from - 1 + 2 * rounds);
            (1..=p).for_each(|port| make.host(one, port));
            switch.push(one);
        }
        let at = |group: usize, c: usize, s: usize| switch[group * routers + c * slots + s];
        for group in 0..g {
            for (c, s) in (0..chassis).flat_map(|c| (0..slots).map(move |s| (c, s))) {
                // The port towards the j-th of the others, from that towards the i-th.
                for other in s + 1..slots {
                    let ends =
                        ((at(group, c, s), green_from + other - 1), (at(group, c, other), green_from + s));
                    make.cable_at(ends.0, ends.1, LOCAL);
                }
                for (other, k) in (c + 1..chassis).flat_map(|other| (0..black).map(move |k| (other, k))) {
                    let (near, far) = (black * (other - 1) + k, black * c + k);
                    let ends =
                        ((at(group, c, s), black_from + near), (at(group, other, s), black_from + far));
                    make.cable_at(ends.0, ends.1, LOCAL);
                }
            }
        }
        // The router that a group gives to another as its i-th, and the first of the two ports.
        let end = |group: usize, other: usize, i: usize| {
            let place = (other - usize::from(other > group)) * w + i;
            let (round, router) = (place / routers, place % routers);
            (at(group, router % chassis, router / chassis), blue_from + 2 * round)
        };
        for (one, other) in (0..g).flat_map(|one| (one + 1..g).map(move |other| (one, other))) {
            for i in 0..w {
                let (near, far) = (end(one, other, i), end(other, one, i));
                for k in 0..2 {
                    make.cable_at((near.0, near.1 + k), (far.0, far.1 + k), GLOBAL);
                }
            }
        }
        make.build()
    }

    /// How often a router's turn for blue cables comes, at most.
    fn check(&self) -> Result<usize, SpecError> {
        let &Self { groups, links, slots, chassis, hosts } = self;
        let counts =
            [("groups", groups), ("links", links), ("slots", slots), ("chassis", chassis), ("hosts", hosts)];
        if groups < 2 {
            return Err(bad(NAME, "groups", "at least 2 groups", groups.to_string()));
        }
        check_counts(NAME, counts)?;
        if !links.is_multiple_of(2) {
            let expected = "an even number, as cables come in twos";
            return Err(bad(NAME, "links", expected, links.to_string()));
        }
        let (routers, needed) = (product([slots, chassis]), product([groups - 1, links]));
        let tiles = routers.saturating_mul(u128::from(BLUE));
        if needed > tiles {
            let expected = format!(
                "at most {tiles} cables from a group to others, as {routers} routers have {BLUE} tiles for them"
            );
            return Err(bad(NAME, "groups, links", expected, format!("{} x {links} = {needed}", groups - 1)));
        }
        let rounds = (needed / 2).div_ceil(routers);
        let switches = routers.saturating_mul(u128::from(groups));
        let ends = product([slots - 1]) + product([chassis - 1, BLACK]) + product([hosts, 2]) + 2 * rounds;
        let radix = product([hosts]) + product([slots - 1]) + product([chassis - 1, BLACK]) + 2 * rounds;
        check_size(
            NAME,
            &Size {
                hosts: switches.saturating_mul(u128::from(hosts)),
                switches,
                radix,
                cables: switches.saturating_mul(ends) / 2,
            },
        )?;
        Ok(rounds as usize)
    }
}
