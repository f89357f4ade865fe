//! Who waits for whom when nothing moves any more.

use netloom_model::{Fabric, LinkId};

use crate::SimError;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::network::Network;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Notes, for every link, an output that packets held at its far end wait for (one is enough to follow).
    fn waits_for(&self, waits_for: &mut [Option<usize>]) {
        for out in 0..waits_for.len() {
            for lane in 0..self.ports.lanes {
                let state = &self.ports.lane[out * self.ports.lanes + lane];
                for index in state.waiting.iter(&self.packets) {
                    waits_for[self.packets.get(index).via as usize].get_or_insert(out);
                }
            }
        }
    }
}

/// What is wrong if nothing happens any more in the partitions of a network.
pub(in crate::packet) fn deadlock<C: Choice, P: Program, O: Observer>(
    parts: &[Network<'_, C, P, O>],
) -> Option<SimError> {
    let packets = parts.iter().map(|part| part.packets.live()).sum();
    if packets == 0 {
        return None;
    }
    let fabric = parts[0].fabric;
    // The packets that a link has brought wait in one partition, that of its far end.
    let mut waits_for = vec![None; fabric.link_count()];
    for part in parts {
        part.waits_for(&mut waits_for);
    }
    let time_ps = parts.iter().map(|part| part.last).max().unwrap_or(0);
    Some(SimError::Deadlock { time_ps, packets, cycle: cycle(fabric, &waits_for) })
}

/// The links of a cycle of waiting, or what is known of it.
///
/// A link whose packets can't go on waits for the links that those packets wait for at its far end.
fn cycle(fabric: &Fabric, waits_for: &[Option<usize>]) -> String {
    // Followed from any of them, the chain ends in the cycle.
    let Some(mut at) = waits_for.iter().position(Option::is_some) else {
        return "nobody waits for an output".into();
    };
    for _ in 0..waits_for.len() {
        match waits_for[at] {
            Some(next) => at = next,
            None => break,
        }
    }
    let first = at;
    let mut names = vec![fabric.describe_link(LinkId(at as u32))];
    while let Some(next) = waits_for[at] {
        if next == first {
            break;
        }
        at = next;
        names.push(fabric.describe_link(LinkId(at as u32)));
    }
    names.join(", ")
}
