//! What changes at hosts, visited; see [`Visit`]. Messages are visited as far as something leads to them.

use super::hosts::Hosts;
use crate::calendar::NEVER;
use crate::packet::pool::{List, NONE};
use crate::program::{Due, Posted, Split};
use crate::repeats::Visit;

impl<T: Copy> Hosts<T> {
    /// The messages of a list.
    pub fn visit_list(&self, visit: &mut Visit, list: List) {
        if visit.only_sums() {
            return;
        }
        let indices: Vec<u32> = self.indices(list).collect();
        visit.same(&indices.len());
        indices.into_iter().for_each(|message| visit.message(message));
    }

    /// What is due later, whose turn it is, and what lanes remember of packets: `longest_ps` is the longest that one takes on the host's link.
    pub fn visit<P: Split<Token = T>>(
        &mut self,
        visit: &mut Visit,
        host: usize,
        (queues, longest_ps): (&[List], u64),
        program: &P,
    ) {
        let waiting = queues.iter().chain(self.turns[host].values()).copied();
        let since_ps = waiting.flat_map(|list| self.messages(list)).map(|message| message.posted_ps);
        let since_ps = since_ps.min().unwrap_or(NEVER).min(visit.now_ps());
        if let Some(births) = self.births_mut() {
            for lane in 0..queues.len() {
                births.visit(visit, host * queues.len() + lane, since_ps, longest_ps);
            }
        }
        visit.same(&self.turns[host].len());
        for (&key, &list) in &self.turns[host] {
            visit.same(&key);
            self.visit_list(visit, list);
        }
        let delayed = self.delayed_mut(host);
        visit.same(&delayed.len());
        for due in delayed {
            visit.time(&mut due.time_ps);
            visit.time(&mut due.posted_ps);
            match &mut due.what {
                Due::Post(Posted::One(post)) => {
                    visit.same(&(0u8, post.from, post.address, post.bytes, post.lane, post.mode));
                    program.visit_token(visit, &mut post.token);
                }
                Due::Post(Posted::Several(series)) => {
                    visit.same(&1u8);
                    program.visit_series(visit, series);
                }
                Due::Copy(token) => {
                    visit.same(&2u8);
                    program.visit_token(visit, token);
                }
            }
        }
    }

    /// The messages that were met, at their senders, what is left of their series, and what their receivers know.
    pub fn visit_met<P: Split<Token = T>>(&mut self, visit: &mut Visit, program: &P) {
        let mut done = [0; 3];
        loop {
            let before = done;
            while let Some(&index) = visit.messages.met.get(done[0]) {
                done[0] += 1;
                let message = self.outgoing_mut(index);
                let (record, rest) = (message.record, message.rest);
                visit.same(&(message.address, message.level, message.way, message.has_turn, message.mark));
                visit.same(&(message.left, rest != NONE));
                visit.time(&mut message.posted_ps);
                program.visit_token(visit, &mut message.token);
                visit.record(record);
                if rest != NONE {
                    visit.rest(rest);
                }
            }
            while let Some(&index) = visit.rests.met.get(done[1]) {
                done[1] += 1;
                let rest = self.rest_mut(index);
                visit.time(&mut rest.posted_ps);
                program.visit_series(visit, &mut rest.series);
            }
            while let Some(&index) = visit.records.met.get(done[2]) {
                done[2] += 1;
                let record = self.incoming_mut(index);
                visit.same(&(record.left, record.from));
                visit.time(&mut record.posted_ps);
                program.visit_token(visit, &mut record.token);
            }
            if done == before {
                return;
            }
        }
    }
}
