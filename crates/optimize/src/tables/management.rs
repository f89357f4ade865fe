//! Entries towards the switches' own addresses: what management sends, over the same buffers as everything else.
//!
//! No traffic is known that uses them, so they stay as they are where they are sound: over working cables, to the
//! switch, up and then down. Where they are not, entries off the shortest up*/down* ways are replaced. From some
//! switches no such way leads (to a spine, from a leaf that lost its cable to it): what leads there all the same
//! stays if that closes no credit loop, and is taken out otherwise.
//!
//! Ways that never turn up again cannot wait in a circle, so only those that do have to be looked at together.

use netloom_model::{DestId, DestSpace, Fabric, Lft, LinkId, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;
use rayon::prelude::*;

/// Switches that are looked at together: one bit of a word each.
const BLOCK: usize = 64;

/// Mends the entries of `lft` towards switches. Those towards hosts must be admissible already.
pub(crate) fn mend(fabric: &Fabric, structure: &Structure, lft: &mut Lft, lmc: u8) {
    let wires = Wires::new(fabric, structure);
    let targets: Vec<u32> = (0..fabric.switch_count() as u32).collect();
    // A switch without a working cable leads nowhere.
    for off in fabric.switches().filter(|s| !wires.on[s.index()]) {
        for target in fabric.switches().filter(|&target| target != off) {
            lft.set(off, fabric.dests(lmc).switch(target), None);
        }
    }
    let unsound: Vec<SwitchId> = targets
        .par_chunks(BLOCK)
        .flat_map_iter(|block| wires.unsound(lft, fabric.dests(lmc), block))
        .map(SwitchId)
        .collect();
    if unsound.is_empty() {
        return;
    }
    let paths = PathSet::towards_switches(fabric, structure, unsound.clone());
    let mut turning = Vec::new();
    for target in unsound {
        let dest = fabric.dests(lmc).switch(target);
        wires.mend(lft, &paths, target, dest);
        if wires.fates(&wires.steps(lft, target.0, dest)).1 {
            turning.push(target);
        }
    }
    if turning.is_empty() {
        return;
    }
    if wires.wait_in_a_circle(lft, fabric.dests(lmc)) {
        for target in turning {
            let dest = fabric.dests(lmc).switch(target);
            let no_way = |s: &SwitchId| *s != target && paths.links(*s, target).is_empty();
            fabric.switches().filter(no_way).for_each(|s| lft.set(s, dest, None));
        }
    }
}

/// Where an entry leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Arrive,
    /// To a switch; whether down.
    To(u32, bool),
    /// No entry.
    Missing,
    /// To nobody.
    Astray,
    /// A switch without a working cable.
    Off,
}

/// The working cables, and who is above whom.
struct Wires<'a> {
    fabric: &'a Fabric,
    structure: &'a Structure,
    /// Whether a switch has a working cable at all.
    on: Vec<bool>,
    /// Whether it has a host that can send.
    sends: Vec<bool>,
    from_bottom: Vec<u32>,
}

impl<'a> Wires<'a> {
    fn new(fabric: &'a Fabric, structure: &'a Structure) -> Self {
        let on = fabric.switches().map(|s| fabric.switch_links(s).any(|l| fabric.alive(l))).collect();
        let working = |s| fabric.hosts_on(s).iter().any(|&h| fabric.alive(fabric.host_link(h)));
        let mut from_bottom: Vec<u32> =
            (0..fabric.switch_count() as u32).filter(|&s| structure.rank[s as usize] != u16::MAX).collect();
        from_bottom.sort_by_key(|&s| structure.rank[s as usize]);
        Self { fabric, structure, on, sends: fabric.switches().map(working).collect(), from_bottom }
    }

    /// Working links to other switches: where to, and whether down.
    fn near(&self, s: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let rank = &self.structure.rank;
        let links = self.fabric.switch_links(SwitchId(s)).filter(|&l| self.fabric.alive(l));
        let to = links.filter_map(|l| self.fabric.link_to_switch(l));
        to.map(move |t| (t.0, rank[t.index()] < rank[s as usize]))
    }

    /// By switch: which of `targets` an up*/down* way leads to, one bit each.
    fn reached(&self, targets: &[u32]) -> Vec<u64> {
        let mut bits = vec![0u64; self.on.len()];
        targets.iter().enumerate().for_each(|(j, &t)| bits[t as usize] |= 1 << j);
        let spread = |bits: &mut Vec<u64>, s: u32, down: bool| {
            let more = self.near(s).filter(|&(_, way)| way == down).map(|(t, _)| bits[t as usize]);
            let more = more.fold(0, |all, b| all | b);
            bits[s as usize] |= more;
        };
        self.from_bottom.iter().for_each(|&s| spread(&mut bits, s, true));
        self.from_bottom.iter().rev().for_each(|&s| spread(&mut bits, s, false));
        bits
    }

    /// Those of `targets` towards which some entry is not sound.
    fn unsound(&self, lft: &Lft, space: DestSpace, targets: &[u32]) -> Vec<u32> {
        let reached = self.reached(targets);
        let sound = |(j, &target): (usize, &u32)| {
            let steps = self.steps(lft, target, space.switch(SwitchId(target)));
            let wanting = |s: usize| match steps[s] {
                Step::Astray => true,
                Step::Missing => reached[s] >> j & 1 == 1,
                _ => false,
            };
            let (arrives, turns) = self.fates(&steps);
            let lost = |s: usize| self.sends[s] && !arrives[s] && reached[s] >> j & 1 == 1;
            !turns && !(0..steps.len()).any(|s| wanting(s) || lost(s))
        };
        targets.iter().enumerate().filter(|&each| !sound(each)).map(|(_, &t)| t).collect()
    }

    /// Where the entries of all switches towards one lead.
    fn steps(&self, lft: &Lft, target: u32, dest: DestId) -> Vec<Step> {
        let rank = &self.structure.rank;
        let step = |s: u32| {
            if !self.on[s as usize] {
                return Step::Off;
            }
            match lft.get(SwitchId(s), dest) {
                None => Step::Missing,
                Some(0) if s == target => Step::Arrive,
                Some(port) if port > 0 && s != target => {
                    let link = self.fabric.link_at(SwitchId(s), port).filter(|&l| self.fabric.alive(l));
                    match link.and_then(|l: LinkId| self.fabric.link_to_switch(l)) {
                        Some(t) => Step::To(t.0, rank[t.index()] < rank[s as usize]),
                        None => Step::Astray,
                    }
                }
                Some(_) => Step::Astray,
            }
        };
        (0..self.on.len() as u32).map(step).collect()
    }

    /// From which switches a packet arrives; and whether one that a host sends turns up (or aside) after it went
    /// down, or runs in a circle.
    fn fates(&self, steps: &[Step]) -> (Vec<bool>, bool) {
        const UNKNOWN: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let n = steps.len();
        let mut state = vec![UNKNOWN; n];
        let (mut arrives, mut climbs, mut turns) = (vec![false; n], vec![false; n], vec![false; n]);
        let mut way = Vec::new();
        for s in 0..n {
            let mut at = s;
            while state[at] == UNKNOWN {
                state[at] = OPEN;
                way.push(at);
                match steps[at] {
                    Step::To(next, _) => at = next as usize,
                    _ => break,
                }
            }
            // What is open here, and not the end of this way, has been met twice.
            let circle = state[at] == OPEN && matches!(steps[at], Step::To(..));
            while let Some(v) = way.pop() {
                state[v] = DONE;
                match steps[v] {
                    Step::To(next, down) => {
                        let next = next as usize;
                        arrives[v] = !circle && arrives[next];
                        turns[v] = circle || turns[next] || (down && climbs[next]);
                        climbs[v] = climbs[next] || !down;
                    }
                    step => arrives[v] = step == Step::Arrive,
                }
            }
        }
        let turn = (0..n).any(|s| self.sends[s] && turns[s]);
        (arrives, turn)
    }

    /// Whether packets that hosts send can wait for each other's buffers in a circle of links (Dally and Seitz 1987).
    fn wait_in_a_circle(&self, lft: &Lft, space: DestSpace) -> bool {
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); self.fabric.links().count()];
        let mut waits = vec![0u32; after.len()];
        let mut seen = vec![u32::MAX; self.on.len()];
        for number in 0..space.count() {
            let dest = DestId::from_index(number);
            let next = |s: SwitchId| {
                let port = lft.get(s, dest).filter(|&port| port > 0)?;
                let link = self.fabric.link_at(s, port).filter(|&l| self.fabric.alive(l))?;
                Some((link, self.fabric.link_to_switch(link)?))
            };
            for s in self.fabric.switches().filter(|s| self.sends[s.index()]) {
                let mut at = s;
                while seen[at.index()] != number as u32 {
                    seen[at.index()] = number as u32;
                    let Some((link, to)) = next(at) else { break };
                    if let Some((then, _)) = next(to)
                        && !after[link.index()].contains(&then.0)
                    {
                        after[link.index()].push(then.0);
                        waits[then.index()] += 1;
                    }
                    at = to;
                }
            }
        }
        // Links that wait for nobody drain, then those that waited for them; what is left is a circle, or behind one.
        let mut free: Vec<u32> = (0..waits.len() as u32).filter(|&l| waits[l as usize] == 0).collect();
        let mut drained = 0;
        while let Some(link) = free.pop() {
            drained += 1;
            for &then in &after[link as usize] {
                waits[then as usize] -= 1;
                if waits[then as usize] == 0 {
                    free.push(then);
                }
            }
        }
        drained < waits.len()
    }

    /// Shortest up*/down* entries towards `target` where there are any; elsewhere what leads there.
    fn mend(&self, lft: &mut Lft, paths: &PathSet, target: SwitchId, dest: DestId) {
        let steps = self.steps(lft, target.0, dest);
        for s in self.fabric.switches().filter(|s| self.on[s.index()]) {
            let links = paths.links(s, target);
            if s == target {
                lft.set(s, dest, Some(0));
            } else if links.is_empty() {
                if steps[s.index()] == Step::Astray {
                    lft.set(s, dest, None);
                }
            } else {
                let port = lft.get(s, dest);
                if !links.iter().any(|&l| Some(self.fabric.link_port(l)) == port) {
                    let link = links[target.index() % links.len()];
                    lft.set(s, dest, Some(self.fabric.link_port(link)));
                }
            }
        }
        let (arrives, _) = self.fates(&self.steps(lft, target.0, dest));
        for s in self.fabric.switches().filter(|s| self.on[s.index()] && !arrives[s.index()]) {
            lft.set(s, dest, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{Damage, damage, detect, generate};

    use super::*;

    /// A tree whose first leaf has lost its cable to the first spine, with the entries of an engine from before.
    fn cut(engine: Engine) -> (Fabric, Structure, Lft) {
        let whole = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let before = route(engine, &whole, &detect(&whole), &EngineOptions::default()).unwrap();
        let what = Damage { links: vec![("leaf00".into(), 3)], ..Damage::default() };
        let fabric = damage(&whole, &what, 0).unwrap().fabric;
        let structure = detect(&fabric);
        (fabric, structure, before.lft().unwrap().clone())
    }

    #[test]
    fn entries_over_a_dead_cable_are_replaced_or_taken_out_and_others_stay() {
        let (fabric, structure, before) = cut(Engine::Updn);
        let mut lft = before.clone();
        mend(&fabric, &structure, &mut lft, 0);
        let space = fabric.dests(0);
        let [leaf, spine] =
            ["leaf00", "spine00"].map(|n| fabric.switches().find(|&s| fabric.switch_name(s) == n).unwrap());
        for (target, s) in fabric.switches().flat_map(|t| fabric.switches().map(move |s| (t, s))) {
            let (old, new) = (before.get(s, space.switch(target)), lft.get(s, space.switch(target)));
            let works = |p: u16| p == 0 || fabric.link_at(s, p).is_some_and(|l| fabric.alive(l));
            assert!(new.is_none_or(works), "{s:?} to {target:?}: {new:?}");
            // No up*/down* way leads from the first leaf to the first spine or back; what leads to the leaf goes by
            // the other spine now.
            assert_eq!(new.is_none() && old.is_some(), [(leaf, spine), (spine, leaf)].contains(&(s, target)));
            assert!(old == new || [leaf, spine].contains(&target) || s == leaf, "{s:?} to {target:?}");
        }
        let again = lft.clone();
        mend(&fabric, &structure, &mut lft, 0);
        assert_eq!(lft, again, "what is sound stays");
    }

    #[test]
    fn a_way_that_turns_up_again_stays_where_it_waits_for_nobody() {
        let (fabric, structure, _) = cut(Engine::Updn);
        let minhop = route(Engine::Minhop, &fabric, &structure, &EngineOptions::default()).unwrap();
        let mut lft = minhop.lft().unwrap().clone();
        mend(&fabric, &structure, &mut lft, 0);
        assert_eq!(&lft, minhop.lft().unwrap(), "leaf, spine, leaf, spine: the one way there is");
    }
}
