//! Rate limiters at hosts: which flow may send when, what is held back, and what is due.
//!
//! A flow is what a host sends to one destination (or, on request, to all) at one service level. A flow that no notification has reached
//! has no limiter and costs nothing but a look at an empty map. Messages whose flow may not send yet leave their lane's queue for a list
//! of the flow's own, so others overtake them.
//!
//! Invariants: what is due of a host comes by time, then in the order in which it was planned; every flow that holds messages back has a release planned.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use netloom_model::HostId;
use serde::{Deserialize, Serialize};

use super::backlog::Backlog;
use super::flow::Flow;
use super::order::Order;
use super::policies::policy_of;
use super::policy::{Output, Policy, Sign, Wires};
use super::trails::Trails;
use crate::SimError;
use crate::calendar::NEVER;
use crate::congestion::{Congestion, Limiters};
use crate::packet::pool::{List, NONE};
use crate::record::{FlowRow, Managed};
use crate::state_codec::{StateReader, StateWriter};

/// Something planned for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Due {
    /// A notification comes.
    Notice(Flow, u8),
    /// A flow may send again.
    Release(Flow),
    /// A notification of `trails` has gone back by a link.
    Step(u32),
}

/// A limited flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Limited {
    /// Its number.
    number: u32,
    /// It may send from here on, ps.
    next_ps: u64,
    /// A release is planned then; [`NEVER`]: none.
    release_ps: u64,
    /// Messages that are held back, and the lane whose queue they were in.
    held: List,
    lane: u8,
    /// The message that was let go last, if it has more to send.
    current: u32,
}

/// What may be done with the message at the head of a lane's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may send.
    Free,
    /// It may not yet: it goes to the back (or the front) of what its flow holds back; with a time, a release is to be planned.
    Held { in_front: bool, plan_ps: Option<u64> },
}

/// What a run's end points have done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Totals {
    /// Packets that joined outputs.
    pub packets: u64,
    /// Of them, those that were samples, and those that made a notification.
    pub samples: u64,
    pub notices: u64,
    /// Packets that outputs marked.
    pub marked: u64,
    /// Notifications that hosts have heard.
    pub cuts: u64,
    /// Most limiters at one time, and those that there are now.
    pub most_limiters: u64,
    limiters: u64,
}

/// The end points of a network under a control.
#[derive(Debug)]
pub(crate) struct EndPoints {
    congestion: Congestion,
    policy: Box<dyn Policy>,
    /// What waits for outputs.
    pub backlog: Backlog,
    /// By host, then flow.
    flows: Vec<BTreeMap<Flow, Limited>>,
    /// Numbers of flows that are free again, and the first that never was used.
    free: Vec<u32>,
    next: u32,
    /// By host: when, in which order, what.
    agenda: Vec<BinaryHeap<Reverse<(u64, u64, Due)>>>,
    planned: u64,
    /// By host: messages that are held back, since when some are, and for how long some were.
    held: Vec<(u32, u64, u64)>,
    /// By packet: whether it is marked.
    marked: Vec<bool>,
    /// By destination, then source and service level: when it told the source of marks last, ps.
    told_ps: Vec<BTreeMap<(u32, u8), u64>>,
    /// By destination, then source: payload received while it was measured.
    received: Vec<BTreeMap<u32, u64>>,
    totals: Totals,
    /// By switch: time of a notification from there to every switch. Found when it is needed.
    pub back_ps: BTreeMap<u32, Vec<u64>>,
    /// Ways back; empty unless switches listen to notifications.
    pub trails: Trails,
    /// The order of packets, if they can overtake each other.
    pub order: Option<Order>,
}

impl EndPoints {
    /// Those of so many hosts.
    pub fn new(congestion: &Congestion, hosts: usize, wires: Wires) -> Self {
        let links = wires.ports.len();
        Self {
            policy: policy_of(congestion, wires),
            backlog: Backlog::new(links, congestion.measure_from_ps),
            flows: vec![BTreeMap::new(); hosts],
            free: Vec::new(),
            next: 0,
            agenda: std::iter::repeat_with(BinaryHeap::new).take(hosts).collect(),
            planned: 0,
            held: vec![(0, 0, 0); hosts],
            marked: Vec::new(),
            told_ps: vec![BTreeMap::new(); hosts],
            received: vec![BTreeMap::new(); hosts],
            totals: Totals::default(),
            back_ps: BTreeMap::new(),
            trails: Trails::default(),
            order: None,
            congestion: congestion.clone(),
        }
    }

    /// The flow of a packet or message.
    pub fn flow(&self, to: HostId, level: u8) -> Flow {
        let to = match self.congestion.limiters {
            Limiters::Destination => to.0,
            Limiters::Host => u32::MAX,
        };
        Flow::of(to, level)
    }

    /// How long a switch that listens remembers a notification, ps.
    pub fn memory_ps(&self) -> u64 {
        self.congestion.memory_ps
    }

    // ---- congestion points

    /// A packet comes to wait for an output: feedback for its source, above 0, if there is any.
    pub fn joins(&mut self, packet: u32, link: u32, wire: u16, now_ps: u64) -> Option<u8> {
        let waiting = self.backlog.bytes(link);
        self.backlog.change(link, i32::from(wire), now_ps);
        self.totals.packets += 1;
        let sign = self.policy.comes(Output { link, waiting, lacked_credits: false }, wire);
        self.sees(sign, packet, link, now_ps)
    }

    /// A packet leaves by an output, which `lacked_credits` for it or not.
    pub fn leaves(&mut self, packet: u32, link: u32, wire: u16, lacked_credits: bool, now_ps: u64) {
        let waiting = self.backlog.bytes(link);
        self.backlog.change(link, -i32::from(wire), now_ps);
        let sign = self.policy.goes(Output { link, waiting, lacked_credits }, wire);
        self.sees(sign, packet, link, now_ps);
    }

    /// What an output does about a packet.
    fn sees(&mut self, sign: Sign, packet: u32, link: u32, now_ps: u64) -> Option<u8> {
        self.totals.samples += u64::from(sign != Sign::Nothing);
        match sign {
            Sign::Nothing | Sign::Looked => None,
            Sign::Told(feedback) => {
                self.totals.notices += 1;
                self.totals.marked += 1;
                self.backlog.marks(link, now_ps);
                Some(feedback)
            }
            Sign::Marked => {
                let packet = packet as usize;
                if packet >= self.marked.len() {
                    self.marked.resize(packet + 1, false);
                }
                // One that was marked elsewhere counts once.
                self.totals.marked += u64::from(!self.marked[packet]);
                self.marked[packet] = true;
                self.backlog.marks(link, now_ps);
                None
            }
        }
    }

    /// A packet leaves its host: none has marked it.
    pub fn begins(&mut self, packet: u32) {
        if let Some(marked) = self.marked.get_mut(packet as usize) {
            *marked = false;
        }
    }

    /// A packet comes to its destination: whether its source is to be told of a mark.
    pub fn tells(&mut self, packet: u32, from: HostId, to: HostId, level: u8, now_ps: u64) -> bool {
        if !self.marked.get(packet as usize).is_some_and(|&marked| marked) {
            return false;
        }
        let interval_ps = self.policy.interval_ps();
        if interval_ps > 0 {
            let last_ps = self.told_ps[to.index()].entry((from.0, level)).or_insert(NEVER);
            if *last_ps != NEVER && now_ps - *last_ps < interval_ps {
                return false;
            }
            *last_ps = now_ps;
        }
        self.totals.notices += 1;
        true
    }

    // ---- what is due

    /// Plans something for a host.
    pub fn plan(&mut self, host: HostId, time_ps: u64, what: Due) {
        self.planned += 1;
        self.agenda[host.index()].push(Reverse((time_ps, self.planned, what)));
    }

    /// The next of what is due of a host by `now_ps`.
    pub fn take_due(&mut self, host: HostId, now_ps: u64) -> Option<Due> {
        let agenda = &mut self.agenda[host.index()];
        agenda.peek().filter(|Reverse((time_ps, ..))| *time_ps <= now_ps)?;
        agenda.pop().map(|Reverse((.., what))| what)
    }

    // ---- limiters

    /// A notification has come to a host whose link has so many bytes a second.
    pub fn is_told(&mut self, host: HostId, flow: Flow, feedback: u8, speed: f64, now_ps: u64) {
        self.totals.cuts += 1;
        if !self.congestion.limit {
            return;
        }
        self.catch_up(host, flow, now_ps);
        let number = match self.flows[host.index()].get(&flow) {
            Some(limited) => limited.number,
            None => self.limit(host, flow, speed, now_ps),
        };
        self.policy.is_told(number, feedback, now_ps);
    }

    /// Limits a flow from now on; its number.
    fn limit(&mut self, host: HostId, flow: Flow, speed: f64, now_ps: u64) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.totals.limiters += 1;
        self.totals.most_limiters = self.totals.most_limiters.max(self.totals.limiters);
        self.policy.limits(number, host.0, speed, now_ps);
        let limited =
            Limited { number, next_ps: 0, release_ps: NEVER, held: List::EMPTY, lane: 0, current: NONE };
        self.flows[host.index()].insert(flow, limited);
        number
    }

    /// A flow of a host sends: it is limited before anything was heard of it, if the control wants that.
    pub fn begins_flow(&mut self, host: HostId, flow: Flow, speed: f64, now_ps: u64) {
        if self.congestion.limit
            && self.policy.begins_limited()
            && !self.flows[host.index()].contains_key(&flow)
        {
            self.limit(host, flow, speed, now_ps);
        }
    }

    /// Lets a limiter's timer run out as often as it has by now. Rates matter only when something is sent or told: nothing happens
    /// at the times in between.
    fn catch_up(&mut self, host: HostId, flow: Flow, now_ps: u64) {
        let Some(limited) = self.flows[host.index()].get(&flow) else { return };
        let number = limited.number;
        while self.policy.timer_ps(number) <= now_ps && !self.policy.has_recovered(number) {
            self.policy.times_out(number);
        }
        self.retire(host, flow);
    }

    /// What may be done with a message of a flow that is next in its lane's queue. `rotates`: messages take turns.
    pub fn may_send(
        &mut self,
        host: HostId,
        flow: Flow,
        message: u32,
        rotates: bool,
        now_ps: u64,
    ) -> Verdict {
        let Some(limited) = self.flows[host.index()].get_mut(&flow) else { return Verdict::Free };
        if limited.next_ps <= now_ps {
            return Verdict::Free;
        }
        let plan_ps = (limited.release_ps == NEVER).then_some(limited.next_ps);
        limited.release_ps = limited.release_ps.min(limited.next_ps);
        Verdict::Held { in_front: !rotates && message == limited.current, plan_ps }
    }

    /// The list of what a flow holds back, to which a message from so many a lane is added.
    pub fn hold(&mut self, host: HostId, flow: Flow, lane: u8, now_ps: u64) -> &mut List {
        let (count, since_ps, _) = &mut self.held[host.index()];
        if *count == 0 {
            *since_ps = now_ps;
        }
        *count += 1;
        let limited = self.flows[host.index()].get_mut(&flow).expect("a limited flow");
        limited.lane = lane;
        &mut limited.held
    }

    /// The list of what a flow holds back, and the lane to which its first message goes, if a release is planned for now.
    pub fn release(&mut self, host: HostId, flow: Flow, now_ps: u64) -> Option<(&mut List, u8)> {
        let limited = self.flows[host.index()].get_mut(&flow)?;
        if limited.release_ps != now_ps {
            return None;
        }
        limited.release_ps = NEVER;
        if limited.held.is_empty() {
            return None;
        }
        limited.current = limited.held.head;
        let (count, since_ps, total_ps) = &mut self.held[host.index()];
        *count -= 1;
        if *count == 0 {
            *total_ps += now_ps - *since_ps;
        }
        Some((&mut limited.held, limited.lane))
    }

    /// Another message of the flow may be released now: the one that was cannot leave yet.
    pub fn release_next(&mut self, host: HostId, flow: Flow, now_ps: u64) {
        if let Some(limited) = self.flows[host.index()].get_mut(&flow) {
            limited.release_ps = now_ps;
        }
    }

    /// A packet of `wire` bytes of a message leaves; `is_last` if nothing of the message is left. A release to plan, if the flow holds
    /// others back.
    pub fn sends(&mut self, host: HostId, flow: Flow, wire: u16, is_last: bool, now_ps: u64) -> Option<u64> {
        self.catch_up(host, flow, now_ps);
        let limited = self.flows[host.index()].get_mut(&flow)?;
        let gap_ps = f64::from(wire) * 1e12 / self.policy.rate(limited.number);
        limited.next_ps = now_ps + gap_ps.round() as u64;
        if is_last {
            limited.current = NONE;
        }
        let plan_ps = (!limited.held.is_empty() && limited.release_ps == NEVER).then_some(limited.next_ps);
        if let Some(time_ps) = plan_ps {
            limited.release_ps = time_ps;
        }
        self.policy.sends(limited.number, wire);
        self.retire(host, flow);
        plan_ps
    }

    /// Takes a limiter away that limits nothing any more and holds nothing back.
    fn retire(&mut self, host: HostId, flow: Flow) {
        let flows = &mut self.flows[host.index()];
        let limited = flows[&flow];
        if limited.held.is_empty() && self.policy.has_recovered(limited.number) {
            flows.remove(&flow);
            self.policy.retires(limited.number);
            self.free.push(limited.number);
            self.totals.limiters -= 1;
        }
    }

    // ---- results

    /// Payload of a packet is received.
    pub fn receives(&mut self, from: HostId, to: HostId, payload: u64, now_ps: u64) {
        if now_ps >= self.congestion.measure_from_ps {
            *self.received[to.index()].entry(from.0).or_default() += payload;
        }
    }

    /// Pairs of hosts, source and destination, and the payload received.
    fn received(&self) -> impl Iterator<Item = (HostId, HostId, u64)> {
        let rows = self.received.iter().enumerate();
        rows.flat_map(|(to, from)| from.iter().map(move |(&from, &n)| (HostId(from), HostId(to as u32), n)))
    }

    /// Time in which hosts held messages back, all of them together, ps.
    fn held_ps(&self, end_ps: u64) -> u128 {
        let one = |&(count, since_ps, total_ps): &(u32, u64, u64)| {
            let now_ps = if count > 0 { end_ps.saturating_sub(since_ps) } else { 0 };
            u128::from(total_ps + now_ps)
        };
        self.held.iter().map(one).sum()
    }

    /// What the control has done by `end_ps`.
    pub fn managed(&self, end_ps: u64) -> Managed {
        let Totals { packets, samples, notices, marked, cuts, most_limiters, .. } = self.totals;
        let measured_ps = end_ps.saturating_sub(self.congestion.measure_from_ps);
        let flows: Vec<_> = self.received().map(|(from, to, bytes)| FlowRow { from, to, bytes }).collect();
        let flow_ps = measured_ps as f64 * flows.len() as f64;
        let index_ps = self.policy.index_ps(end_ps).filter(|_| flow_ps > 0.0);
        Managed {
            control: self.congestion.control.name(),
            packets,
            samples,
            notices,
            marked,
            cuts,
            most_limiters,
            mean_index: index_ps.map(|index_ps| index_ps / flow_ps),
            held_ps: self.held_ps(end_ps),
            measured_ps,
            outputs: self.backlog.means(end_ps),
            flows,
            snooped: None,
            reordering: self.order.as_ref().map(Order::totals),
        }
    }

    // ---- state

    /// Writes what happens in it; not what it was given.
    pub fn save(&self, to: &mut StateWriter) {
        to.put(&(&self.backlog, &self.flows, &self.free, self.next));
        to.put(&(&self.agenda, self.planned, &self.held, &self.received, &self.totals));
        to.put(&(&self.trails, &self.order, &self.marked, &self.told_ps));
        self.policy.save(to);
    }

    /// Reads it back.
    pub fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        let (hosts, links) = (self.flows.len(), self.backlog.links());
        (self.backlog, self.flows, self.free, self.next) = from.take()?;
        (self.agenda, self.planned, self.held, self.received, self.totals) = from.take()?;
        let orders = self.order.is_some();
        (self.trails, self.order, self.marked, self.told_ps) = from.take()?;
        let lengths =
            [self.flows.len(), self.agenda.len(), self.held.len(), self.received.len(), self.told_ps.len()];
        if lengths.iter().any(|&n| n != hosts)
            || self.backlog.links() != links
            || self.order.is_some() != orders
            || self.order.as_ref().is_some_and(|order| order.hosts() != hosts)
        {
            return Err(SimError::State);
        }
        self.policy.load(from)
    }
}
