//! What the models speak about: per destination, the switches its traffic may reach and the admissible links between
//! them (the sets K, I_d, O_d and J of sec. 3.3.1), and nothing else.
//!
//! A *node* is a (switch, destination) that traffic may reach, a *hop* a (link, destination) with an admissible
//! link. Bytes are counted in a unit of their own (a power of two near the largest item), so that solvers see
//! numbers near one. Instances are also made from instances: with fewer hops ([`Instance::only`]) or with switches
//! merged ([`Instance::merged`]).
//!
//! Invariants: every node has a hop; nodes rise by switch within a destination; on instances of a real fabric
//! (not merged) hops never lead round in circles.
//! Source: Taffet, dissertation, sec. 3.3.1.

use netloom_model::{Csr, DestId, Fabric, HostId, Lft, SwitchId};
use netloom_routing::{PathSet, items};

use crate::OptimizeError;

/// No node, no hop.
pub(crate) const NONE: u32 = u32::MAX;

/// A link between switches, or several merged into one.
#[derive(Clone, Debug)]
pub(crate) struct NetLink {
    /// Sending switch.
    pub from: u32,
    /// Receiving switch.
    pub to: u32,
    /// Output port at the sending switch; of merged links, the first one's.
    pub port: u16,
    /// Relative capacity, summed over merged links.
    pub capacity: f64,
}

/// A destination that receives something from another leaf.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub host: HostId,
    /// Its leaf.
    pub leaf: u32,
    /// Its nodes are `first..end`.
    pub first: u32,
    pub end: u32,
}

/// A switch that traffic to one destination may reach.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub switch: u32,
    /// Index of the destination.
    pub dest: u32,
    /// What the switch's own hosts send, J(s, d), in units.
    pub inject: f64,
    /// All that may come this way: no flow out of here is larger. In units.
    pub reach: f64,
    /// Its hops are `first..end`.
    pub first: u32,
    pub end: u32,
}

/// A link that traffic to one destination may take.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    /// Index of the link.
    pub link: u32,
    /// The node that it leaves.
    pub tail: u32,
    /// The node that it enters, or [`NONE`] at the destination's leaf.
    pub head: u32,
}

/// The admissible links of the traffic between switches. See the module.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Bytes of one unit.
    pub unit: f64,
    /// Largest load of a host's own link, in units: the same in every routing.
    pub host_max: f64,
    pub(crate) links: Vec<NetLink>,
    pub(crate) targets: Vec<Target>,
    pub(crate) nodes: Vec<At>,
    pub(crate) hops: Vec<Hop>,
}

/// One hop for every node, by node ([`NONE`] where nothing was chosen).
pub type Choice = Vec<u32>;

impl Instance {
    /// The instance of a fabric and a traffic.
    ///
    /// # Errors
    /// [`OptimizeError`] if sizes disagree or traffic has no path.
    pub fn new(fabric: &Fabric, paths: &PathSet, traffic: &Csr) -> Result<Self, OptimizeError> {
        if traffic.size() != fabric.host_count() {
            return Err(OptimizeError::Size { endpoints: traffic.size(), hosts: fabric.host_count() });
        }
        check_reachable(fabric, paths, traffic)?;
        let all = items(fabric, traffic);
        let most = all.bytes().iter().copied().fold(0.0, f64::max);
        let unit = if most > 0.0 { most.log2().floor().exp2() } else { 1.0 };
        let mut index = vec![NONE; fabric.link_count()];
        let mut links = Vec::new();
        for link in fabric.links().filter(|&l| fabric.alive(l)) {
            if let (Some(from), Some(to)) = (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
                index[link.index()] = links.len() as u32;
                let (port, capacity) = (fabric.link_port(link), fabric.relative_capacity(link));
                links.push(NetLink { from: from.0, to: to.0, port, capacity });
            }
        }
        let mut triples: Vec<(HostId, u32, f64)> = all.iter().map(|(s, d, b)| (d, s.0, b / unit)).collect();
        triples.sort_by_key(|t| (t.0, t.1));
        let drafts = triples.chunk_by(|a, b| a.0 == b.0).map(|chunk| Draft {
            host: chunk[0].0,
            leaf: fabric.leaf(chunk[0].0).0,
            sources: chunk.iter().map(|t| (t.1, t.2)).collect(),
        });
        let mut instance =
            Self { unit, host_max: host_max(fabric, traffic) / unit, links, ..Self::default() };
        instance.fill(fabric.switch_count(), drafts.collect(), |draft, switch, out| {
            let next = paths.links(SwitchId(switch), SwitchId(draft.leaf));
            out.extend(next.iter().map(|l| index[l.index()]));
        });
        Ok(instance)
    }

    /// The same with only the hops that `keep` names, and what can still be reached; with the old number of every
    /// hop that is left. `keep` must leave every node that traffic reaches a way.
    pub fn only(&self, keep: &[bool]) -> (Self, Vec<u32>) {
        let switches = self.switches();
        let mut made =
            Self { unit: self.unit, host_max: self.host_max, links: self.links.clone(), ..Self::default() };
        made.fill(switches, self.drafts(|s| s), |draft, switch, out| {
            let node = self.node(draft.host, switch).expect("hops lead to nodes");
            out.extend(self.of(node).filter(|&k| keep[k]).map(|k| self.hops[k].link));
        });
        let old = made.hops.iter().map(|hop| {
            let tail = &made.nodes[hop.tail as usize];
            let node =
                self.node(made.targets[tail.dest as usize].host, tail.switch).expect("it came from here");
            let same = self.of(node).find(|&k| self.hops[k].link == hop.link);
            same.expect("it came from here") as u32
        });
        let old = old.collect();
        (made, old)
    }

    /// The same with switches merged: `class[s]` is the lowest switch of those merged with `s`. Links between the
    /// same classes become one of their summed capacity. With the new number of every hop.
    pub fn merged(&self, class: &[u32]) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.links.len() as u32).collect();
        let ends = |l: u32| {
            let link = &self.links[l as usize];
            (class[link.from as usize], class[link.to as usize])
        };
        order.sort_by_key(|&l| (ends(l), l));
        let mut index = vec![NONE; self.links.len()];
        let mut links: Vec<NetLink> = Vec::new();
        for same in order.chunk_by(|&a, &b| ends(a) == ends(b)) {
            let (from, to) = ends(same[0]);
            let capacity = same.iter().map(|&l| self.links[l as usize].capacity).sum();
            same.iter().for_each(|&l| index[l as usize] = links.len() as u32);
            links.push(NetLink { from, to, capacity, ..self.links[same[0] as usize].clone() });
        }
        let mut members = vec![Vec::new(); class.len()];
        (0..class.len() as u32).for_each(|s| members[class[s as usize] as usize].push(s));
        let mut made = Self { unit: self.unit, host_max: self.host_max, links, ..Self::default() };
        made.fill(class.len(), self.drafts(|s| class[s as usize]), |draft, switch, out| {
            let nodes = members[switch as usize].iter().filter_map(|&s| self.node(draft.host, s));
            out.extend(nodes.flat_map(|n| self.of(n)).map(|k| index[self.hops[k].link as usize]));
            out.sort_unstable();
            out.dedup();
        });
        let image = self.hops.iter().map(|hop| {
            let tail = &self.nodes[hop.tail as usize];
            let host = self.targets[tail.dest as usize].host;
            let node = made.node(host, class[tail.switch as usize]).expect("merging keeps what is reached");
            let link = index[hop.link as usize];
            made.of(node).find(|&k| made.hops[k].link == link).expect("merging keeps hops") as u32
        });
        let image = image.collect();
        (made, image)
    }

    /// The hops of a node.
    pub(crate) fn of(&self, node: usize) -> std::ops::Range<usize> {
        self.nodes[node].first as usize..self.nodes[node].end as usize
    }

    /// The nodes where traffic enters: the items.
    pub(crate) fn items(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&n| self.nodes[n].inject > 0.0)
    }

    /// The leaf of the destination of a node.
    pub(crate) fn leaf_of(&self, node: usize) -> u32 {
        self.targets[self.nodes[node].dest as usize].leaf
    }

    /// The node of a host's traffic at a switch.
    pub(crate) fn node(&self, host: HostId, switch: u32) -> Option<usize> {
        let d = self.targets.binary_search_by_key(&host, |t| t.host).ok()?;
        let (first, end) = (self.targets[d].first as usize, self.targets[d].end as usize);
        self.nodes[first..end].binary_search_by_key(&switch, |n| n.switch).ok().map(|at| first + at)
    }

    /// The hops that an item takes under `choice`; `None` if it does not arrive.
    pub(crate) fn walk(&self, choice: &Choice, item: usize) -> Option<Vec<u32>> {
        let (mut at, mut path) = (item as u32, Vec::new());
        while at != NONE {
            let hop = choice[at as usize];
            if hop == NONE || path.len() > self.nodes.len() {
                return None;
            }
            path.push(hop);
            at = self.hops[hop as usize].head;
        }
        Some(path)
    }

    /// The flow over every hop under `choice`, in units; `None` if something does not arrive.
    pub(crate) fn flows(&self, choice: &Choice) -> Option<Vec<f64>> {
        let mut flow = vec![0.0; self.hops.len()];
        for item in self.items() {
            for hop in self.walk(choice, item)? {
                flow[hop as usize] += self.nodes[item].inject;
            }
        }
        Some(flow)
    }

    /// The load of every link for the flows of [`flows`](Self::flows), in units.
    pub(crate) fn loads(&self, flow: &[f64]) -> Vec<f64> {
        let mut load = vec![0.0; self.links.len()];
        for (hop, flow) in self.hops.iter().zip(flow) {
            load[hop.link as usize] += flow;
        }
        load.iter_mut().zip(&self.links).for_each(|(load, link)| *load /= link.capacity);
        load
    }

    /// The hop of every node that forwarding tables choose; the first where theirs is not admissible.
    pub fn choice_of(&self, lft: &Lft, lmc: u8) -> Choice {
        let chosen = (0..self.nodes.len()).map(|node| {
            let at = &self.nodes[node];
            let address = DestId(self.targets[at.dest as usize].host.0 << lmc);
            let port = lft.get(SwitchId(at.switch), address);
            let found = self.of(node).find(|&k| Some(self.links[self.hops[k].link as usize].port) == port);
            found.unwrap_or(at.first as usize) as u32
        });
        chosen.collect()
    }

    /// Puts the entries that carry traffic under `choice` into `lft`, for every address of a host.
    pub fn write(&self, choice: &Choice, lft: &mut Lft, lmc: u8) {
        for item in self.items() {
            for hop in self.walk(choice, item).unwrap_or_default() {
                let link = &self.links[self.hops[hop as usize].link as usize];
                let host = self.targets[self.nodes[item].dest as usize].host;
                for address in host.0 << lmc..(host.0 + 1) << lmc {
                    lft.set(SwitchId(link.from), DestId(address), Some(link.port));
                }
            }
        }
    }

    fn switches(&self) -> usize {
        let ends = self.links.iter().map(|l| l.from.max(l.to) as usize + 1);
        ends.chain(self.targets.iter().map(|t| t.leaf as usize + 1)).max().unwrap_or(0)
    }

    fn drafts(&self, class: impl Fn(u32) -> u32) -> Vec<Draft> {
        let draft = |t: &Target| {
            let nodes = &self.nodes[t.first as usize..t.end as usize];
            let sources = nodes.iter().filter(|n| n.inject > 0.0).map(|n| (class(n.switch), n.inject));
            Draft { host: t.host, leaf: class(t.leaf), sources: sources.collect() }
        };
        self.targets.iter().map(draft).collect()
    }

    /// Finds nodes and hops from the sources on; `out` lists the links of a switch.
    fn fill(&mut self, switches: usize, drafts: Vec<Draft>, out: impl Fn(&Draft, u32, &mut Vec<u32>)) {
        let mut node_at = vec![NONE; switches];
        let mut next = Vec::new();
        for (dest, draft) in drafts.into_iter().enumerate() {
            let mut found: Vec<u32> = draft.sources.iter().map(|s| s.0).collect();
            found.iter().for_each(|&s| node_at[s as usize] = 0);
            let mut done = 0;
            while let Some(&switch) = found.get(done) {
                done += 1;
                next.clear();
                out(&draft, switch, &mut next);
                for to in next.iter().map(|&l| self.links[l as usize].to) {
                    if to != draft.leaf && node_at[to as usize] == NONE {
                        node_at[to as usize] = 0;
                        found.push(to);
                    }
                }
            }
            found.sort_unstable();
            let first = self.nodes.len();
            (first as u32..).zip(&found).for_each(|(n, &s)| node_at[s as usize] = n);
            for &switch in &found {
                next.clear();
                out(&draft, switch, &mut next);
                let (tail, from) = (node_at[switch as usize], self.hops.len() as u32);
                for &link in &next {
                    let to = self.links[link as usize].to;
                    let head = if to == draft.leaf { NONE } else { node_at[to as usize] };
                    self.hops.push(Hop { link, tail, head });
                }
                let inject = draft.sources.iter().find(|s| s.0 == switch).map_or(0.0, |s| s.1);
                let end = self.hops.len() as u32;
                self.nodes.push(At { switch, dest: dest as u32, inject, reach: 0.0, first: from, end });
            }
            found.iter().for_each(|&s| node_at[s as usize] = NONE);
            self.reach(first);
            let (first, end) = (first as u32, self.nodes.len() as u32);
            self.targets.push(Target { host: draft.host, leaf: draft.leaf, first, end });
        }
    }

    /// Bytes of the sources that can get to each node from `first` on: the tight constants of sec. 3.3.3.
    fn reach(&mut self, first: usize) {
        let nodes = first..self.nodes.len();
        let sources: Vec<usize> = nodes.clone().filter(|&n| self.nodes[n].inject > 0.0).collect();
        let words = sources.len().div_ceil(64);
        let mut sets = vec![0u64; words * nodes.len()];
        for (bit, &n) in sources.iter().enumerate() {
            sets[(n - first) * words + bit / 64] |= 1 << (bit % 64);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for k in nodes.clone().flat_map(|n| self.of(n)) {
                let hop = &self.hops[k];
                if hop.head != NONE {
                    let (tail, head) = (hop.tail as usize - first, hop.head as usize - first);
                    for w in 0..words {
                        let more = sets[tail * words + w] & !sets[head * words + w];
                        sets[head * words + w] |= more;
                        changed |= more != 0;
                    }
                }
            }
        }
        for n in nodes {
            let set = &sets[(n - first) * words..][..words];
            let inside = sources.iter().enumerate().filter(|(bit, _)| set[bit / 64] >> (bit % 64) & 1 == 1);
            self.nodes[n].reach = inside.map(|(_, &s)| self.nodes[s].inject).sum();
        }
    }
}

/// A destination with what is sent to it, before its nodes are known.
struct Draft {
    host: HostId,
    leaf: u32,
    /// Sending switch and units, by switch.
    sources: Vec<(u32, f64)>,
}

fn check_reachable(fabric: &Fabric, paths: &PathSet, traffic: &Csr) -> Result<(), OptimizeError> {
    for (i, j, _) in traffic.iter().filter(|&(i, j, _)| i != j) {
        let (from, to) = (HostId(i), HostId(j));
        let connected = [from, to].iter().all(|&h| fabric.alive(fabric.host_link(h)));
        if !connected || paths.hops(fabric.leaf(from), fabric.leaf(to)).is_none() {
            let name = |h| fabric.host_name(h).to_string();
            return Err(OptimizeError::Unreachable { from: name(from), to: name(to) });
        }
    }
    Ok(())
}

/// The largest load of a host's own link, in bytes.
fn host_max(fabric: &Fabric, traffic: &Csr) -> f64 {
    let (mut sent, mut received) = (vec![0.0; traffic.size()], vec![0.0; traffic.size()]);
    for (i, j, bytes) in traffic.iter().filter(|&(i, j, _)| i != j) {
        sent[i as usize] += bytes;
        received[j as usize] += bytes;
    }
    let loads = fabric.hosts().map(|h| {
        let link = fabric.host_link(h);
        let back = fabric.reverse(link);
        let out = sent[h.index()] / fabric.relative_capacity(link);
        out.max(received[h.index()] / fabric.relative_capacity(back))
    });
    loads.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::cases::{instance, two_pods};

    #[test]
    fn only_what_traffic_can_reach_is_there() {
        // Two pods of two leaves and two spines, two cores, each core at both spines of both pods: host 0 (leaf 0) sends
        // 3 to host 4 (first leaf of the other pod) and 1 to host 2 (the other leaf of its own).
        let (_, inst) = instance(&two_pods(), &[(0, 4, 3.0), (0, 2, 1.0)]);
        assert_eq!((inst.targets.len(), inst.unit, inst.host_max), (2, 2.0, 2.0));
        // To host 2: the leaf and its two spines. To host 4: the leaf, 2 spines, 2 cores, 2 spines.
        let nodes = |t: &Target| t.end - t.first;
        assert_eq!(inst.targets.iter().map(nodes).collect::<Vec<_>>(), [3, 7]);
        // 2 up + 2 down; 2 + 4 + 4 + 2.
        assert_eq!(inst.hops.len(), 4 + 12);
        assert!(inst.nodes[3..].iter().all(|n| n.reach == 1.5), "everything may come by everywhere");
    }

    #[test]
    fn merging_spines_leaves_one_way_and_sums_capacities() {
        let (fabric, inst) = instance(&two_pods(), &[(0, 4, 3.0)]);
        // Leaves 0..4 in the order of names leaf0.., then spines and cores by what they link to.
        let class: Vec<u32> = {
            let level = netloom_topology::detect(&fabric.0).level;
            let pod = &fabric.1.pod;
            let same = |a: usize, b: usize| level[a] > 0 && level[a] == level[b] && pod[a] == pod[b];
            (0..level.len()).map(|s| (0..=s).find(|&t| t == s || same(t, s)).unwrap() as u32).collect()
        };
        let (coarse, image) = inst.merged(&class);
        assert_eq!((coarse.nodes.len(), coarse.hops.len()), (4, 4));
        assert_eq!(image.len(), inst.hops.len());
        let capacities: Vec<f64> =
            coarse.hops.iter().map(|h| coarse.links[h.link as usize].capacity).collect();
        let mut sorted = capacities.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, [2.0, 2.0, 4.0, 4.0]);
    }

    #[test]
    fn fewer_hops_reach_less() {
        let (_, inst) = instance(&two_pods(), &[(0, 4, 3.0), (2, 4, 1.0)]);
        // Everything leaves its leaf by the first way: one spine is left in the sending pod.
        let keep: Vec<bool> = (0..inst.hops.len())
            .map(|k| {
                let tail = &inst.nodes[inst.hops[k].tail as usize];
                tail.inject == 0.0 || k == tail.first as usize
            })
            .collect();
        let (fewer, old) = inst.only(&keep);
        assert_eq!(fewer.nodes.len(), inst.nodes.len() - 1);
        assert!(old.iter().all(|&k| keep[k as usize]));
        assert_eq!(fewer.items().count(), 2);
    }
}
