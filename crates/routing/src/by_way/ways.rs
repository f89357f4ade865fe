//! The ways up a tree, numbered; and modulo routing, by a host's number or by the digits of its label.
//!
//! With `w(l)` up links a switch of level `l`, way `p` takes up link `floor(p / (w(0) ... w(l - 1))) mod w(l)` there, as d-mod-k does with a destination's
//! number. So way `j mod K`, `K` the product of all `w`, is d-mod-k or s-mod-k of host `j`.
//!
//! *By digit*: a host's label has a digit a level, `d(l) = floor(j / (m(0) ... m(l - 1))) mod m(l)` with `m(0)` hosts a leaf and `m(l)` switches of level `l - 1` below
//! one of level `l`; its way takes up link `d(l) mod w(l)`. That is what paper 002 means by modulo. The two agree where `w(l)` divides `m(l)`.

use netloom_model::{Fabric, HostId, MAX_LMC, PairPaths, PathChoice, Routes};
use netloom_topology::{NO_LEVEL, Shape, Structure};
use std::sync::Arc;

use crate::context::Context;
use crate::error::RoutingError;
use crate::modk::Numbering;
use crate::paths::{PathSet, Rule};
use crate::tables;
use crate::updown::UpDown;

/// Hosts for whose pairs a way each is kept, at most: 17 million pairs, 300 MB.
const MOST_HOSTS: usize = 4096;

/// The ways up a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Up links of a switch, by level, but for the top.
    up: Vec<u32>,
    /// Hosts of a leaf, then switches below one, by level, but for the top.
    below: Vec<u32>,
}

impl Ways {
    /// Those of a tree; where its switches differ, as many as the largest has.
    ///
    /// # Errors
    /// [`RoutingError::NoWays`] for what is no tree, or has more ways than a host can have addresses (128).
    pub fn new(fabric: &Fabric, structure: &Structure) -> Result<Self, RoutingError> {
        let refuse = |why: String| Err(RoutingError::NoWays(why));
        if structure.shape != Shape::Tree {
            return refuse("the fabric is no tree".into());
        }
        let level = |s: netloom_model::SwitchId| structure.level[s.index()];
        let levels =
            structure.level.iter().filter(|&&l| l != NO_LEVEL).max().map_or(0, |&l| usize::from(l) + 1);
        let (mut up, mut below) = (vec![0u32; levels], vec![0u32; levels]);
        for s in fabric.switches().filter(|&s| level(s) != NO_LEVEL) {
            let at = usize::from(level(s));
            let next = || fabric.switch_links(s).filter_map(|link| fabric.link_to_switch(link));
            let above = next().filter(|&to| level(to) != NO_LEVEL && level(to) > level(s)).count();
            let mut under: Vec<_> = next().filter(|&to| level(to) < level(s)).collect();
            under.sort_unstable();
            under.dedup();
            let under = under.len() + if at == 0 { fabric.hosts_on(s).len() } else { 0 };
            up[at] = up[at].max(above as u32);
            below[at] = below[at].max(under as u32);
        }
        up.pop();
        below.pop();
        let ways = Self { up, below };
        let count = ways.up.iter().map(|&w| u64::from(w.max(1))).product::<u64>();
        if count > 1 << MAX_LMC {
            return refuse(format!(
                "it has {count} ways up, more than the {} addresses of a host",
                1 << MAX_LMC
            ));
        }
        Ok(ways)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.up.iter().map(|&w| w.max(1)).product()
    }

    /// Levels at which a packet may climb.
    pub fn levels(&self) -> usize {
        self.up.len()
    }

    /// LID mask control with an address for each.
    pub fn lmc(&self) -> u8 {
        self.count().next_power_of_two().trailing_zeros() as u8
    }

    /// The way of a host's number.
    pub fn by_number(&self, host: HostId) -> u32 {
        host.0 % self.count()
    }

    /// The way of the digits of its label.
    pub fn by_digit(&self, host: HostId) -> u32 {
        let (mut rest, mut way, mut place) = (host.0, 0, 1);
        for (&w, &m) in self.up.iter().zip(&self.below) {
            let (w, m) = (w.max(1), m.max(1));
            way += rest % m % w * place;
            rest /= m;
            place *= w;
        }
        way
    }

    /// Tables in which address `p` of every host is reached by way `p` (`p mod K` beyond the last).
    pub fn tables(&self, fabric: &Fabric, structure: &Structure) -> Routes {
        self.build(fabric, structure, self.lmc(), |_, path| path % self.count())
    }

    /// d-mod-k by digit: tables with one address a host.
    pub fn by_destination(&self, fabric: &Fabric, structure: &Structure) -> Routes {
        self.build(fabric, structure, 0, |host, _| self.by_digit(host))
    }

    /// Routes in which each pair takes the way that `choose` says.
    ///
    /// # Errors
    /// [`RoutingError::NoWays`] for more than 4,096 hosts.
    pub fn by_pair(
        &self,
        fabric: &Fabric,
        structure: &Structure,
        choose: impl Fn(HostId, HostId) -> u32,
    ) -> Result<Routes, RoutingError> {
        if fabric.host_count() > MOST_HOSTS {
            let why = format!(
                "a way is kept for each pair of at most {MOST_HOSTS} hosts, found {}",
                fabric.host_count()
            );
            return Err(RoutingError::NoWays(why));
        }
        let pairs = fabric.hosts().flat_map(|from| fabric.hosts().map(move |to| (from, to)));
        let entries: Vec<_> =
            pairs.filter(|(from, to)| from != to).map(|(from, to)| (from, to, choose(from, to))).collect();
        let paths = PairPaths::new(fabric.host_count(), self.lmc(), &entries).expect("ways are addresses");
        Ok(Routes { path: PathChoice::PerPair(Arc::new(paths)), ..self.tables(fabric, structure) })
    }

    fn build(
        &self,
        fabric: &Fabric,
        structure: &Structure,
        lmc: u8,
        way: impl Fn(HostId, u32) -> u32 + Sync,
    ) -> Routes {
        let rank = &structure.rank;
        let paths = PathSet::to_switches(fabric, Rule::UpDown(&UpDown::new(fabric, rank)));
        let context = Context::new(fabric, rank, paths);
        let numbering = Numbering::new(fabric, rank);
        let lft = tables::build(fabric, fabric.dests(lmc).count(), |s, row| {
            context.fill(s, lmc, row, |host, path, links| {
                numbering.choose(s, HostId(way(host, path)), 0, links)
            });
        });
        Routes::by_dest(fabric, lmc, lft)
    }
}
