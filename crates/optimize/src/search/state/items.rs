//! Items: what the hosts of one leaf send to one address, moved as a whole.
//!
//! Destination-based tables cannot tell the hosts of a leaf apart, so between switches only these sums
//! matter. Items are grouped by address (the *group* `g`), and by leaf within a group; traffic that stays
//! on its leaf is no item. With several addresses a host (LMC) a group is one address.
//! Source: Taffet, dissertation, sec. 3.3.1 (`J` for leaf switches).

use netloom_model::{Csr, DestId, Fabric, HostId, Routes, SwitchId};

/// All items, by group. Item indices are `first[g]..first[g + 1]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// Sending leaf of every item.
    pub leaf: Vec<u32>,
    /// Group of every item.
    pub group: Vec<u32>,
    /// Bytes of every item, positive; with several layers their sum, for orders of size.
    pub bytes: Vec<f64>,
    /// With several layers (phases, scenarios): the bytes of every item in each.
    pub amounts: Option<Amounts>,
    /// First item of every group, and the number of items.
    pub first: Vec<u32>,
    /// Address of every group.
    pub address: Vec<DestId>,
    /// Host of every group.
    pub host: Vec<HostId>,
    /// `2^lmc`.
    pub addresses_a_host: usize,
    /// The receiving leaf of every group.
    pub target: Vec<u32>,
}

/// Bytes by item and layer, sparse.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amounts {
    /// First entry of every item, and the number of entries.
    first: Vec<u32>,
    /// Layer and bytes of every entry; layers rise within an item.
    entries: Vec<(u32, f64)>,
}

impl Amounts {
    /// Layers and bytes of an item; at least one.
    #[inline]
    pub fn of(&self, item: usize) -> &[(u32, f64)] {
        &self.entries[self.first[item] as usize..self.first[item + 1] as usize]
    }
}

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.leaf.len()
    }

    /// Number of groups (addresses that receive something from another leaf).
    pub fn groups(&self) -> usize {
        self.address.len()
    }

    /// The items of a group.
    #[inline]
    pub fn of(&self, group: usize) -> std::ops::Range<usize> {
        self.first[group] as usize..self.first[group + 1] as usize
    }

    /// The receiving leaf of an item.
    #[inline]
    pub fn target_of(&self, item: usize) -> u32 {
        self.target[self.group[item] as usize]
    }

    /// The layer of an item that has only one.
    #[inline]
    pub fn layer_of(&self, item: usize) -> usize {
        self.amounts.as_ref().map_or(0, |amounts| amounts.of(item)[0].0 as usize)
    }

    /// A sending host of an item, for messages.
    pub fn some_source(&self, fabric: &Fabric, matrix: &Csr, item: usize) -> Option<HostId> {
        let host = self.host[self.group[item] as usize];
        let hosts = fabric.hosts_on(SwitchId(self.leaf[item]));
        hosts.iter().copied().find(|h| matrix.row(h.index()).0.binary_search(&host.0).is_ok())
    }
}

/// Sums several matrices over the same hosts to common items: an item has its bytes in each layer.
pub(crate) fn layered_items(fabric: &Fabric, layers: &[&Csr], routes: &Routes) -> Items {
    let mut parts: Vec<(DestId, u32, u32, f64)> = Vec::new();
    for (layer, matrix) in layers.iter().enumerate() {
        let items = items(fabric, matrix, routes);
        parts.extend(
            (0..items.len()).map(|i| {
                (items.address[items.group[i] as usize], items.leaf[i], layer as u32, items.bytes[i])
            }),
        );
    }
    parts.sort_unstable_by_key(|&(address, leaf, layer, _)| (address, leaf, layer));
    let mut amounts = Amounts { first: vec![0], entries: Vec::new() };
    let mut triples: Vec<(u32, u32, f64)> = Vec::new();
    for item in parts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        triples.push((item[0].1, item[0].0.0, item.iter().map(|part| part.3).sum()));
        amounts.entries.extend(item.iter().map(|&(_, _, layer, bytes)| (layer, bytes)));
        amounts.first.push(amounts.entries.len() as u32);
    }
    let mut all = by_group(fabric, &triples, fabric.host_count() << routes.lmc, routes.lmc);
    all.amounts = (layers.len() > 1).then_some(amounts);
    all
}

/// Sums `matrix` to items, addressed as `routes` addresses them.
pub(crate) fn items(fabric: &Fabric, matrix: &Csr, routes: &Routes) -> Items {
    let space = routes.dests(fabric);
    let addresses = fabric.host_count() << routes.lmc;
    // Per leaf, a dense sum over addresses; triples come out ordered by (leaf, address).
    let mut sum = vec![0.0f64; addresses];
    let mut touched: Vec<u32> = Vec::new();
    let mut triples: Vec<(u32, u32, f64)> = Vec::new();
    for leaf in fabric.switches() {
        for &source in fabric.hosts_on(leaf) {
            let (columns, bytes) = matrix.row(source.index());
            for (&column, &b) in columns.iter().zip(bytes) {
                let to = HostId(column);
                if fabric.leaf(to) == leaf {
                    continue;
                }
                let address = routes.address(space, source, to).0;
                let slot = &mut sum[address as usize];
                if *slot == 0.0 {
                    touched.push(address);
                }
                *slot += b;
            }
        }
        touched.sort_unstable();
        for address in touched.drain(..) {
            triples.push((leaf.0, address, std::mem::take(&mut sum[address as usize])));
        }
    }
    by_group(fabric, &triples, addresses, routes.lmc)
}

/// Groups `(leaf, address, bytes)`; within an address leaves rise.
fn by_group(fabric: &Fabric, triples: &[(u32, u32, f64)], addresses: usize, lmc: u8) -> Items {
    let mut count = vec![0u32; addresses + 1];
    for &(_, address, _) in triples {
        count[address as usize] += 1;
    }
    let mut items = Items { first: vec![0], addresses_a_host: 1 << lmc, ..Items::default() };
    let mut next = vec![0u32; addresses];
    let mut total = 0;
    for address in 0..addresses {
        next[address] = total;
        if count[address] > 0 {
            let host = HostId((address >> lmc) as u32);
            total += count[address];
            items.first.push(total);
            items.address.push(DestId(address as u32));
            items.host.push(host);
            items.target.push(fabric.leaf(host).0);
        }
    }
    items.leaf = vec![0; total as usize];
    items.bytes = vec![0.0; total as usize];
    items.group = vec![0; total as usize];
    for g in 0..items.groups() {
        items.group[items.first[g] as usize..items.first[g + 1] as usize].fill(g as u32);
    }
    for &(leaf, address, bytes) in triples {
        let at = next[address as usize] as usize;
        next[address as usize] += 1;
        items.leaf[at] = leaf;
        items.bytes[at] = bytes;
    }
    items
}
