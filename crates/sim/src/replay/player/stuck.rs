//! Who waits for ever, once nothing happens any more, and for what.
//!
//! First come the ranks to begin with: those that wait for a message that its other rank, as the rest of its program says, never
//! sends (or takes). The others wait for them, or for each other.
//!
//! Invariant: what is said depends on the jobs and on how far they are alone, in order of ranks.

use std::collections::BTreeMap;

use netloom_model::{HostId, Task};

use super::super::job::Job;
use super::super::op::Op;
use super::super::script::Script;
use super::{COLLECTIVE_TAG, Part, Player, Rank, Waits, tag_of};
use crate::stalled::Awaited;

/// Messages that a rank waits for: at most so many are named.
const MOST_NAMED: usize = 4;

/// Steps that are looked at to find out whether a message may still come; beyond, it is not known.
const MOST_LOOKS: u64 = 1 << 22;

/// A message that a rank has begun to send or to receive.
struct Open {
    peer: u32,
    tag: u32,
    sends: bool,
    /// How many of the same there are.
    count: u32,
    /// The task, where its rank's program is a graph of them.
    task: Option<u32>,
    /// Its other rank has nothing to do that would meet it.
    never: bool,
}

/// Long messages that have asked and were not answered, by sender: to whom with which tag, and how many.
type Asking = BTreeMap<u32, BTreeMap<(u32, u32), u32>>;

impl Player {
    /// Ranks that wait for ever, once nothing happens any more: what each waits for, at most `most` of them, those first that wait
    /// for what never comes; and how many more there are.
    pub fn stuck(&self, most: usize) -> Vec<String> {
        self.waiting(most, MOST_LOOKS)
    }

    /// The same where packets wait for each other for ever: what a rank waits for may be under way, so nobody is to blame.
    pub fn held_up(&self, most: usize) -> Vec<String> {
        self.waiting(most, 0)
    }

    /// Whether a message above the eager limit has asked and was not answered.
    pub fn asks_in_vain(&self) -> bool {
        !self.asking().is_empty()
    }

    /// [`Program::awaited`](crate::Program::awaited).
    pub(super) fn jobs_awaited(&self, here: &dyn Fn(HostId) -> bool) -> Vec<Awaited> {
        if !self.repeats {
            return Vec::new();
        }
        let awaited = self.jobs.iter().enumerate().filter(|(_, job)| job.until.is_none());
        let of = |(j, job): (usize, &Job)| {
            let first = self.first[j] as usize;
            let ranks = self.ranks[first..first + job.hosts.len()].iter().filter(|rank| here(rank.host));
            let (mut is_open, mut is_busy) = (false, false);
            for rank in ranks {
                is_open |= rank.waits != Waits::Ended;
                is_busy |= rank.has_plans();
            }
            Awaited { job: j, is_open, is_busy, under_way: self.under_way[j] }
        };
        awaited.map(of).collect()
    }

    fn waiting(&self, most: usize, mut looks: u64) -> Vec<String> {
        let asking = self.asking();
        let waits = |rank: &Rank| rank.waits != Waits::Ended && self.jobs[rank.job as usize].until.is_none();
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut count = 0;
        for r in (0..self.ranks.len() as u32).filter(|&r| waits(&self.ranks[r as usize])) {
            count += 1;
            let open = self.open(r, &asking, &mut looks);
            let list = if open.iter().any(|open| open.never) { &mut first } else { &mut others };
            if list.len() < most {
                list.push((r, open));
            }
        }
        let named = first.into_iter().chain(others).take(most);
        let mut lines: Vec<String> =
            named.map(|(r, open)| self.describe(&self.ranks[r as usize], &open)).collect();
        if count > most {
            lines.push(format!("and {} more", count - most));
        }
        lines
    }

    fn asking(&self) -> Asking {
        let mut asking = Asking::new();
        for envelope in self.ranks.iter().flat_map(|rank| rank.matching.messages()) {
            if envelope.part() == Part::Ask {
                let to = self.ranks[envelope.to as usize].number;
                *asking.entry(envelope.from).or_default().entry((to, envelope.tag)).or_default() += 1;
            }
        }
        asking
    }

    /// What a rank has begun and not ended, what never ends first.
    fn open(&self, r: u32, asking: &Asking, looks: &mut u64) -> Vec<Open> {
        let rank = &self.ranks[r as usize];
        let mut open: Vec<Open> = if let Some(progress) = &rank.progress {
            let tasks = progress.open().into_iter();
            let of = |((peer, tag, sends), task)| Open {
                peer,
                tag,
                sends,
                count: 1,
                task: Some(task),
                never: false,
            };
            tasks.map(of).collect()
        } else {
            let of = |sends| {
                move |((peer, tag), count)| Open { peer, tag, sends, count, task: None, never: false }
            };
            let receives = rank.matching.open_receives().into_iter().map(of(false));
            let sends = asking.get(&r).into_iter().flatten().map(|(&key, &count)| of(true)((key, count)));
            receives.chain(sends).collect()
        };
        for it in &mut open {
            let peer = &self.ranks[(self.first[rank.job as usize] + it.peer) as usize];
            it.never = !self.may_meet(peer, (rank.number, it.tag, !it.sends), looks);
        }
        open.sort_by_key(|it| !it.never);
        open
    }

    /// Whether a rank has still to send (or receive) a message `(partner, tag, is it a send)`, as far as it is looked into.
    fn may_meet(&self, rank: &Rank, key: (u32, u32, bool), looks: &mut u64) -> bool {
        if *looks == 0 || rank.waits == Waits::Ended {
            return *looks == 0;
        }
        let script = &*self.jobs[rank.job as usize].script;
        if let Some(tasks) = script.tasks() {
            let Some(progress) = &rank.progress else { return true };
            let ahead = progress.not_begun();
            let all = tasks.schedule().tasks(rank.number).iter();
            let of = |task: &Task| match *task {
                Task::Calc { .. } => None,
                Task::Send { to, tag, .. } => Some((to, tag, true)),
                Task::Recv { from, tag } => Some((from, tag, false)),
            };
            return all.zip(ahead).any(|(task, ahead)| ahead && of(task) == Some(key));
        }
        let (peer, tag, sends) = key;
        if rank.inner.is_some_and(|(collective, _)| tag_of(&collective) == tag) {
            return true;
        }
        for step in rank.step.. {
            if *looks == 0 {
                return true;
            }
            *looks -= 1;
            let meets = match script.op(rank.number, step) {
                None => return false,
                Some(Op::Isend { to, tag: its, .. } | Op::Send { to, tag: its, .. }) => {
                    sends && (to, its) == (peer, tag)
                }
                Some(Op::Irecv { from, tag: its } | Op::Recv { from, tag: its }) => {
                    !sends && (from, its) == (peer, tag)
                }
                Some(Op::Together(collective)) => tag_of(&collective) == tag,
                Some(Op::Compute { .. } | Op::Wait { .. } | Op::WaitAny | Op::WaitAll) => false,
            };
            if meets {
                return true;
            }
        }
        false
    }

    fn describe(&self, rank: &Rank, open: &[Open]) -> String {
        let job = &self.jobs[rank.job as usize];
        let place = |step: u64| job.script.place(rank.number, step);
        let waits_at = if rank.progress.is_some() { None } else { place(rank.last_step()) };
        let what = match (rank.waits, rank.inner) {
            (_, Some((collective, _))) => format!("in {}", collective.kind.name()),
            (Waits::All { .. }, _) => "in waitall".into(),
            (Waits::Any, _) => "in waitany".into(),
            (Waits::Tasks, _) => match rank.progress.as_ref().map_or(0, |progress| progress.left()) {
                1 => "with 1 task to do".into(),
                left => format!("with {left} tasks to do"),
            },
            (Waits::One { peer, tag, sends: true }, _) => format!("in send to rank {peer} tag {tag}"),
            (Waits::One { peer, tag, sends: false }, _) => format!("in receive from rank {peer} tag {tag}"),
            (Waits::Not | Waits::Processor | Waits::Adapter | Waits::Ended, _) => "nowhere".into(),
        };
        let at = waits_at.as_ref().map_or_else(String::new, |at| format!(", {at}"));
        let mut text = format!("{} rank {} (step {}{at}) {what}", job.name, rank.number, rank.step);
        for (kind, sends, never) in [("receives", false, "never sent"), ("sends", true, "never received")] {
            let of_kind: Vec<&Open> = open.iter().filter(|open| open.sends == sends).collect();
            let named = of_kind.iter().take(MOST_NAMED).map(|open| {
                let step = match open.task {
                    Some(task) => Some(task.into()),
                    None => waits_at.as_ref().and_then(|_| posted(&*job.script, rank, open)),
                };
                message(open, step.and_then(place), never)
            });
            let mut named: Vec<String> = named.collect();
            if of_kind.len() > MOST_NAMED {
                named.push(format!("and {} more", of_kind.len() - MOST_NAMED));
            }
            if !named.is_empty() {
                text += &format!("; open {kind}: {}", named.join(", "));
            }
        }
        text
    }
}

impl Rank {
    /// Whether it goes on by itself, whatever comes or does not.
    fn has_plans(&self) -> bool {
        match self.waits {
            Waits::Not | Waits::Processor => true,
            Waits::Tasks => self.progress.as_ref().is_none_or(|progress| progress.idles().is_none()),
            Waits::All { .. } | Waits::Any | Waits::One { .. } | Waits::Adapter | Waits::Ended => false,
        }
    }
}

/// A message that a rank waits for, by its other rank, where it was asked for, and whether it is in vain.
fn message(open: &Open, place: Option<String>, never: &str) -> String {
    let Open { peer, tag, .. } = open;
    let tag = if *tag >= COLLECTIVE_TAG { String::new() } else { format!(" tag {tag}") };
    let notes: Vec<String> = place.into_iter().chain(open.never.then(|| never.into())).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    format!("rank {peer}{tag}{notes}")
}

/// The step that began the oldest of the messages of a kind that are open.
fn posted(script: &dyn Script, rank: &Rank, open: &Open) -> Option<u64> {
    let begins = |&step: &u64| match script.op(rank.number, step) {
        Some(Op::Irecv { from, tag } | Op::Recv { from, tag }) => {
            !open.sends && (from, tag) == (open.peer, open.tag)
        }
        Some(Op::Isend { to, tag, .. } | Op::Send { to, tag, .. }) => {
            open.sends && (to, tag) == (open.peer, open.tag)
        }
        _ => false,
    };
    (0..rank.step).rev().filter(begins).nth(open.count as usize - 1)
}
