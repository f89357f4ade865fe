//! One fat tree of two or three levels: its spec for `netloom fabric new`, and what it is made of.
//!
//! All hosts have one cable, all cables one speed. A two-level tree is one pod without cores.
//! Invariant: [`Design::counts`] are those of the fabric that [`Design::spec`] makes (a test generates and counts).

use crate::bundles::{self, Cores, Divisors};

/// A tree of leaves, spines and, with three levels, cores. All counts are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Pods; 1 if there are no cores.
    pub pods: u32,
    /// Leaves a pod.
    pub leaves: u32,
    /// Ports for hosts on a leaf.
    pub hosts: u32,
    /// Spines a pod.
    pub spines: u32,
    /// Cables between a leaf and each spine of its pod.
    pub leaf_cables: u32,
    /// What joins the pods; `None` for two levels.
    pub cores: Option<Cores>,
}

/// What a design is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Hosts that it has ports for.
    pub host_ports: u64,
    /// Switches by level, leaves first.
    pub switches: Vec<u64>,
    /// Cables by level: hosts to leaves (one for each port for a host), leaves to spines, spines to cores.
    pub cables: Vec<u64>,
    /// Ports in use of one switch, by level.
    pub ports: Vec<u64>,
}

impl Counts {
    /// Ports without a cable by level, if every switch has `radix`.
    pub fn spare_ports(&self, radix: u32) -> Vec<u64> {
        let spare = |(switches, ports): (&u64, &u64)| switches * u64::from(radix).saturating_sub(*ports);
        self.switches.iter().zip(&self.ports).map(spare).collect()
    }

    /// All switches.
    pub fn all_switches(&self) -> u64 {
        self.switches.iter().sum()
    }
}

impl Design {
    /// Two levels for `hosts` hosts, `down` of them on a leaf with `up` cables to spines of `radix` ports, with the
    /// fewest spines. `None` if there is no such tree.
    pub fn two_level(hosts: u32, radix: u32, down: u32, up: u32) -> Option<Self> {
        if hosts == 0 || down == 0 || up == 0 || u64::from(down) + u64::from(up) > u64::from(radix) {
            return None;
        }
        let leaves = hosts.div_ceil(down);
        let spines = bundles::spines(&Divisors::up_to(up), leaves, up, radix)?;
        Some(Self { pods: 1, leaves, hosts: down, spines, leaf_cables: up / spines, cores: None })
    }

    /// Levels of switches: 2 or 3.
    pub fn levels(&self) -> usize {
        if self.cores.is_some() { 3 } else { 2 }
    }

    /// Cables up a leaf.
    pub fn leaf_up(&self) -> u32 {
        self.spines.saturating_mul(self.leaf_cables)
    }

    /// Cables up a spine; 0 with two levels.
    pub fn spine_up(&self) -> u32 {
        self.cores.map_or(0, |c| c.cores.saturating_mul(c.cables))
    }

    /// Cables up a leaf and, with three levels, up all spines of a pod.
    pub fn ups(&self) -> [Option<u64>; 2] {
        let pod = self.cores.map(|_| u64::from(self.spines) * u64::from(self.spine_up()));
        [Some(u64::from(self.leaf_up())), pod]
    }

    /// Bandwidth down over bandwidth up, by level: of a leaf, then of a spine.
    pub fn taper(&self) -> Vec<f64> {
        let mut taper = vec![f64::from(self.hosts) / f64::from(self.leaf_up())];
        if self.cores.is_some() {
            let down = f64::from(self.leaves) * f64::from(self.leaf_cables);
            taper.push(down / f64::from(self.spine_up()));
        }
        taper
    }

    /// Whether no level has less bandwidth up than down.
    pub fn is_full(&self) -> bool {
        let below = u64::from(self.leaves) * u64::from(self.leaf_cables);
        self.leaf_up() >= self.hosts && (self.cores.is_none() || u64::from(self.spine_up()) >= below)
    }

    /// Switches by level, leaves first; no cores with two levels.
    pub fn switches(&self) -> [u64; 3] {
        let pods = u64::from(self.pods);
        let cores = self.cores.map_or(0, |cores| cores.count());
        [pods * u64::from(self.leaves), pods * u64::from(self.spines), cores]
    }

    /// Cables by level: one for each port for a host, leaves to spines, spines to cores.
    pub fn cables(&self) -> [u64; 3] {
        let [leaves, spines, _] = self.switches();
        let core_cables = spines * u64::from(self.spine_up());
        [leaves * u64::from(self.hosts), leaves * u64::from(self.leaf_up()), core_cables]
    }

    /// Switches, cables and ports.
    pub fn counts(&self) -> Counts {
        let levels = self.levels();
        let leaf_ports = u64::from(self.hosts) + u64::from(self.leaf_up());
        let below = u64::from(self.leaves) * u64::from(self.leaf_cables);
        let core_ports = self
            .cores
            .map_or(0, |c| u64::from(self.pods) * u64::from(self.spines / c.groups) * u64::from(c.cables));
        Counts {
            host_ports: self.cables()[0],
            switches: self.switches()[..levels].to_vec(),
            cables: self.cables()[..levels].to_vec(),
            ports: [leaf_ports, below + u64::from(self.spine_up()), core_ports][..levels].to_vec(),
        }
    }

    /// The design as `netloom fabric new` takes it.
    pub fn spec(&self) -> String {
        let Self { pods, leaves, hosts, spines, leaf_cables, cores } = *self;
        let bundle = |key: &str, n: u32| if n == 1 { String::new() } else { format!(",{key}={n}") };
        match cores {
            None => {
                let cables = bundle("cables", leaf_cables);
                format!("two-level:leaves={leaves},hosts={hosts},spines={spines}{cables}")
            }
            Some(Cores { groups, cores, cables }) => format!(
                "fattree:pods={pods},leaves={leaves},hosts={hosts},spines={spines},groups={groups},cores={cores}{}{}",
                bundle("leaf-cables", leaf_cables),
                bundle("core-cables", cables),
            ),
        }
    }

    /// The design that a spec of `two-level`, `fattree` or `quartz1` names.
    ///
    /// # Errors
    /// [`DesignError`] says what was expected.
    pub fn parse(spec: &str) -> Result<Self, DesignError> {
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        match name {
            "quartz1" if rest.is_empty() => {
                let cores = Some(Cores { groups: 2, cores: 24, cables: 1 });
                Ok(Self { pods: 4, leaves: 24, hosts: 32, spines: 16, leaf_cables: 1, cores })
            }
            "two-level" => {
                let [leaves, hosts, spines, leaf_cables] =
                    values(rest, ["leaves", "hosts", "spines", "cables"], 3)?;
                Ok(Self { pods: 1, leaves, hosts, spines, leaf_cables, cores: None })
            }
            "fattree" => {
                let keys =
                    ["pods", "leaves", "hosts", "spines", "groups", "cores", "leaf-cables", "core-cables"];
                let [pods, leaves, hosts, spines, groups, cores, leaf_cables, cables] =
                    values(rest, keys, 6)?;
                if !spines.is_multiple_of(groups) {
                    let (expected, found) = (format!("a divisor of spines={spines}"), groups.to_string());
                    return Err(DesignError::Value { key: "groups".into(), expected, found });
                }
                let cores = Some(Cores { groups, cores, cables });
                Ok(Self { pods, leaves, hosts, spines, leaf_cables, cores })
            }
            _ => Err(DesignError::Generator { found: name.into() }),
        }
    }
}

/// Why a spec is no design.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// Not a tree that is planned here.
    #[error("expected a spec of two-level, fattree or quartz1, found \"{found}\"")]
    Generator {
        /// Its name.
        found: String,
    },
    /// A key that is missing, unknown or given twice.
    #[error("expected {expected}, each once, found \"{found}\"")]
    Keys {
        /// The keys.
        expected: String,
        /// What is odd.
        found: String,
    },
    /// A value that is no count.
    #[error("{key}: expected {expected}, found \"{found}\"")]
    Value {
        /// The key.
        key: String,
        /// What would do.
        expected: String,
        /// What was given.
        found: String,
    },
}

/// Most of anything in a spec, so that products of four stay below 2^64.
const MOST: u32 = 65_534;

/// The values of `keys`, in their order; those from `required` on are 1 unless given.
fn values<const N: usize>(text: &str, keys: [&str; N], required: usize) -> Result<[u32; N], DesignError> {
    let odd = |found: &str| DesignError::Keys {
        expected: keys.map(|key| format!("{key}=N")).join(", "),
        found: found.into(),
    };
    let mut found: [Option<u32>; N] = [None; N];
    for part in text.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| odd(part))?;
        let at = keys.iter().position(|&k| k == key.trim()).ok_or_else(|| odd(part))?;
        let number = value.trim().parse().ok().filter(|n| (1..=MOST).contains(n));
        let number = number.ok_or_else(|| DesignError::Value {
            key: keys[at].into(),
            expected: format!("a whole number of 1 to {MOST}"),
            found: value.into(),
        })?;
        if found[at].replace(number).is_some() {
            return Err(odd(part));
        }
    }
    let mut out = [1; N];
    for (i, value) in found.into_iter().enumerate() {
        match value {
            Some(value) => out[i] = value,
            None if i < required => return Err(odd(text)),
            None => {}
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_back() {
        let quartz = Design::parse("quartz1").unwrap();
        assert_eq!(quartz.spec(), "fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24");
        let full = "fattree:pods=16,leaves=8,hosts=24,spines=8,groups=4,cores=16,leaf-cables=3,core-cables=2";
        for spec in [full, "two-level:leaves=24,hosts=32,spines=16,cables=2", quartz.spec().as_str()] {
            assert_eq!(Design::parse(spec).unwrap().spec(), spec);
        }
    }

    #[test]
    fn a_spec_that_is_none_says_what_was_expected() {
        let wrong = [
            ("", "expected a spec of two-level, fattree or quartz1, found \"\""),
            ("xgft:m=4x4,w=1x2", "found \"xgft\""),
            ("two-level:leaves=3", "expected leaves=N, hosts=N, spines=N, cables=N"),
            (
                "two-level:leaves=3,hosts=0,spines=1",
                "hosts: expected a whole number of 1 to 65534, found \"0\"",
            ),
            ("two-level:leaves=3,hosts=1,spines=1,leaves=3", "found \"leaves=3\""),
            (
                "fattree:pods=1,leaves=1,hosts=1,spines=4,groups=3,cores=1",
                "groups: expected a divisor of spines=4",
            ),
        ];
        for (spec, expected) in wrong {
            let error = Design::parse(spec).unwrap_err().to_string();
            assert!(error.contains(expected), "{spec}: {error}");
        }
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let m = MOST;
        let cores = Some(Cores { groups: 1, cores: m, cables: m });
        let design = Design { pods: m, leaves: m, hosts: m, spines: m, leaf_cables: m, cores };
        let counts = design.counts();
        assert_eq!(counts.cables[1], 65_534u64.pow(4));
        assert_eq!(counts.spare_ports(48), [0, 0, 0]);
    }
}
