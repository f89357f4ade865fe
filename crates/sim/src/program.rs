//! What hosts do: a program is told what happened and asks for messages and timers.

use std::sync::Arc;

use netloom_model::{DestId, HostId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::SimError;
use crate::mode::Mode;
use crate::observe::Context;
use crate::record::Transmission;
use crate::repeats::{Coupled, Iteration, SoFar, Visit};
use crate::stalled::Awaited;
use crate::state_codec::{StateReader, StateWriter};

/// A time beyond the simulator's range; only [`u64::MAX`] is later.
pub(crate) const LAST_PS: u64 = u64::MAX - 1;

/// A message to send.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Post<T> {
    /// The sender.
    pub from: HostId,
    /// Address of the receiver.
    pub address: DestId,
    /// Payload, at least 1.
    pub bytes: u64,
    /// Service level; without SL-to-VL tables, the number of its virtual lane.
    pub lane: u8,
    /// Its mode, for schemes that have modes; `None`: the scheme's own.
    pub mode: Option<Mode>,
    /// Comes back with [`Program::sent`] and [`Program::received`].
    pub token: T,
}

/// Messages that a program posts one after another at one time. A rank may post thousands; each is asked for ([`Program::next_post`])
/// only when those before it leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// The sender.
    pub from: HostId,
    /// Service level, and so the lane, of all of them.
    pub lane: u8,
    /// The program's own: whose they are.
    pub of: u32,
    /// The program's own: where to look for the next.
    pub next: u64,
    /// The program's own: the number of the next.
    pub number: u32,
    /// How many there are to come, at least 1.
    pub left: u64,
}

/// What is to be sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Posted<T> {
    One(Post<T>),
    Several(Series),
}

impl<T> Posted<T> {
    pub fn from(&self) -> HostId {
        match self {
            Self::One(post) => post.from,
            Self::Several(series) => series.from,
        }
    }
}

/// What a host's software has begun and what happens later.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Due<T> {
    /// The adapter gets a message, or a series.
    Post(Posted<T>),
    /// A message within the host is there.
    Copy(T),
}

impl<T: Copy> Due<T> {
    /// The token of the message, or of the first of them.
    pub fn token(&self, program: &impl Program<Token = T>) -> Option<T> {
        match *self {
            Self::Post(Posted::One(post)) => Some(post.token),
            Self::Post(Posted::Several(mut series)) => program.next_post(&mut series).map(|post| post.token),
            Self::Copy(token) => Some(token),
        }
    }
}

/// Whether a simulation goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Halt {
    #[default]
    No,
    /// After a look at it.
    Pause,
    Stop,
}

/// Where a program leaves its wishes.
#[derive(Clone, Debug)]
pub struct Desk<T> {
    pub(crate) now_ps: u64,
    pub(crate) posts: Vec<(u64, Posted<T>)>,
    pub(crate) timers: Vec<(u64, HostId, u32)>,
    pub(crate) copies: Vec<(u64, HostId, T)>,
    pub(crate) news: Vec<u32>,
    pub(crate) halt: Halt,
    /// Which hosts are in this partition; all if `None`.
    pub(crate) here: Option<Arc<[bool]>>,
}

impl<T> Default for Desk<T> {
    fn default() -> Self {
        Self {
            now_ps: 0,
            posts: Vec::new(),
            timers: Vec::new(),
            copies: Vec::new(),
            news: Vec::new(),
            halt: Halt::No,
            here: None,
        }
    }
}

impl<T: Copy> Desk<T> {
    /// Simulated time, ps.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Sends a message now.
    pub fn post(&mut self, post: Post<T>) {
        self.post_after(0, post);
    }

    /// Hands a message to its host's adapter after `delay_ps`; it counts as posted now.
    pub fn post_after(&mut self, delay_ps: u64, post: Post<T>) {
        debug_assert!(post.bytes > 0, "a message has a byte");
        self.posts.push((delay_ps, Posted::One(post)));
    }

    /// [`Desk::post_after`] for the message that [`Program::next_post`] finds from `series.next` on. It joins the series before it, if
    /// that has the same sender and delay and nothing else was posted since; so there must be no message of `series.of` in between
    /// that was not posted so.
    pub fn post_in_series(&mut self, delay_ps: u64, series: Series) {
        match self.posts.last_mut() {
            Some((delay, Posted::Several(last))) if *delay == delay_ps && last.of == series.of => {
                debug_assert!((last.from, last.lane) == (series.from, series.lane));
                last.left += series.left;
            }
            _ => self.posts.push((delay_ps, Posted::Several(series))),
        }
    }

    /// A message within a host: sent and received after `delay_ps`, without the network.
    pub fn copy_after(&mut self, delay_ps: u64, host: HostId, token: T) {
        self.copies.push((delay_ps, host, token));
    }

    /// Whether a host is simulated here, and not in another partition by another copy of the program.
    pub fn is_here(&self, host: HostId) -> bool {
        self.here.as_ref().is_none_or(|here| here[host.index()])
    }

    /// Whether nothing is asked for.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        let Self { posts, timers, copies, news, halt, .. } = self;
        *halt == Halt::No && posts.is_empty() && timers.is_empty() && copies.is_empty() && news.is_empty()
    }

    /// Forgets what was asked for hosts of other partitions.
    pub(crate) fn keep_here(&mut self) {
        let Some(here) = self.here.clone() else { return };
        self.posts.retain(|(_, post)| here[post.from().index()]);
        self.timers.retain(|&(_, host, _)| here[host.index()]);
        self.copies.retain(|&(_, host, _)| here[host.index()]);
    }

    /// Tells the programs of all partitions, this one too: [`Program::heard`] is called a credit's time from now (in any number of
    /// partitions), after everything else of that time, the smallest of several news first. Below 2^26 - 1.
    pub fn announce(&mut self, news: u32) {
        self.news.push(news);
    }

    /// Ends the simulation a credit's time from now; what is under way then stays there.
    pub fn stop(&mut self) {
        self.halt = Halt::Stop;
    }

    /// Lets whoever runs the simulation look at it after this event.
    pub(crate) fn pause(&mut self) {
        if self.halt == Halt::No {
            self.halt = Halt::Pause;
        }
    }

    /// Calls [`Program::timer`] after `delay_ps`. Timers of a host at one time come by token, which is below
    /// 2^26 - 1.
    pub fn wake(&mut self, host: HostId, delay_ps: u64, token: u32) {
        self.timers.push((self.now_ps.saturating_add(delay_ps).min(LAST_PS), host, token));
    }
}

/// The hosts' side of a simulation.
pub trait Program: Send {
    /// What it tells its messages apart by.
    type Token: Copy + std::fmt::Debug + Send + Serialize + DeserializeOwned;

    /// Which of the jobs (counted from 0) a message belongs to; latencies of packets are kept by job.
    fn job(&self, _token: Self::Token) -> usize {
        0
    }

    /// What tells a message of two hosts from others of these, whenever it is sent and whatever other jobs do: random choices for its packets follow
    /// from it. Messages of two hosts with one identity are drawn for alike.
    fn identity(&self, _token: Self::Token) -> u64 {
        0
    }

    /// Whether a message carries payload, and is no question or answer of a protocol.
    fn is_data(&self, _token: Self::Token) -> bool {
        true
    }

    /// Whether a message must not overtake others to its receiver; an answer, which belongs to a message of the other direction, may.
    fn keeps_order(&self, _token: Self::Token) -> bool {
        true
    }

    /// From when to when what is received of a job counts as accepted, ps, if that is measured.
    fn measured_ps(&self, _job: usize) -> Option<(u64, u64)> {
        None
    }

    /// Whose a timer is, for errors.
    fn timer_owner(&self, _token: u32) -> Option<String> {
        None
    }

    /// Whose a message is, for errors.
    fn message_owner(&self, _token: Self::Token) -> Option<String> {
        None
    }

    /// Whose a message is; for observers.
    fn context(&self, _token: Self::Token) -> Context {
        Context::default()
    }

    /// At time 0. What is asked for hosts of other partitions is ignored: another copy of the program asks for it there.
    fn start(&mut self, desk: &mut Desk<Self::Token>);

    /// The next message of a series, for those who post such: the same whenever it is asked for, taken off what is `left`.
    fn next_post(&self, _series: &mut Series) -> Option<Post<Self::Token>> {
        None
    }

    /// Reads what [`Program::sent`], or else [`Program::received`], will read for a message, so that it is in the cache by then. What it
    /// returns means nothing.
    fn foresee(&self, _token: Self::Token, _sent: bool) -> u64 {
        0
    }

    /// The last byte of a message left its host.
    fn sent(&mut self, _from: HostId, _token: Self::Token, _desk: &mut Desk<Self::Token>) {}

    /// The last response to a message has come to its sender; only where packets are answered.
    fn transmitted(&mut self, _from: HostId, _token: Self::Token, _transmission: Transmission) {}

    /// A message is complete at its receiver, `latency_ps` after it was posted.
    fn received(&mut self, at: HostId, token: Self::Token, latency_ps: u64, desk: &mut Desk<Self::Token>);

    /// A timer ran out.
    fn timer(&mut self, _host: HostId, _token: u32, _desk: &mut Desk<Self::Token>) {}

    /// Where jobs start over until others end: those that the run's end waits for, as far as their hosts are `here`; in the same order
    /// wherever they are asked for.
    fn awaited(&self, _here: &dyn Fn(HostId) -> bool) -> Vec<Awaited> {
        Vec::new()
    }

    /// Something was announced, here or in another partition.
    fn heard(&mut self, _news: u32, _desk: &mut Desk<Self::Token>) {}
}

/// A program of which every partition can have a copy that serves the hosts there.
pub trait Split: Program + Clone {
    /// Takes from another partition's copy what it knows of the hosts that were there.
    fn absorb(&mut self, other: Self, was_there: &dyn Fn(HostId) -> bool);

    /// Keeps how far it is.
    fn save(&self, to: &mut StateWriter);

    /// Takes up where another run's program was; instead of [`Program::start`].
    ///
    /// # Errors
    /// [`SimError::State`] if no such program can be there.
    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError>;

    /// Looks for what its jobs do again and again, and pauses where the first of them begins anew; before the start.
    ///
    /// # Errors
    /// Why there is nothing.
    fn iterates(&mut self) -> Result<(), &'static str> {
        Err("the program has no iterations")
    }

    /// At a pause: an iteration that has begun; where the next one of its job pauses is settled. `None`: no other has begun.
    fn begun(&mut self) -> Option<Iteration> {
        None
    }

    /// When the next job begins after `now_ps`; `None`: none does.
    fn begins_ps(&self, _now_ps: u64) -> Option<u64> {
        None
    }

    /// Whether this timer is one with which a job begins after `now_ps`.
    fn is_beginning(&self, _token: u32, _now_ps: u64) -> bool {
        false
    }

    /// What its jobs have come to.
    fn so_far(&self) -> Vec<SoFar> {
        Vec::new()
    }

    /// How its ranks wait for each other, if it has one job and all of them do.
    fn coupled(&self) -> Option<Coupled> {
        None
    }

    /// Whether it has one job.
    fn is_alone(&self) -> bool {
        false
    }

    /// All that changes; see [`Visit`]. Jobs that have not begun change nothing.
    fn visit(&mut self, _visit: &mut Visit) {}

    /// A token, as part of what changes.
    fn visit_token(&self, _visit: &mut Visit, _token: &mut Self::Token) {}

    /// What is to come of a series, in the same way.
    fn visit_series(&self, _visit: &mut Visit, _series: &mut Series) {}
}
