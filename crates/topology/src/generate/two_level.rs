//! Two-level trees: every leaf is cabled to every spine.
//!
//! Ports: a leaf has its hosts first, then spines; a spine has the leaves. Parallel cables sit side by side.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "two-level";
pub(super) const EXAMPLE: &str = "two-level:leaves=8,hosts=4,spines=4";
pub(super) const KEYS: &[&str] = &["leaves", "hosts", "spines", "cables", "speed"];

/// A two-level tree. Counts are at least 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoLevel {
    /// Leaves.
    pub leaves: u64,
    /// Hosts a leaf.
    pub hosts: u64,
    /// Spines.
    pub spines: u64,
    /// Cables between a leaf and a spine.
    pub cables: u64,
    /// Data rate of every cable, bytes per second.
    pub bandwidth_bytes_per_s: f64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let tree = TwoLevel {
        leaves: spec.count("leaves")?,
        hosts: spec.count("hosts")?,
        spines: spec.count("spines")?,
        cables: spec.count_or("cables", 1)?,
        bandwidth_bytes_per_s: spec.speed("EDR")?,
    };
    tree.build()
}

impl TwoLevel {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0 and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        let Self { leaves, hosts, spines, cables, bandwidth_bytes_per_s } = *self;
        check_counts(NAME, [("leaves", leaves), ("hosts", hosts), ("spines", spines), ("cables", cables)])?;
        let leaf_ports = u128::from(hosts) + product([spines, cables]);
        check_size(
            NAME,
            &Size {
                hosts: product([leaves, hosts]),
                switches: u128::from(leaves) + u128::from(spines),
                radix: leaf_ports.max(product([leaves, cables])),
                cables: product([leaves, hosts]).saturating_add(product([leaves, spines, cables])),
            },
        )?;

        let [leaves, hosts, spines, cables] = [leaves, hosts, spines, cables].map(|n| n as usize);
        let mut make = Maker::new(leaves * hosts, bandwidth_bytes_per_s);
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
}
