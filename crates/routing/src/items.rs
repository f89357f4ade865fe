//! Items: what the switches of a fabric see of its traffic.
//!
//! Between switches only the sum per (source leaf, destination host) matters, because tables look at
//! nothing else. Traffic that stays on its leaf is no item.
//!
//! Invariants: one row a switch (empty for switches without hosts); destinations rise within a row;
//! bytes are positive, added up by rising source host, then in the order of the matrix.

use netloom_model::{Csr, Fabric, HostId, SwitchId};
use rayon::prelude::*;

/// Bytes per (source leaf, destination host), rows by source leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Items {
    first: Vec<usize>,
    destinations: Vec<HostId>,
    bytes: Vec<f64>,
}

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Whether no traffic leaves its leaf.
    pub fn is_empty(&self) -> bool {
        self.destinations.is_empty()
    }

    /// Number of rows: the switches of the fabric.
    pub fn rows(&self) -> usize {
        self.first.len() - 1
    }

    /// Positions of the items of `leaf`, for [`destinations`](Self::destinations) and
    /// [`bytes`](Self::bytes).
    #[inline]
    pub fn range(&self, leaf: SwitchId) -> std::ops::Range<usize> {
        self.first[leaf.index()]..self.first[leaf.index() + 1]
    }

    /// Destinations and bytes of the items of `leaf`, destinations rising.
    #[inline]
    pub fn row(&self, leaf: SwitchId) -> (&[HostId], &[f64]) {
        let range = self.range(leaf);
        (&self.destinations[range.clone()], &self.bytes[range])
    }

    /// All items `(source leaf, destination, bytes)` in order.
    pub fn iter(&self) -> impl Iterator<Item = (SwitchId, HostId, f64)> + '_ {
        (0..self.rows()).map(SwitchId::from_index).flat_map(|leaf| {
            let (destinations, bytes) = self.row(leaf);
            destinations.iter().zip(bytes).map(move |(&d, &b)| (leaf, d, b))
        })
    }

    /// Destination of every item.
    pub fn destinations(&self) -> &[HostId] {
        &self.destinations
    }

    /// Bytes of every item.
    pub fn bytes(&self) -> &[f64] {
        &self.bytes
    }
}

/// Adds traffic up to items; traffic within a leaf is left out.
///
/// # Panics
/// If `traffic` has more rows than the fabric has hosts (see `Traffic::check_fits`).
pub fn items(fabric: &Fabric, traffic: &Csr) -> Items {
    assert!(traffic.size() <= fabric.host_count(), "traffic is between the hosts of the fabric");
    let rows: Vec<(Vec<HostId>, Vec<f64>)> = (0..fabric.switch_count())
        .into_par_iter()
        .map_init(
            || Accumulator::new(fabric.host_count()),
            |sums, s| {
                let leaf = SwitchId::from_index(s);
                let sources = fabric.hosts_on(leaf).iter().copied();
                sums.add_rows(traffic, sources.filter(|h| h.index() < traffic.size()));
                sums.drain(|d| fabric.leaf(d) != leaf)
            },
        )
        .collect();
    let mut first = Vec::with_capacity(rows.len() + 1);
    first.push(0);
    for row in &rows {
        first.push(first.last().unwrap() + row.0.len());
    }
    let mut destinations = Vec::with_capacity(first[rows.len()]);
    let mut bytes = Vec::with_capacity(first[rows.len()]);
    for row in rows {
        destinations.extend_from_slice(&row.0);
        bytes.extend_from_slice(&row.1);
    }
    Items { first, destinations, bytes }
}

/// Adds rows of a matrix up in one dense row, which is empty again after every use.
pub struct Accumulator {
    sum: Vec<f64>,
    /// Columns met, unless there are so many that a scan of `sum` is cheaper.
    touched: Vec<u32>,
    dense: bool,
}

impl Accumulator {
    /// An empty row for matrices of so many columns.
    pub fn new(columns: usize) -> Self {
        Self { sum: vec![0.0; columns], touched: Vec::new(), dense: false }
    }

    /// Adds the given rows of `traffic` up, without entries `(i, i)`: they cross no link.
    pub fn add_rows(&mut self, traffic: &Csr, sources: impl Iterator<Item = HostId> + Clone) {
        let entries: usize = sources.clone().map(|h| traffic.row(h.index()).0.len()).sum();
        self.dense = entries > self.sum.len() / 8;
        for source in sources {
            let (columns, bytes) = traffic.row(source.index());
            let before = columns.partition_point(|&j| j < source.0);
            let after = before + usize::from(columns.get(before) == Some(&source.0));
            self.add(&columns[..before], &bytes[..before]);
            self.add(&columns[after..], &bytes[after..]);
        }
    }

    fn add(&mut self, columns: &[u32], bytes: &[f64]) {
        if self.dense {
            for (&j, &b) in columns.iter().zip(bytes) {
                self.sum[j as usize] += b;
            }
        } else {
            for (&j, &b) in columns.iter().zip(bytes) {
                if self.sum[j as usize] == 0.0 {
                    self.touched.push(j);
                }
                self.sum[j as usize] += b;
            }
        }
    }

    /// Empties the row into (destination, bytes) of those columns that `keep` accepts, rising.
    pub fn drain(&mut self, keep: impl Fn(HostId) -> bool) -> (Vec<HostId>, Vec<f64>) {
        let (mut destinations, mut bytes) = (Vec::new(), Vec::new());
        let mut take = |j: u32, sum: &mut f64| {
            let b = std::mem::take(sum);
            if b > 0.0 && keep(HostId(j)) {
                destinations.push(HostId(j));
                bytes.push(b);
            }
        };
        if self.dense {
            (0..).zip(&mut self.sum).for_each(|(j, sum)| take(j, sum));
        } else {
            self.touched.sort_unstable();
            for j in self.touched.drain(..) {
                take(j, &mut self.sum[j as usize]);
            }
        }
        (destinations, bytes)
    }
}
