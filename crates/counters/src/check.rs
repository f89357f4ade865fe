//! Which counters are bad, by name.
//!
//! | kind | what is wrong |
//! |---|---|
//! | `conflict` | the two ends of a link say different numbers |
//! | `balance` | more came into a switch than left it, or less |
//! | `lanes` | the lanes of a port don't add up to the whole |
//! | `saturated`, `reset` | a counter stood at its largest value, or was set back in between |
//! | `missing` | a link of which neither end was read |
//! | `unsupported` | a node that does not count by lane where others do |
//! | `too-fast` | more bytes than the link can carry in this time |
//! | `packet-size` | packets larger or smaller than InfiniBand's: units are mixed up |
//!
//! Noise is judged by itself (module [`noise`](crate::noise)): a difference is told where it is far beyond what the other counters show.

use netloom_model::{Column, Fabric, Finding, Interval, LinkId, NodeId, Quality, Quantity};

use crate::amounts::{Amounts, Noise, Unit, is_usable};
use crate::balance::{Believed, imbalances};
use crate::labels::Labels;
use crate::measured::both_ends;

/// Less than any packet, octets: InfiniBand's have 24 without payload, simulated ones may have no headers.
const SMALLEST_PACKET: f64 = 8.0;
/// A packet with the largest payload and all headers that there are, octets.
pub(crate) const LARGEST_PACKET: f64 = 4096.0 + 132.0;
/// Clocks and times of reading are not exact.
const FASTER: f64 = 1.05;

/// Everything that is wrong with an interval's counters.
pub fn check(fabric: &Fabric, interval: &Interval) -> Vec<Finding> {
    let (fabric, mut found) = (&Labels::of(fabric), Vec::new());
    for unit in [Unit::Bytes, Unit::Packets { mtu_bytes: 1.0 }] {
        let what = if unit == Unit::Bytes { Quantity::XmitBytes } else { Quantity::XmitPackets };
        let far = if unit == Unit::Bytes { Quantity::RcvBytes } else { Quantity::RcvPackets };
        if interval.column(what, None).is_some() || interval.column(far, None).is_some() {
            conservation(fabric, interval, unit, &mut found);
        }
    }
    lanes(fabric, interval, &mut found);
    flagged(fabric, interval, &mut found);
    without_lanes(fabric, interval, &mut found);
    impossible(fabric, interval, &mut found);
    found
}

/// What a link's end is called: `PortXmitData of leaf00[5]`.
fn counter_name(fabric: &Labels<'_>, link: LinkId, quantity: Quantity) -> String {
    let name = match quantity {
        Quantity::XmitBytes => "bytes sent",
        Quantity::RcvBytes => "bytes received",
        Quantity::XmitPackets => "packets sent",
        Quantity::RcvPackets => "packets received",
        Quantity::WaitTicks => "ticks waited",
    };
    let port = if quantity.is_at_far_end() { fabric.reverse(link) } else { link };
    format!("{name} at {}", fabric.port(port))
}

fn conservation(fabric: &Labels<'_>, interval: &Interval, unit: Unit, found: &mut Vec<Finding>) {
    let quantities = match unit {
        Unit::Bytes => [Quantity::XmitBytes, Quantity::RcvBytes],
        _ => [Quantity::XmitPackets, Quantity::RcvPackets],
    };
    let word = if unit == Unit::Bytes { "bytes" } else { "packets" };
    let mut ends = both_ends(fabric, interval, None, unit);
    let noise = Noise::of(fabric, &ends, &[], unit);
    let believed = Believed::of(fabric, &ends, &noise);
    for &(link, right) in believed.conflicts() {
        let id = LinkId::from_index(link);
        let (sent, received) = (ends[0].value[link], ends[1].value[link]);
        let verdict = match right {
            Some(end) => {
                // The same port is wrong in the other direction, too: it was set back.
                let both_ways = believed.end(fabric.reverse(id).index()) == Some(1 - end);
                let why = if both_ways {
                    "like the other direction's at this port: was it set back?"
                } else {
                    "by the balance of switches"
                };
                format!(": {} are wrong, {why}", counter_name(fabric, id, quantities[1 - end]))
            }
            None => String::new(),
        };
        let text =
            format!("{}: {sent:.0} {word} sent, {received:.0} received{verdict}", fabric.both_ends(id));
        found.push(Finding { kind: "conflict", text });
        // Switches are judged by what is left.
        match right {
            Some(end) => ends[1 - end].quality[link] = Quality::CONFLICT,
            None => (0..2).for_each(|end| ends[end].quality[link] = Quality::CONFLICT),
        }
    }
    balance(fabric, &ends, &noise, word, found);
}

fn balance(fabric: &Labels<'_>, ends: &[Amounts; 2], noise: &Noise, word: &str, found: &mut Vec<Finding>) {
    for (switch, sums) in fabric.switches().zip(imbalances(fabric, ends)) {
        let Some(sums) = sums else { continue };
        let off = sums.came_in - sums.went_out;
        if off.abs() > sums.allowed(noise) {
            let more = if off > 0.0 { "more" } else { "less" };
            let percent = 100.0 * off.abs() / sums.came_in.max(sums.went_out);
            let name = fabric.label(fabric.switch_node(switch));
            let text =
                format!("{name}: {:.0} {word} {more} came in than went out ({percent:.1} %)", off.abs());
            found.push(Finding { kind: "balance", text });
        }
    }
}

fn lanes(fabric: &Labels<'_>, interval: &Interval, found: &mut Vec<Finding>) {
    for quantity in Quantity::ALL.into_iter().filter(|&q| q != Quantity::WaitTicks) {
        let Some(whole) = interval.column(quantity, None) else { continue };
        let of_lanes: Vec<&Column> =
            interval.columns.iter().filter(|c| c.quantity == quantity && c.lane.is_some()).collect();
        if of_lanes.is_empty() {
            continue;
        }
        let known =
            |l: &LinkId| is_usable(whole.quality(*l)) && of_lanes.iter().all(|c| is_usable(c.quality(*l)));
        let sums: Vec<(LinkId, f64, f64)> = fabric
            .links()
            .filter(known)
            .map(|l| {
                let sum = of_lanes.iter().map(|c| c.values[l.index()] as f64).sum();
                (l, whole.values[l.index()] as f64, sum)
            })
            .collect();
        let noise = Noise::of_pairs(
            sums.iter()
                .filter(|(_, a, b)| a + b > 0.0)
                .map(|(_, a, b)| (0.5 * (a + b), (a - b).abs()))
                .collect(),
            if matches!(quantity, Quantity::XmitBytes | Quantity::RcvBytes) { 1024.0 } else { 1.0 },
        );
        // Each lane may have been rounded.
        let rounding = of_lanes.len() as f64;
        for (link, whole, sum) in sums {
            if (whole - sum).abs() > rounding && !noise.agree(whole, sum) {
                let name = counter_name(fabric, link, quantity);
                found.push(Finding {
                    kind: "lanes",
                    text: format!("{name}: {whole:.0}, but {sum:.0} on its lanes"),
                });
            }
        }
    }
}

fn flagged(fabric: &Labels<'_>, interval: &Interval, found: &mut Vec<Finding>) {
    for (flag, kind, what) in [
        (Quality::SATURATED, "saturated", "at its largest value"),
        (Quality::RESET, "reset", "was set back in between"),
    ] {
        for column in &interval.columns {
            for link in fabric.links().filter(|&l| fabric.alive(l) && column.quality(l).has(flag)) {
                let lane = column.lane.map(|lane| format!(", lane {lane}")).unwrap_or_default();
                let text = format!("{}{lane}: {what}", counter_name(fabric, link, column.quantity));
                found.push(Finding { kind, text });
            }
        }
    }
    let ends = both_ends(fabric, interval, None, Unit::Bytes);
    let read = |link: LinkId| {
        let mut columns = interval.columns.iter().filter(|c| c.quantity != Quantity::WaitTicks);
        columns.any(|c| c.quality(link).is_read())
    };
    for link in fabric.links().filter(|&l| fabric.alive(l)) {
        let unread = ends.iter().all(|end| !end.quality[link.index()].is_read());
        if unread && !read(link) {
            let text = format!("{}: neither end was read", fabric.both_ends(link));
            found.push(Finding { kind: "missing", text });
        }
    }
}

fn without_lanes(fabric: &Labels<'_>, interval: &Interval, found: &mut Vec<Finding>) {
    let mut nodes: Vec<NodeId> = Vec::new();
    for column in interval.columns.iter().filter(|c| c.lane.is_some()) {
        for link in fabric.links().filter(|&l| fabric.alive(l) && column.quality(l) == Quality::UNSUPPORTED) {
            nodes.push(if column.quantity.is_at_far_end() {
                fabric.link_to(link)
            } else {
                fabric.link_from(link)
            });
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    for node in nodes {
        let text = format!("{} does not count by lane", fabric.label(node));
        found.push(Finding { kind: "unsupported", text });
    }
}

fn impossible(fabric: &Labels<'_>, interval: &Interval, found: &mut Vec<Finding>) {
    let seconds = (interval.end_ns - interval.start_ns) as f64 * 1e-9;
    let pairs = [(Quantity::XmitBytes, Quantity::XmitPackets), (Quantity::RcvBytes, Quantity::RcvPackets)];
    for (bytes, packets) in pairs {
        let Some(column) = interval.column(bytes, None) else { continue };
        let packets = interval.column(packets, None);
        for link in fabric.links().filter(|&l| fabric.alive(l) && is_usable(column.quality(l))) {
            let octets = column.values[link.index()] as f64;
            let most = fabric.bandwidth_bytes_per_s(link) * seconds;
            if seconds > 0.0 && octets > FASTER * most {
                let name = counter_name(fabric, link, bytes);
                let text =
                    format!("{name}: {octets:.0} in {seconds:.3} s, in which the link can carry {most:.0}");
                found.push(Finding { kind: "too-fast", text });
            }
            let count = packets.filter(|c| is_usable(c.quality(link))).map_or(0, |c| c.values[link.index()]);
            let size = octets / count as f64;
            // A few packets more or less, counted at another moment, say nothing.
            if count >= 100 && !(SMALLEST_PACKET..=1.1 * LARGEST_PACKET).contains(&size) {
                let name = counter_name(fabric, link, bytes);
                let text = format!(
                    "{name}: {octets:.0} in {count} packets, {size:.1} each: expected 8 to 4228 (units of four octets?)"
                );
                found.push(Finding { kind: "packet-size", text });
            }
        }
    }
}
