//! A production machine in the middle of a working day: when does each host become free?
//!
//! Source: Taffet, dissertation, sec. 3.5.1 ("Trace"): allocations come from a snapshot of Quartz's batch
//! queue; each traced job gets the hosts that become free first, every running job lasting as long as it
//! was given. We have no snapshot, so one is simulated:
//! - a queue that never empties, of jobs whose size is log-uniform in `1 ..= H/4` (so most are small, most
//!   hosts belong to large ones) and whose length is log-uniform in 1 .. 100 units;
//! - the job at the head of the queue starts on the lowest-numbered free hosts as soon as there are
//!   enough; meanwhile the next few jobs may overtake it where they fit (backfill);
//! - the snapshot is taken after enough jobs that the empty start is forgotten.
//!
//! Invariants: deterministic in the stream; hosts outside `usable` never run anything.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use netloom_model::rng::{Stream, unit};

/// Jobs that may overtake the head of the queue.
const BACKFILL: usize = 8;
/// Jobs that end before the snapshot.
const HISTORY: usize = 400;

/// The `usable` hosts in the order in which they become free: idle ones first, then those of the job that
/// ends first, and so on; ties in host order.
pub fn freed_in_order<T: Copy>(usable: &[T], random: &mut Stream) -> Vec<T> {
    let hosts = usable.len();
    let largest = (hosts / 4).max(1);
    let mut free_at = vec![0.0f64; hosts];
    let mut idle = vec![true; hosts];
    let mut idle_count = hosts;
    // Running jobs by end; ends are positive, so their bits order like they do.
    let mut running: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut hosts_of: Vec<Vec<u32>> = Vec::new();
    let mut queue: VecDeque<(usize, f64)> = VecDeque::new();
    let mut now = 0.0;
    for _ in 0..HISTORY {
        while queue.len() < BACKFILL {
            let size = (largest as f64 + 1.0).powf(unit(random)) as usize;
            queue.push_back((size.clamp(1, largest), 100f64.powf(unit(random))));
        }
        while let Some(next) = queue.iter().position(|&(size, _)| size <= idle_count) {
            let (size, length) = queue.remove(next).expect("just found");
            let mine: Vec<u32> = (0..hosts as u32).filter(|&h| idle[h as usize]).take(size).collect();
            for &host in &mine {
                idle[host as usize] = false;
                free_at[host as usize] = now + length;
            }
            idle_count -= size;
            running.push(Reverse(((now + length).to_bits(), hosts_of.len())));
            hosts_of.push(mine);
        }
        let Some(Reverse((end, job))) = running.pop() else { break };
        now = f64::from_bits(end);
        for host in std::mem::take(&mut hosts_of[job]) {
            idle[host as usize] = true;
            free_at[host as usize] = 0.0;
            idle_count += 1;
        }
    }
    let mut order: Vec<usize> = (0..hosts).collect();
    order.sort_by(|&a, &b| free_at[a].total_cmp(&free_at[b]));
    order.into_iter().map(|i| usable[i]).collect()
}

#[cfg(test)]
mod tests {
    use netloom_model::HostId;
    use netloom_model::rng::stream;

    use super::*;

    /// Runs of consecutive hosts among the first `n`.
    fn pieces(order: &[HostId], n: usize) -> usize {
        let mut first: Vec<u32> = order[..n].iter().map(|h| h.0).collect();
        first.sort_unstable();
        1 + first.windows(2).filter(|w| w[1] != w[0] + 1).count()
    }

    #[test]
    fn every_host_becomes_free_once() {
        let usable: Vec<HostId> = (0..3072).map(HostId).collect();
        let mut order = freed_in_order(&usable, &mut stream(1, 0));
        assert_eq!(order, freed_in_order(&usable, &mut stream(1, 0)));
        order.sort_unstable();
        assert_eq!(order, usable);
    }

    #[test]
    fn the_first_free_hosts_are_scattered_but_not_dust() {
        let usable: Vec<HostId> = (0..3072).map(HostId).collect();
        for seed in 0..10 {
            let n = pieces(&freed_in_order(&usable, &mut stream(seed, 0)), 512);
            // Uniformly random hosts would come in some 427 pieces, an empty machine's in one.
            assert!((2..=200).contains(&n), "seed {seed}: {n} pieces");
        }
    }

    #[test]
    fn tiny_machines_work() {
        for n in 1..6 {
            let usable: Vec<HostId> = (0..n).map(HostId).collect();
            assert_eq!(freed_in_order(&usable, &mut stream(3, 0)).len(), n as usize);
        }
    }
}
