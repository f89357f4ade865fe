//! The way back of a congestion notification: the links that packets have come by, and notifications that go from switch to switch.

use netloom_model::DestId;
use serde::{Deserialize, Serialize};

use super::flow::Flow;

/// A notification on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// Whose packet was the sample.
    pub flow: Flow,
    /// Where the packet goes to.
    pub address: DestId,
    pub feedback: u8,
    /// Links from its host to where the notification is, which takes them from the end.
    pub trail: Vec<u32>,
}

/// Trails of packets, and notifications under way.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Trails {
    /// By packet.
    links: Vec<Vec<u32>>,
    notices: Vec<Option<Notice>>,
    free: Vec<u32>,
}

impl Trails {
    /// A packet has come to a switch by a link, to the first one if `is_first`.
    pub fn pass(&mut self, packet: u32, link: u32, is_first: bool) {
        let packet = packet as usize;
        if packet >= self.links.len() {
            self.links.resize_with(packet + 1, Vec::new);
        }
        if is_first {
            self.links[packet].clear();
        }
        self.links[packet].push(link);
    }

    /// The links that a packet has come by.
    pub fn of(&self, packet: u32) -> &[u32] {
        &self.links[packet as usize]
    }

    /// Keeps a notification until it comes somewhere.
    pub fn keep(&mut self, notice: Notice) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.notices.push(None);
            self.notices.len() as u32 - 1
        });
        self.notices[number as usize] = Some(notice);
        number
    }

    /// Gives it back.
    pub fn take(&mut self, number: u32) -> Notice {
        self.free.push(number);
        self.notices[number as usize].take().expect("it is under way")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_packets_and_notices_are_used_again() {
        let mut trails = Trails::default();
        trails.pass(3, 7, true);
        trails.pass(3, 8, false);
        assert_eq!(trails.of(3), [7, 8]);
        trails.pass(3, 1, true);
        assert_eq!(trails.of(3), [1]);
        let flow = Flow::of(0, 0);
        let notice = |feedback| Notice { flow, address: DestId(0), feedback, trail: vec![1] };
        let (a, b) = (trails.keep(notice(1)), trails.keep(notice(2)));
        assert_eq!((a, b, trails.take(a).feedback), (0, 1, 1));
        assert_eq!((trails.keep(notice(3)), trails.take(b).feedback), (0, 2));
    }
}
