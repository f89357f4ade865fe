//! What changes in a [`Player`], visited; and where its jobs begin an iteration.
//!
//! Steps count from the iteration of their job's first rank, if their rank's program repeats there. Numbers of messages count back from how many
//! their sender has sent. So what is written down of messages can be moved on: what arrived in a period arrives in each of the next ones.

use std::collections::BTreeMap;

use super::envelope::NUMBERS;
use super::{Envelope, Matching, Player, Waits};
use crate::program::Series;
use crate::repeats::{Coupled, Iteration, Part, SoFar, Visit};
use crate::replay::coupled::coupled;
use crate::replay::script::Cycle;

/// Where the jobs of a player iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycles {
    /// By rank of all jobs; `None` for ranks that do nothing twice, and those of jobs that start over.
    of: Vec<Option<Cycle>>,
    /// By job that still iterates, in order: a rank of it whose next iteration is a pause, and its first step.
    next: Vec<(u32, u64)>,
    /// At a visit, by rank of all jobs and kind of message: how many it has sent, and by how many it is moved on.
    sends: Vec<[(u32, u64); 2]>,
    /// Ranks that have paused, and the steps at which they were: they went on at once, and may be at the end of their iteration.
    paused: Vec<(u32, u64)>,
    /// Those of them that nobody has looked at yet; a rank that computes is a step ahead and has not paused.
    begun: Vec<u32>,
}

impl Cycles {
    /// Whether a rank that is at a step is to pause.
    #[inline]
    pub fn pauses(&mut self, rank: u32, step: u64) -> bool {
        let pauses = self.next.iter().any(|&(next, from)| next == rank && step >= from);
        if pauses {
            self.paused.retain(|&(of, _)| of != rank);
            self.paused.push((rank, step));
            self.begun.push(rank);
        }
        pauses
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
        if self.log.is_some() {
            return Err("what ranks do is written down");
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

    /// [`Split::coupled`](crate::Split::coupled).
    pub(super) fn is_coupled(&self) -> Option<Coupled> {
        let [job] = &self.jobs[..] else { return None };
        coupled(&*job.script, &self.cycles.of)
    }

    /// The first rank that still iterates of a job, and its next iteration: it is the job's next pause.
    fn next_pause(&mut self, job: usize) {
        let next = |rank: u32| {
            let (step, Cycle { from, steps, to }) = (self.began_at(rank), self.cycles.of[rank as usize]?);
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
            let begun = |&(of, from): &(u32, u64)| of == rank && self.began_at(rank) >= from;
            if let Some(at) = self.cycles.next.iter().position(begun) {
                break (rank, at);
            }
        };
        let Cycle { from, steps, .. } = self.cycles.of[rank as usize]?;
        let (job, step) = (self.ranks[rank as usize].job as usize, self.began_at(rank));
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

    fn part(&self, r: u32, rank: &super::Rank, now_ps: u64) -> Part {
        let (job, cycle) = (&self.jobs[rank.job as usize], self.cycle(r));
        match cycle {
            _ if job.start_ps > now_ps => Part::Else,
            Some((from, steps, to)) if (from..to).contains(&rank.step) => Part::Iterates {
                times: (to - from) / steps,
                at: (rank.step - from) as f64 / steps as f64,
                step: 1.0 / steps as f64,
                whole: from == 0 && (to - from) % steps == 0 && job.script.op(rank.number, to).is_none(),
            },
            _ => Part::Else,
        }
    }

    /// The step at which a rank was when it paused, or is.
    fn began_at(&self, rank: u32) -> u64 {
        let paused = self.cycles.paused.iter().find(|&&(paused, _)| paused == rank);
        paused.map_or(self.ranks[rank as usize].step, |&(_, step)| step)
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
        self.cycles.sends.clear();
        for (r, rank) in (0..).zip(&mut ranks) {
            visit.part(self.part(r, rank, visit.now_ps()));
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
                tallies,
                inner,
                rounds,
                round_ps,
                end_ps,
                waits_since_ps,
                sends,
                // Visited below, when it is known by how many all ranks' sends are moved on.
                matching: _,
            } = rank;
            visit.same(&(open, waits, paid, talks, leaving, unclaimed, inner, end_ps));
            let was_at = *step;
            visit.step(step, *job as usize, self.cycle(r));
            if let Some((_, paused_at)) = self.cycles.paused.iter_mut().find(|(paused, _)| *paused == r) {
                *paused_at += *step - was_at;
            }
            if !visit.only_sums() {
                let open =
                    tallies.iter().map(|(key, tally)| (*key, tally.complete.wrapping_sub(tally.waited)));
                visit.same(&open.filter(|&(_, left)| left != 0).collect::<BTreeMap<_, _>>());
            }
            let mut counted = u64::from(*rounds);
            visit.count(&mut counted);
            *rounds = counted as u32;
            if self.jobs[*job as usize].start_ps <= visit.now_ps() {
                visit.past(round_ps);
            }
            visit.time(waits_since_ps);
            self.cycles.sends.push(sends.each_mut().map(|sends| moved_on(visit, sends)));
        }
        ranks.iter_mut().for_each(|rank| self.visit_matching(visit, &mut rank.matching));
        self.ranks = ranks;
        visit.same(&(&self.running, &self.under_way));
        for job in 0..self.jobs.len() {
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
        self.visit_written_down(visit);
        if !visit.looks() {
            (0..self.jobs.len()).for_each(|job| self.next_pause(job));
        }
    }

    /// What was written down of messages: what arrived since the earlier look arrives again, so many times.
    fn visit_written_down(&mut self, visit: &mut Visit) {
        let Some(messages) = &mut self.messages else { return };
        let count = messages.arrivals() as u64;
        let mut counted = count;
        visit.count(&mut counted);
        let times = visit.times();
        if let Some(in_one) = (counted - count).checked_div(times) {
            let sends = &self.cycles.sends;
            let more = |from: u32, collective: bool| sends[from as usize][usize::from(collective)].1 / times;
            messages.repeat((count - in_one) as usize, (times, visit.by_ps() / times), |arrival, time| {
                let more = more(arrival.from, arrival.collective).wrapping_mul(time) as u32;
                arrival.number.wrapping_add(more) & NUMBERS
            });
        }
    }

    fn visit_matching(&self, visit: &mut Visit, matching: &mut Matching<Envelope>) {
        if visit.only_sums() {
            return;
        }
        visit.same(&matching.open_receives());
        let early = matching.early_mut();
        visit.same(&early.len());
        for (key, messages) in early {
            visit.same(&(key, messages.len()));
            messages.iter_mut().for_each(|envelope| self.visit_envelope(visit, envelope));
        }
    }

    /// [`Split::visit_token`](crate::Split::visit_token).
    pub(super) fn visit_envelope(&self, visit: &mut Visit, envelope: &mut Envelope) {
        let Envelope { from, to, tag, bytes, .. } = *envelope;
        let (sent, more) = self.cycles.sends[from as usize][usize::from(envelope.is_collective())];
        let back = sent.wrapping_sub(envelope.number()) & NUMBERS;
        visit.same(&(from, to, tag, bytes, envelope.part() as u8, envelope.is_forgotten(), back));
        *envelope = envelope.moved_on(more as u32);
    }

    /// [`Split::visit_series`](crate::Split::visit_series).
    pub(super) fn visit_series_of(&self, visit: &mut Visit, series: &mut Series) {
        let Series { from, lane, of, next, number, left } = series;
        let [(sent, more), _] = self.cycles.sends[*of as usize];
        visit.same(&(*from, *lane, *of, *left, sent.wrapping_sub(*number)));
        *number = number.wrapping_add(more as u32);
        visit.step(next, self.ranks[*of as usize].job as usize, self.cycle(*of));
    }
}

/// How many messages a rank has sent, and by how many a visit moves that on.
fn moved_on(visit: &mut Visit, sends: &mut u32) -> (u32, u64) {
    let (sent, mut counted) = (*sends, u64::from(*sends));
    visit.count(&mut counted);
    *sends = counted as u32;
    (sent, counted - u64::from(sent))
}
