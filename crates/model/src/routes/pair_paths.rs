//! Which of a destination's addresses each sender uses, pair by pair.
//!
//! With LMC a host has `2^lmc` addresses, and a table by destination can lead to each on another way. The
//! sender picks: this table says how. Sparse: pairs that are not listed use the base address (path 0).
//!
//! Invariants: rows by source host; destinations rise within a row; every path is in `1..2^lmc`, no pair
//! is from a host to itself; equal choices are equal tables.

use crate::ids::HostId;

/// The largest LMC of InfiniBand: a port has at most 128 addresses.
pub const MAX_LMC: u8 = 7;

/// A path number for every (source host, destination host), mostly 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairPaths {
    lmc: u8,
    /// First entry of every source, and the number of entries.
    first: Vec<usize>,
    destination: Vec<u32>,
    path: Vec<u8>,
}

/// Why a list is no choice of paths. Entries are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairPathsError {
    /// More addresses than a port can have.
    #[error("LMC {lmc}: expected 0 to {}", MAX_LMC)]
    Lmc {
        /// What was asked for.
        lmc: u8,
    },
    /// A host that is none.
    #[error("entry {entry} is from host {source_host} to {destination}: expected hosts below {hosts}")]
    OutOfRange {
        /// Position in the list.
        entry: usize,
        /// Its source.
        source_host: u32,
        /// Its destination.
        destination: u32,
        /// Number of hosts.
        hosts: usize,
    },
    /// A host has no way to itself.
    #[error("entry {entry} is from host {host} to itself")]
    ToItself {
        /// Position in the list.
        entry: usize,
        /// The host.
        host: u32,
    },
    /// An address that hosts do not have.
    #[error("entry {entry} has path {path}: expected paths below {}", 1u32 << lmc)]
    Path {
        /// Position in the list.
        entry: usize,
        /// Its path.
        path: u32,
        /// LID mask control.
        lmc: u8,
    },
    /// A pair that is listed twice, even if with the same path.
    #[error("entry {entry} repeats the pair of entry {earlier}: host {source_host} to {destination}")]
    Repeated {
        /// Position of the later one in the list.
        entry: usize,
        /// Position of the earlier one.
        earlier: usize,
        /// Its source.
        source_host: u32,
        /// Its destination.
        destination: u32,
    },
    /// Paths that belong to tables of another kind or size.
    #[error(
        "the paths are for {hosts} hosts with LMC {lmc}, the tables for {table_hosts} with LMC {table_lmc}"
    )]
    Mismatch {
        /// Hosts of the paths.
        hosts: usize,
        /// LMC of the paths.
        lmc: u8,
        /// Hosts of the tables.
        table_hosts: usize,
        /// LMC of the tables.
        table_lmc: u8,
    },
}

impl PairPathsError {
    /// The entry at fault, if it is one entry's.
    pub fn entry(&self) -> Option<usize> {
        match *self {
            Self::OutOfRange { entry, .. }
            | Self::ToItself { entry, .. }
            | Self::Path { entry, .. }
            | Self::Repeated { entry, .. } => Some(entry),
            Self::Lmc { .. } | Self::Mismatch { .. } => None,
        }
    }
}

impl PairPaths {
    /// Everybody uses the base address.
    ///
    /// # Panics
    /// If `lmc` is above [`MAX_LMC`].
    pub fn base(hosts: usize, lmc: u8) -> Self {
        assert!(lmc <= MAX_LMC, "a port has at most 128 addresses");
        Self { lmc, first: vec![0; hosts + 1], destination: Vec::new(), path: Vec::new() }
    }

    /// From `(source, destination, path)` in any order; path 0 may be listed or not.
    ///
    /// # Errors
    /// [`PairPathsError`] names the first bad entry.
    pub fn new(hosts: usize, lmc: u8, entries: &[(HostId, HostId, u32)]) -> Result<Self, PairPathsError> {
        if lmc > MAX_LMC {
            return Err(PairPathsError::Lmc { lmc });
        }
        for (entry, &(source, destination, path)) in entries.iter().enumerate() {
            if source.index() >= hosts || destination.index() >= hosts {
                let (source_host, destination) = (source.0, destination.0);
                return Err(PairPathsError::OutOfRange { entry, source_host, destination, hosts });
            }
            if source == destination {
                return Err(PairPathsError::ToItself { entry, host: source.0 });
            }
            if path >= 1 << lmc {
                return Err(PairPathsError::Path { entry, path, lmc });
            }
        }
        let pair = |entry: usize| (entries[entry].0, entries[entry].1);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&entry| pair(entry));
        // The repetition that comes first in the list.
        let repeats = order.windows(2).filter(|w| pair(w[0]) == pair(w[1]));
        if let Some(w) = repeats.min_by_key(|w| w[1]) {
            let (source, destination) = pair(w[1]);
            return Err(PairPathsError::Repeated {
                entry: w[1],
                earlier: w[0],
                source_host: source.0,
                destination: destination.0,
            });
        }
        let mut paths = Self::base(hosts, lmc);
        for &(source, destination, path) in order.iter().map(|&e| &entries[e]).filter(|e| e.2 != 0) {
            paths.first[source.index() + 1] += 1;
            paths.destination.push(destination.0);
            paths.path.push(path as u8);
        }
        for host in 0..hosts {
            paths.first[host + 1] += paths.first[host];
        }
        Ok(paths)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.first.len() - 1
    }

    /// LID mask control: paths are below `2^lmc`.
    pub fn lmc(&self) -> u8 {
        self.lmc
    }

    /// Number of pairs that do not use the base address.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Whether all pairs use the base address.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// The path from `source` to `destination`: below `2^lmc`, 0 if none is listed.
    #[inline]
    pub fn get(&self, source: HostId, destination: HostId) -> u32 {
        let range = self.first[source.index()]..self.first[source.index() + 1];
        let row = &self.destination[range.clone()];
        row.binary_search(&destination.0).map_or(0, |k| u32::from(self.path[range.start + k]))
    }

    /// For how many pairs `other` chooses another path.
    ///
    /// # Panics
    /// If `other` is for another number of hosts.
    pub fn changed_pairs(&self, other: &Self) -> usize {
        assert_eq!(self.hosts(), other.hosts(), "paths of one fabric");
        let listed = self.iter().filter(|&(s, d, path)| other.get(s, d) != path).count();
        listed + other.iter().filter(|&(s, d, _)| self.get(s, d) == 0).count()
    }

    /// All pairs that do not use the base address, `(source, destination, path)`, in order.
    pub fn iter(&self) -> impl Iterator<Item = (HostId, HostId, u32)> + '_ {
        (0..self.hosts()).flat_map(move |source| {
            (self.first[source]..self.first[source + 1])
                .map(move |k| (HostId::from_index(source), HostId(self.destination[k]), self.path[k].into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(u32, u32, u32)]) -> Vec<(HostId, HostId, u32)> {
        list.iter().map(|&(s, d, p)| (HostId(s), HostId(d), p)).collect()
    }

    #[test]
    fn what_is_not_listed_uses_the_base_address() {
        let paths = PairPaths::new(3, 1, &entries(&[(2, 0, 1), (0, 1, 0), (0, 2, 1)])).unwrap();
        assert_eq!(paths.get(HostId(2), HostId(0)), 1);
        assert_eq!(paths.get(HostId(0), HostId(1)), 0);
        assert_eq!(paths.get(HostId(1), HostId(2)), 0);
        assert_eq!(paths.iter().collect::<Vec<_>>(), entries(&[(0, 2, 1), (2, 0, 1)]));
        // A listed 0 is no other choice than an unlisted one.
        assert_eq!(paths, PairPaths::new(3, 1, &entries(&[(0, 2, 1), (2, 0, 1)])).unwrap());
    }

    #[test]
    fn changed_pairs_count_both_sides_once() {
        let of = |list: &[_]| PairPaths::new(3, 2, &entries(list)).unwrap();
        let (a, b) = (of(&[(0, 1, 1), (0, 2, 1), (1, 2, 3)]), of(&[(0, 1, 1), (0, 2, 2), (2, 1, 1)]));
        // 0 to 2 changed, 1 to 2 went back to the base address, 2 to 1 left it.
        assert_eq!((a.changed_pairs(&b), b.changed_pairs(&a), a.changed_pairs(&a)), (3, 3, 0));
    }

    #[test]
    fn bad_entries_are_named() {
        let bad = |lmc, list: &[_]| PairPaths::new(3, lmc, &entries(list)).unwrap_err().to_string();
        assert_eq!(bad(8, &[]), "LMC 8: expected 0 to 7");
        assert_eq!(bad(1, &[(0, 1, 1), (0, 3, 1)]), "entry 1 is from host 0 to 3: expected hosts below 3");
        assert_eq!(bad(1, &[(1, 1, 0)]), "entry 0 is from host 1 to itself");
        assert_eq!(bad(2, &[(0, 1, 4)]), "entry 0 has path 4: expected paths below 4");
        assert_eq!(
            bad(1, &[(1, 2, 1), (0, 1, 1), (0, 2, 1), (1, 2, 0), (0, 1, 1)]),
            "entry 3 repeats the pair of entry 0: host 1 to 2"
        );
    }
}
