//! Which pairs of hosts may have talked: those inside a job.
//!
//! A job has the hosts that its ranks are on, and all other adapters of the machines that they are on: one rank of a machine may drive several
//! adapters. Counters can't tell who does, so each such adapter counts as a rank of its own.
//!
//! Jobs don't talk to each other, so a pair of hosts of different jobs carries nothing and is no unknown (Taffet, dissertation, sec. 4.5).
//! Without jobs, all hosts are one.

use std::collections::{HashMap, HashSet};

use netloom_model::{HostId, Job, Machines, Placement};

/// The ranks of a job and the hosts that they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participants {
    /// The job's name.
    pub name: String,
    /// Its hosts, each once, in the order of their first ranks.
    pub hosts: Vec<HostId>,
    /// `[rank]`: position in `hosts`.
    pub host_of_rank: Vec<u32>,
    /// `[host]`: its ranks, rising.
    pub ranks_of_host: Vec<Vec<u32>>,
}

/// A machine that a job's ranks are on.
struct Used {
    /// Its ports, in the order in which ranks come to them.
    slots: Vec<HostId>,
    /// The ports of its ranks, in rank order.
    ranks: Vec<HostId>,
}

impl Participants {
    /// The ranks of a placement.
    pub fn new(name: impl Into<String>, placement: &Placement) -> Self {
        let most = placement.host_of_rank.iter().map(|h| h.index() + 1).max().unwrap_or(0);
        let mut position = vec![u32::MAX; most];
        let (mut hosts, mut ranks_of_host) = (Vec::new(), Vec::<Vec<u32>>::new());
        let mut host_of_rank = Vec::with_capacity(placement.host_of_rank.len());
        for (rank, &host) in placement.host_of_rank.iter().enumerate() {
            let at = &mut position[host.index()];
            if *at == u32::MAX {
                *at = hosts.len() as u32;
                hosts.push(host);
                ranks_of_host.push(Vec::new());
            }
            ranks_of_host[*at as usize].push(rank as u32);
            host_of_rank.push(*at);
        }
        Self { name: name.into(), hosts, host_of_rank, ranks_of_host }
    }

    /// The ranks of a job, and its machines' adapters.
    ///
    /// Where every machine has `r` ranks on the first `r` of its `p` ports and `r` divides `p`, the rank `l` of a machine drives the ports `l`,
    /// `l + r`, …: they count as ranks next to each other, so that a process grid grows by one dimension and stays a grid. Else ports
    /// without a rank follow behind all ranks, machine by machine.
    pub fn of_job(job: &Job, machines: &Machines) -> Self {
        let ranks = &job.placement.host_of_rank;
        let busy: HashSet<HostId> = ranks.iter().copied().collect();
        let mut own: Vec<Used> = Vec::new();
        for machine in machines.grouped(&job.hosts) {
            let slots = machine.slots();
            if slots.iter().any(|host| busy.contains(host)) {
                own.push(Used { slots, ranks: Vec::new() });
            }
        }
        if own.iter().flat_map(|machine| &machine.slots).all(|host| busy.contains(host)) {
            return Self::new(job.name.clone(), &job.placement);
        }
        let at: HashMap<HostId, usize> = own
            .iter()
            .enumerate()
            .flat_map(|(at, machine)| machine.slots.iter().map(move |&h| (h, at)))
            .collect();
        let mut locals = Vec::with_capacity(ranks.len());
        for &host in ranks {
            let on = &mut own[at[&host]].ranks;
            locals.push(on.len());
            on.push(host);
        }
        let (ports, each) =
            own.first().map(|first| (first.slots.len(), first.ranks.len())).unwrap_or_default();
        let alike =
            |machine: &Used| machine.slots.len() == ports && machine.slots[..].starts_with(&machine.ranks);
        let host_of_rank = if own.iter().all(|machine| alike(machine) && machine.ranks.len() == each)
            && ports.is_multiple_of(each.max(1))
        {
            let driven = |(host, &local): (&HostId, &usize)| {
                let slots = &own[at[host]].slots;
                (local..ports).step_by(each).map(|slot| slots[slot])
            };
            ranks.iter().zip(&locals).flat_map(driven).collect()
        } else {
            let rest = own.iter().flat_map(|machine| &machine.slots).filter(|host| !busy.contains(host));
            ranks.iter().chain(rest).copied().collect()
        };
        Self::new(job.name.clone(), &Placement { host_of_rank })
    }

    /// One rank on each of these hosts.
    pub fn one_a_host(name: impl Into<String>, hosts: Vec<HostId>) -> Self {
        Self::new(name, &Placement { host_of_rank: hosts })
    }

    /// Ranks.
    pub fn ranks(&self) -> usize {
        self.host_of_rank.len()
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    /// Machines of so many adapters each, on one switch.
    fn fabric(adapters: &[u32]) -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("leaf", 0xabc, 40));
        let mut port = 0;
        for (machine, &adapters) in adapters.iter().enumerate() {
            for adapter in 0..adapters {
                port += 1;
                let spec = HostSpec {
                    machine: format!("g{machine}"),
                    ..HostSpec::new(format!("g{machine} mlx5_{adapter}"), 0x10 * u64::from(port))
                };
                let host = b.host(spec);
                b.cable(End::Switch(s, port), End::Host(host), 1e9);
            }
        }
        b.build().unwrap()
    }

    fn of(fabric: &Fabric, hosts: &[u32], host_of_rank: &[u32]) -> Vec<u32> {
        let ids = |list: &[u32]| list.iter().map(|&host| HostId(host)).collect::<Vec<_>>();
        let placement = Placement { host_of_rank: ids(host_of_rank) };
        let job = Job { name: "a".into(), hosts: ids(hosts), placement };
        let job = Participants::of_job(&job, &Machines::of(fabric));
        job.host_of_rank.iter().map(|&at| job.hosts[at as usize].0).collect()
    }

    #[test]
    fn a_rank_drives_the_adapters_that_have_none() {
        let f = fabric(&[4, 4, 4]);
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(of(&f, &all, &[0, 4]), all);
        // Two a machine: rank 0 drives adapters 0 and 2, rank 1 adapters 1 and 3.
        assert_eq!(of(&f, &all, &[0, 1, 4, 5]), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(of(&f, &all, &all), all);
        // Round robin over the machines.
        assert_eq!(of(&f, &all, &[4, 0]), [4, 5, 6, 7, 0, 1, 2, 3]);
        // Machines without ranks stay out, and so do adapters that the job leaves out.
        assert_eq!(of(&f, &(0..12).collect::<Vec<_>>(), &[0, 4]), all);
        assert_eq!(of(&f, &[0, 1, 4, 5], &[0, 4]), [0, 1, 4, 5]);
    }

    #[test]
    fn where_machines_differ_idle_adapters_follow_the_ranks() {
        let f = fabric(&[3, 2]);
        assert_eq!(of(&f, &[0, 1, 2, 3, 4], &[0, 3]), [0, 3, 1, 2, 4]);
        // Ranks that somebody put elsewhere.
        let even = fabric(&[2, 2]);
        assert_eq!(of(&even, &[0, 1, 2, 3], &[1, 2]), [1, 2, 0, 3]);
    }

    #[test]
    fn ranks_find_their_hosts_and_hosts_their_ranks() {
        let placement = Placement { host_of_rank: [5, 5, 2, 2, 5].map(HostId).to_vec() };
        let job = Participants::new("a", &placement);
        assert_eq!(job.hosts, [HostId(5), HostId(2)]);
        assert_eq!(job.host_of_rank, [0, 0, 1, 1, 0]);
        assert_eq!(job.ranks_of_host, [vec![0, 1, 4], vec![2, 3]]);
        assert_eq!(job.ranks(), 5);
    }
}
