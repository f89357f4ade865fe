//! The adaptive-routing bound: the least maximum load over all fractional admissible splits.
//!
//! The linear program of eqs. 3.3.1-3.3.2 (Taffet, dissertation, sec. 3.3.2, without the SOS1 sets 3.3.3),
//! host links included. On a regular tree even splits fill every cut evenly, so the best cut is the answer
//! (sec. 3.5.4: "it can also be computed directly"); elsewhere it is a certified interval, closed where even
//! splits or the iterations of [`flow`](crate::flow) meet the lower bound.

use netloom_model::{Certificate, Control, Csr, Fabric, HostId, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::cuts;
use crate::demand::Demand;
use crate::flow;

/// Why a bound cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// Traffic between hosts that no admissible route joins.
    #[error("there is traffic from \"{from}\" to \"{to}\", but no up*/down* path joins them")]
    Unreachable {
        /// The sender's name.
        from: String,
        /// The receiver's name.
        to: String,
    },
    /// Traffic of another size than the fabric.
    #[error("the traffic has {endpoints} endpoints, the fabric {hosts} hosts")]
    Size {
        /// Rows of the traffic.
        endpoints: usize,
        /// Hosts of the fabric.
        hosts: usize,
    },
}

/// The adaptive-routing bound as an interval, with the proof of its lower end.
#[derive(Clone, Debug, PartialEq)]
pub struct ArBound {
    /// No admissible routing, fractional or not, has a smaller maximum load (bytes at the reference bandwidth).
    pub lower: f64,
    /// Some fractional admissible routing reaches this maximum load.
    pub upper: f64,
    /// Whether both are equal but for rounding.
    pub exact: bool,
    /// The proof of `lower`, by duality.
    pub certificate: Certificate,
    /// Iterations of the interval's solver; 0 for a closed form.
    pub work: u64,
}

/// The adaptive-routing bound of `traffic` (host by host, bytes).
///
/// `work`: the most iterations where there is no closed form (`None`: enough for 0.01 %, usually).
///
/// # Errors
/// [`BoundError`] names a pair with traffic and without a path.
pub fn ar_bound(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    control: &Control,
    work: Option<u64>,
) -> Result<ArBound, BoundError> {
    check(fabric, traffic)?;
    ar_of(fabric, structure, paths, &Demand::new(fabric, traffic), control, work)
}

/// The same without the closed form: what [`ar_bound`] does on irregular fabrics, on any fabric.
///
/// # Errors
/// As [`ar_bound`].
pub fn ar_interval(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    control: &Control,
    work: Option<u64>,
) -> Result<ArBound, BoundError> {
    check(fabric, traffic)?;
    let demand = Demand::new(fabric, traffic);
    reachable(fabric, paths, &demand)?;
    Ok(flow::solve(fabric, paths, &demand, cuts::best(fabric, structure, &demand), control, work))
}

pub(crate) fn ar_of(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    demand: &Demand,
    control: &Control,
    work: Option<u64>,
) -> Result<ArBound, BoundError> {
    let cut = cuts::best(fabric, structure, demand);
    if even_splits_are_best(fabric, structure) {
        return Ok(ArBound { lower: cut.claim, upper: cut.claim, exact: true, certificate: cut, work: 0 });
    }
    reachable(fabric, paths, demand)?;
    Ok(flow::solve(fabric, paths, demand, cut, control, work))
}

fn check(fabric: &Fabric, traffic: &Csr) -> Result<(), BoundError> {
    if traffic.size() == fabric.host_count() {
        return Ok(());
    }
    Err(BoundError::Size { endpoints: traffic.size(), hosts: fabric.host_count() })
}

fn reachable(fabric: &Fabric, paths: &PathSet, demand: &Demand) -> Result<(), BoundError> {
    let name = |h: HostId| fabric.host_name(h).to_owned();
    for (&leaf, items) in demand.leaves.iter().zip(&demand.items) {
        if let Some(p) = items.iter().find(|p| paths.hops(leaf, fabric.leaf(p.destination)).is_none()) {
            let from = fabric.hosts_on(leaf).iter().find(|h| demand.sent[h.index()] > 0.0);
            return Err(BoundError::Unreachable {
                from: from.map_or_else(String::new, |&h| name(h)),
                to: name(p.destination),
            });
        }
    }
    let cut_off = |h: HostId| {
        let traffic = demand.sent[h.index()] > 0.0 || demand.received[h.index()] > 0.0;
        traffic && !fabric.alive(fabric.host_link(h))
    };
    match fabric.hosts().find(|&h| cut_off(h)) {
        Some(h) if demand.sent[h.index()] > 0.0 => {
            Err(BoundError::Unreachable { from: name(h), to: fabric.switch_name(fabric.leaf(h)).to_owned() })
        }
        Some(h) => {
            Err(BoundError::Unreachable { from: fabric.switch_name(fabric.leaf(h)).to_owned(), to: name(h) })
        }
        None => Ok(()),
    }
}

/// Whether splitting evenly over all next links fills every cut of leaves and pods evenly.
///
/// True of a regular tree whose switches of one level all have the same number of links up: a leaf's traffic
/// spreads evenly over its links and so over the spines, each spine's over its cores. A core group then carries its
/// share of spines, and hands every spine of the other pod an equal part, which each hands down to every leaf.
fn even_splits_are_best(fabric: &Fabric, structure: &Structure) -> bool {
    if structure.tree().is_none() {
        return false;
    }
    let level = |s: SwitchId| structure.level[s.index()];
    let up = |s: SwitchId| -> f64 {
        let links = fabric.switch_links(s).filter(|&l| fabric.alive(l));
        let above = |l| fabric.link_to_switch(l).is_some_and(|t| level(t) > level(s));
        links.filter(|&l| above(l)).map(|l| fabric.relative_capacity(l)).sum()
    };
    let mut first = [None; 256];
    let equal_up = fabric.switches().all(|s| *first[usize::from(level(s))].get_or_insert(up(s)) == up(s));
    // Every pod has the same number of spines in every group.
    let mut spines = vec![vec![0u32; structure.core_groups as usize]; structure.pods as usize];
    for s in fabric.switches().filter(|&s| level(s) == 1) {
        let (pod, group) = (structure.pod[s.index()] as usize, structure.core_group[s.index()] as usize);
        if let Some(count) = spines.get_mut(pod).and_then(|row| row.get_mut(group)) {
            *count += 1;
        }
    }
    equal_up && spines.windows(2).all(|pair| pair[0] == pair[1])
}
