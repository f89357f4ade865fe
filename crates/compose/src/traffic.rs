//! What a scenario's jobs send over the network, for optimised routes: bytes per pair of hosts, in all or message by message.
//!
//! Scripts are walked, not played; collectives are the messages they are made of. A job that starts over until another ends counts
//! once; its `weight` says otherwise. *Phase k* is everybody's k-th message; phases that are equal become one that repeats. This
//! is what keeps routes good in every moment of a synchronous program: a sum over time hides when things happen (Taffet,
//! dissertation, sec. 5.3.1).

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use netloom_model::{Control, Csr, Fabric, Phase, Traffic};
use netloom_sim::sends;

use crate::ComposeError;
use crate::scene::SceneJob;

/// More phases that differ than this are refused.
pub const MOST_PHASES: usize = 256;
/// Messages between two looks at the control.
const MESSAGES_A_LOOK: u64 = 1 << 20;

/// All bytes of all jobs, host to host.
///
/// # Errors
/// [`ComposeError::Stopped`] by the control.
pub fn total(fabric: &Fabric, jobs: &[SceneJob], control: &Control) -> Result<Traffic, ComposeError> {
    let mut ranks_of: Vec<Vec<(usize, u32)>> = vec![Vec::new(); fabric.host_count()];
    for (j, job) in jobs.iter().enumerate() {
        for (rank, host) in job.host_of_rank.iter().enumerate() {
            ranks_of[host.index()].push((j, rank as u32));
        }
    }
    let (mut offsets, mut columns, mut bytes) = (vec![0], Vec::new(), Vec::new());
    let mut sum = vec![0.0; fabric.host_count()];
    let mut touched: Vec<u32> = Vec::new();
    let mut messages = 0u64;
    for (host, ranks) in ranks_of.iter().enumerate() {
        for &(j, rank) in ranks {
            let job = &jobs[j];
            for (to, size) in sends(&*job.script, rank) {
                messages += 1;
                if messages.is_multiple_of(MESSAGES_A_LOOK) && control.stopped().is_some() {
                    return Err(ComposeError::Stopped);
                }
                let to = job.host_of_rank[to as usize];
                // A message of nothing is one of a byte, as a replay sends it.
                let size = size.max(1);
                if to.index() != host {
                    if sum[to.index()] == 0.0 {
                        touched.push(to.0);
                    }
                    sum[to.index()] += size as f64 * job.weight;
                }
            }
        }
        touched.sort_unstable();
        for to in touched.drain(..) {
            columns.push(to);
            bytes.push(std::mem::take(&mut sum[to as usize]));
        }
        offsets.push(columns.len() as u64);
    }
    Ok(bound(Traffic::from_matrix(Csr::from_parts(offsets, columns, bytes, None)), fabric))
}

/// Everybody's k-th messages, in order of first appearance, each phase once with its number of times.
///
/// # Errors
/// [`ComposeError::TooManyPhases`]; [`ComposeError::Stopped`] by the control.
pub fn phases(fabric: &Fabric, jobs: &[SceneJob], control: &Control) -> Result<Traffic, ComposeError> {
    let mut ranks: Vec<_> = jobs
        .iter()
        .flat_map(|job| {
            let rank = move |(rank, &host)| (host, job, sends(&*job.script, rank as u32));
            job.host_of_rank.iter().enumerate().map(rank)
        })
        .collect();
    let mut found: Vec<Phase> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    loop {
        if control.stopped().is_some() {
            return Err(ComposeError::Stopped);
        }
        entries.clear();
        let mut silent = true;
        for (host, job, messages) in &mut ranks {
            if let Some((to, size)) = messages.next() {
                silent = false;
                let to = job.host_of_rank[to as usize];
                if to != *host {
                    entries.push((host.0, to.0, size.max(1) as f64 * job.weight));
                }
            }
        }
        if silent {
            break;
        }
        if entries.is_empty() {
            continue;
        }
        entries.sort_unstable_by_key(|&(from, to, _)| (from, to));
        let mut hasher = DefaultHasher::new();
        for &(from, to, size) in &entries {
            (from, to, size.to_bits()).hash(&mut hasher);
        }
        let alike = by_hash.entry(hasher.finish()).or_default();
        let matrix = matrix(fabric.host_count(), &entries);
        match alike.iter().find(|&&i| found[i].matrix == matrix) {
            Some(&i) => found[i].repeats += 1.0,
            None if found.len() == MOST_PHASES => {
                return Err(ComposeError::TooManyPhases { most: MOST_PHASES });
            }
            None => {
                alike.push(found.len());
                found.push(Phase::once(format!("message {}", found.len() + 1), matrix));
            }
        }
    }
    if found.is_empty() {
        found.push(Phase::once("", Csr::empty(fabric.host_count())));
    }
    Ok(bound(Traffic::from_phases(found), fabric))
}

fn bound(traffic: Traffic, fabric: &Fabric) -> Traffic {
    traffic.with_hosts_hash(Some(fabric.hosts_hash()))
}

/// Entries in order of sender and receiver; those of one pair add up.
fn matrix(hosts: usize, entries: &[(u32, u32, f64)]) -> Csr {
    let (mut offsets, mut columns, mut bytes) = (vec![0u64; hosts + 1], Vec::new(), Vec::<f64>::new());
    let mut last = None;
    for &(from, to, size) in entries {
        if last == Some((from, to)) {
            *bytes.last_mut().expect("there is a last one") += size;
        } else {
            columns.push(to);
            bytes.push(size);
            last = Some((from, to));
        }
        offsets[from as usize + 1] = columns.len() as u64;
    }
    for row in 1..=hosts {
        offsets[row] = offsets[row].max(offsets[row - 1]);
    }
    Csr::from_parts(offsets, columns, bytes, None)
}
