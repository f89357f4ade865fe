//! Two-level trees: every leaf is cabled to every spine.
//!
//! Ports: a leaf has its hosts first, then spines; a spine has the leaves. Parallel cables sit side by side.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, digits, product};

pub(super) const EXAMPLE: &str = "two-level:leaves=8,hosts=4,spines=4";
pub(super) const KEYS: &[&str] = &["leaves", "hosts", "spines", "cables", "speed"];

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let counts = [spec.count("leaves")?, spec.count("hosts")?, spec.count("spines")?];
    let cables = spec.count_or("cables", 1)?;
    let speed = spec.speed("EDR")?;
    let [leaves, hosts, spines] = counts;
    let leaf_ports = u128::from(hosts) + product([spines, cables]);
    spec.check_size(&Size {
        hosts: product([leaves, hosts]),
        switches: u128::from(leaves) + u128::from(spines),
        radix: leaf_ports.max(product([leaves, cables])),
        cables: product([leaves, hosts]).saturating_add(product([leaves, spines, cables])),
    })?;

    let [leaves, hosts, spines] = counts.map(|n| n as usize);
    let cables = cables as usize;
    let mut make = Maker::new(leaves * hosts, speed);
    let mut tier = |kind: &str, count: usize, radix: usize| -> Vec<usize> {
        let width = digits(count).max(2);
        (0..count).map(|i| make.switch(format!("{kind}{i:0width$}"), radix)).collect()
    };
    let leaf = tier("leaf", leaves, hosts + spines * cables);
    let spine = tier("spine", spines, leaves * cables);
    for (l, &switch) in leaf.iter().enumerate() {
        for port in 1..=hosts {
            make.host(switch, port);
        }
        for (s, &upper) in spine.iter().enumerate() {
            for k in 0..cables {
                make.cable((switch, hosts + s * cables + k + 1), (upper, l * cables + k + 1));
            }
        }
    }
    make.build()
}
