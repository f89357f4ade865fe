//! What hosts keep: messages to send, messages on their way here, and those that are not due yet.
//!
//! Nobody else touches any of it: the engine asks for what it needs by name, and whatever limits what a host may send belongs here.
//!
//! Invariants: a message's number is given out once until it is retired; a host's delayed messages are in order of time, then of posting.

use std::collections::{BTreeMap, VecDeque};

use netloom_model::{DestId, HostId};
use serde::{Deserialize, Serialize};

use super::births::Births;
use super::messages::{Delayed, Incoming, Outgoing, Rest};
use super::numbers::Numbers;
use crate::packet::pool::{List, NONE, Pool};
use crate::program::{Post, Series};

/// Room for delayed messages that a host may keep.
const MANY: usize = 256;

/// By lane and receiver, the messages that wait behind the one that has the turn; see `turns`.
pub(super) type Turns = BTreeMap<(u8, DestId), List>;

/// The state of all hosts, as far as they are in this partition.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hosts<T> {
    outgoing: Pool<Outgoing<T>>,
    rests: Pool<Rest>,
    /// Records of messages to hosts here, by number.
    incoming: Vec<Incoming<T>>,
    /// Of every partition that receives, the numbers of the messages sent there from here.
    numbers: Vec<Numbers>,
    /// Of every host, messages on their way to its adapter. The first of them has an event.
    delayed: Vec<VecDeque<Delayed<T>>>,
    /// Of every host, whose turn it is; see `turns`.
    pub(super) turns: Vec<Turns>,
    /// Turns of all hosts: where there is none no host is asked.
    pub(super) taken: usize,
    /// Latencies of packets, if asked for.
    births: Option<Births>,
}

/// The next message of a series, behind one that has left.
pub(crate) struct Next<T> {
    pub post: Post<T>,
    /// When the program posted the series.
    pub posted_ps: u64,
    /// When its adapter had it.
    pub there_ps: u64,
    /// What comes behind this one; [`NONE`] if nothing does.
    pub rest: u32,
}

impl<T: Copy> Hosts<T> {
    /// So many hosts that have nothing to do, in partition `here` of so many.
    pub fn new(hosts: usize, here: u8, partitions: usize) -> Self {
        Self {
            outgoing: Pool::new(),
            rests: Pool::new(),
            incoming: Vec::new(),
            numbers: vec![Numbers::new(here, partitions); partitions],
            delayed: std::iter::repeat_with(VecDeque::new).take(hosts).collect(),
            turns: vec![Turns::new(); hosts],
            taken: 0,
            births: None,
        }
    }

    /// Whether a state that was read is one of so many hosts and partitions.
    pub fn are_of(&self, hosts: usize, partitions: usize) -> bool {
        self.delayed.len() == hosts
            && self.turns.len() == hosts
            && self.taken == self.turns.iter().map(Turns::len).sum()
            && self.numbers.len() == partitions
    }

    // ---- messages that hosts send

    /// Takes a message into the adapter; its slot.
    #[inline(always)]
    pub fn take(&mut self, message: Outgoing<T>) -> u32 {
        self.outgoing.take(message)
    }

    /// A message that is being sent.
    #[inline(always)]
    pub fn outgoing(&self, message: u32) -> &Outgoing<T> {
        self.outgoing.get(message)
    }

    /// The same, to change.
    #[inline(always)]
    pub(super) fn outgoing_mut(&mut self, message: u32) -> &mut Outgoing<T> {
        self.outgoing.at(message)
    }

    /// The messages of a list.
    pub fn messages(&self, lane: List) -> impl Iterator<Item = &Outgoing<T>> {
        lane.iter(&self.outgoing).map(|message| self.outgoing.get(message))
    }

    /// The same by their slots.
    pub(super) fn indices(&self, lane: List) -> impl Iterator<Item = u32> {
        lane.iter(&self.outgoing)
    }

    /// What is left of a series, to change.
    pub(super) fn rest_mut(&mut self, rest: u32) -> &mut Rest {
        self.rests.at(rest)
    }

    /// What is known of a message that comes here, to change.
    pub(super) fn incoming_mut(&mut self, number: u32) -> &mut Incoming<T> {
        &mut self.incoming[number as usize]
    }

    /// What is due of a host, to change; the order must stay.
    pub(super) fn delayed_mut(&mut self, host: usize) -> &mut VecDeque<Delayed<T>> {
        &mut self.delayed[host]
    }

    /// How many come behind a message in its series, if some do.
    pub fn rest(&self, message: &Outgoing<T>) -> Option<u64> {
        (message.rest != NONE).then(|| self.rests.get(message.rest).series.left)
    }

    /// A packet with so much payload of a message has left.
    #[inline(always)]
    pub fn has_sent(&mut self, message: u32, payload: u64) {
        self.outgoing.at(message).left -= payload;
    }

    /// Puts a message behind those of a lane.
    #[inline(always)]
    pub fn enqueue(&mut self, lane: &mut List, message: u32) {
        lane.push(&mut self.outgoing, message);
    }

    /// Puts a message before those of a lane.
    #[inline(always)]
    pub fn enqueue_first(&mut self, lane: &mut List, message: u32) {
        lane.push_front(&mut self.outgoing, message);
    }

    /// Takes the first message of a lane out.
    #[inline(always)]
    pub fn dequeue(&mut self, lane: &mut List) {
        lane.pop(&self.outgoing);
    }

    /// A message has left as a whole; its token.
    #[inline(always)]
    pub fn release(&mut self, message: u32) -> T {
        let token = self.outgoing.get(message).token;
        self.outgoing.free(message);
        token
    }

    /// Keeps what comes behind the last message of a series that was asked for; its slot.
    pub fn keep_rest(&mut self, series: Series, posted_ps: u64) -> u32 {
        self.rests.take(Rest { next: NONE, series, posted_ps })
    }

    /// When a rest of a series was posted.
    #[inline(always)]
    pub fn rest_posted_ps(&self, rest: u32) -> u64 {
        self.rests.get(rest).posted_ps
    }

    /// The message behind one that has left its place at the head of its queue, which `next_post` finds.
    pub fn follow(
        &mut self,
        message: u32,
        next_post: impl FnOnce(&mut Series) -> Option<Post<T>>,
    ) -> Option<Next<T>> {
        let before = self.outgoing.at(message);
        let (there_ps, rest) = (before.posted_ps, std::mem::replace(&mut before.rest, NONE));
        let Rest { series, posted_ps, .. } = self.rests.at(rest);
        let posted_ps = *posted_ps;
        let post = next_post(series);
        let is_last = series.left == 0;
        if is_last || post.is_none() {
            self.rests.free(rest);
        }
        Some(Next { post: post?, posted_ps, there_ps, rest: if is_last { NONE } else { rest } })
    }

    // ---- messages that hosts receive

    /// A number for a message to partition `to`.
    pub fn number(&mut self, to: u8) -> u32 {
        self.numbers[usize::from(to)].take()
    }

    /// All of a message to partition `to` has been received there: its number is free.
    pub fn retire(&mut self, to: usize, number: u32) {
        self.numbers[to].give(number);
    }

    /// Notes what a receiver here will get.
    pub fn expect(&mut self, number: u32, record: Incoming<T>) {
        let at = number as usize;
        if at >= self.incoming.len() {
            self.incoming.resize(at + 1, record);
        }
        self.incoming[at] = record;
    }

    /// So much payload of a message has come; what is known of it now.
    #[inline(always)]
    pub fn receive(&mut self, number: u32, payload: u64) -> Incoming<T> {
        let record = &mut self.incoming[number as usize];
        record.left -= payload;
        *record
    }

    /// What is known of a message that comes here.
    #[inline(always)]
    pub fn incoming(&self, number: u32) -> &Incoming<T> {
        &self.incoming[number as usize]
    }

    /// The same, of one that may be another partition's.
    pub fn maybe_incoming(&self, number: u32) -> Option<&Incoming<T>> {
        self.incoming.get(number as usize)
    }

    /// Most messages that have been on their way here at one time.
    #[inline(always)]
    pub fn most_incoming(&self) -> usize {
        self.incoming.len()
    }

    // ---- what is due later

    /// Keeps what is due later; whether nothing of its host is due before.
    pub fn delay(&mut self, host: HostId, what: Delayed<T>) -> bool {
        let delayed = &mut self.delayed[host.index()];
        let at = delayed.partition_point(|other| other.time_ps <= what.time_ps);
        delayed.insert(at, what);
        at == 0
    }

    /// What of a host is due first.
    pub fn first_due(&self, host: HostId) -> Option<&Delayed<T>> {
        self.delayed[host.index()].front()
    }

    /// Takes what of a host is due by `now`; one of it, and when the next is.
    pub fn take_due(&mut self, host: HostId, now: u64) -> Option<(Delayed<T>, Option<u64>)> {
        let delayed = &mut self.delayed[host.index()];
        delayed.front().filter(|due| due.time_ps <= now)?;
        let due = delayed.pop_front()?;
        // What was posted at once is much; the next time it is little.
        if delayed.capacity() > MANY && delayed.len() < delayed.capacity() / 4 {
            delayed.shrink_to(delayed.len() * 2);
        }
        Some((due, delayed.front().map(|next| next.time_ps)))
    }

    // ---- latencies of packets

    /// Begins to record latencies of packets.
    pub fn record(&mut self, births: Births) {
        self.births = Some(births);
    }

    /// Latencies of packets, if they are recorded.
    #[inline(always)]
    pub fn births(&self) -> Option<&Births> {
        self.births.as_ref()
    }

    /// The same, to add to.
    #[inline(always)]
    pub fn births_mut(&mut self) -> Option<&mut Births> {
        self.births.as_mut()
    }
}
