//! A run in partitions on several threads shows what a run in one piece shows.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Control, Fabric, HostId, StopReason};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{
    Choice, Collective, Config, End, Finished, Intervals, Job, JobTimes, Kind, Latencies, LinkCounters,
    Measure, Network, Nobody, Op, Pairs, Player, Queues, Repeat, SimError, Software, Terms, run_network,
};
use netloom_testkit::any_fabric;
use netloom_testkit::cases::ring;
use netloom_topology::{detect, generate};

use crate::common::{AtOnce, clockwise};
use crate::conservation::configs;

pub type Recording = (Option<Intervals>, Option<Queues>);
/// Everything that must not depend on partitions.
pub type Shown = (End, u64, [u64; 3], LinkCounters, Vec<(JobTimes, Latencies)>, Vec<Latencies>, Recording);

pub fn shown(finished: Finished<Player, Nobody>, jobs: usize) -> Shown {
    let Finished {
        end,
        end_ps,
        program,
        counters,
        packets,
        packet_hops,
        events,
        packet_latencies,
        intervals,
        queues,
        ..
    } = finished;
    let jobs = (0..jobs).map(|job| (program.times(job), program.latency(job).clone())).collect();
    (end, end_ps, [packets, packet_hops, events], counters, jobs, packet_latencies, (intervals, queues))
}

/// A run that records nothing and has no end but its own.
fn terms(threads: usize, partitions: Option<usize>, control: &Control) -> Terms<'_> {
    Terms {
        threads,
        partitions,
        until_ps: None,
        packet_jobs: 0,
        measure: None,
        keep: None,
        skip_repeats: None,
        control,
    }
}

pub fn software() -> Software {
    Software {
        call_ps: 3_000,
        post_ps: 10_000,
        rendezvous_ps: 50_000,
        eager_bytes: 9_000,
        control_bytes: 16,
        copy_ps_per_byte: 1.0,
    }
}

/// A job whose ranks compute, send and receive at random, with a barrier and a gathering in between; and a job that repeats until it ends.
pub fn jobs(fabric: &Fabric, random: &mut Stream) -> Vec<Job> {
    let mut hosts: Vec<HostId> = fabric.hosts().collect();
    for i in (1..hosts.len()).rev() {
        hosts.swap(i, below(random, i as u64 + 1) as usize);
    }
    let bullies = if hosts.len() >= 6 { hosts.split_off(hosts.len() / 2) } else { Vec::new() };
    let n = hosts.len() as u64;
    let mut steps = vec![Vec::new(); hosts.len()];
    for round in 0..3u32 {
        for from in 0..n as usize {
            if below(random, 2) == 0 {
                steps[from].push(Op::Compute { ps: below(random, 300_000) });
            }
            for _ in 0..below(random, 3) {
                let to = below(random, n) as u32;
                steps[from].push(Op::Isend { to, bytes: 1 + below(random, 40_000), tag: round });
                steps[to as usize].push(Op::Irecv { from: from as u32, tag: round });
            }
        }
        for rank in &mut steps {
            rank.push(Op::WaitAll);
            let kind = if round == 1 { Kind::Allgather } else { Kind::Barrier };
            rank.push(Op::Together(Collective::all(kind, 5_000, n as u32)));
        }
    }
    let mut jobs = vec![Job::new("it", hosts, steps)];
    if !bullies.is_empty() {
        let many = bullies.len() as u32;
        let partner = (0..many).map(|r| if r ^ 1 < many { r ^ 1 } else { r }).collect();
        let pairs = Pairs { partner, rounds: 2, messages: 3, bytes: 10_000 };
        jobs.push(Job { until: Some(0), start_ps: 40_000, ..Job::new("bully", bullies, pairs) });
    }
    jobs
}

fn every_division_agrees<C: Choice + Clone>(
    fabric: &Fabric,
    config: &Config,
    choice: &C,
    seed: u64,
    until_ps: Option<u64>,
) -> Shown {
    let control = Control::new();
    let measure =
        Measure { counters_every_ps: Some(700_000), queues_every_ps: Some(1_100_000), ..Measure::default() };
    let run = |partitions, threads| {
        let jobs = jobs(fabric, &mut stream(seed, 7));
        let count = jobs.len();
        let terms = Terms {
            threads,
            partitions: Some(partitions),
            until_ps,
            packet_jobs: 2,
            measure: Some(&measure),
            keep: None,
            skip_repeats: None,
            control: &control,
        };
        let player = Player::new(jobs, software());
        let finished = run_network(fabric, config, choice.clone(), player, |_| Nobody, &terms).unwrap();
        shown(finished, count)
    };
    let one = run(1, 1);
    for (partitions, threads) in [(2, 1), (3, 1), (4, 1), (2, 2)] {
        assert_eq!(run(partitions, threads), one, "seed {seed}, {partitions} partitions, {threads} threads");
    }
    one
}

#[test]
fn any_number_of_partitions_shows_the_same() {
    let mut repeated = 0;
    for seed in 0..6 {
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let routes = route(Engine::Updn, &fabric, &structure, &EngineOptions::default()).unwrap();
        let table = ByTable::new(&fabric, routes.lft().unwrap());
        for config in configs() {
            // Some cable everywhere: without it two threads meet for every hop.
            let config = Config { cable_delay_ps: config.cable_delay_ps.max(5_000), ..config };
            let (end, end_ps, .., jobs, _, _) = every_division_agrees(&fabric, &config, &table, seed, None);
            assert_eq!(end, if jobs.len() > 1 { End::Stopped } else { End::Silent });
            assert!(jobs[0].0.ranks_ps.iter().all(Option::is_some), "seed {seed}");
            repeated += u32::from(jobs.get(1).is_some_and(|(times, _)| times.rounds > 1));
            let adaptive = Adaptive::new(&fabric, &paths, seed);
            every_division_agrees(&fabric, &config, &adaptive, seed, None);
            let half = every_division_agrees(&fabric, &config, &adaptive, seed, Some(end_ps / 2));
            assert_eq!(half.0, End::Until);
        }
    }
    assert!(repeated > 0, "some job repeats");
}

/// The same from the network's own loop, which knows nothing of partitions.
#[test]
fn partitions_agree_with_a_network_in_one_piece() {
    let fabric = generate("fattree:pods=4,leaves=3,hosts=4,spines=2,groups=2,cores=2").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let hosts = fabric.host_count() as u32;
    let messages: Vec<_> = (0..hosts).map(|h| (h, (h + hosts / 2 + h % 3) % hosts, 100_000)).collect();
    for config in configs() {
        let choice = Adaptive::new(&fabric, &paths, 5);
        let mut whole =
            Network::new(&fabric, &config, choice.clone(), AtOnce::new(&messages), Nobody).unwrap();
        whole.run().unwrap();
        let control = Control::new();
        let terms = terms(4, Some(4), &control);
        let program = AtOnce::new(&messages);
        let parts = run_network(&fabric, &config, choice, program, |_| Nobody, &terms).unwrap();
        assert_eq!((parts.partitions, parts.end), (4, End::Silent));
        assert_eq!(parts.program.done_ps, whole.program().done_ps);
        assert_eq!(parts.counters, whole.counters());
        assert_eq!(parts.packet_hops, whole.packet_hops());
    }
}

/// Small fabrics, and hardware without cables, don't gain from threads: the run says that it used one.
#[test]
fn threads_are_used_where_they_pay() {
    let control = Control::new();
    let used = |spec: &str, config: &Config| {
        let fabric = generate(spec).unwrap();
        let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let choice = ByTable::new(&fabric, routes.lft().unwrap());
        let terms = terms(2, None, &control);
        let program = AtOnce::new(&[(0, 1, 1)]);
        run_network(&fabric, config, choice, program, |_| Nobody, &terms).unwrap().partitions
    };
    assert_eq!(used("quartz1", &Config::infiniband()), 2);
    assert_eq!(used("quartz1", &Config::codes()), 1);
    assert_eq!(used("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=1,cores=2", &Config::infiniband()), 1);
}

#[test]
fn a_deadlock_across_partitions_is_found_and_named() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    let messages: Vec<_> = (0..6).map(|h| (h, (h + 3) % 6, 100 * 4096)).collect();
    let control = Control::new();
    let run = |partitions| {
        let terms = terms(1, Some(partitions), &control);
        let (choice, program) = (ByTable::new(&fabric, &lft), AtOnce::new(&messages));
        run_network(&fabric, &Config::infiniband(), choice, program, |_| Nobody, &terms).unwrap()
    };
    let one = run(1);
    let End::Deadlock(SimError::Deadlock { ref cycle, .. }) = one.end else {
        panic!("the ring must lock up")
    };
    assert_eq!(cycle.len(), 6, "{cycle:?}");
    for partitions in [2, 3] {
        let parts = run(partitions);
        assert_eq!((parts.partitions, &parts.end), (partitions, &one.end));
        assert_eq!(parts.counters, one.counters);
    }
}

/// Two holes, met at different times in different partitions: the earlier one is reported, however many threads there are.
#[test]
fn the_first_failure_in_simulated_time_is_reported() {
    let fabric = ring(6);
    let mut lft = clockwise(&fabric, 6);
    lft.set(netloom_model::SwitchId(2), netloom_model::DestId(3), None);
    lft.set(netloom_model::SwitchId(4), netloom_model::DestId(5), None);
    // From host 4 over one switch; from host 1 over two.
    let messages = [(1, 3, 10), (4, 5, 10)];
    let control = Control::new();
    let errors: Vec<_> = (1..=3)
        .map(|partitions| {
            let terms = terms(1, Some(partitions), &control);
            let (choice, program) = (ByTable::new(&fabric, &lft), AtOnce::new(&messages));
            run_network(&fabric, &Config::infiniband(), choice, program, |_| Nobody, &terms).unwrap_err()
        })
        .collect();
    let first = fabric.switch_name(netloom_model::SwitchId(4)).to_string();
    assert!(matches!(&errors[0], SimError::NoRoute { switch, .. } if *switch == first));
    assert!(errors.iter().all(|error| *error == errors[0]));
}

#[test]
fn a_run_that_is_told_to_stop_gives_what_it_has() {
    let fabric = generate("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=1,cores=2").unwrap();
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let control = Control::new();
    control.stop(StopReason::Interrupted);
    for partitions in [1, 2] {
        let hosts: Vec<_> = fabric.hosts().collect();
        let count = hosts.len() as u32;
        let endless = Repeat { collective: Collective::all(Kind::Barrier, 8, count), iterations: u64::MAX };
        let player = Player::new(vec![Job::new("endless", hosts, endless)], software());
        let terms = terms(1, Some(partitions), &control);
        let config = Config::infiniband();
        let finished = run_network(&fabric, &config, choice.clone(), player, |_| Nobody, &terms).unwrap();
        assert_eq!(finished.end, End::Told(StopReason::Interrupted));
        assert_eq!(finished.program.times(0).end_ps(), None);
    }
}

/// Within a pool of the caller's its threads do the work; it may have more of them than are needed.
#[test]
fn a_pool_of_the_callers_does_as_well() {
    let fabric = generate("fattree:pods=4,leaves=3,hosts=4,spines=2,groups=2,cores=2").unwrap();
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(&fabric, routes.lft().unwrap());
    let control = Control::new();
    let run = || {
        let player = Player::new(jobs(&fabric, &mut stream(3, 7)), software());
        let terms = terms(2, Some(2), &control);
        let config = Config::infiniband();
        run_network(&fabric, &config, choice.clone(), player, |_| Nobody, &terms).unwrap()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(shown(pool.install(run), 2), shown(run(), 2));
}
