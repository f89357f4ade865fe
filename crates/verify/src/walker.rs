//! Following one destination's entries from all switches at once.
//!
//! The entries towards one address make a graph with at most one edge out of each switch, so every switch's fate
//! (delivered after how many hops, with which faults, or not at all) is found once and shared by all hosts behind it.

use crate::wiring::{Behind, Way, Wiring};

/// Where an entry leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the destination itself.
    Arrive,
    /// To another switch.
    To(u32, Way),
    /// Nowhere: no entry.
    Missing,
    /// Nowhere: a senseless entry.
    Invalid,
}

/// The fate of a packet from some switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// Links between switches until the destination's switch, or `LOST`.
    pub hops: u16,
    /// Whether some link further on goes up or sideways.
    climbs: bool,
    /// Whether it goes up or sideways after it went down, or sideways at all.
    pub turns: bool,
    /// Whether it runs in a circle.
    pub loops: bool,
}

/// Hops of a packet that does not arrive.
pub(crate) const LOST: u16 = u16::MAX;

const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const DONE: u8 = 2;

/// Scratch for one destination after the other.
pub(crate) struct Walker {
    /// Per switch, for the destination at hand; the caller fills these.
    pub step: Vec<Step>,
    /// The port behind each step.
    pub port: Vec<u16>,
    pub fate: Vec<Fate>,
    state: Vec<u8>,
    path: Vec<u32>,
    used: Vec<bool>,
    used_list: Vec<u32>,
}

impl Walker {
    pub fn new(switches: usize) -> Self {
        let lost = Fate { hops: LOST, climbs: false, turns: false, loops: false };
        Self {
            step: vec![Step::Missing; switches],
            port: vec![0; switches],
            fate: vec![lost; switches],
            state: vec![UNKNOWN; switches],
            path: Vec::new(),
            used: vec![false; switches],
            used_list: Vec::new(),
        }
    }

    /// Finds every switch's fate from the steps.
    pub fn resolve(&mut self) {
        self.state.fill(UNKNOWN);
        for s in 0..self.step.len() as u32 {
            let mut at = s;
            self.path.clear();
            // Forward to something known ...
            let mut fate = loop {
                match self.state[at as usize] {
                    DONE => break self.fate[at as usize],
                    OPEN => break Fate { hops: LOST, climbs: false, turns: false, loops: true },
                    _ => {}
                }
                match self.step[at as usize] {
                    Step::To(next, _) => {
                        self.state[at as usize] = OPEN;
                        self.path.push(at);
                        at = next;
                    }
                    step => {
                        let hops = if step == Step::Arrive { 0 } else { LOST };
                        let fate = Fate { hops, climbs: false, turns: false, loops: false };
                        (self.state[at as usize], self.fate[at as usize]) = (DONE, fate);
                        break fate;
                    }
                }
            };
            // ... and back along the path.
            while let Some(v) = self.path.pop() {
                let Step::To(_, way) = self.step[v as usize] else { unreachable!("paths are made of steps") };
                fate = Fate {
                    hops: if fate.hops == LOST { LOST } else { fate.hops + 1 },
                    turns: fate.turns || way == Way::Peer || (way == Way::Down && fate.climbs),
                    climbs: fate.climbs || way != Way::Down,
                    loops: fate.loops,
                };
                (self.state[v as usize], self.fate[v as usize]) = (DONE, fate);
            }
        }
    }

    /// The switches that packets from `sources` pass, each once, as `(switch, next switch)`.
    pub fn used(&mut self, sources: impl Iterator<Item = u32>) -> impl Iterator<Item = (u32, u32)> + '_ {
        for s in self.used_list.drain(..) {
            self.used[s as usize] = false;
        }
        for s in sources {
            let mut at = s;
            while !self.used[at as usize]
                && let Step::To(next, _) = self.step[at as usize]
            {
                self.used[at as usize] = true;
                self.used_list.push(at);
                at = next;
            }
        }
        self.used_list.iter().map(|&s| match self.step[s as usize] {
            Step::To(next, _) => (s, next),
            _ => unreachable!("used switches have a step"),
        })
    }

    /// Where a packet from `switch` ends, when it does not arrive.
    pub fn end(&self, switch: u32) -> u32 {
        let mut at = switch;
        for _ in 0..self.step.len() {
            match self.step[at as usize] {
                Step::To(next, _) => at = next,
                _ => break,
            }
        }
        at
    }
}

/// What an entry of `switch` means for a host or switch address.
#[inline]
pub(crate) fn step(wiring: &Wiring, switch: u32, port: u16, to: Target) -> Step {
    if port == netloom_model::NO_PORT {
        return Step::Missing;
    }
    if port == 0 {
        return if to == Target::Switch(switch) { Step::Arrive } else { Step::Invalid };
    }
    if to == Target::Switch(switch) {
        return Step::Invalid;
    }
    match wiring.behind(switch, port) {
        Behind::Switch(next, way) => Step::To(next, way),
        Behind::Host(h) if to == Target::Host(h) => Step::Arrive,
        _ => Step::Invalid,
    }
}

/// Who an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Host(u32),
    Switch(u32),
}
