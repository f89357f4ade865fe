//! Ways through the fabric: what a flow uses, how long its last packet takes behind its last byte.
//!
//! By tables a flow takes one path, and every link is a resource. By any scheme that chooses among minimal paths packet by packet it
//! spreads evenly: a switch passes the same part over every admissible link. Links that are alike ([`spread`]) are one resource.

use std::collections::HashMap;

use netloom_model::{Dest, DestId, DestSpace, Fabric, HostId, LinkId, NO_PORT, SwitchId};

use super::fair::Use;
use super::spread;
use crate::SimError;
use crate::config::{Config, Forwarding};
use crate::scheme::Scheme;

/// Routes and delays.
#[derive(Debug)]
pub(crate) struct Ways<'a> {
    fabric: &'a Fabric,
    scheme: Scheme<'a>,
    space: DestSpace,
    /// The link that stands for each link.
    pub resource: Vec<u32>,
    /// For how many links each stands.
    alike: Vec<u32>,
    /// Picoseconds a byte, times 2^20, of every link: as in the packet engine.
    ps_per_byte_q20: Vec<u64>,
    /// From a packet's leaving over a link until its head is at the far end.
    delay_ps: Vec<u64>,
    through: bool,
    /// Spread over switches between two leaves: part of `parts`.
    known: HashMap<(SwitchId, SwitchId), (u32, u32)>,
    parts: Vec<Use>,
    /// What of a flow is at each switch, while a spread is worked out.
    at: Vec<f64>,
}

impl<'a> Ways<'a> {
    pub fn new(fabric: &'a Fabric, config: &Config, scheme: Scheme<'a>) -> Self {
        let resource: Vec<u32> = match scheme.paths() {
            None => fabric.links().map(|link| link.0).collect(),
            Some(paths) => spread::alike(fabric, paths),
        };
        let mut alike = vec![0; resource.len()];
        for &stands_for in &resource {
            alike[stands_for as usize] += 1;
        }
        let q20 = |link| (1e12 / fabric.bandwidth_bytes_per_s(link) * f64::from(1 << 20)).round() as u64;
        Self {
            fabric,
            scheme,
            space: fabric.dests(scheme.lmc()),
            resource,
            alike,
            ps_per_byte_q20: fabric.links().map(q20).collect(),
            delay_ps: fabric.links().map(|link| config.delay_ps(fabric, link)).collect(),
            through: config.forwarding == Forwarding::CutThrough,
            known: HashMap::new(),
            parts: Vec::new(),
            at: vec![0.0; fabric.switch_count()],
        }
    }

    /// How many links are like this one, itself included.
    #[inline]
    pub fn alike(&self, link: LinkId) -> f64 {
        f64::from(self.alike[self.resource[link.index()] as usize])
    }

    /// Time of `bytes` on a link, at least 1 ps.
    #[inline]
    pub fn time_ps(&self, link: LinkId, bytes: u64) -> u64 {
        ((bytes * self.ps_per_byte_q20[link.index()]) >> 20).max(1)
    }

    /// From sending over a link to arrival at its end, for a packet's head.
    #[inline]
    pub fn delay_ps(&self, link: LinkId) -> u64 {
        self.delay_ps[link.index()]
    }

    /// Whether a packet from one link is passed on to the next only when its tail has come: the next is faster, or none is passed on before.
    #[inline]
    pub fn waits_for_tail(&self, from: LinkId, to: LinkId) -> bool {
        !self.through || self.ps_per_byte_q20[to.index()] < self.ps_per_byte_q20[from.index()]
    }

    /// The links that a packet may go on over; empty: none.
    #[inline]
    pub fn next<'s>(&'s self, switch: SwitchId, address: DestId, one: &'s mut [LinkId; 1]) -> &'s [LinkId] {
        match self.scheme {
            Scheme::Tables(routes) => {
                let port = routes.lft().map_or(NO_PORT, |lft| lft.port(switch, address));
                one[0] = match self.fabric.link_at(switch, port) {
                    Some(link) if self.fabric.alive(link) => link,
                    _ => return &[],
                }
            }
            Scheme::Steered(..) | Scheme::Hashed(..) | Scheme::Snooping(..) | Scheme::ByMode(..) => {
                return &[]; // refused before
            }
            Scheme::PerPacket(_, paths) => {
                let Dest::Host(host, _) = self.space.resolve(address) else { return &[] };
                let leaf = self.fabric.leaf(host);
                let last = self.fabric.reverse(self.fabric.host_link(host));
                if leaf != switch {
                    return paths.links(switch, leaf);
                }
                if !self.fabric.alive(last) {
                    return &[];
                }
                one[0] = last;
            }
        }
        one
    }

    /// Follows the first way from a host; calls `link` for every link.
    ///
    /// # Errors
    /// [`SimError::NoRoute`] if it ends or turns in a circle.
    fn follow(
        &self,
        from: HostId,
        address: DestId,
        mut link: impl FnMut(LinkId),
    ) -> Result<HostId, SimError> {
        let mut at = self.fabric.host_link(from);
        let mut one = [LinkId(0)];
        for _ in 0..=self.fabric.switch_count() {
            link(at);
            let Some(switch) = self.fabric.link_to_switch(at) else {
                return Ok(HostId(self.fabric.reverse(at).0));
            };
            at = match self.next(switch, address, &mut one) {
                [] => return Err(self.no_way(switch, address)),
                links => links[0],
            };
        }
        Err(self.no_way(self.fabric.leaf(from), address))
    }

    /// No way on from a switch.
    pub fn no_way(&self, switch: SwitchId, address: DestId) -> SimError {
        let host = match self.space.resolve(address) {
            Dest::Host(host, _) => self.fabric.host_name(host).to_string(),
            Dest::Switch(s) => self.fabric.switch_name(s).to_string(),
        };
        SimError::NoRoute { switch: self.fabric.switch_name(switch).to_string(), host }
    }

    /// What a flow uses; returns its receiver, and how long its last packet (`last` bytes on the wire) takes from its
    /// tail's leaving the host until its tail is there.
    ///
    /// # Errors
    /// [`SimError::NoRoute`].
    pub fn route(
        &mut self,
        from: HostId,
        address: DestId,
        last: u64,
        uses: &mut Vec<Use>,
    ) -> Result<(HostId, u64), SimError> {
        let mut tail_ps = 0;
        let spreads = self.scheme.paths().is_some();
        uses.clear();
        let mut before = self.fabric.host_link(from);
        let to = self.follow(from, address, |link| {
            let is_hosts = link.0 == from.0;
            tail_ps += self.delay_ps(link);
            if !is_hosts && self.waits_for_tail(before, link) {
                tail_ps += self.time_ps(link, last);
            }
            before = link;
            if !spreads || is_hosts {
                uses.push(Use { resource: link.0, share: 1.0 });
            }
        })?;
        if spreads {
            uses.push(Use { resource: self.fabric.reverse(self.fabric.host_link(to)).0, share: 1.0 });
            let (first, count) = self.spread(self.fabric.leaf(from), self.fabric.leaf(to));
            uses.extend_from_slice(&self.parts[first as usize..(first + count) as usize]);
        }
        Ok((to, tail_ps))
    }

    /// The spread between two leaves: where it is in `parts`.
    fn spread(&mut self, source: SwitchId, target: SwitchId) -> (u32, u32) {
        if let Some(&known) = self.known.get(&(source, target)) {
            return known;
        }
        let paths = self.scheme.paths().expect("only schemes with paths spread");
        let first = self.parts.len() as u32;
        // Every link leads one hop nearer, so a switch is met after all that lead to it.
        let mut queue = vec![source];
        self.at[source.index()] = 1.0;
        let mut done = 0;
        while let Some(&switch) = queue.get(done) {
            done += 1;
            let here = std::mem::take(&mut self.at[switch.index()]);
            let links = paths.links(switch, target);
            let share = here / links.len() as f64;
            for &link in links {
                if self.resource[link.index()] == link.0 {
                    self.parts.push(Use { resource: link.0, share });
                }
                let to = self.fabric.link_to_switch(link).expect("a path leads over switches");
                if self.at[to.index()] == 0.0 {
                    queue.push(to);
                }
                self.at[to.index()] += share;
            }
        }
        let found = (first, self.parts.len() as u32 - first);
        self.known.insert((source, target), found);
        found
    }
}
