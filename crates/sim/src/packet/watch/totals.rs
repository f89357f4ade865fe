//! What every link has carried so far, as counters.

use crate::packet::hardware::Any;
use crate::packet::switch::Ports;
use crate::record::{LinkCounters, Sent};

/// What has been sent by `now`, ps.
pub(crate) fn link_counters(ports: &Ports, now: u64) -> LinkCounters {
    let Ports { lanes, .. } = *ports;
    let free_at = |link: usize| ports.free_at::<Any>(link as u32);
    let sent = ports.carried().enumerate().map(|(at, carried)| {
        let wait_ps = ports.waits.lane_ps(at / lanes, at % lanes, free_at(at / lanes), now);
        Sent { bytes: carried.bytes, packets: carried.packets, wait_ps }
    });
    let links = 0..ports.port.len();
    let wait_ps = links.map(|link| ports.waits.link_ps(link, free_at(link), now));
    LinkCounters { lanes, sent: sent.collect(), wait_ps: wait_ps.collect() }
}
