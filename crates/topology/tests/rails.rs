//! `rail:` against the counts of NVIDIA's SuperPOD, and by following every adapter's cable.

use std::collections::{HashMap, HashSet};

use netloom_model::{Fabric, SwitchId};
use netloom_topology::{Shape, detect, generate};

/// Switches by level, and cables between two levels.
fn tiers(fabric: &Fabric) -> (Vec<usize>, Vec<usize>) {
    let structure = detect(fabric);
    assert!(matches!(structure.shape, Shape::Tree));
    let mut switches = vec![0; 3];
    fabric.switches().for_each(|s| switches[structure.level[s.index()] as usize] += 1);
    let mut cables = vec![0; 2];
    for link in fabric.links().filter(|&l| fabric.between_switches(l)) {
        let level = |switch: Option<SwitchId>| structure.level[switch.unwrap().index()];
        let (from, to) = (level(fabric.link_from_switch(link)), level(fabric.link_to_switch(link)));
        assert_eq!(from.abs_diff(to), 1);
        if from < to {
            cables[from as usize] += 1;
        }
    }
    (switches, cables)
}

#[test]
fn counts_are_those_of_the_superpod() {
    for (units, switches, cables) in [
        (4, vec![32, 16, 0], vec![1024, 0]),
        (16, vec![128, 128, 64], vec![4096, 4096]),
        (64, vec![512, 512, 256], vec![16_384, 16_384]),
    ] {
        let fabric = generate(&format!("rail:units={units},machines=32,rails=8")).unwrap();
        assert_eq!(fabric.host_count(), units * 32 * 8);
        assert_eq!(tiers(&fabric), (switches, cables), "{units} units");
    }
}

/// Adapter r of a machine is on the leaf of its unit's rail r, and no two units share one.
#[test]
fn every_adapter_is_on_its_rail() {
    for spec in ["rail:units=3,machines=4,rails=2,radix=8", "rail:units=16,machines=32,rails=8"] {
        let fabric = generate(spec).unwrap();
        let mut rail_of: HashMap<SwitchId, usize> = HashMap::new();
        let mut leaf_of: HashMap<(usize, usize), SwitchId> = HashMap::new();
        let machines = if spec.contains("=32") { 32 } else { 4 };
        for host in fabric.hosts() {
            let (machine, adapter) = fabric.host_name(host).split_once(' ').unwrap();
            assert_eq!(fabric.machine(host), machine);
            let machine: usize = machine[1..].parse().unwrap();
            let rail: usize = adapter.strip_prefix("mlx5_").unwrap().parse().unwrap();
            let leaf = fabric.leaf(host);
            assert_eq!(*rail_of.entry(leaf).or_insert(rail), rail);
            assert_eq!(*leaf_of.entry((machine / machines, rail)).or_insert(leaf), leaf);
        }
        let leaves: HashSet<SwitchId> = leaf_of.values().copied().collect();
        assert_eq!(leaves.len(), leaf_of.len());
    }
}

/// As many bytes go up from every switch below the top as can come from below, and no switch has too many ports.
#[test]
fn nothing_is_slimmed() {
    for spec in [
        "rail:units=1,machines=4,rails=4",
        "rail:units=3,machines=4,rails=2,radix=8",
        "rail:units=4,machines=2,rails=8,radix=8",
        "rail:units=2,machines=3,rails=5,radix=6",
        "rail:units=24,machines=16,rails=8",
    ] {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let top = fabric.switches().map(|s| structure.level[s.index()]).max().unwrap();
        for switch in fabric.switches() {
            let mut ways = [fabric.hosts_on(switch).len(), 0];
            let level = structure.level[switch.index()];
            for link in fabric.switch_links(switch).filter(|&l| fabric.between_switches(l)) {
                let other = fabric.link_to_switch(link).unwrap();
                ways[usize::from(structure.level[other.index()] > level)] += 1;
            }
            assert!(level == top || ways[0] == ways[1], "{spec}: {} {ways:?}", fabric.switch_name(switch));
            assert!(usize::from(fabric.radix(switch)) >= ways[0] + ways[1]);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (spec, words) in [
        ("rail:units=1,machines=33,rails=1", "machines: expected at most 32, half of a leaf's 64 ports"),
        ("rail:units=33,machines=32,rails=8", "units: expected a multiple of 32"),
        ("rail:units=320,machines=32,rails=8", "units, rails: expected at most 64 rails of pods"),
        ("rail:units=0,machines=4,rails=1", "units"),
        ("rail:units=4,machines=4", "rails"),
    ] {
        let error = generate(spec).unwrap_err().to_string();
        assert!(error.contains(words), "{spec}: {error}");
    }
}
