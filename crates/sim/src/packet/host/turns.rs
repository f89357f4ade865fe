//! Receivers in turn: a host's messages to one receiver leave in the order in which they were posted.
//!
//! A message that has begun and not left *has the turn* of its receiver, on its lane. Another one to it that comes to the head of the lane's
//! queue waits behind, out of the queue, until it is its turn. So a message of one packet, which never has to wait for its own next packet, costs nothing
//! here.
//!
//! Invariants: at most one message of a host, lane and receiver has the turn; those that wait behind it were posted after it, in order.

use netloom_model::HostId;

use super::hosts::Hosts;
use crate::packet::pool::List;

impl<T: Copy> Hosts<T> {
    /// Whether some message of a host has a turn.
    #[inline(always)]
    pub fn has_turns(&self, host: HostId) -> bool {
        self.taken > 0 && !self.turns[host.index()].is_empty()
    }

    /// A message that has begun will go on: the turn of its receiver is its own.
    pub fn take_turn(&mut self, host: HostId, lane: u8, message: u32) {
        let outgoing = self.outgoing_mut(message);
        if !std::mem::replace(&mut outgoing.has_turn, true) {
            let key = (lane, outgoing.address);
            let before = self.turns[host.index()].insert(key, List::EMPTY);
            debug_assert!(before.is_none(), "a receiver has one turn");
            self.taken += 1;
        }
    }

    /// Whether a message must wait for another to the same receiver.
    pub fn is_out_of_turn(&self, host: HostId, lane: u8, message: u32) -> bool {
        let outgoing = self.outgoing(message);
        !outgoing.has_turn && self.turns[host.index()].contains_key(&(lane, outgoing.address))
    }

    /// Lets a message that is in no queue wait for the one that has its receiver's turn.
    pub fn wait_for_turn(&mut self, host: HostId, lane: u8, message: u32) {
        let key = (lane, self.outgoing(message).address);
        let mut list = self.turns[host.index()][&key];
        self.enqueue(&mut list, message);
        self.turns[host.index()].insert(key, list);
    }

    /// A message has left as a whole; the one that has the turn now, if it had it and another waits.
    pub fn pass_turn(&mut self, host: HostId, lane: u8, message: u32) -> Option<u32> {
        let outgoing = self.outgoing(message);
        if !outgoing.has_turn {
            return None;
        }
        let key = (lane, outgoing.address);
        let mut list = self.turns[host.index()].remove(&key)?;
        self.taken -= 1;
        let next = (!list.is_empty()).then_some(list.head)?;
        self.dequeue(&mut list);
        self.outgoing_mut(next).has_turn = true;
        self.turns[host.index()].insert(key, if list.is_empty() { List::EMPTY } else { list });
        self.taken += 1;
        Some(next)
    }

    /// The messages of a lane that wait for another to leave.
    pub fn behind(&self, host: HostId, lane: u8) -> impl Iterator<Item = List> {
        self.turns[host.index()].iter().filter(move |((of, _), _)| *of == lane).map(|(_, &list)| list)
    }
}
