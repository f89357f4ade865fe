//! Two-level trees: every leaf is cabled to every spine.
//!
//! Ports: a leaf has its hosts first, then spines; a spine has the leaves. Parallel cables sit side by side. Where the cables
//! up a leaf are no multiple of the spines, they are dealt in turn, leaf by leaf: bundles differ by one cable at most, and
//! so do the cables of spines.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "two-level";
pub(super) const EXAMPLE: &str = "two-level:leaves=8,hosts=4,spines=4";
pub(super) const KEYS: &[&str] = &["leaves", "hosts", "spines", "cables", "up", "speed"];

/// A two-level tree. Counts are at least 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoLevel {
    /// Leaves.
    pub leaves: u64,
    /// Hosts a leaf.
    pub hosts: u64,
    /// Spines.
    pub spines: u64,
    /// Cables up a leaf, at least one for each spine.
    pub up: u64,
    /// Data rate of every cable, bytes per second.
    pub bandwidth_bytes_per_s: f64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let spines = spec.count("spines")?;
    let up = match (spec.get("up"), spec.get("cables")) {
        (Some(found), Some(_)) => return Err(spec.bad("up", "either cables or up", found)),
        (Some(_), None) => spec.count("up")?,
        (None, _) => spines.saturating_mul(spec.count_or("cables", 1)?),
    };
    let tree = TwoLevel {
        leaves: spec.count("leaves")?,
        hosts: spec.count("hosts")?,
        spines,
        up,
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
        let Self { leaves, hosts, spines, up, bandwidth_bytes_per_s } = *self;
        check_counts(NAME, [("leaves", leaves), ("hosts", hosts), ("spines", spines)])?;
        if up < spines {
            let expected = format!("at least a cable to each of {spines} spines");
            return Err(bad(NAME, "up", expected, up.to_string()));
        }
        let spine_ports = product([leaves, up]).div_ceil(u128::from(spines));
        check_size(
            NAME,
            &Size {
                hosts: product([leaves, hosts]),
                switches: u128::from(leaves) + u128::from(spines),
                radix: (u128::from(hosts) + u128::from(up)).max(spine_ports),
                cables: product([leaves, hosts]).saturating_add(product([leaves, up])),
            },
        )?;

        let [leaves, hosts, spines, up] = [leaves, hosts, spines, up].map(|n| n as usize);
        let mut make = Maker::new(leaves * hosts, bandwidth_bytes_per_s);
        let mut tier = |kind: &str, count: usize, radix: usize| -> Vec<usize> {
            let width = digits(count).max(2);
            (0..count).map(|i| make.switch(format!("{kind}{i:0width$}"), radix)).collect()
        };
        let leaf = tier("leaf", leaves, hosts + up);
        let spine = tier("spine", spines, spine_ports as usize);
        let (each, more) = (up / spines, up % spines);
        let mut spine_port = vec![0; spines];
        for (l, &switch) in leaf.iter().enumerate() {
            for port in 1..=hosts {
                make.host(switch, port);
            }
            let mut port = hosts;
            for (s, &upper) in spine.iter().enumerate() {
                // The leaf's turn begins where that of the leaf before has ended.
                let turn = (s + spines - l * more % spines) % spines;
                for _ in 0..each + usize::from(turn < more) {
                    (port, spine_port[s]) = (port + 1, spine_port[s] + 1);
                    make.cable((switch, port), (upper, spine_port[s]));
                }
            }
        }
        make.build()
    }
}
