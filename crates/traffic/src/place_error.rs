//! Why jobs cannot be placed.

/// Why jobs cannot be placed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// A job of nobody.
    #[error("job \"{job}\" has no ranks")]
    NoRanks {
        /// The job.
        job: String,
    },
    /// A job of no copies, or without a rank on a host.
    #[error("job \"{job}\" has {key} = 0: expected at least 1")]
    Zero {
        /// The job.
        job: String,
        /// `copies` or `ranks_per_host`.
        key: &'static str,
    },
    /// More hosts wanted than free.
    #[error(
        "job \"{job}\" needs {wanted} hosts ({copies} x {ranks} ranks, {ranks_per_host} a host), {free} of the fabric's \
         {hosts} are free{note}"
    )]
    TooFewFree {
        /// The job.
        job: String,
        /// Hosts it needs.
        wanted: usize,
        /// Its copies.
        copies: u32,
        /// Ranks of each copy.
        ranks: usize,
        /// Ranks on each host.
        ranks_per_host: u32,
        /// Free hosts that it could have.
        free: usize,
        /// All hosts.
        hosts: usize,
        /// ` from host 10 on`, where that matters.
        note: String,
    },
    /// `contiguous:` beyond the last host.
    #[error("job \"{job}\" starts at host {start}: expected one below {hosts}")]
    Start {
        /// The job.
        job: String,
        /// Where it should start.
        start: u32,
        /// All hosts.
        hosts: usize,
    },
    /// A list too short for the ranks.
    #[error(
        "job \"{job}\" lists {listed} hosts, {copies} x {ranks} ranks at {ranks_per_host} a host need {wanted}"
    )]
    RanksDontFit {
        /// The job.
        job: String,
        /// Hosts listed.
        listed: usize,
        /// Its copies.
        copies: u32,
        /// Ranks of each copy.
        ranks: usize,
        /// Ranks on each host.
        ranks_per_host: u32,
        /// Hosts needed.
        wanted: usize,
    },
    /// A name that no host has.
    #[error("job \"{job}\": the fabric has no host or machine \"{host}\"{help}")]
    UnknownHost {
        /// The job.
        job: String,
        /// The name.
        host: String,
        /// The nearest known one.
        help: String,
    },
    /// A host that is there but cut off.
    #[error("job \"{job}\": the cable of host \"{host}\" is dead")]
    DeadHost {
        /// The job.
        job: String,
        /// The host.
        host: String,
    },
    /// An adapter that no machine has.
    #[error("job \"{job}\": {key}: no machine of the fabric has {what}{help}")]
    NoAdapter {
        /// The job.
        job: String,
        /// `adapters` or `storage`.
        key: &'static str,
        /// Which: `adapter "mlx5_9"`.
        what: String,
        /// The nearest known one.
        help: String,
    },
    /// An adapter that one of the job's machines does not have.
    #[error(
        "job \"{job}\": machine \"{machine}\" has no {what}, which others have: name adapters that all have"
    )]
    LacksAdapter {
        /// The job.
        job: String,
        /// The machine.
        machine: String,
        /// What it has not: `adapter "mlx5_3"`.
        what: String,
    },
    /// A machine or adapter that a job lists and does not use.
    #[error("job \"{job}\" lists \"{host}\", of which its adapters and storage leave nothing")]
    NothingLeft {
        /// The job.
        job: String,
        /// The machine or adapter.
        host: String,
    },
    /// A rail that is another adapter elsewhere.
    #[error("job \"{job}\": rail {rail} is adapter {one} and {other}: expected one adapter, name it")]
    RailsDiffer {
        /// The job.
        job: String,
        /// The rail.
        rail: usize,
        /// Its adapter on a machine: `"mlx5_0" of machine "g0"`.
        one: String,
        /// Its adapter on another: `"mlx5_1" of "g1"`.
        other: String,
    },
    /// Two jobs want the same host.
    #[error("host \"{host}\" is listed by job \"{first}\" and by job \"{second}\": jobs never share hosts")]
    Overlap {
        /// The host.
        host: String,
        /// One job.
        first: String,
        /// The other job.
        second: String,
    },
    /// One job lists a host twice.
    #[error("job \"{job}\" lists host \"{host}\" twice")]
    Twice {
        /// The job.
        job: String,
        /// The host.
        host: String,
    },
    /// A leaf that the allocation does not touch, or that was named twice.
    #[error(
        "job \"{job}\": fill-leaves:{leaf} is given twice, or beyond the allocation's leaves below {count}"
    )]
    Leaf {
        /// The job.
        job: String,
        /// The leaf's number.
        leaf: u32,
        /// Leaves of the allocation.
        count: usize,
    },
    /// Tiles of nothing.
    #[error(
        "job \"{job}\" is mapped in tiles but has no process grid: add grid = [x, y, z], or use a pattern on a grid"
    )]
    NoGrid {
        /// The job.
        job: String,
    },
    /// A grid of another size.
    #[error("job \"{job}\" has {ranks} ranks, its grid {grid} another number")]
    GridSize {
        /// The job.
        job: String,
        /// Its grid.
        grid: String,
        /// Its ranks.
        ranks: usize,
    },
    /// Tiles of another dimension than the grid, or of size 0.
    #[error(
        "job \"{job}\": tiles of {tile} do not cut a grid of {grid}: expected as many sizes, each at least 1"
    )]
    TileShape {
        /// The job.
        job: String,
        /// The tile.
        tile: String,
        /// The grid.
        grid: String,
    },
    /// A mapping file of another length.
    #[error("job \"{job}\": the mapping file has {names} names, expected one for each of {ranks} ranks")]
    MappingLength {
        /// The job.
        job: String,
        /// Its ranks.
        ranks: usize,
        /// Names in the file.
        names: usize,
    },
    /// A mapping file that names a host outside the allocation.
    #[error("job \"{job}\": rank {rank} is mapped to \"{host}\", which the allocation does not have")]
    MappingHost {
        /// The job.
        job: String,
        /// The rank.
        rank: usize,
        /// The name.
        host: String,
    },
    /// A mapping file that puts too many ranks on a host.
    #[error("job \"{job}\": rank {rank} is one too many on \"{host}\": expected at most {ranks_per_host}")]
    MappingFull {
        /// The job.
        job: String,
        /// The rank.
        rank: usize,
        /// The name.
        host: String,
        /// Ranks a host takes.
        ranks_per_host: usize,
    },
    /// An absurd result.
    #[error("the jobs have {entries} pairs of ranks: expected at most {}", crate::pattern::MAX_ENTRIES)]
    TooManyEntries {
        /// Pairs.
        entries: u64,
    },
}

impl PlaceError {
    /// The job and its key, as jobs files spell it, that are to blame, if it is one job.
    pub fn at(&self) -> Option<(&str, &'static str)> {
        Some(match self {
            Self::Zero { job, key } => (job, key),
            Self::NoRanks { job } | Self::TooFewFree { job, .. } => (job, "ranks"),
            Self::Start { job, .. } => (job, "allocation"),
            Self::RanksDontFit { job, .. } | Self::UnknownHost { job, .. } => (job, "hosts"),
            Self::NoAdapter { job, key, .. } => (job, key),
            Self::LacksAdapter { job, .. } | Self::RailsDiffer { job, .. } => (job, "adapters"),
            Self::NothingLeft { job, .. } => (job, "hosts"),
            Self::DeadHost { job, .. } | Self::Twice { job, .. } => (job, "hosts"),
            Self::Overlap { second, .. } => (second, "hosts"),
            Self::NoGrid { job } | Self::Leaf { job, .. } | Self::TileShape { job, .. } => (job, "mapping"),
            Self::GridSize { job, .. } => (job, "grid"),
            Self::MappingLength { job, .. } | Self::MappingHost { job, .. } => (job, "mapping"),
            Self::MappingFull { job, .. } => (job, "mapping"),
            Self::TooManyEntries { .. } => return None,
        })
    }
}
