//! What enters a switch leaves it: which switches don't balance, and which of two ends of a link is right.
//!
//! A switch makes no traffic and keeps none but management's. So the sums of what its ports have received and sent are the same within
//! the noise of counters, and where the ends of a link disagree, the end whose own counters balance its switch is the one to believe.

use netloom_model::{Fabric, LinkId, SwitchId};

use crate::amounts::{Amounts, CONFLICT_DEVIATIONS, Noise};

/// A switch is balanced if it is off by at most so many standard deviations.
const BALANCED: f64 = 4.0;
/// One end is believed if it is a thousand times likelier than the other.
const SURE: f64 = 6.9;

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
            + (2e-3 * self.came_in.max(self.went_out)).max(4.0 * self.ports as f64 * noise.packet)
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
        let both = |link: &LinkId| Some((ends[0].get(link.index())?, ends[1].get(link.index())?));
        let disagree = |link: &LinkId| both(link).is_some_and(|(a, b)| !noise.agree(a, b));
        let links = fabric.links().filter(|&l| fabric.alive(l)).filter(disagree);
        let mut conflicts: Vec<(usize, Option<usize>)> = links.map(|l| (l.index(), None)).collect();
        let mut ends = ends.clone();
        // What is settled makes more switches balance, which settles more.
        loop {
            let sums = imbalances(fabric, &ends);
            let mut settled = Vec::new();
            for (link, believed) in conflicts.iter_mut().filter(|(_, believed)| believed.is_none()) {
                *believed = vote(fabric, &ends, &sums, noise, LinkId::from_index(*link));
                settled.extend(believed.map(|end| (*link, end)));
            }
            if settled.is_empty() {
                return Self { conflicts };
            }
            for (link, end) in settled {
                ends[1 - end].value[link] = ends[end].value[link];
            }
        }
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

/// Which end of a link keeps its switches balanced where the other end's number would not: by the logarithm of how much likelier one is
/// than the other. A switch that neither number balances has other bad counters, and says nothing; nor do two that contradict each other.
fn vote(
    fabric: &Fabric,
    ends: &[Amounts; 2],
    sums: &[Option<Imbalance>],
    noise: &Noise,
    link: LinkId,
) -> Option<usize> {
    let [sent, received] = [0, 1].map(|end: usize| ends[end].value[link.index()]);
    let switches = [fabric.link_from_switch(link), fabric.link_to_switch(link)];
    let mut likelier = Vec::new();
    for (end, switch) in switches.into_iter().enumerate() {
        let Some(sums) = switch.and_then(|s| sums[s.index()]) else { continue };
        // A switch's sums have its own counter in them. Whether the link goes out of it or comes in, what the sender says more is that much
        // more to go out, or to come in.
        let (off, more) = (sums.came_in - sums.went_out, sent - received);
        let with = if end == 0 { [off, off + more] } else { [off + more, off] };
        let deviation = sums.allowed(noise) / CONFLICT_DEVIATIONS;
        let [near, far] = with.map(|off| (off / deviation).powi(2));
        if near.min(far) <= BALANCED.powi(2) {
            likelier.push(0.5 * (far - near));
        }
    }
    // By how much the near end is likelier; none of its switches may say the opposite.
    let all =
        |sign: f64| likelier.iter().all(|l| sign * l > -1.0) && sign * likelier.iter().sum::<f64>() > SURE;
    [(0, 1.0), (1, -1.0)].into_iter().find(|&(_, sign)| all(sign)).map(|(end, _)| end)
}
