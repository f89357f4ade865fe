//! Certificates: what `bounds` issues is accepted; every sort of forgery is refused.

use netloom_bounds::{ar_interval, links_at_max, lower_bound, lower_bound_with_frozen};
use netloom_model::{
    BoundClass, Certificate, Control, Csr, End, Fabric, FabricBuilder, HostId, HostSpec, Item, LinkId,
    Reason, StopReason, SwitchSpec, Traffic, Ways, rng,
};
use netloom_routing::PathSet;
use netloom_testkit::cases::wired;
use netloom_testkit::{any_fabric, broken_fabric, random_matrix};
use netloom_topology::{Structure, detect, generate};
use netloom_verify::{verify_certificate, verify_links_at_max};

use crate::tables::sound;

/// Two leaves of four hosts, two spines.
fn fabric() -> (Fabric, Structure) {
    let fabric = generate("two-level:leaves=2,hosts=4,spines=2").unwrap();
    let structure = detect(&fabric);
    (fabric, structure)
}

/// Hosts 0.. of leaf 0 send these bytes to hosts 4.. of leaf 1.
fn across(bytes: &[f64]) -> Csr {
    let from: Vec<u64> = (0..bytes.len() as u64).collect();
    let to: Vec<u64> = from.iter().map(|h| h + 4).collect();
    Traffic::from_triples(8, &from, &to, bytes, None).unwrap().total().into_owned()
}

fn up_links(f: &Fabric) -> Vec<LinkId> {
    f.switch_links(f.leaf(HostId(0))).filter(|&l| f.between_switches(l)).collect()
}

fn item(f: &Fabric, to: u32) -> Item {
    Item { leaf: f.leaf(HostId(0)), destination: HostId(to) }
}

fn certificate(claim: f64, reason: Reason) -> Certificate {
    Certificate::new(claim, "here".into(), reason)
}

/// The first reason for refusal; `None` if accepted.
fn refused(f: &Fabric, s: &Structure, t: &Csr, c: &Certificate) -> Option<String> {
    let verdict = verify_certificate(f, s, None, t, c);
    assert_eq!(verdict.ok, verdict.reasons.is_empty());
    verdict.reasons.into_iter().next()
}

#[test]
fn issued_certificates_are_accepted_on_any_fabric() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..120 {
        let f = if seed % 2 == 0 { any_fabric(seed) } else { broken_fabric(seed) };
        let s = detect(&f);
        let paths = PathSet::admissible(&f, &s);
        // Few large items as well, where packing matters.
        let t = if seed % 3 == 0 {
            let mut stream = rng::stream(seed, 1);
            let n = f.host_count() as u64;
            let mut draw = |most, k| (0..k).map(|_| rng::below(&mut stream, most)).collect::<Vec<u64>>();
            let count = 3 * n as usize;
            let (from, to, bytes) = (draw(n, count), draw(n, count), draw(9, count));
            let bytes: Vec<f64> = bytes.into_iter().map(|b| (b + 1) as f64).collect();
            Traffic::from_triples(n as u32, &from, &to, &bytes, None).unwrap().total().into_owned()
        } else {
            random_matrix(&f, seed)
        };
        let c = lower_bound(&f, &s, &paths, &t, &Control::new());
        assert_eq!(refused(&f, &s, &t, &c), None, "seed {seed}: {c:?}");
        kinds.insert(c.reason.kind());
        if let Ok(ar) = ar_interval(&f, &s, &paths, &t, &Control::new(), Some(50)) {
            assert_eq!(refused(&f, &s, &t, &ar.certificate), None, "seed {seed}");
            assert!(c.claim >= ar.lower * (1.0 - 1e-3), "seed {seed}");
        }
        if s.pairs_without_route == 0 && seed % 2 == 0 {
            let routes = sound(&f, &s, 0);
            let frozen: Vec<bool> = f.hosts().map(|h| h.0 % 3 == seed as u32 % 3).collect();
            let work = Some(50);
            let cold = lower_bound_with_frozen(&f, &s, &paths, &t, &routes, &frozen, &Control::new(), work);
            let cold = cold.unwrap();
            let verdict = verify_certificate(&f, &s, Some(&routes), &t, &cold);
            assert!(verdict.ok, "seed {seed}: {verdict:?} {cold:?}");
            assert!(cold.claim >= c.claim * (1.0 - 1e-2), "seed {seed}: {} {}", cold.claim, c.claim);
        }
        // A tenth more is a lie that no argument carries.
        let lie = Certificate { claim: c.claim * 1.1, ..c };
        assert!(lie.claim == 0.0 || refused(&f, &s, &t, &lie).is_some(), "seed {seed}: {lie:?}");
    }
    assert!(kinds.len() >= 3, "{kinds:?}");
}

#[test]
fn a_verdict_on_routes_compares_loads_with_the_claim() {
    let (f, s) = fabric();
    let t = across(&[4.0, 4.0, 4.0, 4.0]);
    let r = sound(&f, &s, 0);
    // 16 bytes over 2 links: 8 each, and destinations 4..8 take the spines in turn.
    let c = certificate(8.0, Reason::Dual { weights: up_links(&f).into_iter().map(|l| (l, 1.0)).collect() });
    let v = verify_certificate(&f, &s, Some(&r), &t, &c);
    assert!(v.ok && v.optimal && v.max_load == Some(8.0) && v.recomputed_bound == 8.0, "{v:?}");
    // Three destinations: 8 and 4 against a bound of 6 by cut, 8 by pigeonhole.
    let t = across(&[4.0, 4.0, 4.0]);
    let c = certificate(6.0, c.reason);
    let v = verify_certificate(&f, &s, Some(&r), &t, &c);
    assert!(v.ok && !v.optimal && v.max_load == Some(8.0), "{v:?}");
    let items = (4..7).map(|h| item(&f, h)).collect();
    let pigeons = Reason::Pigeonhole { links: up_links(&f), items };
    let v = verify_certificate(&f, &s, Some(&r), &t, &certificate(8.0, pigeons.clone()));
    assert!(v.ok && v.optimal, "{v:?}");
    // Routes that do not deliver are refused whatever the bound.
    let dead = f.with_dead([up_links(&f)[0]]);
    let v = verify_certificate(
        &dead,
        &detect(&dead),
        Some(&r),
        &t,
        &certificate(0.0, Reason::Dual { weights: vec![] }),
    );
    assert!(!v.ok && v.reasons[0].contains("does not arrive"), "{v:?}");
    // By source or several addresses a host, items need not stay whole.
    let mut spread = sound(&f, &s, 1);
    spread.path = netloom_model::PathChoice::SourceMod;
    let v = verify_certificate(&f, &s, Some(&spread), &t, &certificate(8.0, pigeons));
    assert!(v.ok && !v.optimal && v.reasons[0].contains("one address a host"), "{v:?}");
}

#[test]
fn frozen_destinations_go_as_the_given_routes_say() {
    let (f, s) = fabric();
    let t = across(&[4.0, 4.0, 4.0, 4.0]);
    let r = sound(&f, &s, 0);
    // Destinations 4 and 6 share a link: with both frozen it carries 8 already; alone, none of that is proved.
    let dual = |weights: Vec<(LinkId, f64)>| Reason::Dual { weights };
    let lft = r.lft().unwrap();
    let out = f.link_at(f.leaf(HostId(0)), lft.get(f.leaf(HostId(0)), netloom_model::DestId(4)).unwrap());
    let frozen = |hosts: &[u32], claim| Certificate {
        frozen: hosts.iter().map(|&h| HostId(h)).collect(),
        ..certificate(claim, dual(vec![(out.unwrap(), 1.0)]))
    };
    let judge = |routes, c: &Certificate| verify_certificate(&f, &s, routes, &t, c);
    let v = judge(Some(&r), &frozen(&[4, 6], 8.0));
    assert!(v.ok && v.optimal && v.recomputed_bound == 8.0, "{v:?}");
    assert!(judge(Some(&r), &frozen(&[4, 5], 8.0)).reasons[0].contains("gives 4"));
    assert!(judge(Some(&r), &frozen(&[], 8.0)).reasons[0].contains("gives 0"));
    assert!(judge(None, &frozen(&[4, 6], 8.0)).reasons[0].contains("expected routes"));
    assert!(judge(Some(&r), &frozen(&[4, 99], 8.0)).reasons[0].contains("99 is not there"));
    // Routes that put them on two links prove less.
    let mut other = r.clone();
    let netloom_model::Table::ByDest(lft) = &mut other.table else { unreachable!() };
    let (leaf, five) = (f.leaf(HostId(0)), netloom_model::DestId(5));
    let port = lft.get(leaf, five);
    lft.set(leaf, netloom_model::DestId(4), port);
    let v = judge(Some(&other), &frozen(&[4, 6], 8.0));
    assert!(!v.ok && v.reasons[0].contains("gives 4"), "{v:?}");
}

#[test]
fn forged_duals_are_refused() {
    let (f, s) = fabric();
    let t = across(&[4.0; 4]);
    let links = up_links(&f);
    let dual =
        |claim, weights: &[(LinkId, f64)]| certificate(claim, Reason::Dual { weights: weights.to_vec() });
    let honest = [(links[0], 1.0), (links[1], 1.0)];
    assert_eq!(refused(&f, &s, &t, &dual(8.0, &honest)), None);
    assert!(refused(&f, &s, &t, &dual(8.1, &honest)).unwrap().contains("less than the claim"));
    assert!(refused(&f, &s, &t, &dual(8.0, &honest[..1])).unwrap().contains("gives 0"));
    assert!(refused(&f, &s, &t, &dual(8.0, &[honest[0], (links[1], -0.5)])).unwrap().contains("weight -0.5"));
    assert!(refused(&f, &s, &t, &dual(8.0, &[honest[0], (links[1], f64::NAN)])).unwrap().contains("NaN"));
    assert!(refused(&f, &s, &t, &dual(8.0, &[honest[0], honest[0]])).unwrap().contains("two weights"));
    assert!(refused(&f, &s, &t, &dual(8.0, &[(LinkId(9999), 1.0)])).unwrap().contains("not there"));
    assert!(refused(&f, &s, &t, &dual(f64::NAN, &honest)).unwrap().contains("not a number"));
    assert!(refused(&f, &s, &t, &dual(f64::INFINITY, &honest)).unwrap().contains("not a number"));
    assert!(refused(&f, &s, &t, &dual(1.0, &[])).is_some());
    assert_eq!(refused(&f, &s, &t, &dual(0.0, &[])), None);
    let dead = f.with_dead([links[1]]);
    assert!(refused(&dead, &detect(&dead), &t, &dual(8.0, &honest)).unwrap().contains("dead"));
    let small = Csr::empty(3);
    assert!(refused(&f, &s, &small, &dual(0.0, &[])).unwrap().contains("3 endpoints"));
}

/// Two leaves of two hosts, one spine; the links between switches have a tenth of the host links' speed.
fn two_speeds() -> (Fabric, Structure) {
    let mut b = FabricBuilder::new();
    let spine = b.switch(SwitchSpec::new("spine", 0x30, 4));
    for i in 0..2u64 {
        let leaf = b.switch(SwitchSpec::new(format!("leaf{i}"), 0x10 + i, 4));
        for h in 0..2u64 {
            let host = b.host(HostSpec::new(format!("node{}", 2 * i + h), 0x100 + 16 * (2 * i + h)));
            b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 1e9);
        }
        b.cable(End::Switch(leaf, 3), End::Switch(spine, 1 + i as u16), 1e8);
    }
    let fabric = b.build().unwrap();
    let structure = detect(&fabric);
    (fabric, structure)
}

#[test]
fn weights_that_overflow_or_vanish_prove_nothing() {
    let (f, s) = fabric();
    let t = across(&[4.0; 4]);
    let links = up_links(&f);
    let host = f.host_link(HostId(0));
    let dual =
        |claim, weights: &[(LinkId, f64)]| certificate(claim, Reason::Dual { weights: weights.to_vec() });
    // 4 bytes on the host link, whatever its weight: 1e308 must not become infinity.
    assert!(refused(&f, &s, &t, &dual(1e9, &[(host, 1e308)])).unwrap().contains("less than the claim"));
    assert_eq!(refused(&f, &s, &t, &dual(4.0, &[(host, 1e308)])), None);
    assert_eq!(refused(&f, &s, &t, &dual(8.0, &[(links[0], 1e308), (links[1], 1e308)])), None);
    assert_eq!(refused(&f, &s, &t, &dual(8.0, &[(links[0], 1e-300), (links[1], 1e-300)])), None);
    for lost in [5e-324, 1e-310, f64::INFINITY, -f64::INFINITY, -1e-300] {
        let why = refused(&f, &s, &t, &dual(4.0, &[(host, lost)])).unwrap();
        assert!(why.contains("is not one"), "{lost}: {why}");
    }
    let apart = dual(4.0, &[(host, 1.0), (links[0], 1e-200)]);
    assert!(refused(&f, &s, &t, &apart).unwrap().contains("too small beside the largest"));

    // 5e-324 times a tenth vanishes, so the slow links would weigh nothing: 3 bytes pass host 0, 3 / 0.1 = 30 the leaf.
    let (f, s) = two_speeds();
    let t = Traffic::from_triples(4, &[0], &[2], &[3.0], None).unwrap().total().into_owned();
    let host = f.host_link(HostId(0));
    let leaf = f.switch_links(f.leaf(HostId(0))).find(|&l| f.between_switches(l)).unwrap();
    assert_eq!(f.relative_capacity(leaf), 0.1);
    let both = |w: f64, claim| dual(claim, &[(host, w), (leaf, w)]);
    // Honest: (3 + 3) / (1 + 0.1).
    assert_eq!(refused(&f, &s, &t, &both(1.0, 6.0 / 1.1)), None);
    assert!(refused(&f, &s, &t, &both(5e-324, 6.0)).unwrap().contains("is not one"));
    assert!(refused(&f, &s, &t, &both(1e-307, 6.0)).unwrap().contains("less than the claim"));
    assert_eq!(refused(&f, &s, &t, &dual(30.0, &[(leaf, 1e-300)])), None);
}

#[test]
fn no_reason_proves_a_claim_with_infinite_or_vanishing_numbers() {
    let (f, s) = fabric();
    let t = across(&[6.0, 6.0, 3.0, 3.0]);
    let links = up_links(&f);
    let items: Vec<Item> = (4..7).map(|h| item(&f, h)).collect();
    let strange = [f64::NAN, f64::INFINITY, -f64::INFINITY, 5e-324, 1e-310, -1.0, f64::MAX];
    for x in strange {
        let threshold = Reason::DualFeasible { links: links.clone(), threshold: x };
        assert!(refused(&f, &s, &t, &certificate(9.0, threshold)).is_some(), "threshold {x}");
        let grid = Reason::SubsetSum { links: links.clone(), grid: x };
        assert!(refused(&f, &s, &t, &certificate(9.0, grid)).is_some(), "grid {x}");
        let dual = Reason::Dual { weights: vec![(links[0], x)] };
        assert!(refused(&f, &s, &t, &certificate(9.0, dual)).is_some(), "weight {x}");
        // Claims, for every reason.
        for reason in [
            Reason::Dual { weights: links.iter().map(|&l| (l, 1.0)).collect() },
            Reason::Pigeonhole { links: links.clone(), items: items.clone() },
            Reason::DualFeasible { links: links.clone(), threshold: 3.0 },
            Reason::SubsetSum { links: links.clone(), grid: 1.0 },
        ] {
            let kind = reason.kind();
            assert!(refused(&f, &s, &t, &certificate(x, reason)).is_some(), "claim {x}, {kind}");
        }
    }
    // Traffic that overflows makes sums infinite: they prove nothing.
    let huge = Csr::from_parts(
        vec![0, 1, 2, 3, 3, 3, 3, 3, 3],
        vec![4, 5, 6],
        vec![f64::MAX, f64::MAX, f64::MAX],
        None,
    );
    for reason in [
        Reason::Dual { weights: links.iter().map(|&l| (l, 1.0)).collect() },
        Reason::Pigeonhole { links: links.clone(), items },
    ] {
        let why = refused(&f, &s, &huge, &certificate(1e308, reason)).unwrap();
        assert!(why.contains("inf"), "{why}");
    }
}

#[test]
fn forged_pigeonholes_are_refused() {
    let (f, s) = fabric();
    let t = across(&[4.0, 4.0, 4.0]);
    let pigeon = |links: &[LinkId], to: &[u32]| {
        let items = to.iter().map(|&h| item(&f, h)).collect();
        certificate(8.0, Reason::Pigeonhole { links: links.to_vec(), items })
    };
    let links = up_links(&f);
    let why = |c: &Certificate| refused(&f, &s, &t, c);
    assert_eq!(why(&pigeon(&links, &[4, 5, 6])), None);
    assert!(why(&pigeon(&links, &[4, 5])).unwrap().contains("gives 4"));
    assert!(why(&pigeon(&links, &[])).unwrap().contains("gives 0"));
    assert!(why(&pigeon(&links, &[4, 5, 5])).unwrap().contains("twice"));
    // Host 7 receives nothing, host 1 is on the leaf itself.
    assert!(why(&pigeon(&links, &[4, 5, 7])).unwrap().contains("nothing that must cross"));
    assert!(why(&pigeon(&links, &[4, 5, 1])).unwrap().contains("nothing that must cross"));
    assert!(why(&pigeon(&links, &[4, 5, 99])).unwrap().contains("not there"));
    // Fewer links would make a higher bound, but every item has a way around: two items on one link.
    assert!(why(&pigeon(&links[..1], &[4, 5])).unwrap().contains("nothing that must cross"));
    assert!(why(&pigeon(&[], &[4])).unwrap().contains("no links"));
    assert!(why(&pigeon(&[links[0], links[0]], &[4, 5, 6])).unwrap().contains("twice"));
    assert!(why(&pigeon(&[f.host_link(HostId(0))], &[4, 5])).unwrap().contains("not between switches"));
    // More links are honest, but hold more.
    let down: Vec<LinkId> = f.switch_links(f.leaf(HostId(4))).filter(|&l| f.between_switches(l)).collect();
    let more: Vec<LinkId> = links.iter().copied().chain(down.iter().map(|&l| f.reverse(l))).collect();
    assert!(why(&pigeon(&more, &[4, 5, 6])).unwrap().contains("gives 4"));
    // The other leaf's items, at this leaf's links.
    let mut foreign = pigeon(&links, &[4, 5, 6]);
    let Reason::Pigeonhole { items, .. } = &mut foreign.reason else { unreachable!() };
    items[0].leaf = f.leaf(HostId(4));
    assert!(why(&foreign).unwrap().contains("nothing that must cross"));
    let mut greedy = pigeon(&links, &[4, 5, 6]);
    greedy.claim = 8.1;
    assert!(why(&greedy).unwrap().contains("less than the claim"));
}

#[test]
fn forged_dual_feasible_functions_are_refused() {
    let (f, s) = fabric();
    // 6, 6, 3, 3 on two links: {6, 3}, {6, 3}: 9. Below 9, no 3 fits beside a 6 (threshold 3): 2 whole links and 6 bytes.
    let t = across(&[6.0, 6.0, 3.0, 3.0]);
    let links = up_links(&f);
    let why = |claim: f64, threshold: f64, links: &[LinkId]| {
        refused(&f, &s, &t, &certificate(claim, Reason::DualFeasible { links: links.to_vec(), threshold }))
    };
    assert_eq!(why(9.0 * (1.0 - 1e-13), 3.0, &links), None);
    assert!(why(9.1, 3.0, &links).unwrap().contains("no more than the rooms"));
    assert!(why(9.0, 4.6, &links).unwrap().contains("half the largest room"));
    assert!(why(9.0, -1.0, &links).unwrap().contains("half the largest room"));
    assert!(why(9.0, f64::NAN, &links).unwrap().contains("half the largest room"));
    assert!(why(12.0, 3.0, &links[..1]).unwrap().contains("no more than the rooms"));
}

#[test]
fn forged_subset_sums_are_refused() {
    let (f, s) = fabric();
    // 6, 6, 6, 1: 19 bytes on 2 links, mean 9.5; sums of items at or above it: 12.
    let t = across(&[6.0, 6.0, 6.0, 1.0]);
    let links = up_links(&f);
    let why = |claim: f64, grid: f64, links: &[LinkId]| {
        refused(&f, &s, &t, &certificate(claim, Reason::SubsetSum { links: links.to_vec(), grid }))
    };
    assert_eq!(why(12.0, 1.0, &links), None);
    assert_eq!(why(12.0, 0.5, &links), None);
    assert!(why(13.0, 1.0, &links).unwrap().contains("may fit"));
    assert!(why(12.0, 6.0, &links).unwrap().contains("no multiple of 6"));
    assert!(why(12.0, 0.0, &links).unwrap().contains("grid 0"));
    assert!(why(12.0, f64::NAN, &links).unwrap().contains("grid NaN"));
    assert!(why(12.0, 1e-9, &links).unwrap().contains("too many"));
    assert!(why(19.0, 1.0, &links[..1]).unwrap().contains("may fit"));
    // 9, 9, 9, 5 = 32 on 2 links: mean 16; sums 14, 18: at 14 they hold 28 at most, at 18 they are short of 36 by 4: 18 + 14.
    let t = across(&[9.0, 9.0, 9.0, 5.0]);
    let sums = |claim| certificate(claim, Reason::SubsetSum { links: links.clone(), grid: 1.0 });
    assert_eq!(refused(&f, &s, &t, &sums(18.0)), None);
    assert!(refused(&f, &s, &t, &sums(18.1)).unwrap().contains("may fit"));
}

/// Every sum up to 2^22 is there, and the links fall short of two million and more: trying each difference to its end
/// took minutes.
#[test]
fn a_subset_sum_that_takes_long_to_refute_is_refused_soon() {
    let f = generate("two-level:leaves=2,hosts=22,spines=2").unwrap();
    let s = detect(&f);
    let entries: Vec<(u64, u64, f64)> = (0..22).map(|h| (h, 22 + h, (1u32 << h) as f64)).collect();
    let t = netloom_testkit::matrix(44, &entries);
    let links = f.switch_links(f.leaf(HostId(0))).filter(|&l| f.between_switches(l)).collect();
    for claim in [3e6, 4e6] {
        let forged = certificate(claim, Reason::SubsetSum { links: Vec::clone(&links), grid: 1.0 });
        assert!(refused(&f, &s, &t, &forged).is_some(), "{claim}");
    }
}

#[test]
fn weights_are_held_against_all_that_fits() {
    let (f, s) = fabric();
    let links = up_links(&f);
    // 5, 4, 4, 4 on two links: 9. With weight 1 each, below 9 a link holds two of the 4s, so both hold 4 items: not refused.
    // With 2 for the 5: below 9 a link holds {4, 4} or {5}: 2 each, 4 < 5.
    let t = across(&[5.0, 4.0, 4.0, 4.0]);
    let judge = |claim, grid, by_size: &[(f64, u64)]| {
        let reason = Reason::Patterns { links: links.clone(), grid, by_size: by_size.to_vec() };
        refused(&f, &s, &t, &certificate(claim, reason))
    };
    let weights = [(4.0, 1), (5.0, 2)];
    assert_eq!(judge(9.0, 1.0, &weights), None);
    assert_eq!(judge(8.5, 0.5, &weights), None);
    // At 9 they fit; the weights know.
    assert_eq!(
        judge(9.5, 0.5, &weights).unwrap(),
        "below the claim the items weigh 5, no more than the 6 that fit"
    );
    assert_eq!(
        judge(9.0, 1.0, &[(4.0, 1)]).unwrap(),
        "below the claim the items weigh 4, no more than the 4 that fit"
    );
    // A step of 5 rounds a 4 to nothing.
    assert!(judge(9.0, 5.0, &weights).unwrap().contains("fit"));
    assert!(judge(9.0, 1e-9, &weights).unwrap().contains("too many"));
    assert!(judge(9.0, 1.0, &[(5.0, 2), (4.0, 1)]).unwrap().contains("do not rise"));
    assert!(judge(9.0, 1.0, &[(4.0, u64::MAX)]).unwrap().contains("out of range"));
    assert!(judge(9.0, 1.0, &[]).unwrap().contains("weigh 0"));
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        assert!(judge(9.0, wrong, &weights).unwrap().contains("grid"));
        assert!(judge(9.0, 1.0, &[(wrong, 1)]).unwrap().contains("out of range"));
    }
}

#[test]
fn links_that_must_carry_the_maximum_are_counted_again() {
    let (f, s) = fabric();
    let paths = PathSet::admissible(&f, &s);
    // Three flows of 100 and one of 1 from leaf 0 to leaf 1: 200 on one of two links, up and down.
    let t = across(&[100.0, 100.0, 100.0, 1.0]);
    let claim = links_at_max(&f, &s, &paths, &t, None, 200.0, &Control::new()).unwrap();
    assert_eq!((claim.count, claim.sides.len()), (2, 2));
    let judge = |claim: &_| verify_links_at_max(&f, &s, None, &t, claim, &Control::new());
    assert_eq!(judge(&claim), Ok(2));
    // Routes with two links at the maximum agree, whatever else they are.
    let routes = sound(&f, &s, 0);
    assert_eq!(verify_links_at_max(&f, &s, Some(&routes), &t, &claim, &Control::new()), Ok(2));
    // Asked to stop, the judge says nothing.
    let stopped = Control::new();
    stopped.stop(StopReason::Interrupted);
    assert!(verify_links_at_max(&f, &s, None, &t, &claim, &stopped).unwrap_err().contains("stopped"));
    // Nothing must carry 201; then the argument gives nothing.
    assert_eq!(links_at_max(&f, &s, &paths, &t, None, 201.0, &Control::new()).unwrap().count, 0);
    let mut wrong = claim.clone();
    wrong.count = 3;
    assert_eq!(judge(&wrong).unwrap_err(), "the argument gives 2 links, less than the claim 3");
    wrong.sides.push(claim.sides[0].clone());
    assert!(judge(&wrong).unwrap_err().contains("counts for two sides"));
    let wrong = netloom_model::LinksAtMax { maximum: 300.0, level: 300.0, ..claim.clone() };
    assert!(judge(&wrong).is_err());
    let wrong = netloom_model::LinksAtMax { level: f64::NAN, ..claim.clone() };
    assert!(judge(&wrong).unwrap_err().contains("is not between"));
    // At least 150: with no load above 200 the same two.
    assert_eq!(judge(&netloom_model::LinksAtMax { level: 150.0, ..claim }), Ok(2));
}

#[test]
fn issued_counts_are_accepted_with_and_without_frozen_destinations() {
    let mut shown = 0;
    for seed in 0..60 {
        let f = if seed % 2 == 0 { any_fabric(seed) } else { broken_fabric(seed) };
        let s = detect(&f);
        let paths = PathSet::admissible(&f, &s);
        let t = random_matrix(&f, seed);
        let free = lower_bound(&f, &s, &paths, &t, &Control::new()).claim;
        for maximum in [free, free * 1.1, free * 2.0] {
            let claim = links_at_max(&f, &s, &paths, &t, None, maximum, &Control::new()).unwrap();
            let count = verify_links_at_max(&f, &s, None, &t, &claim, &Control::new());
            assert!(count.as_ref().is_ok_and(|&n| n >= claim.count), "seed {seed}: {count:?}, {claim:?}");
            shown += u32::from(claim.count > 0);
        }
        if s.pairs_without_route == 0 && seed % 2 == 0 {
            let routes = sound(&f, &s, 0);
            let flags: Vec<bool> = f.hosts().map(|h| h.0 % 3 == seed as u32 % 3).collect();
            let claim =
                links_at_max(&f, &s, &paths, &t, Some((&routes, &flags)), free * 1.05, &Control::new())
                    .unwrap();
            let count = verify_links_at_max(&f, &s, Some(&routes), &t, &claim, &Control::new());
            assert!(count.as_ref().is_ok_and(|&n| n >= claim.count), "seed {seed}: {count:?}, {claim:?}");
        }
    }
    assert!(shown > 10, "{shown}");
}

/// A square of switches, one host each: between opposite corners there are two shortest ways of two links.
#[test]
fn shortest_ways_are_judged_whatever_their_direction_and_whole_items_round_a_bound_up() {
    let cables = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)];
    let f = wired(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)], &cables);
    let s = detect(&f);
    // Everybody sends 2 B to the corner opposite: 4 items, 8 links, 16 B over links, 2 B a link in equal halves.
    let t = Traffic::from_triples(4, &[0, 1, 2, 3], &[2, 3, 0, 1], &[2.0; 4], None).unwrap();
    let between: Vec<LinkId> = f.links().filter(|&l| f.between_switches(l)).collect();
    let weights: Vec<(LinkId, f64)> = between.iter().map(|&l| (l, 3.0)).collect();
    let judge = |claim, reason, ways| {
        let c = Certificate::new(claim, "the square".into(), reason).of(ways);
        (verify_certificate(&f, &s, None, &t.total(), &c), c.class())
    };
    let dual = Reason::Dual { weights: weights.clone() };
    let (v, class) = judge(2.0, dual.clone(), Ways::Shortest);
    assert!(v.ok && v.recomputed_bound == 2.0, "{v:?}");
    assert_eq!(class, BoundClass::ShortestSplits);
    assert!(!judge(2.1, dual, Ways::Shortest).0.ok);
    // Three of the four send: 12 B on 8 links, 1.5 B a link; whole items of 2 B put 2 B on some link.
    let t = Traffic::from_triples(4, &[0, 1, 2], &[2, 3, 0], &[2.0; 3], None).unwrap();
    let judge = |claim, grid| {
        let reason = Reason::WholeDual { weights: weights.clone(), grid };
        let c = Certificate::new(claim, "the square".into(), reason).of(Ways::Shortest);
        assert_eq!(c.class(), BoundClass::ShortestTables);
        verify_certificate(&f, &s, None, &t.total(), &c)
    };
    assert!(judge(2.0, 2.0).ok, "{:?}", judge(2.0, 2.0).reasons);
    assert!(judge(2.0, 1.0).ok, "and on the finer grid of 1 B: 1 B a link is too little, 2 B is enough");
    assert!(judge(2.1, 2.0).reasons[0].contains("links hold"), "{:?}", judge(2.1, 2.0).reasons);
    assert!(judge(3.0, 3.0).reasons[0].contains("no multiple of 3"));
}
