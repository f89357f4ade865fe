//! Modes chosen message by message, at work: what a rank's choice remembers, and which messages it waits to hear of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::steady::Class;
use super::{Aware, ByMessage, Mode, Sample, Size, Steady};
use crate::record::Transmission;

/// What is sent, as far as a choice sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sends {
    pub size: Size,
    pub all_to_all: bool,
    /// The receiver is in the sender's group.
    pub near: bool,
    /// What tells it from the rank's other messages.
    pub key: (bool, u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Rule {
    Published(Aware),
    Steady(Steady),
}

/// The choice of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Choosing {
    rule: Rule,
    /// Messages that are counted and not answered.
    open: BTreeMap<(bool, u32), (Mode, Class)>,
}

impl Choosing {
    /// By a rule.
    pub fn of(by_message: ByMessage) -> Self {
        let rule = match by_message {
            ByMessage::Aware => Rule::Published(Aware::default()),
            ByMessage::Steady => Rule::Steady(Steady::default()),
        };
        Self { rule, open: BTreeMap::new() }
    }

    /// The mode of a message.
    pub fn select(&mut self, sends: Sends) -> Mode {
        let class = Class::of(sends.size.bytes, sends.near, sends.all_to_all);
        let (mode, counts) = match &mut self.rule {
            Rule::Published(aware) => aware.select(sends.size, sends.all_to_all),
            Rule::Steady(steady) => (steady.select(class), true),
        };
        if counts {
            self.open.insert(sends.key, (mode, class));
        }
        mode
    }

    /// A message is answered.
    pub fn is_answered(&mut self, key: (bool, u32), sent: &Transmission) {
        let Some((mode, class)) = self.open.remove(&key) else { return };
        let counters = &sent.counters;
        match &mut self.rule {
            Rule::Published(aware) => {
                let latency = counters.latency_cycles() / counters.packets.max(1) as f64;
                let stalls = counters.stalled_cycles() / counters.flits.max(1) as f64;
                aware.sample(mode, Sample { latency, stalls });
            }
            Rule::Steady(steady) => {
                let cost = sent.answered_ps as f64 / counters.flits.max(1) as f64;
                steady.took(class, mode, cost);
            }
        }
    }
}
