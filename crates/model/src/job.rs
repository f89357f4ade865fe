//! Jobs: which application, on which hosts, with which rank where.

use crate::fabric::machines::AdapterChoice;
use crate::ids::HostId;

/// Where a job's rank-to-rank traffic comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A rank matrix in a file; the path as written in the jobs file.
    Matrix(String),
    /// A pattern spec such as `stencil:8x8x8`.
    Pattern(String),
    /// A trace of a run in a file, cut into phases.
    Trace {
        /// The path as written in the jobs file.
        path: String,
        /// How it is cut.
        cut: Cut,
        /// How its collectives are done, `allreduce=ring,…`, by size what is not said; `None`: they are left out.
        collectives: Option<String>,
    },
    /// Traffic as phases, in order.
    Phases(Vec<PhaseSpec>),
    /// Only who was there: this many ranks, no traffic.
    Ranks(u32),
    /// Only who was there: a rank on every adapter of the job's machines, no traffic.
    Adapters,
}

/// How a trace becomes phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// One phase for the whole run.
    One,
    /// A new phase wherever all ranks wait for all; phases that send nearly the same become one that repeats.
    Collectives {
        /// "Nearly": at most so large a part of their bytes differs (0: equal).
        tolerance: f64,
    },
}

impl Default for Cut {
    /// At collectives, with a tolerance of 1 %.
    fn default() -> Self {
        Self::Collectives { tolerance: 0.01 }
    }
}

/// One phase of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpec {
    /// A name for tables; may be empty.
    pub name: String,
    /// Its traffic, each time ([`Source::Matrix`] or [`Source::Pattern`]).
    pub source: Source,
    /// How often it happens.
    pub repeats: f64,
}

/// Which machines a job gets. With one adapter a machine these are hosts of the fabric.
#[derive(Clone, Debug, PartialEq)]
pub enum Allocation {
    /// Free machines in order from this number on.
    Contiguous(u32),
    /// Free machines drawn uniformly.
    Random,
    /// The same, but at most so many on a leaf (of their first adapter).
    RandomAtMost(u32),
    /// The first free machines of a cluster on which other jobs already run (production-like).
    Fragmented,
    /// These machines or adapters, by name or GUID, already expanded from a Slurm hostlist.
    Hosts(Vec<String>),
}

/// Which rank goes to which machine of an allocation; on a machine the adapters take ranks in turn ([`Machine::host_of`](crate::Machine::host_of)).
#[derive(Clone, Debug, PartialEq)]
pub enum Mapping {
    /// Ranks in order, `ranks_per_host` at a time (SLURM `-m block`).
    Block,
    /// Round robin over the hosts.
    Cyclic,
    /// Round robin over the hosts of a leaf, leaves one after another.
    CyclicInLeaf,
    /// A random permutation.
    Random,
    /// Tiles of a process grid on consecutive hosts. One or two levels, innermost first; each
    /// `[x, y, z…]`, the outer one counted in inner tiles (3x3x4 ranks a host, 4x4x2 hosts a leaf:
    /// Taffet, dissertation, sec. 2.5).
    Tiled(Vec<Vec<u32>>),
    /// Fill these leaves of the allocation (counted from 0) first, then block.
    FillLeaves(Vec<u32>),
    /// One host name a rank, from a file; the path as written.
    File(String),
}

/// One `[[job]]` of a jobs file.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Its name in tables.
    pub name: String,
    /// Its traffic.
    pub source: Source,
    /// Its hosts.
    pub allocation: Allocation,
    /// Its rank-to-host mapping.
    pub mapping: Mapping,
    /// Which adapters of its machines it uses.
    pub adapters: AdapterChoice,
    /// Ranks on each machine (at least 1). Unless given, ranks are spread over the machines, at most one an adapter.
    pub ranks_per_host: Option<u32>,
    /// Instances side by side (at least 1).
    pub copies: u32,
    /// Rank i of each copy also sends to rank j of each other copy (the dissertation's trace*).
    pub cross_copies: bool,
    /// The process grid that [`Mapping::Tiled`] cuts, x fastest. Empty: the pattern's own grid.
    pub grid: Vec<u32>,
}

/// A job that runs: which hosts it holds and which rank is where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name; copies are numbered `name.0`, `name.1`, ….
    pub name: String,
    /// The ports that it may use, each once: machine by machine in allocation order, with all adapters that it does not leave out.
    pub hosts: Vec<HostId>,
    /// Where its ranks are.
    pub placement: Placement,
}

/// Rank to host.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Placement {
    /// `host_of_rank[rank]`.
    pub host_of_rank: Vec<HostId>,
}
