//! Random traffic between the hosts of a fabric, in small whole numbers of bytes (so sums are exact).

use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Csr, Fabric, Traffic};

/// A matrix from `(from, to, bytes)`.
///
/// # Panics
/// If an entry is no traffic among `endpoints`.
pub fn matrix(endpoints: usize, entries: &[(u64, u64, f64)]) -> Csr {
    let column = |f: fn(&(u64, u64, f64)) -> u64| entries.iter().map(f).collect::<Vec<u64>>();
    let bytes: Vec<f64> = entries.iter().map(|e| e.2).collect();
    let traffic = Traffic::from_triples(endpoints as u32, &column(|e| e.0), &column(|e| e.1), &bytes, None);
    traffic.unwrap_or_else(|e| panic!("{e}")).total().into_owned()
}

/// Traffic of a seed: sparse, a permutation, all-to-all, a hot destination, one busy source, or (rarely)
/// none. May hold a host's traffic to itself. It carries the fabric's host hash.
pub fn random_traffic(fabric: &Fabric, seed: u64) -> Traffic {
    let n = fabric.host_count() as u64;
    let mut random = stream(seed, 0x7261);
    let mut entries: Vec<(u64, u64, f64)> = Vec::new();
    match below(&mut random, 16) {
        0 => {}
        1..4 => {
            let mut to: Vec<u64> = (0..n).collect();
            shuffle(&mut random, &mut to);
            entries.extend((0..n).zip(to).map(|(i, j)| (i, j, 4.0)));
        }
        4..6 => entries.extend((0..n * n).filter(|e| e / n != e % n).map(|e| (e / n, e % n, 1.0))),
        6..8 => {
            let hot = below(&mut random, n);
            entries.extend((0..n).map(|i| (i, hot, (i % 3 + 1) as f64)));
        }
        8..10 => {
            let busy = below(&mut random, n);
            entries.extend((0..n).map(|j| (busy, j, (j % 3 + 1) as f64)));
        }
        _ => {
            for _ in 0..1 + below(&mut random, 3 * n) {
                let (i, j) = (below(&mut random, n), below(&mut random, n));
                entries.push((i, j, 1.0 + below(&mut random, 8) as f64));
            }
        }
    }
    Traffic::from_matrix(matrix(n as usize, &entries)).with_hosts_hash(Some(fabric.hosts_hash()))
}

/// [`random_traffic`] as one matrix.
pub fn random_matrix(fabric: &Fabric, seed: u64) -> Csr {
    random_traffic(fabric, seed).total().into_owned()
}
