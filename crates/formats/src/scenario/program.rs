//! `program = { kind = "…", … }`: the patterns of applications, with the keys of each kind.

use std::ops::RangeInclusive;

use crate::FormatError;
use crate::error::excerpt;
use crate::jobs::{MAX_RANKS, unknown};
use crate::keys::Keys;

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
    /// Messages to random ranks with random pauses: load that nobody waits for.
    Uniform {
        /// Messages a rank.
        messages: u64,
        /// Bytes of each.
        bytes: u64,
        /// Of a host link's bandwidth, on average.
        load: f64,
    },
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

const KINDS: [&str; 11] = [
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
    "uniform",
];

/// Keys of all kinds: what is none of them is refused before the kind is known.
const KEYS: [&str; 20] = [
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
];

/// Largest message: a tebibyte.
const MOST_BYTES: u64 = 1 << 40;
/// Most repetitions of anything.
const MOST_TIMES: i64 = 1_000_000_000;

impl Program {
    /// The process grid that it lives on, x fastest; empty if it has none.
    pub fn grid(&self) -> Vec<u32> {
        match *self {
            Self::Stencil { shape, .. } | Self::Halo { shape, .. } => shape.to_vec(),
            Self::BarrierGrid { columns, rows, .. } => vec![columns, rows],
            _ => Vec::new(),
        }
    }

    /// Ranks that it needs, where it says so itself.
    pub fn ranks(&self) -> Option<u32> {
        match self {
            Self::Stencil { shape, .. } | Self::Halo { shape, .. } => Some(shape.iter().product()),
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
            let (iterations, compute_ps) = (times(&keys, "iterations")?, compute(&keys)?);
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
            let (iterations, compute_ps) = (times(&keys, "iterations")?, compute(&keys)?);
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
        _ => {
            let keys = with(&["messages", "bytes", "load"])?;
            let load =
                keys.number("load", "a share of a link, 1e-9 to 10", |x| (1e-9..=10.0).contains(&x))?;
            let load = load.ok_or_else(|| keys.whole_error("expected load = 0.5 or another".into()))?;
            Program::Uniform { messages: times(&keys, "messages")?, bytes: size(&keys)?, load }
        }
    })
}

/// How often; once unless given.
fn times(keys: &Keys, key: &str) -> Result<u64, FormatError> {
    Ok(keys.whole(key, 1..=MOST_TIMES)?.unwrap_or(1) as u64)
}

/// `bytes`, which must be there.
fn size(keys: &Keys) -> Result<u64, FormatError> {
    let range: RangeInclusive<u64> = 1..=MOST_BYTES;
    keys.size("bytes", range)?.ok_or_else(|| keys.whole_error("expected bytes, such as \"2MiB\"".into()))
}

fn compute(keys: &Keys) -> Result<u64, FormatError> {
    let us = keys.number("compute_us", "microseconds, 0 to 1e8", |t| (0.0..=1e8).contains(&t))?;
    Ok((us.unwrap_or(0.0) * 1e6).round() as u64)
}

fn root(keys: &Keys) -> Result<u32, FormatError> {
    Ok(keys.whole("root", 0..=i64::from(MAX_RANKS) - 1)?.unwrap_or(0) as u32)
}

fn side(keys: &Keys, key: &str) -> Result<u32, FormatError> {
    let n = keys.whole(key, 1..=i64::from(MAX_RANKS))?;
    n.map(|n| n as u32).ok_or_else(|| keys.whole_error(format!("expected {key}, a number of ranks")))
}

fn spec(keys: &Keys) -> Result<String, FormatError> {
    match keys.text("pattern")? {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(keys.whole_error("expected pattern = \"bisection-shuffle\" or another".into())),
    }
}

/// `[x]`, `[x, y]` or `[x, y, z]`.
fn shape(keys: &Keys) -> Result<[u32; 3], FormatError> {
    let wrong = || {
        let message = format!("expected 1 to 3 sizes such as [16, 16, 12], at most {MAX_RANKS} ranks");
        match keys.item("shape") {
            Some(_) => keys.error("shape", message),
            None => keys.whole_error(format!("shape: {message}")),
        }
    };
    let list = keys.item("shape").and_then(|item| item.as_array()).ok_or_else(wrong)?;
    if !(1..=3).contains(&list.len()) {
        return Err(wrong());
    }
    let mut shape = [1u32; 3];
    for (size, item) in shape.iter_mut().zip(list) {
        let n = item.as_integer().and_then(|n| u32::try_from(n).ok());
        *size = n.filter(|&n| n > 0).ok_or_else(wrong)?;
    }
    let ranks = shape.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    if ranks <= u64::from(MAX_RANKS) { Ok(shape) } else { Err(wrong()) }
}

/// One flag for all directions, or one each; periodic unless given.
fn periodic(keys: &Keys) -> Result<[bool; 3], FormatError> {
    let Some(item) = keys.item("periodic") else { return Ok([true; 3]) };
    if let Some(all) = item.as_bool() {
        return Ok([all; 3]);
    }
    let flags: Option<Vec<bool>> =
        item.as_array().and_then(|list| list.iter().map(|item| item.as_bool()).collect());
    match flags.as_deref() {
        Some(&[x, y]) => Ok([x, y, false]),
        Some(&[x, y, z]) => Ok([x, y, z]),
        _ => {
            let found = excerpt(&item.to_string());
            Err(keys.error("periodic", format!("expected true, false or one of them each, found {found}")))
        }
    }
}
