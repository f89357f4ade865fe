//! A recorded run cut into phases.
//!
//! Everybody passes the n-th collective without a root (barrier, allreduce, all-to-all, …) together, so the messages
//! of a run fall into intervals: what each rank posted between its n-th and its next one. Intervals that send the
//! same, or nearly, are one phase that repeats: a hundred time steps become a few phases with weights.
//!
//! - Two intervals send nearly the same if the bytes that differ, `Σ |a - b|`, are at most `tolerance` times the
//!   larger interval's bytes. Each interval, in order, joins the first phase whose *first* interval it resembles; a
//!   phase's matrix is the mean of its members. So bytes are conserved whatever the tolerance: the phases, each as
//!   often as it repeats, add up to the run.
//! - A collective is the messages that [`collective`](mod@crate::collective) makes of it, as when the run is replayed. One without a root
//!   is a phase of its own, between two intervals, if it sends more than `tolerance` times the bytes of the interval before it, else a
//!   part of that; rooted ones and prefix sums are among the messages of their interval.
//! - Intervals without messages are left out.
//! - A message belongs to the interval in which its sender posted it, even if it is waited for later. One without bytes adds none, as
//!   in MPI's monitoring.
//!
//! Invariant: the result depends on the order of each rank's own actions only.

use std::collections::BTreeMap;

use netloom_model::{Action, CollectiveKind, Csr, Cut, Phase, Together, Traffic, Workload};

use crate::collective::{Algorithms, Collective};
use crate::rows::Rows;

/// More different phases than this are refused.
pub const MAX_PHASES: usize = 1000;

/// Different collectives whose matrices are kept.
const MOST_CACHED_COLLECTIVES: usize = 64;

/// Why a run cannot be cut.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TraceError {
    /// Too many phases that differ.
    #[error(
        "the run has more than {} phases that differ by more than {} %: give a larger tolerance, or take it as \
         one phase (phases = \"one\")",
        MAX_PHASES,
        100.0 * tolerance
    )]
    TooMany {
        /// The tolerance.
        tolerance: f64,
    },
}

/// What a run sends, rank to rank; its collectives as `algorithms` do them, or not at all.
///
/// # Errors
/// [`TraceError`]: too many phases.
pub fn phases(run: &Workload, cut: Cut, algorithms: Option<&Algorithms>) -> Result<Traffic, TraceError> {
    let mut messages = Messages { run, algorithms, known: BTreeMap::new() };
    let mut ahead: Vec<&[Action]> = (0..run.ranks()).map(|rank| run.actions(rank)).collect();
    let Cut::Collectives { tolerance } = cut else {
        return Ok(Traffic::from_matrix(messages.interval(&ahead)));
    };
    let mut found: Vec<Group> = Vec::new();
    loop {
        let end = |actions: &&[Action]| actions.iter().position(|action| messages.synchronises(action));
        let ends: Vec<Option<usize>> = ahead.iter().map(end).collect();
        let now: Vec<&[Action]> =
            ahead.iter().zip(&ends).map(|(actions, end)| &actions[..end.unwrap_or(actions.len())]).collect();
        let mut interval = messages.interval(&now);
        let together = ahead.iter().zip(&ends).map(|(actions, end)| Some(actions[(*end)?]));
        let together: Option<Vec<Action>> = together.collect();
        let mut own = None;
        if let Some(calls) = &together {
            let (kind, matrix) = messages.together(calls);
            let bytes = matrix.total_bytes();
            if bytes > tolerance * interval.total_bytes() {
                own = Some((kind, matrix));
            } else if bytes > 0.0 {
                interval = sum([Phase::once("", interval), Phase::once("", matrix)]);
            }
        }
        for (kind, matrix) in std::iter::once((None, interval)).chain(own) {
            if matrix.entry_count() == 0 {
                continue;
            }
            let bytes = matrix.total_bytes();
            match found
                .iter()
                .position(|group| group.kind == kind && group.resembles(&matrix, bytes, tolerance))
            {
                Some(at) => found[at].join(matrix),
                None if found.len() == MAX_PHASES => return Err(TraceError::TooMany { tolerance }),
                None => found.push(Group { kind, bytes, first: matrix, others: Vec::new(), equal: 0 }),
            }
        }
        if together.is_none() {
            break;
        }
        for (actions, end) in ahead.iter_mut().zip(ends) {
            *actions = &actions[end.map_or(actions.len(), |end| end + 1)..];
        }
    }
    if found.is_empty() {
        return Ok(Traffic::from_matrix(Csr::empty(run.ranks() as usize)));
    }
    Ok(Traffic::from_phases(named(found)))
}

/// Intervals are numbered; collectives have the names of their kinds, numbered from the second on.
fn named(found: Vec<Group>) -> Vec<Phase> {
    let mut counts: Vec<(Option<CollectiveKind>, u32)> = Vec::new();
    let named = found.into_iter().map(|group| {
        let at = counts.iter().position(|&(kind, _)| kind == group.kind).unwrap_or_else(|| {
            counts.push((group.kind, 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
        let name = match (group.kind, counts[at].1) {
            (None, number) => format!("phase {number}"),
            (Some(kind), 1) => kind.name().to_owned(),
            (Some(kind), number) => format!("{} {number}", kind.name()),
        };
        group.phase(name)
    });
    named.collect()
}

/// What actions of a run send.
struct Messages<'a> {
    run: &'a Workload,
    algorithms: Option<&'a Algorithms>,
    /// Collectives of equal shares, by what they are: a run repeats few.
    known: BTreeMap<(CollectiveKind, u32, u64), Csr>,
}

impl Messages<'_> {
    fn synchronises(&self, action: &Action) -> bool {
        matches!(*action, Action::Together { number, .. } if self.run.together(number).kind.synchronises())
    }

    /// What every rank's actions send.
    fn interval(&self, actions: &[&[Action]]) -> Csr {
        let mut rows = Rows::new(self.run.ranks(), 0);
        for (rank, actions) in (0..).zip(actions) {
            for action in *actions {
                match *action {
                    Action::Send { to, bytes, .. } | Action::Isend { to, bytes, .. } => {
                        rows.push(to, bytes as f64);
                    }
                    Action::Together { number, shares } => self.push(&mut rows, rank, number, shares),
                    _ => {}
                }
            }
            rows.end_row();
        }
        rows.finish_matrix()
    }

    /// What a rank's part of a collective sends.
    fn push(&self, rows: &mut Rows, rank: u32, number: u32, shares: Option<u32>) {
        let Some(algorithms) = self.algorithms else { return };
        let shares = shares.map_or(&[][..], |row| self.run.shares(row));
        for (to, bytes) in Collective::recorded(self.run, number, algorithms).sends(rank, shares) {
            rows.push(to, bytes as f64);
        }
    }

    /// What a collective sends, by the calls of all ranks.
    fn together(&mut self, calls: &[Action]) -> (Option<CollectiveKind>, Csr) {
        let Action::Together { number, .. } = calls[0] else {
            unreachable!("these are calls of collectives")
        };
        let Together { kind, root, bytes, uneven } = self.run.together(number);
        if let Some(matrix) = self.known.get(&(kind, root, bytes)).filter(|_| !uneven) {
            return (Some(kind), matrix.clone());
        }
        let each: Vec<&[Action]> = calls.iter().map(std::slice::from_ref).collect();
        let matrix = self.interval(&each);
        if !uneven && self.known.len() < MOST_CACHED_COLLECTIVES {
            self.known.insert((kind, root, bytes), matrix.clone());
        }
        (Some(kind), matrix)
    }
}

/// Phases added up, each as often as it happens.
fn sum(phases: impl IntoIterator<Item = Phase>) -> Csr {
    Traffic::from_phases(phases.into_iter().collect()).total().into_owned()
}

/// Intervals that send nearly the same.
struct Group {
    /// The collective that they are, if they are one.
    kind: Option<CollectiveKind>,
    first: Csr,
    /// Bytes of the first.
    bytes: f64,
    /// Further members that equal the first.
    equal: usize,
    /// Further members that don't.
    others: Vec<Csr>,
}

impl Group {
    fn resembles(&self, matrix: &Csr, bytes: f64, tolerance: f64) -> bool {
        let allowed = tolerance * self.bytes.max(bytes);
        (self.bytes - bytes).abs() <= allowed && difference(&self.first, matrix) <= allowed
    }

    fn join(&mut self, matrix: Csr) {
        if matrix == self.first {
            self.equal += 1;
        } else {
            self.others.push(matrix);
        }
    }

    fn phase(self, name: String) -> Phase {
        let repeats = (1 + self.equal + self.others.len()) as f64;
        if self.others.is_empty() {
            return Phase { name, matrix: self.first, repeats };
        }
        let weighted = self.others.into_iter().map(|matrix| Phase::once("", matrix));
        let first = Phase { repeats: (1 + self.equal) as f64, ..Phase::once("", self.first) };
        let sum = sum(std::iter::once(first).chain(weighted));
        let mean = sum.bytes().iter().map(|bytes| bytes / repeats).collect();
        Phase {
            name,
            matrix: Csr::from_parts(sum.offsets().to_vec(), sum.columns().to_vec(), mean, None),
            repeats,
        }
    }
}

/// `Σ |a - b|` over all entries of either.
fn difference(a: &Csr, b: &Csr) -> f64 {
    let mut sum = 0.0;
    for row in 0..a.size() {
        let ((mut ja, mut va), (mut jb, mut vb)) = (a.row(row), b.row(row));
        loop {
            match (ja.first(), jb.first()) {
                (None, None) => break,
                (Some(x), Some(y)) if x == y => {
                    sum += (va[0] - vb[0]).abs();
                    (ja, va, jb, vb) = (&ja[1..], &va[1..], &jb[1..], &vb[1..]);
                }
                (Some(x), y) if y.is_none_or(|y| x < y) => {
                    sum += va[0];
                    (ja, va) = (&ja[1..], &va[1..]);
                }
                _ => {
                    sum += vb[0];
                    (jb, vb) = (&jb[1..], &vb[1..]);
                }
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Action = Action::Together { number: 0, shares: None };

    fn send(to: u32, bytes: u64) -> Action {
        Action::Send { to, bytes, tag: 0 }
    }

    /// A run with these actions; [`WAIT`] is the rank's next barrier.
    fn run(ranks: u32, list: &[(u32, Action)]) -> Workload {
        let barrier = Together { kind: CollectiveKind::Barrier, root: 0, bytes: 1, uneven: false };
        let mut met = vec![0; ranks as usize];
        let numbered = list.iter().map(|&(rank, action)| match action {
            Action::Together { .. } => {
                met[rank as usize] += 1;
                (rank, Action::Together { number: met[rank as usize] - 1, shares: None })
            }
            other => (rank, other),
        });
        let list: Vec<_> = numbered.collect();
        Workload::from_actions(ranks, &list, &vec![1; list.len()], vec![barrier; list.len()], Vec::new())
    }

    /// Two ranks; rank 1 sends nothing and waits as often as rank 0.
    fn pair(actions: &[Action]) -> Workload {
        let other = actions.iter().filter(|e| **e == WAIT).map(|e| (1, *e));
        run(2, &actions.iter().map(|e| (0, *e)).chain(other).collect::<Vec<_>>())
    }

    fn sums(run: &Workload, tolerance: f64) -> Vec<(f64, f64)> {
        let traffic = phases(run, Cut::Collectives { tolerance }, None).unwrap();
        traffic.phases().iter().map(|p| (p.matrix.total_bytes(), p.repeats)).collect()
    }

    #[test]
    fn equal_intervals_become_one_phase_that_repeats() {
        let steps = [send(1, 5), WAIT, WAIT, send(1, 8), send(1, 8), WAIT, send(1, 16), WAIT, send(1, 5)];
        // 5 | nothing | 8 + 8 | 16 | 5: intervals of 5 twice, of 16 twice.
        assert_eq!(sums(&pair(&steps), 0.0), [(5.0, 2.0), (16.0, 2.0)]);
        let one = phases(&pair(&steps), Cut::One, None).unwrap();
        assert_eq!(one.total().iter().collect::<Vec<_>>(), [(0, 1, 42.0)]);
        let cut = phases(&pair(&steps), Cut::default(), None).unwrap();
        assert_eq!(cut.total(), one.total());
        assert_eq!(cut.phases()[1].name, "phase 2");
    }

    #[test]
    fn nearly_equal_intervals_become_their_mean() {
        let steps = pair(&[send(1, 100), WAIT, send(1, 104), WAIT, send(1, 100), WAIT, send(1, 90)]);
        assert_eq!(sums(&steps, 0.01), [(100.0, 2.0), (104.0, 1.0), (90.0, 1.0)]);
        // 4 of 104 differ, 10 of 100 do: the mean of 100, 104, 100 and then of all four.
        assert_eq!(sums(&steps, 0.05), [(304.0 / 3.0, 3.0), (90.0, 1.0)]);
        assert_eq!(sums(&steps, 0.1), [(98.5, 4.0)]);
    }

    /// What is sent counts, not only how much.
    #[test]
    fn equal_bytes_to_others_are_another_phase() {
        let list = [(0, send(1, 9)), (0, WAIT), (0, send(2, 9)), (1, WAIT), (2, send(0, 9)), (2, WAIT)];
        let traffic = phases(&run(3, &list), Cut::Collectives { tolerance: 0.5 }, None).unwrap();
        let sent: Vec<Vec<_>> = traffic.phases().iter().map(|p| p.matrix.iter().collect()).collect();
        assert_eq!(sent, [vec![(0, 1, 9.0), (2, 0, 9.0)], vec![(0, 2, 9.0)]]);
        assert_eq!(difference(&traffic.phases()[0].matrix, &traffic.phases()[1].matrix), 27.0);
    }

    /// A barrier of two is a byte each way: nothing beside 300 bytes, a phase of its own behind 50 and behind nothing.
    #[test]
    fn a_collective_is_a_phase_of_its_own_where_it_counts() {
        let steps = pair(&[send(1, 300), WAIT, send(1, 50), WAIT, WAIT, send(1, 300), WAIT]);
        let names = |algorithms: Option<&Algorithms>, cut| {
            let traffic = phases(&steps, cut, algorithms).unwrap();
            let row = |p: &Phase| (p.name.clone(), p.matrix.total_bytes(), p.repeats);
            traffic.phases().iter().map(row).collect::<Vec<_>>()
        };
        let phase = |name: &str, bytes, repeats| (name.to_owned(), bytes, repeats);
        let all = Algorithms::default();
        assert_eq!(
            names(Some(&all), Cut::default()),
            [phase("phase 1", 302.0, 2.0), phase("phase 2", 50.0, 1.0), phase("barrier", 2.0, 2.0)]
        );
        assert_eq!(names(Some(&all), Cut::One), [phase("", 658.0, 1.0)]);
        assert_eq!(names(None, Cut::One), [phase("", 650.0, 1.0)]);
    }

    #[test]
    fn runs_without_messages_have_one_empty_phase_and_endless_variety_is_refused() {
        let silent = phases(&pair(&[WAIT, WAIT]), Cut::default(), None).unwrap();
        assert_eq!((silent.phases().len(), silent.total().entry_count()), (1, 0));
        let many: Vec<Action> = (0..1001).flat_map(|n| [send(1, n + 1), WAIT]).collect();
        assert_eq!(
            phases(&pair(&many), Cut::Collectives { tolerance: 0.0 }, None).unwrap_err(),
            TraceError::TooMany { tolerance: 0.0 }
        );
    }
}
