//! What waits for itself in the end: what is left of a graph of waits when all that waits for nothing is taken away.

/// By vertex: whether it is on a circle of waits, or waits for one that is. Time grows with vertices and waits.
pub(crate) fn on_circles(vertices: usize, waits: &[(u32, u32)]) -> Vec<bool> {
    let mut left = vec![0u32; vertices];
    // Who waits for a vertex: `of[first[v]..first[v + 1]]`.
    let mut first = vec![0u32; vertices + 1];
    for &(a, b) in waits {
        left[a as usize] += 1;
        first[b as usize + 1] += 1;
    }
    for v in 1..first.len() {
        first[v] += first[v - 1];
    }
    let mut at = first.clone();
    let mut of = vec![0u32; waits.len()];
    for &(a, b) in waits {
        of[at[b as usize] as usize] = a;
        at[b as usize] += 1;
    }
    let mut free: Vec<u32> = (0..vertices as u32).filter(|&v| left[v as usize] == 0).collect();
    let mut on = vec![true; vertices];
    while let Some(v) = free.pop() {
        on[v as usize] = false;
        for &w in &of[first[v as usize] as usize..first[v as usize + 1] as usize] {
            left[w as usize] -= 1;
            if left[w as usize] == 0 {
                free.push(w);
            }
        }
    }
    on
}
