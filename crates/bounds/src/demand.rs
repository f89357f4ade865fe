//! Traffic as the bounds see it: per host, per pair of leaves, and per item.
//!
//! Admissible next links depend on the destination only through its leaf, so a bound needs sums only.
//! What a host sends to itself crosses no link. Traffic between hosts of one leaf crosses host links only.
//! What is sent to frozen destinations is no demand, but bytes that lie on links already.

use netloom_model::{Csr, Fabric, HostId, LinkId, Routes, SwitchId};
use netloom_routing::{Accumulator, loads};
use rayon::prelude::*;

use crate::interval::BoundError;

/// All that one leaf's hosts send to one host elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parcel {
    pub destination: HostId,
    pub bytes: f64,
}

/// Traffic aggregated over hosts.
pub(crate) struct Demand {
    /// Bytes that a host sends to others.
    pub sent: Vec<f64>,
    /// Bytes that a host receives from others.
    pub received: Vec<f64>,
    /// Switches with hosts, in order.
    pub leaves: Vec<SwitchId>,
    /// Per entry of `leaves`: its items to other leaves, by destination host.
    pub items: Vec<Vec<Parcel>>,
    /// Per entry of `leaves`: `(position of the destination leaf, bytes)`, by position, other leaves only.
    pub pairs: Vec<Vec<(u32, f64)>>,
    /// Bytes per link of what is sent to frozen destinations; zeros if there are none.
    pub base: Vec<f64>,
    /// The frozen destinations, in order.
    pub frozen: Vec<HostId>,
}

impl Demand {
    /// Adds the traffic up. O(entries), parallel over leaves; sums run in a fixed order.
    pub fn new(fabric: &Fabric, traffic: &Csr) -> Self {
        Self::of_free(fabric, traffic, &[], false)
    }

    /// The same with what one host sends to another as items of their own.
    pub fn of_pairs(fabric: &Fabric, traffic: &Csr) -> Self {
        Self::of_free(fabric, traffic, &[], true)
    }

    /// The same where what is sent to the hosts with a true in `frozen` goes as `routes` say.
    ///
    /// # Errors
    /// [`BoundError::Frozen`] if `routes` do not deliver it, or have another shape.
    pub fn with_frozen(
        fabric: &Fabric,
        traffic: &Csr,
        routes: &Routes,
        frozen: &[bool],
    ) -> Result<Self, BoundError> {
        let mut demand = Self::of_free(fabric, traffic, frozen, false);
        demand.frozen = fabric.hosts().filter(|h| frozen.get(h.index()) == Some(&true)).collect();
        if !demand.frozen.is_empty() {
            let fixed = columns(traffic, frozen);
            let loads = loads(fabric, routes, &fixed).map_err(|e| BoundError::Frozen(e.to_string()))?;
            let bytes = |(l, load): (usize, f64)| load * fabric.relative_capacity(LinkId::from_index(l));
            demand.base = loads.load.into_iter().enumerate().map(bytes).collect();
        }
        Ok(demand)
    }

    fn of_free(fabric: &Fabric, traffic: &Csr, frozen: &[bool], apart: bool) -> Self {
        let free = |j: u32| frozen.get(j as usize) != Some(&true);
        let hosts = fabric.host_count();
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        let mut position = vec![u32::MAX; fabric.switch_count()];
        for (i, leaf) in leaves.iter().enumerate() {
            position[leaf.index()] = i as u32;
        }
        let leaf_of: Vec<u32> = fabric.hosts().map(|h| position[fabric.leaf(h).index()]).collect();

        let row = |sums: &mut Accumulator, (i, &leaf): (usize, &SwitchId)| {
            let sum_of = |h: HostId| {
                let (columns, bytes) = traffic.row(h.index());
                let counted = columns.iter().zip(bytes).filter(|&(&j, _)| j != h.0 && free(j));
                counted.fold(0.0, |sum, (_, b)| sum + b)
            };
            let sent: Vec<(HostId, f64)> = fabric.hosts_on(leaf).iter().map(|&h| (h, sum_of(h))).collect();
            sums.add_rows(traffic, fabric.hosts_on(leaf).iter().copied());
            let (destinations, bytes) = sums.drain(|d| free(d.0));
            let mut items = Vec::with_capacity(destinations.len());
            let mut to_leaf = vec![0.0; leaves.len()];
            let mut local = Vec::new();
            for (destination, bytes) in destinations.into_iter().zip(bytes) {
                let there = leaf_of[destination.index()] as usize;
                if there == i {
                    local.push(Parcel { destination, bytes });
                } else {
                    items.push(Parcel { destination, bytes });
                    to_leaf[there] += bytes;
                }
            }
            if apart {
                items = pairs_of(fabric, traffic, leaf);
            }
            let pairs: Vec<(u32, f64)> = (0u32..).zip(to_leaf).filter(|(_, b)| *b > 0.0).collect();
            (sent, local, items, pairs)
        };
        let rows: Vec<_> = leaves.par_iter().enumerate().map_init(|| Accumulator::new(hosts), row).collect();

        let mut demand = Self {
            sent: vec![0.0; hosts],
            received: vec![0.0; hosts],
            leaves: Vec::new(),
            items: Vec::new(),
            pairs: Vec::new(),
            base: vec![0.0; fabric.link_count()],
            frozen: Vec::new(),
        };
        for (sent, local, items, pairs) in rows {
            for (h, bytes) in sent {
                demand.sent[h.index()] = bytes;
            }
            for parcel in local.iter().chain(&items) {
                demand.received[parcel.destination.index()] += parcel.bytes;
            }
            demand.items.push(items);
            demand.pairs.push(pairs);
        }
        demand.leaves = leaves;
        demand
    }
}

/// What each host of `leaf` sends to each elsewhere, by destination, then sender.
fn pairs_of(fabric: &Fabric, traffic: &Csr, leaf: SwitchId) -> Vec<Parcel> {
    let mut pairs = Vec::new();
    for &h in fabric.hosts_on(leaf) {
        let (columns, bytes) = traffic.row(h.index());
        let each = columns.iter().zip(bytes).map(|(&j, &b)| Parcel { destination: HostId(j), bytes: b });
        pairs.extend(each.filter(|p| fabric.leaf(p.destination) != leaf && p.bytes > 0.0));
    }
    pairs.sort_by_key(|p| p.destination);
    pairs
}

/// The entries of `traffic` in the columns with a true in `wanted`.
fn columns(traffic: &Csr, wanted: &[bool]) -> Csr {
    let (mut offsets, mut columns, mut sums) = (vec![0], Vec::new(), Vec::new());
    for i in 0..traffic.size() {
        let (row, bytes) = traffic.row(i);
        for (&j, &b) in row.iter().zip(bytes).filter(|(j, _)| wanted[**j as usize]) {
            columns.push(j);
            sums.push(b);
        }
        offsets.push(columns.len() as u64);
    }
    Csr::from_parts(offsets, columns, sums, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::two_level;
    use netloom_model::Traffic;

    #[test]
    fn items_add_up_over_a_leaf_and_local_traffic_stays_on_host_links() {
        let (fabric, _) = two_level(2, 2, 1, 1);
        // Hosts 0, 1 on the first leaf, 2, 3 on the second.
        let t = Traffic::from_triples(4, &[0, 1, 0, 0], &[2, 2, 1, 0], &[3.0, 4.0, 5.0, 9.0], None).unwrap();
        let d = Demand::new(&fabric, &t.total());
        assert_eq!(d.sent, [8.0, 4.0, 0.0, 0.0]);
        assert_eq!(d.received, [0.0, 5.0, 7.0, 0.0]);
        assert_eq!(d.items[0], [Parcel { destination: HostId(2), bytes: 7.0 }]);
        assert_eq!(d.pairs, [vec![(1, 7.0)], vec![]]);
    }
}
