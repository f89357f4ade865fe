//! Which machines a job gets.
//!
//! Invariants: no host is given twice; hosts with a dead cable are given to nobody; the result depends on
//! fabric, jobs and seed only. Explicit machines are reserved first, then contiguous jobs in order, then the
//! random and fragmented ones in order. Except for explicit lists, which keep their order, the machines of a
//! copy rise: rank 0 goes to the lowest one, as Slurm does it. A list may name single adapters: each is a machine of its own then.

use std::cell::OnceCell;
use std::collections::HashMap;

use netloom_model::names::nearest;
use netloom_model::rng::{shuffle, stream};
use netloom_model::{Allocation, Fabric, HostGuids, HostId, JobSpec, Machine, Machines};

use crate::PlaceError;
use crate::adapters::{Allowed, same_rails};
use crate::background::freed_in_order;
use crate::resolved::ResolvedJob;

/// The stream of random numbers of the cluster's other jobs.
const BACKGROUND_STREAM: u64 = 0;

/// The stream of a job's random allocation.
fn allocation_stream(job: usize) -> u64 {
    1 + 2 * job as u64
}

/// What a job is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Ranks on each machine, at most.
    pub ranks_per_host: u32,
    /// The machines of every copy, with the ports that are its own.
    pub copies: Vec<Vec<Machine>>,
}

/// What every job is given.
pub(crate) fn allocate(
    fabric: &Fabric,
    machines: &Machines,
    jobs: &[ResolvedJob],
    seed: u64,
) -> Result<Vec<Given>, PlaceError> {
    let free = fabric.hosts().map(|h| fabric.alive(fabric.host_link(h))).collect();
    let mut allocator = Allocator { fabric, machines, free };
    let mut given: Vec<Given> = vec![Given::default(); jobs.len()];

    let mut owner: Vec<Option<usize>> = vec![None; fabric.host_count()];
    let names = Names::of(fabric, machines);
    for (i, job) in jobs.iter().enumerate() {
        if let Allocation::Hosts(list) = &job.spec.allocation {
            let listed = names.resolve(job, list)?;
            given[i] = share(job, allocator.reserve(i, jobs, listed, &mut owner)?)?;
        }
    }
    let count = machines.all().len();
    for (i, job) in jobs.iter().enumerate() {
        if let Allocation::Contiguous(start) = job.spec.allocation {
            if start as usize >= count {
                return Err(PlaceError::Start { job: job.spec.name.clone(), start, hosts: count });
            }
            let note = if start == 0 { String::new() } else { format!(" from host {start} on") };
            given[i] = allocator.take(job, (start as usize..count).collect(), note)?;
        }
    }
    let mut freed = None;
    for (i, job) in jobs.iter().enumerate() {
        let mut note = String::new();
        let order = match job.spec.allocation {
            Allocation::Random => shuffled(count, seed, i),
            Allocation::RandomAtMost(most) => {
                note = format!(" with at most {most} on a leaf");
                allocator.at_most(most, shuffled(count, seed, i))
            }
            Allocation::Fragmented => {
                let snapshot = || freed_in_order(&allocator.usable(), &mut stream(seed, BACKGROUND_STREAM));
                freed.get_or_insert_with(snapshot).clone()
            }
            Allocation::Hosts(_) | Allocation::Contiguous(_) => continue,
        };
        given[i] = allocator.take(job, order, note)?;
    }
    Ok(given)
}

fn shuffled(machines: usize, seed: u64, job: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..machines).collect();
    shuffle(&mut stream(seed, allocation_stream(job)), &mut order);
    order
}

/// Ranks on each machine: as asked, else as few as put all ranks on so many machines, at most one an adapter.
fn ranks_per_host<'a>(job: &ResolvedJob, machines: impl Iterator<Item = &'a Machine> + Clone) -> u32 {
    job.spec.ranks_per_host.unwrap_or_else(|| {
        let ranks = job.ranks().saturating_mul(job.spec.copies as usize);
        let adapters = machines.clone().map(|machine| machine.adapters.len()).max().unwrap_or(1);
        ranks.div_ceil(machines.count().max(1)).clamp(1, adapters) as u32
    })
}

/// Machines that one copy needs.
fn machines_per_copy(job: &ResolvedJob, ranks_per_host: u32) -> Result<usize, PlaceError> {
    match job.ranks() {
        0 => Err(PlaceError::NoRanks { job: job.spec.name.clone() }),
        ranks => Ok(ranks.div_ceil(ranks_per_host as usize)),
    }
}

/// Who hands machines out.
struct Allocator<'a> {
    fabric: &'a Fabric,
    machines: &'a Machines,
    /// By host.
    free: Vec<bool>,
}

impl Allocator<'_> {
    fn is_alive(&self, host: HostId) -> bool {
        self.fabric.alive(self.fabric.host_link(host))
    }

    /// Numbers of the machines that have a cable.
    fn usable(&self) -> Vec<usize> {
        let alive = |&number: &usize| self.machines.all()[number].hosts().any(|host| self.is_alive(host));
        (0..self.machines.all().len()).filter(alive).collect()
    }

    /// Whether nobody has a port of a machine, and one of them has a cable.
    fn is_free(&self, machine: &Machine) -> bool {
        machine.hosts().all(|host| self.free[host.index()] || !self.is_alive(host))
            && machine.hosts().any(|host| self.free[host.index()])
    }

    /// The first free machines of `order`, copy after copy; those of a copy sorted.
    fn take(&mut self, job: &ResolvedJob, order: Vec<usize>, note: String) -> Result<Given, PlaceError> {
        let allowed = Allowed::of(self.fabric, self.machines, &job.spec.name, &job.spec.adapters)?;
        let fitting = order.into_iter().filter_map(|number| {
            let machine = &self.machines.all()[number];
            let own = allowed.of_machine(machine).filter(|_| self.is_free(machine))?;
            own.only(|host| self.free[host.index()]).map(|own| (number, own))
        });
        let mut found: Vec<(usize, Machine)> = fitting.collect();
        let ranks_per_host = ranks_per_host(job, found.iter().map(|(_, machine)| machine));
        let per_copy = machines_per_copy(job, ranks_per_host)?;
        let wanted = per_copy.saturating_mul(job.spec.copies as usize);
        if found.len() < wanted {
            return Err(PlaceError::TooFewFree {
                job: job.spec.name.clone(),
                wanted,
                copies: job.spec.copies,
                ranks: job.ranks(),
                ranks_per_host,
                free: found.len(),
                hosts: self.machines.all().len(),
                note,
            });
        }
        found.truncate(wanted);
        same_rails(&job.spec.name, &job.spec.adapters, found.iter().map(|(_, machine)| machine))?;
        found.iter().flat_map(|(_, machine)| machine.hosts()).for_each(|h| self.free[h.index()] = false);
        let copies = found.chunks_mut(per_copy).map(|copy| {
            copy.sort_unstable_by_key(|&(number, _)| number);
            copy.iter().map(|(_, machine)| machine.clone()).collect()
        });
        Ok(Given { ranks_per_host, copies: copies.collect() })
    }

    /// The free machines of `order`, without those of a leaf that has given `most` already.
    fn at_most(&self, most: u32, mut order: Vec<usize>) -> Vec<usize> {
        let mut given = vec![0; self.fabric.switch_count()];
        order.retain(|&number| {
            let machine = &self.machines.all()[number];
            let given = &mut given[self.fabric.leaf(machine.first()).index()];
            let fits = self.is_free(machine) && *given < most;
            *given += u32::from(fits);
            fits
        });
        order
    }

    /// Exactly these machines, without their ports that have no cable.
    fn reserve(
        &mut self,
        job: usize,
        jobs: &[ResolvedJob],
        listed: Vec<Listed>,
        owner: &mut [Option<usize>],
    ) -> Result<Vec<Machine>, PlaceError> {
        let JobSpec { name: own_name, adapters, .. } = &jobs[job].spec;
        let allowed = Allowed::of(self.fabric, self.machines, own_name, adapters)?;
        let job_name = |i: usize| jobs[i].spec.name.clone();
        let mut reserved = Vec::with_capacity(listed.len());
        for Listed { machine, whole } in listed {
            let machine = allowed.of_listed(&machine, whole)?;
            let name = |host: HostId| self.fabric.host_name(host).to_owned();
            for host in machine.hosts() {
                match owner[host.index()].replace(job) {
                    Some(first) if first == job => {
                        return Err(PlaceError::Twice { job: job_name(job), host: name(host) });
                    }
                    Some(first) => {
                        let (first, second) = (job_name(first), job_name(job));
                        return Err(PlaceError::Overlap { host: name(host), first, second });
                    }
                    None => self.free[host.index()] = false,
                }
            }
            let alive = machine.only(|host| self.is_alive(host));
            let dead = || PlaceError::DeadHost { job: job_name(job), host: name(machine.first()) };
            reserved.push(alive.ok_or_else(dead)?);
        }
        same_rails(own_name, adapters, reserved.iter())?;
        Ok(reserved)
    }
}

/// Equal shares of a list, in order; what is left over stays idle.
fn share(job: &ResolvedJob, machines: Vec<Machine>) -> Result<Given, PlaceError> {
    let ranks_per_host = ranks_per_host(job, machines.iter());
    let (per_copy, copies) = (machines_per_copy(job, ranks_per_host)?, job.spec.copies);
    let wanted = per_copy.saturating_mul(copies as usize);
    if machines.len() < wanted {
        return Err(PlaceError::RanksDontFit {
            job: job.spec.name.clone(),
            listed: machines.len(),
            copies,
            ranks: job.ranks(),
            ranks_per_host,
            wanted,
        });
    }
    let each = machines.len() / copies as usize;
    let shares = machines.chunks_exact(each).take(copies as usize).map(<[Machine]>::to_vec);
    Ok(Given { ranks_per_host, copies: shares.collect() })
}

/// One of what a list names.
pub(crate) struct Listed {
    pub machine: Machine,
    /// Whether all of a machine is meant.
    pub whole: bool,
}

/// Names to machines: by a host's own name, a machine's (all its ports), else a GUID's.
pub(crate) struct Names<'a> {
    fabric: &'a Fabric,
    machines: &'a Machines,
    by_name: OnceCell<HashMap<&'a str, Vec<HostId>>>,
    by_guid: OnceCell<HostGuids>,
}

impl<'a> Names<'a> {
    pub fn of(fabric: &'a Fabric, machines: &'a Machines) -> Self {
        Self { fabric, machines, by_name: OnceCell::new(), by_guid: OnceCell::new() }
    }

    fn by_name(&self) -> &HashMap<&'a str, Vec<HostId>> {
        let fabric = self.fabric;
        self.by_name.get_or_init(|| {
            let mut names: HashMap<&str, Vec<HostId>> = HashMap::new();
            for host in fabric.hosts() {
                names.entry(fabric.host_name(host)).or_default().push(host);
            }
            for host in fabric.hosts().filter(|&h| fabric.machine(h) != fabric.host_name(h)) {
                names.entry(fabric.machine(host)).or_default().push(host);
            }
            names
        })
    }

    /// The ports that a name means; empty if it is nobody's.
    pub fn find(&self, name: &str) -> &[HostId] {
        let by_guid = || self.by_guid.get_or_init(|| HostGuids::of(self.fabric)).find(name);
        self.by_name().get(name).map_or_else(by_guid, Vec::as_slice)
    }

    fn resolve(&self, job: &ResolvedJob, list: &[String]) -> Result<Vec<Listed>, PlaceError> {
        let fabric = self.fabric;
        let mut listed = Vec::with_capacity(list.len());
        for name in list {
            let found = self.find(name);
            if found.is_empty() {
                let all = fabric.hosts().flat_map(|h| [fabric.host_name(h), fabric.machine(h)]);
                let help = nearest(name, all).map(|n| format!(", did you mean \"{n}\"?")).unwrap_or_default();
                return Err(PlaceError::UnknownHost { job: job.spec.name.clone(), host: name.clone(), help });
            }
            listed.extend(self.machines.grouped(found).into_iter().map(|machine| Listed {
                whole: machine == *self.machines.machine(machine.first()),
                machine,
            }));
        }
        Ok(listed)
    }
}
