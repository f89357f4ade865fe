//! Ranks whose program is a graph of tasks, played: what the tasks ask for, and what has come for them.

use std::sync::Arc;

use netloom_model::Task;

use super::super::op::Op;
use super::super::tasks::{Next, Progress};
use super::{Player, Waits};
use crate::program::Desk;
use crate::replay::Envelope;

impl Player {
    /// Goes on until every task waits for a message or a processor.
    pub(super) fn advance_tasks(&mut self, r: u32, desk: &mut Desk<Envelope>) {
        let jobs = Arc::clone(&self.jobs);
        let rank = &mut self.ranks[r as usize];
        let Some(tasks) = jobs[rank.job as usize].script.tasks() else { return };
        if rank.waits == Waits::Ended {
            // Two processors were done at once: both have woken the rank.
            return;
        }
        if let Some(log) = &mut self.log {
            log.goes_on(r, desk.now_ps());
        }
        let (schedule, number) = (tasks.schedule(), rank.number);
        let mut progress = rank.progress.take().unwrap_or_else(|| Box::new(Progress::new(schedule, number)));
        rank.waits = Waits::Tasks;
        loop {
            let rank = &mut self.ranks[r as usize];
            let done = if let Some(key) = rank.news.pop() {
                progress.arrived(key)
            } else {
                match progress.next(tasks, number, desk.now_ps(), self.software.call_ps) {
                    None => break,
                    Some(Next::Occupies { processor, task, ps }) => {
                        desk.wake(rank.host, ps, r);
                        let computes = matches!(schedule.tasks(number)[task as usize], Task::Calc { .. });
                        let time = &mut self.times[rank.job as usize];
                        *if computes { &mut time.compute_ps } else { &mut time.call_ps } += u128::from(ps);
                        if let Some(log) = &mut self.log {
                            let what = if computes { "compute" } else { "call" };
                            log.occupies(r, processor, desk.now_ps(), ps, what);
                        }
                        None
                    }
                    Some(Next::Acts(task)) => match schedule.tasks(number)[task as usize] {
                        Task::Calc { .. } => Some(task),
                        Task::Send { to, bytes, tag } => {
                            self.ranks[r as usize].talks = true;
                            let eager = !self.asks(r, bytes);
                            // By task, as tasks begin in an order that depends on what came when.
                            let rounds = self.ranks[r as usize].rounds;
                            let tasks = schedule.tasks(number).len() as u32;
                            let message = rounds.wrapping_mul(tasks).wrapping_add(task);
                            self.send(r, Op::Send { to, bytes, tag }, true, message, desk);
                            if !eager {
                                progress.opened((to, tag, true), task);
                            }
                            eager.then_some(task)
                        }
                        Task::Recv { from, tag } => {
                            self.ranks[r as usize].talks = true;
                            progress.opened((from, tag, false), task);
                            self.receive(r, from, tag, desk);
                            None
                        }
                    },
                }
            };
            if let Some(task) = done {
                progress.finish(schedule, number, task);
                self.ranks[r as usize].step += 1;
            }
        }
        if progress.left() > 0 {
            if let Some(only) = progress.idles() {
                self.ranks[r as usize].waits_since_ps = desk.now_ps();
                if let Some(log) = &mut self.log {
                    log.idles(r, desk.now_ps(), only);
                }
            }
            self.ranks[r as usize].progress = Some(progress);
        } else if !self.ended(r, desk) {
            // The next round begins a moment later, if this one took time; else it is planned.
            if self.begins(r, desk) {
                self.ranks[r as usize].round_ps += 1;
                desk.wake(self.ranks[r as usize].host, 1, r);
            }
        }
    }
}
