//! Routing that listens to congestion notifications on their way back to a source (*snooping*).
//!
//! A packet takes the output of a forwarding table, the default, unless that output is marked for its destination. Then it takes
//! one that is not marked of the minimal ones, round robin; if all are marked, the one with the least feedback. A notification marks
//! the output by which the sampled packet left, at every switch that it comes by. It ends at the first switch that still has an output without a
//! mark for this destination: packets go round there. Where all are marked it goes on, at last to the source, which slows down.
//!
//! Paper 002 (C. Minkenberg, M. Gusat, G. Rodriguez, a talk; section "Adaptive routing based on 802.1Qau CM") names the tables and the order of
//! what is tried. It leaves open, and so it is decided here: a mark ends some time after the last notification for it; there is one round-robin
//! pointer a switch, which a packet moves; notifications go back by the way that the packet came; where the congested output leads to a host there is
//! no way round, and nothing is marked.

use std::collections::BTreeMap;

use netloom_model::{DestId, Fabric, Lft, LinkId, SwitchId};
use netloom_routing::PathSet;
use serde::{Deserialize, Serialize};

use super::minimal::{Map, Ways};
use super::{ByTable, Choice, Here, Notified, Outputs, Way};
use crate::SimError;
use crate::record::Snooped;
use crate::state_codec::{StateReader, StateWriter};

/// Tables, and a congestion table a switch.
#[derive(Clone, Debug)]
pub struct Snooping<'a> {
    table: ByTable,
    minimal: Map<'a>,
    switches: Vec<CongestionTable>,
    snooped: Snooped,
}

/// What a switch has heard.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CongestionTable {
    /// By address of the destination; without those that have none.
    entries: BTreeMap<u32, Vec<Entry>>,
    /// Where round robin goes on: an index into the minimal outputs.
    pointer: usize,
}

/// An output that is congested towards a destination.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    link: LinkId,
    /// That of the last notification.
    feedback: u8,
    /// It is no mark any more from here on, ps.
    until_ps: u64,
}

impl Entry {
    /// The mark of an output, if it has one.
    fn of(entries: &[Self], link: LinkId, now_ps: u64) -> Option<&Self> {
        entries.iter().find(|entry| entry.link == link && entry.until_ps > now_ps)
    }
}

impl<'a> Snooping<'a> {
    /// For hosts with one address. `lft` are the default outputs.
    pub fn new(fabric: &'a Fabric, lft: &Lft, paths: &'a PathSet) -> Self {
        Self {
            table: ByTable::new(fabric, lft),
            minimal: Map::new(fabric, paths),
            switches: vec![CongestionTable::default(); fabric.switch_count()],
            snooped: Snooped::default(),
        }
    }

    /// The first switch and host, if any, where the default output is no minimal one, so that the two could lead in a circle.
    pub fn first_detour(
        fabric: &Fabric,
        lft: &Lft,
        paths: &PathSet,
    ) -> Option<(SwitchId, netloom_model::HostId)> {
        let space = fabric.dests(0);
        let strays = |s: SwitchId, host| {
            let leaf = fabric.leaf(host);
            let link = fabric.link_at(s, lft.port(s, space.host(host, 0)));
            s != leaf && link.is_some_and(|link| !paths.links(s, leaf).contains(&link))
        };
        let mut pairs = fabric.switches().flat_map(|s| fabric.hosts().map(move |host| (s, host)));
        pairs.find(|&(s, host)| strays(s, host))
    }
}

impl Choice for Snooping<'_> {
    const LOOKS: bool = false;
    const SNOOPS: bool = true;

    #[inline]
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        let default = self.table.foresee(here)?;
        let heard = &mut self.switches[here.switch.index()];
        if heard.entries.is_empty() {
            return Some(default);
        }
        let Some(entries) = heard.entries.get_mut(&here.address.0) else { return Some(default) };
        let now = outputs.now;
        if Entry::of(entries, default, now).is_none() {
            entries.retain(|entry| entry.until_ps > now);
            if entries.is_empty() {
                heard.entries.remove(&here.address.0);
            }
            return Some(default);
        }
        let Ways::Any(links) = self.minimal.ways(here) else { return Some(default) };
        let first = heard.pointer % links.len();
        let in_turn = || (first..links.len()).chain(0..first);
        if let Some(at) = in_turn().find(|&at| Entry::of(entries, links[at], now).is_none()) {
            heard.pointer = at + 1;
            self.snooped.rerouted += 1;
            return Some(links[at]);
        }
        self.snooped.all_marked += 1;
        let feedback = |link: LinkId| Entry::of(entries, link, now).map_or(0, |entry| entry.feedback);
        let least = in_turn().map(|at| links[at]).min_by_key(|&link| (feedback(link), link != default));
        self.snooped.rerouted += u64::from(least != Some(default));
        least
    }

    fn snoops(&self) -> bool {
        true
    }

    fn is_notified(&mut self, switch: SwitchId, address: DestId, notified: Notified) -> bool {
        let here = Here { switch, via: notified.link, address, lane: 0, way: Way::default() };
        let Ways::Any(links) = self.minimal.ways(here) else { return false };
        let Notified { link, feedback, now_ps, until_ps } = notified;
        let entries = self.switches[switch.index()].entries.entry(address.0).or_default();
        entries.retain(|entry| entry.until_ps > now_ps);
        match entries.iter_mut().find(|entry| entry.link == link) {
            Some(entry) => *entry = Entry { link, feedback, until_ps },
            None => entries.push(Entry { link, feedback, until_ps }),
        }
        self.snooped.most_entries = self.snooped.most_entries.max(entries.len());
        let goes_round = links.iter().any(|&link| Entry::of(entries, link, now_ps).is_none());
        self.snooped.consumed += u64::from(goes_round);
        goes_round
    }

    fn snooped(&self) -> Option<Snooped> {
        Some(self.snooped)
    }

    fn save(&self, to: &mut StateWriter) {
        to.put(&(&self.switches, self.snooped));
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        let switches = self.switches.len();
        (self.switches, self.snooped) = from.take()?;
        if self.switches.len() == switches { Ok(()) } else { Err(SimError::State) }
    }
}
