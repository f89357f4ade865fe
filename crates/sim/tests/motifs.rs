//! Every motif: each send meets a receive, and as much is sent as was worked out by hand.

use netloom_sim::{
    AllToAll, Collective, Halo, Incast, Kind, Op, Pairs, PermutationStream, Repeat, RowsAndColumns, Script,
    Stencil, Stream,
};

use crate::walk::walk;

/// Messages and bytes in all.
fn total(script: &dyn Script, ranks: u32) -> (u64, u64) {
    walk(script, ranks).values().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

#[test]
fn streams_and_pairs() {
    let stream = Stream::of(&[1, 2, 3, 0], 5, 100);
    assert_eq!(total(&stream, 4), (20, 2000));
    let pairs = Pairs { partner: vec![3, 2, 1, 0], rounds: 2, messages: 3, bytes: 10 };
    assert_eq!(total(&pairs, 4), (4 * 2 * 3, 240));
}

/// Six neighbours each.
#[test]
fn stencils() {
    let stencil = Stencil { shape: [4, 3, 2], bytes: 7, messages: 2, iterations: 3 };
    assert_eq!(total(&stencil, 24), (24 * 6 * 2 * 3, 24 * 6 * 2 * 3 * 7));
}

/// A grid of 3 x 4 x 5 has 2x4x5 + 3x3x5 + 3x4x4 = 133 faces between ranks, 2(2x3x5 + 2x4x4 + 3x3x4) = 196 edges and
/// 4 x 2x3x4 = 96 corners; each carries a message either way.
#[test]
fn halos_cross_faces_edges_and_corners() {
    let halo = |bytes| Halo { shape: [3, 4, 5], periodic: [false; 3], bytes, iterations: 2, compute_ps: 9 };
    assert_eq!(total(&halo([100, 0, 0]), 60), (2 * 2 * 133, 2 * 2 * 133 * 100));
    assert_eq!(total(&halo([0, 10, 0]), 60), (2 * 2 * 196, 2 * 2 * 196 * 10));
    assert_eq!(total(&halo([0, 0, 1]), 60), (2 * 2 * 96, 2 * 2 * 96));
    let all = 2 * 2 * (133 * 100 + 196 * 10 + 96);
    assert_eq!(total(&halo([100, 10, 1]), 60), (2 * 2 * (133 + 196 + 96), all));
    // Wrapped round, every rank has all 26 neighbours, even in a ring of two.
    let wrapped = Halo { shape: [2, 3, 4], periodic: [true; 3], ..halo([100, 10, 1]) };
    assert_eq!(total(&wrapped, 24), (24 * 26 * 2, 24 * 2 * (600 + 120 + 8)));
    // Two dimensions: (3x4 + 4x3) + 2 x 3x3 neighbours in a 4 x 4 grid.
    let flat = Halo { shape: [4, 4, 1], ..halo([100, 10, 1]) };
    assert_eq!(total(&flat, 16), (2 * 2 * (24 + 18), 2 * 2 * (2400 + 180)));
}

#[test]
fn all_to_all_incast_and_permutations() {
    let all = AllToAll { ranks: 7, bytes: 10, iterations: 2, compute_ps: 1 };
    assert_eq!(total(&all, 7), (7 * 6 * 2, 840));
    let incast = Incast { ranks: 9, root: 4, messages: 3, bytes: 10, iterations: 2 };
    let sent = walk(&incast, 9);
    assert!(sent.keys().all(|&(_, to)| to == 4));
    assert_eq!(sent.values().map(|&(messages, _)| messages).sum::<u64>(), 8 * 3 * 2);
    let rounds = PermutationStream::new(11, 5, 3, 10, 1);
    assert_eq!(total(&rounds, 11), (11 * 5 * 3, 1650));
    // One rank has nobody to send to.
    assert_eq!(total(&AllToAll { ranks: 1, ..all }, 1), (0, 0));
    assert_eq!(total(&Incast { ranks: 1, root: 0, ..incast }, 1), (0, 0));
    assert_eq!(total(&PermutationStream::new(1, 5, 3, 10, 1), 1), (0, 0));
}

/// A barrier over a binary tree sends up and down each of its edges: 2(n - 1) messages.
#[test]
fn collectives() {
    let barriers = RowsAndColumns { columns: 4, rows: 3, iterations: 2, bytes: 8 };
    let messages = 2 * 2 * (3 * 3 + 4 * 2 + 11);
    assert_eq!(total(&barriers, 12), (messages, 8 * messages));
    // Ranks 1, 5, 9 first, then 4 to 7, then all.
    let members = |step| match barriers.op(5, step) {
        Some(Op::Together(group)) => (group.first, group.stride, group.count),
        other => panic!("expected a collective, found {other:?}"),
    };
    assert_eq!(
        [members(0), members(1), members(2), members(3)],
        [(1, 4, 3), (4, 1, 4), (0, 1, 12), (1, 4, 3)]
    );
    let repeat = Repeat { collective: Collective::all(Kind::Allgather, 10, 6), iterations: 3 };
    assert_eq!(total(&repeat, 6).1, 3 * 6 * 5 * 10);
}
