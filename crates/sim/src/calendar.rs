//! Events in order of time: a ring of buckets, each sorted when its turn comes.
//!
//! Invariants: events leave in order of `(time, key, data)`, which no order of insertion can change; nothing is
//! inserted before the time of the event that left last; `data` has 26 bits, `key` 30. Within a bucket an event is one number, so that
//! sorting is cheap. Nearly all delays are shorter than the ring's horizon, so an event costs a list insertion and its share of a short
//! sort; the rest waits in a heap. Buckets are as wide as makes them hold a handful of events.
//!
//! Source: R. Brown, *Calendar queues*, CACM 31(10), 1988, with buckets of fixed width.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Buckets of the ring.
const BUCKETS: usize = 1 << 15;
/// Bits of an event's time within its bucket: buckets are at most 256 ps wide.
const TIME: u32 = 8;
/// Bits of an event's key.
const KEY: u32 = 64 - TIME - DATA;
/// Bits of an event's data.
const DATA: u32 = 26;
/// Events that a bucket should hold on a busy network.
const HANDFUL: f64 = 24.0;
/// So many events in a bucket are sorted by digit.
const MANY: usize = 128;
/// What comes with two events is beside each other in memory if their numbers differ by no more.
const BESIDE: u32 = 8;
/// The largest `data` of an event.
pub(crate) const MOST_DATA: u32 = (1 << DATA) - 1;
/// The largest `key` of an event.
pub(crate) const MOST_KEY: u32 = (1 << KEY) - 1;

/// "Never".
pub(crate) const NEVER: u64 = u64::MAX;
/// Simulated time ends here, ps: 281 s. Times before it have 48 bits, not all of them ones.
pub(crate) const END_PS: u64 = (1 << 48) - 1;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// To what; events of equal time happen in this order.
    pub key: u32,
    /// What comes with it.
    pub data: u32,
}

impl Event {
    /// The event within its bucket.
    #[inline]
    fn packed(self, shift: u32) -> u64 {
        debug_assert!(self.data <= MOST_DATA && self.key <= MOST_KEY, "checked where they are made");
        let within = self.time_ps & ((1 << shift) - 1);
        within << (64 - TIME) | u64::from(self.key) << DATA | u64::from(self.data)
    }

    /// The event that `packed` is in bucket `bucket`.
    #[inline]
    fn unpacked(bucket: u64, packed: u64, shift: u32) -> Self {
        Self {
            time_ps: bucket << shift | packed >> (64 - TIME),
            key: (packed >> DATA) as u32 & MOST_KEY,
            data: packed as u32 & MOST_DATA,
        }
    }

    /// One number to compare by.
    #[inline]
    fn order(&self) -> u128 {
        u128::from(self.time_ps) << 64 | u128::from(self.key) << 32 | u128::from(self.data)
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

/// Events that come soon: in the present bucket, and the next bucket if it is one of these.
pub(crate) struct Soon {
    here: Range<usize>,
    next: Option<usize>,
}

/// The events to come.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// A bucket holds `2^shift` ps.
    shift: u32,
    /// Events of every bucket of the ring, in no order.
    buckets: Box<[Vec<u64>; BUCKETS]>,
    /// Empty vectors for buckets to come, so that memory follows what is under way.
    spare: Vec<Vec<u64>>,
    /// A bit a bucket: it holds something.
    occupied: Box<[u64; BUCKETS / 64]>,
    /// The bucket, counted from time 0, whose events are in `now`.
    turn: u64,
    /// Events of the present bucket, in order; the first so many have left.
    now: Vec<u64>,
    left: usize,
    /// When so many of them have left, it is time to look ahead.
    look: usize,
    /// What comes with them is all over the memory.
    scattered: bool,
    /// What sorting leaves for the next time.
    scratch: Vec<u64>,
    /// Beyond the ring.
    far: BinaryHeap<Reverse<Event>>,
}

impl Calendar {
    /// Nothing to come, at time 0.
    pub fn new() -> Self {
        Self::for_events(90.0)
    }

    /// Nothing to come, at time 0; made for so many events a nanosecond.
    pub fn for_events(events_per_ns: f64) -> Self {
        let shift = (HANDFUL * 1000.0 / events_per_ns).log2().clamp(5.0, f64::from(TIME)) as u32;
        Self {
            shift,
            buckets: Box::new([const { Vec::new() }; BUCKETS]),
            spare: Vec::new(),
            occupied: Box::new([0; BUCKETS / 64]),
            turn: 0,
            now: Vec::new(),
            left: 0,
            look: usize::MAX,
            scattered: false,
            scratch: Vec::new(),
            far: BinaryHeap::new(),
        }
    }

    /// Nothing to come, at time 0; made for as many events as another.
    pub fn like(other: &Self) -> Self {
        let shift = other.shift;
        Self { shift, ..Self::new() }
    }

    /// How far the ring reaches; what comes later costs more.
    pub fn horizon_ps(&self) -> u64 {
        (BUCKETS as u64) << self.shift
    }

    /// All events to come, in no order.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        let now = self.now[self.left..].iter().map(|&packed| (self.turn, packed));
        let turn = self.turn as usize % BUCKETS;
        let near = (1..BUCKETS).flat_map(move |ahead| {
            let events = &self.buckets[(turn + ahead) % BUCKETS];
            events.iter().map(move |&packed| (self.turn + ahead as u64, packed))
        });
        let near = now.chain(near).map(|(bucket, packed)| Event::unpacked(bucket, packed, self.shift));
        near.chain(self.far.iter().map(|&Reverse(event)| event))
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.left == self.now.len() && self.far.is_empty() && self.occupied.iter().all(|&word| word == 0)
    }

    /// Adds an event, not earlier than the one that left last.
    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        let bucket = event.time_ps >> self.shift;
        debug_assert!(bucket >= self.turn, "an event lies in the past");
        if bucket.wrapping_sub(self.turn + 1) < BUCKETS as u64 - 1 {
            self.put(bucket, event);
        } else {
            self.push_elsewhere(bucket, event);
        }
    }

    /// Adds an event to the present bucket, or beyond the ring.
    #[inline(never)]
    fn push_elsewhere(&mut self, bucket: u64, event: Event) {
        if bucket == self.turn {
            let packed = event.packed(self.shift);
            let at = self.left + self.now[self.left..].partition_point(|&e| e < packed);
            if at == self.left && at > 0 {
                self.left -= 1; // what happens next takes the place of what happened last
                self.now[self.left] = packed;
            } else {
                self.now.insert(at, packed);
            }
        } else {
            self.far.push(Reverse(event));
        }
    }

    /// When the next event happens; `u64::MAX` if none is to come.
    pub fn next_ps(&self) -> u64 {
        let at = |bucket: u64, packed: u64| Event::unpacked(bucket, packed, self.shift).time_ps;
        if let Some(&packed) = self.now.get(self.left) {
            return at(self.turn, packed);
        }
        let near = self.next_occupied().and_then(|bucket| {
            self.buckets[bucket as usize % BUCKETS].iter().map(|&packed| at(bucket, packed)).min()
        });
        let far = self.far.peek().map(|Reverse(event)| event.time_ps);
        near.into_iter().chain(far).min().unwrap_or(u64::MAX)
    }

    /// Takes the next event if it happens before `end_ps`.
    #[inline]
    pub fn pop_before(&mut self, end_ps: u64) -> Option<Event> {
        loop {
            if let Some(&packed) = self.now.get(self.left) {
                let event = Event::unpacked(self.turn, packed, self.shift);
                if event.time_ps >= end_ps {
                    return None;
                }
                self.left += 1;
                return Some(event);
            }
            if !self.turn_to_next(end_ps) {
                return None;
            }
        }
    }

    /// Whether it is time to look at events that come soon, [`Calendar::soon`].
    #[inline(always)]
    pub fn is_time_to_look(&self) -> bool {
        self.left >= self.look
    }

    /// Which events to look at now: all of the next bucket, if they are no more than two steps; of the present bucket, if it has more and
    /// `here` or what comes with them is scattered, those from one step to two ahead.
    pub fn look_ahead(&mut self, step: usize, here: bool) -> Soon {
        let is_first = std::mem::replace(&mut self.look, usize::MAX) == 1;
        let end = self.now.len();
        if is_first {
            self.scattered = end > 2 * step && are_scattered(&self.now[..2 * step]);
        }
        // What is nearer was seen the last time; all of a short bucket, when it was the next.
        let seen = if is_first { self.left } else { (self.left + step).min(end) };
        if (here || self.scattered) && end - self.left > 2 * step {
            self.look = self.left + step;
            return Soon { here: seen..self.left + 2 * step, next: None };
        }
        let next = self.next_occupied().map(|bucket| bucket as usize % BUCKETS);
        Soon {
            here: if is_first { end..end } else { seen..end },
            next: next.filter(|&at| self.buckets[at].len() <= 2 * step),
        }
    }

    /// Key and data of events to look at.
    pub fn soon(&self, soon: Soon) -> impl Iterator<Item = (u32, u32)> {
        let next = soon.next.map_or(&[][..], |at| &self.buckets[at]);
        let events = self.now[soon.here].iter().chain(next);
        events.map(|&packed| ((packed >> DATA) as u32 & MOST_KEY, packed as u32 & MOST_DATA))
    }

    #[inline(always)]
    fn put(&mut self, bucket: u64, event: Event) {
        let at = bucket as usize % BUCKETS;
        self.occupied[at / 64] |= 1 << (at % 64);
        let events = &mut self.buckets[at];
        if events.len() == events.capacity() {
            make_room(events, &mut self.spare);
        }
        events.push(event.packed(self.shift));
    }

    /// Goes to the next bucket with events, unless it begins at `end_ps` or later.
    fn turn_to_next(&mut self, end_ps: u64) -> bool {
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse(event)| event.time_ps >> self.shift);
        let Some(bucket) = near.into_iter().chain(far).min() else { return false };
        if bucket << self.shift >= end_ps {
            return false;
        }
        self.turn = bucket;
        let at = bucket as usize % BUCKETS;
        let mut done = std::mem::replace(&mut self.now, std::mem::take(&mut self.buckets[at]));
        self.left = 0;
        self.look = 1;
        if done.capacity() > 0 {
            done.clear();
            self.spare.push(done);
        }
        self.occupied[at / 64] &= !(1 << (at % 64));
        while let Some(Reverse(event)) = self.far.peek() {
            let bucket = event.time_ps >> self.shift;
            if bucket - self.turn >= BUCKETS as u64 {
                break;
            }
            let Reverse(event) = self.far.pop().expect("it was just seen");
            if bucket == self.turn {
                self.now.push(event.packed(self.shift));
            } else {
                self.put(bucket, event);
            }
        }
        sort(&mut self.now, &mut self.scratch);
        true
    }

    /// The next occupied bucket of the ring after the present one, counted from time 0.
    fn next_occupied(&self) -> Option<u64> {
        let words = self.occupied.len();
        let start = (self.turn as usize + 1) % BUCKETS;
        let (first, bit) = (start / 64, start % 64);
        for step in 0..=words {
            let word = (first + step) % words;
            let mask = match step {
                0 => u64::MAX << bit,
                s if s == words => !(u64::MAX << bit),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & mask;
            if bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (at + BUCKETS - self.turn as usize % BUCKETS) % BUCKETS;
                return Some(self.turn + ahead as u64);
            }
        }
        None
    }
}

/// Whether most events of a row come with something far from what the one before comes with.
fn are_scattered(events: &[u64]) -> bool {
    let data = |packed: u64| packed as u32 & MOST_DATA;
    let far = events.windows(2).filter(|two| data(two[0]).abs_diff(data(two[1])) > BESIDE).count();
    far > events.len() / 2
}

/// A bucket's first room is that of one that is done.
#[inline(never)]
fn make_room(events: &mut Vec<u64>, spare: &mut Vec<Vec<u64>>) {
    if events.capacity() == 0
        && let Some(done) = spare.pop()
    {
        *events = done;
    } else {
        events.reserve(1);
    }
}

/// Sorts a bucket. Hosts in step fill a bucket with thousands of events; of what they differ in by time and key there are few
/// digits, so sorting by digit beats comparing.
fn sort(events: &mut Vec<u64>, scratch: &mut Vec<u64>) {
    if events.len() < MANY {
        return events.sort_unstable();
    }
    let differ = events.iter().fold(0, |differ, &event| differ | (event ^ events[0]));
    for low in (DATA..64).step_by(8).filter(|low| differ >> low & 0xff != 0) {
        let digit = |event: u64| (event >> low & 0xff) as usize;
        let mut place = [0; 256];
        events.iter().for_each(|&event| place[digit(event)] += 1);
        let mut sum = 0;
        place.iter_mut().for_each(|count| sum += std::mem::replace(count, sum));
        scratch.resize(events.len(), 0);
        for &event in &*events {
            let to = &mut place[digit(event)];
            scratch[*to] = event;
            *to += 1;
        }
        std::mem::swap(events, scratch);
    }
    // Those of one time and key are still in order of coming.
    if !events.is_sorted() {
        events.sort();
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{below, stream};

    use super::*;

    fn event(time_ps: u64, key: u32) -> Event {
        Event { time_ps, key, data: 0 }
    }

    #[test]
    fn events_leave_in_order_of_time_then_key() {
        let mut calendar = Calendar::new();
        for e in [event(70, 1), event(5, 9), event(5, 2), event(10_000_000, 0), event(70, 0)] {
            calendar.push(e);
        }
        let order: Vec<_> =
            std::iter::from_fn(|| calendar.pop_before(u64::MAX)).map(|e| (e.time_ps, e.key)).collect();
        assert_eq!(order, [(5, 2), (5, 9), (70, 0), (70, 1), (10_000_000, 0)]);
    }

    #[test]
    fn nothing_at_or_after_the_end_leaves() {
        let mut calendar = Calendar::new();
        calendar.push(event(64, 0));
        assert_eq!(calendar.pop_before(64), None);
        assert_eq!(calendar.pop_before(65), Some(event(64, 0)));
        assert_eq!(calendar.pop_before(u64::MAX), None);
    }

    #[test]
    fn many_events_are_sorted_by_time_then_key_then_data() {
        let mut random = stream(2, 0);
        for size in [MANY - 1, MANY, 5_000] {
            // Few keys, so that some events differ in their data only.
            let mut events: Vec<u64> = (0..size)
                .map(|_| {
                    below(&mut random, 64) << 56
                        | below(&mut random, 99) << DATA
                        | below(&mut random, 1 << 20)
                })
                .collect();
            let mut sorted = events.clone();
            sorted.sort_unstable();
            sort(&mut events, &mut vec![7; 3]);
            assert_eq!(events, sorted);
        }
    }

    #[test]
    fn it_agrees_with_a_heap_on_random_delays() {
        let mut random = stream(1, 0);
        let mut calendar = Calendar::new();
        let mut heap = BinaryHeap::new();
        let mut now = 0;
        for round in 0..20_000u32 {
            // Mostly short delays, some beyond the ring, some zero.
            let reach = [0, 100, 400_000, 1_100_000, 9_000_000][below(&mut random, 5) as usize];
            let e = event(now + below(&mut random, reach + 1), round % 7);
            let e = Event { data: round, ..e };
            calendar.push(e);
            heap.push(Reverse(e));
            if below(&mut random, 3) > 0 {
                let taken = calendar.pop_before(u64::MAX).unwrap();
                assert_eq!(Some(Reverse(taken)), heap.pop());
                now = taken.time_ps;
            }
        }
        let rest = std::iter::from_fn(|| calendar.pop_before(u64::MAX)).count();
        assert_eq!(rest, heap.len());
    }
    /// The first of a long bucket at its turn, then a step at a time; a short one while the one before it is dealt with.
    #[test]
    fn every_event_is_looked_at_once_and_before_its_turn() {
        let mut calendar = Calendar::new();
        let sizes = [3, 100, 7, 300, 20];
        for (bucket, size) in sizes.into_iter().enumerate() {
            (0..size).for_each(|key| calendar.push(event(300 * bucket as u64 + 300, key)));
        }
        let (mut seen, mut left) = (Vec::new(), 0);
        while calendar.pop_before(u64::MAX).is_some() {
            left += 1;
            if calendar.is_time_to_look() {
                let soon = calendar.look_ahead(8, true);
                seen.extend(calendar.soon(soon).map(|(key, _)| key));
                assert!(seen.len() + 5 >= left, "{} of {left}", seen.len());
            }
        }
        // Of the first bucket nobody could know, and of long ones the first is being dealt with when it is their turn.
        let all: Vec<u32> = sizes.into_iter().skip(1).flat_map(|size| u32::from(size > 16)..size).collect();
        assert_eq!(seen, all);
    }
}
