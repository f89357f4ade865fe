//! Receives and messages of a rank find each other, by sender and tag, first come, first served.
//!
//! Invariant: of a sender and tag, either receives wait or messages, never both.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

/// Multiplies: the keys are small numbers, and nothing is ever listed in the table's order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(u32::from(b));
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A table by small keys.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// What waits of one sender and tag: receives (without content) or messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Waiting<M> {
    Receives(u32),
    Messages(std::collections::VecDeque<M>),
}

/// A rank's open receives and early messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Matching<M> {
    waiting: Table<(u32, u32), Waiting<M>>,
}

impl<M> Matching<M> {
    pub fn new() -> Self {
        Self { waiting: Table::default() }
    }

    /// A receive is posted; returns the message that was there before it.
    pub fn receive(&mut self, from: u32, tag: u32) -> Option<M> {
        match self.waiting.entry((from, tag)).or_insert(Waiting::Receives(0)) {
            Waiting::Receives(count) => {
                *count += 1;
                None
            }
            Waiting::Messages(early) => {
                let first = early.pop_front();
                if early.is_empty() {
                    self.waiting.remove(&(from, tag));
                }
                first
            }
        }
    }

    /// A message has come; gives it back if a receive waited for it, else keeps it.
    pub fn message(&mut self, from: u32, tag: u32, message: M) -> Option<M> {
        match self.waiting.get_mut(&(from, tag)) {
            Some(Waiting::Receives(count)) => {
                *count -= 1;
                if *count == 0 {
                    self.waiting.remove(&(from, tag));
                }
                Some(message)
            }
            Some(Waiting::Messages(early)) => {
                early.push_back(message);
                None
            }
            None => {
                self.waiting.insert((from, tag), Waiting::Messages([message].into()));
                None
            }
        }
    }

    /// Messages that wait, in no order.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        let waiting = self.waiting.values().filter_map(|waiting| match waiting {
            Waiting::Messages(messages) => Some(messages),
            Waiting::Receives(_) => None,
        });
        waiting.flatten()
    }

    /// Receives that wait, by sender and tag, in order, with their number.
    pub fn open_receives(&self) -> Vec<((u32, u32), u32)> {
        let open = |(&key, waiting): (&(u32, u32), &Waiting<M>)| match waiting {
            Waiting::Receives(count) => Some((key, *count)),
            Waiting::Messages(_) => None,
        };
        let mut all: Vec<_> = self.waiting.iter().filter_map(open).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_meets_the_first_receive_of_its_sender_and_tag() {
        let mut matching = Matching::new();
        assert_eq!(matching.message(1, 7, 'a'), None);
        assert_eq!(matching.message(1, 7, 'b'), None);
        assert_eq!(matching.message(1, 8, 'c'), None);
        assert_eq!(matching.receive(1, 7), Some('a'));
        assert_eq!(matching.receive(2, 7), None);
        assert_eq!(matching.receive(1, 7), Some('b'));
        assert_eq!(matching.receive(1, 7), None);
        assert_eq!(matching.open_receives(), [((1, 7), 1), ((2, 7), 1)]);
        assert_eq!(matching.message(1, 7, 'd'), Some('d'));
        assert_eq!(matching.open_receives(), [((2, 7), 1)]);
    }
}
