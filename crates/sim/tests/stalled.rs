//! A run that waits for what never comes ends, though other jobs start over until then: as soon as it would without them, with the same words.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Control, Fabric, HostId, Routes};
use netloom_sim::choice::ByTable;
use netloom_sim::{
    End, Finished, Job, Measure, Model, Nobody, Op, Outcome, Pairs, Player, Profile, Scheme, Setup, SimError,
    Terms, run_network, simulate,
};
use netloom_testkit::cases::wired;

use crate::common::clockwise;
use crate::partitions::software;

/// A ring of switches with four hosts each; two of each are the bullies'.
fn ring(switches: usize) -> (Fabric, Routes) {
    let names: Vec<String> = (0..switches).map(|i| format!("ring{i}")).collect();
    let of: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 4)).collect();
    let cables: Vec<(usize, usize, usize)> = (0..switches).map(|i| (i, (i + 1) % switches, 1)).collect();
    let fabric = wired(&of, &cables);
    let lft = clockwise(&fabric, switches);
    let routes = Routes::by_dest(&fabric, 0, lft);
    (fabric, routes)
}

/// The hosts of every switch: those of the job that is waited for, and the bullies'.
fn shared(fabric: &Fabric) -> (Vec<HostId>, Vec<HostId>) {
    let mut of_switch = vec![0; fabric.switch_count()];
    fabric.hosts().partition(|&host| {
        let here = &mut of_switch[fabric.leaf(host).index()];
        *here += 1;
        *here <= 2
    })
}

/// Two hosts of a switch that send each other messages again and again.
fn bully(fabric: &Fabric) -> Job {
    let (_, hosts) = shared(fabric);
    let partner = (0..hosts.len() as u32)
        .map(|r| {
            let beside =
                |o: &u32| *o != r && fabric.leaf(hosts[*o as usize]) == fabric.leaf(hosts[r as usize]);
            (0..hosts.len() as u32).find(beside).unwrap()
        })
        .collect();
    Job {
        until: Some(0),
        ..Job::new("bully", hosts, Pairs { partner, rounds: 3, messages: 2, bytes: 60_000 })
    }
}

fn setup<'a>(
    fabric: &'a Fabric,
    scheme: Scheme<'a>,
    model: Model,
    profile: Profile,
    jobs: Vec<Job>,
) -> Setup<'a> {
    Setup {
        fabric,
        scheme,
        model,
        profile,
        jobs,
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: Some(2_000_000_000_000),
    }
}

/// A run of a job, alone and beside a bully: both end in the same way, the second at most 1 % later.
fn both(fabric: &Fabric, scheme: Scheme, model: Model, profile: &Profile, job: &dyn Fn() -> Job) -> Outcome {
    let run = |jobs| {
        let setup = setup(fabric, scheme, model, profile.clone(), jobs);
        simulate(setup, &Control::new()).unwrap()
    };
    let (alone, beside) = (run(vec![job()]), run(vec![job(), bully(fabric)]));
    assert!(!alone.at_max_time && !beside.at_max_time);
    assert_eq!(beside.stuck, alone.stuck);
    if model == Model::Packet {
        assert_eq!(beside.jobs[0].times, alone.jobs[0].times); // (Rates are settled together with the bully's.)
    }
    let cycle = |of: &Outcome| of.deadlock.as_ref().map(|found| found.cycle.len());
    assert_eq!(cycle(&beside), cycle(&alone));
    if !alone.stuck.is_empty() {
        let latest = alone.end_ps + alone.end_ps / 100 + 1_000_000;
        assert!(beside.end_ps <= latest, "{} ps, {} ps alone", beside.end_ps, alone.end_ps);
    }
    beside
}

/// Everybody sends a long message most of the way round.
fn round_the_ring(fabric: &Fabric, bytes: u64) -> Job {
    let (hosts, _) = shared(fabric);
    let n = hosts.len() as u32;
    let steps = |r: u32| {
        vec![Op::Isend { to: (r + n - 2) % n, bytes, tag: 0 }, Op::Recv { from: (r + 2) % n, tag: 0 }]
    };
    Job::new("solver", hosts, (0..n).map(steps).collect::<Vec<_>>())
}

fn eager(profile: Profile) -> Profile {
    let mut profile = profile;
    profile.software.eager_bytes = u64::MAX;
    profile
}

#[test]
fn packets_that_wait_for_each_other_are_found_beside_a_job_that_starts_over() {
    let (fabric, routes) = ring(4);
    let outcome =
        both(&fabric, Scheme::Tables(&routes), Model::Packet, &eager(Profile::infiniband()), &|| {
            round_the_ring(&fabric, 4_000_000)
        });
    let deadlock = outcome.deadlock.expect("the ring locks up");
    assert_eq!(deadlock.cycle.len(), 4, "{:?}", deadlock.cycle);
    assert!(
        outcome.stuck[0].starts_with("solver rank 0 (step 2) in receive from rank 2 tag 0"),
        "{:?}",
        outcome.stuck
    );
    assert!(outcome.end_ps < 3_000_000_000, "{} ps", outcome.end_ps);
}

/// Whose turn it is does not fit; shorter packets behind it would, and wait too.
#[test]
fn packets_that_wait_their_turn_behind_longer_ones_are_found_too() {
    let (fabric, routes) = ring(4);
    let (hosts, _) = shared(&fabric);
    let steps = |bytes: &[u64; 8]| -> Vec<Vec<Op>> {
        let sends = |r: usize| Op::Isend { to: ((r + 6) % 8) as u32, bytes: bytes[r], tag: 0 };
        let receives = |r: usize| Op::Recv { from: ((r + 2) % 8) as u32, tag: 0 };
        (0..8).map(|r| vec![sends(r), receives(r)]).collect()
    };
    let mut locked = 0;
    for seed in 0..40 {
        let mut random = stream(seed, 4);
        let bytes = [0; 8].map(|_| [1, 40_000, 100_000, 400_000][below(&mut random, 4) as usize]);
        let steps = steps(&bytes);
        let job = || Job::new("solver", hosts.clone(), steps.clone());
        let profile = eager(Profile::infiniband());
        let outcome = both(&fabric, Scheme::Tables(&routes), Model::Packet, &profile, &job);
        locked += usize::from(outcome.deadlock.is_some());
    }
    assert!(locked >= 4, "{locked}");
}

/// The moment, and all that is told, is the same for any division.
#[test]
fn a_deadlock_beside_others_is_found_at_one_time_in_any_number_of_partitions() {
    let (fabric, routes) = ring(6);
    let lft = routes.lft().unwrap();
    let control = Control::new();
    let run = |partitions| -> Finished<Player, Nobody> {
        let jobs = vec![round_the_ring(&fabric, 1_000_000), bully(&fabric)];
        let mut own = software();
        own.eager_bytes = u64::MAX;
        let terms = Terms {
            threads: 2,
            partitions: Some(partitions),
            until_ps: None,
            packet_jobs: 2,
            measure: None,
            keep: None,
            skip_repeats: None,
            control: &control,
        };
        let (choice, config) = (ByTable::new(&fabric, lft), Profile::infiniband().config);
        run_network(&fabric, &config, choice, Player::new(jobs, own), |_| Nobody, &terms).unwrap()
    };
    let one = run(1);
    assert!(matches!(one.end, End::Deadlock(SimError::Deadlock { .. })), "{:?}", one.end);
    for partitions in [2, 3] {
        let parts = run(partitions);
        assert_eq!(parts.partitions, partitions);
        assert_eq!((parts.end, parts.end_ps, parts.events), (one.end.clone(), one.end_ps, one.events));
        assert_eq!(parts.counters, one.counters);
    }
}

#[test]
fn a_message_that_nobody_sends_is_named_beside_a_job_that_starts_over() {
    let (fabric, routes) = ring(4);
    let (hosts, _) = shared(&fabric);
    let waits = || {
        Job::new(
            "solver",
            hosts[..2].to_vec(),
            vec![vec![Op::Recv { from: 1, tag: 5 }], vec![Op::Compute { ps: 10_000 }]],
        )
    };
    for model in [Model::Packet, Model::Fluid] {
        let outcome = both(&fabric, Scheme::Tables(&routes), model, &Profile::infiniband(), &waits);
        let told =
            "solver rank 0 (step 1) in receive from rank 1 tag 5; open receives: rank 1 tag 5 (never sent)";
        assert_eq!(outcome.stuck, [told]);
        assert!(outcome.deadlock.is_none() && outcome.end_ps < 10_000_000, "{} ps", outcome.end_ps);
    }
}

/// A long wait is none for ever: a message that comes late, behind a queue of the bullies', and after a long computation.
#[test]
fn who_waits_long_is_waited_for() {
    let (fabric, routes) = ring(4);
    let (hosts, bullies) = shared(&fabric);
    let rounds: Vec<Vec<Op>> = vec![
        vec![Op::Recv { from: 1, tag: 5 }],
        vec![Op::Compute { ps: 3_000_000_000 }, Op::Send { to: 0, bytes: 40_000, tag: 5 }],
    ];
    let flood = |r: u32| match r {
        0 => vec![],
        _ => vec![Op::Isend { to: 0, bytes: 4_000_000, tag: 0 }; 2],
    };
    let flood: Vec<Vec<Op>> = (0..bullies.len() as u32).map(flood).collect();
    for model in [Model::Packet, Model::Fluid] {
        let jobs = vec![
            Job::new("solver", vec![hosts[0], hosts[hosts.len() - 1]], rounds.clone()),
            Job { until: Some(0), ..Job::new("bully", bullies.clone(), flood.clone()) },
        ];
        let setup = setup(&fabric, Scheme::Tables(&routes), model, eager(Profile::infiniband()), jobs);
        let outcome = simulate(setup, &Control::new()).unwrap();
        assert!(
            outcome.stuck.is_empty() && outcome.jobs[0].times.end_ps() > Some(3_000_000_000),
            "{model:?}"
        );
    }
}

/// A program of random sends and receives, of which some have lost their other side; or a message most of the way round from everybody.
fn random_job(fabric: &Fabric, random: &mut Stream) -> Vec<Vec<Op>> {
    let (hosts, _) = shared(fabric);
    let n = hosts.len() as u64;
    let mut steps = vec![Vec::new(); hosts.len()];
    for round in 0..3u32 {
        for from in 0..n as usize {
            if below(random, 2) == 0 {
                steps[from].push(Op::Compute { ps: below(random, 2_000_000) });
            }
            let to = (from + 1 + below(random, n - 1) as usize) % n as usize;
            let bytes = 1 + below(random, 60_000);
            match below(random, 30) {
                0 => steps[from].push(Op::Send { to: to as u32, bytes: 9_001 + bytes, tag: round }),
                1 => steps[to].push(Op::Irecv { from: from as u32, tag: round }),
                _ => {
                    steps[from].push(Op::Isend { to: to as u32, bytes, tag: round });
                    steps[to].push(Op::Irecv { from: from as u32, tag: round });
                }
            }
        }
        steps.iter_mut().for_each(|rank| rank.push(Op::WaitAll));
    }
    steps
}

/// Scenes at random: lost messages, questions that nobody answers, rings that lock up, and programs that end.
#[test]
fn hostile_programs_that_stall_are_told_of_as_they_are_alone() {
    let trials = std::env::var("NETLOOM_TRIALS").map_or(20, |trials| trials.parse().unwrap());
    let (mut stuck, mut locked) = (0, 0);
    for seed in 0..trials {
        let mut random = stream(seed, 76);
        let (fabric, routes) = ring(3 + below(&mut random, 4) as usize);
        let ring_bytes = 200_000 + below(&mut random, 2_000_000);
        let steps = random_job(&fabric, &mut random);
        let (hosts, _) = shared(&fabric);
        let job = || Job::new("solver", hosts.clone(), steps.clone());
        println!("seed {seed}");
        for model in [Model::Packet, Model::Fluid] {
            for profile in [Profile::infiniband(), Profile::codes()] {
                let profile = if model == Model::Fluid || seed % 2 == 0 { profile } else { eager(profile) };
                stuck += usize::from(
                    !both(&fabric, Scheme::Tables(&routes), model, &profile, &job).stuck.is_empty(),
                );
            }
        }
        let around = || round_the_ring(&fabric, ring_bytes);
        let outcome =
            both(&fabric, Scheme::Tables(&routes), Model::Packet, &eager(Profile::infiniband()), &around);
        locked += usize::from(outcome.deadlock.is_some());
    }
    assert!(
        stuck * 2 > trials as usize && locked * 2 > trials as usize,
        "{stuck} stuck, {locked} locked of {trials}"
    );
}
