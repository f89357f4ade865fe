//! Scripts without time: everybody runs as far as messages allow, which arrive at once.

use std::collections::BTreeMap;

use netloom_sim::{Collective, Op, Script};

/// Messages and bytes by sender and receiver.
pub type Sent = BTreeMap<(u32, u32), (u64, u64)>;

#[derive(Clone, Default)]
struct Rank {
    step: u64,
    inner: Option<(Collective, u32)>,
    /// Open receives of the program and of its collective.
    open: [Vec<(u32, u32)>; 2],
}

/// Plays a script to its end and returns what was sent.
///
/// # Panics
/// If a rank waits for ever, or a message is not received.
pub fn walk(script: &dyn Script, ranks: u32) -> Sent {
    let mut flying: BTreeMap<(u32, u32, u32, bool), u64> = BTreeMap::new();
    let mut sent = Sent::new();
    let mut all = vec![Rank::default(); ranks as usize];
    let mut ended = vec![false; ranks as usize];
    loop {
        let mut moved = false;
        for me in 0..ranks {
            let rank = &mut all[me as usize];
            loop {
                let inner = rank.inner.is_some();
                let op = match rank.inner {
                    Some((collective, step)) => collective
                        .step(me, step, script.shares(me, rank.step))
                        .map(|step| Op::of_step(step, 0)),
                    None => script.op(me, rank.step),
                };
                let Some(op) = op else {
                    if !inner {
                        ended[me as usize] = true;
                        break;
                    }
                    rank.inner = None;
                    rank.step += 1;
                    continue;
                };
                let mut get = |open: &mut Vec<(u32, u32)>| {
                    open.retain(|&(from, tag)| {
                        let count = flying.entry((from, me, tag, inner)).or_default();
                        let there = *count > 0;
                        *count -= u64::from(there);
                        !there
                    });
                };
                let open = &mut rank.open[usize::from(inner)];
                match op {
                    Op::Compute { .. } => {}
                    Op::Isend { to, bytes, tag } | Op::Send { to, bytes, tag } => {
                        assert!(to < ranks, "{op:?} of rank {me}");
                        *flying.entry((me, to, tag, inner)).or_default() += 1;
                        let so_far = sent.entry((me, to)).or_default();
                        *so_far = (so_far.0 + 1, so_far.1 + bytes);
                    }
                    Op::Irecv { from, tag } => open.push((from, tag)),
                    Op::Recv { from, tag } => {
                        let mut one = vec![(from, tag)];
                        get(&mut one);
                        if !one.is_empty() {
                            break;
                        }
                    }
                    Op::Wait { sends: true, .. } => {}
                    Op::Wait { peer, tag, sends: false } => {
                        get(open);
                        if open.contains(&(peer, tag)) {
                            break;
                        }
                    }
                    Op::WaitAny => {
                        let before = open.len();
                        get(open);
                        if open.len() == before && before > 0 {
                            break;
                        }
                    }
                    Op::WaitAll => {
                        get(open);
                        if !open.is_empty() {
                            break;
                        }
                    }
                    Op::Together(collective) => rank.inner = Some((collective, 0)),
                }
                match &mut rank.inner {
                    Some((_, step)) if inner => *step += 1,
                    Some(_) => {}
                    None => rank.step += 1,
                }
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let stuck = ended.iter().position(|ended| !ended);
    assert_eq!(stuck, None, "this rank waits for ever, at step {:?}", stuck.map(|r| all[r].step));
    assert!(flying.values().all(|&count| count == 0), "a message that nobody receives");
    sent
}
