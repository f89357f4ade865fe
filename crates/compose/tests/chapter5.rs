//! The shipped experiments of the dissertation's chapter 5 say what they claim.

use netloom_compose::{Routing, Scene};
use netloom_formats::read_scenario;
use netloom_model::{Fabric, HostId};
use netloom_sim::Op;
use netloom_topology::generate;

const NAMES: [&str; 6] = [
    "bisection-shift",
    "bisection-shuffle",
    "cyclic-stencil-large",
    "cyclic-stencil-small",
    "barrier-bully",
    "barrier-bully-modified",
];

fn scene(fabric: &Fabric, name: &str) -> Scene {
    let path = format!("{}/../../examples/ch5/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap();
    let scenario = read_scenario(&bytes, name, &[]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.fabric.as_str()), (name, "quartz1"));
    Scene::new(fabric, scenario, &mut |_, _| unreachable!("they name no files")).unwrap()
}

/// Hosts of the bully on each leaf, and how many of those have their partner there.
fn bully(fabric: &Fabric, scene: &Scene) -> Vec<(u32, u32)> {
    let job = &scene.jobs[1];
    let leaf = |rank: u32| fabric.leaf(job.host_of_rank[rank as usize]).index();
    let mut leaves = vec![(0, 0); fabric.switch_count()];
    for rank in 0..job.host_of_rank.len() as u32 {
        let Some(Op::Irecv { from, .. }) = job.script.op(rank, 0) else { panic!("it begins with a receive") };
        leaves[leaf(rank)].0 += 1;
        leaves[leaf(rank)].1 += u32::from(leaf(from) == leaf(rank));
    }
    leaves
}

#[test]
fn every_experiment_fits_quartz1_and_names_routings_that_there_are() {
    let fabric = generate("quartz1").unwrap();
    for name in NAMES {
        let scene = scene(&fabric, name);
        assert!(scene.scenario.routes.len() >= 2);
        scene.scenario.routes.iter().for_each(|word| drop(Routing::parse(word).unwrap()));
        let hosts: usize = scene.jobs.iter().map(|job| job.hosts.len()).sum();
        assert_eq!(hosts, if name.starts_with("barrier") { 2048 + 1000 } else { 3072 }, "{name}");
    }
}

/// Sec. 5.4.1: two leaves with 17 bully hosts and none with more, and none of those 34 has its partner on its leaf.
/// Sec. 5.4.2: at most 15 on a leaf, and the barrier where it was.
#[test]
fn the_bully_is_placed_as_the_dissertation_found_it() {
    let fabric = generate("quartz1").unwrap();
    let random = scene(&fabric, "barrier-bully");
    let full: Vec<(u32, u32)> =
        bully(&fabric, &random).into_iter().filter(|&(hosts, _)| hosts >= 17).collect();
    assert_eq!(full, [(17, 0), (17, 0)]);
    let modified = scene(&fabric, "barrier-bully-modified");
    assert_eq!(bully(&fabric, &modified).into_iter().map(|(hosts, _)| hosts).max(), Some(15));
    let barrier = |scene: &Scene| -> Vec<HostId> { scene.jobs[0].host_of_rank.clone() };
    assert_eq!(barrier(&modified), barrier(&random));
}
