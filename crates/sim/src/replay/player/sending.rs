//! What ranks send: messages of a script's steps, listed only as they leave.
//!
//! A rank may send thousands of messages at one time. It posts them as a [`Series`], of which the network asks for the next when it is
//! that one's turn; the script, a function of the step, tells it again.
//!
//! Invariant: a series has all messages to other hosts that its rank's own steps send from the first of it to the last.

use netloom_model::{DestId, HostId};

use super::super::op::Op;
use super::{COLLECTIVE_TAG, Part, Player};
use crate::mode::Mode;
use crate::program::{Desk, Post, Series};
use crate::replay::Envelope;

impl Player {
    /// The number of a rank's next message, of its own script or of something `inner`.
    pub(super) fn numbered(&mut self, r: u32, inner: bool) -> u32 {
        let sends = &mut self.ranks[r as usize].sends[usize::from(inner)];
        let number = *sends;
        *sends = number.wrapping_add(1);
        number
    }

    /// Starts a step that sends, of a rank's own script or of something `inner`: a message with a number.
    pub(super) fn send(&mut self, r: u32, op: Op, inner: bool, number: u32, desk: &mut Desk<Envelope>) {
        let envelope = self.envelope(r, op, number).expect("the step sends");
        let rank = &mut self.ranks[r as usize];
        rank.leaving += u32::from(self.repeats);
        if !envelope.is_forgotten() {
            rank.open[usize::from(envelope.tag >= COLLECTIVE_TAG)] += 1;
        }
        if let Some(window_ps) = self.window_ps(self.ranks[r as usize].job as usize) {
            self.windows[self.ranks[r as usize].job as usize].made(window_ps, desk.now_ps());
        }
        let rank = &self.ranks[r as usize];
        let (from, step, lane) = (rank.host, rank.step, self.jobs[rank.job as usize].service_level);
        let chosen = rank.choosing.is_some();
        if inner || chosen || self.levels.is_some() || from == self.host_beside(r, envelope.to) {
            self.post(r, self.software.post_ps, envelope, desk);
        } else {
            self.count_under_way(r, 1);
            self.count_mode(r, envelope, self.fixed_mode(r, envelope));
            let series = Series { from, lane, of: r, next: step - 1, number, left: 1 };
            desk.post_in_series(self.software.post_ps, series);
        }
    }

    /// Whether a message of a rank leaves only when its receiver has a place for it.
    pub(super) fn asks(&self, r: u32, bytes: u64) -> bool {
        bytes > self.software.eager_bytes && self.open[self.ranks[r as usize].job as usize].is_none()
    }

    /// What a rank sends with a step of its script, as its message of a number; `None`: it does not send.
    fn envelope(&self, r: u32, op: Op, number: u32) -> Option<Envelope> {
        let (to, bytes, tag, is_awaited) = match op {
            Op::Isend { to, bytes, tag } => (to, bytes, tag, true),
            Op::Send { to, bytes, tag } => (to, bytes, tag, false),
            _ => return None,
        };
        let eager = !self.asks(r, bytes);
        let part = if eager { Part::Whole } else { Part::Ask };
        let to = self.first[self.ranks[r as usize].job as usize] + to;
        Some(Envelope::new(part, (r, to), (bytes, tag), eager && !is_awaited, number))
    }

    /// A message that is not of a series, to another host or within one.
    pub(super) fn post(&mut self, from: u32, delay_ps: u64, token: Envelope, desk: &mut Desk<Envelope>) {
        self.count_under_way(from, 1);
        let mode = self.mode(from, token);
        if let Some(post) = self.addressed(from, token, mode) {
            self.count_mode(from, token, mode);
            return desk.post_after(delay_ps, post);
        }
        let copy_ps = (self.bytes_of(token) as f64 * self.software.copy_ps_per_byte) as u64;
        desk.copy_after(delay_ps.saturating_add(copy_ps), self.ranks[from as usize].host, token);
    }

    /// A rank's message to the other; `None`: that is on the same host.
    fn addressed(&self, from: u32, token: Envelope, mode: Option<Mode>) -> Option<Post<Envelope>> {
        let to = if from == token.from { token.to } else { token.from };
        let (source, target) = (&self.ranks[from as usize], self.host_beside(from, to));
        let (from, own) = (source.host, self.levels.as_ref().and_then(|map| map.level(source.host, target)));
        let lane = own.unwrap_or(self.jobs[source.job as usize].service_level);
        let address = DestId((target.0 << self.lmc) + self.path.path(self.lmc, from, target));
        let bytes = self.bytes_of(token);
        (from != target).then_some(Post { from, address, bytes, lane, mode, token })
    }

    /// A message of a rank's job has begun (1) or ended (-1) its way.
    #[inline]
    pub(super) fn count_under_way(&mut self, r: u32, more: i64) {
        if self.repeats {
            self.under_way[self.ranks[r as usize].job as usize] += more;
        }
    }

    /// Bytes that travel.
    pub(super) fn bytes_of(&self, envelope: Envelope) -> u64 {
        let bytes = if envelope.part() == Part::Whole { envelope.bytes } else { self.software.control_bytes };
        bytes.max(1)
    }

    /// [`Program::next_post`](crate::Program::next_post).
    pub(super) fn next_of(&self, series: &mut Series) -> Option<Post<Envelope>> {
        let rank = &self.ranks[series.of as usize];
        let script = &self.jobs[rank.job as usize].script;
        while series.left > 0 {
            let op = script.op(rank.number, series.next)?;
            series.next += 1;
            let Some(envelope) = self.envelope(series.of, op, series.number) else { continue };
            series.number = series.number.wrapping_add(1);
            let post = self.addressed(series.of, envelope, self.fixed_mode(series.of, envelope));
            if post.is_some() {
                series.left -= 1;
                return post;
            }
        }
        None
    }

    /// The number within its job of a rank of the same job as `r`.
    pub(super) fn number_beside(&self, r: u32, other: u32) -> u32 {
        other - self.first[self.ranks[r as usize].job as usize]
    }

    /// The host of a rank of the same job as `r`.
    pub(super) fn host_beside(&self, r: u32, other: u32) -> HostId {
        self.jobs[self.ranks[r as usize].job as usize].hosts[self.number_beside(r, other) as usize]
    }
}
