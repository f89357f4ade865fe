//! Who waits for whom when nothing moves any more.

use netloom_model::LinkId;

use super::choice::Choice;
use super::engine::Network;
use super::observe::Observer;
use super::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// The links of a cycle of waiting, or what is known of it.
    ///
    /// A link whose packets can't go on waits for the links that those packets wait for at its far end.
    pub(super) fn cycle(&self) -> String {
        let links = self.fabric.link_count();
        // Outputs that the packets held at the far end of a link wait for (one is enough to follow).
        let mut waits_for = vec![None; links];
        for out in 0..links {
            for lane in 0..self.ports.lanes {
                let state = &self.ports.lane[out * self.ports.lanes + lane];
                for index in state.waiting.iter(&self.packets) {
                    waits_for[self.packets.get(index).via as usize].get_or_insert(out);
                }
            }
        }
        // Followed from any of them, the chain ends in the cycle.
        let Some(mut at) = waits_for.iter().position(Option::is_some) else {
            return "nobody waits for an output".into();
        };
        for _ in 0..links {
            match waits_for[at] {
                Some(next) => at = next,
                None => break,
            }
        }
        let first = at;
        let mut names = vec![self.fabric.describe_link(LinkId(at as u32))];
        while let Some(next) = waits_for[at] {
            if next == first {
                break;
            }
            at = next;
            names.push(self.fabric.describe_link(LinkId(at as u32)));
        }
        names.join(", ")
    }
}
