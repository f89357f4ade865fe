//! Programs and schedules as records of calls, so that whatever shows and converts records takes these too.
//!
//! Computation is the only thing that takes time: an operation is a nanosecond, as in traces that were made of records.
//! Requests have the names of their messages: of equal ones the oldest is waited for. What a record cannot say is told:
//! a wait for any one request, and tasks of a rank that go on side by side.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

use netloom_model::events::NO_PEER;
use netloom_model::{Action, CollectiveKind as Kind, Event, Events, RankEvents, Schedule, Task, Workload};

/// A run without communicators: all ranks, and what wrote it.
fn new(ranks: u32, tool: &str) -> Events {
    Events {
        communicators: vec![(0..ranks).collect()],
        hosts: vec![None; ranks as usize],
        tool: tool.into(),
        ..Events::default()
    }
}

/// One rank as it is written down.
struct Writer<'a> {
    all: &'a mut Events,
    own: RankEvents,
    /// Computation so far, ns.
    now: f64,
}

impl Writer<'_> {
    fn push(&mut self, name: &str, peer: i32, (tag, bytes, request): (i32, u64, bool)) -> u32 {
        let at = self.now.min(9e18).round() as i64;
        let place = self.own.events.len() as u32;
        let function = self.all.function(name);
        self.own.events.push(Event {
            function,
            thread: 0,
            request,
            cancelled: false,
            peer,
            tag,
            communicator: 0,
            bytes,
            start_ns: at,
            end_ns: at,
        });
        place
    }

    fn wait(&mut self, begun: impl IntoIterator<Item = u32>) {
        let mut begun: Vec<u32> = begun.into_iter().collect();
        if !begun.is_empty() {
            begun.sort_unstable();
            let name = if begun.len() == 1 { "Wait" } else { "Waitall" };
            let place = self.push(name, NO_PEER, (-1, 0, false));
            self.own.completes.extend(begun.into_iter().map(|one| (place, one)));
        }
    }
}

impl Writer<'_> {
    /// What was written; computation at the end stands before a wait for nothing.
    fn end(mut self) -> RankEvents {
        let last = self.own.events.last().map_or(0, |event| event.end_ns);
        if self.now.min(9e18).round() as i64 > last {
            self.push("Waitall", NO_PEER, (-1, 0, false));
        }
        self.own
    }
}

/// A program as a record.
pub fn of_workload(run: &Workload, tool: &str) -> Events {
    let mut all = new(run.ranks(), tool);
    for rank in 0..run.ranks() {
        let mut writer = Writer { all: &mut all, own: RankEvents::default(), now: 0.0 };
        let mut open: HashMap<(u32, u32, bool), VecDeque<u32>> = HashMap::new();
        for action in run.actions(rank) {
            match *action {
                Action::Compute { flops } => writer.now += flops,
                Action::Sleep { ps } => writer.now += ps as f64 / 1000.0,
                Action::Send { to, bytes, tag } => {
                    writer.push("Send", to as i32, (tag as i32, bytes, false));
                }
                Action::Recv { from, tag } => {
                    writer.push("Recv", from as i32, (tag as i32, 0, false));
                }
                Action::Isend { to, bytes, tag } => {
                    let place = writer.push("Isend", to as i32, (tag as i32, bytes, true));
                    open.entry((to, tag, true)).or_default().push_back(place);
                }
                Action::Irecv { from, tag } => {
                    let place = writer.push("Irecv", from as i32, (tag as i32, 0, true));
                    open.entry((from, tag, false)).or_default().push_back(place);
                }
                Action::Wait { peer, tag, sends } => {
                    let begun = open.get_mut(&(peer, tag, sends)).and_then(VecDeque::pop_front);
                    writer.wait(begun);
                }
                Action::WaitAll => {
                    writer.wait(std::mem::take(&mut open).into_values().flatten());
                }
                Action::WaitAny => writer.all.lack("waits for any one request", 1),
                Action::Together { number, shares } => together(&mut writer, run, rank, (number, shares)),
            }
        }
        writer.wait(open.into_values().flatten());
        let own = writer.end();
        all.ranks.push(own);
    }
    all
}

fn together(writer: &mut Writer, run: &Workload, rank: u32, (number, row): (u32, Option<u32>)) {
    let call = run.together(number);
    let (n, is_root) = (u64::from(run.ranks()), call.root == rank);
    let root = call.root as i32;
    let (name, peer, bytes) = match (call.kind, call.uneven) {
        (Kind::Barrier, _) => ("Barrier", NO_PEER, 0),
        (Kind::Broadcast, _) => ("Bcast", root, call.bytes),
        (Kind::Reduce, _) => ("Reduce", root, call.bytes),
        (Kind::Allreduce, _) => ("Allreduce", NO_PEER, call.bytes),
        (Kind::Scan, _) => ("Scan", NO_PEER, call.bytes),
        (Kind::Exscan, _) => ("Exscan", NO_PEER, call.bytes),
        (Kind::Gather, false) => ("Gather", root, call.bytes),
        (Kind::Allgather, false) => ("Allgather", NO_PEER, call.bytes),
        (Kind::Alltoall, false) => ("Alltoall", NO_PEER, call.bytes.saturating_mul(n)),
        (Kind::Scatter, false) => ("Scatter", root, if is_root { call.bytes.saturating_mul(n) } else { 0 }),
        (Kind::ReduceScatter, false) => ("Reduce_scatter_block", NO_PEER, call.bytes.saturating_mul(n)),
        (Kind::Gather, true) => ("Gatherv", root, 0),
        (Kind::Allgather, true) => ("Allgatherv", NO_PEER, 0),
        (Kind::Alltoall, true) => ("Alltoallv", NO_PEER, 0),
        (Kind::Scatter, true) => ("Scatterv", root, 0),
        (Kind::ReduceScatter, true) => ("Reduce_scatter", NO_PEER, 0),
    };
    let place = writer.push(name, peer, (-1, bytes, false));
    let Some(row) = row.map(|row| run.shares(row)) else { return };
    let event = writer.own.events.last_mut().expect("it was pushed");
    match call.kind {
        Kind::Gather | Kind::Allgather => event.bytes = row[rank as usize],
        Kind::Scatter if !is_root => {}
        _ => {
            event.bytes = row.iter().sum();
            writer.own.counts.extend((0..).zip(row).map(|(member, &bytes)| (place, member, bytes)));
        }
    }
}

/// Tags that a record cannot have, from 2^31 on, and those that stand for them: the highest that no message has.
fn high_tags(schedule: &Schedule) -> HashMap<u32, i32> {
    let all = (0..schedule.ranks()).flat_map(|rank| schedule.tasks(rank));
    let tags = all.filter_map(|task| match *task {
        Task::Send { tag, .. } | Task::Recv { tag, .. } => Some(tag),
        Task::Calc { .. } => None,
    });
    let tags: BTreeSet<u32> = tags.collect();
    let high = tags.iter().rev().take_while(|&&tag| tag > i32::MAX as u32);
    let free = (0..=i32::MAX).rev().filter(|&tag| !tags.contains(&(tag as u32)));
    high.copied().zip(free).collect()
}

/// A schedule as a record: a rank's tasks one after another, each behind those that it requires.
pub fn of_schedule(schedule: &Schedule, tool: &str) -> Events {
    let mut all = new(schedule.ranks(), tool);
    let high = high_tags(schedule);
    let tag_of = |tag: u32| high.get(&tag).copied().unwrap_or(tag as i32);
    for rank in 0..schedule.ranks() {
        let tasks = schedule.tasks(rank);
        let beside = schedule.processors(rank).iter().filter(|&&processor| processor > 0).count() as u64;
        all.lack("tasks on processors of their own, which are taken one after another", beside);
        let mut requires: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
        for task in 0..tasks.len() as u32 {
            for &(follower, started) in schedule.followers(rank, task) {
                if !started {
                    requires[follower as usize].push(task);
                }
            }
        }
        let mut needs = schedule.needs(rank).to_vec();
        let mut free: BinaryHeap<Reverse<u32>> =
            (0..tasks.len() as u32).filter(|&task| needs[task as usize] == 0).map(Reverse).collect();
        let mut writer = Writer { all: &mut all, own: RankEvents::default(), now: 0.0 };
        let mut open: HashMap<u32, u32> = HashMap::new();
        while let Some(Reverse(task)) = free.pop() {
            let done: Vec<u32> = requires[task as usize].iter().filter_map(|one| open.remove(one)).collect();
            writer.wait(done);
            match tasks[task as usize] {
                Task::Calc { units } => writer.now += units as f64,
                Task::Send { to, bytes, tag } => {
                    open.insert(task, writer.push("Isend", to as i32, (tag_of(tag), bytes, true)));
                }
                Task::Recv { from, tag } => {
                    open.insert(task, writer.push("Irecv", from as i32, (tag_of(tag), 0, true)));
                }
            }
            for &(follower, _) in schedule.followers(rank, task) {
                needs[follower as usize] -= 1;
                if needs[follower as usize] == 0 {
                    free.push(Reverse(follower));
                }
            }
        }
        writer.wait(open.into_values());
        let own = writer.end();
        all.ranks.push(own);
    }
    all
}

#[cfg(test)]
mod tests {
    use netloom_model::{Requirement, Together};

    use super::*;
    use crate::collective::Algorithms;
    use crate::events::program;

    /// What a program is after it was a record: the same work.
    #[test]
    fn a_program_is_the_same_after_it_was_a_record() {
        let call = |number, shares| Action::Together { number, shares };
        let together = vec![
            Together { kind: Kind::Alltoall, root: 0, bytes: 0, uneven: true },
            Together { kind: Kind::Scatter, root: 1, bytes: 8, uneven: false },
            Together { kind: Kind::Barrier, root: 0, bytes: 1, uneven: false },
        ];
        let own = |rank: u32| {
            let other = 1 - rank;
            vec![
                (rank, Action::Irecv { from: other, tag: 0 }),
                (rank, Action::Isend { to: other, bytes: 100 + u64::from(rank), tag: 0 }),
                (rank, Action::Wait { peer: other, tag: 0, sends: false }),
                (rank, Action::Wait { peer: other, tag: 0, sends: true }),
                (rank, Action::Compute { flops: 5000.0 }),
                (rank, call(0, Some(rank))),
                (rank, call(1, None)),
                (rank, call(2, None)),
                (rank, Action::WaitAll),
            ]
        };
        let list: Vec<_> = own(0).into_iter().chain(own(1)).collect();
        let run = Workload::from_actions(2, &list, &vec![0; list.len()], together, vec![0, 7, 9, 0]);
        let again = program(&of_workload(&run, "x"), Some(&Algorithms::default())).unwrap().workload;
        for rank in 0..2 {
            assert_eq!(again.actions(rank), run.actions(rank));
        }
        assert_eq!(again.collectives(), run.collectives());
        assert_eq!([again.shares(0), again.shares(1)], [[0, 7], [9, 0]]);
    }

    #[test]
    fn a_schedule_waits_for_what_a_task_requires() {
        let tasks = vec![
            (Task::Calc { units: 3000 }, 0),
            (Task::Recv { from: 1, tag: 4 }, 0),
            (Task::Send { to: 1, bytes: 8, tag: 4 }, 1),
        ];
        let requires = [
            Requirement { rank: 0, task: 2, requires: 1, started: false },
            Requirement { rank: 0, task: 1, requires: 0, started: false },
        ];
        let schedule = Schedule::new(&[tasks, Vec::new()], &requires).unwrap();
        let events = of_schedule(&schedule, "GOAL");
        let names: Vec<_> = events.ranks[0]
            .events
            .iter()
            .map(|one| (&*events.functions[usize::from(one.function)], one.start_ns))
            .collect();
        assert_eq!(names, [("Irecv", 3000), ("Wait", 3000), ("Isend", 3000), ("Wait", 3000)]);
        assert_eq!(events.ranks[0].completes, [(1, 0), (3, 2)]);
        assert_eq!(
            events.lacks,
            [("tasks on processors of their own, which are taken one after another".to_owned(), 1)]
        );
    }
}
