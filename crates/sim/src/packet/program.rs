//! What hosts do: a program is told what happened and asks for messages and timers.

use netloom_model::{DestId, HostId};

/// A message to send.
#[derive(Clone, Copy, Debug)]
pub struct Post {
    /// The sender.
    pub from: HostId,
    /// Address of the receiver.
    pub address: DestId,
    /// Payload, at least 1.
    pub bytes: u64,
    /// Virtual lane that it starts on.
    pub lane: u8,
    /// Comes back with [`Program::sent`] and [`Program::received`].
    pub token: u64,
}

/// Where a program leaves its wishes.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    pub(crate) now_ps: u64,
    pub(crate) posts: Vec<Post>,
    pub(crate) timers: Vec<(u64, HostId, u32)>,
}

impl Desk {
    /// Simulated time, ps.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Sends a message now.
    pub fn post(&mut self, post: Post) {
        debug_assert!(post.bytes > 0, "a message has a byte");
        self.posts.push(post);
    }

    /// Calls [`Program::timer`] after `delay_ps`. Timers of a host at one time come by token.
    pub fn wake(&mut self, host: HostId, delay_ps: u64, token: u32) {
        self.timers.push((self.now_ps + delay_ps, host, token));
    }
}

/// The hosts' side of a simulation.
pub trait Program: Send {
    /// At time 0.
    fn start(&mut self, desk: &mut Desk);

    /// The last byte of a message left its host.
    fn sent(&mut self, _from: HostId, _token: u64, _desk: &mut Desk) {}

    /// A message is complete at its receiver, `latency_ps` after it was posted.
    fn received(&mut self, at: HostId, token: u64, latency_ps: u64, desk: &mut Desk);

    /// A timer ran out.
    fn timer(&mut self, _host: HostId, _token: u32, _desk: &mut Desk) {}
}
