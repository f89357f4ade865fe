//! A trace of a run cut into phases.
//!
//! Everybody passes the n-th collective without a root (barrier, allreduce, all-to-all, …) together, so the messages
//! of a run fall into intervals: what each rank posted between its n-th and its next one. Intervals that send the
//! same, or nearly, are one phase that repeats: a hundred time steps become a few phases with weights.
//!
//! - Two intervals send nearly the same if the bytes that differ, `Σ |a - b|`, are at most `tolerance` times the
//!   larger interval's bytes. Each interval, in order, joins the first phase whose *first* interval it resembles; a
//!   phase's matrix is the mean of its members. So bytes are conserved whatever the tolerance: the phases, each as
//!   often as it repeats, add up to the run.
//! - Intervals without messages are left out. What collectives themselves send is not counted.
//! - A message belongs to the interval in which its sender posted it, even if it is waited for later.
//!
//! Invariant: the result depends on the order of each rank's own events only.

use netloom_model::{Csr, Cut, Event, Phase, Trace, Traffic};

use crate::rows::Rows;

/// More different phases than this are refused.
pub const MAX_PHASES: usize = 1000;

/// Why a trace cannot be cut.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TraceError {
    /// Not everybody takes part in every collective.
    #[error(
        "rank 0 passes {first} collectives that wait for all, rank {rank} {other}: some are among a part of the \
         ranks only, and the run cannot be cut at them (take it as one phase: phases = \"one\")"
    )]
    Uneven {
        /// Collectives of rank 0.
        first: usize,
        /// The first rank that differs.
        rank: u32,
        /// Its collectives.
        other: usize,
    },
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

/// The traffic of a run, rank to rank.
///
/// # Errors
/// [`TraceError`]: collectives among a part of the ranks, or too many phases.
pub fn phases(trace: &Trace, cut: Cut) -> Result<Traffic, TraceError> {
    let Cut::Collectives { tolerance } = cut else {
        let all = |rank| trace.events(rank).iter().filter(|event| **event != Event::Synchronise);
        return Ok(Traffic::from_matrix(interval(trace.ranks(), |rank| all(rank).copied())));
    };
    let waits = |rank| trace.events(rank).iter().filter(|event| **event == Event::Synchronise).count();
    let first = if trace.ranks() == 0 { 0 } else { waits(0) };
    if let Some(rank) = (0..trace.ranks()).find(|&rank| waits(rank) != first) {
        return Err(TraceError::Uneven { first, rank, other: waits(rank) });
    }
    let mut ahead: Vec<&[Event]> = (0..trace.ranks()).map(|rank| trace.events(rank)).collect();
    let mut found: Vec<Group> = Vec::new();
    for _ in 0..=first {
        let matrix = interval(trace.ranks(), |rank| {
            let events = &mut ahead[rank as usize];
            let end = events.iter().position(|event| *event == Event::Synchronise);
            let (now, later) = events.split_at(end.unwrap_or(events.len()));
            *events = later.get(1..).unwrap_or_default();
            now.iter().copied()
        });
        if matrix.entry_count() == 0 {
            continue;
        }
        let bytes = matrix.total_bytes();
        match found.iter().position(|group| group.resembles(&matrix, bytes, tolerance)) {
            Some(at) => found[at].join(matrix),
            None if found.len() == MAX_PHASES => return Err(TraceError::TooMany { tolerance }),
            None => found.push(Group { bytes, first: matrix, others: Vec::new(), equal: 0 }),
        }
    }
    if found.is_empty() {
        return Ok(Traffic::from_matrix(Csr::empty(trace.ranks() as usize)));
    }
    let phases = found.into_iter().zip(1..).map(|(group, number)| group.phase(format!("phase {number}")));
    Ok(Traffic::from_phases(phases.collect()))
}

/// The matrix of what every rank sends among `events`.
fn interval<I: Iterator<Item = Event>>(ranks: u32, mut events: impl FnMut(u32) -> I) -> Csr {
    let mut rows = Rows::new(ranks, 0);
    for rank in 0..ranks {
        for event in events(rank) {
            if let Event::Send { to, bytes } = event {
                rows.push(to, bytes);
            }
        }
        rows.end_row();
    }
    rows.finish_matrix()
}

/// Intervals that send nearly the same.
struct Group {
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
        let sum = Traffic::from_phases(std::iter::once(first).chain(weighted).collect()).total().into_owned();
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

    const WAIT: Event = Event::Synchronise;

    fn send(to: u32, bytes: f64) -> Event {
        Event::Send { to, bytes }
    }

    /// Two ranks; rank 1 sends nothing and waits as often as rank 0.
    fn run(events: &[Event]) -> Trace {
        let other = events.iter().filter(|e| **e == WAIT).map(|e| (1, *e));
        Trace::from_events(2, &events.iter().map(|e| (0, *e)).chain(other).collect::<Vec<_>>())
    }

    fn sums(trace: &Trace, tolerance: f64) -> Vec<(f64, f64)> {
        let traffic = phases(trace, Cut::Collectives { tolerance }).unwrap();
        traffic.phases().iter().map(|p| (p.matrix.total_bytes(), p.repeats)).collect()
    }

    #[test]
    fn equal_intervals_become_one_phase_that_repeats() {
        let steps =
            [send(1, 5.0), WAIT, WAIT, send(1, 8.0), send(1, 8.0), WAIT, send(1, 16.0), WAIT, send(1, 5.0)];
        // 5 | nothing | 8 + 8 | 16 | 5: intervals of 5 twice, of 16 twice.
        assert_eq!(sums(&run(&steps), 0.0), [(5.0, 2.0), (16.0, 2.0)]);
        let one = phases(&run(&steps), Cut::One).unwrap();
        assert_eq!(one.total().iter().collect::<Vec<_>>(), [(0, 1, 42.0)]);
        let cut = phases(&run(&steps), Cut::default()).unwrap();
        assert_eq!(cut.total(), one.total());
        assert_eq!(cut.phases()[1].name, "phase 2");
    }

    #[test]
    fn nearly_equal_intervals_become_their_mean() {
        let steps = run(&[send(1, 100.0), WAIT, send(1, 104.0), WAIT, send(1, 100.0), WAIT, send(1, 90.0)]);
        assert_eq!(sums(&steps, 0.01), [(100.0, 2.0), (104.0, 1.0), (90.0, 1.0)]);
        // 4 of 104 differ, 10 of 100 do: the mean of 100, 104, 100 and then of all four.
        assert_eq!(sums(&steps, 0.05), [(304.0 / 3.0, 3.0), (90.0, 1.0)]);
        assert_eq!(sums(&steps, 0.1), [(98.5, 4.0)]);
    }

    /// What is sent counts, not only how much.
    #[test]
    fn equal_bytes_to_others_are_another_phase() {
        let list = [(0, send(1, 9.0)), (0, WAIT), (0, send(2, 9.0)), (1, WAIT), (2, send(0, 9.0)), (2, WAIT)];
        let traffic = phases(&Trace::from_events(3, &list), Cut::Collectives { tolerance: 0.5 }).unwrap();
        let sent: Vec<Vec<_>> = traffic.phases().iter().map(|p| p.matrix.iter().collect()).collect();
        assert_eq!(sent, [vec![(0, 1, 9.0), (2, 0, 9.0)], vec![(0, 2, 9.0)]]);
        assert_eq!(difference(&traffic.phases()[0].matrix, &traffic.phases()[1].matrix), 27.0);
    }

    #[test]
    fn collectives_of_a_part_of_the_ranks_are_refused() {
        let uneven = Trace::from_events(3, &[(0, WAIT), (1, WAIT), (2, WAIT), (2, WAIT)]);
        let error = phases(&uneven, Cut::default()).unwrap_err();
        assert_eq!(error, TraceError::Uneven { first: 1, rank: 2, other: 2 });
        assert!(error.to_string().starts_with("rank 0 passes 1 collectives that wait for all, rank 2 2"));
        assert!(phases(&uneven, Cut::One).is_ok());
    }

    #[test]
    fn runs_without_messages_have_one_empty_phase_and_endless_variety_is_refused() {
        let silent = phases(&run(&[WAIT, WAIT]), Cut::default()).unwrap();
        assert_eq!((silent.phases().len(), silent.total().entry_count()), (1, 0));
        let many: Vec<Event> = (0..1001).flat_map(|n| [send(1, f64::from(n + 1)), WAIT]).collect();
        assert_eq!(
            phases(&run(&many), Cut::Collectives { tolerance: 0.0 }).unwrap_err(),
            TraceError::TooMany { tolerance: 0.0 }
        );
    }
}
