//! What no single counter shows: that all may have wrapped, and that nobody but management was there.
//!
//! - *Wraps.* A counter of 32 bits that starts again from 0 leaves a smaller number, and where all links of a flow wrap alike, both ends of links
//!   and all switches agree. It may have happened where no counter is beyond 32 bits and one could be: its packets could hold so
//!   much more (none has more than [`LARGEST_PACKET`]), or, where packets were not counted, the link could have carried it in
//!   this time. The same of words of four octets, in which ports count.
//! - *Idle.* Reading counters and looking after a fabric is traffic too: datagrams of 256 octets that begin or end in switches, which no
//!   traffic of hosts explains. A fabric whose hosts sent hardly more than that is idle.
//!
//! Source: InfiniBand Architecture Specification, vol. 1, sec. 13.4.3 (datagrams of 256 octets), 16.1.3.5 (widths of counters).

use netloom_model::{Fabric, Finding, Interval, Quantity};

use crate::amounts::is_usable;
use crate::check::LARGEST_PACKET;

/// What counters of 32 bits hold, octets: counted in octets, and in words of four.
const WRAP_WIDTHS: [(f64, &str); 2] =
    [(4_294_967_296.0, "octets"), (17_179_869_184.0, "words of four octets")];
/// Counters that stayed below this part of the width are no sign of it where packets were not counted.
const LEAST_OF_WIDTH: f64 = 1.0 / 64.0;
/// A management datagram as ports count it, octets, headers and checks included.
const DATAGRAM_OCTETS: f64 = 288.0;
/// Hosts of an idle fabric send no more datagrams than this for every port.
const IDLE_DATAGRAMS_PER_PORT: f64 = 100.0;
/// Packets of management are no larger than this on average, octets.
const MANAGEMENT_PACKET_OCTETS: f64 = 320.0;
/// Fewer packets than this say nothing.
const FEWEST_PACKETS: f64 = 16.0;

/// That counters may have wrapped at 32 bits, all alike; `None` if they cannot have, or some were beyond.
pub fn may_have_wrapped(fabric: &Fabric, interval: &Interval) -> Option<Finding> {
    let seconds = (interval.end_ns - interval.start_ns) as f64 * 1e-9;
    let pairs = [(Quantity::XmitBytes, Quantity::XmitPackets), (Quantity::RcvBytes, Quantity::RcvPackets)];
    // `(octets, packets, the link's most in this time)` of all counters that can be trusted.
    let mut all = Vec::new();
    for (bytes, packets) in pairs {
        let Some(column) = interval.column(bytes, None) else { continue };
        let packets = interval.column(packets, None);
        for link in fabric.links().filter(|&l| fabric.alive(l) && is_usable(column.quality(l))) {
            let count = packets.filter(|c| is_usable(c.quality(link))).map(|c| c.values[link.index()] as f64);
            let most = fabric.bandwidth_bytes_per_s(link) * seconds;
            all.push((column.values[link.index()] as f64, count, most));
        }
    }
    let largest = all.iter().map(|one| one.0).fold(0.0, f64::max);
    WRAP_WIDTHS.iter().find_map(|&(width, unit)| {
        let room = |&(octets, packets, most): &(f64, Option<f64>, f64)| match packets {
            Some(packets) => octets + width <= LARGEST_PACKET * packets,
            None => largest >= LEAST_OF_WIDTH * width && octets > 0.0 && octets + width <= most,
        };
        let count = if largest < width { all.iter().filter(|one| room(one)).count() } else { 0 };
        (count > 0).then(|| Finding {
            kind: "may-have-wrapped",
            text: format!(
                "no counter is beyond 32 bits of {unit}, and {count} of {} could be: if counters of 32 bits wrapped, all of them are wrong alike. \
                 Expected counters of 64 bits (perfquery -x), or a shorter interval",
                all.len()
            ),
        })
    })
}

/// What hosts sent, octets, if it is no more than management's: nobody else was there. `None`: somebody was, or packets were not
/// counted. Where a host's own port was not read, what its switch received from it counts.
pub fn idle(fabric: &Fabric, interval: &Interval) -> Option<f64> {
    let ends = [(Quantity::XmitBytes, Quantity::XmitPackets), (Quantity::RcvBytes, Quantity::RcvPackets)];
    let ends: Vec<_> = ends
        .into_iter()
        .filter_map(|(b, p)| Some((interval.column(b, None)?, interval.column(p, None)?)))
        .collect();
    let (mut octets, mut count, mut ports) = (0.0, 0.0, 0);
    for link in fabric.hosts().map(|host| fabric.host_link(host)).filter(|l| fabric.alive(*l)) {
        let known = ends.iter().find(|(b, p)| is_usable(b.quality(link)) && is_usable(p.quality(link)));
        let Some((bytes, packets)) = known else { continue };
        octets += bytes.values[link.index()] as f64;
        count += packets.values[link.index()] as f64;
        ports += 1;
    }
    if ports > 0 && octets == 0.0 && count == 0.0 {
        return Some(0.0);
    }
    let little = octets <= IDLE_DATAGRAMS_PER_PORT * DATAGRAM_OCTETS * fabric.link_count() as f64;
    (count >= FEWEST_PACKETS && little && octets <= MANAGEMENT_PACKET_OCTETS * count).then_some(octets)
}

#[cfg(test)]
mod tests {
    use netloom_model::{Column, LinkId, Quality};

    use super::*;

    /// Two leaves of two hosts: 12 directed links, each with these octets and packets in a second of 12.5e9 octets.
    fn interval(octets: u64, packets: Option<u64>) -> (Fabric, Interval) {
        let fabric = netloom_topology::generate("two-level:leaves=2,hosts=2,spines=1").unwrap();
        let all = |value| vec![value; fabric.link_count()];
        let mut columns = vec![Column::good(Quantity::XmitBytes, None, all(octets))];
        columns.extend(packets.map(|count| Column::good(Quantity::XmitPackets, None, all(count))));
        let interval = Interval { start_ns: 0, end_ns: 1_000_000_000, routes: 0, columns };
        (fabric, interval)
    }

    /// 2^32 and 3e9 octets are 1.7 million packets of 4,228 and more.
    #[test]
    fn packets_say_whether_counters_can_have_wrapped() {
        for (octets, packets, may) in [
            (3_000_000_000, Some(1_000_000), false),
            (3_000_000_000, Some(1_800_000), true),
            (5_000_000_000, Some(1_000_000_000), true), // of words of four octets
            (20_000_000_000, Some(1_000_000_000), false),
            (3_000_000_000, None, true),
            (3_000_000, None, false),
        ] {
            let (fabric, interval) = interval(octets, packets);
            assert_eq!(may_have_wrapped(&fabric, &interval).is_some(), may, "{octets} {packets:?}");
        }
    }

    /// Adapters are often not asked. What a switch sends a host is no traffic of that host.
    #[test]
    fn switches_alone_tell_that_hosts_are_idle() {
        for (received, sent, idles) in [(28_800, 28_800, true), (2_880_000_000, 28_800, false)] {
            let (fabric, mut interval) = interval(0, None);
            let column = |quantity, of_hosts: u64, of_switches: u64| {
                let value =
                    |link: LinkId| if link.index() < fabric.host_count() { of_hosts } else { of_switches };
                Column::good(quantity, None, fabric.links().map(value).collect())
            };
            interval.columns = vec![
                column(Quantity::RcvBytes, received, 0),
                column(Quantity::RcvPackets, received / 288, 0),
                column(Quantity::XmitBytes, 0, sent),
                column(Quantity::XmitPackets, 0, sent / 288),
            ];
            for column in &mut interval.columns[2..] {
                column.quality = vec![Quality::MISSING; fabric.host_count()];
                column.quality.resize(fabric.link_count(), Quality::GOOD);
            }
            assert_eq!(idle(&fabric, &interval), idles.then_some(4.0 * received as f64));
        }
    }

    #[test]
    fn a_few_datagrams_are_idle_and_an_application_is_not() {
        for (octets, packets, idles) in [
            (28_800, Some(100), true),
            (28_800, Some(10), false), // 2,880 octets each: no datagrams
            (2_880_000_000, Some(10_000_000), false),
            (28_800, None, false),
            (0, Some(0), true),
        ] {
            let (fabric, interval) = interval(octets, packets);
            assert_eq!(idle(&fabric, &interval).is_some(), idles, "{octets} {packets:?}");
        }
    }
}
