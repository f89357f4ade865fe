//! AFAR: adaptive flow-aware routing by greedy repair of the hottest link.
//!
//! Take the hottest link; take a destination whose data crosses it; at the switch that sends over the
//! link, move that destination's entry to the least loaded alternative. We move entries on the way up and
//! on the way down (Taffet, dissertation, sec. 3.5.4), count only moves that leave the changed path cooler
//! than the link was (so the result is never worse than its start), and where a link can't be cooled, go on
//! with the next (as the dissertation does) down to half the hottest: where sizes differ a little, moves
//! below the top are what unlocks it. Every move lowers the sorted list of loads, so this ends.
//! Loads are kept up to date by walking two paths, not recomputed.
//! Source: Smith et al., SC18, Algorithm 1.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use netloom_model::{Control, Csr, Fabric, Lft, LinkId, Routes, StopReason, SwitchId, Table};
use netloom_routing::PathSet;

use crate::OptimizeError;
use crate::search::state::items::{Items, items};

/// How far AFAR goes.
#[derive(Clone, Debug)]
pub struct AfarOptions {
    /// Stop once no link between switches carries more than this (bytes at the reference bandwidth).
    pub max_load: f64,
    /// Entries to change at most.
    pub max_iters: u64,
}

impl Default for AfarOptions {
    fn default() -> Self {
        Self { max_load: 0.0, max_iters: 100_000 }
    }
}

/// What AFAR found.
#[derive(Clone, Debug)]
pub struct AfarResult {
    /// The routes.
    pub routes: Routes,
    /// Largest load of a link between switches.
    pub max_load: f64,
    /// Entries changed.
    pub iterations: u64,
    /// No entry is left whose change would cool one of the hottest links.
    pub stuck: bool,
    /// Why it was cut short from outside, if it was.
    pub stopped: Option<StopReason>,
}

/// The table of destination-based routes that fit `fabric` and `traffic`.
pub(crate) fn check_shapes<'r>(
    fabric: &Fabric,
    traffic: &Csr,
    routes: &'r Routes,
) -> Result<&'r Lft, OptimizeError> {
    let (endpoints, hosts) = (traffic.size(), fabric.host_count());
    if endpoints != hosts {
        return Err(OptimizeError::Size { endpoints, hosts });
    }
    let lft = routes.lft().ok_or(OptimizeError::NotByDestination)?;
    for (expected, found) in
        [(fabric.switch_count(), lft.switches()), (routes.dests(fabric).count(), lft.dests())]
    {
        if expected != found {
            return Err(OptimizeError::Shape { expected, found });
        }
    }
    Ok(lft)
}

/// Repairs `start` greedily for `traffic`.
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, or `start` is not destination-based or does not deliver the traffic.
pub fn afar(
    fabric: &Fabric,
    paths: &PathSet,
    start: &Routes,
    traffic: &Csr,
    options: &AfarOptions,
    control: &Control,
) -> Result<AfarResult, OptimizeError> {
    let lft = check_shapes(fabric, traffic, start)?;
    let items = items(fabric, traffic, start);
    let mut repair = Repair::new(fabric, paths, &items, lft.clone())?;
    let mut iterations = 0;
    let (mut moved, mut stuck) = (false, false);
    let mut floor = repair.wake(options.max_load);
    while iterations < options.max_iters && control.stopped().is_none() {
        match repair.hottest(floor) {
            Some(link) if repair.cool(link) => {
                iterations += 1;
                moved = true;
                control.report(iterations, options.max_iters);
            }
            Some(link) => repair.skip(link),
            None if moved => {
                moved = false;
                floor = repair.wake(options.max_load);
            }
            None => {
                stuck = repair.top() > options.max_load;
                break;
            }
        }
    }
    let max_load = repair.top();
    let routes = Routes {
        table: Table::ByDest(repair.lft),
        cabling_hash: Some(fabric.cabling_hash()),
        ..start.clone()
    };
    Ok(AfarResult { routes, max_load, iterations, stuck, stopped: control.stopped() })
}

/// Links below this share of the hottest are left alone.
const LEAST_OF_HOTTEST: f64 = 0.5;

/// Key of a link by load: the bits of a float that is not negative sort as the float does.
fn rank(link: LinkId, load: f64) -> (u64, Reverse<u32>) {
    (load.to_bits(), Reverse(link.0))
}

struct Repair<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    items: &'a Items,
    lft: Lft,
    /// Per link between switches; host links stay 0.
    load: Vec<f64>,
    /// Links not known to be stuck, by load; ties by falling number.
    waiting: BTreeSet<(u64, Reverse<u32>)>,
    /// Per group: bytes at every switch that its traffic leaves.
    flow: Vec<Vec<(u32, f64)>>,
    /// Per link: groups that cross it, rising.
    crossing: Vec<Vec<u32>>,
    /// Per group: whether all its entries are admissible (0 unknown, 1 yes, 2 no).
    movable: Vec<u8>,
}

impl<'a> Repair<'a> {
    fn new(
        fabric: &'a Fabric,
        paths: &'a PathSet,
        items: &'a Items,
        lft: Lft,
    ) -> Result<Self, OptimizeError> {
        let mut repair = Self {
            fabric,
            paths,
            items,
            lft,
            load: vec![0.0; fabric.link_count()],
            waiting: BTreeSet::new(),
            flow: vec![Vec::new(); items.groups()],
            crossing: vec![Vec::new(); fabric.link_count()],
            movable: vec![0; items.groups()],
        };
        for item in 0..items.len() {
            let g = items.group[item] as usize;
            let walk = repair.walk(g, SwitchId(items.leaf[item])).ok_or_else(|| OptimizeError::BadStart {
                from: fabric.switch_name(SwitchId(items.leaf[item])).into(),
                to: fabric.host_name(items.host[g]).into(),
            })?;
            repair.pour(g, &walk, items.bytes[item]);
        }
        Ok(repair)
    }

    /// The links from `switch` to the group's leaf; `None` if the tables lose the way or loop.
    fn walk(&self, g: usize, switch: SwitchId) -> Option<Vec<LinkId>> {
        let (target, address) = (SwitchId(self.items.target[g]), self.items.address[g]);
        let mut at = switch;
        let mut links = Vec::new();
        while at != target {
            let link = self.fabric.link_at(at, self.lft.get(at, address)?)?;
            if !self.fabric.alive(link) || links.len() > self.fabric.switch_count() {
                return None;
            }
            links.push(link);
            at = self.fabric.link_to_switch(link)?;
        }
        Some(links)
    }

    /// Adds `bytes` of group `g` to the links of `walk` (takes them off if negative).
    fn pour(&mut self, g: usize, walk: &[LinkId], bytes: f64) {
        for &link in walk {
            let before = self.load[link.index()];
            // What is left of an emptied link is rounding, of either sign.
            let after = (before + bytes / self.fabric.relative_capacity(link)).max(0.0);
            self.load[link.index()] = after;
            if self.waiting.remove(&rank(link, before)) {
                self.waiting.insert(rank(link, after));
            }
            let switch = self.fabric.link_from_switch(link).expect("walks are between switches").0;
            let flows = &mut self.flow[g];
            let at = match flows.iter().position(|f| f.0 == switch) {
                Some(at) => at,
                None => {
                    flows.push((switch, 0.0));
                    let list = &mut self.crossing[link.index()];
                    if let Err(place) = list.binary_search(&(g as u32)) {
                        list.insert(place, g as u32);
                    }
                    flows.len() - 1
                }
            };
            flows[at].1 += bytes;
            // Items are at least a byte or so apart; what is left of a flow is rounding.
            if flows[at].1 <= 1e-9 * bytes.abs() {
                flows.swap_remove(at);
                let list = &mut self.crossing[link.index()];
                if let Ok(place) = list.binary_search(&(g as u32)) {
                    list.remove(place);
                }
            }
        }
    }

    fn top(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// All links are worth a try again; returns the load down to which.
    fn wake(&mut self, max_load: f64) -> f64 {
        let floor = max_load.max(LEAST_OF_HOTTEST * self.top());
        self.waiting = (0..self.load.len()).map(|i| rank(LinkId(i as u32), self.load[i])).collect();
        floor
    }

    /// The hottest waiting link above `floor`, ties by number.
    fn hottest(&self, floor: f64) -> Option<LinkId> {
        let &(_, Reverse(link)) = self.waiting.last()?;
        (self.load[link as usize] > floor).then_some(LinkId(link))
    }

    /// Leaves a link alone until the next [`wake`](Self::wake).
    fn skip(&mut self, link: LinkId) {
        self.waiting.remove(&rank(link, self.load[link.index()]));
    }

    /// Moves the first destination crossing `link` that this helps; false if none.
    fn cool(&mut self, link: LinkId) -> bool {
        let switch = self.fabric.link_from_switch(link).expect("hot links are between switches");
        let hot = self.load[link.index()];
        for k in 0..self.crossing[link.index()].len() {
            let g = self.crossing[link.index()][k] as usize;
            let links = self.paths.links(switch, SwitchId(self.items.target[g]));
            let other = links.iter().copied().filter(|&l| l != link);
            let Some(to) = other.min_by(|&a, &b| self.load[a.index()].total_cmp(&self.load[b.index()]))
            else {
                continue;
            };
            if self.load[to.index()] >= hot || !self.movable(g) {
                continue;
            }
            if self.try_move(g, switch, to, hot) {
                return true;
            }
        }
        false
    }

    fn try_move(&mut self, g: usize, switch: SwitchId, to: LinkId, hot: f64) -> bool {
        let address = self.items.address[g];
        let old_port = self.lft.get(switch, address);
        let bytes = self.flow[g].iter().find(|f| f.0 == switch.0).map_or(0.0, |f| f.1);
        let Some(old) = self.walk(g, switch) else { return false };
        self.lft.set(switch, address, Some(self.fabric.link_port(to)));
        let Some(new) = self.walk(g, switch) else {
            self.lft.set(switch, address, old_port);
            return false;
        };
        // Beyond where the ways join again nothing changes.
        let after = |link: &LinkId| {
            let shared = old.contains(link);
            if shared { 0.0 } else { self.load[link.index()] + bytes / self.fabric.relative_capacity(*link) }
        };
        if new.iter().map(after).fold(0.0, f64::max) >= hot * (1.0 - 1e-12) {
            self.lft.set(switch, address, old_port);
            return false;
        }
        self.pour(g, &old, -bytes);
        self.pour(g, &new, bytes);
        true
    }

    /// Changing an entry of a destination is safe only if all its entries are admissible: then no
    /// combination of them loops.
    fn movable(&mut self, g: usize) -> bool {
        if self.movable[g] == 0 {
            let (target, address) = (SwitchId(self.items.target[g]), self.items.address[g]);
            let fine = self.fabric.switches().all(|s| match self.lft.get(s, address) {
                None => true,
                Some(_) if s == target => true,
                Some(port) => self
                    .fabric
                    .link_at(s, port)
                    .is_some_and(|link| self.paths.links(s, target).contains(&link)),
            });
            self.movable[g] = if fine { 1 } else { 2 };
        }
        self.movable[g] == 1
    }
}
