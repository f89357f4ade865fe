//! d-mod-k and s-mod-k: the up link is the destination's (the source's) number modulo k.
//!
//! With `w(l)` up links a switch of level `l`, a packet at level `l` takes up link number
//! `floor(j / (w(0) ... w(l - 1))) mod w(l)`, where `j` is the [`HostId`] of the destination (d-mod-k) or
//! of the source (s-mod-k). Up links are counted first over the neighbours in order, then over parallel
//! cables; a packet on its way down uses the parallel cable that its destination would climb.
//!
//! On fabrics that are not regular, `w(l)` in the product is the most up links of any switch of the
//! level, the modulus is the switch's own number of up links (dead ones count, so that damage moves
//! only the entries it must), and a link that is not admissible gives way to an admissible one, chosen by
//! the quotient that the modulus left.
//!
//! Sources: IBM Zurich talk (s-mod-k, d-mod-k); Zahavi, "D-Mod-K routing providing non-blocking traffic for
//! shift permutations on real life fat trees", 2010.

use netloom_model::{Fabric, HostId, LinkId, NO_PORT, PathChoice, Routes, SwitchId, Table};
use netloom_topology::NO_RANK;

use crate::context::{Context, EngineOptions};
use crate::tables;

/// The numbering of up links.
pub(crate) struct Numbering<'a> {
    fabric: &'a Fabric,
    rank: &'a [u16],
    /// Up links of every switch, dead ones included, neighbour by neighbour, then the parallel cables.
    up: Vec<Vec<LinkId>>,
    /// Per switch: the product of `w` over the levels below.
    divisor: Vec<u64>,
}

impl<'a> Numbering<'a> {
    pub fn new(fabric: &'a Fabric, rank: &'a [u16]) -> Self {
        let up: Vec<Vec<LinkId>> = fabric.switches().map(|s| up_links(fabric, rank, s)).collect();
        let ranks = rank.iter().filter(|&&l| l != NO_RANK).max().map_or(0, |&l| usize::from(l) + 1);
        let mut most = vec![1u64; ranks];
        for (links, &l) in up.iter().zip(rank).filter(|(_, l)| **l != NO_RANK) {
            most[usize::from(l)] = most[usize::from(l)].max(links.len() as u64);
        }
        let below = |l: u16| most.iter().take(usize::from(l)).fold(1u64, |p, &w| p.saturating_mul(w));
        let divisor = rank.iter().map(|&l| if l == NO_RANK { 1 } else { below(l) }).collect();
        Self { fabric, rank, up, divisor }
    }

    /// What the modulus is taken of.
    #[inline]
    fn quotient(&self, s: SwitchId, number: HostId, path: u32) -> u64 {
        u64::from(number.0) / self.divisor[s.index()] + u64::from(path)
    }

    /// Which of `links` (admissible ones of `s`, by port) the number takes.
    #[inline]
    pub fn choose(&self, s: SwitchId, number: HostId, path: u32, links: &[LinkId]) -> LinkId {
        if let [one] = links {
            return *one;
        }
        let next = self.fabric.link_to_switch(links[0]).expect("admissible links join switches");
        let q;
        let wanted = if self.rank[next.index()] > self.rank[s.index()] {
            q = self.quotient(s, number, path);
            let up = &self.up[s.index()];
            up[(q % up.len() as u64) as usize]
        } else {
            q = self.quotient(next, number, path);
            let up = &self.up[next.index()];
            self.fabric.reverse(up[(q % up.len() as u64) as usize])
        };
        match links.binary_search(&wanted) {
            Ok(_) => wanted,
            Err(_) => links[(q % links.len() as u64) as usize],
        }
    }
}

/// The up links of one switch in the order they are counted in.
fn up_links(fabric: &Fabric, rank: &[u16], s: SwitchId) -> Vec<LinkId> {
    let above = |to: SwitchId| rank[to.index()] != NO_RANK && rank[to.index()] > rank[s.index()];
    let mut links: Vec<(u32, SwitchId, LinkId)> = Vec::new();
    for link in fabric.switch_links(s) {
        if let Some(to) = fabric.link_to_switch(link).filter(|&to| above(to)) {
            let parallel = links.iter().filter(|l| l.1 == to).count() as u32;
            links.push((parallel, to, link));
        }
    }
    links.sort_unstable();
    links.into_iter().map(|l| l.2).collect()
}

/// d-mod-k; address number `p` of a host is routed as if the host's quotient were `p` larger.
pub(crate) fn by_destination(fabric: &Fabric, context: &Context, options: &EngineOptions) -> Routes {
    let numbering = Numbering::new(fabric, context.rank);
    let space = fabric.dests(options.lmc);
    let lft = tables::build(fabric, fabric.dests(options.lmc).count(), |s, row| {
        let choose = |host, path, links: &[LinkId]| numbering.choose(s, host, path, links);
        if options.lmc > 0 {
            return context.fill(s, options.lmc, row, choose);
        }
        // Where all up links are admissible, as nearly everywhere, their ports repeat.
        let up: Vec<u16> = numbering.up[s.index()].iter().map(|&link| fabric.link_port(link)).collect();
        let mut sorted = numbering.up[s.index()].clone();
        sorted.sort_unstable();
        let divisor = numbering.divisor[s.index()];
        context.fill_by_leaf(s, 0, row, |hosts, links, row| {
            let first = space.host(HostId(hosts.start), 0).index();
            let entries = &mut row[first..first + hosts.len()];
            if let [one] = links {
                entries.fill(fabric.link_port(*one));
            } else if links == sorted {
                let (q, mut left) = (u64::from(hosts.start) / divisor, u64::from(hosts.start) % divisor);
                let mut next = (q % up.len() as u64) as usize;
                for entry in entries {
                    *entry = up[next];
                    left += 1;
                    if left == divisor {
                        left = 0;
                        next = if next + 1 == up.len() { 0 } else { next + 1 };
                    }
                }
            } else {
                for (host, entry) in hosts.zip(entries) {
                    *entry = fabric.link_port(choose(HostId(host), 0, links));
                }
            }
        });
    });
    Routes::by_dest(fabric, options.lmc, lft)
}

/// s-mod-k: the way up by source, the way down by destination.
///
/// The port of a source must serve every destination above: candidates are the up links that are
/// admissible towards all leaves that are not below (all up links in an undamaged tree), or where none is,
/// those admissible towards most leaves; pairs that such a link does not serve have no route.
/// A switch has entries only at switches above it.
pub(crate) fn by_source(fabric: &Fabric, context: &Context, options: &EngineOptions) -> Routes {
    let numbering = Numbering::new(fabric, context.rank);
    let is_up = |s: SwitchId, link: LinkId| {
        let to = fabric.link_to_switch(link).expect("admissible links join switches");
        context.rank[to.index()] > context.rank[s.index()]
    };
    let up = tables::build(fabric, fabric.host_count(), |s, row| {
        let candidates = common_up_links(fabric, context, s, |link| is_up(s, link));
        if !candidates.is_empty() {
            for source in fabric.hosts() {
                row[source.index()] = fabric.link_port(numbering.choose(s, source, 0, &candidates));
            }
        }
    });
    let space = fabric.dests(options.lmc);
    let down = tables::build(fabric, space.count(), |s, row| {
        context.fill(s, options.lmc, row, |host, path, links| numbering.choose(s, host, path, links));
        // What leads up is the source's choice.
        for port in row {
            if let Some(link) = fabric.link_at(s, *port)
                && fabric.link_to_switch(link).is_some()
                && is_up(s, link)
            {
                *port = NO_PORT;
            }
        }
    });
    Routes {
        lmc: options.lmc,
        table: Table::UpBySource { up, down },
        path: PathChoice::Base,
        cabling_hash: Some(fabric.cabling_hash()),
        lanes: None,
    }
}

/// The up links of `s` that are admissible towards the most leaves above, by port.
fn common_up_links(
    fabric: &Fabric,
    context: &Context,
    s: SwitchId,
    is_up: impl Fn(LinkId) -> bool,
) -> Vec<LinkId> {
    let mut served = vec![0u32; fabric.switch_links(s).len()];
    let first = fabric.switch_links(s).next().map_or(0, |l| l.0);
    let mut last = (0, 0);
    let mut flush = |(group, times): (u32, u32)| {
        for link in context.paths.group_links(group).iter().filter(|&&l| is_up(l)) {
            served[(link.0 - first) as usize] += times;
        }
    };
    for leaf in fabric.switches().filter(|&leaf| !fabric.hosts_on(leaf).is_empty()) {
        let group = context.paths.group(s, leaf);
        if group == last.0 {
            last.1 += 1;
        } else {
            flush(last);
            last = (group, 1);
        }
    }
    flush(last);
    let most = served.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Vec::new();
    }
    let best = fabric.switch_links(s).filter(|l| served[(l.0 - first) as usize] == most);
    best.collect()
}
