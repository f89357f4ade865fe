//! Whether all ranks of a program wait for each other: then none of them can leave the others behind.
//!
//! A rank waits for those from whom it receives. If every rank is led to every other by such waits, a rank that is slow holds back all,
//! those next to it in the next iteration and those behind in a later one. If not, one group may be iterations ahead of another in the
//! end, and the iterations of one rank say nothing of the others.

use super::op::Op;
use super::script::{Cycle, Script};
use crate::repeats::Coupled;
use netloom_traffic::collective::{Kind, Step};

/// Collectives after which every rank has something of every other.
const MEETS: [Kind; 5] =
    [Kind::Barrier, Kind::Allreduce, Kind::Allgather, Kind::Alltoall, Kind::ReduceScatter];

/// Of ranks that iterate; `None`: some do not wait for each other, or a rank does not iterate.
pub(super) fn coupled(script: &dyn Script, cycles: &[Option<Cycle>]) -> Option<Coupled> {
    let mut together = !cycles.is_empty();
    let mut from: Vec<Vec<u32>> = vec![Vec::new(); cycles.len()];
    for (rank, cycle) in (0..).zip(cycles) {
        let cycle = cycle.as_ref()?;
        let (waits, mut meets) = (&mut from[rank as usize], false);
        for step in cycle.from..cycle.from + cycle.steps {
            match script.op(rank, step)? {
                Op::Irecv { from, .. } | Op::Recv { from, .. } => waits.push(from),
                Op::Together(collective) => {
                    meets |= MEETS.contains(&collective.kind) && collective.count as usize == cycles.len();
                    let steps = (0..).map_while(|at| collective.step(rank, at, script.shares(rank, step)));
                    waits.extend(steps.filter_map(|step| match step {
                        Step::From(from) => Some(from),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        together &= meets;
        waits.sort_unstable();
        waits.dedup();
    }
    let mut to: Vec<Vec<u32>> = vec![Vec::new(); cycles.len()];
    for (rank, waits) in (0..).zip(&from) {
        waits.iter().for_each(|&other| to[other as usize].push(rank));
    }
    Some(Coupled { felt: farthest(&from)?.max(farthest(&to)?), together })
}

/// From the first rank to the farthest one; `None` if some are not reached.
fn farthest(edges: &[Vec<u32>]) -> Option<usize> {
    let mut away = vec![None; edges.len()];
    let (mut met, mut done) = (vec![0u32], 0);
    *away.first_mut()? = Some(0);
    while let Some(&rank) = met.get(done) {
        done += 1;
        let next = away[rank as usize].map(|away: usize| away + 1);
        for &other in &edges[rank as usize] {
            if away[other as usize].is_none() {
                away[other as usize] = next;
                met.push(other);
            }
        }
    }
    away.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_traffic::collective::Collective;

    fn of(programs: &[Vec<Op>]) -> Option<usize> {
        let found = known(programs)?;
        assert!(!found.together);
        Some(found.felt)
    }

    fn known(programs: &[Vec<Op>]) -> Option<Coupled> {
        let programs: Vec<Vec<Op>> = programs.iter().map(|ops| ops.repeat(5)).collect();
        let cycles: Vec<Option<Cycle>> =
            (0..programs.len() as u32).map(|r| Cycle::of(&programs, r)).collect();
        coupled(&programs, &cycles)
    }

    fn exchange(with: &[u32]) -> Vec<Op> {
        let sends = with.iter().map(|&to| Op::Isend { to, bytes: 1, tag: 0 });
        let receives = with.iter().map(|&from| Op::Irecv { from, tag: 0 });
        sends.chain(receives).chain([Op::WaitAll]).collect()
    }

    #[test]
    fn a_row_is_as_long_as_it_is_and_pairs_are_apart() {
        assert_eq!(of(&[exchange(&[1]), exchange(&[0, 2]), exchange(&[1, 3]), exchange(&[2])]), Some(3));
        assert_eq!(of(&[exchange(&[1]), exchange(&[0]), exchange(&[3]), exchange(&[2])]), None);
    }

    #[test]
    fn in_a_barrier_all_come_together_in_a_broadcast_they_do_not() {
        let of = |kind| known(&vec![vec![Op::Together(Collective::all(kind, 8, 4))]; 4]);
        assert!(of(Kind::Barrier).unwrap().together && of(Kind::Allreduce).unwrap().together);
        assert_eq!(of(Kind::Broadcast), None, "the root waits for nobody");
    }

    #[test]
    fn who_only_sends_waits_for_nobody() {
        let (send, receive) = (Op::Send { to: 1, bytes: 1, tag: 0 }, Op::Recv { from: 0, tag: 0 });
        assert_eq!(of(&[vec![send], vec![receive]]), None);
        let (back, answer) = (Op::Send { to: 0, bytes: 1, tag: 1 }, Op::Recv { from: 1, tag: 1 });
        assert_eq!(of(&[vec![send, answer], vec![receive, back]]), Some(1));
        // A circle of receives: each waits for the one before it.
        let ring = |me: u32| {
            vec![Op::Send { to: (me + 1) % 4, bytes: 1, tag: 0 }, Op::Recv { from: (me + 3) % 4, tag: 0 }]
        };
        assert_eq!(of(&[ring(0), ring(1), ring(2), ring(3)]), Some(3));
    }
}
