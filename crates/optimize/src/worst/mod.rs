//! The worst that a hose can do to given routes: for every link the matrix within the sums that loads it most.
//!
//! Tables by destination send all hosts of a leaf to one destination over the same links, so what may cross a link is
//! a set of (leaf, destination). The most that can cross it is a maximum flow from the leaves (at most what their
//! hosts send in all) over these pairs to the destinations (at most what each receives): exact. Where every
//! destination beyond a link is reached over it by the same leaves, as on nearly all links of regular routes, that is
//! the smaller of two sums, and no pair is written down. Sets of leaves are told apart by the sum of 128 random bits a
//! leaf. Pairs of other links are written down for so many links at a time as memory bears.
//!
//! Source: Duffield et al., "A flexible model for resource management in virtual private networks", SIGCOMM 1999.

mod in_tree;
mod max_flow;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use netloom_model::rng::mixed;
use netloom_model::{Control, Csr, DestId, Fabric, Hose, HostId, Lft, LinkId, Routes, SwitchId, Traffic};
use netloom_routing::LinkLoads;
use rayon::prelude::*;

use crate::OptimizeError;
use in_tree::{FirstSteps, InTree, Steps};
use max_flow::max_flow;

/// Stretches of destinations. Sums are added up stretch by stretch, so the number is the same for any number of threads.
const DESTINATION_BLOCKS: usize = 16;
/// Pairs of leaf and destination that are written down at a time (20 bytes each), but one link's at least.
const PAIRS_PER_PASS: u64 = 1 << 26;

/// The exact worst load of every link over all matrices within the sums of `hose`, host links included. No single
/// matrix need reach all of them.
///
/// Takes time for every (switch, host that receives), and for every (leaf that sends, host that receives, hop) where
/// routes are irregular.
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, routes are not by destination or use several addresses a host, or do not
/// deliver what the hose allows, or `control` stopped it.
pub fn hose_loads(
    fabric: &Fabric,
    routes: &Routes,
    hose: &Hose,
    control: &Control,
) -> Result<LinkLoads, OptimizeError> {
    Crossings::new(fabric, routes, hose, control)?.worst(control)
}

/// Which (leaf, destination) cross each link between switches.
pub(crate) struct Crossings<'a> {
    fabric: &'a Fabric,
    lft: &'a Lft,
    hose: &'a Hose,
    /// By switch: what its hosts send.
    own: Vec<Sending>,
    /// Leaves that send.
    senders: Vec<SwitchId>,
    /// Hosts that receive, with their addresses.
    receivers: Vec<(HostId, DestId)>,
    steps: Steps<'a>,
    /// By link between switches.
    links: Arc<[Crossing]>,
}

/// A set of leaves that send.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    /// The sum of random bits of its leaves.
    leaves: u128,
    count: u64,
    /// Bytes that its hosts send at most.
    bytes: f64,
    /// The least of them.
    one: SwitchId,
}

impl Sending {
    fn add(&mut self, other: Self) {
        self.one = if self.count == 0 { other.one } else { self.one.min(other.one) };
        self.leaves = self.leaves.wrapping_add(other.leaves);
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// What crosses one link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
    /// From whom to the first destination.
    from: Sending,
    /// The first destination.
    to: HostId,
    /// Bytes that all destinations receive at most.
    received: f64,
    pairs: u64,
    /// Not to all of them from the same.
    mixed: bool,
}

impl Crossing {
    fn add(&mut self, other: Self) {
        if self.pairs == 0 {
            *self = other;
        } else if other.pairs > 0 {
            self.mixed |= other.mixed || self.from.leaves != other.from.leaves;
            self.received += other.received;
            self.pairs += other.pairs;
        }
    }
}

/// A pair of leaf and destination that crosses a link.
type Pair = (SwitchId, HostId);

impl<'a> Crossings<'a> {
    /// Walks to every host that may receive.
    ///
    /// # Errors
    /// As [`hose_loads`].
    pub fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        hose: &'a Hose,
        control: &Control,
    ) -> Result<Self, OptimizeError> {
        let mut all = Self::known(fabric, routes, hose, Arc::new([]))?;
        all.links = all.walked(control)?;
        Ok(all)
    }

    /// The same of routes whose [`links`](Self::links) are known.
    ///
    /// # Errors
    /// [`OptimizeError`] of shapes only.
    pub fn known(
        fabric: &'a Fabric,
        routes: &'a Routes,
        hose: &'a Hose,
        links: Arc<[Crossing]>,
    ) -> Result<Self, OptimizeError> {
        check_hose(fabric, hose)?;
        let lft = crate::afar::check_shapes(fabric, &Csr::empty(fabric.host_count()), routes)?;
        if !routes.one_address() {
            return Err(OptimizeError::NotByDestination);
        }
        let own: Vec<Sending> = fabric
            .switches()
            .map(|one| {
                let bytes: f64 = fabric.hosts_on(one).iter().map(|h| hose.sent[h.index()]).sum();
                let bits = |k| u128::from(mixed(2 * u64::from(one.0) + k));
                let leaf = Sending { leaves: bits(1) << 64 | bits(2), count: 1, bytes, one };
                if bytes > 0.0 { leaf } else { Sending::default() }
            })
            .collect();
        let senders = fabric.switches().filter(|s| own[s.index()].count > 0).collect();
        let space = routes.dests(fabric);
        let receivers = fabric.hosts().filter(|h| hose.received[h.index()] > 0.0);
        let receivers: Vec<_> = receivers.map(|h| (h, space.host(h, 0))).collect();
        let steps = Steps::new(fabric, lft, &receivers);
        Ok(Self { fabric, lft, hose, own, senders, receivers, steps, links })
    }

    /// What crosses every link between switches.
    pub fn links(&self) -> Arc<[Crossing]> {
        Arc::clone(&self.links)
    }

    /// The exact worst load of every link.
    ///
    /// # Errors
    /// [`OptimizeError::Stopped`] by the control.
    pub fn worst(&self, control: &Control) -> Result<LinkLoads, OptimizeError> {
        self.worst_by(PAIRS_PER_PASS, control)
    }

    /// The same with so many pairs at a time.
    fn worst_by(&self, at_a_time: u64, control: &Control) -> Result<LinkLoads, OptimizeError> {
        let (fabric, hose) = (self.fabric, self.hose);
        let crossings = &self.links;
        let (sent, received) = (of_others(&hose.sent), of_others(&hose.received));
        let of = |l: usize| -> f64 {
            let link = LinkId(l as u32);
            let bytes = match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
                // Of mixed ones below.
                (Some(_), Some(_)) => crossings[l].from.bytes.min(crossings[l].received),
                // A host sends to all others, or hears from them.
                (None, _) => hose.sent[l].min(received[l]),
                (_, None) => {
                    let h = fabric.link_to(link).index();
                    hose.received[h].min(sent[h])
                }
            };
            bytes / fabric.relative_capacity(link)
        };
        let mut load: Vec<f64> = (0..fabric.link_count()).map(of).collect();
        let mixed: Vec<(LinkId, u64)> = fabric
            .links()
            .map(|l| (l, crossings[l.index()]))
            .filter(|(_, c)| c.mixed)
            .map(|(l, c)| (l, c.pairs))
            .collect();
        let mut rest = &mixed[..];
        while !rest.is_empty() {
            let mut pairs = 0;
            let fits = rest.iter().take_while(|(_, n)| {
                pairs += n;
                pairs <= at_a_time
            });
            let (some, others) = rest.split_at(fits.count().max(1));
            let links: Vec<LinkId> = some.iter().map(|&(l, _)| l).collect();
            let pairs = self.pairs(&links, control)?;
            let flows: Vec<Option<f64>> =
                pairs.par_iter().map(|pairs| control.stopped().is_none().then(|| self.most(pairs))).collect();
            for (link, most) in links.iter().zip(flows) {
                load[link.index()] = most.ok_or(OptimizeError::Stopped)? / fabric.relative_capacity(*link);
            }
            rest = others;
        }
        Ok(LinkLoads { load })
    }

    /// Does `work` on every destination's tree, in stretches: what each gathered, in order.
    fn trees<T: Send>(
        &self,
        control: &Control,
        begin: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, HostId, &InTree) + Sync,
    ) -> Result<Vec<T>, OptimizeError> {
        let size = self.receivers.len().div_ceil(DESTINATION_BLOCKS).max(1);
        let stretch = |receivers: &[(HostId, DestId)]| {
            let (mut tree, mut found) = (InTree::new(&self.steps), begin());
            let mut first = FirstSteps::new(self.senders.len());
            for some in receivers.chunks(FirstSteps::MOST) {
                if control.stopped().is_some() {
                    return Err(OptimizeError::Stopped);
                }
                first.look_up(&self.steps, &self.senders, some);
                for (k, &(to, address)) in some.iter().enumerate() {
                    let first = first.to(k);
                    tree.grow_by(self.fabric.leaf(to), address, &self.senders, |i| first[i])
                        .map_err(|from| self.bad(from, to))?;
                    work(&mut found, to, &tree);
                }
            }
            Ok(found)
        };
        let found: Vec<Result<T, OptimizeError>> = self.receivers.par_chunks(size).map(stretch).collect();
        found.into_iter().collect()
    }

    fn bad(&self, from: SwitchId, to: HostId) -> OptimizeError {
        let (from, to) = (self.fabric.switch_name(from).into(), self.fabric.host_name(to).into());
        OptimizeError::BadStart { from, to }
    }

    fn walked(&self, control: &Control) -> Result<Arc<[Crossing]>, OptimizeError> {
        let links = self.fabric.link_count();
        let begin =
            || (vec![Crossing::default(); links], vec![Sending::default(); self.fabric.switch_count()]);
        let stretches = self.trees(control, begin, |(crossings, through), to, tree| {
            through[tree.root().index()] = Sending::default();
            tree.inwards().for_each(|(s, ..)| through[s.index()] = self.own[s.index()]);
            tree.stubs().iter().for_each(|(leaf, to)| through[to.index()].add(self.own[leaf.index()]));
            for (s, link, next) in tree.inwards() {
                let from = through[s.index()];
                through[next.index()].add(from);
                let received = self.hose.received[to.index()];
                crossings[link.index()].add(Crossing { from, to, received, pairs: from.count, mixed: false });
            }
        })?;
        let mut all = vec![Crossing::default(); links];
        for (stretch, _) in stretches {
            all.iter_mut().zip(stretch).for_each(|(all, one)| all.add(one));
        }
        let stubs: Vec<SwitchId> = self.senders.iter().copied().filter(|&s| self.steps.is_stub(s)).collect();
        let own: Vec<_> = stubs.par_iter().map(|&leaf| self.of_stub(leaf)).collect();
        own.into_iter().flatten().for_each(|(link, crossing)| all[link.index()] = crossing);
        Ok(all.into())
    }

    /// What leaves a stub, by link: that is by its table alone.
    fn of_stub(&self, leaf: SwitchId) -> Vec<(LinkId, Crossing)> {
        let row = self.lft.row(leaf);
        let mut ports = vec![Crossing::default(); usize::from(self.fabric.radix(leaf)) + 1];
        for &(to, address) in self.receivers.iter().filter(|(to, _)| self.fabric.leaf(*to) != leaf) {
            let (from, received) = (self.own[leaf.index()], self.hose.received[to.index()]);
            ports[usize::from(row.port(address))].add(Crossing {
                from,
                to,
                received,
                pairs: 1,
                mixed: false,
            });
        }
        let link = |port| self.fabric.link_at(leaf, port).expect("every way was walked");
        let used = (0..).zip(ports).filter(|(_, crossing)| crossing.pairs > 0);
        used.map(|(port, crossing)| (link(port), crossing)).collect()
    }

    /// The pairs that cross each of some links: by destination, then leaf.
    fn pairs(&self, links: &[LinkId], control: &Control) -> Result<Vec<Vec<Pair>>, OptimizeError> {
        const NONE: u32 = u32::MAX;
        let mut index = vec![NONE; self.fabric.link_count()];
        links.iter().zip(0..).for_each(|(link, k)| index[link.index()] = k);
        let stretches = self.trees(control, Vec::new, |found: &mut Vec<(u32, Pair)>, to, tree| {
            for &from in self.senders.iter().filter(|&&from| from != tree.root()) {
                let wanted = tree.way(from).map(|link| index[link.index()]).filter(|&k| k != NONE);
                found.extend(wanted.map(|k| (k, (from, to))));
            }
        })?;
        let mut count = vec![0; links.len()];
        stretches.iter().flatten().for_each(|(k, _)| count[*k as usize] += 1);
        let mut pairs: Vec<Vec<Pair>> = count.into_iter().map(Vec::with_capacity).collect();
        for (k, pair) in stretches.into_iter().flatten() {
            pairs[k as usize].push(pair);
        }
        Ok(pairs)
    }

    /// The most that can cross a link that these pairs cross. Destinations of the same leaves count as one.
    fn most(&self, pairs: &[Pair]) -> f64 {
        let mut classes: HashMap<Vec<SwitchId>, u32> = HashMap::new();
        let (mut received, mut edges) = (Vec::new(), Vec::new());
        let leaves = leaves_of(pairs);
        for of_one in pairs.chunk_by(|a, b| a.1 == b.1) {
            let bytes = self.hose.received[of_one[0].1.index()];
            let from: Vec<SwitchId> = of_one.iter().map(|&(leaf, _)| leaf).collect();
            let class = received.len() as u32;
            match classes.entry(from) {
                std::collections::hash_map::Entry::Occupied(known) => {
                    received[*known.get() as usize] += bytes
                }
                std::collections::hash_map::Entry::Vacant(new) => {
                    edges.extend(
                        new.key().iter().map(|&leaf| (position(&leaves, leaf, Ord::cmp) as u32, class)),
                    );
                    new.insert(class);
                    received.push(bytes);
                }
            }
        }
        let sent = leaves.iter().map(|s| self.own[s.index()].bytes).collect();
        max_flow(&edges, sent, received).iter().sum()
    }

    /// One matrix within the sums that loads `links` as much as it can, each in turn with what those before it left
    /// over; links that it can no longer load above `floor` are left out (but the first), and those that come after a
    /// stop.
    ///
    /// # Errors
    /// [`OptimizeError::BadStart`] if a way does not lead to its end.
    pub fn matrix(&self, links: &[LinkId], floor: f64, control: &Control) -> Result<Csr, OptimizeError> {
        let fabric = self.fabric;
        let mut sent: Vec<f64> = self.own.iter().map(|own| own.bytes).collect();
        let mut received = self.hose.received.clone();
        let mut left = self.hose.sent.clone();
        let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let mut tree = InTree::new(&self.steps);
        // What leaves still send.
        let mut open: f64 = sent.iter().sum();
        for (k, &link) in links.iter().enumerate() {
            if k > 0 && (open <= 0.0 || control.stopped().is_some()) {
                break;
            }
            let capacity = fabric.relative_capacity(link);
            let least = if k > 0 { floor * capacity } else { 0.0 };
            let flow = self.flow(&mut tree, link, least, &sent, &received)?;
            let load = flow.iter().map(|f| f.2).sum::<f64>() / capacity;
            if load == 0.0 || (k > 0 && load <= floor) {
                continue;
            }
            for (leaf, host, mut amount) in flow {
                open -= amount;
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
        Ok(entries(fabric, &from, &to, &bytes))
    }

    /// The most that can cross a link, by pair, within what leaves still send and hosts still receive; nothing if one of
    /// both sides alone has no more than `least`.
    fn flow(
        &self,
        tree: &mut InTree,
        link: LinkId,
        least: f64,
        sent: &[f64],
        received: &[f64],
    ) -> Result<Vec<(SwitchId, HostId, f64)>, OptimizeError> {
        let crossing = &self.links[link.index()];
        if crossing.pairs == 0 {
            return Ok(Vec::new());
        }
        let mut leaves = vec![crossing.from.one];
        if !crossing.mixed {
            if crossing.from.count > 1 {
                let to = crossing.to;
                let address =
                    self.receivers[position(&self.receivers, (to, DestId(0)), |a, b| a.0.cmp(&b.0))].1;
                leaves = self.leaves_behind(tree, link, to, address)?;
            }
            leaves.retain(|s| sent[s.index()] > 0.0);
            if leaves.iter().map(|s| sent[s.index()]).sum::<f64>() <= least {
                return Ok(Vec::new());
            }
        }
        let (at, port) = (self.fabric.link_from_switch(link), self.fabric.link_port(link));
        let at = at.expect("a link between switches");
        let row = self.lft.row(at);
        // One of the leaves goes by the link to every destination that any of them reaches by it.
        let reached =
            |to: HostId, address| crossing.mixed || self.crosses(crossing.from.one, to, address, link);
        let open = |&&(to, address): &&(HostId, DestId)| {
            row.port(address) == port && received[to.index()] > 0.0 && reached(to, address)
        };
        let beyond: Vec<(HostId, DestId)> = self.receivers.iter().filter(open).copied().collect();
        if beyond.iter().map(|(to, _)| received[to.index()]).sum::<f64>() <= least {
            return Ok(Vec::new());
        }
        if !crossing.mixed {
            return Ok(between_all(&leaves, &beyond, sent, received));
        }
        let mut pairs = Vec::new();
        for (to, address) in beyond {
            let from = self.leaves_behind(tree, link, to, address)?;
            pairs.extend(from.into_iter().filter(|s| sent[s.index()] > 0.0).map(|s| (s, to)));
        }
        let leaves = leaves_of(&pairs);
        let mut hosts: Vec<HostId> = pairs.iter().map(|&(_, to)| to).collect();
        hosts.dedup();
        let edge = |&(leaf, host): &Pair| {
            (position(&leaves, leaf, Ord::cmp) as u32, position(&hosts, host, Ord::cmp) as u32)
        };
        let edges: Vec<(u32, u32)> = pairs.iter().map(edge).collect();
        let give = leaves.iter().map(|s| sent[s.index()]).collect();
        let take = hosts.iter().map(|h| received[h.index()]).collect();
        let flow = max_flow(&edges, give, take);
        Ok(pairs.iter().zip(flow).filter(|(_, f)| *f > 0.0).map(|(&(s, h), f)| (s, h, f)).collect())
    }

    /// The leaves that send to a host over a link, in order.
    fn leaves_behind(
        &self,
        tree: &mut InTree,
        link: LinkId,
        to: HostId,
        address: DestId,
    ) -> Result<Vec<SwitchId>, OptimizeError> {
        let root = self.fabric.leaf(to);
        tree.grow(root, address, &self.senders).map_err(|from| self.bad(from, to))?;
        Ok(self.senders.iter().copied().filter(|&from| tree.way(from).any(|l| l == link)).collect())
    }

    /// Whether the way from a leaf to a host goes over a link.
    fn crosses(&self, from: SwitchId, to: HostId, address: DestId, link: LinkId) -> bool {
        let (mut at, root) = (from, self.fabric.leaf(to));
        while at != root {
            let Some(next) = self.fabric.link_at(at, self.lft.port(at, address)) else { return false };
            if next == link {
                return true;
            }
            let Some(to) = self.fabric.link_to_switch(next) else { return false };
            at = to;
        }
        false
    }
}

/// The most that leaves can send to hosts where all may send to all: in order (the north-west corner rule).
fn between_all(
    leaves: &[SwitchId],
    hosts: &[(HostId, DestId)],
    sent: &[f64],
    received: &[f64],
) -> Vec<(SwitchId, HostId, f64)> {
    let mut flow = Vec::new();
    let mut leaves = leaves.iter();
    let (mut leaf, mut left) = (SwitchId(0), 0.0);
    for &(host, _) in hosts {
        let mut open = received[host.index()];
        while open > 0.0 {
            if left <= 0.0 {
                let Some(&next) = leaves.next() else { return flow };
                (leaf, left) = (next, sent[next.index()]);
            }
            let part = f64::min(open, left);
            flow.push((leaf, host, part));
            (open, left) = (open - part, left - part);
        }
    }
    flow
}

/// The leaves of pairs, in order.
fn leaves_of(pairs: &[Pair]) -> Vec<SwitchId> {
    let mut leaves: Vec<SwitchId> = pairs.iter().map(|&(leaf, _)| leaf).collect();
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}

/// Where in a sorted list one of its members is.
fn position<T>(sorted: &[T], member: T, order: impl Fn(&T, &T) -> Ordering) -> usize {
    sorted.binary_search_by(|other| order(other, &member)).expect("a member of the list")
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

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::StopReason;
    use netloom_model::rng::{below, stream};
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    /// Irregular routes of a tree with three levels, where who sends differs from destination to destination, and regular ones.
    #[test]
    fn loads_are_the_same_however_many_pairs_are_written_down_at_a_time() {
        let fabric = generate("fattree:pods=3,leaves=3,hosts=3,spines=2,groups=2,cores=2").unwrap();
        let structure = detect(&fabric);
        let random = &mut stream(1, 0);
        let mut draw = || (0..fabric.host_count()).map(|_| below(random, 5) as f64).collect();
        let hose = Hose { sent: draw(), received: draw(), hosts_hash: None };
        for engine in [Engine::Random, Engine::Ftree] {
            let control = Control::new();
            let routes = route(engine, &fabric, &structure, &EngineOptions { seed: 5, lmc: 0 }).unwrap();
            let crossings = Crossings::new(&fabric, &routes, &hose, &control).unwrap();
            let many =
                |mixed| crossings.links.iter().filter(|c| c.mixed == mixed && c.from.count > 1).count() > 10;
            assert!(many(engine == Engine::Random), "{engine:?}");
            let worst = crossings.worst(&control).unwrap();
            for at_a_time in [1, 40, 200] {
                assert_eq!(crossings.worst_by(at_a_time, &control).unwrap(), worst);
            }
            // What one matrix reaches on a link alone is that link's worst.
            for link in fabric.links().filter(|&l| fabric.between_switches(l)) {
                let alone = crossings.matrix(&[link], 0.0, &control).unwrap();
                let load = netloom_routing::loads(&fabric, &routes, &alone).unwrap().load[link.index()];
                assert!((load - worst.load[link.index()]).abs() < 1e-9, "{link:?}");
            }
            control.stop(StopReason::TimeLimit);
            let stopped = Crossings::new(&fabric, &routes, &hose, &control);
            assert_eq!(stopped.err(), Some(OptimizeError::Stopped));
        }
    }

    #[test]
    fn beside_a_sum_that_is_no_limit_the_others_count() {
        assert_eq!(of_others(&[1.0, 1e20, 2.0]), [1e20, 3.0, 1e20]);
    }
}
