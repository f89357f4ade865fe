//! Every motif: each send meets a receive, and as much is sent as was worked out by hand.

use std::sync::Arc;

use netloom_formats::read_ti_workload;
use netloom_sim::{
    AllToAll, Collective, Halo, Incast, Kind, NasCg, NasClass, NasFt, Op, Pairs, PermutationStream, Repeat,
    Replay, RowsAndColumns, Script, Stencil, Stream, Wrf,
};

use crate::walk::{Sent, walk};

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

/// What a recorded run sends, by pair.
fn recorded(file: &str) -> Sent {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data").join(file);
    let trace = read_ti_workload(&std::fs::read(path).unwrap(), file).unwrap();
    walk(&Replay::new(Arc::new(trace.workload), f64::INFINITY), 128)
}

/// CG of class C on 128 ranks: whoever exchanges segments of 75,000 bytes in the recorded run does so in the program, as often. (Ranks whose place
/// transposed is their own send it to themselves in the recorded run, and nothing in the program.)
#[test]
fn cg_is_the_recorded_cg() {
    let bytes = NasCg::segment_bytes(NasClass::C, 128);
    assert_eq!(bytes, 75_000);
    let found = recorded("cg-128.ti.gz");
    let times = found.values().map(|&(_, sent)| sent / bytes).max().unwrap();
    let program = walk(&NasCg { ranks: 128, bytes, sums: true, iterations: times }, 128);
    let segments = |sent: &Sent| -> Vec<((u32, u32), u64)> {
        let between = sent.iter().filter(|((from, to), _)| from != to);
        between.map(|(&pair, &(_, all))| (pair, all / bytes)).filter(|&(_, n)| n > 0).collect()
    };
    assert_eq!(segments(&found), segments(&program));
    // Four exchanges in a row of 16, one with the transposed place (but for those who are their own), twice four sums.
    let transposed = program.len() as u64 - 128 * 4;
    let messages: u64 = program.values().map(|&(messages, _)| messages).sum();
    assert_eq!(messages, times * (128 * 4 + transposed + 128 * 8));
}

/// FT of class C on 128 ranks: every pair as much as in the recorded run's transpositions.
#[test]
fn ft_is_the_recorded_ft() {
    let bytes = NasFt::pair_bytes(NasClass::C, 128);
    let found = recorded("ft-128.ti.gz");
    let times = found.values().map(|&(_, sent)| sent / bytes).max().unwrap();
    let program = walk(&NasFt { ranks: 128, bytes, iterations: times }, 128);
    assert_eq!(program.len(), 128 * 127);
    assert!(program.iter().all(|(pair, &(messages, sent))| {
        messages == times && sent == times * bytes && found[pair].1 / bytes == times
    }));
}

#[test]
fn a_row_exchanges_with_the_rows_beside_it() {
    let wrf = Wrf { ranks: 256, columns: 16, bytes: 7, iterations: 2 };
    assert_eq!(total(&wrf, 256), (2 * 2 * 240, 2 * 2 * 240 * 7));
    assert!(walk(&wrf, 256).keys().all(|&(from, to)| from.abs_diff(to) == 16));
}
