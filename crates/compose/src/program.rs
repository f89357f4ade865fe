//! What a job's ranks do: the patterns and traces of a scenario as scripts.

use std::sync::Arc;

use netloom_formats::scenario::{Pairing, Program, Strategy, Work};
use netloom_formats::{Recording, RecordingError, read_csv_triples, read_mtx};
use netloom_model::rng::{below, shuffle};
use netloom_sim::{
    Algorithms, AllToAll, Collective, Exchange, Ghost, GhostOrder, Halo, Incast, Kind, NasCg, NasClass,
    NasFt, Pairs, PermutationStream, PingPong, Repeat, Replay, RowsAndColumns, Script, Slabs, Stencil,
    Stream, Sweep, Tasks, Wrf,
};
use netloom_traffic::{PatternError, events, pattern};

use crate::ComposeError;
use crate::asked::{Asked, Place};
use crate::offered::offered;
use crate::reader::Reader;

/// A job's work, its files read.
pub enum Loaded<'a> {
    /// A pattern, with the ranks that it says it has.
    Pattern(&'a Program, Option<u32>),
    /// A recorded run or a matrix, with its ranks.
    Recorded(Arc<dyn Script>, u32),
}

/// Reads what a job's work needs. Recorded runs are SimGrid's time-independent traces or GOAL
/// schedules, told apart by what is in them.
///
/// # Errors
/// [`ComposeError`] for a file that can't be read or is none of these, algorithms that there are not, or a stream's pattern that is
/// none.
pub fn load<'a>(asked: Asked<'a>, read: &mut Reader) -> Result<Loaded<'a>, ComposeError> {
    match &asked.job().work {
        Work::Program(Program::Matrix { matrix, iterations }) => {
            let bytes = asked.read(read, "matrix", "program.matrix", matrix)?;
            let csv = matrix.strip_suffix(".gz").unwrap_or(matrix).ends_with(".csv");
            let traffic =
                if csv { read_csv_triples(&bytes, matrix, None)? } else { read_mtx(&bytes, matrix)? };
            let (ranks, total) = (traffic.endpoints(), traffic.total());
            let entries = total.iter().map(|(from, to, bytes)| (from, to, bytes.round() as u64));
            Ok(Loaded::Recorded(Arc::new(Exchange::new(ranks, entries, *iterations)), ranks))
        }
        Work::Program(program) => Ok(Loaded::Pattern(program, ranks(program, asked)?)),
        Work::Trace { path, algorithms, compute_scale, flops_per_s } => {
            let recording = Recording::read(path, &mut |name| read("trace", name));
            let recording = recording.map_err(|error| match error {
                RecordingError::File { path, error } => {
                    ComposeError::File { place: None, path, error }.at(asked.at("trace", &"trace"))
                }
                RecordingError::Format(error) => error.into(),
            })?;
            if recording.is_goal() {
                return goal(asked, &recording);
            }
            let algorithms = Algorithms::parse(algorithms)
                .map_err(|error| asked.refuse("algorithms", &format!("algorithms: {error}")))?;
            let workload = match recording.events() {
                Some(calls) => {
                    if flops_per_s.is_some() {
                        let message =
                            "flops_per_s: expected none with this trace (it has the times of its calls)";
                        return Err(asked.refuse("flops_per_s", &message));
                    }
                    let program = events::program(calls, Some(&algorithms));
                    program.map_err(|error| asked.refuse("trace", &error))?.workload
                }
                None => recording.workload()?.workload,
            };
            let workload = Arc::new(workload);
            let ranks = workload.ranks();
            // An operation a nanosecond, where times are known.
            let flops_per_s = flops_per_s.or(recording.events().map(|_| 1e9));
            if flops_per_s.is_none() && *compute_scale != 1.0 {
                let message =
                    "compute_scale: expected flops_per_s beside it: without, this trace computes in no time";
                return Err(asked.refuse("compute_scale", &message));
            }
            // No time at all is infinitely fast.
            let speed = flops_per_s.map_or(f64::INFINITY, |flops| flops / compute_scale);
            let mut replay = Replay::new(workload, speed);
            replay.file = recording.lines;
            replay.algorithms = algorithms;
            Ok(Loaded::Recorded(Arc::new(replay), ranks))
        }
    }
}

/// A schedule, whose computation is in nanoseconds.
fn goal<'a>(asked: Asked<'a>, recording: &Recording) -> Result<Loaded<'a>, ComposeError> {
    let Work::Trace { algorithms, compute_scale, flops_per_s, .. } = &asked.job().work else {
        unreachable!("a trace was read");
    };
    if flops_per_s.is_some() || !algorithms.is_empty() {
        let message = "flops_per_s, algorithms: expected none with a GOAL schedule (it has nanoseconds, and no collectives)";
        let key = if flops_per_s.is_some() { "flops_per_s" } else { "algorithms" };
        return Err(asked.refuse(key, &message));
    }
    let mut tasks = Tasks::new(Arc::new(recording.schedule()?), *compute_scale);
    tasks.file = recording.lines.clone();
    let ranks = tasks.ranks();
    Ok(Loaded::Recorded(Arc::new(tasks), ranks))
}

impl Loaded<'_> {
    /// Ranks that the work says it has; `None` leaves that to its job.
    pub fn ranks(&self) -> Option<u32> {
        match self {
            Self::Pattern(_, ranks) => *ranks,
            Self::Recorded(_, ranks) => Some(*ranks),
        }
    }

    /// What the ranks do.
    ///
    /// # Errors
    /// [`ComposeError`] if it does not fit the job's ranks.
    pub fn script(&self, place: Place) -> Result<Arc<dyn Script>, ComposeError> {
        match self {
            Self::Pattern(program, _) => script(program, place),
            Self::Recorded(script, _) => Ok(Arc::clone(script)),
        }
    }
}

fn ranks(program: &Program, asked: Asked) -> Result<Option<u32>, ComposeError> {
    match program {
        // Patterns on a grid, and those with ranks= of their own, say how many.
        Program::Stream { pattern: spec, .. } | Program::Exchange { pattern: spec, .. } => {
            match pattern(spec, None) {
                Ok(traffic) => Ok(Some(traffic.endpoints())),
                Err(PatternError::NoEndpoints { .. }) => Ok(None),
                Err(error) => Err(asked.pattern(&error)),
            }
        }
        other => Ok(other.ranks()),
    }
}

/// The script of a program.
fn script(program: &Program, place: Place) -> Result<Arc<dyn Script>, ComposeError> {
    let Place { ranks, .. } = place;
    if program.ranks().is_some_and(|own| own != ranks) {
        let own = program.ranks().unwrap_or(0);
        let message = format!("its program has {own} ranks, the job {ranks}: expected one number");
        return Err(place.refuse("kind", &message));
    }
    match *program {
        Program::Stream { pattern: ref spec, messages, bytes } => stream(place, spec, messages, bytes),
        Program::Pairs { pairing, rounds, messages, bytes } => {
            done(Pairs { partner: pairs(pairing, place)?, rounds, messages, bytes })
        }
        Program::PingPong { pairing, bytes, iterations } => {
            done(PingPong { partner: pairs(pairing, place)?, bytes, iterations })
        }
        Program::Stencil { shape, messages, bytes, iterations } => {
            done(Stencil { shape, bytes, messages, iterations })
        }
        Program::Sweep { columns, rows, bytes, blocks, iterations, compute_ps } => {
            done(Sweep { columns, rows, bytes, blocks, iterations, compute_ps })
        }
        Program::BarrierGrid { columns, rows, iterations, bytes } => {
            done(RowsAndColumns { columns, rows, iterations, bytes })
        }
        Program::Uniform { bytes, load, measured, warmup_ps, ref pattern } => {
            done(offered(place, bytes, load, measured, warmup_ps, pattern.as_deref())?)
        }
        Program::Halo { shape, periodic, bytes, iterations, compute_ps } => {
            done(Halo { shape, periodic, bytes, iterations, compute_ps })
        }
        Program::AllToAll { bytes, iterations, compute_ps } => {
            done(AllToAll { ranks, bytes, iterations, compute_ps })
        }
        Program::Incast { root, messages, bytes, iterations } => {
            place.check_root(root)?;
            done(Incast { ranks, root, messages, bytes, iterations })
        }
        Program::Permutation { rounds, messages, bytes } => permutation(place, rounds, messages, bytes),
        Program::Slabs { shape, bytes, beside_bytes, iterations, compute_ps } => {
            done(Slabs { shape, bytes, beside_bytes, iterations, compute_ps })
        }
        Program::NasCg { class, sums, iterations } => {
            let ranks = place.power_of_two()?;
            done(NasCg { ranks, bytes: NasCg::segment_bytes(nas_class(class), ranks), sums, iterations })
        }
        Program::NasFt { class, iterations } => {
            let ranks = place.power_of_two()?;
            done(NasFt { ranks, bytes: NasFt::pair_bytes(nas_class(class), ranks), iterations })
        }
        Program::Wrf { columns, bytes, iterations } => done(Wrf { ranks, columns, bytes, iterations }),
        Program::MiniGhost { .. } => minighost(place, program),
        Program::Exchange { ref pattern, bytes, iterations, compute_ps, barrier_every } => {
            let exchange = exchange(place, pattern, bytes, iterations)?;
            done(exchange.computing(compute_ps).with_barriers(barrier_every))
        }
        Program::Matrix { .. } => unreachable!("it was read as a run"),
        Program::Collective { ref collective, ref algorithm, root, bytes, iterations } => {
            let repeated = repeated(place, collective, algorithm.as_deref(), root, bytes)?;
            done(Repeat { collective: repeated, iterations })
        }
    }
}

fn nas_class(class: char) -> NasClass {
    match class {
        'S' => NasClass::S,
        'W' => NasClass::W,
        'A' => NasClass::A,
        'B' => NasClass::B,
        'D' => NasClass::D,
        _ => NasClass::C,
    }
}

fn done(script: impl Script + 'static) -> Result<Arc<dyn Script>, ComposeError> {
    Ok(Arc::new(script))
}

fn stream(place: Place, spec: &str, messages: u64, bytes: u64) -> Result<Arc<dyn Script>, ComposeError> {
    done(Stream::of(&partners(spec, place)?, messages, bytes))
}

/// The messages of a pattern, each so many times as large as the pattern says.
fn exchange(place: Place, spec: &str, bytes: u64, iterations: u64) -> Result<Exchange, ComposeError> {
    let spec = place.seeded(spec);
    let traffic = pattern(&spec, Some(place.ranks)).map_err(|error| place.asked.pattern(&error))?;
    let total = traffic.total();
    let entries = total.iter().map(|(from, to, times)| (from, to, (times * bytes as f64).round() as u64));
    Ok(Exchange::new(place.ranks, entries, iterations))
}

fn permutation(
    place: Place,
    rounds: u64,
    messages: u64,
    bytes: u64,
) -> Result<Arc<dyn Script>, ComposeError> {
    place.check_two()?;
    let seed = below(&mut place.random(), u64::MAX);
    done(PermutationStream::new(place.ranks, rounds, messages, bytes, seed))
}

fn minighost(place: Place, program: &Program) -> Result<Arc<dyn Script>, ComposeError> {
    let Program::MiniGhost {
        shape,
        strategy,
        variables,
        face_bytes,
        iterations,
        pack_ps,
        compute_ps,
        noise,
        noise_ps,
    } = *program
    else {
        unreachable!("the caller has seen it");
    };
    let order = match strategy {
        Strategy::Bspma => GhostOrder::Together,
        Strategy::Svaf => GhostOrder::ByVariable,
        Strategy::Svafp => GhostOrder::SumsLast,
    };
    let seed = below(&mut place.random(), u64::MAX);
    let steps = iterations;
    done(Ghost { shape, order, variables, face_bytes, steps, pack_ps, compute_ps, noise, noise_ps, seed })
}

/// A collective of all ranks, by its name and that of its algorithm.
fn repeated(
    place: Place,
    collective: &str,
    algorithm: Option<&str>,
    root: u32,
    bytes: u64,
) -> Result<Collective, ComposeError> {
    place.check_root(root)?;
    let kind: Kind = collective.parse().map_err(|error: String| place.refuse("collective", &error))?;
    let algorithm = match algorithm {
        None => None,
        Some(word) => {
            let refuse = |error: String| place.refuse("algorithm", &format!("algorithm: {error}"));
            let algorithm = word.parse().map_err(refuse)?;
            Algorithms::default().set(kind, algorithm).map_err(refuse)?;
            Some(algorithm)
        }
    };
    Ok(Collective { root, algorithm, ..Collective::all(kind, bytes, place.ranks) })
}

/// Whom each rank sends to by a pattern in which everybody who sends sends to one, and receives from one.
fn partners(spec: &str, place: Place) -> Result<Vec<u32>, ComposeError> {
    let ranks = place.ranks;
    let spec = place.seeded(spec);
    let traffic = pattern(&spec, Some(ranks)).map_err(|error| place.asked.pattern(&error))?;
    let matrix = traffic.total();
    let mut to: Vec<u32> = (0..ranks).collect();
    let mut from: Vec<Option<u32>> = vec![None; ranks as usize];
    for (sender, receiver, _) in matrix.iter() {
        if to[sender as usize] != sender || from[receiver as usize].is_some() {
            let who = if to[sender as usize] == sender { receiver } else { sender };
            let message = format!(
                "pattern \"{spec}\" gives rank {who} several partners: expected streams from one to one"
            );
            return Err(place.refuse("pattern", &message));
        }
        to[sender as usize] = receiver;
        from[receiver as usize] = Some(sender);
    }
    if let Some(rank) = (0..ranks).find(|&r| (to[r as usize] != r) != from[r as usize].is_some()) {
        let message = format!(
            "pattern \"{spec}\" has rank {rank} send or receive, not both: expected streams from one to one"
        );
        return Err(place.refuse("pattern", &message));
    }
    Ok(to)
}

fn pairs(pairing: Pairing, place: Place) -> Result<Vec<u32>, ComposeError> {
    let ranks = place.ranks;
    if !ranks.is_multiple_of(2) {
        let message = format!("expected an even number of ranks for pairs, found {ranks}");
        return Err(place.refuse("pairing", &message));
    }
    let mut order: Vec<u32> = (0..ranks).collect();
    match pairing {
        Pairing::Random => shuffle(&mut place.random(), &mut order),
        Pairing::Adjacent => {}
        Pairing::Halves => {
            let half = ranks / 2;
            order = (0..half).flat_map(|r| [r, r + half]).collect();
        }
    }
    let mut partner = vec![0; ranks as usize];
    for pair in order.chunks_exact(2) {
        partner[pair[0] as usize] = pair[1];
        partner[pair[1] as usize] = pair[0];
    }
    Ok(partner)
}
