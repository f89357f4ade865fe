//! An application's demand on every size of group, and how many times as long its bytes take on a design as on a full tree.
//!
//! That is T, which compares the fullest level with the links of the hosts:
//! - by the *busiest switch*: largest bytes of a host, of a leaf over its cables up, of a pod over its cables up;
//! - by the *mean* (the paper's model): the same of means over the hosts, leaves and pods in use.
//!
//! Phases follow each other, so their times add up: T = sum r max(level) / sum r (hosts' level), r times each. No routing
//! and no schedule does better than the first. What a run loses by it, [`share`](crate::share) says.

use netloom_model::{Csr, Hose, Traffic};

use crate::PlanError;
use crate::crossing::{Placed, Sizes};
use crate::order::Order;
use crate::share::Share;

/// An application, and how much of the machine's time it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Its name.
    pub name: String,
    /// Share of node hours; not negative, in any unit.
    pub weight: f64,
    /// Share of its time on a full tree that is wire time.
    pub share: Share,
    /// Rank to rank.
    pub traffic: Traffic,
    /// Ranks on each host, at least 1.
    pub ranks_per_host: u32,
    /// Copies side by side; `None` for as many as fit.
    pub copies: Option<u32>,
}

/// An application on its hosts: phases of bytes from host to host.
pub(crate) struct Local {
    pub phases: Vec<(f64, Csr)>,
    pub hosts: u32,
    pub copies: u32,
}

impl Application {
    /// Its matrices by host; `number` is for the error.
    ///
    /// # Errors
    /// [`PlanError::TooManyRanks`].
    pub(crate) fn local(&self, number: usize, machine: u32) -> Result<Local, PlanError> {
        let each = self.ranks_per_host.max(1);
        let hosts = self.traffic.endpoints().div_ceil(each).max(1);
        let copies = self.copies.unwrap_or((machine / hosts).max(1)).max(1);
        let needed = u64::from(copies) * u64::from(hosts);
        if needed > u64::from(machine) {
            let ranks = self.traffic.endpoints();
            let ranks_per_host = self.ranks_per_host;
            return Err(PlanError::TooManyRanks {
                application: number,
                ranks,
                ranks_per_host,
                needed,
                hosts: machine,
            });
        }
        let phases = self.traffic.phases().iter();
        let phases = phases.map(|p| (p.repeats, by_host(&p.matrix, each as usize, hosts as usize))).collect();
        Ok(Local { phases, hosts, copies })
    }
}

/// What the hosts of ranks send each other, `each` ranks on a host.
fn by_host(ranks: &Csr, each: usize, hosts: usize) -> Csr {
    let (mut offsets, mut columns, mut bytes) = (vec![0u64], Vec::new(), Vec::new());
    let mut sum = vec![0.0f64; hosts];
    let mut touched: Vec<u32> = Vec::new();
    for host in 0..hosts {
        for rank in host * each..((host + 1) * each).min(ranks.size()) {
            let (to, amounts) = ranks.row(rank);
            for (&to, &amount) in to.iter().zip(amounts) {
                let to = to as usize / each;
                if to != host {
                    if sum[to] == 0.0 {
                        touched.push(to as u32);
                    }
                    sum[to] += amount;
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
    Csr::from_parts(offsets, columns, bytes, None)
}

/// Bytes of the busiest host, out or in.
fn busiest_host(matrix: &Csr) -> f64 {
    let hose = Hose::of(matrix, None);
    hose.sent.into_iter().chain(hose.received).fold(0.0, f64::max)
}

impl Local {
    /// Bytes of the busiest host by phase, all times that it happens.
    pub fn hosts_level(&self) -> Vec<f64> {
        self.phases.iter().map(|(repeats, matrix)| repeats * busiest_host(matrix)).collect()
    }

    /// What the groups of one size of leaf carry, leaves first, then pods.
    pub fn groups(
        &self,
        copies: &[Vec<u32>],
        tenants: &[Option<(u32, u32)>],
        down: u32,
        pods: &[u32],
        go_on: &dyn Fn() -> bool,
    ) -> Option<Vec<Group>> {
        let mut groups = vec![Group::default(); pods.len() + 1];
        let mut all = 0.0;
        for (repeats, matrix) in &self.phases {
            all += repeats * matrix.total_bytes();
            let found = Placed::new(matrix, copies, tenants).crossing(down, pods, go_on)?;
            for (group, crossing) in groups.iter_mut().zip(found) {
                group.busiest.push(repeats * crossing.busiest);
                group.share += repeats * crossing.total;
                group.mean += repeats * crossing.total / crossing.used.max(1) as f64;
            }
        }
        let copies = f64::from(self.copies);
        if all > 0.0 {
            for group in &mut groups {
                group.share /= all * copies;
                group.mean /= all / f64::from(self.hosts);
            }
        }
        Some(groups)
    }
}

/// What groups of one size carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Bytes of the busiest group by phase, all times that it happens.
    pub busiest: Vec<f64>,
    /// Bytes of a mean group in use over those of a mean host in use.
    pub mean: f64,
    /// Share of all bytes that leaves such groups: P(H >= 2) of leaves, P(H >= 3) of pods.
    pub share: f64,
}

/// An application in one order on the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Number of the application.
    pub application: usize,
    /// Its order.
    pub order: Order,
    /// Which draw of it.
    pub draw: u32,
    /// Bytes of the busiest host by phase.
    pub hosts: Vec<f64>,
    /// By size of leaf: leaves first, then pods ([`Sizes`]).
    pub groups: Vec<Vec<Group>>,
}

/// How many times as long the bytes take as on a full tree; at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// By the busiest switch.
    pub busiest: f64,
    /// By the means over each level.
    pub mean: f64,
}

impl Demand {
    /// The groups of a shape: leaves, and pods if there are any.
    pub fn of(&self, at: (usize, Option<usize>)) -> (&Group, Option<&Group>) {
        let groups = &self.groups[at.0];
        (&groups[0], at.1.map(|pod| &groups[pod + 1]))
    }

    /// T by the busiest switch, with so many cables up a leaf and a pod; `None` looks at no such level.
    pub fn busiest(&self, leaf: Option<(&Group, f64)>, pod: Option<(&Group, f64)>) -> f64 {
        let (mut time, mut full) = (0.0, 0.0);
        for (phase, &host) in self.hosts.iter().enumerate() {
            let level =
                |group: Option<(&Group, f64)>| group.map_or(0.0, |(group, up)| group.busiest[phase] / up);
            time += host.max(level(leaf)).max(level(pod));
            full += host;
        }
        if full > 0.0 { time / full } else { 1.0 }
    }

    /// T by the busiest switch and by means.
    pub fn stretch(&self, leaf: Option<(&Group, f64)>, pod: Option<(&Group, f64)>) -> Stretch {
        let level = |group: Option<(&Group, f64)>| group.map_or(0.0, |(group, up)| group.mean / up);
        Stretch { busiest: self.busiest(leaf, pod), mean: level(leaf).max(level(pod)).max(1.0) }
    }

    /// Wire time of a run, seconds: the busiest host's bytes of every phase over the speed of its link.
    pub fn wire_s(&self, speed_gbps: f64) -> f64 {
        self.hosts.iter().sum::<f64>() / (speed_gbps * 1e9 / 8.0)
    }
}

/// Of every host of the machine, the copy of the job and the host of the job that are on it, if any.
pub(crate) fn tenants(copies: &[Vec<u32>], machine: u32) -> Vec<Option<(u32, u32)>> {
    let mut tenants = vec![None; machine as usize];
    for (copy, hosts) in copies.iter().enumerate() {
        for (at, &host) in hosts.iter().enumerate() {
            tenants[host as usize] = Some((copy as u32, at as u32));
        }
    }
    tenants
}

/// All demands: every application in every order and draw, all sizes counted.
///
/// # Errors
/// [`PlanError`]: too many ranks; stopped.
pub fn demands(
    applications: &[Application],
    orders: &[Order],
    draws: u32,
    machine: u32,
    seed: u64,
    sizes: &Sizes,
    control: &netloom_model::Control,
) -> Result<Vec<Demand>, PlanError> {
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    let locals = applications.iter().enumerate().map(|(i, a)| a.local(i, machine));
    let locals: Vec<Local> = locals.collect::<Result<_, _>>()?;
    let of_hosts: Vec<Vec<f64>> = locals.iter().map(Local::hosts_level).collect();
    let units: Vec<(usize, Order, u32)> = (0..applications.len())
        .flat_map(|a| {
            orders.iter().flat_map(move |&order| (0..order.draws(draws)).map(move |draw| (a, order, draw)))
        })
        .collect();
    let (done, total) = (AtomicU64::new(0), (units.len() * sizes.iter().len()) as u64);
    let go_on = || control.stopped().is_none();
    control.report(0, total);
    let each = |&(application, order, draw): &(usize, Order, u32)| {
        let local = &locals[application];
        if !go_on() {
            return None;
        }
        let copies = order.place(machine, local.copies, local.hosts, seed, draw);
        let tenants = tenants(&copies, machine);
        let sizes: Vec<(u32, &[u32])> = sizes.iter().collect();
        let groups = sizes.par_iter().map(|&(down, pods)| {
            let groups = local.groups(&copies, &tenants, down, pods, &go_on);
            control.report(done.fetch_add(1, Relaxed) + 1, total);
            groups
        });
        let groups = groups.collect::<Option<Vec<_>>>()?;
        Some(Demand { application, order, draw, hosts: of_hosts[application].clone(), groups })
    };
    units.par_iter().map(each).collect::<Option<Vec<_>>>().ok_or(PlanError::Stopped)
}
