//! Following one destination's entries from all switches at once.
//!
//! The entries towards one address make a graph with at most one edge out of each switch, so every switch's fate
//! (delivered after how many hops, with which faults, or not at all) is found once and shared by all hosts behind it.

use netloom_model::DestId;

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
    /// Per switch, for the destination at hand.
    pub fate: Vec<Fate>,
    state: Vec<u8>,
    path: Vec<u32>,
    order: Vec<u32>,
}

impl Walker {
    pub fn new(switches: usize) -> Self {
        let lost = Fate { hops: LOST, climbs: false, turns: false, loops: false };
        Self {
            fate: vec![lost; switches],
            state: vec![UNKNOWN; switches],
            path: Vec::new(),
            order: (0..switches as u32).collect(),
        }
    }

    /// Looks at switches in this order, the nearest to the destination first: then the next one's fate is mostly known.
    /// What is found does not depend on it.
    pub fn order_by(&mut self, distance: impl Fn(u32) -> u8) {
        let mut first = [0u32; 257];
        (0..self.order.len() as u32).for_each(|s| first[usize::from(distance(s)) + 1] += 1);
        (0..256).for_each(|d| first[d + 1] += first[d]);
        for s in 0..self.order.len() as u32 {
            let slot = &mut first[usize::from(distance(s))];
            self.order[*slot as usize] = s;
            *slot += 1;
        }
    }

    /// Finds every switch's fate from the steps towards one address.
    pub fn resolve(&mut self, steps: &[Step]) {
        self.state.fill(UNKNOWN);
        for i in 0..self.order.len() {
            let s = self.order[i] as usize;
            if let Step::To(next, way) = steps[s]
                && self.state[next as usize] == DONE
            {
                (self.state[s], self.fate[s]) = (DONE, self.fate[next as usize].after(way));
            } else {
                self.follow(steps, s as u32);
            }
        }
    }

    /// Forward to something known, and back along the path.
    fn follow(&mut self, steps: &[Step], from: u32) {
        let mut at = from;
        self.path.clear();
        let mut fate = loop {
            match self.state[at as usize] {
                DONE => break self.fate[at as usize],
                OPEN => break Fate { hops: LOST, climbs: false, turns: false, loops: true },
                _ => {}
            }
            match steps[at as usize] {
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
        while let Some(v) = self.path.pop() {
            let Step::To(_, way) = steps[v as usize] else { unreachable!("paths are made of steps") };
            fate = fate.after(way);
            (self.state[v as usize], self.fate[v as usize]) = (DONE, fate);
        }
    }
}

impl Fate {
    /// That of whoever comes here by one more link.
    #[inline]
    fn after(self, way: Way) -> Self {
        Fate {
            hops: if self.hops == LOST { LOST } else { self.hops + 1 },
            turns: self.turns || way == Way::Peer || (way == Way::Down && self.climbs),
            climbs: self.climbs || way != Way::Down,
            loops: self.loops,
        }
    }
}

/// Where a packet from `switch` ends, when it does not arrive.
pub(crate) fn end(steps: &[Step], switch: u32) -> u32 {
    let mut at = switch;
    for _ in 0..steps.len() {
        match steps[at as usize] {
            Step::To(next, _) => at = next,
            _ => break,
        }
    }
    at
}

/// What an entry of `switch` means for a host or switch address.
#[inline(always)]
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

/// One address of a batch of destination switches: what it is, and its place in the tables.
pub(crate) struct Address {
    pub target: Target,
    pub dest: DestId,
    /// The switch it hangs on (or is), by position in the batch.
    pub at: usize,
}
