//! Leaves of a kind: those whose pairs with all others are of the same classes, such as a pod's.
//!
//! A class a pair of kinds takes a few bytes where a class a pair of leaves takes thousands.

/// No class: no way leads there.
pub const CUT_OFF: u8 = u8::MAX;

/// `[rank]`: its kind, and classes by kind, of the classes of all pairs of different ranks.
pub fn kinds(class_of: &[u8], ranks: usize) -> (Vec<u32>, Vec<u8>) {
    // Of every kind the first rank, and the second if there is one.
    let mut first: Vec<(usize, Option<usize>)> = Vec::new();
    let of = |s: usize, e: usize| class_of[s * ranks + e];
    let alike = |rank: usize, &(one, two): &(usize, Option<usize>)| {
        let inside = two.map_or(of(one, rank), |two| of(one, two));
        let mut others = (0..ranks).filter(|&e| e != rank && e != one);
        of(one, rank) == inside
            && of(rank, one) == inside
            && others.all(|e| of(rank, e) == of(one, e) && of(e, rank) == of(e, one))
    };
    let mut kind = Vec::with_capacity(ranks);
    for rank in 0..ranks {
        let known = first.iter().position(|known| alike(rank, known));
        match known {
            Some(k) => _ = first[k].1.get_or_insert(rank),
            None => first.push((rank, None)),
        }
        kind.push(known.unwrap_or(first.len() - 1) as u32);
    }
    let class = |&(s, two): &(usize, Option<usize>), &(e, _): &(usize, Option<usize>)| {
        if s == e { two.map_or(CUT_OFF, |two| of(s, two)) } else { of(s, e) }
    };
    let classes = first.iter().flat_map(|s| first.iter().map(move |e| class(s, e))).collect();
    (kind, classes)
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{below, stream};

    use super::*;

    #[test]
    fn kinds_of_leaves_keep_the_classes_of_all_pairs() {
        for seed in 0..200 {
            let mut random = stream(seed, 0);
            let ranks = 1 + below(&mut random, 12) as usize;
            // Pods, and some pairs that are not as they should be.
            let pod: Vec<u64> = (0..ranks).map(|_| below(&mut random, 3)).collect();
            let mut class_of: Vec<u8> =
                (0..ranks * ranks).map(|at| u8::from(pod[at / ranks] != pod[at % ranks])).collect();
            for _ in 0..seed % 3 {
                class_of[below(&mut random, (ranks * ranks) as u64) as usize] = CUT_OFF;
            }
            let (kind, classes) = kinds(&class_of, ranks);
            let kinds = classes.len().isqrt();
            for (s, e) in (0..ranks * ranks).map(|at| (at / ranks, at % ranks)).filter(|(s, e)| s != e) {
                let found = classes[kind[s] as usize * kinds + kind[e] as usize];
                assert_eq!(found, class_of[s * ranks + e], "seed {seed}: {s} to {e}");
            }
            if seed % 3 == 0 {
                assert!(kinds <= 3, "seed {seed}: {kinds} kinds");
            }
        }
    }
}
