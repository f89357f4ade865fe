//! Collectives in rounds: in each of them every rank sends to one and receives from one.
//!
//! Sources: R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective communication operations in MPICH*,
//! IJHPCA 19(1), 2005 (recursive doubling and halving, ring, Bruck, pairwise); D. Hensgen, R. Finkel, U. Manber, *Two algorithms
//! for barrier synchronization*, IJPP 17(1), 1988 (dissemination).

use super::Step;

/// Rounds that double: `ceil(log2 n)`.
pub(super) fn rounds(n: u32) -> u32 {
    u32::BITS - (n - 1).leading_zeros()
}

/// Of every three steps of an exchange: send, receive, wait.
fn exchange(step: u32, to: u32, bytes: u64, from: u32) -> Step {
    match step % 3 {
        0 => Step::To(to, bytes),
        1 => Step::From(from),
        _ => Step::Wait,
    }
}

pub(super) fn dissemination(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let round = step / 3;
    let far = |round: u32| (1u64 << round) as u32 % n;
    (round < rounds(n)).then(|| exchange(step, (me + far(round)) % n, bytes, (me + n - far(round)) % n))
}

/// `share` by turn: in turn `k` goes on what came in the turn before.
pub(super) fn ring(me: u32, n: u32, share: impl Fn(u32) -> u64, step: u32, turns: u32) -> Option<Step> {
    let turn = step / 3;
    (turn < turns).then(|| exchange(step, (me + 1) % n, share(turn), (me + n - 1) % n))
}

/// `bytes` by receiver.
pub(super) fn pairwise(me: u32, n: u32, bytes: impl Fn(u32) -> u64, step: u32) -> Option<Step> {
    let far = step / 3 + 1;
    (far < n).then(|| {
        let to = (me + far) % n;
        exchange(step, to, bytes(to), (me + n - far) % n)
    })
}

pub(super) fn bruck(me: u32, n: u32, step: u32, bytes: impl Fn(u32) -> u64, forward: bool) -> Option<Step> {
    let round = step / 3;
    if round >= rounds(n) {
        return None;
    }
    let (on, before) = ((me + (1 << round)) % n, (me + n - (1 << round)) % n);
    let (to, from) = if forward { (on, before) } else { (before, on) };
    Some(exchange(step, to, bytes(round), from))
}

/// With partners at distances 1, 2, 4, …, always the same bytes.
pub(super) fn recursive_doubling(me: u32, n: u32, step: u32, bytes: u64) -> Option<Step> {
    folded(me, n, step, [bytes, bytes], |round| (1 << round, bytes))
}

/// The same, each time with all shares that have come so far. Who got a neighbour's share has two to begin with; the neighbour gets all
/// but its own at the end.
pub(super) fn recursive_gathering(me: u32, n: u32, step: u32, share: u64) -> Option<Step> {
    let fold = [share, share * u64::from(n - 1)];
    folded(me, n, step, fold, |round| (1 << round, share * shares_of(me >> round << round, 1 << round, n)))
}

/// With partners at distances n/2, n/4, …, 1: each time the shares of the partner's half go away.
pub(super) fn recursive_halving(me: u32, n: u32, step: u32, share: u64) -> Option<Step> {
    let power = 1u32 << n.ilog2();
    folded(me, n, step, [share * u64::from(n), share], |round| {
        let far = power >> (round + 1);
        (far, share * shares_of((me ^ far) / far * far, far, n))
    })
}

/// The shares that `count` ranks from `first` on answer for: their own, and those of the ranks that folded theirs into them.
fn shares_of(first: u32, count: u32, n: u32) -> u64 {
    let extra = n - (1 << n.ilog2());
    u64::from(count + extra.saturating_sub(first).min(count))
}

/// Rounds among a power of two of ranks, at the distance and with the bytes that `round` tells. What exceeds the power of two
/// first hands its part to a neighbour (`fold[0]` bytes), and gets the result at the end (`fold[1]`).
fn folded(me: u32, n: u32, step: u32, fold: [u64; 2], round: impl Fn(u32) -> (u32, u64)) -> Option<Step> {
    let power = 1u32 << n.ilog2();
    let extra = n - power;
    if me >= power {
        let partner = me - power;
        return [Step::To(partner, fold[0]), Step::From(partner), Step::Wait].get(step as usize).copied();
    }
    let mut step = step;
    if me < extra {
        match step {
            0 => return Some(Step::From(me + power)),
            1 => return Some(Step::Wait),
            _ => step -= 2,
        }
    }
    let rounds = power.ilog2();
    if step / 3 < rounds {
        let (far, bytes) = round(step / 3);
        return Some(exchange(step, me ^ far, bytes, me ^ far));
    }
    (me < extra && step == 3 * rounds).then(|| Step::To(me + power, fold[1]))
}

/// Recursive doubling without folding: a rank whose partner does not exist skips the round.
pub(super) fn scan_doubling(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let partners = (0..rounds(n)).map(|round| me ^ (1 << round)).filter(|&partner| partner < n);
    let partner = { partners }.nth((step / 3) as usize)?;
    Some(exchange(step, partner, bytes, partner))
}
