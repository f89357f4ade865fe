//! The jobs files that ship with the repository, and the dissertation's figures on quartz1.

use std::path::{Path, PathBuf};

use netloom_formats::{read_jobs, read_mtx, read_ti};
use netloom_model::{Cut, Fabric, Phase, Source, Traffic};
use netloom_topology::{detect, generate};
use netloom_traffic::collective::Algorithms;
use netloom_traffic::{Placed, ResolvedJob, pattern, phases, place};

fn jobs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/jobs")
}

/// The traffic of a source; paths are relative to `folder`.
fn traffic_of(source: &Source, folder: &Path) -> Traffic {
    match source {
        Source::Matrix(path) => read_mtx(&std::fs::read(folder.join(path)).unwrap(), path).unwrap(),
        Source::Pattern(spec) => pattern(spec, None).unwrap(),
        Source::Trace { path, cut, collectives } => {
            let run = read_ti(&std::fs::read(folder.join(path)).unwrap(), path).unwrap().workload;
            let algorithms = collectives.as_ref().map(|text| Algorithms::parse(text).unwrap());
            phases(&run, *cut, algorithms.as_ref()).unwrap()
        }
        Source::Adapters => unreachable!("the examples say how many"),
        Source::Ranks(n) => Traffic::from_triples(*n, &[], &[], &[], None).unwrap(),
        Source::Phases(phases) => Traffic::from_phases(
            phases
                .iter()
                .map(|p| Phase {
                    name: p.name.clone(),
                    repeats: p.repeats,
                    ..traffic_of(&p.source, folder).phases()[0].clone()
                })
                .collect(),
        ),
    }
}

fn resolved(file: &str) -> (Vec<ResolvedJob>, u64) {
    let path = jobs_folder().join(file);
    let file = read_jobs(&std::fs::read(&path).unwrap(), file).unwrap();
    let folder = path.parent().unwrap();
    let jobs = file.jobs.into_iter();
    let jobs = jobs
        .map(|spec| ResolvedJob { traffic: traffic_of(&spec.source, folder), spec, rank_hosts: None })
        .collect();
    (jobs, file.seed)
}

fn placed(fabric: &Fabric, file: &str) -> Placed {
    let (jobs, seed) = resolved(file);
    place(fabric, &jobs, seed).unwrap()
}

/// Mean hops over pairs: 2 within a leaf, 4 within a pod, 6 beyond.
fn mean_hops(fabric: &Fabric, traffic: &Traffic) -> f64 {
    let structure = detect(fabric);
    let pod = |host: u32| structure.pod[fabric.leaf(netloom_model::HostId(host)).index()];
    let leaf = |host: u32| fabric.leaf(netloom_model::HostId(host));
    let hops = |i: u32, j: u32| match () {
        () if leaf(i) == leaf(j) => 2.0,
        () if pod(i) == pod(j) => 4.0,
        () => 6.0,
    };
    let total = traffic.total();
    total.iter().map(|(i, j, _)| hops(i, j)).sum::<f64>() / total.entry_count() as f64
}

/// Taffet, dissertation, table 3.1, column "Avg. Hops".
#[test]
fn mean_hops_on_quartz1_are_those_of_table_3_1() {
    let fabric = generate("quartz1").unwrap();
    for (spec, hops) in [
        ("stencil:16x16x12", 3.15),
        ("bisection", 6.0),
        ("bisection-shuffle:seed=1", 6.0),
        ("bisection-shuffle:seed=1,noise=0.05", 6.0),
        ("all-to-all", 5.48),
    ] {
        let found = mean_hops(&fabric, &pattern(spec, Some(3072)).unwrap());
        assert!((found - hops).abs() < 0.005, "{spec}: {found}, expected {hops}");
    }
}

/// Table 3.1: LULESH has 60,816 pairs side by side (6 x 10,136), 364,896 when copies talk (36 x 10,136).
#[test]
fn six_luleshs_have_the_pairs_of_table_3_1() {
    let fabric = generate("quartz1").unwrap();
    let (mut jobs, seed) = resolved("lulesh6.toml");
    let trace = place(&fabric, &jobs, seed).unwrap();
    assert_eq!(trace.traffic.total().entry_count(), 60_816);
    assert_eq!(trace.jobs.len(), 6);
    // Our LULESH is not the paper's trace, but as local: it reports 4.41 hops on its allocation.
    let hops = mean_hops(&fabric, &trace.traffic);
    assert!((3.5..5.2).contains(&hops), "{hops}");
    jobs[0].spec.cross_copies = true;
    let cross = place(&fabric, &jobs, seed).unwrap();
    assert_eq!(cross.traffic.total().entry_count(), 364_896);
    let ratio = cross.traffic.total().total_bytes() / trace.traffic.total().total_bytes();
    assert!((ratio - 6.0).abs() < 1e-12);
    assert!(mean_hops(&fabric, &cross.traffic) > hops);
}

/// The rows of examples/jobs/table/README.md: copies that fill the machine, side by side and talking.
#[test]
fn the_rows_of_the_table_have_their_pairs_and_hops() {
    let fabric = generate("quartz1").unwrap();
    for (name, hosts, copies, pairs, hops, hops_star) in [
        ("lulesh", 3072, 6, 10_136, 3.92, 5.09),
        ("snap", 3024, 18, 620, 2.76, 5.32),
        ("amg", 3000, 24, 13_712, 4.14, 5.47),
        ("hpcg", 3024, 14, 3_880, 3.80, 5.38),
        ("nekbone", 3072, 12, 6_266, 3.83, 5.36),
        ("miniamr", 3072, 6, 16_656, 3.93, 5.15),
    ] {
        let side_by_side = placed(&fabric, &format!("table/{name}.toml"));
        assert_eq!(side_by_side.jobs.iter().map(|j| j.hosts.len()).sum::<usize>(), hosts, "{name}");
        assert_eq!(side_by_side.traffic.total().entry_count(), copies * pairs, "{name}");
        let found = mean_hops(&fabric, &side_by_side.traffic);
        let star = placed(&fabric, &format!("table/{name}-star.toml"));
        assert_eq!(star.jobs, side_by_side.jobs, "{name}: the same hosts");
        assert_eq!(star.traffic.total().entry_count(), copies * copies * pairs, "{name}");
        let found_star = mean_hops(&fabric, &star.traffic);
        assert!((found - hops).abs() < 0.005 && (found_star - hops_star).abs() < 0.005, "{name}");
    }
}

#[test]
fn the_mix_holds_three_applications() {
    let fabric = generate("quartz1").unwrap();
    let mix = placed(&fabric, "mix.toml");
    assert_eq!(mix.jobs.len(), 1 + 3 + 4);
    assert_eq!(mix.jobs.iter().map(|j| j.hosts.len()).sum::<usize>(), 512 + 3 * 512 + 4 * 216);
    assert_eq!(mix.traffic.total().entry_count(), 10_136 + 3 * 16_656 + 4 * 3_880);
    assert_eq!(mix.traffic.hosts_hash(), Some(fabric.hosts_hash()));
    mix.traffic.check_fits(&fabric).unwrap();
}

/// Smith et al., SC18, sec. IV-A: 16 jobs on 1152 nodes, 72 each.
#[test]
fn afars_workload_fills_1152_of_cabs_hosts() {
    let fabric = generate("cab").unwrap();
    let afar = placed(&fabric, "afar16.toml");
    assert_eq!(afar.jobs.len(), 16);
    assert!(afar.jobs.iter().all(|job| job.hosts.len() == 72));
    let mut hosts: Vec<_> = afar.jobs.iter().flat_map(|job| job.hosts.clone()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    assert_eq!(hosts.len(), 1152);
    // bis: host i of 72 talks to host i + 36 only, 16 processes at 1800 messages of 64 KiB.
    let bis = &afar.jobs[0];
    let row = afar.traffic.total().into_owned();
    let (columns, bytes) = row.row(bis.hosts[0].index());
    assert_eq!((columns, bytes), (&[bis.hosts[36].0][..], &[16.0 * 1800.0 * 65536.0][..]));
}

/// Taffet, dissertation, sec. 5.3: six phases, in each of which everybody sends 2 MB to one other.
#[test]
fn the_cyclic_stencil_has_six_phases() {
    let fabric = generate("quartz1").unwrap();
    let stencil = placed(&fabric, "cyclic-stencil.toml").traffic;
    let names: Vec<_> = stencil.phases().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["+x", "-x", "+y", "-y", "+z", "-z"]);
    for phase in stencil.phases() {
        assert_eq!((phase.matrix.entry_count(), phase.repeats), (3072, 1.0));
        assert!(phase.matrix.bytes().iter().all(|&b| b == 2e6));
    }
    // z is 256 apart: everybody's partner is 8 leaves on.
    assert_eq!(stencil.phases()[4].matrix.row(0).0, [256]);
    assert_eq!(stencil.phases()[5].matrix.row(0).0, [3072 - 256]);
}

/// Taffet, dissertation, sec. 5.4.1: two leaves of 17 bully hosts, none more, no pair inside those two leaves, so
/// that 17 flows leave by 16 links: 200 on one of them, and on one of those down, is unavoidable.
#[test]
fn two_leaves_hold_17_hosts_of_the_bully() {
    let fabric = generate("quartz1").unwrap();
    let bully = placed(&fabric, "bully.toml");
    let [barrier, pairs] = &bully.jobs[..] else { panic!("two jobs") };
    assert_eq!((barrier.hosts.len(), pairs.hosts.len()), (2048, 1000));
    let total = bully.traffic.total();
    // quartz1 numbers its hosts leaf after leaf, 32 each.
    let leaf = |host: u32| host as usize / 32;
    assert!(fabric.hosts().all(|h| fabric.leaf(h) == fabric.leaf(netloom_model::HostId(h.0 / 32 * 32))));
    let (mut hosts, mut inside, mut out) = ([0; 96], [0; 96], [0.0; 96]);
    pairs.hosts.iter().for_each(|h| hosts[leaf(h.0)] += 1);
    for (i, j, bytes) in total.iter() {
        let (from, to) = (leaf(i), leaf(j));
        inside[from] += usize::from(from == to && bytes == 100.0);
        out[from] += if from == to { 0.0 } else { bytes / 16.0 };
    }
    assert_eq!(hosts.iter().max(), Some(&17));
    let full: Vec<usize> = (0..96).filter(|&leaf| hosts[leaf] == 17).collect();
    assert_eq!(full.len(), 2);
    assert!(full.iter().all(|&leaf| inside[leaf] == 0));
    let bound = out.iter().fold(0.0, |a: f64, &b| a.max(b));
    assert_eq!(bound, 112.6875, "1700 of the bully and 103 of the barrier on 16 links; the paper has 112.81");
    assert_eq!(hosts.iter().filter(|&&n| n == 16).count(), 2, "leaves that just fit");
}

/// The matrices were counted from the same runs by other code: the traces agree byte for byte, and however a run is
/// cut its phases, each as often as it repeats, add up to it.
#[test]
fn traces_add_up_to_the_matrices_of_the_same_runs() {
    let phases_of = |t: &Traffic| -> Vec<(f64, f64)> {
        t.phases().iter().map(|p| (p.repeats, p.matrix.total_bytes())).collect()
    };
    // LULESH: its set-up, then `-i 10` and `-i 5` equal time steps.
    for (name, expected) in [
        ("lulesh-64", vec![(1.0, 2_323_008.0), (10.0, 20_158_848.0)]),
        ("lulesh-512", vec![(1.0, 6_876_352.0), (5.0, 57_773_184.0)]),
        ("boxlibmg-64", vec![(1.0, 786_432.0), (1.0, 5_173_248.0), (3.0, 12_288.0), (1.0, 4_915_200.0)]),
    ] {
        let trace = |cut| {
            traffic_of(
                &Source::Trace { path: format!("../data/{name}.ti.gz"), cut, collectives: None },
                &jobs_folder(),
            )
        };
        let matrix = traffic_of(&Source::Matrix(format!("../data/{name}.mtx.gz")), &jobs_folder());
        assert_eq!(trace(Cut::One).total(), matrix.total(), "{name}");
        let cut = trace(Cut::default());
        assert_eq!(cut.total(), matrix.total(), "{name}");
        assert_eq!(phases_of(&cut), expected, "{name}");
    }
    // Nekbone: 639 collectives, of which the iterations of the solver are one phase.
    let nekbone =
        Source::Trace { path: "../data/nekbone-64.ti.gz".into(), cut: Cut::default(), collectives: None };
    let nekbone = phases_of(&traffic_of(&nekbone, &jobs_folder()));
    assert_eq!((nekbone.len(), nekbone[5]), (6, (200.0, 266_688.0)));
}

#[test]
fn the_small_example_fits_32_hosts() {
    let fabric = generate("two-level:leaves=8,hosts=4,spines=4").unwrap();
    let small = placed(&fabric, "small.toml");
    assert_eq!(small.jobs.iter().map(|job| job.hosts.len()).sum::<usize>(), 32);
    // 4x2x2 stencil: 2 * (3*2*2 + 4*1*2 + 4*2*1) pairs; pairs: 8 one-way.
    assert_eq!(small.traffic.total().entry_count(), 56 + 8);
}

/// The counts of examples/data/README.md.
#[test]
fn every_application_matrix_has_its_pairs() {
    for (name, ranks, pairs) in [
        ("lulesh-64", 64, 936),
        ("lulesh-512", 512, 10_136),
        ("snap-168", 168, 620),
        ("hpcg-216", 216, 3_880),
        ("nekbone-256", 256, 6_266),
        ("miniamr-512", 512, 16_656),
        ("cns-512", 512, 13_312),
        ("boxlibmg-64", 64, 384),
        ("amg-125", 125, 13_712),
    ] {
        let t = traffic_of(&Source::Matrix(format!("../data/{name}.mtx.gz")), &jobs_folder());
        assert_eq!((t.endpoints(), t.total().entry_count()), (ranks, pairs), "{name}");
    }
}
