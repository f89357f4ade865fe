//! The one door to a run, of either model.
//!
//! Everything that decides the result is in [`Setup`]; a [`Control`] only ends a run early, and then what is known so far is the
//! outcome. Progress is simulated time, ps.

use std::cell::RefCell;

use netloom_model::{Control, Fabric, HostId, LinkId, StopReason};

use crate::SimError;
use crate::config::Config;
use crate::congestion::{Congestion, ControlKind};
use crate::fluid::flows;
use crate::observe::{Nobody, Observer};
use crate::packet::choice::{AnyChoice, Choice};
use crate::packet::{End, Finished, Keeping, Terms, run_network};

use crate::profile::Profile;
use crate::record::{
    AdapterCounters, Distribution, Latencies, LinkCounters, MOST_SPANS, Managed, Measure, RankWindow,
    Recorded, Summary, Window,
};
use crate::repeats::Skipped;
use crate::replay::{Job, JobTimes, Offered, Player, SentBy, Sight, Spent};
use crate::scheme::{Scheme, Visitor};
use crate::steered::SteerOptions;
use netloom_model::SERVICE_LEVELS;

/// Ranks of all jobs, at most.
const MOST_RANKS: u32 = (1 << 26) - 1;
/// Ranks that wait for ever: at most so many are named.
pub(crate) const MOST_STUCK: usize = 8;

/// What moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Every packet.
    #[default]
    Packet,
    /// Messages as flows with fair rates.
    Fluid,
}

impl Model {
    /// As scenarios and results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Fluid => "fluid",
        }
    }
}

/// A run to be.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// How switches choose.
    pub scheme: Scheme<'a>,
    /// What moves.
    pub model: Model,
    /// Hardware and software.
    pub profile: Profile,
    /// What the hosts do.
    pub jobs: Vec<Job>,
    /// Of the switches' own random choices.
    pub seed: u64,
    /// Threads; the outcome is the same for any number.
    pub threads: usize,
    /// What to record.
    pub measure: Measure,
    /// Where the state goes from time to time, and whence it comes: packets that nobody watches only.
    pub keep: Option<&'a Keeping<'a>>,
    /// Iterations that repeat are not simulated again: the error allowed, a share below 1, or 0 for exact repeats alone; see
    /// [`Outcome::skipped`].
    pub skip_repeats: Option<f64>,
    /// Ends the run there; `None`: when all has been done.
    pub until_ps: Option<u64>,
}

/// What a job has done.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// Its name.
    pub name: String,
    /// Its ranks.
    pub ranks: usize,
    /// When they ended.
    pub times: JobTimes,
    /// From a message's posting to its last byte's arrival.
    pub message_latency: Summary,
    /// From a packet's creation at its host's adapter to its arrival.
    pub packet_latency: Summary,
    /// Messages received.
    pub messages: u64,
    /// Their bytes, without headers.
    pub bytes: u64,
    /// Messages that came and that no rank received.
    pub unreceived: u64,
    /// Of a job that offers load: what was accepted of its least-served host in the window, as a share of what the host's link carries.
    pub least_accepted: Option<f64>,
    /// Of a job that offers load: what was accepted of it in the window. `None` too where the run ended before the window did.
    pub offered: Option<Offered>,
    /// What its ranks spent their time on; `None` for a job that offers load.
    pub spent: Option<Spent>,
    /// Its messages by mode, where they had modes.
    pub modes: Vec<SentBy>,
}

impl JobOutcome {
    /// Job `j` of a player, by name and ranks, at the end of the run; what its packets did, as far as there are packets.
    pub(crate) fn of(
        player: &Player,
        (j, end_ps): (usize, u64),
        (name, ranks): (String, usize),
        (packet_latency, accepted_bytes): (Summary, Option<u64>),
    ) -> Self {
        let message_latency = player.latency(j).summary();
        Self {
            name,
            ranks,
            times: player.times(j),
            message_latency,
            packet_latency,
            messages: message_latency.count,
            bytes: player.bytes(j),
            unreceived: player.unreceived(j),
            least_accepted: None,
            offered: player.offered(j, end_ps, accepted_bytes),
            spent: player.spent(j, end_ps),
            modes: player.by_mode(j),
        }
    }
}

/// Packets that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Packets in the network.
    pub packets: usize,
    /// Links, with a lane of each, that wait for each other, in order; empty if no packet waits for an output.
    pub cycle: Vec<(LinkId, u8)>,
}

impl Deadlock {
    /// The links of the cycle in words, where there are so many lanes with these too.
    pub fn describe(&self, fabric: &Fabric, lanes: usize) -> String {
        if self.cycle.is_empty() {
            return "nobody waits for an output".into();
        }
        let one = |&(link, lane): &(LinkId, u8)| match lanes {
            0 | 1 => fabric.describe_link(link),
            _ => format!("{} on lane {lane}", fabric.describe_link(link)),
        };
        self.cycle.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Simulated time at the end, ps.
    pub end_ps: u64,
    /// Why the run was ended from outside, if it was.
    pub stopped: Option<StopReason>,
    /// It ended at `until_ps`, with something still to come.
    pub at_max_time: bool,
    /// The jobs, in order.
    pub jobs: Vec<JobOutcome>,
    /// From a packet's creation at its host's adapter to its arrival, all jobs together.
    pub packet_latency: Summary,
    /// Packets received by hosts, responses included.
    pub packets: u64,
    /// Those of them that are responses.
    pub responses: u64,
    /// What adapters have counted, by host; `None` where packets are not answered.
    pub adapters: Option<Vec<AdapterCounters>>,
    /// Packets that made a detour; `None` where no packet can.
    pub detours: Option<u64>,
    /// Links that packets were sent over, host links included.
    pub packet_hops: u64,
    /// Those of them that were behind the run where it went on from a state.
    pub earlier_hops: u64,
    /// Arrivals of packets, timers and the like.
    pub events: u64,
    /// Partitions that were simulated side by side, at most one a thread.
    pub partitions: usize,
    /// What was not simulated, as it repeats what was, if asked for.
    pub skipped: Option<Skipped>,
    /// What every link has carried.
    pub counters: LinkCounters,
    /// What a congestion control has done, if there was one.
    pub managed: Option<Managed>,
    /// What was asked to be recorded.
    pub recorded: Recorded,
    /// Packets that wait for each other when nothing moves any more: a credit loop.
    pub deadlock: Option<Deadlock>,
    /// Ranks that wait for ever, once nothing can happen any more: a receive without a send. Some of them, those to begin with first, and how many more.
    pub stuck: Vec<String>,
    /// Among what they wait for are messages above the eager limit that nobody receives.
    pub asks_in_vain: bool,
}

/// Refuses service levels without a lane, and routes of another fabric.
fn check(setup: &Setup) -> Result<(), SimError> {
    let config = &setup.profile.config;
    let most = if config.lane_map.is_some() { SERVICE_LEVELS } else { config.lanes };
    if setup.jobs.iter().any(|job| job.service_level >= most) {
        let expected = format!("0 to {}, as lanes and SL-to-VL tables allow", most.saturating_sub(1));
        return Err(SimError::Config { what: "service_level", expected });
    }
    let notifies = |congestion: &Congestion| matches!(congestion.control, ControlKind::Qcn(_));
    if matches!(setup.scheme, Scheme::Snooping(..)) && !config.congestion.as_ref().is_some_and(notifies) {
        let expected = "QCN: switches listen to its notifications".into();
        return Err(SimError::Config { what: "snooping", expected });
    }
    let by_message = match setup.scheme {
        Scheme::Steered(options, _) => options.by_message,
        _ => None,
    };
    let asks = by_message.is_some() || setup.jobs.iter().any(|job| job.modes.chooses().is_some());
    if asks && config.window_packets.is_none() {
        let expected = "adapters that count: window_packets".into();
        return Err(SimError::Config { what: "aware", expected });
    }
    setup.scheme.check(setup.fabric)
}

/// Runs a simulation to its end, to `until_ps`, or until it is stopped.
///
/// # Errors
/// [`SimError`] for parameters that can't work, a state that is not of such a run, packets that have no way, and time beyond its range.
pub fn simulate(setup: Setup, control: &Control) -> Result<Outcome, SimError> {
    check(&setup)?;
    if setup.model == Model::Fluid {
        if let Some(congestion) = &setup.profile.config.congestion {
            let expected = format!("none, as rates know no queues; found {}", congestion.control.name());
            return Err(SimError::Config { what: "congestion", expected });
        }
        if let Scheme::Steered(SteerOptions { scheme, .. }, _) = setup.scheme {
            let expected = format!("packet, as flows take no detours ({})", scheme.name());
            return Err(SimError::Config { what: "model", expected });
        }
        if let Scheme::ByMode(..) = setup.scheme {
            let expected = "packet, as flows have no modes (by-mode)".into();
            return Err(SimError::Config { what: "model", expected });
        }
        if let Scheme::Hashed(..) = setup.scheme {
            let expected = "packet, as flows of this model split over all ways (ecmp)".into();
            return Err(SimError::Config { what: "model", expected });
        }
        if setup.measure.pairs {
            return Err(SimError::Config { what: "pairs", expected: "the packet model".into() });
        }
        return flows(setup, control);
    }
    let Setup { fabric, scheme, seed, .. } = setup;
    match setup.measure.trace_ps {
        None => scheme.visit(fabric, seed, Unwatched { setup, control }),
        Some(window) => scheme.visit(fabric, seed, Watched { setup, window, control }),
    }
}

/// The same, every packet, with somebody who watches; no trace is recorded besides, and no state kept.
///
/// # Errors
/// As [`simulate`], and [`SimError::Config`] for the fluid model, which has no packets.
pub fn simulate_observed<O: Observer>(
    mut setup: Setup,
    observer: O,
    control: &Control,
) -> Result<(Outcome, O), SimError> {
    check(&setup)?;
    if setup.model == Model::Fluid {
        return Err(SimError::Config {
            what: "model",
            expected: "packet, as somebody watches packets".into(),
        });
    }
    setup.measure.trace_ps = None;
    let Setup { fabric, scheme, seed, .. } = setup;
    scheme.visit(fabric, seed, Observed { setup, observer, control })
}

/// A run that an observer watches, for any scheme.
struct Observed<'s, 'c, O> {
    setup: Setup<'s>,
    observer: O,
    control: &'c Control,
}

impl<'s, O: Observer> Visitor<'s> for Observed<'s, '_, O> {
    type Output = Result<(Outcome, O), SimError>;

    fn visit<C: Choice + Clone + 's>(self, choice: C) -> Self::Output {
        assert!(O::LISTENS, "somebody");
        let observer = RefCell::new(Some(self.observer));
        let only = |_| observer.borrow_mut().take().expect("who listens is alone");
        let (outcome, observers, _) = packets(self.setup, choice, only, self.control)?;
        Ok((outcome, observers.into_iter().next().expect("who listens is alone")))
    }
}

/// A run that nobody watches.
struct Unwatched<'s, 'c> {
    setup: Setup<'s>,
    control: &'c Control,
}

impl<'s> Visitor<'s> for Unwatched<'s, '_> {
    type Output = Result<Outcome, SimError>;

    fn visit<C: Choice + Clone + 's>(self, choice: C) -> Self::Output {
        packets(self.setup, choice, |_| Nobody, self.control).map(|(outcome, ..)| outcome)
    }
}

/// A run that records every packet and rank in a window of time, from and to, ps.
struct Watched<'s, 'c> {
    setup: Setup<'s>,
    window: (u64, u64),
    control: &'c Control,
}

impl<'s> Visitor<'s> for Watched<'s, '_> {
    type Output = Result<Outcome, SimError>;

    fn visit<C: Choice + Clone + 's>(self, choice: C) -> Self::Output {
        let fabric = self.setup.fabric;
        let (from_ps, to_ps) = self.window;
        let observer = |_| Window::new(from_ps, to_ps);
        let (mut outcome, windows, ranks) =
            packets(self.setup, AnyChoice::new(choice), observer, self.control)?;
        let jobs: Vec<(String, usize)> =
            outcome.jobs.iter().map(|job| (job.name.clone(), job.ranks)).collect();
        let timeline = windows.into_iter().next().map(|window| window.timeline(fabric, &jobs, ranks));
        outcome.recorded.timeline = timeline;
        Ok(outcome)
    }
}

/// Runs every packet; with the outcome come the observers and what ranks did in the window to look into.
fn packets<C: Choice + Clone, O: Observer>(
    setup: Setup,
    choice: C,
    observer: impl Fn(usize) -> O,
    control: &Control,
) -> Result<(Outcome, Vec<O>, RankWindow), SimError> {
    let names: Vec<(String, usize)> =
        setup.jobs.iter().map(|job| (job.name.clone(), job.hosts.len())).collect();
    setup.measure.check()?;
    // Ranks are told apart by tokens of timers.
    if names.iter().map(|(_, ranks)| ranks).sum::<usize>() >= MOST_RANKS as usize {
        return Err(SimError::TooMany { what: "ranks", most: MOST_RANKS });
    }
    let steers = matches!(setup.scheme, Scheme::Steered(..));
    let hosts: Vec<Vec<HostId>> = setup.jobs.iter().map(|job| job.hosts.clone()).collect();
    let (lmc, path) = (setup.scheme.lmc(), setup.scheme.path());
    let levels = setup.profile.config.lane_map.clone();
    let sight = sight(setup.fabric, setup.scheme, &setup.profile.config);
    let mut jobs = setup.jobs;
    jobs.iter_mut().for_each(|job| job.modes = setup.scheme.modes(&job.modes));
    let mut player = Player::new(jobs, setup.profile.software)
        .with_addresses(lmc, path)
        .with_levels(levels)
        .with_sight(sight);
    if let Some((from_ps, to_ps)) = setup.measure.trace_ps {
        player.log(from_ps, to_ps, MOST_SPANS);
    }
    player.record_messages(&setup.measure.messages);
    let terms = Terms {
        threads: setup.threads,
        partitions: None,
        until_ps: setup.until_ps,
        packet_jobs: names.len(),
        measure: Some(&setup.measure),
        // Every message is told by itself: none is made up.
        skip_repeats: setup
            .skip_repeats
            .map(|error| if setup.measure.messages.is_empty() { error } else { 0.0 }),
        keep: setup.keep.filter(|_| !setup.measure.pairs && setup.measure.messages.is_empty()),
        control,
    };
    let finished = run_network(setup.fabric, &setup.profile.config, choice, player, observer, &terms)?;
    let Finished { end, end_ps, program: mut player, counters, packet_latencies, .. } = finished;
    let (spans, cut_ps) = player.take_log(end_ps);
    let ranks_did = RankWindow { spans, cut_ps };
    let mut deadlock = None;
    let at_max_time = end == End::Until;
    let (stopped, silent) = match end {
        End::Deadlock(SimError::Deadlock { packets, cycle, .. }) => {
            deadlock = Some(Deadlock { packets, cycle });
            (None, true)
        }
        End::Deadlock(error) => return Err(error),
        End::Told(reason) => (Some(reason), false),
        End::Silent | End::Stalled => (None, true),
        End::Stopped | End::Until => (None, false),
    };
    let Finished { intervals, queues, pairs, observers, accepted, .. } = finished;
    let messages = player.take_messages();
    let mut recorded = Recorded { intervals, queues, pairs, messages, ..Recorded::default() };
    let mut all_packets = Latencies::default();
    let jobs = names.into_iter().enumerate().map(|(j, (name, ranks))| {
        let (messages, packets) = (player.latency(j), &packet_latencies[j]);
        recorded.distributions.push(Distribution::of("messages", &name, messages));
        recorded.distributions.push(Distribution::of("packets", &name, packets));
        all_packets.merge(packets);
        JobOutcome::of(&player, (j, end_ps), (name, ranks), (packets.summary(), accepted.get(j).copied()))
    });
    let mut jobs: Vec<JobOutcome> = jobs.collect();
    for (job, hosts) in jobs.iter_mut().zip(&hosts) {
        job.least_accepted =
            job.offered.as_ref().and_then(|o| least(setup.fabric, hosts, o, &finished.accepted_from));
    }
    let stuck = match (silent, &deadlock) {
        (false, _) => Vec::new(),
        (true, None) => player.stuck(MOST_STUCK),
        (true, Some(_)) => player.held_up(MOST_STUCK),
    };
    let outcome = Outcome {
        end_ps,
        stopped,
        at_max_time,
        jobs,
        packet_latency: all_packets.summary(),
        packets: finished.packets,
        responses: finished.responses,
        adapters: finished.adapters,
        detours: steers.then_some(finished.detours),
        packet_hops: finished.packet_hops,
        earlier_hops: finished.earlier_hops,
        events: finished.events,
        partitions: finished.partitions,
        skipped: finished.skipped,
        counters,
        managed: finished.managed,
        recorded,
        deadlock,
        asks_in_vain: !stuck.is_empty() && player.asks_in_vain(),
        stuck,
    };
    Ok((outcome, observers, ranks_did))
}

/// What choices of modes see.
fn sight(fabric: &Fabric, scheme: Scheme, config: &Config) -> Sight {
    let packet = (config.packet_bytes, config.header_bytes, config.window_packets.unwrap_or(u32::MAX));
    let group = match scheme {
        Scheme::Steered(_, steering) => fabric.hosts().map(|h| steering.group(fabric.leaf(h))).collect(),
        _ => Vec::new(),
    };
    Sight { packet, group }
}

/// What was accepted of the least-served of a job's hosts, as a share of its link.
fn least(fabric: &Fabric, hosts: &[HostId], offered: &Offered, accepted_from: &[u64]) -> Option<f64> {
    let (from_ps, to_ps) = offered.window_ps;
    let share = |&host: &HostId| {
        let bandwidth = fabric.bandwidth_bytes_per_s(fabric.host_link(host));
        Some(*accepted_from.get(host.index())? as f64 / (bandwidth * (to_ps - from_ps) as f64 * 1e-12))
    };
    hosts.iter().filter_map(share).reduce(f64::min)
}
