//! What every rank of a recorded run called, in order, with the members of its communicators.
//!
//! Where a [`Workload`](crate::Workload) is a program to be played, this is the record: functions of MPI, times,
//! communicators by world rank. What a source does not say is told as such, never as 0.
//!
//! Invariants (whoever builds one checks them): functions, communicators and world ranks that events name exist;
//! communicator 0 has all ranks in order; members of a communicator differ; [`RankEvents::completes`] and
//! [`RankEvents::counts`] are in order of the event that they are of, and a request begins before it is complete.

/// A peer that there is none.
pub const NO_PEER: i32 = -1;
/// The peer of a receive whose sender was never told.
pub const ANY_PEER: i32 = -2;
/// A time or a tag that is not known.
pub const UNKNOWN: i64 = -1;

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What: [`Events::functions`].
    pub function: u16,
    /// The thread, from 0.
    pub thread: u16,
    /// A request began, which the event's place names.
    pub request: bool,
    /// That request came to nothing.
    pub cancelled: bool,
    /// The other rank of the world, or the root; [`NO_PEER`], [`ANY_PEER`].
    pub peer: i32,
    /// The tag; -1: none, or never told.
    pub tag: i32,
    /// Whose ranks take part: [`Events::communicators`].
    pub communicator: u32,
    /// What this rank hands over; 0 of receives.
    pub bytes: u64,
    /// When the call began, ns; [`UNKNOWN`].
    pub start_ns: i64,
    /// When it was over, ns; [`UNKNOWN`].
    pub end_ns: i64,
}

/// What one rank called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankEvents {
    /// In order.
    pub events: Vec<Event>,
    /// Which event completes the request of which.
    pub completes: Vec<(u32, u32)>,
    /// Of which event, to (for) which member of its communicator, bytes.
    pub counts: Vec<(u32, u32, u64)>,
}

/// A recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Functions of MPI, without `MPI_`.
    pub functions: Vec<String>,
    /// Members of each communicator as world ranks, in its order.
    pub communicators: Vec<Vec<u32>>,
    /// By rank.
    pub ranks: Vec<RankEvents>,
    /// What recorded it, with its version.
    pub tool: String,
    /// The program, where that is known.
    pub program: Option<String>,
    /// Host of each rank, where that is known.
    pub hosts: Vec<Option<String>>,
    /// What the source has and this has not: what, and how many calls.
    pub lacks: Vec<(String, u64)>,
}

impl Events {
    /// The number of a function, which is added if it is new.
    pub fn function(&mut self, name: &str) -> u16 {
        let known = self.functions.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.functions.push(name.to_owned());
            self.functions.len() - 1
        }) as u16
    }

    /// Counts what is not here.
    pub fn lack(&mut self, what: &str, calls: u64) {
        match self.lacks.iter_mut().find(|(known, _)| known == what) {
            _ if calls == 0 => {}
            Some((_, number)) => *number += calls,
            None => self.lacks.push((what.to_owned(), calls)),
        }
    }
}

/// What a function is a form of: `Alltoallv` of `Ialltoallv_init`.
pub fn base_of(name: &str) -> String {
    let base = name.strip_suffix("_c").unwrap_or(name);
    let base = base.strip_suffix("_init").unwrap_or(base);
    match base.strip_prefix('I') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => {
            rest[..1].to_ascii_uppercase() + &rest[1..]
        }
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_a_function_is_told_by_its_base() {
        for (name, base) in
            [("Isend", "Send"), ("Ialltoallv_init_c", "Alltoallv"), ("Issend", "Ssend"), ("I", "I")]
        {
            assert_eq!(base_of(name), base, "{name}");
        }
    }

    #[test]
    fn functions_are_numbered_once_and_what_lacks_is_added_up() {
        let mut events = Events::default();
        assert_eq!([events.function("Send"), events.function("Recv"), events.function("Send")], [0, 1, 0]);
        events.lack("puts", 0);
        events.lack("puts", 2);
        events.lack("puts", 3);
        assert_eq!(events.lacks, [("puts".to_owned(), 5)]);
    }
}
