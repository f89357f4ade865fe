//! The traffic of a recorded run: what it sends, what of that are collectives, and what is not known of it.
//!
//! Collectives are the messages that a replay of the run makes of them ([`collective`](mod@crate::collective)), so matrix and run agree to
//! the byte. Traces do not say which ranks take part in a collective: it is taken as of all, as in a replay, where the ranks agree about
//! it; where they do not it is left out. Both are told, with bytes.
//!
//! Invariant: `traffic` adds up to `bytes.point_to_point + bytes.collective - bytes.within_endpoints`.

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::{Action, CollectiveKind, Cut, Named, Schedule, Task, Trace, Traffic, Workload};

use crate::collective::{Algorithms, Collective};
use crate::phases::{TraceError, phases};

/// A share of all bytes below which it matters to nobody which ranks a collective was of.
const LEAST_SHARE: f64 = 0.01;

/// How a run becomes traffic.
#[derive(Clone, Copy, Debug)]
pub struct RecordedOptions {
    /// How it is cut.
    pub cut: Cut,
    /// How its collectives are done; `None`: they are left out.
    pub collectives: Option<Algorithms>,
}

impl Default for RecordedOptions {
    /// Cut at collectives, which are done by size.
    fn default() -> Self {
        Self { cut: Cut::default(), collectives: Some(Algorithms::default()) }
    }
}

/// What traffic is made of, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MadeOf {
    /// Of messages from one to one.
    pub point_to_point: f64,
    /// Of collectives.
    pub collective: f64,
    /// Of the two, what stays within an endpoint and crosses no link.
    pub within_endpoints: f64,
    /// What is missing: collectives that were not asked for, or of which nobody knows whose they are.
    pub left_out: f64,
}

impl MadeOf {
    /// Everything from one to one.
    pub fn messages(bytes: f64) -> Self {
        Self { point_to_point: bytes, ..Self::default() }
    }

    /// This and that, so many times.
    #[must_use]
    pub fn plus(self, other: Self, times: f64) -> Self {
        Self {
            point_to_point: self.point_to_point + times * other.point_to_point,
            collective: self.collective + times * other.collective,
            within_endpoints: self.within_endpoints + times * other.within_endpoints,
            left_out: self.left_out + times * other.left_out,
        }
    }
}

/// What a run sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Rank to rank.
    pub traffic: Traffic,
    /// What that is made of.
    pub bytes: MadeOf,
    /// What the reader should know, `(kind, text)`: `collectives-left-out`, `communicators`.
    pub notes: Vec<(&'static str, String)>,
}

/// The traffic of a run.
///
/// # Errors
/// [`TraceError`]: too many phases.
pub fn recorded(trace: &Trace, options: &RecordedOptions) -> Result<Recorded, TraceError> {
    let run = &trace.workload;
    let traffic = phases(run, options.cut, options.collectives.as_ref())?;
    let (mut point_to_point, mut within_endpoints) = (0.0, 0.0);
    for rank in 0..run.ranks() {
        for action in run.actions(rank) {
            if let Action::Send { to, bytes, .. } | Action::Isend { to, bytes, .. } = *action {
                let bytes = bytes as f64;
                point_to_point += bytes;
                within_endpoints += if to == rank { bytes } else { 0.0 };
            }
        }
    }
    let named = trace.named.as_ref();
    point_to_point -= named.map_or(0.0, |named| named.bytes as f64);
    let sent = traffic.total().total_bytes();
    let collective =
        if options.collectives.is_some() { sent + within_endpoints - point_to_point } else { 0.0 };
    let mut bytes = MadeOf { point_to_point, collective, within_endpoints, left_out: 0.0 };
    let mut notes = Vec::new();
    if options.collectives.is_none() && !run.collectives().is_empty() {
        let all = phases(run, Cut::One, Some(&Algorithms::default()))?;
        bytes.left_out += all.total().total_bytes() - sent;
    }
    if let Some(named) = named {
        bytes.left_out += named.left_out as f64;
        notes.extend(lacks(named).map(|text| ("left-out-of-trace", text)));
    }
    if !trace.untold.is_empty() {
        let untold: f64 = trace.untold.iter().map(|one| one.bytes as f64).sum();
        bytes.left_out += untold;
        notes.push(("collectives-left-out", left_out(trace, untold)));
    } else if !trace.signs.is_empty() {
        let text = format!(
            "{}: the trace is of communicators that it does not name; its collectives are taken as of all {} ranks, {}",
            trace.signs.join("; "),
            run.ranks(),
            amount(bytes.collective)
        );
        notes.push(("communicators", text));
    } else if named.is_none() && options.collectives.is_some() {
        notes.extend(doubt(run, sent, options).map(|text| ("communicators", text)));
    }
    Ok(Recorded { traffic, bytes, notes })
}

/// A run in which messages of these tags are those of collectives: told as such, or left out.
#[must_use]
pub fn with_collective_tags(trace: Trace, from: u32, count: bool) -> Trace {
    let run = &trace.workload;
    let (mut list, mut bytes) = (Vec::new(), 0);
    for rank in 0..run.ranks() {
        for &action in run.actions(rank) {
            let theirs = match action {
                Action::Send { tag, bytes: size, .. } | Action::Isend { tag, bytes: size, .. }
                    if tag >= from =>
                {
                    bytes += size;
                    true
                }
                Action::Recv { tag, .. } | Action::Irecv { tag, .. } | Action::Wait { tag, .. } => {
                    tag >= from
                }
                _ => false,
            };
            if count || !theirs {
                list.push((rank, action));
            }
        }
    }
    let (bytes, left_out) = if count { (bytes, 0) } else { (0, bytes) };
    let named = Named { bytes, left_out, ..trace.named.unwrap_or_default() };
    let shares: Vec<u64> = (0..run.rows()).flat_map(|row| run.shares(row)).copied().collect();
    let workload =
        Workload::from_actions(run.ranks(), &list, &vec![0; list.len()], run.collectives().to_vec(), shares);
    Trace { workload, named: Some(named), ..trace }
}

/// A schedule's messages. It has no collectives.
pub fn scheduled(schedule: &Schedule) -> Trace {
    let mut list = Vec::new();
    for rank in 0..schedule.ranks() {
        for &task in schedule.tasks(rank) {
            if let Task::Send { to, bytes, tag } = task {
                list.push((rank, Action::Send { to, bytes, tag }));
            }
        }
    }
    Trace::of(Workload::from_actions(schedule.ranks(), &list, &vec![0; list.len()], Vec::new(), Vec::new()))
}

/// What a record has and its program has not.
fn lacks(named: &Named) -> Option<String> {
    let each: Vec<_> = named.lacks.iter().map(|(what, calls)| format!("{calls} {what}")).collect();
    (!each.is_empty()).then(|| format!("left out: {}", each.join(", ")))
}

fn left_out(trace: &Trace, bytes: f64) -> String {
    let kinds: Vec<_> = trace
        .untold
        .iter()
        .map(|one| format!("{} of {} ({})", one.calls, one.kind.name(), amount(one.bytes as f64)))
        .collect();
    let kept = trace.workload.collectives().len();
    format!(
        "collectives with {} are left out, and the run is not cut at them: {}; the ranks do not agree about them, so they are of \
         communicators that the trace does not name ({}); {} before are taken as of all ranks",
        amount(bytes),
        kinds.join(", "),
        trace.signs.join("; "),
        if kept == 0 { "none".to_owned() } else { format!("those ({kept})") },
    )
}

/// Collectives whose bytes grow with the ranks that take part, if they matter: all agree, and still they may be of rows.
fn doubt(run: &Workload, sent: f64, options: &RecordedOptions) -> Option<String> {
    let grows = |kind| matches!(kind, CollectiveKind::Alltoall | CollectiveKind::Allgather);
    let algorithms = options.collectives.as_ref()?;
    let mut alike: BTreeMap<_, (Collective, u64)> = BTreeMap::new();
    for (number, together) in (0..).zip(run.collectives()) {
        if grows(together.kind) && !together.uneven {
            let collective = Collective::recorded(run, number, algorithms);
            alike.entry((together.kind, together.bytes)).or_insert((collective, 0)).1 += 1;
        }
    }
    let each = |collective: Collective| {
        (0..run.ranks())
            .flat_map(|rank| collective.sends(rank, &[]))
            .map(|(_, bytes)| bytes as f64)
            .sum::<f64>()
    };
    let calls: u64 = alike.values().map(|&(_, calls)| calls).sum();
    let bytes: f64 = alike.values().map(|&(collective, calls)| each(collective) * calls as f64).sum();
    if bytes <= LEAST_SHARE * sent || run.ranks() < 4 {
        return None;
    }
    let mut meet = BTreeSet::new();
    for rank in 0..run.ranks() {
        for action in run.actions(rank) {
            if let Action::Send { to, .. } | Action::Isend { to, .. } = *action
                && to != rank
            {
                meet.insert((rank.min(to), rank.max(to)));
            }
        }
    }
    let pairs = u64::from(run.ranks()) * u64::from(run.ranks() - 1) / 2;
    Some(format!(
        "{calls} alltoalls and allgathers with {} are taken as of all {} ranks: traces do not name communicators, and if these were of \
         some ranks each, fewer bytes were sent ({} of the {pairs} pairs of ranks never meet elsewhere)",
        amount(bytes),
        run.ranks(),
        pairs - meet.len() as u64
    ))
}

/// Bytes for people.
fn amount(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut scaled = bytes;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes:.0} B") } else { format!("{scaled:.3} {}", UNITS[unit]) }
}
