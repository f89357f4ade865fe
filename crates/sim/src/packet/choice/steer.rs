//! Minimal ways of a dragonfly, and detours through a third group: one scheme, some rules.
//!
//! The rule is asked once a packet (`par`, `adaptive:1`: more often), at its first switch, if its destination is in another group
//! (`adaptive`: or at another switch):
//!
//! * `minimal`: never a detour. J. Kim, W. J. Dally, S. Scott, D. Abts, *Technology-driven, highly-scalable dragonfly topology*, ISCA
//!   2008, sec. 4.1, MIN.
//! * `valiant`: always one (the same, VAL; L. G. Valiant, *A scheme for fast parallel communication*, SIAM J. Comput. 11(2), 1982, with
//!   groups in place of nodes).
//! * `valiant:router`: always one, by way of a random switch of the third group, not of the one where the cable comes in. So what comes in
//!   over the cables of one switch leaves by all of its neighbours (M. García et al., *On-the-fly adaptive routing in high-radix hierarchical
//!   networks*, ICPP 2012, name what `valiant` lacks there; Valiant's own way is by a random node).
//! * `ugal`: of some minimal outputs and some detours, drawn at random, the one whose output here has the least score:
//!
//!   > score of a minimal way = `q`, score of a detour = `q · 2^shift + add`
//!
//!   where `q` is bytes that wait for the output or have left by it and still hold room downstream, all lanes together. A detour must be
//!   strictly less. With `shift` 1 and `add` 0 this is UGAL-L (A. Singh, *Load-balanced routing in interconnection networks*, PhD thesis,
//!   Stanford, 2005, sec. 5; Kim et al., sec. 4.2): `q_m H_m <= q_nm H_nm` with a detour counted as twice as long. BookSim2's
//!   `dragonflynew` has `add` of three packets.
//! * `ugal:global`: the same with `q` the sum over all links between switches of a way that is drawn, as they are at that moment, and `shift` 0, as the
//!   sum counts a way's length itself. No switch can know this: it is what more knowledge could give at best (UGAL-G: Kim et al., sec. 4.2,
//!   where it is the queues of all global cables of the group). The packet draws again where ways are equal.
//! * `par`: as `ugal`, and a packet on its minimal way is asked again at every later switch of its first group; a detour that has begun is
//!   kept (progressive adaptive routing: N. Jiang, J. Kim, W. J. Dally, *Indirect adaptive routing on large scale interconnection networks*,
//!   ISCA 2009).
//!
//! * `adaptive`: the same as on a Cray XC (De Sensi et al., SC 2019, sec. 2.2). `shift` is 0 and `add` the bias of the packet's mode: none in mode
//!   0, [`HIGH_BIAS_BYTES`](crate::HIGH_BIAS_BYTES) in mode 3, a quarter of it in mode 2. A packet within its group chooses too: a detour goes by
//!   a third switch of the group. In mode 1 a packet on its minimal way chooses again at every switch where lanes let it, and the bias is the high one
//!   over the hops that are left: in its first group a detour there begins with a cable of the switch to a third group; where it comes into the last group, and
//!   behind the first of several hops within one, it goes by a third switch. `MIN_HASH`, `NMIN_HASH` and `IN_ORDER` look at nothing: a minimal
//!   way, or a detour, is drawn by packet; in order it is one for all packets of a pair of hosts.
//!
//! The third group is that of the far end of a random cable of the packet's own group, so groups with more cables are drawn more often; those
//! without a cable to the destination's group are drawn again, and where there is no other the way is minimal. Source's and destination's group are none. Both ways may begin with one
//! output: then UGAL takes the minimal one.
//!
//! Lanes go by slot of the way, L0 G0 L1 G1 L2: a cable within a group, one between groups, and so on. A packet that has crossed `n` cables between groups
//! is on lane `2 n` within a group and towards its host, and on `2 n + 1` between groups; the third switch of a detour within a group
//! counts as a cable crossed. Waiting goes to higher lanes only, but for cables of one group that go round a missing one, and these wait in no
//! circle ([`Steering::new`]). Where no cable joins two groups minimal ways have more slots, and lanes.
//!
//! `valiant:router` has a lane more, L0 G0 L1 L2 G1 L3: the random switch of the third group counts as a cable crossed. `par` has L0 L1 G0 L2 G1
//! L3: within its first group a detour is on L1 behind the first switch ([`Steered::slots`]).
//!
//! Responses take minimal ways, on lanes of their own, one a slot, behind those of the scheme, if there are so many.
//!
//! Invariant: what is drawn for a packet depends on itself and the switch alone, so neither other packets nor a division into partitions matter.

use std::sync::Arc;

use netloom_model::{Dest, DestSpace, Fabric, HostId, LinkId, SwitchId};
use netloom_routing::Steering;

use self::sees::{ALL, NOTHING};
use super::draw::{Draw, Draws};
use super::{Choice, Here, Outputs, Way};
use crate::mode::Mode;
use crate::steered::{SteerOptions, Steered};

/// Draws of a third group, before all are looked at in order.
const DRAWS: u32 = 8;

/// The high bias over the low one.
const LOW_OF_HIGH: u32 = 4;

/// Which loads a rule looks at.
pub mod sees {
    /// None.
    pub const NOTHING: u8 = 0;
    /// Those of the packet's switch.
    pub const OWN: u8 = 1;
    /// Those of all links.
    pub const ALL: u8 = 2;
}

/// Minimal ways and detours, by loads that the rule [`sees`].
#[derive(Clone, Debug)]
pub struct Steer<'a, const SEES: u8> {
    fabric: &'a Fabric,
    steering: &'a Steering,
    space: DestSpace,
    options: SteerOptions,
    random: Draws,
    /// By group: minimal ways between any two of its switches stay in it.
    whole: Arc<[bool]>,
    /// The lane of every slot, as packets count them.
    lane_of: [u8; 8],
    /// Of a cable that a detour takes within its first group, behind its first switch.
    again: u8,
}

impl<'a, const SEES: u8> Steer<'a, SEES> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, steering: &'a Steering, options: SteerOptions, seed: u64) -> Self {
        let whole = |members: &[SwitchId]| {
            let stays = |&from: &SwitchId| members.iter().all(|&to| steering.crossings(from, to) == 0);
            members.is_sorted() && members.iter().all(stays)
        };
        let groups = fabric.switches().map(|s| steering.group(s) + 1).max().unwrap_or(0);
        let whole = (0..groups).map(|group| whole(steering.members(group))).collect();
        let (lane_of, again) = options.scheme.lanes_of_slots(steering.most_crossings(), options.lanes);
        let (space, random) = (fabric.dests(0), Draws::new(seed));
        Self { fabric, steering, space, options, random, whole, lane_of, again }
    }

    /// One of several outputs, each as likely.
    #[inline]
    fn one_of(draw: &mut Draw, links: &[LinkId]) -> Option<LinkId> {
        match links {
            [] => None,
            &[link] => Some(link),
            _ => Some(draw.one_of(links)),
        }
    }

    /// A switch of a third group by which there is a way, and the output towards it.
    fn detour(&self, draw: &mut Draw, switch: SwitchId, to: SwitchId) -> Option<(SwitchId, LinkId)> {
        let cables = self.steering.cables_of(self.steering.group(switch));
        if cables.is_empty() {
            return None;
        }
        let mut at = 0;
        let mut through = None;
        for _ in 0..DRAWS {
            at = draw.below(cables.len());
            through = self.steering.third(switch, cables[at], to);
            if through.is_some() {
                break;
            }
        }
        let through = through.or_else(|| {
            let in_order = cables[at..].iter().chain(&cables[..at]);
            in_order.copied().find_map(|cable| self.steering.third(switch, cable, to))
        })?;
        let mut through = through;
        if self.options.scheme == Steered::ValiantRouter {
            through = self.steering.any_of_third(switch, through, to, |count| draw.below(count));
        }
        let links = self.steering.paths.links(switch, through);
        Self::one_of(draw, links).map(|link| (through, link))
    }

    /// A third switch of a group, and the output towards it.
    fn detour_within(&self, draw: &mut Draw, switch: SwitchId, last: SwitchId) -> Option<(SwitchId, LinkId)> {
        let group = self.steering.group(switch);
        let members = self.steering.members(group);
        if self.whole[group as usize] {
            // The same draw as below, without a look at all of them.
            let mut at = draw.below(members.len().checked_sub(2).filter(|&others| others > 0)?);
            let place = |s| members.partition_point(|&member| member < s);
            let (one, other) = (place(switch), place(last));
            at += usize::from(at >= one.min(other));
            at += usize::from(at >= one.max(other));
            return Self::one_of(draw, self.steering.paths.links(switch, members[at]))
                .map(|link| (members[at], link));
        }
        let members = members.iter().copied();
        let stays =
            |s: SwitchId| self.steering.crossings(switch, s) == 0 && self.steering.crossings(s, last) == 0;
        let others = members.filter(|&s| s != switch && s != last && stays(s));
        let count = others.clone().count();
        if count == 0 {
            return None;
        }
        let through = others.clone().nth(draw.below(count))?;
        Self::one_of(draw, self.steering.paths.links(switch, through)).map(|link| (through, link))
    }

    /// What is added to the load of a packet's detours.
    #[inline]
    fn add_bytes(&self, switch: SwitchId, last: SwitchId, mode: Mode) -> u32 {
        let high = self.options.bias_bytes;
        match (self.options.scheme, mode) {
            (Steered::Aries, Mode::Increasing) => {
                let hops = self.steering.paths.hops(switch, last).unwrap_or(1);
                high / u32::from(hops).max(1)
            }
            (Steered::Aries, Mode::LowBias) => high / LOW_OF_HIGH,
            (Steered::Aries, Mode::HighBias) => high,
            (Steered::Aries, _) => 0,
            _ => self.options.add_bytes,
        }
    }

    fn mode(&self, way: Way) -> Mode {
        way.mode().unwrap_or(self.options.mode)
    }

    /// The load of a way to a switch that begins with an output: of all links of one that is drawn, if loads of all are seen, else of the output.
    #[inline]
    fn load_ahead(&self, draw: &mut Draw, first: LinkId, to: SwitchId, outputs: &mut Outputs) -> u64 {
        let load = u64::from(outputs.load(first));
        if SEES != ALL {
            return load;
        }
        outputs.far_end(first).map_or(load, |next| load + self.load_between(draw, next, to, outputs))
    }

    /// The load of all links of a minimal way that is drawn.
    fn load_between(&self, draw: &mut Draw, from: SwitchId, to: SwitchId, outputs: &mut Outputs) -> u64 {
        let (mut at, mut load) = (from, 0);
        while at != to {
            let Some(link) = Self::one_of(draw, self.steering.paths.links(at, to)) else { break };
            let Some(next) = outputs.far_end(link) else { break };
            load += u64::from(outputs.load(link));
            at = next;
        }
        load
    }

    /// The minimal output with the least load of those that are drawn, and that load.
    fn least(
        &self,
        draw: &mut Draw,
        (minimal, last): (&[LinkId], SwitchId),
        outputs: &mut Outputs,
    ) -> Option<(u64, LinkId)> {
        let mut best: Option<(u64, LinkId)> = None;
        for _ in 0..usize::from(self.options.minimal).min(minimal.len()) {
            let Some(link) = Self::one_of(draw, minimal) else { break };
            let score = self.load_ahead(draw, link, last, outputs);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, link));
            }
        }
        best
    }

    /// A third switch of another group by a cable of this switch, and that cable.
    fn detour_here(&self, draw: &mut Draw, switch: SwitchId, to: SwitchId) -> Option<(SwitchId, LinkId)> {
        let cables = self.steering.cables_at(self.fabric, switch);
        let link = Self::one_of(draw, cables)?;
        self.steering.third(switch, link, to).map(|third| (third, link))
    }

    /// The output of a packet of mode 1 behind its first switch, on its minimal way so far.
    fn decide_again(
        &self,
        here: Here,
        last: SwitchId,
        way: &mut Way,
        outputs: &mut Outputs,
    ) -> Option<LinkId> {
        let (steering, switch) = (self.steering, here.switch);
        let minimal = steering.paths.links(switch, last);
        let mut draw = self.random.of(outputs.mark(), switch);
        let within = steering.group(last) == steering.group(switch);
        // A leg by a third switch takes the lanes of the next crossing, and so does what follows it: there must be two.
        let comes = steering.is_global(here.via);
        let late = within && way.crossed() == u8::from(comes);
        if !late && (within || way.crossed() > 0) {
            return Self::one_of(&mut draw, minimal);
        }
        let mut best = self.least(&mut draw, (minimal, last), outputs);
        if let Some((0, link)) = best {
            return Some(link);
        }
        let add_bytes = self.add_bytes(switch, last, Mode::Increasing);
        let mut through = None;
        for _ in 0..self.options.detours {
            let found = match within {
                true => self.detour_within(&mut draw, switch, last),
                false => self.detour_here(&mut draw, switch, last),
            };
            let Some((third, link)) = found else { continue };
            let score = u64::from(outputs.load(link)) + u64::from(add_bytes);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, link));
                through = Some(third);
            }
        }
        match through {
            Some(third) if within => {
                if !comes {
                    way.cross();
                }
                way.go_late(third);
            }
            Some(third) => way.go_through(third),
            None => {}
        }
        best.map(|(_, link)| link)
    }

    /// The first output of a packet that may choose.
    fn decide(
        &self,
        switch: SwitchId,
        last: SwitchId,
        way: &mut Way,
        outputs: &mut Outputs,
    ) -> Option<LinkId> {
        let (steering, options) = (self.steering, self.options);
        let minimal = steering.paths.links(switch, last);
        let mut draw = self.random.of(outputs.mark(), switch);
        way.go_minimal();
        if options.scheme == Steered::Minimal || way.is_response() {
            return Self::one_of(&mut draw, minimal);
        }
        let mode = self.mode(*way);
        let within = steering.group(last) == steering.group(switch);
        if options.scheme == Steered::Aries && mode.is_blind() {
            let found = match (mode, within) {
                (Mode::NminHash, true) => self.detour_within(&mut draw, switch, last),
                (Mode::NminHash, false) => self.detour(&mut draw, switch, last),
                _ => None,
            };
            let Some((through, link)) = found else { return Self::one_of(&mut draw, minimal) };
            way.go_through(through);
            return Some(link);
        }
        if matches!(options.scheme, Steered::Valiant | Steered::ValiantRouter) {
            // Damage may have left no third group.
            let Some((through, link)) = self.detour(&mut draw, switch, last) else {
                return Self::one_of(&mut draw, minimal);
            };
            match options.scheme {
                Steered::ValiantRouter => way.go_late(through),
                _ => way.go_through(through),
            }
            return Some(link);
        }
        self.compare((&mut draw, mode), (switch, last), way, outputs)
    }

    /// The output with the least score of some minimal ones and some detours.
    fn compare(
        &self,
        (draw, mode): (&mut Draw, Mode),
        (switch, last): (SwitchId, SwitchId),
        way: &mut Way,
        outputs: &mut Outputs,
    ) -> Option<LinkId> {
        let (steering, options) = (self.steering, self.options);
        let within = steering.group(last) == steering.group(switch);
        let mut best = self.least(draw, (steering.paths.links(switch, last), last), outputs);
        // Nothing is less than an idle output.
        if let Some((0, link)) = best {
            return Some(link);
        }
        let add_bytes = self.add_bytes(switch, last, mode);
        for _ in 0..options.detours {
            let found =
                if within { self.detour_within(draw, switch, last) } else { self.detour(draw, switch, last) };
            let Some((through, link)) = found else { break };
            let mut load = self.load_ahead(draw, link, through, outputs);
            if SEES == ALL {
                load += self.load_between(draw, through, last, outputs);
            }
            let score = (load << options.shift) + u64::from(add_bytes);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, link));
                way.go_through(through);
            }
        }
        best.map(|(_, link)| link)
    }
}

impl<const SEES: u8> Choice for Steer<'_, SEES> {
    const LOOKS: bool = SEES != NOTHING;
    const LOCAL: bool = SEES != ALL;
    const DRAWS: bool = true;
    const LANES: bool = true;
    const STEERS: bool = true;

    fn lanes(&self) -> u8 {
        self.options.lanes + self.options.response_lanes
    }

    #[inline]
    fn response_lane(&self) -> Option<u8> {
        (self.options.response_lanes > 0).then_some(self.options.lanes)
    }

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        self.steer(here, &mut { here.way }, outputs)
    }

    #[inline]
    fn steer(&mut self, here: Here, way: &mut Way, outputs: &mut Outputs) -> Option<LinkId> {
        let Dest::Host(host, _) = self.space.resolve(here.address) else { return None };
        let (steering, last) = (self.steering, self.fabric.leaf(host));
        if steering.is_global(here.via) {
            way.cross();
        }
        if last == here.switch {
            let link = self.fabric.reverse(self.fabric.host_link(host));
            return self.fabric.alive(link).then_some(link);
        }
        if way.seeks() && way.through() == here.switch {
            way.cross(); // what follows in the same group is on the next lanes
            way.arrive();
        }
        let chooses =
            self.options.scheme == Steered::Aries || steering.group(here.switch) != steering.group(last);
        if !way.is_decided() && !way.is_detour() && chooses {
            return self.decide(here.switch, last, way, outputs);
        }
        let again = !way.is_detour() && !way.is_response();
        if again && self.options.scheme == Steered::Aries && self.mode(*way) == Mode::Increasing {
            return self.decide_again(here, last, way, outputs);
        }
        if again && self.options.scheme == Steered::Par && way.crossed() == 0 && chooses {
            let mut draw = self.random.of(outputs.mark(), here.switch);
            return self.compare((&mut draw, Mode::Unbiased), (here.switch, last), way, outputs);
        }
        let to = if way.seeks() { way.through() } else { last };
        let links = steering.paths.links(here.switch, to);
        Self::one_of(&mut self.random.of(outputs.mark(), here.switch), links)
    }

    #[inline]
    fn lane(&self, here: Here, out: LinkId) -> Option<u8> {
        if self.options.by_tables {
            return None;
        }
        let slot = 2 * here.way.crossed() + u8::from(self.steering.is_global(out));
        match (here.way.is_response(), self.options.response_lanes) {
            (true, 1..) => Some(self.options.lanes + slot.min(self.options.response_lanes - 1)),
            _ if slot == 0 && here.way.is_detour() && self.fabric.link_from_switch(here.via).is_some() => {
                Some(self.again)
            }
            _ => Some(self.lane_of[usize::from(slot & 7)]),
        }
    }

    #[inline]
    fn first_lane(&self, _from: HostId, _level: u8) -> Option<u8> {
        (!self.options.by_tables).then_some(0)
    }
}
