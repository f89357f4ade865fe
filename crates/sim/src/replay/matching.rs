//! Receives and messages of a rank find each other, by sender and tag, first come, first served.
//!
//! Invariant: of a sender and tag, either receives wait or messages, never both; they are counted in one place; a table's counts are not 0,
//! its queues not empty.

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

/// Senders and tags of open receives that have their place in a row.
const FEW: usize = 8;

/// Open receives of a sender and tag; a free place if there are none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Open {
    from: u32,
    tag: u32,
    count: u32,
}

/// A rank's open receives and early messages, by sender and tag. Most ranks have few partners, whose receives are next to each other in
/// memory; only what finds no place there is in a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(super) struct Matching<M> {
    few: [Open; FEW],
    many: Table<(u32, u32), u32>,
    early: Table<(u32, u32), VecDeque<M>>,
}

impl<M> Matching<M> {
    pub fn new() -> Self {
        Self { few: [Open::default(); FEW], many: Table::default(), early: Table::default() }
    }

    /// A receive is posted; returns the message that was there before it.
    pub fn receive(&mut self, from: u32, tag: u32) -> Option<M> {
        let Some(early) = self.early.get_mut(&(from, tag)) else {
            self.open(from, tag);
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
        if let Some(open) = self.few.iter_mut().find(|open| open.is_of(from, tag)) {
            open.count -= 1;
            return Some(message);
        }
        let Some(count) = self.many.get_mut(&(from, tag)) else {
            self.early.entry((from, tag)).or_default().push_back(message);
            return None;
        };
        *count -= 1;
        if *count == 0 {
            self.many.remove(&(from, tag));
        }
        Some(message)
    }

    /// A receive waits.
    fn open(&mut self, from: u32, tag: u32) {
        if let Some(open) = self.few.iter_mut().find(|open| open.is_of(from, tag)) {
            open.count += 1;
        } else if let Some(count) = self.many.get_mut(&(from, tag)) {
            *count += 1;
        } else if let Some(free) = self.few.iter_mut().find(|open| open.count == 0) {
            *free = Open { from, tag, count: 1 };
        } else {
            self.many.insert((from, tag), 1);
        }
    }

    /// Reads what [`Matching::message`] will.
    #[inline]
    pub fn foresee(&self) -> u64 {
        u64::from(self.few[0].count ^ self.few[FEW - 1].count)
    }

    /// Messages that wait, in no order.
    pub fn messages(&self) -> impl Iterator<Item = &M> {
        self.early.values().flatten()
    }

    /// The same by sender and tag, in order.
    pub fn early_mut(&mut self) -> Vec<((u32, u32), &mut VecDeque<M>)> {
        let mut all: Vec<_> = self.early.iter_mut().map(|(&key, messages)| (key, messages)).collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all
    }

    /// Receives that wait, by sender and tag, in order, with their number.
    pub fn open_receives(&self) -> Vec<((u32, u32), u32)> {
        let few =
            self.few.iter().filter(|open| open.count > 0).map(|open| ((open.from, open.tag), open.count));
        let mut all: Vec<_> = few.chain(self.many.iter().map(|(&key, &count)| (key, count))).collect();
        all.sort_unstable();
        all
    }
}

impl Open {
    /// Whether a receive of this sender and tag is open.
    #[inline]
    fn is_of(&self, from: u32, tag: u32) -> bool {
        (self.from, self.tag) == (from, tag) && self.count > 0
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
    /// Some in the row, others in the table, and places in the row that become free.
    #[test]
    fn receives_of_any_number_of_senders_are_counted() {
        let mut matching = Matching::new();
        let senders = 3 * FEW as u32;
        for from in (0..senders).chain(0..senders) {
            assert_eq!(matching.receive(from, 1), None);
        }
        for from in (0..senders).step_by(2) {
            assert_eq!(matching.message(from, 1, 'x'), Some('x'));
            assert_eq!(matching.message(from, 1, 'y'), Some('y'));
            assert_eq!(matching.message(from, 1, 'z'), None);
            assert_eq!(matching.receive(from, 1), Some('z'));
        }
        assert_eq!(matching.receive(1, 1), None);
        assert_eq!(matching.receive(senders, 1), None);
        let mut expected: Vec<_> =
            (0..senders).filter(|from| from % 2 == 1).map(|from| ((from, 1), 2)).collect();
        (expected[0].1, _) = (3, expected.push(((senders, 1), 1)));
        assert_eq!(matching.open_receives(), expected);
    }
}
