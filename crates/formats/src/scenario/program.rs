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
    /// Pairs send each other a message in turn.
    PingPong {
        /// Who with whom.
        pairing: Pairing,
        /// Bytes of a message.
        bytes: u64,
        /// Times there and back.
        iterations: u64,
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
    /// A wavefront over a grid of ranks, from every corner in turn.
    Sweep {
        /// Ranks a row.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Bytes of a message.
        bytes: u64,
        /// Blocks of a sweep.
        blocks: u64,
        /// Times.
        iterations: u64,
        /// Computation of a block, ps.
        compute_ps: u64,
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
    /// The messages of a traffic pattern again and again, all at once, all awaited, with computation and barriers.
    Exchange {
        /// Who sends to whom.
        pattern: String,
        /// Bytes of a message, times what the pattern says.
        bytes: u64,
        /// Times.
        iterations: u64,
        /// Computation of a rank that sends, before each, ps.
        compute_ps: u64,
        /// A barrier of all ranks after so many; 0: none.
        barrier_every: u64,
    },
    /// NAS CG: exchanges in rows of a process grid, with the transposed place, and sums (paper 002).
    NasCg {
        /// Its problem size: S, W, A, B, C or D.
        class: char,
        /// Whether the sums of 8 bytes are there.
        sums: bool,
        /// Times.
        iterations: u64,
    },
    /// NAS FT: an all-to-all of symmetric pairs (paper 002).
    NasFt {
        /// Its problem size.
        class: char,
        /// Times.
        iterations: u64,
    },
    /// WRF: an exchange with the rows before and behind (paper 002).
    Wrf {
        /// Ranks a row.
        columns: u32,
        /// Bytes of a message.
        bytes: u64,
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
        /// A traffic pattern whose receivers of each rank are drawn from; `None`: all ranks of other hosts.
        pattern: Option<String>,
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

/// A kind of program: its word, its keys besides `kind`, and what reads them.
struct Kind {
    name: &'static str,
    keys: &'static [&'static str],
    read: fn(&Keys) -> Result<Program, FormatError>,
}

/// All kinds, in the order messages list them. A new one is a line here, a function below and a variant of [`Program`].
const KINDS: [Kind; 19] = [
    Kind { name: "stream", keys: &["pattern", "messages", "bytes"], read: stream },
    Kind { name: "pairs", keys: &["pairing", "rounds", "messages", "bytes"], read: pairs },
    Kind { name: "ping-pong", keys: &["pairing", "bytes", "iterations"], read: ping_pong },
    Kind { name: "stencil", keys: &["shape", "messages", "bytes", "iterations"], read: stencil },
    Kind {
        name: "halo",
        keys: &["shape", "periodic", "face_bytes", "edge_bytes", "corner_bytes", "iterations", "compute_us"],
        read: halo,
    },
    Kind { name: "barrier-grid", keys: &["columns", "rows", "iterations", "bytes"], read: barrier_grid },
    Kind {
        name: "sweep",
        keys: &["columns", "rows", "bytes", "blocks", "iterations", "compute_us"],
        read: sweep,
    },
    Kind {
        name: "collective",
        keys: &["collective", "algorithm", "root", "bytes", "iterations"],
        read: collective,
    },
    Kind { name: "all-to-all", keys: &["bytes", "iterations", "compute_us"], read: all_to_all },
    Kind { name: "incast", keys: &["root", "messages", "bytes", "iterations"], read: incast },
    Kind { name: "permutation", keys: &["rounds", "messages", "bytes"], read: permutation },
    Kind { name: "matrix", keys: &["matrix", "iterations"], read: matrix },
    Kind {
        name: "exchange",
        keys: &["pattern", "bytes", "iterations", "compute_us", "barrier_every"],
        read: exchange,
    },
    Kind {
        name: "slabs",
        keys: &["shape", "bytes", "beside_bytes", "iterations", "compute_us"],
        read: slabs,
    },
    Kind {
        name: "minighost",
        keys: &[
            "shape",
            "strategy",
            "variables",
            "face_bytes",
            "iterations",
            "compute_us",
            "pack_us",
            "noise",
            "noise_us",
        ],
        read: minighost,
    },
    Kind { name: "nas-cg", keys: &["class", "sums", "iterations"], read: nas_cg },
    Kind { name: "nas-ft", keys: &["class", "iterations"], read: nas_ft },
    Kind { name: "wrf", keys: &["columns", "bytes", "iterations"], read: wrf },
    Kind {
        name: "uniform",
        keys: &["bytes", "load", "messages", "measure_us", "warmup_us", "pattern"],
        read: uniform,
    },
];

impl Program {
    /// The process grid that it lives on, x fastest; empty if it has none.
    pub fn grid(&self) -> Vec<u32> {
        match *self {
            Self::Stencil { shape, .. }
            | Self::Halo { shape, .. }
            | Self::Slabs { shape, .. }
            | Self::MiniGhost { shape, .. } => shape.to_vec(),
            Self::BarrierGrid { columns, rows, .. } | Self::Sweep { columns, rows, .. } => {
                vec![columns, rows]
            }
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
            Self::BarrierGrid { columns, rows, .. } | Self::Sweep { columns, rows, .. } => {
                Some(columns * rows)
            }
            _ => None,
        }
    }
}

/// The program of a job.
pub(super) fn read(job: &Keys) -> Result<Program, FormatError> {
    // What is a key of no kind is refused before the kind is known.
    let mut known = vec!["kind"];
    for key in KINDS.iter().flat_map(|kind| kind.keys) {
        if !known.contains(key) {
            known.push(key);
        }
    }
    let Some(first) = job.table("program", &known, "a program")? else {
        unreachable!("the caller has seen it");
    };
    let names = KINDS.map(|kind| kind.name);
    let Some(name) = first.text("kind")? else {
        return Err(first.whole_error(format!("expected a kind: {}", names.join(", "))));
    };
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        return Err(first.error("kind", unknown(&names.join(", "), name, &names)));
    };
    let known: Vec<&str> = ["kind"].iter().chain(kind.keys).copied().collect();
    let keys = job.table("program", &known, &format!("a program of kind \"{name}\""))?;
    (kind.read)(&keys.expect("it was just there"))
}

fn stream(keys: &Keys) -> Result<Program, FormatError> {
    Ok(Program::Stream { pattern: spec(keys)?, messages: times(keys, "messages")?, bytes: size(keys)? })
}

fn pairs(keys: &Keys) -> Result<Program, FormatError> {
    let pairing = pairing(keys)?.unwrap_or(Pairing::Random);
    let (rounds, messages) = (times(keys, "rounds")?, times(keys, "messages")?);
    Ok(Program::Pairs { pairing, rounds, messages, bytes: size(keys)? })
}

fn pairing(keys: &Keys) -> Result<Option<Pairing>, FormatError> {
    let word = keys.word("pairing", &["random", "adjacent", "halves"])?;
    Ok(word.map(|word| match word {
        "adjacent" => Pairing::Adjacent,
        "halves" => Pairing::Halves,
        _ => Pairing::Random,
    }))
}

fn ping_pong(keys: &Keys) -> Result<Program, FormatError> {
    let pairing = pairing(keys)?.unwrap_or(Pairing::Adjacent);
    Ok(Program::PingPong { pairing, bytes: size(keys)?, iterations: times(keys, "iterations")? })
}

fn stencil(keys: &Keys) -> Result<Program, FormatError> {
    let (messages, iterations) = (times(keys, "messages")?, times(keys, "iterations")?);
    Ok(Program::Stencil { shape: shape(keys)?, messages, bytes: size(keys)?, iterations })
}

fn halo(keys: &Keys) -> Result<Program, FormatError> {
    let share = |key| Ok::<_, FormatError>(keys.size(key, 0..=MOST_BYTES)?.unwrap_or(0));
    let bytes = [share("face_bytes")?, share("edge_bytes")?, share("corner_bytes")?];
    if bytes == [0; 3] {
        return Err(keys.whole_error("expected face_bytes, edge_bytes or corner_bytes above 0".into()));
    }
    let (iterations, compute_ps) = (times(keys, "iterations")?, microseconds(keys, "compute_us")?);
    Ok(Program::Halo { shape: shape(keys)?, periodic: periodic(keys)?, bytes, iterations, compute_ps })
}

fn rows_and_columns(keys: &Keys) -> Result<(u32, u32), FormatError> {
    let (columns, rows) = (side(keys, "columns")?, side(keys, "rows")?);
    if u64::from(columns) * u64::from(rows) > u64::from(MAX_RANKS) {
        return Err(keys.error("rows", format!("expected at most {MAX_RANKS} ranks in all")));
    }
    Ok((columns, rows))
}

fn sweep(keys: &Keys) -> Result<Program, FormatError> {
    let (columns, rows) = rows_and_columns(keys)?;
    let (blocks, iterations) = (times(keys, "blocks")?, times(keys, "iterations")?);
    let compute_ps = microseconds(keys, "compute_us")?;
    Ok(Program::Sweep { columns, rows, bytes: size(keys)?, blocks, iterations, compute_ps })
}

fn barrier_grid(keys: &Keys) -> Result<Program, FormatError> {
    let (columns, rows) = rows_and_columns(keys)?;
    let bytes = keys.size("bytes", 1..=MOST_BYTES)?.unwrap_or(8);
    Ok(Program::BarrierGrid { columns, rows, iterations: times(keys, "iterations")?, bytes })
}

fn collective(keys: &Keys) -> Result<Program, FormatError> {
    let needed = || keys.whole_error("expected collective = \"allreduce\" or another".into());
    Ok(Program::Collective {
        collective: keys.text("collective")?.ok_or_else(needed)?.to_owned(),
        algorithm: keys.text("algorithm")?.map(str::to_owned),
        root: root(keys)?,
        bytes: keys.size("bytes", 1..=MOST_BYTES)?.unwrap_or(8),
        iterations: times(keys, "iterations")?,
    })
}

fn all_to_all(keys: &Keys) -> Result<Program, FormatError> {
    let (iterations, compute_ps) = (times(keys, "iterations")?, microseconds(keys, "compute_us")?);
    Ok(Program::AllToAll { bytes: size(keys)?, iterations, compute_ps })
}

fn incast(keys: &Keys) -> Result<Program, FormatError> {
    let (messages, iterations) = (times(keys, "messages")?, times(keys, "iterations")?);
    Ok(Program::Incast { root: root(keys)?, messages, bytes: size(keys)?, iterations })
}

fn permutation(keys: &Keys) -> Result<Program, FormatError> {
    let (rounds, messages) = (times(keys, "rounds")?, times(keys, "messages")?);
    Ok(Program::Permutation { rounds, messages, bytes: size(keys)? })
}

fn matrix(keys: &Keys) -> Result<Program, FormatError> {
    let needed = || keys.whole_error("expected matrix = \"traffic.mtx.gz\" or another file".into());
    let matrix = keys.text("matrix")?.filter(|path| !path.trim().is_empty()).ok_or_else(needed)?;
    Ok(Program::Matrix { matrix: matrix.to_owned(), iterations: times(keys, "iterations")? })
}

fn exchange(keys: &Keys) -> Result<Program, FormatError> {
    let (iterations, compute_ps) = (times(keys, "iterations")?, microseconds(keys, "compute_us")?);
    let barrier_every = keys.whole("barrier_every", 0..=MOST_TIMES)?.unwrap_or(0) as u64;
    Ok(Program::Exchange { pattern: spec(keys)?, bytes: size(keys)?, iterations, compute_ps, barrier_every })
}

fn slabs(keys: &Keys) -> Result<Program, FormatError> {
    let beside_bytes = keys.size("beside_bytes", 0..=MOST_BYTES)?.unwrap_or(0);
    let (iterations, compute_ps) = (times(keys, "iterations")?, microseconds(keys, "compute_us")?);
    Ok(Program::Slabs { shape: shape(keys)?, bytes: size(keys)?, beside_bytes, iterations, compute_ps })
}

/// A problem size of the NAS parallel benchmarks; C unless given.
fn class(keys: &Keys) -> Result<char, FormatError> {
    let word = keys.word("class", &["S", "W", "A", "B", "C", "D"])?;
    Ok(word.and_then(|word| word.chars().next()).unwrap_or('C'))
}

fn nas_cg(keys: &Keys) -> Result<Program, FormatError> {
    let sums = keys.flag("sums")?.unwrap_or(true);
    Ok(Program::NasCg { class: class(keys)?, sums, iterations: times(keys, "iterations")? })
}

fn nas_ft(keys: &Keys) -> Result<Program, FormatError> {
    Ok(Program::NasFt { class: class(keys)?, iterations: times(keys, "iterations")? })
}

fn wrf(keys: &Keys) -> Result<Program, FormatError> {
    let columns = keys.whole("columns", 1..=i64::from(MAX_RANKS))?.unwrap_or(16) as u32;
    Ok(Program::Wrf { columns, bytes: size(keys)?, iterations: times(keys, "iterations")? })
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
    let pattern = keys.text("pattern")?.map(|_| spec(keys)).transpose()?;
    let warmup_ps = us("warmup_us")?.map(ps);
    Ok(Program::Uniform { bytes: size(keys)?, load, measured, warmup_ps, pattern })
}

fn minighost(keys: &Keys) -> Result<Program, FormatError> {
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
