//! The adaptive-routing bound: the least maximum load over all fractional admissible splits.
//!
//! The linear program of eqs. 3.3.1-3.3.2 (Taffet, dissertation, sec. 3.3.2, without the SOS1 sets 3.3.3),
//! host links included. On a regular tree even splits fill every cut evenly, so the best cut is the answer
//! (sec. 3.5.4: "it can also be computed directly"); elsewhere it is a certified interval, closed where even
//! splits or the iterations of `flow` meet the lower bound.

use netloom_model::{Certificate, Control, Csr, Fabric, HostId, LinkId, Reason, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::cuts;
use crate::demand::Demand;
use crate::flow;
use crate::interval::{ArBound, BoundError};

/// The adaptive-routing bound of `traffic` (host by host, bytes).
///
/// `work`: the most iterations where there is no closed form (`None`: [`DEFAULT_WORK`](crate::DEFAULT_WORK)).
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
    let cut = cuts::best(fabric, structure, &demand).of(paths.ways());
    Ok(flow::solve(fabric, paths, &demand, cut, control, work))
}

pub(crate) fn ar_of(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    demand: &Demand,
    control: &Control,
    work: Option<u64>,
) -> Result<ArBound, BoundError> {
    let cut = cuts::best(fabric, structure, demand).of(paths.ways());
    // On a regular tree even splits fill every cut of leaves and pods evenly: a leaf's traffic spreads over its
    // links and so over the spines, each spine's over its cores; a core group carries its share of spines and hands
    // every spine of the other pod an equal part, and each hands down what is for a leaf.
    if structure.tree().is_some() && demand.frozen.is_empty() {
        return Ok(ArBound { lower: cut.claim, upper: cut.claim, exact: true, certificate: cut, work: 0 });
    }
    reachable(fabric, paths, demand)?;
    let mut found = flow::solve(fabric, paths, demand, cut, control, work);
    name(fabric, &mut found.certificate);
    Ok(found)
}

/// Names a dual that has no name yet.
pub(crate) fn name(fabric: &Fabric, certificate: &mut Certificate) {
    if let (true, Reason::Dual { weights }) = (certificate.place.is_empty(), &certificate.reason) {
        certificate.place = around(fabric, weights);
    }
}

/// Where most of the weights are, for people: the switch whose links, to it and from it, carry the largest part.
fn around(fabric: &Fabric, weights: &[(LinkId, f64)]) -> String {
    let mut mass = vec![0.0; fabric.switch_count()];
    for &(l, w) in weights {
        for s in [fabric.link_from_switch(l), fabric.link_to_switch(l)].into_iter().flatten() {
            mass[s.index()] += w * fabric.relative_capacity(l);
        }
    }
    let first = |a: &SwitchId, b: &SwitchId| mass[a.index()].total_cmp(&mass[b.index()]).then(b.cmp(a));
    let switch = fabric.switches().max_by(first);
    let name = switch.map_or_else(String::new, |s| format!(" around {}", fabric.switch_name(s)));
    format!("links{name} (linear programming)")
}

pub(crate) fn check(fabric: &Fabric, traffic: &Csr) -> Result<(), BoundError> {
    if traffic.size() == fabric.host_count() {
        return Ok(());
    }
    Err(BoundError::Size { endpoints: traffic.size(), hosts: fabric.host_count() })
}

pub(crate) fn reachable(fabric: &Fabric, paths: &PathSet, demand: &Demand) -> Result<(), BoundError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{three_level, two_level};
    use netloom_model::{Traffic, rng};
    use netloom_topology::detect;

    #[test]
    fn weights_of_many_links_are_named_after_the_switch_in_their_middle() {
        let (f, _) = two_level(2, 2, 2, 1);
        // Both links of leaf 0 up, and one of two into leaf 1: leaf 0 has the most.
        let up = |leaf: SwitchId| f.switch_links(leaf).filter(|&l| f.between_switches(l)).collect::<Vec<_>>();
        let (a, b) = (up(f.leaf(HostId(0))), up(f.leaf(HostId(2))));
        let weights = [(a[0], 1.0), (a[1], 1.0), (f.reverse(b[0]), 0.5)];
        assert_eq!(around(&f, &weights), "links around leaf0 (linear programming)");
    }

    fn random_traffic(fabric: &Fabric, entries: usize, seed: u64) -> Csr {
        let mut stream = rng::stream(seed, 0);
        let n = fabric.host_count() as u64;
        let mut draw = |most| (0..entries).map(|_| rng::below(&mut stream, most)).collect::<Vec<_>>();
        let (from, to) = (draw(n), draw(n));
        let bytes: Vec<f64> = draw(100).into_iter().map(|b| b as f64).collect();
        Traffic::from_triples(n as u32, &from, &to, &bytes, None).unwrap().total().into_owned()
    }

    fn interval(fabric: &Fabric, structure: &Structure, traffic: &Csr) -> ArBound {
        let paths = PathSet::admissible(fabric, structure);
        ar_interval(fabric, structure, &paths, traffic, &Control::new(), None).unwrap()
    }

    #[test]
    fn one_leaf_with_two_links_carries_half_on_each() {
        let (f, s) = two_level(2, 4, 2, 1);
        // Four hosts each send 3 to the other leaf: 12 bytes on 2 links, 6 each; host links carry 3.
        let t = Traffic::from_triples(8, &[0, 1, 2, 3], &[4, 5, 6, 7], &[3.0; 4], None).unwrap();
        let paths = PathSet::admissible(&f, &s);
        let ar = ar_bound(&f, &s, &paths, &t.total(), &Control::new(), None).unwrap();
        assert_eq!((ar.lower, ar.upper, ar.exact, ar.work), (6.0, 6.0, true, 0));
        assert_eq!(ar.certificate.place, "leaf0 up");
        // All to one host: its own link is the bottleneck.
        let t = Traffic::from_triples(8, &[0, 1, 2, 3], &[4; 4], &[3.0; 4], None).unwrap();
        let ar = ar_bound(&f, &s, &paths, &t.total(), &Control::new(), None).unwrap();
        assert_eq!((ar.lower, ar.certificate.place.as_str()), (12.0, "host4 down"));
    }

    #[test]
    fn closed_form_and_iterations_agree_on_regular_trees() {
        let fabrics = [
            two_level(4, 3, 2, 2),
            two_level(3, 4, 3, 1),
            three_level(3, 3, 4, 2, 2, 2),
            three_level(2, 2, 6, 1, 3, 1),
        ];
        for (seed, (f, s)) in (0..).zip(fabrics) {
            assert!(s.tree().is_some(), "{:?}", s.irregular);
            let paths = PathSet::admissible(&f, &s);
            let traffic = random_traffic(&f, 40, seed);
            let closed = ar_bound(&f, &s, &paths, &traffic, &Control::new(), None).unwrap();
            let solved = interval(&f, &s, &traffic);
            assert!(closed.exact && closed.work == 0);
            assert!((closed.lower - solved.lower).abs() <= 1e-9 * closed.lower, "{closed:?} {solved:?}");
            assert!(solved.exact, "{solved:?}");
        }
    }

    #[test]
    fn a_missing_cable_shifts_the_split() {
        // Three leaves, two spines; leaf 0 lost its cable to spine 0, so all that comes for it passes spine 1. Leaf 1 sends
        // 6 to each of leaves 0 and 2: to leaf 0 only over spine 1 (6 on its link), so leaf 2's 6 go over spine 0: 6.
        let (f, _) = two_level(3, 2, 2, 1);
        let (leaf0, spine0) =
            (f.leaf(HostId(0)), f.switches().find(|&s| f.switch_name(s) == "spine0").unwrap());
        let cable = f.switch_links(leaf0).find(|&l| f.link_to_switch(l) == Some(spine0)).unwrap();
        let f = f.with_dead([cable]);
        let s = detect(&f);
        // Hosts 2, 3 on leaf 1; 0, 1 on leaf 0; 4, 5 on leaf 2.
        let send = |bytes: [f64; 2]| Traffic::from_triples(6, &[2, 3], &[0, 4], &bytes, None).unwrap();
        let ar = interval(&f, &s, &send([6.0, 6.0]).total());
        assert!(ar.lower == 6.0 && ar.upper <= 6.001, "{ar:?}");
        // With 9 to leaf 0 its only link is the bottleneck, whatever leaf 2's 3 do.
        let ar = interval(&f, &s, &send([9.0, 3.0]).total());
        assert!(ar.lower == 9.0 && ar.upper <= 9.001, "{ar:?}");
    }

    #[test]
    fn damaged_fabrics_give_narrow_intervals() {
        let mut work = 0;
        for seed in 0..6 {
            // Two hosts a link up: the network, not the host links, is the bottleneck.
            let (f, _) = three_level(3, 4, 8, 2, 2, 2);
            let mut stream = rng::stream(seed, 9);
            let cables: Vec<LinkId> = f.links().filter(|&l| f.between_switches(l)).collect();
            let f =
                f.with_dead((0..5).map(|_| cables[rng::below(&mut stream, cables.len() as u64) as usize]));
            let s = detect(&f);
            let ar = interval(&f, &s, &random_traffic(&f, 600, seed));
            assert!(ar.upper <= ar.lower * 1.001, "seed {seed}: {} {} {}", ar.lower, ar.upper, ar.work);
            work += ar.work;
        }
        assert!(work > 0, "the iterations were needed");
    }

    #[test]
    fn traffic_without_a_path_is_an_error_that_names_it() {
        let (f, _) = two_level(2, 2, 1, 1);
        let cable = f.switch_links(f.leaf(HostId(0))).find(|&l| f.link_to_switch(l).is_some()).unwrap();
        let f = f.with_dead([cable]);
        let s = detect(&f);
        let t = Traffic::from_triples(4, &[0], &[2], &[1.0], None).unwrap();
        let paths = PathSet::admissible(&f, &s);
        let error = ar_bound(&f, &s, &paths, &t.total(), &Control::new(), None).unwrap_err();
        assert_eq!(error, BoundError::Unreachable { from: "host0".into(), to: "host2".into() });
    }
}
