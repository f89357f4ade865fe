//! Switches and cables of vendors' tables and papers, and of the fabrics that our own specs make.

use netloom_planning::{Bundles, Design};
use netloom_topology::generate;

use crate::fixtures::{answer, application, request};

/// Leaves, spines and cores of the cheapest tree without taper.
fn full(hosts: u32, radix: u32, levels: &[u32]) -> Vec<u64> {
    let idle = netloom_model::Traffic::from_matrix(netloom_model::Csr::empty(2));
    let request = request(hosts, radix, levels, vec![application("idle", idle)]);
    answer(&request).full.unwrap().counts.switches
}

#[test]
fn a_vendor_s_tables_of_two_levels() {
    // Ports of a switch, hosts a leaf, ports for hosts: leaves, spines.
    let rows = [
        // H100, 1 to 4 units of 256 ports. 12 spines would do for 24 leaves, but 12 does not divide 32.
        (64, 32, 256, [8, 4]),
        (64, 32, 512, [16, 8]),
        (64, 32, 768, [24, 16]),
        (64, 32, 1024, [32, 16]),
        // B200.
        (64, 32, 512, [16, 8]),
        (64, 32, 1024, [32, 16]),
        (64, 32, 2048, [64, 32]),
        // B300.
        (144, 72, 576, [8, 4]),
        (144, 72, 1152, [16, 8]),
        (144, 72, 2304, [32, 18]),
        (144, 72, 4608, [64, 36]),
        (144, 72, 10368, [144, 72]),
    ];
    for (radix, down, hosts, expected) in rows {
        let design = Design::two_level(hosts, radix, down, radix - down, Bundles::Equal).unwrap();
        assert_eq!(design.counts().switches, expected, "{hosts} ports of {radix}-port switches");
        // A full tree has as many cables between leaves and spines as it has hosts.
        assert_eq!(design.counts().cables, [u64::from(hosts); 2]);
    }
}

#[test]
fn a_vendor_s_tables_of_three_levels_are_found_by_the_search() {
    assert_eq!(full(4096, 64, &[3]), [128, 128, 64]);
    assert_eq!(full(8192, 64, &[3]), [256, 256, 128]);
    assert_eq!(full(16384, 64, &[3]), [512, 512, 256]);
}

#[test]
fn small_clusters_take_five_switches_or_three() {
    let full = Design::two_level(48, 36, 18, 18, Bundles::Any).unwrap();
    assert_eq!(full.counts().switches, [3, 2]);
    let tapered = Design::two_level(48, 36, 24, 12, Bundles::Any).unwrap();
    assert_eq!(tapered.counts().switches, [2, 1]);
    assert_eq!(tapered.taper(), [2.0]);
}

#[test]
fn the_largest_full_tree_has_five_quarters_of_k_squared_switches() {
    // Al-Fares, k = 48: k^3 / 4 hosts, 5 k^2 / 4 = 2,880 switches.
    let switches = full(27_648, 48, &[3]);
    assert_eq!(switches, [1152, 1152, 576]);
    assert_eq!(switches.iter().sum::<u64>(), 2880);
}

#[test]
fn quartz_has_208_switches() {
    let quartz = Design::parse("quartz1").unwrap();
    assert_eq!(quartz.counts().switches, [96, 64, 48]);
    assert_eq!(quartz.counts().cables, [3072, 1536, 1536]);
    // 16 of a core's 48 ports have no cable, 8 of a spine's are none: 24 down, 24 up.
    assert_eq!(quartz.counts().spare_ports(48), [0, 0, 48 * 16]);
    assert_eq!(quartz.taper(), [2.0, 1.0]);
}

/// The generator makes what is counted: the same numbers from cables that were laid.
#[test]
fn counts_are_those_of_the_fabric_that_the_spec_makes() {
    let specs = [
        "quartz1",
        "two-level:leaves=24,hosts=32,spines=16,cables=2",
        "two-level:leaves=3,hosts=18,spines=2,cables=9",
        "two-level:leaves=25,hosts=20,spines=13,up=20",
        "two-level:leaves=79,hosts=64,spines=40,up=64",
        "xgft:m=20,w=1",
        "fattree:pods=16,leaves=8,hosts=24,spines=8,groups=8,cores=8,leaf-cables=3,core-cables=3",
        "fattree:pods=3,leaves=5,hosts=4,spines=6,groups=3,cores=2,leaf-cables=2,core-cables=3",
    ];
    for spec in specs {
        let design = Design::parse(spec).unwrap();
        let (fabric, counts) = (generate(&design.spec()).unwrap(), design.counts());
        assert_eq!(fabric.host_count() as u64, counts.host_ports, "{spec}");
        assert_eq!(fabric.switch_count() as u64, counts.all_switches(), "{spec}");
        assert_eq!(fabric.link_count() as u64, 2 * counts.cables.iter().sum::<u64>(), "{spec}");
        // A cable takes two ports of switches, that of a host one.
        let ports = fabric.link_count() as u64 - counts.cables[0];
        assert_eq!(counts.used.iter().sum::<u64>(), ports, "{spec}");
        let mut radix: Vec<u64> = fabric.switches().map(|s| u64::from(fabric.radix(s))).collect();
        let mut expected: Vec<u64> = counts
            .switches
            .iter()
            .zip(&counts.ports)
            .flat_map(|(&n, &ports)| std::iter::repeat_n(ports, n as usize))
            .collect();
        radix.sort_unstable();
        expected.sort_unstable();
        assert_eq!(radix, expected, "{spec}");
    }
}
