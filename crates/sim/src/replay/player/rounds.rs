//! Rounds of jobs that start over: what ends one, and when the next begins.

use super::{Player, Waits};
use crate::program::Desk;
use crate::replay::Envelope;

/// From a round of a repeating job that took no time to the next, at least.
const MOMENT_PS: u64 = 1_000;

impl Player {
    /// Whether the next round begins now: what was sent must have left, or whoever sends without waiting would fill the memory; and
    /// time must pass, even if no step takes any.
    pub(super) fn begins(&mut self, r: u32, desk: &mut Desk<Envelope>) -> bool {
        let rank = &mut self.ranks[r as usize];
        if rank.leaving > 0 {
            rank.waits = Waits::Adapter;
            return false;
        }
        let took_time = desk.now_ps() > rank.round_ps;
        let wait_ps = if took_time { 0 } else { self.software.post_ps.max(MOMENT_PS) };
        (rank.round_ps, rank.talks) = (desk.now_ps() + wait_ps, false);
        if !took_time {
            rank.waits = Waits::Processor;
            desk.wake(rank.host, wait_ps, r);
        }
        took_time
    }

    /// The script's end: `false` if the rank starts over.
    pub(super) fn ended(&mut self, r: u32, desk: &mut Desk<Envelope>) -> bool {
        let rank = &mut self.ranks[r as usize];
        let job = rank.job as usize;
        rank.rounds += 1;
        if let Some(other) = self.jobs[job].until
            && self.running[other] > 0
            && rank.step > 0
            && (rank.talks || desk.now_ps() > rank.round_ps)
        {
            rank.step = 0;
            return false;
        }
        rank.waits = Waits::Ended;
        rank.end_ps = Some(desk.now_ps());
        // Without jobs that repeat, what is still under way arrives, and the network falls silent by itself.
        if self.repeats {
            desk.announce(job as u32);
        }
        true
    }
}
