//! Collectives up and down trees, along chains, and everything at the root.
//!
//! Sources: R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective communication operations in MPICH*,
//! IJHPCA 19(1), 2005 (binomial trees). The binary tree is TraceR's (Taffet, dissertation, sec. 5.4).

use super::Step;

/// Up the binary tree, then down again.
pub(super) fn binary_up_and_down(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let children =
        [2 * u64::from(me) + 1, 2 * u64::from(me) + 2].map(|c| (c < u64::from(n)).then_some(c as u32));
    let parent = (me > 0).then(|| (me - 1) / 2);
    let steps = [
        children[0].map(Step::From),
        children[1].map(Step::From),
        children[0].map(|_| Step::Wait),
        parent.map(|p| Step::To(p, bytes)),
        parent.map(Step::From),
        parent.map(|_| Step::Wait),
        children[0].map(|c| Step::To(c, bytes)),
        children[1].map(|c| Step::To(c, bytes)),
    ];
    steps.into_iter().flatten().nth(step as usize)
}

/// The root of a binomial tree is 0; the parent of a rank lacks its lowest bit.
pub(super) fn binomial_down(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let low = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
    let children = (0..low.trailing_zeros()).rev().map(|b| me + (1 << b)).filter(|&c| c < n);
    let receive = (me > 0).then(|| [Step::From(me - low), Step::Wait]);
    receive.into_iter().flatten().chain(children.map(|c| Step::To(c, bytes))).nth(step as usize)
}

pub(super) fn binomial_up(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let low = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
    let children = (0..low.trailing_zeros()).map(|b| me + (1 << b)).filter(|&c| c < n);
    let send = (me > 0).then(|| Step::To(me - low, bytes));
    children.flat_map(|c| [Step::From(c), Step::Wait]).chain(send).nth(step as usize)
}

pub(super) fn scatter_steps(me: u32, n: u32) -> u32 {
    (0..).take_while(|&k| scatter_step(me, n, |_, _| 1, k).is_some()).count() as u32
}

/// Down a binomial tree, to each child the shares of its subtree: `bytes` from a rank on, of so many.
pub(super) fn scatter_step(me: u32, n: u32, bytes: impl Fn(u32, u32) -> u64, step: u32) -> Option<Step> {
    let step = binomial_down(me, n, 0, step)?;
    Some(match step {
        Step::To(child, _) => {
            let below = (child & child.wrapping_neg()).min(n - child);
            Step::To(child, bytes(child, below))
        }
        other => other,
    })
}

/// Up a binomial tree, from each child the shares of its subtree.
pub(super) fn gather_step(me: u32, n: u32, share: u64, step: u32) -> Option<Step> {
    let below = if me == 0 { n } else { (me & me.wrapping_neg()).min(n - me) };
    binomial_up(me, n, share * u64::from(below), step)
}

/// All send to the root at once.
pub(super) fn gather_linear(me: u32, n: u32, root: u32, mine: u64, step: u32) -> Option<Step> {
    match step {
        0 if me != root => Some(Step::To(root, mine)),
        _ if me != root => None,
        step if step + 1 < n => Some(Step::From(if step < root { step } else { step + 1 })),
        step => (step + 1 == n).then_some(Step::Wait),
    }
}

/// The root sends to all at once, `bytes` by receiver.
pub(super) fn scatter_linear(
    me: u32,
    n: u32,
    root: u32,
    bytes: impl Fn(u32) -> u64,
    step: u32,
) -> Option<Step> {
    if me != root {
        return [Step::From(root), Step::Wait].get(step as usize).copied();
    }
    let to = if step < root { step } else { step + 1 };
    if to < n { Some(Step::To(to, bytes(to))) } else { (step + 1 == n).then_some(Step::Wait) }
}

/// From each rank to the next.
pub(super) fn chain(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let before = (me > 0).then(|| [Step::From(me - 1), Step::Wait]);
    let next = (me + 1 < n).then(|| Step::To(me + 1, bytes));
    before.into_iter().flatten().chain(next).nth(step as usize)
}
