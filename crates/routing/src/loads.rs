//! Link loads: what a routing makes of a traffic matrix, and the walk of one packet.
//!
//! A link's load is the bytes that cross it over its relative capacity. Host links count; traffic from a
//! host to itself crosses no link.
//!
//! Walks start once per (source leaf, address of a destination), not once per pair: tables do not look at
//! the source. Only tables that do (`UpBySource`) are walked pair by pair.
//!
//! Invariants: bytes are conserved (the loads times capacity add up to bytes times hops); the sums are
//! taken in fixed pieces added up in a fixed order, so the bits do not depend on the number of threads.

use netloom_model::{
    Csr, DestId, DestSpace, Fabric, HostId, LinkId, NO_PORT, PathChoice, Routes, SwitchId, Table,
};
use rayon::prelude::*;

use crate::error::{RoutingError, Stop, check_fits};
use crate::items::Accumulator;

/// Pieces that the leaves are cut into: each has its own row of sums.
const PIECES: usize = 16;

/// How near to the maximum a load counts as the maximum.
const AT_MAX: f64 = 1.0 - 1e-9;

/// The load of every directed link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkLoads {
    /// Bytes over relative capacity, per [`LinkId`]; 0 for dead links.
    pub load: Vec<f64>,
}

impl LinkLoads {
    /// The largest load, host links included.
    pub fn max(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// The mean load over alive links.
    pub fn mean(&self, fabric: &Fabric) -> f64 {
        match fabric.alive_count() {
            0 => 0.0,
            alive => self.load.iter().sum::<f64>() / alive as f64,
        }
    }

    /// Number of directed links whose load is the maximum, within 1e-9 of it (0 if nothing is loaded).
    pub fn links_at_max(&self) -> usize {
        let max = self.max();
        if max == 0.0 { 0 } else { self.load.iter().filter(|&&l| l >= max * AT_MAX).count() }
    }

    /// The `n` most loaded links, highest first, ties by [`LinkId`]; unloaded links are left out.
    pub fn hottest(&self, n: usize) -> Vec<LinkId> {
        let mut order: Vec<u32> =
            (0..self.load.len() as u32).filter(|&l| self.load[l as usize] > 0.0).collect();
        let key = |a: &u32, b: &u32| self.load[*b as usize].total_cmp(&self.load[*a as usize]).then(a.cmp(b));
        if n < order.len() {
            order.select_nth_unstable_by(n, key);
            order.truncate(n);
        }
        order.sort_unstable_by(key);
        order.into_iter().map(LinkId).collect()
    }

    /// The largest load of a link between two switches.
    pub fn max_between_switches(&self, fabric: &Fabric) -> f64 {
        let between = fabric.links().filter(|&l| fabric.between_switches(l));
        between.map(|l| self.load[l.index()]).fold(0.0, f64::max)
    }
}

/// The load of every directed link under `routes` and `traffic`.
///
/// # Errors
/// [`RoutingError::Mismatch`] if routes or traffic are not of this fabric's size;
/// [`RoutingError::NoRoute`] names the first pair with traffic whose packets do not arrive.
pub fn loads(fabric: &Fabric, routes: &Routes, traffic: &Csr) -> Result<LinkLoads, RoutingError> {
    check_fits(fabric, routes)?;
    if traffic.size() != fabric.host_count() {
        return Err(RoutingError::Mismatch(format!(
            "the traffic has {} endpoints, the fabric {} hosts",
            traffic.size(),
            fabric.host_count()
        )));
    }
    let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    let piece = leaves.len().div_ceil(PIECES).max(1);
    let pieces: Vec<&[SwitchId]> = leaves.chunks(piece).collect();
    let mut load = vec![0.0; fabric.link_count()];
    // No more rows of sums at once than there are threads.
    for pieces in pieces.chunks(rayon::current_num_threads()) {
        let add_up = |leaves: &&[SwitchId]| {
            let mut part = Part::new(fabric, routes, traffic);
            leaves.iter().try_for_each(|&leaf| part.add_leaf(leaf))?;
            Ok(part.bytes)
        };
        let parts: Vec<Result<Vec<f64>, RoutingError>> = pieces.par_iter().map(add_up).collect();
        for part in parts {
            load.iter_mut().zip(part?).for_each(|(sum, bytes)| *sum += bytes);
        }
    }
    for (l, sum) in load.iter_mut().enumerate() {
        *sum /= fabric.relative_capacity(LinkId::from_index(l));
    }
    Ok(LinkLoads { load })
}

/// The links that a packet from one host to another crosses, in order; none from a host to itself.
///
/// # Errors
/// [`RoutingError::NoRoute`] says where the packet stops or loops.
pub fn walk(
    fabric: &Fabric,
    routes: &Routes,
    source: HostId,
    destination: HostId,
) -> Result<Vec<LinkId>, RoutingError> {
    let mut path = Vec::new();
    Walker::new(fabric, routes)?.visit(source, destination, |link| path.push(link))?;
    Ok(path)
}

/// Walks of many packets: routes are compared with the fabric once.
#[derive(Clone, Copy, Debug)]
pub struct Walker<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    space: DestSpace,
}

impl<'a> Walker<'a> {
    /// Along `routes`.
    ///
    /// # Errors
    /// [`RoutingError::Mismatch`] if they are not of this fabric's size.
    pub fn new(fabric: &'a Fabric, routes: &'a Routes) -> Result<Self, RoutingError> {
        check_fits(fabric, routes)?;
        Ok(Self { fabric, routes, space: routes.dests(fabric) })
    }

    /// The fabric on which packets travel.
    pub fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// Calls `visit` for every link that a packet crosses, in order; for none from a host to itself.
    ///
    /// # Errors
    /// [`RoutingError::NoRoute`] says where the packet stops or loops; links up to there have been visited.
    #[inline]
    pub fn visit(
        &self,
        source: HostId,
        destination: HostId,
        mut visit: impl FnMut(LinkId),
    ) -> Result<(), RoutingError> {
        if source == destination {
            return Ok(());
        }
        let Self { fabric, routes, space } = *self;
        let first = fabric.host_link(source);
        let result = if fabric.alive(first) {
            visit(first);
            follow(fabric, routes, source, destination, routes.address(space, source, destination), visit)
        } else {
            Err(Stop::HostLinkDead)
        };
        result.map_err(|stop| RoutingError::no_route(fabric, source, destination, stop.describe(fabric)))
    }
}

/// Calls `visit` for every link after the source's own, up to and including the destination's.
#[inline]
fn follow(
    fabric: &Fabric,
    routes: &Routes,
    source: HostId,
    destination: HostId,
    address: DestId,
    mut visit: impl FnMut(LinkId),
) -> Result<(), Stop> {
    let goal = fabric.host_node(destination);
    let mut s = fabric.leaf(source);
    for _ in 0..=fabric.switch_count() {
        let port = routes.port(s, source, address);
        if port == NO_PORT {
            return Err(Stop::Missing(s));
        }
        let link = fabric.link_at(s, port).ok_or(Stop::Nowhere(s, port))?;
        if !fabric.alive(link) {
            return Err(Stop::Dead(s, port));
        }
        visit(link);
        match fabric.link_to_switch(link) {
            Some(next) => s = next,
            None if fabric.link_to(link) == goal => return Ok(()),
            None => return Err(Stop::WrongHost(s, port, HostId(fabric.link_to(link).0))),
        }
    }
    Err(Stop::Loop(s))
}

/// Sums of bytes over some of the source leaves.
struct Part<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    traffic: &'a Csr,
    space: DestSpace,
    sums: Accumulator,
    bytes: Vec<f64>,
}

impl<'a> Part<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, traffic: &'a Csr) -> Self {
        Self {
            fabric,
            routes,
            traffic,
            space: routes.dests(fabric),
            sums: Accumulator::new(fabric.host_count()),
            bytes: vec![0.0; fabric.link_count()],
        }
    }

    fn add_leaf(&mut self, leaf: SwitchId) -> Result<(), RoutingError> {
        let hosts = self.fabric.hosts_on(leaf);
        for &source in hosts {
            self.add_host_link(source)?;
        }
        if matches!(self.routes.table, Table::UpBySource { .. }) {
            return hosts.iter().try_for_each(|&source| self.add_group(&[source]));
        }
        if self.routes.path == PathChoice::Base { self.add_group(hosts) } else { self.add_pairs(hosts) }
    }

    fn add_host_link(&mut self, source: HostId) -> Result<(), RoutingError> {
        let (columns, bytes) = self.traffic.row(source.index());
        let leaving = columns.iter().zip(bytes).filter(|(j, _)| **j != source.0);
        let sum: f64 = leaving.map(|(_, b)| b).sum();
        let link = self.fabric.host_link(source);
        if sum > 0.0 && !self.fabric.alive(link) {
            let first = columns.iter().find(|&&j| j != source.0).expect("a sum has a term");
            let reason = Stop::HostLinkDead.describe(self.fabric);
            return Err(RoutingError::no_route(self.fabric, source, HostId(*first), reason));
        }
        self.bytes[link.index()] += sum;
        Ok(())
    }

    /// Hosts of one leaf whose packets to a destination all take one way.
    fn add_group(&mut self, hosts: &[HostId]) -> Result<(), RoutingError> {
        let Some(&one) = hosts.first() else { return Ok(()) };
        self.sums.add_rows(self.traffic, hosts.iter().copied());
        let (destinations, bytes) = self.sums.drain(|_| true);
        for (&destination, &b) in destinations.iter().zip(&bytes) {
            let address = self.routes.address(self.space, one, destination);
            let sums = &mut self.bytes;
            let add = |link: LinkId| sums[link.index()] += b;
            follow(self.fabric, self.routes, one, destination, address, add).map_err(|stop| {
                let sends = |h: &&HostId| self.traffic.row(h.index()).0.binary_search(&destination.0).is_ok();
                let sender = hosts.iter().filter(|&&h| h != destination).find(sends);
                let source = *sender.unwrap_or(&one);
                RoutingError::no_route(self.fabric, source, destination, stop.describe(self.fabric))
            })?;
        }
        Ok(())
    }

    /// Hosts of one leaf that may use different addresses of a destination: one walk an address.
    fn add_pairs(&mut self, hosts: &[HostId]) -> Result<(), RoutingError> {
        let mut parcels: Vec<(DestId, HostId, HostId, f64)> = Vec::new();
        for &source in hosts {
            let (columns, bytes) = self.traffic.row(source.index());
            for (&j, &b) in columns.iter().zip(bytes).filter(|(j, _)| **j != source.0) {
                let destination = HostId(j);
                parcels.push((self.routes.address(self.space, source, destination), source, destination, b));
            }
        }
        // Stable: bytes are added up by rising source.
        parcels.sort_by_key(|&(address, ..)| address);
        for same in parcels.chunk_by(|a, b| a.0 == b.0) {
            let (address, source, destination, _) = same[0];
            let b: f64 = same.iter().map(|p| p.3).sum();
            let sums = &mut self.bytes;
            let add = |link: LinkId| sums[link.index()] += b;
            follow(self.fabric, self.routes, source, destination, address, add).map_err(|stop| {
                RoutingError::no_route(self.fabric, source, destination, stop.describe(self.fabric))
            })?;
        }
        Ok(())
    }
}
