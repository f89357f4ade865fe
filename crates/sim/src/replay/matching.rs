//! Receives and messages of a rank find each other, by sender and tag, first come, first served.
//!
//! Invariant: of a sender and tag, either receives wait or messages, never both; a key's count is not 0, its queue not empty.

use std::collections::{HashMap, VecDeque};
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

/// A rank's open receives and early messages, by sender and tag. Receives, which have no content, are apart from messages, so that
/// those of a rank with few partners are next to each other in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Matching<M> {
    receives: Table<(u32, u32), u32>,
    early: Table<(u32, u32), VecDeque<M>>,
}

impl<M> Matching<M> {
    pub fn new() -> Self {
        Self { receives: Table::default(), early: Table::default() }
    }

    /// A receive is posted; returns the message that was there before it.
    pub fn receive(&mut self, from: u32, tag: u32) -> Option<M> {
        let Some(early) = self.early.get_mut(&(from, tag)) else {
            *self.receives.entry((from, tag)).or_insert(0) += 1;
            return None;
        };
        let first = early.pop_front();
        if early.is_empty() {
            self.early.remove(&(from, tag));
        }
        first
    }

    /// A message has come; gives it back if a receive waited for it, else keeps it.
    pub fn message(&mut self, from: u32, tag: u32, message: M) -> Option<M> {
        let Some(count) = self.receives.get_mut(&(from, tag)) else {
            self.early.entry((from, tag)).or_default().push_back(message);
            return None;
        };
        *count -= 1;
        if *count == 0 {
            self.receives.remove(&(from, tag));
        }
        Some(message)
    }

    /// Messages that wait, in no order.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        self.early.values().flatten()
    }

    /// Receives that wait, by sender and tag, in order, with their number.
    pub fn open_receives(&self) -> Vec<((u32, u32), u32)> {
        let mut all: Vec<_> = self.receives.iter().map(|(&key, &count)| (key, count)).collect();
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
