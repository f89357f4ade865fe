//! A run that is broken off and goes on from its state shows what it would have shown in one go.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Control, Fabric, HostId, Requirement, Schedule, StopReason, Task};
use netloom_routing::{Engine, EngineOptions, PathSet, Steering, route};
use netloom_sim::choice::{Adaptive, AdaptiveRemote, ByTable, RandomPerPacket, Steer, sees};
use netloom_sim::{
    Choice, Config, Congestion, ControlKind, Dcqcn, End, Halo, IbCc, Job, Keeping, Managed, Measure, Nobody,
    Observer, Pairs, Player, Qcn, SimError, Software, SteerOptions, Steered, Tasks, Terms, run_network,
};
use netloom_testkit::any_fabric;
use netloom_testkit::cases::star;
use netloom_topology::{detect, generate};

use crate::common::AtOnce;
use crate::conservation::configs;
use crate::partitions::{Shown, jobs, shown, software};

/// What a run shows, and what its congestion control did.
type Seen = (Shown, Option<Managed>);

/// What is run, but for how.
struct Case<'a, C> {
    fabric: &'a Fabric,
    config: &'a Config,
    choice: C,
    jobs: fn(&Fabric, &mut Stream) -> Vec<Job>,
    seed: u64,
    /// With samples, for which no packet is sent ahead of time.
    measured: bool,
}

impl<C: Choice + Clone> Case<'_, C> {
    fn run(&self, (partitions, threads): (usize, usize), keep: Option<&Keeping>, control: &Control) -> Seen {
        let jobs = (self.jobs)(self.fabric, &mut stream(self.seed, 7));
        let count = jobs.len();
        let measure = Measure {
            counters_every_ps: Some(700_000),
            queues_every_ps: Some(1_100_000),
            ..Measure::default()
        };
        let terms = Terms {
            threads,
            partitions: Some(partitions),
            until_ps: None,
            packet_jobs: 2,
            measure: self.measured.then_some(&measure),
            keep,
            skip_repeats: None,
            control,
        };
        let player = Player::new(jobs, software());
        let finished =
            run_network(self.fabric, self.config, self.choice.clone(), player, |_| Nobody, &terms).unwrap();
        let managed = finished.managed.clone();
        (shown(finished, count), managed)
    }

    /// Broken off again and again, at looks that `draw` counts, each time taken up in a new network; and how often that was.
    fn in_pieces(&self, division: (usize, usize), draw: &mut dyn FnMut() -> u64) -> (Seen, u32) {
        let mut state: Option<Vec<u8>> = None;
        for pieces in 0.. {
            let (control, looks) = (Control::new(), AtomicU64::new(draw()));
            let kept = Mutex::new(None);
            let due = || {
                if looks.fetch_sub(1, Relaxed) == 0 {
                    control.stop(StopReason::Interrupted);
                }
                false
            };
            let put = |state: &[u8]| *kept.lock().unwrap() = Some(state.to_vec());
            let keep = Keeping { from: state.as_deref(), due: &due, keep: &put };
            let shown = self.run(division, Some(&keep), &control);
            if shown.0.0 != End::Told(StopReason::Interrupted) {
                return (shown, pieces);
            }
            state = Some(kept.into_inner().unwrap().expect("what is interrupted is kept"));
        }
        unreachable!("every piece brings it on")
    }

    /// Not broken off, but kept at every so many looks; what was shown, and some of the states.
    fn kept_on_the_way(&self, division: (usize, usize), every: u64) -> (Seen, Vec<Vec<u8>>) {
        let (looks, states) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let due = || looks.fetch_add(1, Relaxed) % every == every / 2;
        let put = |state: &[u8]| states.lock().unwrap().push(state.to_vec());
        let keep = Keeping { from: None, due: &due, keep: &put };
        let shown = self.run(division, Some(&keep), &Control::new());
        (shown, states.into_inner().unwrap())
    }

    fn goes_on(&self, division: (usize, usize), state: &[u8]) -> Seen {
        let keep = Keeping { from: Some(state), due: &|| false, keep: &|_| panic!("nobody asked") };
        self.run(division, Some(&keep), &Control::new())
    }

    fn every_way_agrees(&self, divisions: &[(usize, usize)]) -> u32 {
        let mut random = stream(self.seed, 8);
        let mut broken = 0;
        for &division in divisions {
            let whole = self.run(division, None, &Control::new());
            // In partitions a look is a window; there are thousands.
            let far = if division.0 > 1 { 1_000 } else { 4 };
            let (shown, pieces) = self.in_pieces(division, &mut || below(&mut random, far));
            assert_eq!(shown, whole, "seed {}, {division:?}, {pieces} pieces", self.seed);
            broken += pieces;
            let (shown, states) = self.kept_on_the_way(division, far);
            assert_eq!(shown, whole, "seed {}, {division:?}, kept", self.seed);
            if let Some(state) = states.get(below(&mut random, states.len().max(1) as u64) as usize) {
                // The number of partitions is the state's.
                assert_eq!(self.goes_on((1, division.1), state), whole, "seed {}, {division:?}", self.seed);
            }
        }
        broken
    }
}

#[test]
fn a_run_in_pieces_shows_what_it_shows_in_one() {
    let (mut broken, mut in_parts) = (0, 0);
    for seed in 0..3 {
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let routes = route(Engine::Updn, &fabric, &structure, &EngineOptions::default()).unwrap();
        for config in configs() {
            // Some cable everywhere: without it two threads meet for every hop.
            let config = &Config { cable_delay_ps: config.cable_delay_ps.max(5_000), ..config };
            let fabric = &fabric;
            for (measured, divisions) in [(true, &[(1, 1)][..]), (false, &[(1, 1), (2, 2)])] {
                let choice = ByTable::new(fabric, routes.lft().unwrap());
                broken += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(divisions);
            }
            let measured = true;
            let choice = Adaptive::new(fabric, &paths, seed);
            in_parts += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(&[
                (1, 1),
                (2, 1),
                (2, 2),
                (3, 2),
            ]);
            let choice = AdaptiveRemote::new(fabric, &paths, seed);
            broken += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(&[(1, 1)]);
            let choice = RandomPerPacket::new(fabric, &paths, seed);
            broken += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(&[(2, 1)]);
        }
    }
    assert!(broken > 50 && in_parts > 50, "{broken} and {in_parts} times broken off");
}

/// Packets on detours carry where they go from partition to partition and from state to state.
#[test]
fn detours_go_on_too() {
    let fabric = &generate("dragonfly:p=1,a=4,h=2").unwrap();
    let steering = Steering::new(fabric, &detect(fabric)).unwrap();
    let mut broken = 0;
    for config in [Config::codes(), Config::infiniband()] {
        // Long cables: threads meet seldom.
        let config = &Config { cable_delay_ps: 100_000, lanes: 5, ..config };
        let divisions = &[(1, 1), (2, 1), (4, 2)];
        let (jobs, seed, measured) = (jobs, 2, true);
        let options = SteerOptions::new(Steered::Valiant);
        let choice = Steer::<{ sees::NOTHING }>::new(fabric, &steering, options, seed);
        broken += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(divisions);
        let choice = Steer::<{ sees::OWN }>::new(fabric, &steering, SteerOptions::new(Steered::Ugal), seed);
        broken += Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(divisions);
    }
    assert!(broken > 10, "{broken} times broken off");
}

/// Responses on their way and what adapters have counted go on, too; in one partition, however many are asked for.
#[test]
fn responses_go_on_too() {
    let fabric = &generate("dragonfly:p=1,a=4,h=2").unwrap();
    let steering = Steering::new(fabric, &detect(fabric)).unwrap();
    let config = &Config { lanes: 8, window_packets: Some(16), ..Config::aries() };
    let options = SteerOptions { response_lanes: 3, ..SteerOptions::new(Steered::Ugal) };
    let choice = Steer::<{ sees::OWN }>::new(fabric, &steering, options, 2);
    let (jobs, seed, measured) = (jobs, 2, true);
    let broken = Case { fabric, config, choice, jobs, seed, measured }.every_way_agrees(&[(1, 1), (2, 2)]);
    assert!(broken > 3, "{broken} times broken off");
}

/// Two jobs on hosts drawn at random, several messages to one receiver at once, that meet on their way.
fn rivals(fabric: &Fabric, random: &mut Stream) -> Vec<Job> {
    let mut hosts: Vec<HostId> = fabric.hosts().collect();
    for i in (1..hosts.len()).rev() {
        hosts.swap(i, below(random, i as u64 + 1) as usize);
    }
    let bullies = hosts.split_off(hosts.len() / 2);
    let partner = (0..bullies.len() as u32).map(|rank| rank ^ 1).collect();
    let (shape, periodic, bytes) = ([2, 2, 2], [false; 3], [50_000, 0, 0]);
    let halo = Halo { shape, periodic, bytes, iterations: 10, compute_ps: 0 };
    let pairs = Pairs { partner, rounds: 2, messages: 5, bytes: 20_000 };
    vec![Job::new("halo", hosts, halo), Job { until: Some(0), ..Job::new("bully", bullies, pairs) }]
}

/// Messages that a congestion control holds back go on, too, behind the one to their receiver that has begun.
#[test]
fn congestion_controls_go_on_too() {
    let fabric = &generate("two-level:leaves=4,hosts=4,spines=2").unwrap();
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(fabric, routes.lft().unwrap());
    let qcn = Qcn { setpoint_bytes: 8_000, sample_bytes: 15_000, gain: 1.0 / 16.0, ..Qcn::default() };
    let ib_cc = IbCc { ccti_increase: 4, ..IbCc::default() };
    let dcqcn = Dcqcn { kmin_bytes: 4_000, kmax_bytes: 20_000, pmax: 0.5, ..Dcqcn::default() };
    let controls = [ControlKind::Qcn(qcn), ControlKind::IbCc(ib_cc), ControlKind::Dcqcn(dcqcn)];
    for control in controls {
        let (name, mut broken, mut held) = (control.name(), 0, 0);
        for seed in 0..8 {
            let config = &Config {
                head_of_line: seed % 2 == 0,
                congestion: Some(Congestion::new(control.clone(), seed)),
                ..Config::infiniband()
            };
            let case =
                Case { fabric, config, choice: choice.clone(), jobs: rivals, seed, measured: seed % 4 < 2 };
            broken += case.every_way_agrees(&[(1, 1)]);
            held += u32::from(case.run((1, 1), None, &Control::new()).1.unwrap().held_ps > 0);
        }
        assert!(broken > 20 && held > 4, "{name}: {broken} times broken off, {held} runs held back");
    }
}

/// Every rank passes on round the ring what it gets, a long message and a short one each, after computing on two processors.
fn graph(fabric: &Fabric, random: &mut Stream) -> Vec<Job> {
    let hosts: Vec<_> = fabric.hosts().collect();
    let n = hosts.len() as u32;
    let (mut tasks, mut requirements) = (Vec::new(), Vec::new());
    for rank in 0..n {
        let mut of_rank = Vec::new();
        for tag in 0..20u32 {
            let first = of_rank.len() as u32;
            of_rank.push((Task::Calc { units: 1 + below(random, 400) }, 0));
            for bytes in [20_000, 100] {
                let (tag, to) = (2 * tag + u32::from(bytes == 100), (rank + 1) % n);
                of_rank.push((Task::Send { to, bytes, tag }, 0));
                of_rank.push((Task::Recv { from: (rank + n - 1) % n, tag }, 0));
            }
            of_rank.push((Task::Calc { units: 1 + below(random, 400) }, 1));
            let last = of_rank.len() as u32 - 1;
            let mut require = |task, requires, started| {
                requirements.push(Requirement { rank, task, requires, started });
            };
            require(first + 1, first, false);
            require(first + 3, first, true);
            require(last, first + 2, false);
            require(last, first + 4, false);
            if tag > 0 {
                require(first, first - 1, false);
            }
        }
        tasks.push(of_rank);
    }
    let schedule = Schedule::new(&tasks, &requirements).unwrap();
    vec![Job::new("graph", hosts, Tasks::new(Arc::new(schedule), 1.0))]
}

#[test]
fn graphs_of_tasks_go_on_too() {
    let fabric = &generate("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=1,cores=2").unwrap();
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let mut broken = 0;
    for seed in 0..10 {
        let choice = ByTable::new(fabric, routes.lft().unwrap());
        let config = &Config { cable_delay_ps: 5_000, ..Config::infiniband() };
        broken +=
            Case { fabric, config, choice, jobs: graph, seed, measured: true }.every_way_agrees(&[(2, 1)]);
    }
    assert!(broken > 10, "{broken} times broken off");
}

/// Messages over tables, told to end at once: its state is that of the start.
fn begun<O: Observer>(
    fabric: &Fabric,
    messages: &[(u32, u32, u64)],
    from: Option<&[u8]>,
    observer: impl Fn(usize) -> O,
) -> (Result<End, SimError>, Vec<Vec<u8>>) {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let (control, states) = (Control::new(), Mutex::new(Vec::new()));
    control.stop(StopReason::TimeLimit);
    let put = |state: &[u8]| states.lock().unwrap().push(state.to_vec());
    let keep = Keeping { from, due: &|| true, keep: &put };
    let (threads, partitions, until_ps, packet_jobs, measure) = (1, Some(1), None, 1, None);
    let terms = Terms {
        threads,
        partitions,
        until_ps,
        packet_jobs,
        measure,
        keep: Some(&keep),
        skip_repeats: None,
        control: &control,
    };
    let choice = ByTable::new(fabric, routes.lft().unwrap());
    let ended = run_network(fabric, &Config::infiniband(), choice, AtOnce::new(messages), observer, &terms);
    (ended.map(|finished| finished.end), states.into_inner().unwrap())
}

#[test]
fn what_is_not_the_state_of_such_a_run_is_refused() {
    let (fabric, messages) = (star(3), [(0, 1, 9_000), (1, 2, 1)]);
    let state = begun(&fabric, &messages, None, |_| Nobody).1.remove(0);
    let taken =
        |fabric: &Fabric, messages: &[_], state: &[u8]| begun(fabric, messages, Some(state), |_| Nobody).0;
    assert_eq!(taken(&fabric, &messages, &state), Ok(End::Told(StopReason::TimeLimit)));
    for cut in 0..state.len() {
        assert_eq!(taken(&fabric, &messages, &state[..cut]), Err(SimError::State), "{cut} bytes");
    }
    assert_eq!(taken(&fabric, &messages, &[&state[..], &[0]].concat()), Err(SimError::State));
    assert_eq!(taken(&star(4), &messages, &state), Err(SimError::State));
    assert_eq!(taken(&fabric, &messages[..1], &state), Err(SimError::State));
    // Two partitions, where there is one leaf; a state of an earlier form.
    assert_eq!(taken(&fabric, &messages, &[&state[..1], &[2], &state[2..]].concat()), Err(SimError::State));
    assert_eq!(taken(&fabric, &messages, &[&[state[0] - 1], &state[1..]].concat()), Err(SimError::State));
}

/// A host posts its messages at one time; those that have not had their turn take no room, in memory and so in a state.
#[test]
fn a_state_does_not_grow_with_the_messages_that_wait_to_be_sent() {
    let fabric = star(2);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let length = |messages: u64| {
        let (control, looks, kept) = (Control::new(), AtomicU64::new(0), AtomicU64::new(0));
        // At the second look all is posted, and some of it has left.
        let due = || {
            if looks.fetch_add(1, Relaxed) == 1 {
                control.stop(StopReason::TimeLimit);
            }
            false
        };
        let put = |state: &[u8]| kept.store(state.len() as u64, Relaxed);
        let keep = Keeping { from: None, due: &due, keep: &put };
        let pairs = Pairs { partner: vec![1, 0], rounds: 1, messages, bytes: 2_048 };
        let terms = Terms {
            threads: 1,
            partitions: Some(1),
            until_ps: None,
            packet_jobs: 1,
            measure: None,
            keep: Some(&keep),
            skip_repeats: None,
            control: &control,
        };
        let choice = ByTable::new(&fabric, routes.lft().unwrap());
        let config = Config::infiniband();
        let free = Software { call_ps: 0, ..software() };
        let player = Player::new(vec![Job::new("pairs", fabric.hosts().collect(), pairs)], free);
        let ended = run_network(&fabric, &config, choice, player, |_| Nobody, &terms).unwrap();
        assert_eq!(ended.end, End::Told(StopReason::TimeLimit));
        kept.into_inner()
    };
    // Numbers are kept in as many bytes as they need.
    let (few, many) = (length(2_000), length(200_000));
    assert!(many < few + 50, "{few} and {many} bytes");
}

/// Counts as listening.
struct Watching;

impl Observer for Watching {}

#[test]
fn a_run_that_is_watched_is_not_kept() {
    let (ended, states) = begun(&star(3), &[(0, 1, 9_000)], None, |_| Watching);
    assert_eq!(ended, Ok(End::Told(StopReason::TimeLimit)));
    assert!(states.is_empty());
}
