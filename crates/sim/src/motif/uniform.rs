//! Offered load: messages to random hosts at random times, whether or not those before have arrived.
//!
//! Idea: open-loop traffic as networks are measured with it. Every rank draws the times of its messages (a Poisson process) and
//! their receivers (uniformly, on other hosts) beforehand; what the network cannot take yet waits at the source. A warm-up comes
//! before the window that is measured, and as long a time after it, so that the last messages that are measured meet the same load
//! as the first.
//!
//! Invariant: how many messages a rank sends follows from its times alone, so a walk through the script finds what a run sends.
//!
//! Source: W. J. Dally, B. Towles, *Principles and Practices of Interconnection Networks*, 2004, sec. 23.1 and 24.2.

use std::sync::Arc;

use netloom_model::rng::{below, exponential, stream};

use crate::replay::{Op, OpenLoop, Script};

/// Every rank sends to ranks of other hosts drawn uniformly, with exponential pauses; nobody receives on purpose.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// Host of every rank, numbered in any way.
    hosts: Vec<u32>,
    /// Mean time from one message of a rank to its next, ps.
    every_ps: Vec<f64>,
    /// Messages of every rank.
    messages: Vec<u64>,
    /// The ranks that each may send to; `None`: all of other hosts.
    receivers: Option<Arc<[Vec<u32>]>>,
    /// Bytes of each.
    bytes: u64,
    seed: u64,
    window: OpenLoop,
}

impl Uniform {
    /// Ranks on `hosts` send `bytes` each `every_ps` (one value a rank) on average, until as long after the window as it began late.
    ///
    /// # Panics
    /// If all ranks are on one host, or the numbers of ranks differ.
    pub fn new(hosts: Vec<u32>, every_ps: Vec<f64>, bytes: u64, window: OpenLoop, seed: u64) -> Self {
        assert_eq!(hosts.len(), every_ps.len(), "a mean a rank");
        assert!(hosts.iter().any(|&host| host != hosts[0]), "somebody to send to");
        let until_ps = window.to_ps.saturating_add(window.from_ps);
        let mut it = Self { hosts, every_ps, messages: Vec::new(), receivers: None, bytes, seed, window };
        it.messages = (0..it.hosts.len() as u32).map(|rank| it.messages_until(rank, until_ps)).collect();
        it
    }

    /// The same, with receivers drawn from a list of each rank's own.
    ///
    /// # Panics
    /// If a list is empty, or there is not one a rank.
    #[must_use]
    pub fn with_receivers(mut self, receivers: Vec<Vec<u32>>) -> Self {
        assert_eq!(receivers.len(), self.hosts.len(), "a list a rank");
        assert!(receivers.iter().all(|list| !list.is_empty()), "somebody to send to");
        self.receivers = Some(receivers.into());
        self
    }

    fn messages_until(&self, rank: u32, until_ps: u64) -> u64 {
        let (mut now_ps, mut messages) = (0u64, 0);
        loop {
            now_ps = now_ps.saturating_add(self.pause_ps(rank, messages));
            if now_ps >= until_ps {
                return messages;
            }
            messages += 1;
        }
    }

    fn pause_ps(&self, rank: u32, message: u64) -> u64 {
        (self.every_ps[rank as usize] * exponential(&mut self.random(rank, 2 * message))) as u64
    }

    fn random(&self, rank: u32, step: u64) -> netloom_model::rng::Stream {
        stream(self.seed, (u64::from(rank) << 32) + step)
    }
}

impl Script for Uniform {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        if step / 2 >= self.messages[rank as usize] {
            return None;
        }
        if step.is_multiple_of(2) {
            return Some(Op::Compute { ps: self.pause_ps(rank, step / 2) });
        }
        let (mut random, own) = (self.random(rank, step), self.hosts[rank as usize]);
        if let Some(receivers) = &self.receivers {
            let list = &receivers[rank as usize];
            let to = list[below(&mut random, list.len() as u64) as usize];
            return Some(Op::Send { to, bytes: self.bytes, tag: 0 });
        }
        let to = loop {
            let to = below(&mut random, self.hosts.len() as u64) as u32;
            if self.hosts[to as usize] != own {
                break to;
            }
        };
        Some(Op::Send { to, bytes: self.bytes, tag: 0 })
    }

    fn open_loop(&self) -> Option<OpenLoop> {
        Some(self.window)
    }
}
