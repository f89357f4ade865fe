//! Which pairs of hosts may have talked: those inside a job.
//!
//! Jobs don't talk to each other, so a pair of hosts of different jobs carries nothing and is no unknown (Taffet, dissertation, sec. 4.5).
//! Without jobs, all hosts are one.

use netloom_model::{HostId, Placement};

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
    use super::*;

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
