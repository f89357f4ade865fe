//! Small fabrics by hand. Every cable runs at [`RATE`] unless said otherwise.

use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchSpec};
use netloom_topology::{Damage, damage, generate};

/// Data rate of the cables in bytes per second.
pub const RATE: f64 = 12.5e9;

/// A generated fabric.
///
/// # Panics
/// If the spec is wrong.
pub fn generated(spec: &str) -> Fabric {
    generate(spec).unwrap_or_else(|e| panic!("{e}"))
}

/// Switches called `names` with so many hosts each (`host0000`, … in this order), and cables
/// `(a, b, how many)` between switches. Ports: hosts first, then cables in the order given.
///
/// # Panics
/// If that is no fabric.
pub fn wired(switches: &[(&str, usize)], cables: &[(usize, usize, usize)]) -> Fabric {
    let cables: Vec<_> = cables.iter().map(|&(a, b, count)| (a, b, count, RATE)).collect();
    wired_at(switches, &cables)
}

/// The same with a data rate a cable, in bytes per second. Hosts run at [`RATE`].
///
/// # Panics
/// If that is no fabric.
pub fn wired_at(switches: &[(&str, usize)], cables: &[(usize, usize, usize, f64)]) -> Fabric {
    let mut b = FabricBuilder::new();
    let mut port = vec![0u16; switches.len()];
    let mut hosts = 0u64;
    for (i, &(name, _)) in switches.iter().enumerate() {
        b.switch(SwitchSpec::new(name, 0x1_0000 + 16 * i as u64, 64));
    }
    for (i, &(_, count)) in switches.iter().enumerate() {
        for _ in 0..count {
            let host = b.host(HostSpec::new(format!("host{hosts:04}"), 0x2_0000 + 16 * hosts));
            hosts += 1;
            port[i] += 1;
            b.cable(End::Switch(i, port[i]), End::Host(host), RATE);
        }
    }
    for &(x, y, count, rate) in cables {
        for _ in 0..count {
            port[x] += 1;
            port[y] += 1;
            b.cable(End::Switch(x, port[x]), End::Switch(y, port[y]), rate);
        }
    }
    b.build().unwrap_or_else(|e| panic!("{e}"))
}

/// One switch, `hosts` hosts.
pub fn star(hosts: usize) -> Fabric {
    wired(&[("switch", hosts)], &[])
}

/// Two leaves of two hosts under one spine: between the leaves there is one way.
pub fn one_spine() -> Fabric {
    generated("two-level:leaves=2,hosts=2,spines=1")
}

/// Two leaves of two hosts under two spines: as many ways as hosts.
pub fn two_spines() -> Fabric {
    generated("two-level:leaves=2,hosts=2,spines=2")
}

/// Eight leaves of four hosts under four spines, as in the fixtures.
pub fn ft2_32() -> Fabric {
    generated("two-level:leaves=8,hosts=4,spines=4")
}

/// Two pods of four leaves (four hosts each) and two spines, two groups of two cores, as in the fixtures.
pub fn ft3_32() -> Fabric {
    generated("fattree:pods=2,leaves=4,hosts=4,spines=2,groups=2,cores=2")
}

/// [`ft3_32`] with the cable from `p0leaf0` to `p0spine0` dead, as in the fixtures.
pub fn ft3_32_broken() -> Fabric {
    let what = Damage { links: vec![("p0leaf0".into(), 5)], ..Damage::default() };
    damage(&ft3_32(), &what, 0).expect("the port is cabled").fabric
}

/// `n` switches of one host in a ring: no up*/down* tree.
pub fn ring(n: usize) -> Fabric {
    let names: Vec<String> = (0..n).map(|i| format!("ring{i}")).collect();
    let switches: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let cables: Vec<(usize, usize, usize)> = (0..n).map(|i| (i, (i + 1) % n, 1)).collect();
    wired(&switches, &cables)
}

/// A small dragonfly: `groups` groups of `routers` fully joined routers of two hosts, one global cable
/// between every two groups.
pub fn dragonfly(groups: usize, routers: usize) -> Fabric {
    let names: Vec<String> =
        (0..groups * routers).map(|i| format!("g{}r{}", i / routers, i % routers)).collect();
    let switches: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 2)).collect();
    let mut cables = Vec::new();
    for g in 0..groups {
        for i in 0..routers {
            cables.extend((i + 1..routers).map(|j| (g * routers + i, g * routers + j, 1)));
        }
        for other in g + 1..groups {
            cables.push((g * routers + other % routers, other * routers + g % routers, 1));
        }
    }
    wired(&switches, &cables)
}
