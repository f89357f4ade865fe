//! Small fabrics for tests.

use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchSpec};
use netloom_topology::{Structure, detect};

/// A two-level tree: `leaves` leaves of `hosts` hosts, each with `cables` cables to each of `spines` spines.
pub(crate) fn two_level(leaves: usize, hosts: usize, spines: usize, cables: usize) -> (Fabric, Structure) {
    let mut b = FabricBuilder::new();
    let radix = (hosts + spines * cables).max(leaves * cables) as u16;
    let tops: Vec<usize> = (0..spines)
        .map(|i| b.switch(SwitchSpec::new(format!("spine{i}"), 0x1000 + i as u64, radix)))
        .collect();
    for i in 0..leaves {
        let leaf = b.switch(SwitchSpec::new(format!("leaf{i}"), 0x100 + i as u64, radix));
        for h in 0..hosts {
            let n = i * hosts + h;
            let host = b.host(HostSpec::new(format!("host{n}"), 0x10_0000 + 4 * n as u64));
            b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 1e9);
        }
        for (s, &top) in tops.iter().enumerate() {
            for c in 0..cables {
                let port = (1 + hosts + s * cables + c) as u16;
                b.cable(End::Switch(leaf, port), End::Switch(top, (1 + i * cables + c) as u16), 1e9);
            }
        }
    }
    let fabric = b.build().expect("a two-level tree is a fabric");
    let structure = detect(&fabric);
    (fabric, structure)
}

/// A three-level tree: `pods` pods of `leaves` leaves with `hosts` hosts and `groups * spines` spines; every spine of
/// group g links to each of the group's `cores` cores.
pub(crate) fn three_level(
    pods: usize,
    leaves: usize,
    hosts: usize,
    groups: usize,
    spines: usize,
    cores: usize,
) -> (Fabric, Structure) {
    let mut b = FabricBuilder::new();
    let mut guid = 0u64;
    let mut next = || {
        guid += 4;
        guid
    };
    let radix = 64;
    let tops: Vec<usize> =
        (0..groups * cores).map(|i| b.switch(SwitchSpec::new(format!("core{i}"), next(), radix))).collect();
    for p in 0..pods {
        let mids: Vec<usize> = (0..groups * spines)
            .map(|i| b.switch(SwitchSpec::new(format!("spine{p}.{i}"), next(), radix)))
            .collect();
        for (i, &mid) in mids.iter().enumerate() {
            for c in 0..cores {
                let top = tops[i / spines * cores + c];
                let port = (1 + p * spines + i % spines) as u16;
                b.cable(End::Switch(mid, (1 + leaves + c) as u16), End::Switch(top, port), 1e9);
            }
        }
        for l in 0..leaves {
            let leaf = b.switch(SwitchSpec::new(format!("leaf{p}.{l}"), next(), radix));
            for h in 0..hosts {
                let host = b.host(HostSpec::new(format!("host{p}.{l}.{h}"), next()));
                b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 1e9);
            }
            for (i, &mid) in mids.iter().enumerate() {
                b.cable(End::Switch(leaf, (1 + hosts + i) as u16), End::Switch(mid, 1 + l as u16), 1e9);
            }
        }
    }
    let fabric = b.build().expect("a three-level tree is a fabric");
    let structure = detect(&fabric);
    (fabric, structure)
}
