//! Placing jobs: which host, which rank, and what cannot be.

use netloom_model::{AdapterChoice, Allocation, Fabric, HostId, JobSpec, Mapping, Phase, Source, Traffic};
use netloom_topology::generate;
use netloom_traffic::{PlaceError, Placed, ResolvedJob, pattern, place};
use proptest::prelude::*;

/// 8 leaves of 4 hosts.
fn fabric() -> Fabric {
    generate("two-level:leaves=8,hosts=4,spines=4").unwrap()
}

fn job(spec: &str, allocation: Allocation) -> ResolvedJob {
    ResolvedJob {
        spec: JobSpec {
            name: spec.into(),
            source: Source::Pattern(spec.into()),
            allocation,
            mapping: Mapping::Block,
            adapters: AdapterChoice::default(),
            ranks_per_host: Some(1),
            copies: 1,
            cross_copies: false,
            grid: Vec::new(),
        },
        traffic: pattern(spec, None).unwrap(),
        rank_hosts: None,
    }
}

fn with(mut job: ResolvedJob, change: impl FnOnce(&mut JobSpec)) -> ResolvedJob {
    change(&mut job.spec);
    job
}

fn hosts(fabric: &Fabric, ids: &[u32]) -> Allocation {
    Allocation::Hosts(ids.iter().map(|&h| fabric.host_name(HostId(h)).to_owned()).collect())
}

fn ranks(placed: &Placed, job: usize) -> Vec<u32> {
    placed.jobs[job].placement.host_of_rank.iter().map(|h| h.0).collect()
}

fn entries(placed: &Placed) -> Vec<(u32, u32, f64)> {
    placed.traffic.total().iter().collect()
}

fn refusal(fabric: &Fabric, jobs: &[ResolvedJob]) -> String {
    place(fabric, jobs, 1).unwrap_err().to_string()
}

/// 16 hosts of 32: some leaf of 8 would get more than 2 otherwise; here each gives exactly 2.
#[test]
fn random_hosts_can_be_limited_by_leaf() {
    let f = fabric();
    let allocation = Allocation::RandomAtMost(2);
    let jobs = [job("stencil:5", Allocation::Random), job("stencil:16", allocation.clone())];
    let placed = place(&f, &jobs, 3).unwrap();
    let mut given = [0; 8];
    placed.jobs[1].hosts.iter().for_each(|h| given[h.index() / 4] += 1);
    assert_eq!(given, [2; 8]);
    let message = refusal(&f, &[job("stencil:17", allocation)]);
    assert!(message.contains("needs 17 hosts") && message.contains("at most 2 on a leaf"), "{message}");
}

#[test]
fn contiguous_hosts_carry_the_ranks_in_order() {
    let f = fabric();
    let placed = place(&f, &[job("stencil:4", Allocation::Contiguous(10))], 1).unwrap();
    assert_eq!(ranks(&placed, 0), [10, 11, 12, 13]);
    assert_eq!(entries(&placed)[0], (10, 11, 1.0));
    assert_eq!(placed.traffic.endpoints(), 32);
}

#[test]
fn explicit_hosts_come_first_and_keep_their_order() {
    let f = fabric();
    let jobs = [job("stencil:4", Allocation::Contiguous(0)), job("stencil:3", hosts(&f, &[2, 0, 5]))];
    let placed = place(&f, &jobs, 1).unwrap();
    assert_eq!(ranks(&placed, 1), [2, 0, 5]);
    assert_eq!(ranks(&placed, 0), [1, 3, 4, 6]);
}

#[test]
fn same_host_traffic_stays_home() {
    let f = fabric();
    let two = with(job("stencil:4", Allocation::Contiguous(0)), |s| s.ranks_per_host = Some(2));
    // Ranks 0 1 | 2 3: only 1 <-> 2 crosses.
    assert_eq!(entries(&place(&f, &[two], 1).unwrap()), [(0, 1, 1.0), (1, 0, 1.0)]);
    let all = with(job("all-to-all:ranks=4", Allocation::Contiguous(0)), |s| s.ranks_per_host = Some(2));
    assert_eq!(entries(&place(&f, &[all], 1).unwrap()), [(0, 1, 4.0), (1, 0, 4.0)]);
}

#[test]
fn mappings_put_ranks_where_they_say() {
    let f = fabric();
    let mapped = |ranks_per_host, mapping: Mapping, spec: &str| {
        let job = with(job(spec, Allocation::Contiguous(2)), |s| {
            s.mapping = mapping;
            s.ranks_per_host = Some(ranks_per_host);
        });
        ranks(&place(&f, &[job], 1).unwrap(), 0)
    };
    assert_eq!(mapped(2, Mapping::Block, "stencil:6"), [2, 2, 3, 3, 4, 4]);
    assert_eq!(mapped(2, Mapping::Cyclic, "stencil:6"), [2, 3, 4, 2, 3, 4]);
    // Hosts 2 3 | 4 on two leaves: ranks 0..4 round robin on the first, then the second.
    assert_eq!(mapped(2, Mapping::CyclicInLeaf, "stencil:6"), [2, 3, 2, 3, 4, 4]);
    assert_eq!(mapped(1, Mapping::FillLeaves(vec![1]), "stencil:4"), [4, 5, 2, 3]);
    // A 4x2 grid (0 1 2 3 / 4 5 6 7) in 2x2 tiles.
    assert_eq!(mapped(1, Mapping::Tiled(vec![vec![2, 2]]), "stencil:4x2"), [2, 3, 6, 7, 4, 5, 8, 9]);
    let mut random = mapped(1, Mapping::Random, "stencil:8");
    assert_ne!(random, (2..10).collect::<Vec<_>>());
    random.sort_unstable();
    assert_eq!(random, (2..10).collect::<Vec<_>>());
}

#[test]
fn a_mapping_file_names_a_host_for_every_rank() {
    let f = fabric();
    let mut job =
        with(job("stencil:3", Allocation::Contiguous(0)), |s| s.mapping = Mapping::File("m".into()));
    let name = |h: u32| f.host_name(HostId(h)).to_owned();
    job.rank_hosts = Some(vec![name(2), name(0), name(1)]);
    assert_eq!(ranks(&place(&f, &[job.clone()], 1).unwrap(), 0), [2, 0, 1]);
    job.rank_hosts = Some(vec![name(2), name(0)]);
    assert!(refusal(&f, &[job.clone()]).contains("has 2 names, expected one for each of 3 ranks"));
    job.rank_hosts = Some(vec![name(2), name(2), name(0)]);
    assert!(refusal(&f, &[job.clone()]).contains("rank 1 is one too many"));
    job.rank_hosts = Some(vec![name(2), name(9), name(0)]);
    assert!(refusal(&f, &[job]).contains("which the allocation does not have"));
}

#[test]
fn copies_stand_side_by_side_and_cross_copies_talk() {
    let f = fabric();
    let copies = with(job("stencil:2,axis=+x", Allocation::Contiguous(0)), |s| s.copies = 2);
    let placed = place(&f, std::slice::from_ref(&copies), 1).unwrap();
    assert_eq!(placed.jobs[1].name, "stencil:2,axis=+x.1");
    assert_eq!(entries(&placed), [(0, 1, 1.0), (2, 3, 1.0)]);
    let cross = place(&f, &[with(copies, |s| s.cross_copies = true)], 1).unwrap();
    assert_eq!(entries(&cross), [(0, 1, 1.0), (0, 3, 1.0), (2, 1, 1.0), (2, 3, 1.0)]);
}

#[test]
fn phases_are_aligned_by_index() {
    let f = fabric();
    let mut two = job("stencil:2", Allocation::Contiguous(0));
    let phase =
        |name: &str, spec: &str| Phase::once(name, pattern(spec, Some(2)).unwrap().total().into_owned());
    two.traffic =
        Traffic::from_phases(vec![phase("", "stencil:2,axis=+x"), phase("back", "stencil:2,axis=-x")]);
    let placed = place(&f, &[two, job("stencil:2", Allocation::Contiguous(2))], 1).unwrap();
    let phases: Vec<(String, Vec<_>)> =
        placed.traffic.phases().iter().map(|p| (p.name.clone(), p.matrix.iter().collect())).collect();
    assert_eq!(phases[0], (String::new(), vec![(0, 1, 1.0), (2, 3, 1.0), (3, 2, 1.0)]));
    assert_eq!(phases[1], ("back".into(), vec![(1, 0, 1.0)]));
}

/// Two jobs whose first phases happen 4 times and once: together 4 times, the second job a quarter of its bytes
/// each time, so that the total is what both send.
#[test]
fn phases_that_happen_unequally_often_keep_their_totals() {
    let f = fabric();
    let [mut often, mut once] = [0, 2].map(|start| job("stencil:2,bytes=8", Allocation::Contiguous(start)));
    let whole = pattern("stencil:2,bytes=8", None).unwrap().phases()[0].clone();
    often.traffic =
        Traffic::from_phases(vec![Phase { repeats: 4.0, ..whole.clone() }, Phase { repeats: 3.0, ..whole }]);
    once.spec.name = "once".into();
    let placed = place(&f, &[often, once], 1).unwrap();
    let [first, second] = placed.traffic.phases() else { panic!("two phases") };
    assert_eq!((first.repeats, second.repeats), (4.0, 3.0));
    let sent = |p: &Phase| p.matrix.iter().collect::<Vec<_>>();
    assert_eq!(sent(first), [(0, 1, 8.0), (1, 0, 8.0), (2, 3, 2.0), (3, 2, 2.0)]);
    assert_eq!(sent(second), [(0, 1, 8.0), (1, 0, 8.0)]);
    assert_eq!(entries(&placed), [(0, 1, 56.0), (1, 0, 56.0), (2, 3, 8.0), (3, 2, 8.0)]);
}

#[test]
fn packets_are_kept_where_everybody_has_them() {
    let f = fabric();
    let mut counted = with(job("stencil:4", Allocation::Contiguous(0)), |s| s.ranks_per_host = Some(2));
    counted.traffic = Traffic::from_triples(4, &[0, 1], &[2, 3], &[8.0, 8.0], Some(&[1.0, 2.0])).unwrap();
    let placed = place(&f, &[counted.clone()], 1).unwrap();
    assert_eq!(placed.traffic.total().packets(), Some(&[3.0][..]));
    let mixed = place(&f, &[counted, job("stencil:2", Allocation::Contiguous(4))], 1).unwrap();
    assert_eq!(mixed.traffic.total().packets(), None);
}

#[test]
fn dead_hosts_are_given_to_nobody() {
    let f = fabric();
    let f = f.with_dead([f.host_link(HostId(1))]);
    assert_eq!(ranks(&place(&f, &[job("stencil:3", Allocation::Contiguous(0))], 1).unwrap(), 0), [0, 2, 3]);
    let listed = job("stencil:2", hosts(&f, &[0, 1]));
    assert!(refusal(&f, &[listed]).ends_with("is dead"));
    let all = job("bisection:ranks=32", Allocation::Fragmented);
    assert!(refusal(&f, &[all]).contains("31 of the fabric's 32 are free"));
}

#[test]
fn no_copies_or_no_ranks_a_host_are_refused_whatever_the_allocation() {
    let f = fabric();
    let allocations =
        [hosts(&f, &[0, 1]), Allocation::Contiguous(0), Allocation::Random, Allocation::Fragmented];
    for allocation in allocations {
        let job = job("stencil:2", allocation);
        assert_eq!(
            refusal(&f, &[with(job.clone(), |s| s.copies = 0)]),
            "job \"stencil:2\" has copies = 0: expected at least 1"
        );
        assert_eq!(
            refusal(&f, &[with(job, |s| s.ranks_per_host = Some(0))]),
            "job \"stencil:2\" has ranks_per_host = 0: expected at least 1"
        );
    }
}

#[test]
fn what_cannot_be_placed_is_named() {
    let f = fabric();
    let large = with(job("stencil:20", Allocation::Random), |s| s.copies = 2);
    assert_eq!(
        refusal(&f, &[large]),
        "job \"stencil:20\" needs 40 hosts (2 x 20 ranks, 1 a host), 32 of the fabric's 32 are free"
    );
    let late = refusal(&f, &[job("stencil:20", Allocation::Contiguous(20))]);
    assert!(late.ends_with("12 of the fabric's 32 are free from host 20 on"), "{late}");
    assert!(refusal(&f, &[job("stencil:2", Allocation::Contiguous(32))]).contains("expected one below 32"));

    let overlap = [job("stencil:2", hosts(&f, &[3, 4])), job("stencil:3", hosts(&f, &[4, 5, 6]))];
    let name = f.host_name(HostId(4));
    assert_eq!(
        refusal(&f, &overlap),
        format!(
            "host \"{name}\" is listed by job \"stencil:2\" and by job \"stencil:3\": jobs never share hosts"
        )
    );
    assert!(refusal(&f, &[job("stencil:2", hosts(&f, &[4, 4]))]).contains("twice"));
    let short = refusal(&f, &[job("stencil:3", hosts(&f, &[4, 5]))]);
    assert_eq!(short, "job \"stencil:3\" lists 2 hosts, 1 x 3 ranks at 1 a host need 3");
    let typo = Allocation::Hosts(vec![format!("{name}x"), "b".into()]);
    let message = refusal(&f, &[job("stencil:2", typo)]);
    assert!(message.contains(&format!("no host or machine \"{name}x\", did you mean \"")), "{message}");

    let tiled = |spec: &str, tile: &[u32]| {
        with(job(spec, Allocation::Random), |s| s.mapping = Mapping::Tiled(vec![tile.to_vec()]))
    };
    assert!(refusal(&f, &[tiled("bis:ranks=8", &[2, 2])]).contains("add grid = "));
    assert!(refusal(&f, &[tiled("stencil:4x2", &[2])]).contains("do not cut a grid of 4x2"));
    let leaf =
        with(job("stencil:4", Allocation::Contiguous(0)), |s| s.mapping = Mapping::FillLeaves(vec![1]));
    assert!(refusal(&f, &[leaf]).contains("leaves below 1"));
    let mut nobody = job("stencil:2", Allocation::Random);
    nobody.traffic = Traffic::from_triples(0, &[], &[], &[], None).unwrap();
    assert!(refusal(&f, &[nobody]).contains("has no ranks"));
}

proptest! {
    /// Jobs never share hosts, every rank has a host of its job, no host has too many ranks, and the
    /// same seed gives the same placement.
    #[test]
    fn placements_are_sound(seed: u64, shapes in prop::collection::vec((1u32..9, 1u32..4, 1u32..3, 0..4usize, 0..4usize), 1..4)) {
        let f = fabric();
        let jobs: Vec<ResolvedJob> = shapes.iter().map(|&(ranks, per_host, copies, allocation, mapping)| {
            let allocation = [Allocation::Contiguous(3), Allocation::Random, Allocation::Fragmented, Allocation::Contiguous(0)][allocation].clone();
            let mapping = [Mapping::Block, Mapping::Cyclic, Mapping::CyclicInLeaf, Mapping::Random][mapping].clone();
            with(job(&format!("stencil:{ranks},periodic"), allocation), |s| {
                s.ranks_per_host = Some(per_host);
                s.copies = copies;
                s.mapping = mapping;
            })
        }).collect();
        match place(&f, &jobs, seed) {
            Err(PlaceError::TooFewFree { wanted, free, .. }) => prop_assert!(wanted > free),
            Err(other) => prop_assert!(false, "{other}"),
            Ok(placed) => {
                prop_assert_eq!(&placed, &place(&f, &jobs, seed).unwrap());
                let mut taken = [false; 32];
                let specs = jobs.iter().flat_map(|j| std::iter::repeat_n(&j.spec, j.spec.copies as usize));
                for (job, spec) in placed.jobs.iter().zip(specs) {
                    for host in &job.hosts {
                        prop_assert!(!std::mem::replace(&mut taken[host.index()], true));
                    }
                    for host in &job.hosts {
                        let on = job.placement.host_of_rank.iter().filter(|h| *h == host).count();
                        prop_assert!(on <= spec.ranks_per_host.unwrap_or(1) as usize);
                    }
                    prop_assert!(job.placement.host_of_rank.iter().all(|h| job.hosts.contains(h)));
                }
                prop_assert!(placed.traffic.total().iter().all(|(i, j, _)| i != j));
            }
        }
    }

    /// No text is a reason to panic.
    #[test]
    fn specs_never_panic(spec in "(stencil|stencil27|bis|shift|nn|pairs|random|all-to-all|fft-proxy)?:?[0-9a-zx=,+.:-]{0,24}", n in 0u32..64) {
        if let Ok(t) = pattern(&spec, Some(n)) {
            prop_assert_eq!(t.endpoints(), n);
        }
        let _ = netloom_traffic::pattern_grid(&spec);
    }
}
