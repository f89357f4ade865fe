//! Which hosts a job gets.
//!
//! Invariants: no host is given twice; hosts with a dead cable are given to nobody; the result depends on
//! fabric, jobs and seed only. Explicit hosts are reserved first, then contiguous jobs in order, then the
//! random and fragmented ones in order. Except for explicit lists, which keep their order, the hosts of a
//! copy rise: rank 0 goes to the lowest one, as Slurm does it.

use std::cell::OnceCell;
use std::collections::HashMap;

use netloom_model::names::nearest;
use netloom_model::rng::{shuffle, stream};
use netloom_model::{Allocation, Fabric, HostGuids, HostId};

use crate::PlaceError;
use crate::background::freed_in_order;
use crate::resolved::ResolvedJob;

/// The stream of random numbers of the machine's other jobs.
const BACKGROUND_STREAM: u64 = 0;

/// The stream of a job's random allocation.
fn allocation_stream(job: usize) -> u64 {
    1 + 2 * job as u64
}

/// The hosts of every copy of every job: `[job][copy]`.
pub(crate) fn allocate(
    fabric: &Fabric,
    jobs: &[ResolvedJob],
    seed: u64,
) -> Result<Vec<Vec<Vec<HostId>>>, PlaceError> {
    let mut desk = Desk { fabric, free: fabric.hosts().map(|h| fabric.alive(fabric.host_link(h))).collect() };
    let mut given: Vec<Vec<Vec<HostId>>> = vec![Vec::new(); jobs.len()];

    let mut owner: Vec<Option<usize>> = vec![None; fabric.host_count()];
    let names = Names::of(fabric, jobs);
    for (i, job) in jobs.iter().enumerate() {
        if let Allocation::Hosts(list) = &job.spec.allocation {
            let hosts = desk.reserve(i, jobs, &names.resolve(fabric, job, list)?, &mut owner)?;
            given[i] = share(job, hosts)?;
        }
    }
    for (i, job) in jobs.iter().enumerate() {
        if let Allocation::Contiguous(start) = job.spec.allocation {
            if start as usize >= fabric.host_count() {
                let hosts = fabric.host_count();
                return Err(PlaceError::Start { job: job.spec.name.clone(), start, hosts });
            }
            let from = fabric.hosts().skip(start as usize).collect();
            let note = if start == 0 { String::new() } else { format!(" from host {start} on") };
            given[i] = desk.take(job, from, note)?;
        }
    }
    let mut freed = None;
    for (i, job) in jobs.iter().enumerate() {
        let mut note = String::new();
        let order = match job.spec.allocation {
            Allocation::Random => shuffled(fabric, seed, i),
            Allocation::RandomAtMost(most) => {
                note = format!(" with at most {most} on a leaf");
                desk.at_most(most, shuffled(fabric, seed, i))
            }
            Allocation::Fragmented => {
                let usable =
                    || fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))).collect::<Vec<_>>();
                let snapshot = || freed_in_order(&usable(), &mut stream(seed, BACKGROUND_STREAM));
                freed.get_or_insert_with(snapshot).clone()
            }
            Allocation::Hosts(_) | Allocation::Contiguous(_) => continue,
        };
        given[i] = desk.take(job, order, note)?;
    }
    Ok(given)
}

fn shuffled(fabric: &Fabric, seed: u64, job: usize) -> Vec<HostId> {
    let mut order: Vec<HostId> = fabric.hosts().collect();
    shuffle(&mut stream(seed, allocation_stream(job)), &mut order);
    order
}

/// Who hands hosts out.
struct Desk<'a> {
    fabric: &'a Fabric,
    free: Vec<bool>,
}

impl Desk<'_> {
    /// The first free hosts of `order`, copy after copy; those of a copy sorted.
    fn take(
        &mut self,
        job: &ResolvedJob,
        order: Vec<HostId>,
        note: String,
    ) -> Result<Vec<Vec<HostId>>, PlaceError> {
        let per_copy = job.hosts_per_copy()?;
        let wanted = per_copy.saturating_mul(job.spec.copies as usize);
        let mut hosts: Vec<HostId> = order.into_iter().filter(|h| self.free[h.index()]).collect();
        if hosts.len() < wanted {
            return Err(PlaceError::TooFewFree {
                job: job.spec.name.clone(),
                wanted,
                copies: job.spec.copies,
                ranks: job.ranks(),
                ranks_per_host: job.spec.ranks_per_host,
                free: hosts.len(),
                hosts: self.fabric.host_count(),
                note,
            });
        }
        hosts.truncate(wanted);
        hosts.iter().for_each(|h| self.free[h.index()] = false);
        Ok(hosts
            .chunks(per_copy)
            .map(|copy| {
                let mut copy = copy.to_vec();
                copy.sort_unstable();
                copy
            })
            .collect())
    }

    /// The free hosts of `order`, without those of a leaf that has given `most` already.
    fn at_most(&self, most: u32, mut order: Vec<HostId>) -> Vec<HostId> {
        let mut given = vec![0; self.fabric.switch_count()];
        order.retain(|&host| {
            let given = &mut given[self.fabric.leaf(host).index()];
            let fits = self.free[host.index()] && *given < most;
            *given += u32::from(fits);
            fits
        });
        order
    }

    /// Exactly these hosts.
    fn reserve(
        &mut self,
        job: usize,
        jobs: &[ResolvedJob],
        hosts: &[HostId],
        owner: &mut [Option<usize>],
    ) -> Result<Vec<HostId>, PlaceError> {
        let job_name = |i: usize| jobs[i].spec.name.clone();
        for &host in hosts {
            let name = || self.fabric.host_name(host).to_owned();
            match owner[host.index()].replace(job) {
                Some(first) if first == job => {
                    return Err(PlaceError::Twice { job: job_name(job), host: name() });
                }
                Some(first) => {
                    return Err(PlaceError::Overlap {
                        host: name(),
                        first: job_name(first),
                        second: job_name(job),
                    });
                }
                None if !self.free[host.index()] => {
                    return Err(PlaceError::DeadHost { job: job_name(job), host: name() });
                }
                None => self.free[host.index()] = false,
            }
        }
        Ok(hosts.to_vec())
    }
}

/// Equal shares of a list, in order; what is left over stays idle.
fn share(job: &ResolvedJob, hosts: Vec<HostId>) -> Result<Vec<Vec<HostId>>, PlaceError> {
    let (per_copy, copies) = (job.hosts_per_copy()?, job.spec.copies);
    let wanted = per_copy.saturating_mul(copies as usize);
    if hosts.len() < wanted {
        return Err(PlaceError::RanksDontFit {
            job: job.spec.name.clone(),
            listed: hosts.len(),
            copies,
            ranks: job.ranks(),
            ranks_per_host: job.spec.ranks_per_host,
            wanted,
        });
    }
    let each = hosts.len() / copies as usize;
    Ok(hosts.chunks_exact(each).take(copies as usize).map(<[HostId]>::to_vec).collect())
}

/// Names to hosts: a host's own name, else a machine's (all its ports), else a GUID's.
struct Names<'a> {
    by_name: HashMap<&'a str, Vec<HostId>>,
    by_guid: OnceCell<HostGuids>,
}

impl<'a> Names<'a> {
    /// Empty if no job needs it.
    fn of(fabric: &'a Fabric, jobs: &[ResolvedJob]) -> Self {
        let mut names: HashMap<&str, Vec<HostId>> = HashMap::new();
        if jobs.iter().any(|job| matches!(job.spec.allocation, Allocation::Hosts(_))) {
            for host in fabric.hosts() {
                names.entry(fabric.host_name(host)).or_default().push(host);
            }
            for host in fabric.hosts().filter(|&h| fabric.machine(h) != fabric.host_name(h)) {
                names.entry(fabric.machine(host)).or_default().push(host);
            }
        }
        Self { by_name: names, by_guid: OnceCell::new() }
    }

    fn resolve(
        &self,
        fabric: &Fabric,
        job: &ResolvedJob,
        list: &[String],
    ) -> Result<Vec<HostId>, PlaceError> {
        let mut hosts = Vec::with_capacity(list.len());
        for name in list {
            let by_guid = || self.by_guid.get_or_init(|| HostGuids::of(fabric)).find(name);
            let found = self.by_name.get(name.as_str()).map_or_else(by_guid, Vec::as_slice);
            if found.is_empty() {
                let all = fabric.hosts().flat_map(|h| [fabric.host_name(h), fabric.machine(h)]);
                let help = nearest(name, all).map(|n| format!(", did you mean \"{n}\"?")).unwrap_or_default();
                return Err(PlaceError::UnknownHost { job: job.spec.name.clone(), host: name.clone(), help });
            }
            hosts.extend(found);
        }
        Ok(hosts)
    }
}
