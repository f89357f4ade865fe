//! What every link and lane carried, from the counters at both of its ends.
//!
//! - Both ends counted well and agree: their mean, half the variance.
//! - They disagree by more than the counters' own noise explains: the end that keeps the switch behind it balanced is believed
//!   ([`balance`](crate::balance)); if neither is, the value is marked [`Quality::CONFLICT`].
//! - One end counted well: that end.
//! - None: what is wrong with it, and the larger of what was told, which is at least a lower bound.
//!
//! Invariant: an amount with no flag but [`Quality::SCALED`] is finite and not negative, and can be trusted within its deviation; others
//! are not to be fitted.

use netloom_model::{Column, Fabric, Interval, LinkId, Quality, Quantity};

use crate::amounts::{Amounts, Noise, Unit, is_usable};
use crate::balance::Believed;

/// What an interval's counters say.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Lanes that were told apart; 0: only whole links were counted.
    pub lanes: usize,
    /// `[link]`: on all lanes.
    pub whole: Amounts,
    /// `[link * lanes + lane]`
    pub by_lane: Amounts,
    /// How far counters of the same bytes differ, from the ends of links or the balance of switches.
    pub noise: Noise,
}

impl Measured {
    /// A lane of a link, if it can be trusted.
    #[inline]
    pub fn lane(&self, link: LinkId, lane: usize) -> Option<f64> {
        self.by_lane.get(link.index() * self.lanes + lane)
    }

    /// `[link * lanes + lane]` for a scheme of so many lanes, as operators number rows; one lane is the whole link. A lane that nobody
    /// used, and whose counters were dropped for that, carried nothing where the link's other lanes were counted.
    pub fn in_lanes(&self, lanes: usize) -> Amounts {
        if lanes <= 1 {
            return self.whole.clone();
        }
        let mut all = Amounts::default();
        for link in 0..self.whole.value.len() {
            for lane in 0..lanes {
                let at = link * self.lanes + lane.min(self.lanes.saturating_sub(1));
                let (value, quality, ends) = match self.lanes {
                    0 => (0.0, Quality::MISSING, 0),
                    known if lane < known => {
                        (self.by_lane.value[at], self.by_lane.quality[at], self.by_lane.ends[at])
                    }
                    _ => (0.0, self.by_lane.quality[at], self.by_lane.ends[at]),
                };
                all.value.push(value);
                all.quality.push(quality);
                all.ends.push(ends);
            }
        }
        all
    }

    /// Every `(link, lane)` that can be trusted, with amount and deviation. Where a link's lanes were not all counted, or nobody counts by
    /// lane, the whole link stands for them, with lane `None`: rows of a fit, none of which says what others say already.
    pub fn rows(&self, fabric: &Fabric) -> Vec<Row> {
        let mut rows = Vec::new();
        for link in fabric.links().filter(|&l| fabric.alive(l)) {
            let first = link.index() * self.lanes;
            let known = |&at: &usize| self.by_lane.get(at).is_some();
            let lanes = (first..first + self.lanes).filter(known).count();
            for at in (first..first + self.lanes).filter(known) {
                let (amount, deviation) = (self.by_lane.value[at], self.by_lane.deviation(at, &self.noise));
                rows.push(Row { link, lane: Some((at - first) as u8), amount, deviation });
            }
            let whole = self.whole.get(link.index()).filter(|_| lanes < self.lanes || self.lanes == 0);
            if let Some(amount) = whole {
                let deviation = self.whole.deviation(link.index(), &self.noise);
                rows.push(Row { link, lane: None, amount, deviation });
            }
        }
        rows
    }
}

/// One equation of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The link.
    pub link: LinkId,
    /// The lane; `None`: all lanes together.
    pub lane: Option<u8>,
    /// What was carried.
    pub amount: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

/// What an interval's counters say of every link and lane.
pub fn measure(fabric: &Fabric, interval: &Interval, unit: Unit) -> Measured {
    let lanes = interval.columns.iter().filter_map(|c| c.lane).max().map_or(0, |lane| usize::from(lane) + 1);
    let whole = both_ends(fabric, interval, None, unit);
    let of_lanes: Vec<[Amounts; 2]> =
        (0..lanes).map(|lane| both_ends(fabric, interval, Some(lane as u8), unit)).collect();
    let noise = Noise::of(fabric, &whole, &of_lanes, unit);
    let believed = Believed::of(fabric, &whole, &noise);
    let mut all = joined(&whole, &noise, |link| believed.end(link));
    let lane_parts: Vec<Amounts> =
        of_lanes.iter().map(|ends| joined(ends, &noise, |link| believed.end(link))).collect();
    let mut by_lane = Amounts::default();
    for link in 0..fabric.link_count() {
        for part in &lane_parts {
            by_lane.value.push(part.value[link]);
            by_lane.quality.push(part.quality[link]);
            by_lane.ends.push(part.ends[link]);
        }
    }
    add_up_lanes(&mut all, &by_lane, lanes);
    Measured { lanes, whole: all, by_lane, noise }
}

/// What the near and the far end of every link say.
pub(crate) fn both_ends(fabric: &Fabric, interval: &Interval, lane: Option<u8>, unit: Unit) -> [Amounts; 2] {
    let ends = [(Quantity::XmitBytes, Quantity::XmitPackets), (Quantity::RcvBytes, Quantity::RcvPackets)];
    ends.map(|(bytes, packets)| {
        let (bytes, packets) = (interval.column(bytes, lane), interval.column(packets, lane));
        let mut amounts = Amounts::default();
        for link in fabric.links() {
            let (value, quality) = in_unit(link, bytes, packets, unit);
            amounts.value.push(value);
            amounts.quality.push(quality);
            amounts.ends.push(u8::from(is_usable(quality)));
        }
        amounts
    })
}

fn in_unit(link: LinkId, bytes: Option<&Column>, packets: Option<&Column>, unit: Unit) -> (f64, Quality) {
    let get = |column: Option<&Column>| match column {
        Some(column) => (column.values[link.index()] as f64, column.quality(link)),
        None => (0.0, Quality::MISSING),
    };
    let (octets, of_bytes) = get(bytes);
    // Packets that nobody counted follow from bytes; a port that did not tell them while others did is another matter.
    let counted = |mtu_bytes: f64| match packets {
        Some(_) => get(packets),
        None => {
            (octets / mtu_bytes, if of_bytes.is_read() { of_bytes.with(Quality::SCALED) } else { of_bytes })
        }
    };
    match unit {
        Unit::Bytes => (octets, of_bytes),
        Unit::Packets { mtu_bytes } => counted(mtu_bytes),
        Unit::Mixed { mtu_bytes } => {
            let (packets, of_packets) = counted(mtu_bytes);
            (0.5 * (mtu_bytes * packets + octets), of_bytes.with(of_packets))
        }
    }
}

/// Both ends made one; `believed` says which of two that disagree is right (0 near, 1 far).
fn joined(ends: &[Amounts; 2], noise: &Noise, believed: impl Fn(usize) -> Option<usize>) -> Amounts {
    let [near, far] = ends;
    let mut amounts = Amounts::default();
    for link in 0..near.value.len() {
        let (value, quality, count) = match (near.get(link), far.get(link)) {
            (Some(a), Some(b)) if noise.agree(a, b) => {
                (0.5 * (a + b), near.quality[link].with(far.quality[link]), 2)
            }
            (Some(a), Some(b)) => match believed(link) {
                Some(end) => (ends[end].value[link], ends[end].quality[link], 1),
                None => (0.5 * (a + b), Quality::CONFLICT, 0),
            },
            (Some(a), None) => (a, near.quality[link], 1),
            (None, Some(b)) => (b, far.quality[link], 1),
            (None, None) => {
                let larger = if far.value[link] > near.value[link] { 1 } else { 0 };
                let read = [0, 1].into_iter().filter(|&end: &usize| ends[end].quality[link].is_read());
                let end = read.max_by_key(|&end| end == larger).unwrap_or(larger);
                (ends[end].value[link], worst(near.quality[link], far.quality[link]), 0)
            }
        };
        amounts.value.push(value);
        amounts.quality.push(quality);
        amounts.ends.push(count);
    }
    amounts
}

/// What is wrong with a link of which no end can be trusted: what was read rather than that something was not.
fn worst(near: Quality, far: Quality) -> Quality {
    match (near.is_read(), far.is_read()) {
        (true, false) => near,
        (false, true) => far,
        _ => near.with(far),
    }
}

/// Fills whole links that were not counted themselves from their lanes.
fn add_up_lanes(whole: &mut Amounts, by_lane: &Amounts, lanes: usize) {
    for link in (0..whole.value.len()).filter(|_| lanes > 0) {
        let of_link = link * lanes..(link + 1) * lanes;
        if is_usable(whole.quality[link]) || !of_link.clone().all(|at| is_usable(by_lane.quality[at])) {
            continue;
        }
        whole.value[link] = by_lane.value[of_link.clone()].iter().sum();
        whole.quality[link] = Quality::SCALED;
        whole.ends[link] = by_lane.ends[of_link].iter().copied().min().unwrap_or(0);
    }
}
