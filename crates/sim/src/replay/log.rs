//! What ranks did in a window of time: spans of computing and of waiting; between them a rank runs for no time.
//! A rank whose program is a graph of tasks waits when all of its processors do.

use super::op::Op;

/// A rank computed or waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankSpan {
    /// The job.
    pub job: u32,
    /// The rank within its job.
    pub rank: u32,
    /// Which of the rank's processors, from 0 on; waiting is with the first.
    pub processor: u32,
    /// Its start, ps.
    pub start_ps: u64,
    /// Its end, ps.
    pub end_ps: u64,
    /// `compute`, `call` (its software), `send to`, `receive from`, `wait…`, or the name of a collective.
    pub what: &'static str,
    /// The other rank.
    pub peer: Option<u32>,
}

impl RankSpan {
    /// Job, rank and processor.
    pub fn processor(&self) -> (u32, u32, u32) {
        (self.job, self.rank, self.processor)
    }
}

/// Writes down what ranks do.
#[derive(Clone, Debug)]
pub(super) struct Log {
    from_ps: u64,
    to_ps: u64,
    most: usize,
    /// Job and number of every rank.
    ranks: Vec<(u32, u32)>,
    /// By rank: since when it does what.
    open: Vec<Option<(u64, &'static str, Option<u32>)>>,
    spans: Vec<RankSpan>,
    cut_ps: Option<u64>,
}

impl Log {
    /// Of ranks of these jobs and numbers.
    pub fn new(ranks: Vec<(u32, u32)>, from_ps: u64, to_ps: u64, most: usize) -> Self {
        Self { from_ps, to_ps, most, open: vec![None; ranks.len()], ranks, spans: Vec::new(), cut_ps: None }
    }

    /// A rank has to wait for its step, which is part of `collective` if there is one.
    pub fn waits(&mut self, r: u32, now: u64, op: &Op, collective: Option<&'static str>) {
        let (what, peer) = match *op {
            Op::Compute { .. } => ("compute", None),
            Op::Isend { to, .. } | Op::Send { to, .. } => ("send to", Some(to)),
            Op::Irecv { from, .. } | Op::Recv { from, .. } => ("receive from", Some(from)),
            Op::Wait { peer, sends: true, .. } => ("wait for sending to", Some(peer)),
            Op::Wait { peer, sends: false, .. } => ("wait for", Some(peer)),
            Op::WaitAny => ("wait for any", None),
            Op::WaitAll => ("wait for all", None),
            Op::Together(_) => ("collective", None),
        };
        let peer = if collective.is_some() { None } else { peer };
        self.open[r as usize] = Some((now, collective.unwrap_or(what), peer));
    }

    /// A rank is called.
    pub fn calls(&mut self, r: u32, now: u64) {
        self.open[r as usize] = Some((now, "call", None));
    }

    /// All processors of a rank wait for its messages with others: for one, if there is only one `(peer, is it a send)`.
    pub fn idles(&mut self, r: u32, now: u64, only: Option<(u32, bool)>) {
        let (what, peer) = match only {
            Some((peer, true)) => ("wait for sending to", Some(peer)),
            Some((peer, false)) => ("wait for", Some(peer)),
            None => ("wait for any", None),
        };
        self.open[r as usize] = Some((now, what, peer));
    }

    /// One of a rank's processors is busy from now on, until a time that is known.
    pub fn occupies(&mut self, r: u32, processor: u32, now: u64, ps: u64, what: &'static str) {
        let (job, rank) = self.ranks[r as usize];
        let end_ps = now.saturating_add(ps);
        self.keep(RankSpan { job, rank, processor, start_ps: now, end_ps, what, peer: None });
    }

    /// A rank goes on.
    pub fn goes_on(&mut self, r: u32, now: u64) {
        let Some((start_ps, what, peer)) = self.open[r as usize].take() else { return };
        let (job, rank) = self.ranks[r as usize];
        self.keep(RankSpan { job, rank, processor: 0, start_ps, end_ps: now, what, peer });
    }

    fn keep(&mut self, span: RankSpan) {
        let RankSpan { start_ps, end_ps, .. } = span;
        if start_ps >= self.to_ps || end_ps <= self.from_ps || start_ps == end_ps || self.cut_ps.is_some() {
            return;
        }
        if self.spans.len() == self.most {
            self.cut_ps = Some(start_ps);
            return;
        }
        self.spans.push(span);
    }

    /// What was kept by `now`, and from when on nothing was.
    pub fn finish(mut self, now: u64) -> (Vec<RankSpan>, Option<u64>) {
        (0..self.ranks.len() as u32).for_each(|r| self.goes_on(r, now));
        // What occupies a processor may have been broken off.
        self.spans.iter_mut().for_each(|span| span.end_ps = span.end_ps.min(now));
        self.spans.retain(|span| span.start_ps < span.end_ps);
        (self.spans, self.cut_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_the_window_are_kept_until_it_is_full() {
        let mut log = Log::new(vec![(0, 0), (0, 1)], 100, 200, 2);
        let mut span = |r, start, end| {
            log.waits(r, start, &Op::Recv { from: 1, tag: 0 }, None);
            log.goes_on(r, end);
        };
        span(0, 0, 100);
        span(0, 100, 100);
        span(0, 90, 110);
        span(1, 150, 300);
        span(0, 200, 210);
        span(0, 180, 190);
        let (spans, cut_ps) = log.finish(500);
        assert_eq!(
            spans.iter().map(|s| (s.rank, s.start_ps, s.end_ps)).collect::<Vec<_>>(),
            [(0, 90, 110), (1, 150, 300)]
        );
        assert_eq!((spans[0].what, spans[0].peer, cut_ps), ("receive from", Some(1), Some(180)));
    }
}
