//! The worst that a hose can do to given routes: for every link the matrix within the sums that loads it most.
//!
//! Tables by destination send all hosts of a leaf to one destination over the same links, so what may cross a link is
//! a set of (leaf, destination). The most that can cross it is a maximum flow from the leaves (at most what their
//! hosts send in all) over these pairs to the destinations (at most what each receives): exact, and a few hundred
//! pairs a link on large trees. With one leaf or one destination it is the smaller of two sums.
//!
//! Source: Duffield et al., "A flexible model for resource management in virtual private networks", SIGCOMM 1999;
//! maximum flow by shortest augmenting paths (Edmonds and Karp, J. ACM 19, 1972).

use netloom_model::{Csr, DestId, Fabric, Hose, HostId, LinkId, NO_PORT, Routes, SwitchId, Traffic};
use netloom_routing::LinkLoads;
use rayon::prelude::*;

use crate::OptimizeError;

/// What is left of a sum that counts as nothing, relative to the sum.
const DUST: f64 = 1e-12;

/// The exact worst load of every link over all matrices within the sums of `hose`, host links included. No single
/// matrix need reach all of them.
///
/// Takes time and memory (8 bytes) for every (leaf that sends, host that receives, hop).
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, routes are not by destination or use several addresses a host, or do not
/// deliver what the hose allows.
pub fn hose_loads(fabric: &Fabric, routes: &Routes, hose: &Hose) -> Result<LinkLoads, OptimizeError> {
    Ok(Crossings::new(fabric, routes, hose)?.worst())
}

/// Which (leaf, destination) cross each link between switches.
pub(crate) struct Crossings<'a> {
    fabric: &'a Fabric,
    hose: &'a Hose,
    /// Bytes that the hosts of a switch send at most.
    leaf_sent: Vec<f64>,
    /// `pairs[first[l]..first[l + 1]]` cross link `l`: by destination, then leaf.
    first: Vec<usize>,
    pairs: Vec<(SwitchId, HostId)>,
}

impl<'a> Crossings<'a> {
    /// Walks from every leaf that may send to every host that may receive.
    pub fn new(fabric: &'a Fabric, routes: &Routes, hose: &'a Hose) -> Result<Self, OptimizeError> {
        check_hose(fabric, hose)?;
        let lft = crate::afar::check_shapes(fabric, &Csr::empty(fabric.host_count()), routes)?;
        if !routes.one_address() {
            return Err(OptimizeError::NotByDestination);
        }
        let leaf_sent: Vec<f64> = fabric
            .switches()
            .map(|s| fabric.hosts_on(s).iter().map(|h| hose.sent[h.index()]).sum())
            .collect();
        let senders: Vec<SwitchId> = fabric.switches().filter(|s| leaf_sent[s.index()] > 0.0).collect();
        let receivers: Vec<HostId> = fabric.hosts().filter(|h| hose.received[h.index()] > 0.0).collect();
        let space = routes.dests(fabric);
        let walk = |&to: &HostId| -> Result<Vec<(LinkId, SwitchId)>, OptimizeError> {
            let mut found = Vec::new();
            for &from in senders.iter().filter(|&&s| s != fabric.leaf(to)) {
                follow(fabric, lft, from, to, space.host(to, 0), |l| found.push((l, from)))?;
            }
            Ok(found)
        };
        let walks: Vec<Vec<(LinkId, SwitchId)>> = receivers.par_iter().map(walk).collect::<Result<_, _>>()?;
        let mut first = vec![0usize; fabric.link_count() + 1];
        for (link, _) in walks.iter().flatten() {
            first[link.index() + 1] += 1;
        }
        for l in 0..fabric.link_count() {
            first[l + 1] += first[l];
        }
        let mut next = first.clone();
        let mut pairs = vec![(SwitchId(0), HostId(0)); first[fabric.link_count()]];
        for (&to, walk) in receivers.iter().zip(&walks) {
            for &(link, from) in walk {
                pairs[next[link.index()]] = (from, to);
                next[link.index()] += 1;
            }
        }
        Ok(Self { fabric, hose, leaf_sent, first, pairs })
    }

    /// The pairs that cross a link.
    fn of(&self, link: LinkId) -> &[(SwitchId, HostId)] {
        &self.pairs[self.first[link.index()]..self.first[link.index() + 1]]
    }

    /// The exact worst load of every link.
    pub fn worst(&self) -> LinkLoads {
        let (fabric, hose) = (self.fabric, self.hose);
        let (sent, received) = (of_others(&hose.sent), of_others(&hose.received));
        let of = |l: usize| -> f64 {
            let link = LinkId(l as u32);
            let bytes = match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
                (Some(_), Some(_)) => {
                    let flow = self.flow(link, &self.leaf_sent, &hose.received);
                    flow.iter().map(|f| f.2).sum()
                }
                // A host sends to all others, or hears from them.
                (None, _) => hose.sent[l].min(received[l]),
                (_, None) => {
                    let h = fabric.link_to(link).index();
                    hose.received[h].min(sent[h])
                }
            };
            bytes / fabric.relative_capacity(link)
        };
        LinkLoads { load: (0..fabric.link_count()).into_par_iter().map(of).collect() }
    }

    /// The most that can cross a link, by pair, within what leaves send and hosts receive.
    fn flow(&self, link: LinkId, sent: &[f64], received: &[f64]) -> Vec<(SwitchId, HostId, f64)> {
        let pairs = self.of(link);
        let (mut leaves, mut hosts): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        leaves.sort_unstable();
        leaves.dedup();
        hosts.dedup();
        let edges: Vec<(u32, u32)> = pairs
            .iter()
            .map(|(s, h)| {
                let leaf = leaves.binary_search(s).expect("a leaf of the pairs");
                (leaf as u32, hosts.binary_search(h).expect("pairs by destination") as u32)
            })
            .collect();
        let left = leaves.iter().map(|s| sent[s.index()]).collect();
        let right = hosts.iter().map(|h| received[h.index()]).collect();
        let flow = max_flow(&edges, left, right);
        pairs.iter().zip(flow).filter(|(_, f)| *f > 0.0).map(|(&(s, h), f)| (s, h, f)).collect()
    }

    /// One matrix within the sums that loads `links` as much as it can, each in turn with what those before it left
    /// over; links that it can no longer load above `floor` are left out (but the first).
    pub fn matrix(&self, links: &[LinkId], floor: f64) -> Csr {
        let fabric = self.fabric;
        let (mut sent, mut received) = (self.leaf_sent.clone(), self.hose.received.clone());
        let mut left = self.hose.sent.clone();
        let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (k, &link) in links.iter().enumerate() {
            let flow = self.flow(link, &sent, &received);
            let load = flow.iter().map(|f| f.2).sum::<f64>() / fabric.relative_capacity(link);
            if load == 0.0 || (k > 0 && load <= floor) {
                continue;
            }
            for (leaf, host, mut amount) in flow {
                sent[leaf.index()] = (sent[leaf.index()] - amount).max(0.0);
                received[host.index()] = (received[host.index()] - amount).max(0.0);
                for &h in fabric.hosts_on(leaf) {
                    let part = amount.min(left[h.index()]);
                    if part > 0.0 {
                        left[h.index()] -= part;
                        amount -= part;
                        from.push(u64::from(h.0));
                        to.push(u64::from(host.0));
                        bytes.push(part);
                    }
                }
            }
        }
        entries(fabric, &from, &to, &bytes)
    }
}

/// The sum of all but one, for each of them. Not a difference: beside a sum that stands for no limit, the others' would vanish.
pub(crate) fn of_others(sums: &[f64]) -> Vec<f64> {
    let mut others = vec![0.0; sums.len()];
    let (mut before, mut after) = (0.0, 0.0);
    for i in 0..sums.len() {
        let k = sums.len() - 1 - i;
        others[i] += before;
        others[k] += after;
        (before, after) = (before + sums[i], after + sums[k]);
    }
    others
}

/// A matrix over hosts from entries that may repeat. Amounts that are too small for traffic (what rounding leaves of tiny sums)
/// are left out.
pub(crate) fn entries(fabric: &Fabric, from: &[u64], to: &[u64], bytes: &[f64]) -> Csr {
    let kept = |&b: &f64| if netloom_model::traffic::is_amount(b) { b } else { 0.0 };
    let bytes: Vec<f64> = bytes.iter().map(kept).collect();
    let traffic = Traffic::from_triples(fabric.host_count() as u32, from, to, &bytes, None);
    traffic.expect("amounts between hosts").total().into_owned()
}

/// Refuses sums of another number of hosts.
pub(crate) fn check_hose(fabric: &Fabric, hose: &Hose) -> Result<(), OptimizeError> {
    let hosts = fabric.host_count();
    match [hose.sent.len(), hose.received.len()].into_iter().find(|&n| n != hosts) {
        Some(endpoints) => Err(OptimizeError::Size { endpoints, hosts }),
        None => Ok(()),
    }
}

/// Calls `visit` for every link between switches on the way.
fn follow(
    fabric: &Fabric,
    lft: &netloom_model::Lft,
    from: SwitchId,
    to: HostId,
    address: DestId,
    mut visit: impl FnMut(LinkId),
) -> Result<(), OptimizeError> {
    let (mut at, target) = (from, fabric.leaf(to));
    for _ in 0..fabric.switch_count() {
        let port = lft.port(at, address);
        let link = fabric.link_at(at, port).filter(|&l| port != NO_PORT && fabric.alive(l));
        let Some((link, next)) = link.and_then(|l| Some((l, fabric.link_to_switch(l)?))) else { break };
        visit(link);
        if next == target {
            return Ok(());
        }
        at = next;
    }
    Err(OptimizeError::BadStart { from: fabric.switch_name(from).into(), to: fabric.host_name(to).into() })
}

/// A maximum flow from the left over `edges` (any amount each) to the right: the flow of every edge. Left and right
/// give and take at most so much.
fn max_flow(edges: &[(u32, u32)], mut left: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    const NONE: u32 = u32::MAX;
    let mut flow = vec![0.0; edges.len()];
    // Relative to its own: sums differ by any factor.
    let dust = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|s| s * DUST).collect() };
    let (dust_left, dust_right) = (dust(&left), dust(&right));
    // What fits at once is most of it.
    for (f, &(a, b)) in flow.iter_mut().zip(edges) {
        let (a, b) = (a as usize, b as usize);
        *f = left[a].min(right[b]);
        left[a] -= *f;
        right[b] -= *f;
    }
    let (out, into) =
        (by_end(edges.iter().map(|e| e.0), left.len()), by_end(edges.iter().map(|e| e.1), right.len()));
    // The edge by which the search came to a vertex.
    let (mut to_left, mut to_right) = (vec![NONE; left.len()], vec![NONE; right.len()]);
    let mut queue: Vec<u32> = Vec::new();
    loop {
        to_left.fill(NONE);
        to_right.fill(NONE);
        queue.clear();
        let start = |a: usize| left[a] > dust_left[a];
        queue.extend((0..left.len()).filter(|&a| start(a)).map(|a| a as u32));
        let (mut next, mut end) = (0, None);
        'search: while let Some(&a) = queue.get(next) {
            next += 1;
            for &e in out.of(a) {
                let b = edges[e as usize].1 as usize;
                if to_right[b] != NONE {
                    continue;
                }
                to_right[b] = e;
                if right[b] > dust_right[b] {
                    end = Some(b);
                    break 'search;
                }
                for &back in into.of(b as u32) {
                    let c = edges[back as usize].0 as usize;
                    if flow[back as usize] > 0.0 && to_left[c] == NONE && !start(c) {
                        to_left[c] = back;
                        queue.push(c as u32);
                    }
                }
            }
        }
        let Some(end) = end else { return flow };
        // How much fits along the way, then move it.
        let (mut amount, mut b) = (right[end], end);
        let first = loop {
            let a = edges[to_right[b] as usize].0 as usize;
            match to_left[a] {
                NONE => break a,
                back => {
                    amount = amount.min(flow[back as usize]);
                    b = edges[back as usize].1 as usize;
                }
            }
        };
        amount = amount.min(left[first]);
        left[first] -= amount;
        right[end] -= amount;
        b = end;
        loop {
            let e = to_right[b] as usize;
            flow[e] += amount;
            match to_left[edges[e].0 as usize] {
                NONE => break,
                back => {
                    flow[back as usize] -= amount;
                    b = edges[back as usize].1 as usize;
                }
            }
        }
    }
}

/// Edges by the vertex at one end.
struct ByEnd {
    first: Vec<u32>,
    edges: Vec<u32>,
}

impl ByEnd {
    fn of(&self, vertex: u32) -> &[u32] {
        &self.edges[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }
}

fn by_end(ends: impl Iterator<Item = u32> + Clone, vertices: usize) -> ByEnd {
    let mut first = vec![0u32; vertices + 1];
    for v in ends.clone() {
        first[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        first[v + 1] += first[v];
    }
    let mut next = first.clone();
    let mut edges = vec![0u32; first[vertices] as usize];
    for (e, v) in ends.enumerate() {
        edges[next[v as usize] as usize] = e as u32;
        next[v as usize] += 1;
    }
    ByEnd { first, edges }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng::{below, stream};

    /// By the duality of flows and cuts: the cheapest set of vertices that touches every edge.
    fn least_cover(edges: &[(u32, u32)], left: &[f64], right: &[f64]) -> f64 {
        let cost = |set: u32| -> f64 {
            let inside = |a: usize| set >> a & 1 == 1;
            let lefts: f64 = left.iter().enumerate().filter(|(a, _)| inside(*a)).map(|(_, c)| c).sum();
            let touched = |b: usize| edges.iter().any(|e| e.1 as usize == b && !inside(e.0 as usize));
            lefts + right.iter().enumerate().filter(|(b, _)| touched(*b)).map(|(_, c)| c).sum::<f64>()
        };
        (0..1u32 << left.len()).map(cost).fold(f64::INFINITY, f64::min)
    }

    /// The second on the left reaches the right only if the first gives way; beside the third's sum it was dust.
    #[test]
    fn a_small_sum_beside_a_huge_one_flows_too() {
        let flow = max_flow(&[(0, 0), (1, 0), (0, 1), (2, 2)], vec![1.0, 1.0, 1e15], vec![1.0, 1.0, 1e-3]);
        assert_eq!(flow.iter().sum::<f64>(), 2.001);
        assert_eq!(of_others(&[1.0, 1e20, 2.0]), [1e20, 3.0, 1e20]);
    }

    #[test]
    fn the_largest_flow_is_the_smallest_cut() {
        for seed in 0..300 {
            let random = &mut stream(seed, 0);
            let (l, r) = (1 + below(random, 6) as usize, 1 + below(random, 6) as usize);
            let mut sums = |n: usize| -> Vec<f64> { (0..n).map(|_| below(random, 9) as f64 / 3.0).collect() };
            let (left, right) = (sums(l), sums(r));
            let all = (0..l as u32).flat_map(|a| (0..r as u32).map(move |b| (a, b)));
            let edges: Vec<(u32, u32)> = all.filter(|_| below(random, 5) < 2).collect();
            let flow = max_flow(&edges, left.clone(), right.clone());
            let total: f64 = flow.iter().sum();
            assert!((total - least_cover(&edges, &left, &right)).abs() < 1e-9, "seed {seed}");
            for (ends, sums) in [(0, &left), (1, &right)] {
                for (v, &most) in sums.iter().enumerate() {
                    let at = |e: &(u32, u32)| [e.0, e.1][ends] as usize == v;
                    let through: f64 = edges.iter().zip(&flow).filter(|(e, _)| at(e)).map(|(_, f)| f).sum();
                    assert!(through <= most + 1e-9, "seed {seed}");
                }
            }
        }
    }
}
