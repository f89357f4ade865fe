//! How many spines and cores a tree needs.
//!
//! With equal bundles, every leaf has the same number of cables to every spine of its pod, so the number of spines divides
//! the cables up a leaf. The same holds for the cores of a group. This rule gives vendors' tables: 24 leaves of 64 ports
//! with 32 cables up fit on 12 spines, but 12 does not divide 32, and the tables say 16. Without it, spines of two levels
//! are filled as far as they go: bundles of a leaf, and cables of spines, differ by one at most.

/// How the cables of a leaf are spread over the spines of a tree of two levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bundles {
    /// As evenly as they go.
    #[default]
    Any,
    /// Equally many to every spine.
    Equal,
}

/// The divisors of all numbers up to a largest one.
pub struct Divisors(Vec<Vec<u32>>);

impl Divisors {
    /// Those of 1 to `most`.
    pub fn up_to(most: u32) -> Self {
        let mut of = vec![Vec::new(); most as usize + 1];
        for d in 1..=most {
            (d..=most).step_by(d as usize).for_each(|n| of[n as usize].push(d));
        }
        Self(of)
    }

    /// Those of `n`, rising.
    ///
    /// # Panics
    /// If `n` is above the largest number.
    pub fn of(&self, n: u32) -> &[u32] {
        &self.0[n as usize]
    }
}

/// The least number of spines for leaves with `up` cables each, if `ports` ports of a spine may go down: `leaves * up /
/// spines` is at most `ports`, and no spine is without a cable to a leaf. With equal bundles it divides `up`. `None` if no
/// number does.
pub fn spines(divisors: &Divisors, leaves: u32, up: u32, ports: u32, bundles: Bundles) -> Option<u32> {
    if bundles == Bundles::Any {
        let least = (u64::from(leaves) * u64::from(up)).div_ceil(u64::from(ports.max(1)));
        return u32::try_from(least).ok().filter(|&spines| spines <= up);
    }
    let fits = |&s: &u32| u64::from(leaves) * u64::from(up / s) <= u64::from(ports);
    divisors.of(up).iter().copied().find(fits)
}

/// How the spines of all pods are joined to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Groups of cores; every pod has `spines / groups` of its spines in each.
    pub groups: u32,
    /// Cores a group.
    pub cores: u32,
    /// Cables between a spine and a core.
    pub cables: u32,
}

impl Cores {
    /// Cores in all groups.
    pub fn count(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.cores)
    }
}

/// The least number of cores for pods of `spines` spines with `up` cables each, and before it the least with single
/// cables between neighbours, if that is more. Both are `None` if cores have too few ports for so many pods.
pub fn cores(divisors: &Divisors, pods: u32, spines: u32, up: u32, radix: u32) -> [Option<Cores>; 2] {
    let with = |cables: u32| {
        let fits = |&&groups: &&u32| {
            u64::from(pods) * u64::from(spines / groups) * u64::from(cables) <= u64::from(radix)
        };
        let groups = *divisors.of(spines).iter().find(fits)?;
        Some(Cores { groups, cores: up / cables, cables })
    };
    let single = with(1);
    let least = divisors.of(up).iter().filter_map(|&cables| with(cables)).min_by_key(Cores::count);
    [single.filter(|s| least.is_some_and(|l| l.count() < s.count())), least]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_rise() {
        let divisors = Divisors::up_to(72);
        assert_eq!(divisors.of(1), [1]);
        assert_eq!(divisors.of(16), [1, 2, 4, 8, 16]);
        assert_eq!(divisors.of(72), [1, 2, 3, 4, 6, 8, 9, 12, 18, 24, 36, 72]);
    }

    #[test]
    fn spines_divide_the_cables_up() {
        let divisors = Divisors::up_to(72);
        // 24 * 32 / 64 = 12 spines would do, but 12 does not divide 32.
        assert_eq!(spines(&divisors, 24, 32, 64, Bundles::Equal), Some(16));
        assert_eq!(spines(&divisors, 24, 32, 64, Bundles::Any), Some(12));
        // 32 * 72 / 144 = 16, not a divisor of 72.
        assert_eq!(spines(&divisors, 32, 72, 144, Bundles::Equal), Some(18));
        for bundles in [Bundles::Any, Bundles::Equal] {
            assert_eq!(spines(&divisors, 65, 32, 64, bundles), None);
        }
    }

    #[test]
    fn cores_have_ports_to_spare_where_cables_are_single() {
        // 4 pods of 16 spines, 24 up each: 1,536 cables fill 32 cores of 48 ports, with 3 cables to each of 16 spines.
        // With single cables a core can have 32 neighbours (half of the spines), and 48 are needed.
        let found = cores(&Divisors::up_to(48), 4, 16, 24, 48);
        let single = Cores { groups: 2, cores: 24, cables: 1 };
        let least = Cores { groups: 4, cores: 8, cables: 3 };
        assert_eq!(found, [Some(single), Some(least)]);
        assert_eq!(cores(&Divisors::up_to(48), 49, 1, 1, 48), [None, None]);
    }
}
