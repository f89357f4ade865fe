//! A run of a parallel program as traffic needs it: what every rank sends, and where all wait for all.
//!
//! Invariants: an event belongs to one rank, and the events of a rank are in the order in which it met them;
//! destinations are ranks. Between ranks nothing is ordered but by [`Event::Synchronise`]: everybody passes
//! the n-th one together.

/// What a rank did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// It sent a message.
    Send {
        /// The receiving rank.
        to: u32,
        /// Its size; not negative.
        bytes: f64,
    },
    /// It waited for all others, as in a barrier or an allreduce.
    Synchronise,
}

/// The events of every rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    offsets: Vec<usize>,
    events: Vec<Event>,
}

impl Trace {
    /// Groups `(rank, event)` by rank; events of equal rank keep their order.
    ///
    /// # Panics
    /// If a rank or a destination is not below `ranks`.
    pub fn from_events(ranks: u32, list: &[(u32, Event)]) -> Self {
        let mut offsets = vec![0usize; ranks as usize + 1];
        for &(rank, event) in list {
            assert!(rank < ranks, "rank {rank} of {ranks}");
            assert!(!matches!(event, Event::Send { to, .. } if to >= ranks), "{event:?} of {ranks} ranks");
            offsets[rank as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            offsets[rank + 1] += offsets[rank];
        }
        let mut next = offsets.clone();
        let mut events = vec![Event::Synchronise; list.len()];
        for &(rank, event) in list {
            events[next[rank as usize]] = event;
            next[rank as usize] += 1;
        }
        Self { offsets, events }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// What a rank did, in order.
    pub fn events(&self, rank: u32) -> &[Event] {
        &self.events[self.offsets[rank as usize]..self.offsets[rank as usize + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_grouped_by_rank_in_order() {
        let send = |to, bytes| Event::Send { to, bytes };
        let list = [(1, send(0, 1.0)), (0, Event::Synchronise), (1, Event::Synchronise), (0, send(1, 2.0))];
        let trace = Trace::from_events(3, &list);
        assert_eq!(trace.ranks(), 3);
        assert_eq!(trace.events(0), [Event::Synchronise, send(1, 2.0)]);
        assert_eq!(trace.events(1), [send(0, 1.0), Event::Synchronise]);
        assert_eq!(trace.events(2), []);
    }
}
