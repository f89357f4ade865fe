//! Whether the entries towards many addresses are as they should be, found for all of them in one pass over the switches.
//!
//! Should be: every entry leads over a working cable to a switch, or at the address's own switch to the address; from every leaf with hosts
//! packets arrive, those for hosts by as few hops as can be, and none goes up or sideways after it went down. There is nothing to tell of
//! such an address. What is wrong with any other is for `walker` to find.
//!
//! Invariant: an address that is plain here has no finding there, and the same channels.

use crate::channels::Channels;
use crate::walker::Target;
use crate::wiring::{Behind, Way, Wiring};

/// Addresses of a pass: a bit each.
pub(crate) const PASS: usize = 64;
/// No way of plain entries is longer, links between switches.
const LONGEST: usize = 100;
/// In a way's code, above its hops: it goes up or sideways somewhere.
const CLIMBS: u8 = 1 << 7;

/// Scratch for one pass after the other.
pub(crate) struct Plain {
    /// `[switch * PASS + address]`: hops from there plus 1, and [`CLIMBS`]; 0: not looked at yet.
    ways: Vec<u8>,
    path: Vec<(u32, Way)>,
}

impl Plain {
    pub fn new(switches: usize) -> Self {
        Self { ways: vec![0; switches * PASS], path: Vec::new() }
    }

    /// Which of up to [`PASS`] addresses are plain, by bit. `ports` has the port at every switch, `[switch * PASS + address]`; an address is a
    /// target, the switch that it hangs on (or is), and a number that `least` knows it by, which tells the fewest hops from a leaf. What
    /// packets from `sources`, leaves, pass is added to the channels.
    pub fn check(
        &mut self,
        wiring: &Wiring,
        ports: &[u16],
        addresses: &[(Target, u32, usize)],
        sources: &[u32],
        least: impl Fn(u32, usize) -> u8,
        channels: &Channels,
    ) -> u64 {
        self.ways.fill(0);
        let mut wrong = 0u64;
        for (i, &(target, at, _)) in addresses.iter().enumerate() {
            let slot = at as usize * PASS + i;
            let arrives = match target {
                Target::Host(host) => wiring.behind(at, ports[slot]) == Behind::Host(host),
                Target::Switch(_) => ports[slot] == 0,
            };
            wrong |= u64::from(!arrives) << i;
            self.ways[slot] = 1;
        }
        for (s, (ports, ways)) in (0..).zip(ports.chunks_exact(PASS).zip(self.ways.chunks_exact(PASS))) {
            if wiring.on[s as usize] {
                for (i, (&port, &way)) in ports.iter().zip(ways).enumerate().take(addresses.len()) {
                    wrong |= u64::from(!wiring.leads_on(s, port) && way == 0) << i;
                }
            }
        }
        for &source in sources {
            for (i, &(target, _, number)) in addresses.iter().enumerate() {
                if wrong >> i & 1 == 0 {
                    let is_host = matches!(target, Target::Host(_));
                    let hops = self.follow(wiring, ports, (source, i), is_host, channels);
                    let good = hops.is_some_and(|hops| !is_host || hops <= least(source, number));
                    wrong |= u64::from(!good) << i;
                }
            }
        }
        !wrong & (u64::MAX >> (PASS - addresses.len()))
    }

    /// Hops from a switch to an address; `None` if it is too far, or if packets for a host would turn.
    #[inline]
    fn follow(
        &mut self,
        wiring: &Wiring,
        ports: &[u16],
        (from, i): (u32, usize),
        straight: bool,
        channels: &Channels,
    ) -> Option<u8> {
        let slot = |s: u32| s as usize * PASS + i;
        let mut at = from;
        self.path.clear();
        while self.ways[slot(at)] == 0 {
            let Behind::Switch(next, way) = wiring.behind(at, ports[slot(at)]) else { return None };
            if self.path.len() == LONGEST {
                return None;
            }
            self.path.push((at, way));
            at = next;
        }
        let mut code = self.ways[slot(at)];
        while let Some((s, way)) = self.path.pop() {
            if straight && (way == Way::Peer || (way == Way::Down && code & CLIMBS != 0)) {
                return None;
            }
            if usize::from(code & !CLIMBS) > LONGEST {
                return None;
            }
            channels.add(wiring.link(s, ports[slot(s)]), ports[slot(at)]);
            code = (code + 1) | if way == Way::Down { 0 } else { CLIMBS };
            self.ways[slot(s)] = code;
            at = s;
        }
        Some((code & !CLIMBS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{DestId, SwitchId};
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    use super::*;

    /// What is plain of the addresses of a leaf of two hosts, with the entry of one switch towards the first host changed.
    fn plain(change: Option<(SwitchId, u16)>) -> u64 {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let routes = route(Engine::Dmodk, &fabric, &structure, &EngineOptions::default()).unwrap();
        let mut lft = routes.lft().unwrap().clone();
        if let Some((switch, port)) = change {
            lft.set(switch, DestId(0), Some(port));
        }
        let wiring = Wiring::new(&fabric, &structure);
        let batch = wiring.batch(&[0]);
        let space = routes.dests(&fabric);
        let addresses = [(Target::Host(0), 0, 0), (Target::Host(1), 0, 0), (Target::Switch(0), 0, 0)];
        let dests = [DestId(0), DestId(1), space.switch(SwitchId(0))];
        let mut ports = vec![0; fabric.switch_count() * PASS];
        for s in fabric.switches() {
            for (i, &dest) in dests.iter().enumerate() {
                ports[s.index() * PASS + i] = lft.port(s, dest);
            }
        }
        let channels = Channels::new(&fabric);
        let least = |leaf, at| batch.least(leaf, at);
        Plain::new(fabric.switch_count()).check(&wiring, &ports, &addresses, &[0, 1, 2], least, &channels)
    }

    #[test]
    fn addresses_are_plain_until_one_entry_is_wrong() {
        assert_eq!(plain(None), 0b111);
        // A leaf that sends to a host of its own, to a port that there is not, or to itself; the host's leaf that sends it up.
        for (switch, port) in [(1, 1), (1, 60), (1, 0), (0, 3)] {
            assert_eq!(plain(Some((SwitchId(switch), port))), 0b110, "switch {switch} to port {port}");
        }
        // A spine that sends it down to another leaf, which sends it up again: round for ever, or longer and with a turn.
        assert_eq!(plain(Some((SwitchId(3), 2))), 0b110);
    }
}
