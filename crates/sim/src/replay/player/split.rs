//! A [`Player`] in parts: copies that serve the hosts of a partition each, put together in the end; and what is kept of one.

use netloom_model::HostId;

use super::{Envelope, Player};
use crate::SimError;
use crate::program::{Series, Split};
use crate::repeats::{Coupled, Iteration, SoFar, Visit};
use crate::state_codec::{StateReader, StateWriter};

impl Split for Player {
    fn absorb(&mut self, other: Self, was_there: &dyn Fn(HostId) -> bool) {
        for (rank, theirs) in self.ranks.iter_mut().zip(other.ranks) {
            if was_there(theirs.host) {
                *rank = theirs;
            }
        }
        self.under_way.iter_mut().zip(other.under_way).for_each(|(to, from)| *to += from);
        self.bytes.iter_mut().zip(other.bytes).for_each(|(to, from)| *to += from);
        for (latency, theirs) in self.latencies.iter_mut().zip(other.latencies) {
            latency.merge(&theirs);
        }
        for (to, from) in self.by_mode.iter_mut().flatten().zip(other.by_mode.into_iter().flatten()) {
            *to = (to.0 + from.0, to.1 + from.1);
        }
        self.windows.iter_mut().zip(&other.windows).for_each(|(to, from)| to.merge(from));
        self.times.iter_mut().zip(&other.times).for_each(|(to, from)| to.merge(from));
        if let (Some(messages), Some(theirs)) = (&mut self.messages, other.messages) {
            messages.merge(theirs);
        }
    }

    fn save(&self, to: &mut StateWriter) {
        let Self {
            jobs: _,
            software: _,
            lmc: _,
            path: _,
            levels: _,
            sight: _,
            repeats: _,
            first: _,
            open: _,
            cycles: _,
            log: _,      // of runs that are watched, which are not kept
            messages: _, // a run that writes them down keeps no state
            ranks,
            running,
            under_way,
            latencies,
            bytes,
            windows,
            times,
            by_mode,
        } = self;
        to.put(ranks);
        to.put(&(running, latencies, bytes, windows, times));
        to.put(under_way);
        to.put(by_mode);
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        from.replace(&mut self.ranks)?;
        from.replace(&mut self.running)?;
        from.replace(&mut self.latencies)?;
        from.replace(&mut self.bytes)?;
        from.replace(&mut self.windows)?;
        from.replace(&mut self.times)?;
        from.replace(&mut self.under_way)?;
        from.replace(&mut self.by_mode)
    }

    fn iterates(&mut self) -> Result<(), &'static str> {
        self.find_cycles()
    }

    fn begun(&mut self) -> Option<Iteration> {
        self.begins_iteration()
    }

    fn begins_ps(&self, now_ps: u64) -> Option<u64> {
        self.jobs.iter().map(|job| job.start_ps).filter(|&start_ps| start_ps > now_ps).min()
    }

    fn is_beginning(&self, token: u32, now_ps: u64) -> bool {
        self.ranks.get(token as usize).is_some_and(|rank| self.jobs[rank.job as usize].start_ps > now_ps)
    }

    fn so_far(&self) -> Vec<SoFar> {
        self.jobs_so_far()
    }

    fn coupled(&self) -> Option<Coupled> {
        self.is_coupled()
    }

    fn is_alone(&self) -> bool {
        self.jobs.len() == 1
    }

    fn visit(&mut self, visit: &mut Visit) {
        self.visit_all(visit);
    }

    fn visit_token(&self, visit: &mut Visit, token: &mut Envelope) {
        self.visit_envelope(visit, token);
    }

    fn visit_series(&self, visit: &mut Visit, series: &mut Series) {
        self.visit_series_of(visit, series);
    }
}
