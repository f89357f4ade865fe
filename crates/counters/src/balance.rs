//! What enters a switch leaves it: which switches don't balance, and which of two ends of a link is right.
//!
//! A switch makes no traffic and keeps none but management's. So the sums of what its ports have received and sent are the same within
//! the noise of counters, and where the ends of a link disagree, the end whose own counters balance its switch is the one to believe.

use netloom_model::{Fabric, SwitchId};

use crate::measured::Amounts;
use crate::noise::{CONFLICT_DEVIATIONS, Noise};

/// The sums over a switch's ports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// What all its ports have received.
    pub came_in: f64,
    /// What they have sent.
    pub went_out: f64,
    /// Sum of the squares of all that is added up.
    pub squares: f64,
    /// How many counters are added up.
    pub ports: usize,
}

impl Imbalance {
    /// How far in and out may be apart by noise.
    pub fn allowed(&self, noise: &Noise) -> f64 {
        let deviation = noise.relative * self.squares.sqrt() + noise.floor * (self.ports as f64).sqrt();
        CONFLICT_DEVIATIONS * deviation
            + (2e-3 * self.came_in.max(self.went_out)).max(self.ports as f64 * 4096.0)
    }
}

/// `[switch]`: its sums by its own counters, by the other end's where its own can't be trusted; `None` where neither can.
pub(crate) fn imbalances(fabric: &Fabric, [near, far]: &[Amounts; 2]) -> Vec<Option<Imbalance>> {
    let of_switch = |switch: SwitchId| {
        let mut sums = Imbalance { came_in: 0.0, went_out: 0.0, squares: 0.0, ports: 0 };
        for out in fabric.switch_links(switch).filter(|&l| fabric.alive(l)) {
            let (o, i) = (out.index(), fabric.reverse(out).index());
            let sent = near.get(o).or_else(|| far.get(o))?;
            let received = far.get(i).or_else(|| near.get(i))?;
            sums.went_out += sent;
            sums.came_in += received;
            sums.squares += sent * sent + received * received;
            sums.ports += 2;
        }
        (sums.ports > 0).then_some(sums)
    };
    fabric.switches().map(of_switch).collect()
}

/// Which end of every link that disagrees is right.
#[derive(Clone, Debug)]
pub(crate) struct Believed {
    /// By link, rising: 0 the near end, 1 the far end, `None` if switches don't tell.
    conflicts: Vec<(usize, Option<usize>)>,
}

impl Believed {
    pub fn of(fabric: &Fabric, ends: &[Amounts; 2], noise: &Noise) -> Self {
        let sums = imbalances(fabric, ends);
        let [near, far] = ends;
        let mut conflicts = Vec::new();
        for link in fabric.links().filter(|&l| fabric.alive(l)) {
            let (Some(sent), Some(received)) = (near.get(link.index()), far.get(link.index())) else {
                continue;
            };
            if noise.agree(sent, received) {
                continue;
            }
            // How far a switch is off with its own counter of this link, and with the other end's.
            let clearly =
                |off: f64, otherwise: f64| off < 0.25 * (sent - received).abs() && off < 0.5 * otherwise;
            let mut votes = [0, 0];
            if let Some(sums) = fabric.link_from_switch(link).and_then(|s| sums[s.index()]) {
                let off = sums.came_in - sums.went_out;
                let (own, other) = (off.abs(), (off + sent - received).abs());
                votes[0] += i32::from(clearly(own, other));
                votes[1] += i32::from(clearly(other, own));
            }
            if let Some(sums) = fabric.link_to_switch(link).and_then(|s| sums[s.index()]) {
                let off = sums.came_in - sums.went_out;
                let (own, other) = (off.abs(), (off + sent - received).abs());
                votes[1] += i32::from(clearly(own, other));
                votes[0] += i32::from(clearly(other, own));
            }
            let believed = match votes {
                [near, far] if near > far => Some(0),
                [near, far] if far > near => Some(1),
                _ => None,
            };
            conflicts.push((link.index(), believed));
        }
        Self { conflicts }
    }

    /// The end to believe where a link's ends disagree.
    pub fn end(&self, link: usize) -> Option<usize> {
        let at = self.conflicts.binary_search_by_key(&link, |&(link, _)| link).ok()?;
        self.conflicts[at].1
    }

    /// Links whose ends disagree, with the end to believe.
    pub fn conflicts(&self) -> &[(usize, Option<usize>)] {
        &self.conflicts
    }
}
