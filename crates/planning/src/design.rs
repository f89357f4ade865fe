//! One switch, or a fat tree of two or three levels: its spec for `netloom fabric new`, and what it is made of.
//!
//! All hosts have one cable, all cables one speed. A two-level tree is one pod without cores; one switch is a leaf without
//! spines. Cables up a leaf are spread over the spines as evenly as they go; with cores they are equal bundles.
//! Invariant: [`Design::counts`] are those of the fabric that [`Design::spec`] makes (a test generates and counts).

use crate::bundles::{self, Bundles, Cores, Divisors};

/// A tree of leaves, spines and, with three levels, cores. All counts are at least 1, but those of one switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Pods; 1 if there are no cores.
    pub pods: u32,
    /// Leaves a pod.
    pub leaves: u32,
    /// Ports for hosts on a leaf.
    pub hosts: u32,
    /// Spines a pod; 0 of one switch.
    pub spines: u32,
    /// Cables up a leaf, spread over the spines of its pod; a multiple of them if there are cores.
    pub leaf_up: u32,
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
    /// Ports in use of the switch that uses most, by level.
    pub ports: Vec<u64>,
    /// Ports in use of all switches, by level.
    pub used: Vec<u64>,
}

impl Counts {
    /// Ports without a cable by level, if every switch has `radix`.
    pub fn spare_ports(&self, radix: u32) -> Vec<u64> {
        let spare = |(switches, used): (&u64, &u64)| (switches * u64::from(radix)).saturating_sub(*used);
        self.switches.iter().zip(&self.used).map(spare).collect()
    }

    /// All switches.
    pub fn all_switches(&self) -> u64 {
        self.switches.iter().sum()
    }
}

impl Design {
    /// One switch with so many hosts.
    pub fn one_switch(hosts: u32) -> Self {
        Self { pods: 1, leaves: 1, hosts, spines: 0, leaf_up: 0, cores: None }
    }

    /// Two levels for `hosts` hosts, `down` of them on a leaf with `up` cables to spines of `radix` ports, with the
    /// fewest spines. `None` if there is no such tree.
    pub fn two_level(hosts: u32, radix: u32, down: u32, up: u32, bundles: Bundles) -> Option<Self> {
        if hosts == 0 || down == 0 || up == 0 || u64::from(down) + u64::from(up) > u64::from(radix) {
            return None;
        }
        let leaves = hosts.div_ceil(down);
        let spines = bundles::spines(&Divisors::up_to(up), leaves, up, radix, bundles)?;
        Some(Self { pods: 1, leaves, hosts: down, spines, leaf_up: up, cores: None })
    }

    /// Levels of switches: 1 to 3.
    pub fn levels(&self) -> usize {
        match self.cores {
            Some(_) => 3,
            None if self.spines > 0 => 2,
            None => 1,
        }
    }

    /// Whether every leaf has equally many cables to every spine.
    pub fn is_even(&self) -> bool {
        self.spines == 0 || self.leaf_up.is_multiple_of(self.spines)
    }

    /// Cables that any two leaves of two levels can use between each other: the fewer of both to every spine. All those up a
    /// leaf if bundles are equal.
    pub fn up_between_leaves(&self) -> u32 {
        if self.is_even() || self.cores.is_some() {
            return self.leaf_up;
        }
        let (spines, more) = (self.spines, self.leaf_up % self.spines);
        // Leaf l's larger bundles are `more` in a row round the spines, from l * more on.
        let common = |leaf: u32| {
            let apart = (u64::from(leaf) * u64::from(more) % u64::from(spines)) as u32;
            more.saturating_sub(apart) + more.saturating_sub(spines - apart)
        };
        let least = (1..self.leaves.min(spines + 1)).map(common).min().unwrap_or(more);
        self.leaf_up - more + least.min(more)
    }

    /// Cables up the leaves of a pod over its spines, rounded up: the most that a spine has from below.
    fn below(&self) -> u64 {
        match self.spines {
            0 => 0,
            spines => (u64::from(self.leaves) * u64::from(self.leaf_up)).div_ceil(u64::from(spines)),
        }
    }

    /// Cables up a spine; 0 with two levels.
    pub fn spine_up(&self) -> u32 {
        self.cores.map_or(0, |c| c.cores.saturating_mul(c.cables))
    }

    /// Cables up a leaf and, with three levels, up all spines of a pod; none of one switch.
    pub fn ups(&self) -> [Option<u64>; 2] {
        let pod = self.cores.map(|_| u64::from(self.spines) * u64::from(self.spine_up()));
        [(self.spines > 0).then_some(u64::from(self.leaf_up)), pod]
    }

    /// Bandwidth down over bandwidth up, by level: of a leaf, then of a spine.
    pub fn taper(&self) -> Vec<f64> {
        let leaf = (self.spines > 0).then(|| f64::from(self.hosts) / f64::from(self.leaf_up));
        let spine = self.cores.map(|_| self.below() as f64 / f64::from(self.spine_up()));
        leaf.into_iter().chain(spine).collect()
    }

    /// Whether no leaf and no pod has less bandwidth up than its hosts have.
    pub fn is_full(&self) -> bool {
        let hosts = u64::from(self.hosts);
        let groups = [hosts, hosts * u64::from(self.leaves)];
        self.ups().into_iter().zip(groups).all(|(up, hosts)| up.is_none_or(|up| up >= hosts))
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
        [leaves * u64::from(self.hosts), leaves * u64::from(self.leaf_up), core_cables]
    }

    /// Switches, cables and ports.
    pub fn counts(&self) -> Counts {
        let levels = self.levels();
        let leaf_ports = u64::from(self.hosts) + u64::from(self.leaf_up);
        let [hosts, leaves, spines] = self.cables();
        let core_ports = self
            .cores
            .map_or(0, |c| u64::from(self.pods) * u64::from(self.spines / c.groups) * u64::from(c.cables));
        Counts {
            host_ports: self.cables()[0],
            switches: self.switches()[..levels].to_vec(),
            cables: self.cables()[..levels].to_vec(),
            ports: [leaf_ports, self.below() + u64::from(self.spine_up()), core_ports][..levels].to_vec(),
            used: [hosts.saturating_add(leaves), leaves.saturating_add(spines), spines][..levels].to_vec(),
        }
    }

    /// The design as `netloom fabric new` takes it.
    pub fn spec(&self) -> String {
        let Self { pods, leaves, hosts, spines, leaf_up, cores } = *self;
        let leaf_cables = leaf_up.checked_div(spines).unwrap_or(0);
        let bundle = |key: &str, n: u32| if n == 1 { String::new() } else { format!(",{key}={n}") };
        match cores {
            None if spines == 0 => format!("xgft:m={hosts},w=1"),
            None if !self.is_even() => {
                format!("two-level:leaves={leaves},hosts={hosts},spines={spines},up={leaf_up}")
            }
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

    /// The design that a spec of `two-level`, `fattree`, `quartz1`, or of one switch (`xgft:m=20,w=1`) names.
    ///
    /// # Errors
    /// [`DesignError`] says what was expected.
    pub fn parse(spec: &str) -> Result<Self, DesignError> {
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        match name {
            "quartz1" if rest.is_empty() => {
                let cores = Some(Cores { groups: 2, cores: 24, cables: 1 });
                Ok(Self { pods: 4, leaves: 24, hosts: 32, spines: 16, leaf_up: 16, cores })
            }
            "xgft" if rest.ends_with(",w=1") && !rest.contains('x') => {
                let [hosts, _] = values(rest, ["m", "w"], 2)?;
                Ok(Self::one_switch(hosts))
            }
            "two-level" => {
                let uneven = rest.split(',').any(|part| part.trim_start().starts_with("up="));
                let last = if uneven { "up" } else { "cables" };
                let [leaves, hosts, spines, last] =
                    values(rest, ["leaves", "hosts", "spines", last], if uneven { 4 } else { 3 })?;
                let leaf_up = if uneven { last } else { spines.saturating_mul(last) };
                if leaf_up < spines {
                    let expected = format!("at least spines={spines}");
                    return Err(DesignError::Value { key: "up".into(), expected, found: last.to_string() });
                }
                Ok(Self { pods: 1, leaves, hosts, spines, leaf_up, cores: None })
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
                let leaf_up = spines.saturating_mul(leaf_cables);
                Ok(Self { pods, leaves, hosts, spines, leaf_up, cores })
            }
            _ => Err(DesignError::Generator { found: name.into() }),
        }
    }
}

/// Why a spec is no design.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// Not a tree that is planned here.
    #[error(
        "expected a spec of two-level, fattree or quartz1, or xgft:m=N,w=1 of one switch, found \"{found}\""
    )]
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
        let uneven = "two-level:leaves=25,hosts=20,spines=13,up=20";
        let two = "two-level:leaves=24,hosts=32,spines=16,cables=2";
        for spec in [full, two, uneven, "xgft:m=20,w=1", quartz.spec().as_str()] {
            assert_eq!(Design::parse(spec).unwrap().spec(), spec);
        }
    }

    #[test]
    fn two_leaves_share_fewer_cables_than_go_up_uneven_bundles() {
        let between = |spec: &str| Design::parse(spec).unwrap().up_between_leaves();
        // 20 cables on 13 spines: 7 bundles of two, and two leaves have one of them in common at least.
        assert_eq!(between("two-level:leaves=25,hosts=20,spines=13,up=20"), 14);
        // Two leaves, 3 cables on 2 spines: 2 + 1 and 1 + 2.
        assert_eq!(between("two-level:leaves=2,hosts=3,spines=2,up=3"), 2);
        assert_eq!(between("two-level:leaves=3,hosts=18,spines=2,cables=9"), 18);
        assert_eq!(between("quartz1"), 16);
    }

    #[test]
    fn a_spec_that_is_none_says_what_was_expected() {
        let wrong = [
            (
                "",
                "expected a spec of two-level, fattree or quartz1, or xgft:m=N,w=1 of one switch, found \"\"",
            ),
            ("xgft:m=4x4,w=1x2", "found \"xgft\""),
            ("two-level:leaves=3", "expected leaves=N, hosts=N, spines=N, cables=N"),
            (
                "two-level:leaves=3,hosts=0,spines=1",
                "hosts: expected a whole number of 1 to 65534, found \"0\"",
            ),
            ("two-level:leaves=3,hosts=1,spines=1,leaves=3", "found \"leaves=3\""),
            ("two-level:leaves=3,hosts=1,spines=2,up=1", "up: expected at least spines=2, found \"1\""),
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
        let design = Design { pods: m, leaves: m, hosts: m, spines: m, leaf_up: m.saturating_mul(m), cores };
        let counts = design.counts();
        assert_eq!(counts.cables[1], 65_534u64.pow(2) * u64::from(m.saturating_mul(m)));
        assert_eq!(counts.spare_ports(48), [0, 0, 0]);
    }
}
