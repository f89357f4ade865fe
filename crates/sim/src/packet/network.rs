//! A network in motion: what a run consists of, and what is known of it from outside.
//!
//! What happens in it is in `engine`.

use std::sync::Arc;

use netloom_model::{DestSpace, Fabric};

use super::choice::Choice;
use super::control::{EndPoints, Order, Wires};
use super::hardware::Features;
use super::host::{Births, Hosts, Responses};
use super::parallel::Mail;
use super::parallel::Partition;
use super::pool::{Origin, Packet, Pool};
use super::switch::{Heads, Inputs, Ports};
use super::watch::{Recorder, link_counters};
use crate::SimError;
use crate::calendar::{Calendar, MOST_KEY};
use crate::config::{Config, FLIT_BYTES};
use crate::observe::Observer;
use crate::program::{Desk, Program};
use crate::record::LinkCounters;
use crate::record::{AdapterCounters, Latencies, Managed, Measure, PairCounter};

/// One network in motion.
#[derive(Debug)]
pub struct Network<'f, C, P: Program, O> {
    pub(super) fabric: &'f Fabric,
    pub(super) config: Config,
    pub(super) choice: C,
    /// How destinations are numbered.
    pub(super) space: DestSpace,
    pub(super) program: P,
    pub(super) observer: O,
    pub(super) ports: Ports,
    pub(super) packets: Pool<Packet>,
    /// Where packets are from, by packet.
    pub(super) origins: Vec<Origin>,
    pub(super) hosts: Hosts<P::Token>,
    /// This partition, all of them, and what was sent to each in this window.
    pub(super) here: u8,
    pub(super) partition: Arc<Partition>,
    pub(super) mail: Vec<Mail<P::Token>>,
    /// What a switch does to another takes at least so long; what is announced is heard so much later.
    pub(super) lookahead_ps: u64,
    pub(super) stopped: bool,
    /// The program wants to be looked at.
    pub(super) paused: bool,
    /// Packets that wait may yet take another output.
    pub(super) moves: bool,
    /// Those of them that wait, where inputs are not known by their places.
    pub(super) heads: Heads,
    /// An output that has sent its only packet must look for another's, though nothing is queued there.
    pub(super) restless: bool,
    /// Packets are sent ahead of time by so much, if they are; see `engine`.
    pub(super) ahead_ps: u64,
    /// Outputs where one waits that may fit, though others before it did not.
    pub(super) behind: Vec<(u32, u8)>,
    pub(super) calendar: Calendar,
    pub(super) desk: Desk<P::Token>,
    pub(super) now: u64,
    /// What hosts send each other, if asked for.
    pub(super) pairs: Option<Box<PairCounter>>,
    /// Congestion control of end points, if there is one.
    pub(super) end_points: Option<Box<EndPoints>>,
    /// Responses and the windows of adapters, if packets are answered.
    pub(super) responses: Option<Box<Responses<P::Token>>>,
    /// Samples of counters and queues, if asked for.
    pub(super) recorder: Option<Box<Recorder>>,
    /// Packets received.
    pub(super) received: u64,
    /// Those of them that made a detour.
    pub(super) detours: u64,
    /// Events dealt with, but for outputs' tries and news; when the last of them happened.
    pub(super) events: u64,
    pub(super) last: u64,
    pub(super) failed: Option<SimError>,
    /// There is more to do than the event: `behind`, `failed` or `stopped`.
    pub(super) alert: bool,
    /// When and where it failed.
    pub(super) failed_at: (u64, u32),
}

impl<'f, C: Choice, P: Program, O: Observer> Network<'f, C, P, O> {
    /// An empty network whose hosts run `program`.
    ///
    /// # Errors
    /// [`SimError::Config`] for hardware that can't work.
    pub fn new(
        fabric: &'f Fabric,
        config: &Config,
        choice: C,
        program: P,
        observer: O,
    ) -> Result<Self, SimError> {
        let whole = Arc::new(Partition::new(fabric, 1));
        Self::part(fabric, config, choice, program, observer, whole, 0)
    }

    /// Partition `here` of a network.
    pub(super) fn part(
        fabric: &'f Fabric,
        config: &Config,
        choice: C,
        program: P,
        observer: O,
        partition: Arc<Partition>,
        here: u8,
    ) -> Result<Self, SimError> {
        config.check_for(fabric)?;
        if C::LANES && choice.lanes() > config.lanes {
            let expected = format!("at least {}, as the routing scheme chooses among them", choice.lanes());
            return Err(SimError::Config { what: "lanes", expected });
        }
        let most = MOST_KEY / 2 - 1;
        if fabric.link_count() + fabric.host_count() > most as usize {
            return Err(SimError::TooMany { what: "links", most });
        }
        let mut features = Features::of(config, false);
        features.by_place &= !C::LANES && Inputs::fit(fabric);
        let move_on = C::LOOKS && features.head_of_line && !features.credits_out;
        let traced = O::LISTENS && O::TRACES;
        let ahead = features.one_lane && C::LOCAL && !traced && !move_on && !features.control;
        let mut ports = Ports::new(fabric, config, Features { ahead, ..features }, &partition);
        if C::LOOKS {
            ports.watch(!C::LOCAL);
        }
        if O::LISTENS {
            ports.count_waiting();
        }
        if move_on && features.by_place {
            ports.inputs.let_move(fabric);
        }
        let lookahead_ps = ports.lookahead_ps(fabric, config);
        let packet_ns = f64::from(config.wire_bytes()) * 1e9 / fabric.reference_bandwidth_bytes_per_s();
        // A packet a host in a packet's time, about five hops, an arrival and a try each.
        let events_per_ns = 10.0 * fabric.host_count() as f64 / partition.count as f64 / packet_ns;
        let mut desk = Desk::default();
        if partition.count > 1 {
            desk.here = Some(fabric.hosts().map(|h| partition.of_host(fabric, h) == here).collect());
        }
        let calendar = Calendar::for_events(events_per_ns);
        let end_points = |congestion| EndPoints::new(congestion, fabric.host_count(), wires(fabric, config));
        let mut end_points = config.congestion.as_ref().map(|congestion| Box::new(end_points(congestion)));
        if let Some(end_points) = &mut end_points
            && !choice.keeps_order()
        {
            end_points.order = Some(Order::new(fabric.host_count()));
        }
        let responses = config.window_packets.map(|window| {
            let cycles_ps =
                fabric.hosts().map(|host| ports.kind(fabric.host_link(host).0).time_ps(FLIT_BYTES));
            Box::new(Responses::new(window, cycles_ps))
        });
        Ok(Self {
            fabric,
            config: config.clone(),
            space: fabric.dests(choice.lmc()),
            choice,
            program,
            observer,
            ports,
            packets: Pool::new(),
            origins: Vec::new(),
            hosts: Hosts::new(fabric.host_count(), here, partition.count),
            here,
            mail: (0..partition.count).map(|_| Mail::default()).collect(),
            lookahead_ps,
            stopped: false,
            paused: false,
            partition,
            heads: Heads::new(if move_on && !features.by_place { fabric.switch_count() } else { 0 }),
            moves: move_on,
            restless: move_on && config.output_buffer_bytes < 2 * config.wire_bytes(),
            // What an output buffer holds is sent ahead as a whole.
            ahead_ps: calendar.horizon_ps() * 4 / 5,
            behind: Vec::new(),
            calendar,
            desk,
            now: 0,
            pairs: None,
            end_points,
            responses,
            recorder: None,
            received: 0,
            detours: 0,
            events: 0,
            last: 0,
            failed: None,
            alert: false,
            failed_at: (0, 0),
        })
    }

    /// Records latencies of packets, by the program's jobs; before the start.
    pub fn record_packets(&mut self, jobs: usize) {
        let host_lanes = self.fabric.host_count() * self.ports.lanes;
        let measured: Vec<_> = (0..jobs).map(|job| self.program.measured_ps(job)).collect();
        self.hosts.record(Births::new(&self.config, self.fabric.host_count(), host_lanes, &measured));
    }

    /// Records what is asked for; before the start.
    pub fn record(&mut self, measure: &Measure) {
        self.recorder = Recorder::new(self.fabric, self.ports.lanes, measure);
        self.pairs = measure.pairs.then(|| Box::new(PairCounter::new(measure.counters_every_ps)));
        if self.recorder.is_some() {
            self.ports.features.ahead = false; // samples see packets leave
        }
    }

    /// What the congestion control has done by `end_ps`, if there is one.
    pub fn managed(&self, end_ps: u64) -> Option<Managed> {
        let end_points = self.end_points.as_ref()?;
        Some(Managed { snooped: self.choice.snooped(), ..end_points.managed(end_ps) })
    }

    /// What adapters have counted, by host; `None` where packets are not answered.
    pub fn adapters(&self) -> Option<Vec<AdapterCounters>> {
        self.responses.as_ref().map(|responses| responses.counters().collect())
    }

    /// Responses received.
    pub fn responses_received(&self) -> u64 {
        self.responses.as_ref().map_or(0, |responses| responses.received())
    }

    /// Latencies of packets by job; empty unless recorded.
    pub fn packet_latencies(&self) -> &[Latencies] {
        self.hosts.births().map_or(&[], Births::latencies)
    }

    /// Bytes received of each job while its load was measured, headers included; empty if none was.
    pub fn accepted(&self) -> Vec<u64> {
        self.hosts.births().into_iter().flat_map(Births::accepted).collect()
    }

    /// Bytes received from each host while its job's load was measured, headers included; empty if none was.
    pub fn accepted_from(&self) -> &[u64] {
        self.hosts.births().map_or(&[], Births::accepted_from)
    }

    /// Packets received that made a detour.
    pub fn detours(&self) -> u64 {
        self.detours
    }

    /// Simulated time, ps.
    pub fn now_ps(&self) -> u64 {
        self.now
    }

    /// Packets received by hosts.
    pub fn packets_received(&self) -> u64 {
        self.received
    }

    /// Links that packets have been sent over, host links included.
    pub fn packet_hops(&self) -> u64 {
        self.counters().packets()
    }

    /// Packets that links have sent from here, those sent ahead of time among them.
    pub(super) fn packets_sent(&self) -> u64 {
        self.ports.carried().map(|carried| carried.packets).sum()
    }

    /// Packets that are sent ahead of time and leave only after `now`: link, lane and bytes. They are in the partition that they come to.
    pub(super) fn not_left(&self, now: u64) -> impl Iterator<Item = (u32, u8, u16)> {
        let links = self.fabric.link_count() as u32;
        let arrivals = self.calendar.iter().filter(move |event| event.key & 1 == 1 && event.key >> 1 < links);
        let packets = arrivals.map(|event| (event.time_ps, event.key >> 1, self.packets.get(event.data)));
        packets
            .filter(move |&(time_ps, link, packet)| self.ports.left_ps(link, packet, time_ps) > now)
            .map(|(_, link, packet)| (link, packet.lane(), packet.wire))
    }

    /// Events dealt with: packets that came, timers and the like, but no outputs' tries, of which some change nothing.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What every link has carried.
    pub fn counters(&self) -> LinkCounters {
        let mut counters = link_counters(&self.ports, self.last);
        counters.take_off(self.not_left(self.now));
        counters
    }

    /// What the hosts run.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Who watches.
    pub fn observer(&self) -> &O {
        &self.observer
    }
}

/// What a congestion control must know of a fabric with such hardware.
fn wires(fabric: &Fabric, config: &Config) -> Wires {
    let port = |link| fabric.link_from_switch(link).map_or(0, |_| fabric.link(link).from_port);
    let to_host = |link| fabric.link_from_switch(fabric.reverse(link)).is_none();
    let most = u32::try_from(config.most_waiting_bytes(fabric)).unwrap_or(u32::MAX);
    Wires {
        ports: fabric.links().map(port).collect(),
        to_host: fabric.links().map(to_host).collect(),
        buffer_bytes: config.input_buffer_bytes.unwrap_or(u32::MAX).min(most),
    }
}
