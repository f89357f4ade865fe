//! Rails: units of machines with several adapters, adapter *r* of every machine of a unit on the unit's leaf *r*.
//!
//! A unit has `machines` machines and `rails` leaves; a leaf has a port for each machine, and as many cables upwards. All
//! switches have at most `radix` ports.
//!
//! - **Two tiers**, where a spine has a port for every leaf: each leaf has `k` cables to each of `machines / k` spines, `k` being
//!   the largest divisor of `machines` for which `k` cables from every leaf fit on a spine.
//! - **Three tiers** otherwise. Pods have `radix / 2` units, or all where there are fewer. The leaves of a rail in a pod have `k`
//!   cables to each of that rail's spines in that pod, `k` being the largest divisor of `machines` for which they fill at most
//!   half of a spine's ports; a spine has `u` cables upwards, as many as down. Spine `j` of every rail and pod has `c` cables to
//!   each of the `u / c` cores of group `j`, `c` being the largest divisor of `u` for which they fit on a core.
//!
//! So all traffic within a unit that stays on its rail crosses one switch, and the network above the leaves is not slimmed.
//! Source: NVIDIA DGX SuperPOD reference architecture (H100), compute fabric: with 32 machines and 8 rails 4 units have 32 leaves
//! and 16 spines, 16 units 128, 128 and 64 cores, 64 units 512, 512 and 256.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "rail";
pub(super) const EXAMPLE: &str = "rail:units=4,machines=32,rails=8";
pub(super) const KEYS: &[&str] = &["units", "machines", "rails", "radix", "speed"];

/// Ports of a switch unless a spec says how many.
const RADIX: u64 = 64;

/// Units of machines with rails. Counts are at least 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Rail {
    /// Units.
    pub units: u64,
    /// Machines a unit: ports of a leaf downwards, and upwards.
    pub machines: u64,
    /// Adapters a machine: leaves a unit.
    pub rails: u64,
    /// Most ports of a switch.
    pub radix: u64,
    /// Data rate of every cable, bytes per second.
    pub bandwidth_bytes_per_s: f64,
}

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let rail = Rail {
        units: spec.count("units")?,
        machines: spec.count("machines")?,
        rails: spec.count("rails")?,
        radix: spec.count_or("radix", RADIX)?,
        bandwidth_bytes_per_s: spec.speed("NDR")?,
    };
    rail.build()
}

/// The largest divisor of `n` of which `groups` fit into `ports`; 0 if not even 1 does.
fn bundle(n: u64, groups: u64, ports: u64) -> u64 {
    (1..=n.min(ports / groups.max(1))).rev().find(|k| n.is_multiple_of(*k)).unwrap_or(0)
}

/// Switches above the leaves.
struct Above {
    /// Units a pod; all in two tiers.
    units: u64,
    /// Cables from a leaf to each of its spines.
    to_spine: u64,
    /// Cables from a spine to each of its cores; `None` in two tiers.
    to_core: Option<u64>,
}

impl Rail {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, more machines than a leaf has ports for, units that do not fill their pods, and sizes above
    /// the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        let above = self.above()?;
        let [units, machines, rails] = [self.units, self.machines, self.rails].map(|n| n as usize);
        let mut make = Maker::new(units * machines * rails, self.bandwidth_bytes_per_s);
        let (of_unit, of_rail) = (digits(units).max(2), digits(rails));
        let leaves: Vec<usize> = (0..units * rails)
            .map(|i| {
                let (unit, rail) = (i / rails, i % rails);
                make.switch(format!("u{unit:0of_unit$}r{rail:0of_rail$}"), 2 * machines)
            })
            .collect();
        let of_machine = digits(units * machines).max(3);
        for machine in 0..units * machines {
            for rail in 0..rails {
                let name = format!("m{machine:0of_machine$}");
                let leaf = leaves[machine / machines * rails + rail];
                make.adapter(&name, rail, leaf, machine % machines + 1);
            }
        }
        let k = above.to_spine as usize;
        let pod = above.units as usize;
        // Leaves that share spines: all of two tiers, those of a rail in a pod of three.
        let sets: Vec<Vec<usize>> = match above.to_core {
            None => vec![leaves],
            Some(_) => (0..units / pod * rails)
                .map(|set| {
                    let first = set / rails * pod;
                    (first..first + pod).map(|unit| leaves[unit * rails + set % rails]).collect()
                })
                .collect(),
        };
        let spines = machines / k;
        let (wide, of_pod) = (digits(spines), digits(units / pod));
        let mut spine = Vec::with_capacity(sets.len() * spines);
        for (set, leaves) in sets.iter().enumerate() {
            let down = leaves.len() * k;
            for n in 0..spines {
                let (name, ports) = match above.to_core {
                    None => (format!("spine{n:0wide$}"), down),
                    Some(_) => {
                        let (pod, rail) = (set / rails, set % rails);
                        (format!("p{pod:0of_pod$}r{rail:0of_rail$}s{n:0wide$}"), 2 * down)
                    }
                };
                spine.push(make.switch(name, ports));
                for (l, &leaf) in leaves.iter().enumerate() {
                    for cable in 0..k {
                        let (up, at) = (machines + n * k + cable + 1, l * k + cable + 1);
                        make.cable((leaf, up), (spine[spine.len() - 1], at));
                    }
                }
            }
        }
        if let Some(c) = above.to_core.map(|c| c as usize) {
            let cores = pod * k / c;
            let wide = digits(spines * cores);
            for core in 0..spines * cores {
                let (group, n) = (core / cores, core % cores);
                let core = make.switch(format!("core{core:0wide$}"), sets.len() * c);
                for set in 0..sets.len() {
                    for cable in 0..c {
                        let lower = (spine[set * spines + group], pod * k + n * c + cable + 1);
                        make.cable(lower, (core, set * c + cable + 1));
                    }
                }
            }
        }
        make.build()
    }

    fn above(&self) -> Result<Above, SpecError> {
        let &Self { units, machines, rails, radix, .. } = self;
        check_counts(NAME, [("units", units), ("machines", machines), ("rails", rails), ("radix", radix)])?;
        if machines > radix / 2 {
            let expected = format!("at most {}, half of a leaf's {radix} ports", radix / 2);
            return Err(bad(NAME, "machines", expected, machines.to_string()));
        }
        let leaves = product([units, rails]);
        let hosts = product([units, machines, rails]);
        let two = u64::try_from(leaves).map_or(0, |leaves| bundle(machines, leaves, radix));
        let above = match two {
            0 => self.three_tiers()?,
            to_spine => Above { units, to_spine, to_core: None },
        };
        let a_set = machines / above.to_spine;
        let (spines, cores, tiers) = match above.to_core {
            None => (u128::from(a_set), 0, 2u128),
            Some(c) => {
                let (sets, up) = (product([units / above.units, rails]), above.units * above.to_spine);
                (sets * u128::from(a_set), product([a_set, up / c]), 3)
            }
        };
        let switches = leaves + spines + cores;
        check_size(
            NAME,
            &Size { hosts, switches, radix: u128::from(radix), cables: hosts.saturating_mul(tiers) },
        )?;
        Ok(above)
    }

    fn three_tiers(&self) -> Result<Above, SpecError> {
        let &Self { units, machines, rails, radix, .. } = self;
        let pod = units.min(radix / 2);
        if !units.is_multiple_of(pod) {
            let expected = format!("a multiple of {pod}, the units of a pod of switches with {radix} ports");
            return Err(bad(NAME, "units", expected, units.to_string()));
        }
        let to_spine = bundle(machines, pod, radix / 2);
        let sets = (units / pod).saturating_mul(rails);
        let to_core = bundle(pod * to_spine, sets, radix);
        if to_core == 0 {
            let expected = format!(
                "at most {radix} rails of pods, as a core has {radix} ports: more needs a fourth tier"
            );
            return Err(bad(NAME, "units, rails", expected, format!("{} x {rails} = {sets}", units / pod)));
        }
        Ok(Above { units: pod, to_spine, to_core: Some(to_core) })
    }
}
