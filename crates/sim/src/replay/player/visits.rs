//! What changes in a [`Player`], visited; and where its jobs begin an iteration.
//!
//! Steps count from the iteration of their job's first rank, if their rank's program repeats there. Numbers of messages are left out: nothing
//! but random choices and what is written down depends on them, and such runs are not looked through.

use std::collections::BTreeMap;

use super::{Envelope, Matching, Player, Waits};
use crate::program::Series;
use crate::repeats::{Iteration, Part, SoFar, Visit};
use crate::replay::cycle::Cycle;

/// Where the jobs of a player iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycles {
    /// By rank of all jobs; `None` for ranks that do nothing twice, and those of jobs that start over.
    of: Vec<Option<Cycle>>,
    /// By job that still iterates, in order: a rank of it whose next iteration is a pause, and its first step.
    next: Vec<(u32, u64)>,
    /// Ranks that have begun theirs; a rank that computes is a step ahead and has not.
    pub begun: Vec<u32>,
}

impl Cycles {
    /// Whether a rank that is at a step is to pause.
    #[inline]
    pub fn pauses(&self, rank: u32, step: u64) -> bool {
        self.next.iter().any(|&(next, from)| next == rank && step >= from)
    }
}

impl Player {
    /// [`Split::iterates`](crate::Split::iterates).
    pub(super) fn find_cycles(&mut self) -> Result<(), &'static str> {
        if self.open.iter().any(Option::is_some) {
            return Err("a job offers load");
        }
        if self.jobs.iter().any(|job| job.script.tasks().is_some()) {
            return Err("a job is a graph of tasks");
        }
        if self.messages.is_some() || self.log.is_some() {
            return Err("messages are written down");
        }
        if self.jobs.iter().any(|job| job.modes.chooses().is_some()) {
            return Err("modes are chosen message by message");
        }
        let mut of = Vec::new();
        for job in self.jobs.iter() {
            let iterates = |rank| if job.until.is_none() { Cycle::of(&*job.script, rank) } else { None };
            let cycles: Vec<Option<Cycle>> = (0..job.hosts.len() as u32).map(iterates).collect();
            let times = cycles.iter().flatten().map(Cycle::times).min().unwrap_or(1);
            of.extend(cycles.into_iter().map(|cycle| cycle.map(|cycle| cycle.in_stretches(times))));
        }
        self.cycles.of = of;
        (0..self.jobs.len()).for_each(|job| self.next_pause(job));
        match self.cycles.next.is_empty() {
            false => Ok(()),
            true => Err("no program does the same again and again"),
        }
    }

    /// The first rank that still iterates of a job, and its next iteration: it is the job's next pause.
    fn next_pause(&mut self, job: usize) {
        let next = |rank: u32| {
            let (step, Cycle { from, steps, to }) =
                (self.ranks[rank as usize].step, self.cycles.of[rank as usize]?);
            let next = if step < from { from } else { from + ((step - from) / steps + 1) * steps };
            (next < to).then_some((rank, next))
        };
        let ranks = self.first[job]..self.first[job] + self.jobs[job].hosts.len() as u32;
        let found = ranks.clone().find_map(next);
        self.cycles.next.retain(|(rank, _)| !ranks.contains(rank));
        self.cycles.next.extend(found);
        self.cycles.next.sort_unstable();
    }

    /// [`Split::begun`](crate::Split::begun).
    pub(super) fn begins_iteration(&mut self) -> Option<Iteration> {
        let (rank, at) = loop {
            let rank = self.cycles.begun.pop()?;
            let begun = |&(of, from): &(u32, u64)| of == rank && self.ranks[rank as usize].step >= from;
            if let Some(at) = self.cycles.next.iter().position(begun) {
                break (rank, at);
            }
        };
        let Cycle { from, steps, .. } = self.cycles.of[rank as usize]?;
        let (job, step) = (self.ranks[rank as usize].job as usize, self.ranks[rank as usize].step);
        self.next_pause(job);
        Some(Iteration { job, number: step.saturating_sub(from) / steps, leads: at == 0 })
    }

    /// [`Split::so_far`](crate::Split::so_far).
    pub(super) fn jobs_so_far(&self) -> Vec<SoFar> {
        let mut so_far = vec![SoFar::default(); self.jobs.len()];
        for rank in &self.ranks {
            so_far[rank.job as usize].running += u32::from(rank.waits != Waits::Ended);
        }
        for (of, (latencies, times)) in so_far.iter_mut().zip(self.latencies.iter().zip(&self.times)) {
            (of.messages, of.latency_ps) = (latencies.count(), latencies.sum_ps());
            of.waits_ps = times.waited_ps();
        }
        so_far
    }

    fn part(&self, r: u32, rank: &super::Rank) -> Part {
        let (job, cycle) = (&self.jobs[rank.job as usize], self.cycle(r));
        match cycle {
            _ if rank.waits == Waits::Ended => Part::Ended { iterated: cycle.is_some() },
            Some((from, steps, to)) if (from..to).contains(&rank.step) => Part::Iterates {
                times: (to - from) / steps,
                at: (rank.step - from) as f64 / steps as f64,
                whole: from == 0 && (to - from) % steps == 0 && job.script.op(rank.number, to).is_none(),
            },
            None if job.until.is_some() => Part::StartsOver { rounds: u64::from(rank.rounds) },
            _ => Part::Else,
        }
    }

    fn cycle(&self, rank: u32) -> Option<(u64, u64, u64)> {
        self.cycles.of[rank as usize].map(|Cycle { from, steps, to }| (from, steps, to))
    }

    /// [`Split::visit`](crate::Split::visit).
    pub(super) fn visit_all(&mut self, visit: &mut Visit) {
        for job in 0..self.jobs.len() {
            let first = self.first[job] as usize;
            let ranks = first..first + self.jobs[job].hosts.len();
            let iterates = self.cycles.of[ranks].iter().position(Option::is_some);
            visit.base(iterates.map_or(0, |rank| {
                let (from, steps, to) = self.cycle((first + rank) as u32).expect("it iterates");
                (self.ranks[first + rank].step.clamp(from, to) - from) / steps
            }));
        }
        let mut ranks = std::mem::take(&mut self.ranks);
        for (r, rank) in (0..).zip(&mut ranks) {
            visit.of_job(Some(rank.job as usize));
            visit.part(rank.job as usize, self.part(r, rank));
            let super::Rank {
                // Given.
                job,
                number: _,
                host: _,
                // Of runs that are not looked through.
                progress: _,
                news: _,
                choosing: _,
                // Visited.
                open,
                waits,
                paid,
                talks,
                leaving,
                unclaimed,
                step,
                matching,
                tallies,
                inner,
                rounds,
                round_ps,
                end_ps,
                waits_since_ps,
                sends,
            } = rank;
            visit.same(&(open, waits, paid, talks, leaving, unclaimed, inner, end_ps));
            visit.step(step, *job as usize, self.cycle(r));
            self.visit_matching(visit, matching);
            if !visit.only_sums() {
                let open =
                    tallies.iter().map(|(key, tally)| (*key, tally.complete.wrapping_sub(tally.waited)));
                visit.same(&open.filter(|&(_, left)| left != 0).collect::<BTreeMap<_, _>>());
            }
            let mut counted = u64::from(*rounds);
            visit.count(&mut counted);
            *rounds = counted as u32;
            visit.past(round_ps);
            visit.time(waits_since_ps);
            for sends in sends {
                let mut counted = u64::from(*sends);
                visit.count(&mut counted);
                *sends = counted as u32;
            }
        }
        self.ranks = ranks;
        visit.same(&(&self.running, &self.under_way));
        for job in 0..self.jobs.len() {
            visit.of_job(Some(job));
            visit.latencies(&mut self.latencies[job]);
            visit.count(&mut self.bytes[job]);
            let (done, waits) = self.times[job].sums();
            done.into_iter().for_each(|sum| visit.fixed(sum));
            waits.iter_mut().for_each(|sum| visit.sum(sum));
            for (messages, bytes) in &mut self.by_mode[job] {
                visit.count(messages);
                visit.count(bytes);
            }
        }
        if !visit.looks() {
            (0..self.jobs.len()).for_each(|job| self.next_pause(job));
        }
    }

    fn visit_matching(&self, visit: &mut Visit, matching: &Matching<Envelope>) {
        if visit.only_sums() {
            return;
        }
        visit.same(&matching.open_receives());
        let early = matching.early();
        visit.same(&early.len());
        for (key, messages) in early {
            visit.same(&(key, messages.len()));
            messages.iter().for_each(|envelope| self.visit_envelope(visit, *envelope));
        }
    }

    /// [`Split::visit_token`](crate::Split::visit_token).
    pub(super) fn visit_envelope(&self, visit: &mut Visit, envelope: Envelope) {
        let Envelope { from, to, tag, bytes, .. } = envelope;
        visit.same(&(from, to, tag, bytes, envelope.part() as u8, envelope.is_forgotten()));
    }

    /// [`Split::visit_series`](crate::Split::visit_series).
    pub(super) fn visit_series_of(&self, visit: &mut Visit, series: &mut Series) {
        let Series { from, lane, of, next, number: _, left } = series;
        visit.same(&(*from, *lane, *of, *left));
        visit.step(next, self.ranks[*of as usize].job as usize, self.cycle(*of));
    }
}
