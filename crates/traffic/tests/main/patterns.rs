//! Patterns: the dissertation's counts, and what is refused.

use netloom_traffic::{is_pattern, pattern, pattern_grid, pattern_in_groups};

fn pairs(spec: &str, endpoints: u32) -> usize {
    pattern(spec, Some(endpoints)).unwrap().total().entry_count()
}

fn entries(spec: &str, endpoints: u32) -> Vec<(u32, u32, f64)> {
    pattern(spec, Some(endpoints)).unwrap().total().iter().collect()
}

fn refusal(spec: &str, endpoints: Option<u32>) -> String {
    pattern(spec, endpoints).unwrap_err().to_string()
}

/// Taffet, dissertation, table 3.1, column "Total".
#[test]
fn pair_counts_are_those_of_table_3_1() {
    // Faces of a 16x16x12 box: 2 * (15*16*12 + 16*15*12 + 16*16*11).
    assert_eq!(pairs("stencil:16x16x12", 3072), 17_152);
    assert_eq!(pairs("bisection", 3072), 3_072);
    assert_eq!(pairs("bisection-shuffle:seed=1", 3072), 3_072);
    assert_eq!(pairs("bisection-shuffle:seed=1,noise=0.05", 3072), 3_072);
    assert_eq!(pairs("all-to-all", 3072), 9_434_112);
}

#[test]
fn a_periodic_stencil_has_six_partners_everywhere() {
    assert_eq!(pairs("stencil:16x16x12,periodic", 3072), 6 * 3072);
    assert_eq!(pairs("stencil:16x16x12,periodic,axis=+x", 3072), 3072);
    assert_eq!(pairs("stencil:16x16x12,axis=z", 3072), 2 * 16 * 16 * 11);
    assert_eq!(pairs("stencil27:4x4x4,periodic", 64), 26 * 64);
    // 26-neighbour stencil without edges wrapped: (3n - 2)^3 - n^3 ordered pairs.
    assert_eq!(pairs("stencil27:8x8x8", 512), 22 * 22 * 22 - 512);
}

#[test]
fn a_line_sends_to_both_sides() {
    assert_eq!(entries("stencil:3", 3), [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
    assert_eq!(entries("stencil:3,axis=+x,bytes=8", 3), [(0, 1, 8.0), (1, 2, 8.0)]);
}

#[test]
fn bisection_pairs_the_halves_both_ways() {
    assert_eq!(entries("bis", 4), [(0, 2, 1.0), (1, 3, 1.0), (2, 0, 1.0), (3, 1, 1.0)]);
    for (i, j, _) in entries("bisection-shuffle:seed=3", 64) {
        assert!((i < 32) != (j < 32));
        assert!(entries("bisection-shuffle:seed=3", 64).contains(&(j, i, 1.0)));
    }
    assert_ne!(entries("bisection-shuffle:seed=3", 64), entries("bisection-shuffle:seed=4", 64));
}

#[test]
fn noise_changes_bytes_within_its_range_and_no_partner() {
    let plain = entries("bisection-shuffle:seed=1", 3072);
    let noisy = entries("bisection-shuffle:seed=1,noise=0.05", 3072);
    assert!(plain.iter().zip(&noisy).all(|(a, b)| (a.0, a.1) == (b.0, b.1)));
    assert!(noisy.iter().all(|e| (0.95..=1.05).contains(&e.2)));
    let mean = noisy.iter().map(|e| e.2).sum::<f64>() / 3072.0;
    assert!((mean - 1.0).abs() < 0.003, "mean {mean}");
    assert!(noisy.iter().any(|e| e.2 < 0.96) && noisy.iter().any(|e| e.2 > 1.04));
}

#[test]
fn permutations_move_everybody() {
    let moved = entries("permutation:seed=5", 100);
    let mut to: Vec<u32> = moved.iter().map(|e| e.1).collect();
    to.sort_unstable();
    assert_eq!(to, (0..100).collect::<Vec<_>>());
    assert_eq!(entries("shift:-1", 3), [(0, 2, 1.0), (1, 0, 1.0), (2, 1, 1.0)]);
    assert_eq!(entries("shift:3", 3), []);
}

/// Smith et al., SC18, sec. III-B; sizes of appendix, table IV: 1152 processes.
#[test]
fn afar_benchmarks_have_the_papers_shapes() {
    // 18 rows of 64: horizontally 2*18*63, vertically 2*17*64 (not periodic).
    assert_eq!(pairs("nn:18x64", 1152), 2 * 18 * 63 + 2 * 17 * 64);
    assert!(entries("nn:18x64", 1152).contains(&(0, 64, 1.0)), "row-major: the next row is 64 away");
    // Periodic, everybody has four: 256 KB of 64 KB each in table I.
    assert_eq!(pairs("nn:18x64,periodic", 1152), 4 * 1152);
    assert!(entries("nn:18x64,periodic", 1152).contains(&(0, 63, 1.0)), "a row's ends are neighbours");
    assert_eq!(pairs("fft-proxy:8x16x9", 1152), 1152 * 15);
    assert!(entries("fft-proxy:8x16x9", 1152).iter().all(|e| e.0 % 8 == e.1 % 8 && e.0 / 128 == e.1 / 128));
    let one_way = entries("pairs:seed=2", 1152);
    assert_eq!(one_way.len(), 576);
    assert!(one_way.iter().all(|e| e.0 < 576 && e.1 >= 576));
    assert_eq!(pairs("bis:ranks=1152", 1152), 1152);
}

/// Taffet, dissertation, sec. 5.4: 2048 ranks on 32 x 64. The tree of all has 2047 edges, those of 64 rows 31 each,
/// those of 32 columns 63 each; row 0's tree is part of the tree of all (31), and so are the edges
/// (32k + 31, 64k + 63) and (32k + 30, 64k + 62) of two columns (32 each).
#[test]
fn the_barrier_has_its_partners_once() {
    let m = pattern("barrier:32x64", Some(2048)).unwrap();
    assert_eq!(m.total().entry_count(), 2 * (2047 + 64 * 31 + 32 * 63 - 31 - 64));
    assert!(m.total().bytes().iter().all(|&b| b == 1.0));
    assert_eq!(m.total().row(0).0, [1, 2, 32, 64]);
}

#[test]
fn a_matching_pairs_everybody_once_both_ways() {
    let matched = entries("matching:seed=1,bytes=100", 1000);
    assert_eq!(matched.len(), 1000);
    for &(i, j, bytes) in &matched {
        assert!(i != j && bytes == 100.0);
        assert_eq!(matched[j as usize], (j, i, 100.0));
    }
    // Unlike a bisection's, partners come from anywhere: 249.5 of 500 pairs within a half, give or take 11.
    let inside = matched.iter().filter(|e| (e.0 < 500) == (e.1 < 500)).count() / 2;
    assert!((200..300).contains(&inside), "{inside}");
    assert_eq!(refusal("matching", Some(7)), "matching needs an even number of endpoints, found 7");
}

#[test]
fn random_partners_are_distinct_others() {
    let t = pattern("random:partners=70,seed=1", Some(200)).unwrap();
    let m = t.total();
    for i in 0..200 {
        assert_eq!(m.row(i).0.len(), 70);
        assert!(!m.row(i).0.contains(&(i as u32)));
    }
    assert_eq!(pairs("random:partners=9", 10), 90);
}

#[test]
fn grids_are_known_x_fastest() {
    assert_eq!(pattern_grid("stencil:8x4x2,periodic"), Some(vec![8, 4, 2]));
    assert_eq!(pattern_grid("nn:18x64"), Some(vec![64, 18]));
    assert_eq!(pattern_grid("all-to-all"), None);
    assert!(is_pattern("all-to-all") && is_pattern("bisection-shuffle:seed=1") && !is_pattern("./stencil"));
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    assert_eq!(
        refusal("stencil:16x16x12", Some(1296)),
        "stencil:16x16x12 needs 3072 endpoints, the fabric has 1296 hosts"
    );
    assert_eq!(refusal("bisection", Some(7)), "bisection needs an even number of endpoints, found 7");
    assert_eq!(
        refusal("all-to-all", None),
        "pattern \"all-to-all\" needs a number of endpoints: give a fabric, or ranks= as in all-to-all:ranks=64"
    );
    assert!(refusal("all-to-all", Some(65_536)).contains("4294901760 entries, some 51 GB"));
    assert!(refusal("stencil:99999x99999x99999", None).contains("expected at most 10000000"));
    assert!(refusal("random:partners=10", Some(10)).contains("partners must be 1 to 9, found 10"));
    assert!(refusal("permutation", Some(1)).contains("at least 2"));
}

#[test]
fn a_ring_is_a_shift_by_one() {
    assert_eq!(entries("ring:bytes=7", 5), entries("shift:1,bytes=7", 5));
    assert_eq!(entries("ring", 3), [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
}

#[test]
fn what_is_mistyped_names_the_nearest() {
    assert_eq!(refusal("stencl:4x4", None), "there is no pattern \"stencl\", did you mean \"stencil\"?");
    assert!(refusal("xyzzy", None).contains("expected one of stencil, stencil27"));
    assert!(refusal("stencil:4x4,periodic,ax=x", None).contains("did you mean \"axis\"?"));
    assert!(refusal("bisection-shuffle:sead=1", Some(4)).contains("did you mean \"seed\"?"));
    assert!(refusal("stencil:4xq", None).contains("grid must be 1 to 6 sizes"));
    assert!(refusal("stencil:4x4,axis=z", None).contains("axis must be an axis of the grid"));
    assert!(refusal("stencil", None).contains("needs its grid: stencil:16x16x12"));
    assert!(
        refusal("all-to-all:bytes=-1", Some(4)).contains("bytes must be a positive number, found \"-1\"")
    );
    assert!(refusal("all-to-all:seed=x", Some(4)).contains("seed must be a whole number"));
    assert!(refusal("shift", Some(4)).contains("needs how far: shift:1"));
    assert!(refusal("nn:4x4x4", None).contains("rows and columns"));
}

#[test]
fn adversarial_traffic_follows_groups_as_they_are() {
    // Groups of two, one and three.
    let sent = pattern_in_groups("adversarial:1,bytes=6", &[2, 0, 1, 2, 0, 2]).unwrap();
    let found: Vec<_> = sent.total().iter().collect();
    let all = [(0, 1, 3.0), (0, 4, 3.0), (1, 2, 6.0), (2, 0, 2.0), (2, 3, 2.0), (2, 5, 2.0)];
    assert_eq!(found[..6], all);
    assert_eq!(found.len(), 6 + 2 + 1 + 2);
}

#[test]
fn adversarial_traffic_goes_from_group_to_group() {
    let sent = entries("adversarial:2,group=4,bytes=8", 12);
    assert_eq!(sent.len(), 48);
    assert_eq!(sent[20..24], [(5, 0, 2.0), (5, 1, 2.0), (5, 2, 2.0), (5, 3, 2.0)]);
    let says = |spec: &str, endpoints, part: &str| {
        let message = refusal(spec, endpoints);
        assert!(message.contains(part), "{spec}: {message}");
    };
    says(
        "adversarial:40,group=32",
        Some(1056),
        "at least 1 and below their number, found \"40 of 33 groups\"",
    );
    says("adversarial:0,group=4", Some(12), "found \"0 of 3 groups\"");
    says("adversarial:-1,group=4", Some(12), "found \"-1 of 3 groups\"");
    says("adversarial:1,group=5", Some(12), "a divisor of the number of endpoints");
    says("adversarial:1,group=12", Some(12), "with at least two groups, found \"12 of 12 endpoints\"");
    says("adversarial:1,group=0", Some(12), "a divisor of the number of endpoints");
    says("adversarial:1", Some(12), "needs the endpoints of a group, or a dragonfly");
    says("adversarial", Some(12), "needs how many groups on: adversarial:1,group=32");
    says("adversarial:1,group=4", None, "needs a number of endpoints");
    says("adversarial:1,group=4,ranks=16", Some(12), "needs 16 endpoints, the fabric has 12 hosts");
    says("adversarial:1,grop=4", Some(12), "needs the endpoints of a group");
}
