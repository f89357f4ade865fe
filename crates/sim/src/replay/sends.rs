//! What ranks send, in order, without playing: traffic for routers and optimisers.

use super::op::Op;
use super::script::Script;
use netloom_traffic::collective::Collective;

/// The messages that `rank` of a job sends, in order: `(receiver, bytes)`. Those of collectives are among them.
pub fn sends(script: &dyn Script, rank: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
    let (mut step, mut inner) = (0, None::<(Collective, u32)>);
    std::iter::from_fn(move || {
        loop {
            let op = match inner.as_mut() {
                Some((collective, at)) => {
                    let op = collective
                        .step(rank, *at, script.shares(rank, step - 1))
                        .map(|step| Op::of_step(step, 0));
                    *at += 1;
                    op
                }
                None => {
                    let op = script.op(rank, step)?;
                    step += 1;
                    Some(op)
                }
            };
            match op {
                Some(Op::Isend { to, bytes, .. } | Op::Send { to, bytes, .. }) => return Some((to, bytes)),
                Some(Op::Together(collective)) => inner = Some((collective, 0)),
                Some(_) => {}
                None => inner = None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Collective, Kind, Repeat, Stream};

    #[test]
    fn messages_come_in_order_those_of_collectives_among_them() {
        let stream = Stream::of(&[1, 2, 0], 2, 10);
        assert_eq!(sends(&stream, 1).collect::<Vec<_>>(), [(2, 10), (2, 10)]);
        // In the binary tree rank 1 of 4 tells its parent 0, and later its child 3.
        let tree =
            Collective { algorithm: Some(Algorithm::BinaryTree), ..Collective::all(Kind::Barrier, 8, 4) };
        let script = Repeat { collective: tree, iterations: 2 };
        assert_eq!(sends(&script, 1).collect::<Vec<_>>(), [(0, 8), (3, 8), (0, 8), (3, 8)]);
    }
}
