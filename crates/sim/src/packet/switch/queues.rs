//! Packets that wait for an output behind others of their input: a queue for each input, where an input may hold many and inputs have turns.
//!
//! Which inputs have somebody waiting is one word of the output's lane ([`Lane::waiting`](super::Lane)), a bit for each *group* of as many neighbouring
//! inputs as make all of them fit 64 bits: up to 64 cables, for each input. So whose turn it is costs the same however many wait.
//!
//! Invariant: the bit of a group is set while one of its queues has a packet.

use serde::{Deserialize, Serialize};

use super::inputs::next_in_turn;
use super::lane::Waiting;
use crate::packet::pool::{List, Packet, Pool};

/// The queues of all outputs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queues {
    /// By link and lane, a queue for each input of its switch, by place; empty until somebody waits there.
    of: Vec<Vec<List>>,
}

/// Inputs that share a bit, where a switch has so many cables.
#[inline]
fn group(cables: usize) -> u32 {
    cables.div_ceil(64) as u32
}

impl Queues {
    /// For so many lanes of outputs.
    pub fn new(outputs: usize) -> Self {
        Self { of: vec![Vec::new(); outputs] }
    }

    /// So many outputs it knows.
    pub fn outputs(&self) -> usize {
        self.of.len()
    }

    /// A packet from the input at `place` waits for an output of a switch of so many cables, asked when the first comes.
    pub fn push(
        &mut self,
        (output, waiting): (usize, &mut Waiting),
        (place, cables): (u32, impl FnOnce() -> usize),
        packets: &mut Pool<Packet>,
        index: u32,
    ) {
        let queues = &mut self.of[output];
        if queues.is_empty() {
            *queues = vec![List::EMPTY; cables()];
        }
        queues[place as usize].push(packets, index);
        waiting.add_place(place / group(queues.len()));
    }

    /// The input whose turn it is, where the one served last has the number `turn`, and its first packet; somebody waits.
    pub fn next(&self, output: usize, waiting: Waiting, turn: u16) -> (u32, u32) {
        let queues = &self.of[output];
        let (group, bits) = (group(queues.len()), waiting.places());
        let first = |mut places: std::ops::Range<u32>| {
            places.find(|&place| queues.get(place as usize).is_some_and(|queue| !queue.is_empty()))
        };
        let start = u32::from(turn) % queues.len() as u32;
        let own = start / group;
        let place = (bits >> own & 1 == 1)
            .then(|| first(start..(own + 1) * group))
            .flatten()
            .or_else(|| {
                // Once around, to the inputs of its own group before it at last.
                let next = next_in_turn(bits, (own + 1) as u16);
                first(next * group..(next + 1) * group)
            })
            .expect("the bit of a group is set while it has a packet");
        (place, queues[place as usize].head)
    }

    /// Takes the first packet of an input.
    pub fn pop(&mut self, (output, waiting): (usize, &mut Waiting), place: u32, packets: &Pool<Packet>) {
        let queues = &mut self.of[output];
        queues[place as usize].pop(packets);
        let group = group(queues.len());
        let (from, to) = (place / group * group, ((place / group + 1) * group).min(queues.len() as u32));
        if queues[from as usize..to as usize].iter().all(|queue| queue.is_empty()) {
            waiting.remove_place(place / group);
        }
    }

    /// All that wait for an output, input by input.
    pub fn iter(&self, output: usize, packets: &Pool<Packet>) -> impl Iterator<Item = u32> {
        let queues = self.of.get(output).into_iter().flatten();
        queues.flat_map(|queue| queue.iter(packets))
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::DestId;

    use super::*;

    /// Inputs with packets, served from a number on: in turn, each first packet first.
    fn served(cables: usize, from: &[u32], mut turn: u16) -> Vec<(u32, u32)> {
        let (mut queues, mut packets, mut waiting) = (Queues::new(1), Pool::new(), Waiting::NOBODY);
        for &place in from {
            let index = packets.take(Packet::new(DestId(0), 64, 0, 0));
            queues.push((0, &mut waiting), (place, || cables), &mut packets, index);
        }
        assert_eq!(queues.iter(0, &packets).count(), from.len());
        let mut served = Vec::new();
        while !waiting.is_empty() {
            let (place, index) = queues.next(0, waiting, turn);
            queues.pop((0, &mut waiting), place, &packets);
            turn = place as u16 + 1;
            served.push((place, index));
        }
        served
    }

    #[test]
    fn inputs_have_turns_and_each_its_packets_in_order() {
        // Packets 0 to 3 from inputs 2, 2, 5, 0; input 1 was served last.
        assert_eq!(served(8, &[2, 2, 5, 0], 2), [(2, 0), (5, 2), (0, 3), (2, 1)]);
        assert_eq!(served(64, &[63, 0], 64), [(0, 1), (63, 0)]);
    }

    /// With 130 cables three share a bit: 3, 4, 5 one, 129 has the last.
    #[test]
    fn inputs_that_share_a_bit_have_turns_of_their_own() {
        assert_eq!(served(130, &[3, 5, 4, 129], 5), [(5, 1), (129, 3), (3, 0), (4, 2)]);
        assert_eq!(served(130, &[4, 3], 4), [(4, 0), (3, 1)]);
        assert_eq!(served(130, &[3], 5), [(3, 0)], "once around, in its own group");
    }
}
