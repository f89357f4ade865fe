//! The Walsh-Hadamard transform: of a word at each number, the sums over all numbers, minus where the parity of (number, number) is odd.
//!
//! It is linear, so two sums that share a word are transformed at once.

/// Cells whose steps stay in registers.
const BLOCK: usize = 16;

/// In place; as many cells as a power of two.
pub fn transform(cells: &mut [i64]) {
    debug_assert!(cells.len().is_power_of_two());
    let mut half = 1;
    if cells.len() >= BLOCK {
        for block in cells.as_chunks_mut::<BLOCK>().0 {
            steps(block);
        }
        half = BLOCK;
    }
    while half < cells.len() {
        step(cells, half);
        half *= 2;
    }
}

/// All steps of a block, in registers.
fn steps(block: &mut [i64; BLOCK]) {
    let mut cells = *block;
    for half in [1, 2, 4, 8] {
        for at in (0..BLOCK).filter(|at| at & half == 0) {
            let (a, b) = (cells[at], cells[at + half]);
            (cells[at], cells[at + half]) = (a + b, a - b);
        }
    }
    *block = cells;
}

#[inline(always)]
fn step(cells: &mut [i64], half: usize) {
    for pair in cells.chunks_exact_mut(2 * half) {
        let (low, high) = pair.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_with_signs_by_parity() {
        for bits in 0..8 {
            let cells: Vec<i64> = (0..1 << bits).map(|i: i64| i * i * 31 % 97 - 40).collect();
            let mut quick = cells.clone();
            transform(&mut quick);
            for (row, found) in quick.into_iter().enumerate() {
                let signed = cells.iter().enumerate();
                let signed = signed.map(|(i, c)| if (row & i).count_ones() % 2 == 0 { *c } else { -c });
                assert_eq!(found, signed.sum::<i64>(), "{bits} bits, row {row}");
            }
        }
    }
}
