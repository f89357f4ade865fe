//! What a rank does again and again: the longest stretch of its program that repeats.
//!
//! Looked for is a stretch of steps, each equal to the one a period before it; the period is the shortest of the middle half of the program
//! (by the failure function of D. Knuth, J. Morris and V. Pratt, *Fast pattern matching in strings*, SIAM J. Comput. 6(2), 1977),
//! so that a beginning and an end may differ. Steps are compared themselves, with the bytes by rank of collectives.

use super::op::Op;
use super::script::Script;

/// Longer programs are not looked through.
const MOST_STEPS: usize = 1 << 22;
/// A period that comes fewer times is none.
const LEAST_TIMES: u64 = 4;

/// Steps from `from` to `to`, of which each does what the one `steps` before it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cycle {
    pub from: u64,
    pub steps: u64,
    pub to: u64,
}

impl Cycle {
    /// Of a rank's program.
    pub fn of(script: &dyn Script, rank: u32) -> Option<Self> {
        let ops: Vec<Op> = (0..).map_while(|step| script.op(rank, step)).take(MOST_STEPS + 1).collect();
        if ops.len() > MOST_STEPS {
            return None;
        }
        let same = |a: usize, b: usize| {
            ops[a] == ops[b]
                && (!matches!(ops[a], Op::Together(_))
                    || script.shares(rank, a as u64) == script.shares(rank, b as u64))
        };
        let (mut from, mut to) = (ops.len() / 4, ops.len() - ops.len() / 4);
        let steps = period(from, to, same)?;
        while from > 0 && same(from - 1, from - 1 + steps) {
            from -= 1;
        }
        while to < ops.len() && same(to, to - steps) {
            to += 1;
        }
        let cycle = Self { from: from as u64, steps: steps as u64, to: to as u64 };
        (cycle.times() >= LEAST_TIMES).then_some(cycle)
    }

    /// How often it comes, whole.
    pub fn times(&self) -> u64 {
        (self.to - self.from) / self.steps
    }

    /// The same in longer stretches, of which there are about `times`.
    pub fn in_stretches(self, times: u64) -> Self {
        let each = ((self.times() + times / 2) / times.max(1)).max(1);
        Self { steps: self.steps * each, ..self }
    }
}

/// The shortest period of the steps from `from` to `to`; `None` if there is no step.
fn period(from: usize, to: usize, same: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let mut border = vec![0usize; to - from];
    for at in 1..border.len() {
        let mut length = border[at - 1];
        while length > 0 && !same(from + at, from + length) {
            length = border[length - 1];
        }
        border[at] = length + usize::from(same(from + at, from + length));
    }
    border.last().map(|last| border.len() - last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Halo, Repeat};
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
}
