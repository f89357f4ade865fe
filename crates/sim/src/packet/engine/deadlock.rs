//! Who waits for whom when nothing moves any more.

use netloom_model::LinkId;

use crate::SimError;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::network::Network;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Notes, for every lane of every link, a lane of an output that packets held at its far end wait for (one is enough to follow). Both
    /// are counted as `link * lanes + lane`.
    fn waits_for(&self, waits_for: &mut [Option<usize>]) {
        let lanes = self.ports.lanes;
        for (out, state) in self.ports.lane.iter().enumerate() {
            if state.waiting.is_empty() {
                continue;
            }
            for index in self.ports.waiting((out / lanes) as u32, (out % lanes) as u8, &self.packets) {
                let packet = self.packets.get(index);
                let held = packet.via as usize * lanes + usize::from(packet.lane());
                waits_for[held].get_or_insert(out);
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
    let lanes = parts[0].ports.lanes;
    // The packets that a link has brought wait in one partition, that of its far end.
    let mut waits_for = vec![None; parts[0].fabric.link_count() * lanes];
    for part in parts {
        part.waits_for(&mut waits_for);
    }
    let time_ps = parts.iter().map(|part| part.last).max().unwrap_or(0);
    let cycle = cycle(&waits_for).into_iter();
    let cycle = cycle.map(|at| (LinkId::from_index(at / lanes), (at % lanes) as u8)).collect();
    Some(SimError::Deadlock { time_ps, packets, cycle })
}

/// A cycle of waiting, or what is known of it: a chain that ends where nobody waits. Empty if nobody waits at all.
///
/// A lane whose packets can't go on waits for the lanes that those packets wait for at its far end.
pub(super) fn cycle(waits_for: &[Option<usize>]) -> Vec<usize> {
    // Followed from any of them, the chain ends in the cycle.
    let Some(mut at) = waits_for.iter().position(Option::is_some) else { return Vec::new() };
    for _ in 0..waits_for.len() {
        match waits_for[at] {
            Some(next) => at = next,
            None => break,
        }
    }
    let first = at;
    let mut found = vec![at];
    while let Some(next) = waits_for[at].filter(|&next| next != first) {
        at = next;
        found.push(at);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 leads into the cycle 2, 4, 3; 1 is apart.
    #[test]
    fn a_chain_is_followed_into_its_cycle() {
        assert_eq!(cycle(&[Some(2), None, Some(4), Some(2), Some(3)]), [4, 3, 2]);
        assert_eq!(cycle(&[None, Some(0)]), [0], "no cycle: where the chain ends");
        assert_eq!(cycle(&[None, None]), []);
    }
}
