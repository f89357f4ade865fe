//! What a rank does again and again: a stretch of its program that repeats.
//!
//! Programs of scenarios know where they iterate ([`Script::cycle`]). Others, as recorded runs, are read. Looked for is a stretch of steps, each
//! equal to the one a period before it; the period is the shortest of the middle half of the program
//! (by the failure function of D. Knuth, J. Morris and V. Pratt, *Fast pattern matching in strings*, SIAM J. Comput. 6(2), 1977),
//! so that a beginning and an end may differ. Steps are compared themselves, with the bytes by rank of collectives.

use super::op::Op;
use super::script::{Cycle, LEAST_TIMES, Script};

/// Longer programs are not looked through.
const MOST_STEPS: u64 = 1 << 22;
/// So many steps must come again after a period before all are compared.
const SAMPLE: usize = 4;

impl Cycle {
    /// Of a rank's program, if it is enough.
    pub(super) fn of(script: &dyn Script, rank: u32) -> Option<Self> {
        script.cycle(rank).or_else(|| Self::read(script, rank)).filter(Self::is_enough)
    }

    /// What is found by reading a program.
    fn read(script: &dyn Script, rank: u32) -> Option<Self> {
        let count = length(script, rank)? as usize;
        let op = |step: usize| script.op(rank, step as u64).expect("a step before the end");
        let alike = |a: (usize, &Op), b: (usize, &Op)| {
            a.1 == b.1
                && (!matches!(a.1, Op::Together(_))
                    || script.shares(rank, a.0 as u64) == script.shares(rank, b.0 as u64))
        };
        let same = |a: usize, b: usize| alike((a, &op(a)), (b, &op(b)));
        let (mut from, mut to) = (count / 4, count - count / 4);
        // Most programs that do nothing again are known by a few steps that do not come again.
        let longest = count / LEAST_TIMES as usize;
        let first: Vec<Op> = (from..to).take(SAMPLE).map(op).collect();
        let again = |by: usize| {
            let mut later = (from..to).zip(&first).take_while(|(step, _)| step + by < to);
            later.all(|(step, it)| alike((step, it), (step + by, &op(step + by))))
        };
        (1..=longest).find(|&by| again(by))?;
        let ops: Vec<Op> = (from..to).map(op).collect();
        let steps = period(&ops, |a, b| alike((from + a, &ops[a]), (from + b, &ops[b])))?;
        while from > 0 && same(from - 1, from - 1 + steps) {
            from -= 1;
        }
        while to < count && same(to, to - steps) {
            to += 1;
        }
        Some(Self { from: from as u64, steps: steps as u64, to: to as u64 })
    }

    /// The same in longer stretches, of which there are about `times`.
    pub(super) fn in_stretches(self, times: u64) -> Self {
        let each = ((self.times() + times / 2) / times.max(1)).max(1);
        Self { steps: self.steps * each, ..self }
    }
}

/// Steps of a rank's program; `None`: too many.
fn length(script: &dyn Script, rank: u32) -> Option<u64> {
    let ended = |step: &u64| script.op(rank, *step).is_none();
    let mut beyond = (0..=MOST_STEPS.ilog2()).map(|k| 1 << k).find(ended)?;
    let mut within = beyond / 2;
    while within < beyond {
        let middle = within + (beyond - within) / 2;
        if ended(&middle) { beyond = middle } else { within = middle + 1 }
    }
    Some(beyond)
}

/// The shortest period of steps that are compared by number; `None` if there is no step.
fn period(ops: &[Op], same: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let mut border = vec![0usize; ops.len()];
    for at in 1..border.len() {
        let mut length = border[at - 1];
        while length > 0 && !same(at, length) {
            length = border[length - 1];
        }
        border[at] = length + usize::from(same(at, length));
    }
    border.last().map(|last| border.len() - last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AllToAll, Exchange, Exchanges, Ghost, GhostOrder, Halo, Incast, NasCg, NasFt, Pairs,
        PermutationStream, PingPong, Repeat, RowsAndColumns, Slabs, Stencil, Stream as Streams, Sweep, Wrf,
    };
    use netloom_model::rng::{Stream, below, stream};
    use netloom_traffic::collective::{Collective, Kind};

    fn computes(times: &[u64]) -> Vec<Vec<Op>> {
        vec![times.iter().map(|&ps| Op::Compute { ps }).collect()]
    }

    #[test]
    fn a_beginning_and_an_end_may_differ() {
        let times = [9, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 7];
        assert_eq!(Cycle::of(&computes(&times), 0), Some(Cycle { from: 2, steps: 3, to: 15 }));
        assert_eq!(Cycle::of(&computes(&times[..9]), 0), None, "twice is not enough");
        assert_eq!(Cycle::of(&computes(&[]), 0), None);
    }

    #[test]
    fn programs_that_iterate_repeat_from_their_first_step_to_their_last() {
        let halo =
            Halo { shape: [3, 3, 3], periodic: [false; 3], bytes: [1, 2, 3], iterations: 10, compute_ps: 5 };
        // The middle has 26 neighbours, a corner 7: receives, sends, a wait, and it computes.
        assert_eq!(Cycle::of(&halo, 13), Some(Cycle { from: 0, steps: 54, to: 540 }));
        assert_eq!(Cycle::of(&halo, 0), Some(Cycle { from: 0, steps: 16, to: 160 }));
        let repeat = Repeat { collective: Collective::all(Kind::Barrier, 8, 4), iterations: 10 };
        assert_eq!(Cycle::of(&repeat, 0), Some(Cycle { from: 0, steps: 1, to: 10 }));
    }

    #[test]
    fn what_drifts_does_not_repeat() {
        let times: Vec<u64> = (0..100).collect();
        assert_eq!(Cycle::of(&computes(&times), 0), None);
    }

    #[test]
    fn shorter_periods_are_joined() {
        let cycle = Cycle { from: 2, steps: 3, to: 302 };
        assert_eq!(cycle.in_stretches(50).steps, 6);
        assert_eq!(cycle.in_stretches(99).steps, 3);
    }

    /// By its definition: the shortest period of the middle half, as far as it goes.
    fn plainly(times: &[u64]) -> Option<Cycle> {
        let (mut from, mut to) = (times.len() / 4, times.len() - times.len() / 4);
        let steps = (1..to - from).find(|&by| (from..to - by).all(|k| times[k] == times[k + by]))?;
        while from > 0 && times[from - 1] == times[from - 1 + steps] {
            from -= 1;
        }
        while to < times.len() && times[to] == times[to - steps] {
            to += 1;
        }
        Some(Cycle { from: from as u64, steps: steps as u64, to: to as u64 }).filter(Cycle::is_enough)
    }

    #[test]
    fn what_is_read_is_what_the_definition_says() {
        let mut random = stream(3, 1);
        let mut found = 0;
        for length in 0..3_000 {
            let length = length % 60;
            let period = 1 + below(&mut random, 12);
            let word: Vec<u64> = (0..period).map(|_| below(&mut random, 2)).collect();
            let odd = |random: &mut Stream| if below(random, 60) == 0 { 2 } else { 0 };
            let times: Vec<u64> = (0..length).map(|k| word[k % word.len()] + odd(&mut random)).collect();
            let cycle = Cycle::of(&computes(&times), 0);
            assert_eq!(cycle, plainly(&times), "{times:?}");
            found += u32::from(cycle.is_some());
        }
        assert!(found > 500, "{found}");
    }

    fn programs(times: u64) -> Vec<(u32, Box<dyn Script>)> {
        let (bytes, iterations, compute_ps) = (5, times, 7);
        let barrier = Collective::all(Kind::Barrier, 8, 8);
        let halo = Halo {
            shape: [4, 2, 1],
            periodic: [true, false, false],
            bytes: [3, 2, 0],
            iterations,
            compute_ps,
        };
        let sweep = Sweep { columns: 4, rows: 2, bytes, blocks: 2, iterations, compute_ps: 0 };
        let slabs = Slabs { shape: [2, 2, 2], bytes, beside_bytes: 3, iterations, compute_ps };
        let all = AllToAll { ranks: 8, bytes, iterations, compute_ps };
        let exchange = |iterations| {
            Exchange::new(8, (0..7).map(|rank| (rank, (rank + 3) % 7, 4)), iterations).computing(compute_ps)
        };
        let ghost = |order, noise| Ghost {
            shape: [4, 2, 1],
            order,
            variables: 2,
            face_bytes: bytes,
            steps: times,
            pack_ps: 1,
            compute_ps,
            noise,
            noise_ps: 50,
            seed: 1,
        };
        let partner = vec![1, 0, 3, 2, 5, 4, 7, 6];
        let mut programs: Vec<(u32, Box<dyn Script>)> = vec![
            (8, Box::new(Halo { compute_ps: 0, ..halo.clone() })),
            (8, Box::new(halo)),
            (8, Box::new(Stencil { shape: [2, 2, 2], bytes, messages: 2, iterations })),
            (8, Box::new(AllToAll { compute_ps: 0, ..all.clone() })),
            (8, Box::new(all)),
            (8, Box::new(Incast { ranks: 8, root: 3, messages: 2, bytes, iterations })),
            (2, Box::new(PermutationStream::new(2, times, 2, bytes, 1))),
            (8, Box::new(PermutationStream::new(8, times.min(1), times, bytes, 1))),
            (8, Box::new(PermutationStream::new(8, 3, times, bytes, 1))),
            (8, Box::new(exchange(times))),
            (8, Box::new(exchange(times).with_barriers(3))),
            (8, Box::new(exchange(times).with_barriers(times.saturating_sub(1)))),
            (7, Box::new(Exchanges(vec![exchange(1), exchange(times).computing(3), exchange(2)]))),
            (8, Box::new(NasCg { ranks: 8, bytes, sums: true, iterations })),
            (8, Box::new(NasFt { ranks: 8, bytes, iterations })),
            (8, Box::new(Wrf { ranks: 8, columns: 3, bytes, iterations })),
            (8, Box::new(Slabs { beside_bytes: 0, compute_ps: 0, ..slabs.clone() })),
            (8, Box::new(slabs)),
            (4, Box::new(Streams::of(&[1, 2, 0, 3], times, bytes))),
            (8, Box::new(PingPong { partner: partner.clone(), bytes, iterations })),
            (8, Box::new(Pairs { partner, rounds: times, messages: 3, bytes })),
            (8, Box::new(Sweep { compute_ps, ..sweep.clone() })),
            (1, Box::new(Sweep { columns: 1, rows: 1, ..sweep.clone() })),
            (8, Box::new(sweep)),
            (8, Box::new(RowsAndColumns { columns: 4, rows: 2, iterations, bytes })),
            (8, Box::new(Repeat { collective: barrier, iterations })),
        ];
        for order in [GhostOrder::Together, GhostOrder::ByVariable, GhostOrder::SumsLast] {
            programs.push((8, Box::new(ghost(order, 0.0))));
            programs.push((8, Box::new(ghost(order, 0.5))));
        }
        programs
    }

    /// What programs say of themselves is so, and not a period less than what is found by reading them.
    #[test]
    fn programs_know_where_they_iterate() {
        let mut known = 0;
        for times in [0, 1, 3, 4, 7, 20] {
            for (number, (ranks, script)) in programs(times).into_iter().enumerate() {
                for rank in 0..ranks {
                    let of = format!("program {number}, rank {rank}, {times} times");
                    let told = script.cycle(rank).expect(&of);
                    let Cycle { from, steps, to } = told;
                    assert!(to == 0 || script.op(rank, to - 1).is_some(), "{of}: {told:?}");
                    for step in from + steps..to {
                        assert_eq!(script.op(rank, step), script.op(rank, step - steps), "{of}: {told:?}");
                    }
                    let Some(read) = Cycle::read(&*script, rank).filter(Cycle::is_enough) else { continue };
                    if told.is_enough() {
                        // What comes before or behind may happen to be like a part of it.
                        let all = from < read.from + steps && to + steps > read.to;
                        assert!(all, "{of}: {told:?}, {read:?}");
                        assert_eq!(steps % read.steps, 0, "{of}: {told:?}, {read:?}");
                        known += 1;
                    } else {
                        // Within one of few iterations something may come again.
                        assert!(times < LEAST_TIMES, "{of}: {told:?}, {read:?}");
                    }
                }
            }
        }
        assert!(known > 500, "{known}");
    }
}
