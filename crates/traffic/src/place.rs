//! Jobs on the hosts of a fabric: rank-to-rank traffic becomes host-to-host traffic.
//!
//! Ranks are dealt to machines first ([`Mapping`](netloom_model::Mapping)), then on each machine to its adapters in turn.
//!
//! Invariants: jobs never share hosts; what ranks on one host say to each other crosses no link and is
//! left out; the result depends on fabric, jobs and seed only. Phase k of the result is the sum of every
//! job's phase k and happens as often as the job that repeats it most; a job that repeats it less often
//! spreads its bytes evenly over the occurrences, so that the total is the sum of the jobs' totals. A job
//! with fewer phases is silent in the rest.
//!
//! Source: Taffet, dissertation, sec. 3.5.1: copies side by side ("trace"), and copies that also talk to each
//! other ("trace*": rank i of each copy sends to rank j of each copy, m squared times the bytes).

use netloom_model::rng::stream;
use netloom_model::{Fabric, HostId, Job, Machine, Machines, Phase, Placement, Traffic};

use crate::mapping::{self, Request};
use crate::pattern::MAX_ENTRIES;
use crate::resolved::ResolvedJob;
use crate::rows::Rows;
use crate::{PlaceError, allocate};

/// What runs where, and what that sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Host to host; bound to the fabric's hosts.
    pub traffic: Traffic,
    /// Every copy of every job, in order.
    pub jobs: Vec<Job>,
}

/// The stream of a job's random mapping.
fn mapping_stream(job: usize) -> u64 {
    2 + 2 * job as u64
}

/// Places `jobs` on the hosts of `fabric`.
///
/// # Errors
/// [`PlaceError`]: no copies or ranks, too few free hosts, hosts that overlap or are not there, ranks or tiles that do not fit.
pub fn place(fabric: &Fabric, jobs: &[ResolvedJob], seed: u64) -> Result<Placed, PlaceError> {
    for job in jobs {
        let ranks_per_host = job.spec.ranks_per_host.unwrap_or(1);
        let zero = [("copies", job.spec.copies), ("ranks_per_host", ranks_per_host)];
        if let Some((key, _)) = zero.into_iter().find(|(_, n)| *n == 0) {
            return Err(PlaceError::Zero { job: job.spec.name.clone(), key });
        }
    }
    let entries = jobs.iter().map(|job| {
        let copies = u64::from(job.spec.copies);
        let times = if job.spec.cross_copies { copies.saturating_mul(copies) } else { copies };
        let entries = job.traffic.phases().iter().map(|p| p.matrix.entry_count() as u64).sum::<u64>();
        entries.saturating_mul(times)
    });
    let entries = entries.fold(0, u64::saturating_add);
    if entries > MAX_ENTRIES {
        return Err(PlaceError::TooManyEntries { entries });
    }

    let machines = Machines::of(fabric);
    let allocations = allocate::allocate(fabric, &machines, jobs, seed)?;
    let mut placed: Vec<Vec<Job>> = Vec::with_capacity(jobs.len());
    for (i, (job, given)) in jobs.iter().zip(allocations).enumerate() {
        let mut random = stream(seed, mapping_stream(i));
        let grid = job.grid();
        let request = Request {
            job: &job.spec.name,
            ranks: job.ranks(),
            ranks_per_host: given.ranks_per_host as usize,
            even: job.spec.ranks_per_host.is_none(),
            grid: &grid,
            rank_hosts: job.rank_hosts.as_deref(),
        };
        let mut instances = Vec::with_capacity(given.copies.len());
        let numbered = given.copies.len() > 1;
        for (copy, machines) in given.copies.into_iter().enumerate() {
            let host_of_rank = mapping::map(fabric, &machines, &job.spec.mapping, &request, &mut random)?;
            let hosts = machines.iter().flat_map(Machine::hosts).collect();
            let name = if numbered { format!("{}.{copy}", job.spec.name) } else { job.spec.name.clone() };
            instances.push(Job { name, hosts, placement: Placement { host_of_rank } });
        }
        placed.push(instances);
    }
    let traffic = add_up(fabric, jobs, &placed).with_hosts_hash(Some(fabric.hosts_hash()));
    Ok(Placed { traffic, jobs: placed.into_iter().flatten().collect() })
}

/// The ranks on a host: `(job, copy, rank)`.
type Tenants = Vec<(usize, usize, usize)>;

fn add_up(fabric: &Fabric, jobs: &[ResolvedJob], placed: &[Vec<Job>]) -> Traffic {
    let mut tenants: Vec<Tenants> = vec![Vec::new(); fabric.host_count()];
    for (i, copies) in placed.iter().enumerate() {
        for (c, copy) in copies.iter().enumerate() {
            for (rank, host) in copy.placement.host_of_rank.iter().enumerate() {
                tenants[host.index()].push((i, c, rank));
            }
        }
    }
    let phases = jobs.iter().map(|job| job.traffic.phases().len()).max().unwrap_or(1);
    Traffic::from_phases((0..phases).map(|k| one_phase(k, jobs, placed, &tenants)).collect())
}

fn one_phase(k: usize, jobs: &[ResolvedJob], placed: &[Vec<Job>], tenants: &[Tenants]) -> Phase {
    let of_job = |i: usize| jobs[i].traffic.phases().get(k);
    let active: Vec<&Phase> = (0..jobs.len()).filter_map(of_job).collect();
    let name = active.iter().map(|phase| &phase.name).find(|name| !name.is_empty()).cloned();
    let mut speaking = active.iter().filter(|phase| phase.matrix.entry_count() > 0).peekable();
    let with_packets = speaking.peek().is_some() && speaking.all(|phase| phase.matrix.packets().is_some());

    let repeats = active.iter().map(|phase| phase.repeats).fold(0.0, f64::max);
    let mut rows = Rows::new(tenants.len() as u32, 0);
    if with_packets {
        rows = rows.with_packets();
    }
    for tenants in tenants {
        for &(i, copy, rank) in tenants {
            let Some(phase) = of_job(i) else { continue };
            let (matrix, share) = (&phase.matrix, phase.repeats / repeats);
            let (columns, bytes) = matrix.row(rank);
            let packets = matrix.packets().filter(|_| with_packets);
            let packets = packets.map(|p| &p[matrix.offsets()[rank] as usize..]);
            let receivers = if jobs[i].spec.cross_copies { &placed[i][..] } else { &placed[i][copy..=copy] };
            for receiver in receivers {
                let to: &[HostId] = &receiver.placement.host_of_rank;
                for (e, (&j, &bytes)) in columns.iter().zip(bytes).enumerate() {
                    let packets = packets.map_or(0.0, |p| p[e] * share);
                    rows.push_with_packets(to[j as usize].0, bytes * share, packets);
                }
            }
        }
        rows.end_row();
    }
    Phase { name: name.unwrap_or_default(), matrix: rows.finish_matrix(), repeats }
}
