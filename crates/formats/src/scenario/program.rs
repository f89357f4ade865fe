//! `program = { kind = "…", … }`: the patterns of applications, with the keys of each kind.

use crate::FormatError;
use crate::jobs::MAX_RANKS;
use crate::jobs::placing::unknown;
use crate::keys::Keys;

use super::values::{MOST_BYTES, MOST_TIMES, microseconds, periodic, root, shape, side, size, spec, times};

/// What a job's ranks do, as a pattern. Ranks are those of the job; sizes are bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// Messages to one partner, each awaited before the next.
    Stream {
        /// A traffic pattern in which everybody sends to at most one and receives from at most one.
        pattern: String,
        /// Messages a rank.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
    },
    /// Pairs exchange rounds of many messages at once.
    Pairs {
        /// Who with whom.
        pairing: Pairing,
        /// Rounds, each awaited.
        rounds: u64,
        /// Messages a round.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
    },
    /// Messages to the six neighbours on a periodic grid, all awaited at the end of an iteration.
    Stencil {
        /// Ranks along x, y, z; x fastest.
        shape: [u32; 3],
        /// Messages to each neighbour.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
        /// Times.
        iterations: u64,
    },
    /// Exchange with the neighbours of a grid across faces, edges and corners, with computation between.
    Halo {
        /// Ranks along x, y, z; x fastest.
        shape: [u32; 3],
        /// Whether each direction wraps round.
        periodic: [bool; 3],
        /// Bytes across a face, an edge, a corner; 0: no message.
        bytes: [u64; 3],
        /// Times.
        iterations: u64,
        /// Computation before each, ps.
        compute_ps: u64,
    },
    /// Barriers over rows, columns and the whole of a grid (Taffet, dissertation, Algorithm 8).
    BarrierGrid {
        /// Ranks a row.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Times.
        iterations: u64,
        /// Bytes of a message.
        bytes: u64,
    },
    /// One collective again and again.
    Collective {
        /// Which.
        collective: String,
        /// How; `None`: by size.
        algorithm: Option<String>,
        /// Where it starts or ends.
        root: u32,
        /// Bytes.
        bytes: u64,
        /// Times.
        iterations: u64,
    },
    /// A message from every rank to every other, all awaited.
    AllToAll {
        /// Bytes of each.
        bytes: u64,
        /// Times.
        iterations: u64,
        /// Computation before each, ps.
        compute_ps: u64,
    },
    /// Everybody sends to one.
    Incast {
        /// The receiver.
        root: u32,
        /// Messages of each sender.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
        /// Times.
        iterations: u64,
    },
    /// Streams to random partners, others each round.
    Permutation {
        /// Rounds.
        rounds: u64,
        /// Messages a round.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
    },
    /// The messages of a traffic matrix, all at once, all awaited.
    Matrix {
        /// Its file, Matrix Market or CSV.
        matrix: String,
        /// Times.
        iterations: u64,
    },
    /// A transform in every plane of equal z, and messages to the planes beside (Taffet, dissertation, sec. 2.4.1).
    Slabs {
        /// Ranks along x, y, z; x fastest.
        shape: [u32; 3],
        /// Bytes from each rank of a plane to each other.
        bytes: u64,
        /// Bytes to the same place in the planes before and behind; 0: no message.
        beside_bytes: u64,
        /// Times.
        iterations: u64,
        /// Computation before each, ps.
        compute_ps: u64,
    },
    /// A stencil code that exchanges faces, computes and sums, variable by variable (Taffet, dissertation, sec. 2.4.2).
    MiniGhost {
        /// Ranks along x, y, z; x fastest.
        shape: [u32; 3],
        /// In which order.
        strategy: Strategy,
        /// Variables.
        variables: u64,
        /// Bytes of one variable across a face.
        face_bytes: u64,
        /// Time steps.
        iterations: u64,
        /// What packing one variable for one face takes, ps.
        pack_ps: u64,
        /// The stencil of one variable, ps.
        compute_ps: u64,
        /// Share of the stencils that something else interrupts.
        noise: f64,
        /// For how long on average, exponentially distributed, ps.
        noise_ps: u64,
    },
    /// Messages to random ranks of other hosts at random times: offered load, which nobody waits for.
    Uniform {
        /// Bytes of each.
        bytes: u64,
        /// Of a host link's bandwidth, headers of packets included.
        load: f64,
        /// The window that is measured.
        measured: Measured,
        /// From the beginning to the window, ps; `None`: a quarter of the window.
        warmup_ps: Option<u64>,
    },
}

/// How long offered load is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// For so long, ps.
    For(u64),
    /// For as long as a host's link needs for so many of its messages at this load.
    Messages(u64),
}

/// Who is whose partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Drawn at random.
    Random,
    /// Ranks 0 and 1, 2 and 3, ….
    Adjacent,
    /// The first half with the second, in order.
    Halves,
}

/// What miniGhost does when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Bulk synchronous: all variables in one message a neighbour, before the first stencil.
    Bspma,
    /// A single variable's faces before its stencil, its sum after it.
    Svaf,
    /// The same, but all sums at the end of the step.
    Svafp,
}

/// Messages of a host that are measured, unless given.
const MESSAGES: u64 = 1000;

const KINDS: [&str; 13] = [
    "stream",
    "pairs",
    "stencil",
    "halo",
    "barrier-grid",
    "collective",
    "all-to-all",
    "incast",
    "permutation",
    "matrix",
    "slabs",
    "minighost",
    "uniform",
];

/// Keys of all kinds: what is none of them is refused before the kind is known.
const KEYS: [&str; 28] = [
    "kind",
    "pattern",
    "messages",
    "bytes",
    "pairing",
    "rounds",
    "shape",
    "periodic",
    "edge_bytes",
    "corner_bytes",
    "iterations",
    "compute_us",
    "columns",
    "rows",
    "collective",
    "algorithm",
    "root",
    "load",
    "face_bytes",
    "matrix",
    "beside_bytes",
    "strategy",
    "variables",
    "pack_us",
    "noise",
    "noise_us",
    "warmup_us",
    "measure_us",
];

impl Program {
    /// The process grid that it lives on, x fastest; empty if it has none.
    pub fn grid(&self) -> Vec<u32> {
        match *self {
            Self::Stencil { shape, .. }
            | Self::Halo { shape, .. }
            | Self::Slabs { shape, .. }
            | Self::MiniGhost { shape, .. } => shape.to_vec(),
            Self::BarrierGrid { columns, rows, .. } => vec![columns, rows],
            _ => Vec::new(),
        }
    }

    /// Ranks that it needs, where it says so itself.
    pub fn ranks(&self) -> Option<u32> {
        match self {
            Self::Stencil { shape, .. }
            | Self::Halo { shape, .. }
            | Self::Slabs { shape, .. }
            | Self::MiniGhost { shape, .. } => Some(shape.iter().product()),
            Self::BarrierGrid { columns, rows, .. } => Some(columns * rows),
            _ => None,
        }
    }
}

/// The program of a job.
pub(super) fn read(job: &Keys) -> Result<Program, FormatError> {
    let Some(first) = job.table("program", &KEYS, "a program")? else {
        unreachable!("the caller has seen it");
    };
    let kind = match first.text("kind")? {
        Some(kind) if KINDS.contains(&kind) => kind,
        Some(kind) => {
            return Err(first.error("kind", unknown(&KINDS.join(", "), kind, &KINDS)));
        }
        None => return Err(first.whole_error(format!("expected a kind: {}", KINDS.join(", ")))),
    };
    let with = |known: &[&str]| {
        let known: Vec<&str> = ["kind"].iter().chain(known).copied().collect();
        let keys = job.table("program", &known, &format!("a program of kind \"{kind}\""))?;
        Ok::<_, FormatError>(keys.expect("it was just there"))
    };
    Ok(match kind {
        "stream" => {
            let keys = with(&["pattern", "messages", "bytes"])?;
            Program::Stream {
                pattern: spec(&keys)?,
                messages: times(&keys, "messages")?,
                bytes: size(&keys)?,
            }
        }
        "pairs" => {
            let keys = with(&["pairing", "rounds", "messages", "bytes"])?;
            let pairing = match keys.word("pairing", &["random", "adjacent", "halves"])? {
                Some("adjacent") => Pairing::Adjacent,
                Some("halves") => Pairing::Halves,
                _ => Pairing::Random,
            };
            let (rounds, messages) = (times(&keys, "rounds")?, times(&keys, "messages")?);
            Program::Pairs { pairing, rounds, messages, bytes: size(&keys)? }
        }
        "stencil" => {
            let keys = with(&["shape", "messages", "bytes", "iterations"])?;
            let (messages, iterations) = (times(&keys, "messages")?, times(&keys, "iterations")?);
            Program::Stencil { shape: shape(&keys)?, messages, bytes: size(&keys)?, iterations }
        }
        "halo" => {
            let keys = with(&[
                "shape",
                "periodic",
                "face_bytes",
                "edge_bytes",
                "corner_bytes",
                "iterations",
                "compute_us",
            ])?;
            let faces = |key| Ok::<_, FormatError>(keys.size(key, 0..=MOST_BYTES)?.unwrap_or(0));
            let bytes = [faces("face_bytes")?, faces("edge_bytes")?, faces("corner_bytes")?];
            if bytes == [0; 3] {
                return Err(
                    keys.whole_error("expected face_bytes, edge_bytes or corner_bytes above 0".into())
                );
            }
            let (iterations, compute_ps) = (times(&keys, "iterations")?, microseconds(&keys, "compute_us")?);
            Program::Halo { shape: shape(&keys)?, periodic: periodic(&keys)?, bytes, iterations, compute_ps }
        }
        "barrier-grid" => {
            let keys = with(&["columns", "rows", "iterations", "bytes"])?;
            let (columns, rows) = (side(&keys, "columns")?, side(&keys, "rows")?);
            if u64::from(columns) * u64::from(rows) > u64::from(MAX_RANKS) {
                return Err(keys.error("rows", format!("expected at most {MAX_RANKS} ranks in all")));
            }
            let bytes = keys.size("bytes", 1..=MOST_BYTES)?.unwrap_or(8);
            Program::BarrierGrid { columns, rows, iterations: times(&keys, "iterations")?, bytes }
        }
        "collective" => {
            let keys = with(&["collective", "algorithm", "root", "bytes", "iterations"])?;
            let needed = || keys.whole_error("expected collective = \"allreduce\" or another".into());
            Program::Collective {
                collective: keys.text("collective")?.ok_or_else(needed)?.to_owned(),
                algorithm: keys.text("algorithm")?.map(str::to_owned),
                root: root(&keys)?,
                bytes: keys.size("bytes", 1..=MOST_BYTES)?.unwrap_or(8),
                iterations: times(&keys, "iterations")?,
            }
        }
        "all-to-all" => {
            let keys = with(&["bytes", "iterations", "compute_us"])?;
            let (iterations, compute_ps) = (times(&keys, "iterations")?, microseconds(&keys, "compute_us")?);
            Program::AllToAll { bytes: size(&keys)?, iterations, compute_ps }
        }
        "incast" => {
            let keys = with(&["root", "messages", "bytes", "iterations"])?;
            let (messages, iterations) = (times(&keys, "messages")?, times(&keys, "iterations")?);
            Program::Incast { root: root(&keys)?, messages, bytes: size(&keys)?, iterations }
        }
        "permutation" => {
            let keys = with(&["rounds", "messages", "bytes"])?;
            let (rounds, messages) = (times(&keys, "rounds")?, times(&keys, "messages")?);
            Program::Permutation { rounds, messages, bytes: size(&keys)? }
        }
        "matrix" => {
            let keys = with(&["matrix", "iterations"])?;
            let needed = || keys.whole_error("expected matrix = \"traffic.mtx.gz\" or another file".into());
            let matrix = keys.text("matrix")?.filter(|path| !path.trim().is_empty()).ok_or_else(needed)?;
            Program::Matrix { matrix: matrix.to_owned(), iterations: times(&keys, "iterations")? }
        }
        "slabs" => {
            let keys = with(&["shape", "bytes", "beside_bytes", "iterations", "compute_us"])?;
            let beside_bytes = keys.size("beside_bytes", 0..=MOST_BYTES)?.unwrap_or(0);
            let (iterations, compute_ps) = (times(&keys, "iterations")?, microseconds(&keys, "compute_us")?);
            Program::Slabs { shape: shape(&keys)?, bytes: size(&keys)?, beside_bytes, iterations, compute_ps }
        }
        "minighost" => ghost(&with(&[
            "shape",
            "strategy",
            "variables",
            "face_bytes",
            "iterations",
            "compute_us",
            "pack_us",
            "noise",
            "noise_us",
        ])?)?,
        _ => uniform(&with(&["bytes", "load", "messages", "measure_us", "warmup_us"])?)?,
    })
}

fn uniform(keys: &Keys) -> Result<Program, FormatError> {
    let load = keys.number("load", "a share of a host's link, 1e-9 to 10", |x| (1e-9..=10.0).contains(&x))?;
    let load = load.ok_or_else(|| keys.whole_error("expected load = 0.5 or another".into()))?;
    let us = |key| keys.number(key, "microseconds, 0 to 1e8", |t| (0.0..=1e8).contains(&t));
    let ps = |us: f64| (us * 1e6).round() as u64;
    let messages = keys.whole("messages", 1..=MOST_TIMES)?.map(|n| n as u64);
    let measured = match (us("measure_us")?.map(ps), messages) {
        (Some(_), Some(_)) => {
            return Err(keys.error("measure_us", "expected measure_us or messages, not both".into()));
        }
        (Some(0), None) => return Err(keys.error("measure_us", "expected more than 0".into())),
        (Some(ps), None) => Measured::For(ps),
        (None, messages) => Measured::Messages(messages.unwrap_or(MESSAGES)),
    };
    Ok(Program::Uniform { bytes: size(keys)?, load, measured, warmup_ps: us("warmup_us")?.map(ps) })
}

fn ghost(keys: &Keys) -> Result<Program, FormatError> {
    let strategy = match keys.word("strategy", &["bspma", "svaf", "svafp"])? {
        Some("svaf") => Strategy::Svaf,
        Some("svafp") => Strategy::Svafp,
        _ => Strategy::Bspma,
    };
    // (All variables go in one message.)
    let variables = keys.whole("variables", 1..=1000)?.unwrap_or(40) as u64;
    let needed = || keys.whole_error("expected face_bytes, such as \"344KiB\"".into());
    let noise = keys.number("noise", "a share of the stencils, 0 to 1", |x| (0.0..=1.0).contains(&x))?;
    Ok(Program::MiniGhost {
        shape: shape(keys)?,
        strategy,
        variables,
        face_bytes: keys.size("face_bytes", 1..=MOST_BYTES / 1024)?.ok_or_else(needed)?,
        iterations: times(keys, "iterations")?,
        pack_ps: microseconds(keys, "pack_us")?,
        compute_ps: microseconds(keys, "compute_us")?,
        noise: noise.unwrap_or(0.0),
        noise_ps: microseconds(keys, "noise_us")?,
    })
}
