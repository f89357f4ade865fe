//! An interval in a few figures, and several intervals as one.

use netloom_model::{Column, Counters, Fabric, Interval, LinkId, Quality, Quantity};

use crate::amounts::{Amounts, Unit, is_usable};
use crate::measured::{Measured, measure};

/// What an interval's counters amount to, over links whose cable works.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What is known of every link, in bytes.
    pub measured: Measured,
    /// Links that both ends, one end and neither end of which can be trusted.
    pub links_by_ends: [usize; 3],
    /// Bytes that hosts sent, over their links that are known; `None`: none is.
    pub host_bytes: Option<f64>,
    /// Bytes over all links that are known; `None`: none is.
    pub link_bytes: Option<f64>,
    /// Packets that hosts sent, over their links that are known; `None`: none is, or nobody counted packets.
    pub host_packets: Option<f64>,
    /// Values with each of [`Quality::FLAGS`], in that order.
    pub flagged: [usize; 6],
}

/// The figures of an interval.
pub fn summary(fabric: &Fabric, interval: &Interval) -> Summary {
    let measured = measure(fabric, interval, Unit::Bytes);
    let mut links_by_ends = [0; 3];
    for link in fabric.links().filter(|&l| fabric.alive(l)) {
        let ends = measured.whole.ends[link.index()];
        links_by_ends[2 - usize::from(ends.min(2))] += 1;
    }
    let known = |amounts: &Amounts, links: usize| {
        let links = fabric.links().take(links).filter(|&l| fabric.alive(l));
        links.filter_map(|l| amounts.get(l.index())).reduce(|sum, amount| sum + amount)
    };
    let (hosts, links) = (fabric.host_count(), fabric.link_count());
    let (host_bytes, link_bytes) = (known(&measured.whole, hosts), known(&measured.whole, links));
    let has_packets =
        interval.columns.iter().any(|c| matches!(c.quantity, Quantity::XmitPackets | Quantity::RcvPackets));
    let packets = || measure(fabric, interval, Unit::Packets { mtu_bytes: 1.0 }).whole;
    let host_packets = has_packets.then(|| known(&packets(), hosts)).flatten();
    let mut flagged = [0; 6];
    for column in &interval.columns {
        for link in fabric.links().filter(|&l| fabric.alive(l) && !is_usable(column.quality(l))) {
            for (count, (flag, _)) in flagged.iter_mut().zip(Quality::FLAGS) {
                *count += usize::from(column.quality(link).has(flag));
            }
        }
    }
    Summary { measured, links_by_ends, host_bytes, link_bytes, host_packets, flagged }
}

/// The `n` links that carried most, with their bytes, ties by [`LinkId`].
pub fn busiest(measured: &Measured, n: usize) -> Vec<(LinkId, f64)> {
    let known = |at| Some((LinkId::from_index(at), measured.whole.get(at)?));
    let mut links: Vec<(LinkId, f64)> =
        (0..measured.whole.value.len()).filter_map(known).filter(|l| l.1 > 0.0).collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    links.truncate(n);
    links
}

/// All intervals added up; a value that is bad in one of them is bad in the sum. `None` if there are none.
pub fn added_up(counters: &Counters) -> Option<Interval> {
    let (first, others) = counters.intervals().split_first()?;
    let mut sum = first.clone();
    for interval in others {
        sum.end_ns = sum.end_ns.max(interval.end_ns);
        for column in &mut sum.columns {
            let Column { quantity, lane, ref mut values, ref mut quality } = *column;
            let more = interval.column(quantity, lane);
            let doubts = |at| more.map_or(Quality::MISSING, |c| c.quality(LinkId::from_index(at)));
            if quality.is_empty() && more.is_none_or(|c| !c.quality.is_empty()) {
                *quality = vec![Quality::GOOD; values.len()];
            }
            for (at, doubt) in quality.iter_mut().enumerate() {
                *doubt = doubt.with(doubts(at));
            }
            for (value, more) in values.iter_mut().zip(more.map_or(&[][..], |c| &c.values)) {
                *value = value.saturating_add(*more);
            }
        }
        for column in interval.columns.iter().filter(|c| first.column(c.quantity, c.lane).is_none()) {
            if sum.column(column.quantity, column.lane).is_none() {
                let nothing = vec![Quality::MISSING; column.values.len()];
                sum.columns.push(Column { quality: nothing, ..column.clone() });
            }
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use netloom_testkit::cases;

    use super::*;

    #[test]
    fn what_no_host_link_tells_is_unknown_and_not_nothing() {
        let fabric = cases::star(2);
        // Links 0 and 1 are the hosts'.
        let missing = Quality::MISSING;
        let column = |quantity, doubts: [Quality; 4]| Column {
            quality: doubts.to_vec(),
            ..Column::good(quantity, None, vec![0, 0, 6, 7])
        };
        let of = |doubts| {
            let columns = vec![column(Quantity::XmitBytes, doubts), column(Quantity::XmitPackets, doubts)];
            summary(&fabric, &Interval { start_ns: 0, end_ns: 1, routes: 0, columns })
        };
        let switch_only = of([missing, missing, Quality::GOOD, Quality::GOOD]);
        assert_eq!((switch_only.host_bytes, switch_only.host_packets), (None, None));
        assert_eq!(switch_only.link_bytes, Some(13.0));
        assert_eq!(of([missing; 4]).link_bytes, None);
    }

    #[test]
    fn intervals_add_up_and_a_doubt_stays() {
        let fabric = cases::star(2);
        let mut counters = Counters::new(&fabric, None);
        assert_eq!(added_up(&counters), None);
        for start_ns in [0, 10] {
            let mut column = Column::good(Quantity::XmitBytes, None, vec![5, 6, 7, 8]);
            if start_ns > 0 {
                column.quality = vec![Quality::GOOD, Quality::RESET, Quality::GOOD, Quality::GOOD];
            }
            let columns = vec![column];
            counters.push(Interval { start_ns, end_ns: start_ns + 10, routes: 0, columns }).unwrap();
        }
        let sum = added_up(&counters).unwrap();
        assert_eq!((sum.start_ns, sum.end_ns), (0, 20));
        assert_eq!(sum.columns[0].values, [10, 12, 14, 16]);
        let figures = summary(&fabric, &sum);
        assert_eq!(figures.links_by_ends, [0, 3, 1]);
        assert_eq!(
            (figures.host_bytes, figures.link_bytes, figures.host_packets),
            (Some(10.0), Some(40.0), None)
        );
        assert_eq!(figures.flagged, [0, 1, 0, 0, 0, 0]);
        assert_eq!(busiest(&figures.measured, 2), [(LinkId(3), 16.0), (LinkId(2), 14.0)]);
    }
}
