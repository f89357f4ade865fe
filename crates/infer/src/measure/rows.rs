//! Counters as rows of the operator, and hosts that talked though no job has them.
//!
//! What cannot be trusted is unknown to the fit, not zero: it is `NaN` in [`Counted`].

use netloom_counters::{Amounts, Measured};
use netloom_model::{Csr, Fabric, Hose, HostId, LinkId};

use crate::operator::Participants;
use crate::residual::Counted;
use crate::settings::CounterSettings;

/// What the job of hosts that no job has is called.
pub const OUTSIDE: &str = "hosts of no job";

/// What is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// `[link * lanes + lane]`
    pub counted: Counted,
    /// Links all of whose lanes are known.
    pub links_used: usize,
    /// Links, of those whose cable works, that are left out in whole or in part.
    pub links_left_out: usize,
}

/// An interval's amounts as rows of an operator with so many lanes.
pub fn rows(fabric: &Fabric, measured: &Measured, lanes: u8) -> Rows {
    let width = usize::from(lanes.max(1));
    let amounts = measured.in_lanes(width);
    let mut found = Rows { counted: Counted::default(), links_used: 0, links_left_out: 0 };
    for link in fabric.links() {
        let of_link = link.index() * width..(link.index() + 1) * width;
        let alive = fabric.alive(link);
        let known = of_link.clone().all(|at| amounts.get(at).is_some());
        found.links_used += usize::from(alive && known);
        found.links_left_out += usize::from(alive && !known);
        for at in of_link {
            let bytes = amounts.get(at).filter(|_| alive);
            found.counted.bytes.push(bytes.unwrap_or(f64::NAN));
            found.counted.deviation.push(bytes.map_or(0.0, |_| amounts.deviation(at, &measured.noise)));
        }
    }
    found
}

/// A host of no job that talked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outsider {
    /// Which.
    pub host: HostId,
    /// What it sent, 0 if that is unknown.
    pub sent: f64,
    /// What it received.
    pub received: f64,
}

/// Hosts of no job that sent or received clearly more than management does, who talked most first.
pub fn outsiders(
    fabric: &Fabric,
    measured: &Measured,
    jobs: &[Participants],
    settings: &CounterSettings,
) -> Vec<Outsider> {
    let mut inside = vec![false; fabric.host_count()];
    jobs.iter().flat_map(|job| &job.hosts).for_each(|host| inside[host.index()] = true);
    let amount = |link: LinkId| known(&measured.whole, link);
    let all: Vec<Outsider> = (fabric.hosts())
        .map(|host| {
            let out = fabric.host_link(host);
            Outsider { host, sent: amount(out), received: amount(fabric.reverse(out)) }
        })
        .collect();
    let (mut sum, mut count) = (0.0, 0.0);
    for host in all.iter().filter(|o| inside[o.host.index()]) {
        sum += host.most();
        count += 1.0;
    }
    let mean = if count > 0.0 { sum / count } else { 0.0 };
    // Patterns have a byte a pair, no packets.
    let packets = settings.outsider_packets * measured.noise.packet;
    let quiet = f64::max(settings.outsider_bytes * mean, packets).min(0.5 * mean);
    let mut found: Vec<Outsider> =
        all.into_iter().filter(|o| !inside[o.host.index()] && o.most() > quiet).collect();
    found.sort_by(|a, b| b.most().total_cmp(&a.most()).then(a.host.cmp(&b.host)));
    found
}

/// The part of what all hosts sent and received that is these hosts': of bytes, and of the root of the sum of squares by host.
pub(crate) fn share_of(fabric: &Fabric, measured: &Measured, hosts: &[Outsider]) -> [f64; 2] {
    let both = |out: LinkId| known(&measured.whole, out) + known(&measured.whole, fabric.reverse(out));
    let add = |[sum, square]: [f64; 2], bytes: f64| [sum + bytes, square + bytes * bytes];
    let all = fabric.hosts().map(|host| both(fabric.host_link(host))).fold([0.0; 2], add);
    let theirs = hosts.iter().map(|one| one.sent + one.received).fold([0.0; 2], add);
    if all[0] > 0.0 { [theirs[0] / all[0], (theirs[1] / all[1]).sqrt()] } else { [0.0; 2] }
}

impl Outsider {
    /// The larger of the two.
    pub fn most(&self) -> f64 {
        self.sent.max(self.received)
    }
}

/// What every host sent and received by its own link's counters; where these are unknown, by the answer.
pub fn sums(fabric: &Fabric, measured: &Measured, found: &Csr) -> Hose {
    let mut hose = Hose::of(found, Some(fabric.hosts_hash()));
    for host in fabric.hosts() {
        let out = fabric.host_link(host);
        let counted = |link: LinkId| measured.whole.get(link.index());
        hose.sent[host.index()] = counted(out).unwrap_or(hose.sent[host.index()]);
        hose.received[host.index()] = counted(fabric.reverse(out)).unwrap_or(hose.received[host.index()]);
    }
    hose
}

fn known(amounts: &Amounts, link: LinkId) -> f64 {
    amounts.get(link.index()).unwrap_or(0.0)
}
