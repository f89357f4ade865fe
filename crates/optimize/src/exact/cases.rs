//! Small fabrics for the tests of the models.

use netloom_model::{Csr, End, Fabric, FabricBuilder, HostSpec, SwitchSpec, Traffic};
use netloom_routing::PathSet;
use netloom_topology::{Structure, detect};

use crate::exact::instance::Instance;

/// `pods` pods of two leaves of two hosts; two spines a pod; two cores, each at every spine (one pod: no cores).
fn tree(pods: usize) -> Fabric {
    let mut b = FabricBuilder::new();
    let cores: Vec<usize> = (0..if pods > 1 { 2 } else { 0 })
        .map(|c| b.switch(SwitchSpec::new(format!("z-core{c}"), 0x100 + c as u64, 8)))
        .collect();
    for p in 0..pods {
        let spines: Vec<usize> = (0..2)
            .map(|i| b.switch(SwitchSpec::new(format!("spine{p}-{i}"), (0x200 + 2 * p + i) as u64, 8)))
            .collect();
        for (i, &spine) in spines.iter().enumerate() {
            for (c, &core) in cores.iter().enumerate() {
                b.cable(End::Switch(spine, 3 + c as u16), End::Switch(core, (1 + 2 * p + i) as u16), 1e9);
            }
        }
        for l in 0..2 {
            let n = 2 * p + l;
            let leaf = b.switch(SwitchSpec::new(format!("leaf{n}"), 0x300 + n as u64, 8));
            for h in 0..2 {
                let name = format!("host{}", 2 * n + h);
                let host = b.host(HostSpec::new(name, (0x1000 + 4 * (2 * n + h)) as u64));
                b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 1e9);
            }
            for (i, &spine) in spines.iter().enumerate() {
                b.cable(End::Switch(leaf, 3 + i as u16), End::Switch(spine, 1 + l as u16), 1e9);
            }
        }
    }
    b.build().expect("a tree is a fabric")
}

/// Eight hosts, four leaves in two pods, two spines a pod, two cores that every spine links to.
pub(crate) fn two_pods() -> Fabric {
    tree(2)
}

/// Four hosts, two leaves, two spines.
pub(crate) fn one_pod() -> Fabric {
    tree(1)
}

/// The instance of traffic triples, with the fabric and its structure.
pub(crate) fn instance(fabric: &Fabric, triples: &[(u32, u32, f64)]) -> ((Fabric, Structure), Instance) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let matrix = matrix(fabric.host_count(), triples);
    let instance = Instance::new(fabric, &paths, &matrix).expect("all hosts are joined");
    ((fabric.clone(), structure), instance)
}

/// A matrix of triples.
pub(crate) fn matrix(hosts: usize, triples: &[(u32, u32, f64)]) -> Csr {
    let from: Vec<u64> = triples.iter().map(|t| t.0.into()).collect();
    let to: Vec<u64> = triples.iter().map(|t| t.1.into()).collect();
    let bytes: Vec<f64> = triples.iter().map(|t| t.2).collect();
    let traffic = Traffic::from_triples(hosts as u32, &from, &to, &bytes, None);
    traffic.expect("the triples are traffic").total().into_owned()
}
