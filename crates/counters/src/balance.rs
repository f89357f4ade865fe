//! What enters a switch leaves it: which switches don't balance, and which of two ends of a link is right.
//!
//! A switch makes no traffic and keeps none but management's. So the sums of what its ports have received and sent are the same within
//! the noise of counters, and where the ends of a link disagree, the end whose own counters balance its switch is the one to believe.
//!
//! A port that was set back lost what it had sent *and* what it had received. Its switch may still balance, and so would the switch at the other
//! end with its numbers. So where a cable's ends disagree both ways, that one port is wrong is one hypothesis, judged by both switches with all of
//! its counters replaced; where these don't tell, the port that says less both ways was set back, as counters lose and never gain.

use netloom_model::{Fabric, LinkId, SwitchId};

use crate::amounts::{Amounts, CONFLICT_DEVIATIONS, Noise};

/// A switch is balanced if it is off by at most so many standard deviations.
const BALANCED_DEVIATIONS: f64 = 4.0;
/// One end is believed if it is a thousand times likelier than the other.
const LOG_LIKELIHOOD_RATIO: f64 = 6.9;

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
            let open: Vec<usize> = conflicts.iter().filter(|(_, end)| end.is_none()).map(|c| c.0).collect();
            let mut settled = Vec::new();
            for (link, believed) in conflicts.iter_mut().filter(|(_, believed)| believed.is_none()) {
                let id = LinkId::from_index(*link);
                let both_ways = open.binary_search(&fabric.reverse(id).index()).is_ok();
                let told = if both_ways { port(fabric, &ends, &sums, noise, id) } else { None };
                *believed = told.or_else(|| vote(fabric, &ends, &sums, noise, id));
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

/// Which end of a link to believe whose ends disagree both ways: one of its ports is wrong, in all that it counted.
fn port(
    fabric: &Fabric,
    ends: &[Amounts; 2],
    sums: &[Option<Imbalance>],
    noise: &Noise,
    link: LinkId,
) -> Option<usize> {
    // What the near port says more to have sent, and the far port, back.
    let [out, back] = [link, fabric.reverse(link)].map(|link| more(ends, link));
    // Where the near port said less both ways, the far one is right.
    let larger = if out < 0.0 && back > 0.0 {
        Some(1)
    } else if out > 0.0 && back < 0.0 {
        Some(0)
    } else {
        None
    };
    judged(fabric, sums, noise, link, out + back).or(larger)
}

/// What the sender of a link says to have sent more than was received.
fn more(ends: &[Amounts; 2], link: LinkId) -> f64 {
    ends[0].value[link.index()] - ends[1].value[link.index()]
}

/// Which end of a link to believe, of its own direction alone.
fn vote(
    fabric: &Fabric,
    ends: &[Amounts; 2],
    sums: &[Option<Imbalance>],
    noise: &Noise,
    link: LinkId,
) -> Option<usize> {
    judged(fabric, sums, noise, link, more(ends, link))
}

/// Which end of a link keeps its switches balanced where the other end's numbers would not: by the logarithm of how much likelier one is
/// than the other. A switch that neither balances has other bad counters, and says nothing; nor do two that contradict each other.
///
/// `more`: by how much more comes into a switch, less what goes out, if it is told the other end's numbers instead of its own. That is the same for
/// both switches: what the sender says more is that much more to go out of one, or to come into the other.
fn judged(
    fabric: &Fabric,
    sums: &[Option<Imbalance>],
    noise: &Noise,
    link: LinkId,
    more: f64,
) -> Option<usize> {
    let switches = [fabric.link_from_switch(link), fabric.link_to_switch(link)];
    let mut likelier = Vec::new();
    for (end, switch) in switches.into_iter().enumerate() {
        let Some(sums) = switch.and_then(|s| sums[s.index()]) else { continue };
        // A switch's sums have its own counters in them.
        let off = sums.came_in - sums.went_out;
        let with = if end == 0 { [off, off + more] } else { [off + more, off] };
        let deviation = sums.allowed(noise) / CONFLICT_DEVIATIONS;
        let [near, far] = with.map(|off| (off / deviation).powi(2));
        if near.min(far) <= BALANCED_DEVIATIONS.powi(2) {
            likelier.push(0.5 * (far - near));
        }
    }
    // By how much the near end is likelier; none of its switches may say the opposite.
    let all = |sign: f64| {
        likelier.iter().all(|l| sign * l > -1.0) && sign * likelier.iter().sum::<f64>() > LOG_LIKELIHOOD_RATIO
    };
    [(0, 1.0), (1, -1.0)].into_iter().find(|&(_, sign)| all(sign)).map(|(end, _)| end)
}
