//! Neighbours: what they can't reach stays as it was, to the picosecond, and messages are written down alike however a run is cut.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, Steering, route};
use netloom_sim::{
    Job, Measure, MessageRow, Mode, Model, Outcome, Pairs, PerPacket, Profile, Scheme, Setup, SteerOptions,
    Steered, simulate,
};
use netloom_testkit::cases::{generated, wired};
use netloom_topology::{detect, generate};

/// Hosts that exchange several messages a round with the host at the other half of the list.
fn pairs(name: &str, hosts: &[u32], bytes: u64) -> Job {
    let half = hosts.len() as u32 / 2;
    let partner = (0..2 * half).map(|rank| (rank + half) % (2 * half)).collect();
    let script = Pairs { partner, rounds: 4, messages: 3, bytes };
    Job::new(name, hosts.iter().map(|&host| HostId(host)).collect(), script)
}

fn run(fabric: &Fabric, scheme: Scheme, profile: &Profile, jobs: Vec<Job>, threads: usize) -> Outcome {
    let messages = (0..jobs.len()).collect();
    let setup = Setup {
        fabric,
        scheme,
        model: Model::Packet,
        profile: profile.clone(),
        jobs,
        seed: 3,
        threads,
        measure: Measure { messages, ..Measure::default() },
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::new()).unwrap();
    assert!(outcome.stuck.is_empty());
    outcome
}

/// The messages of a job.
fn messages(outcome: &Outcome, job: u32) -> Vec<MessageRow> {
    let recorded = outcome.recorded.messages.as_ref().unwrap();
    assert!(!recorded.cut);
    let of_job = recorded.rows.iter().filter(|row| row.job == job);
    of_job.map(|&row| MessageRow { job: 0, ..row }).collect()
}

/// Whether no link carried something in both runs.
fn are_apart(a: &Outcome, b: &Outcome) -> bool {
    let lanes = |outcome: &Outcome| outcome.counters.lanes;
    let carried = |outcome: &Outcome, link: usize| {
        let of_link = &outcome.counters.sent[link * lanes(outcome)..][..lanes(outcome)];
        of_link.iter().any(|sent| sent.packets > 0)
    };
    let links = a.counters.sent.len() / lanes(a);
    !(0..links).any(|link| carried(a, link) && carried(b, link))
}

/// Two jobs together are what each is alone, message by message.
fn assert_undisturbed<'a>(
    fabric: &'a Fabric,
    scheme: impl Fn() -> Scheme<'a>,
    profile: &Profile,
    jobs: [&dyn Fn() -> Job; 2],
) {
    let alone = jobs.map(|job| run(fabric, scheme(), profile, vec![job()], 1));
    assert!(are_apart(&alone[0], &alone[1]), "the test's jobs share no link");
    let together = run(fabric, scheme(), profile, jobs.map(|job| job()).into(), 1);
    for (job, alone) in alone.iter().enumerate() {
        let rows = messages(alone, 0);
        assert!(!rows.is_empty());
        assert_eq!(messages(&together, job as u32), rows);
        assert_eq!(together.jobs[job].times, alone.jobs[0].times);
    }
}

/// Leaf x has four spines, of which two lead to leaf y and two to leaf z. So hosts of x that send to y have other cables than those that
/// send to z, and both draw at x: with random numbers by switch, one job's packets would take the other's draws.
#[test]
fn jobs_that_draw_at_one_switch_do_not_disturb_each_other() {
    let switches = [("x", 6), ("y", 3), ("z", 3), ("s1", 0), ("s2", 0), ("s3", 0), ("s4", 0)];
    let cables = [(0, 3, 1), (0, 4, 1), (0, 5, 1), (0, 6, 1), (1, 3, 1), (1, 4, 1), (2, 5, 1), (2, 6, 1)];
    let fabric = wired(&switches, &cables);
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let to_y = || pairs("y", &[0, 1, 2, 6, 7, 8], 30_000);
    let to_z = || pairs("z", &[3, 4, 5, 9, 10, 11], 17_000);
    for profile in [Profile::codes(), Profile::infiniband()] {
        for scheme in PerPacket::ALL {
            assert_undisturbed(&fabric, || Scheme::PerPacket(scheme, &paths), &profile, [&to_y, &to_z]);
        }
        let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        assert_undisturbed(&fabric, || Scheme::Tables(&routes), &profile, [&to_y, &to_z]);
    }
}

/// The same on a dragonfly, for pairs of hosts of one switch each, where detours may lead anywhere.
#[test]
fn steered_jobs_that_share_no_link_do_not_disturb_each_other() {
    let fabric = generate("dragonfly:p=2,a=4,h=2,g=5").unwrap();
    let steering = Steering::new(&fabric, &detect(&fabric)).unwrap();
    let modes = Steered::ALL.into_iter().flat_map(|steered| {
        let modes = if steered == Steered::Aries { &Mode::ALL[..] } else { &Mode::ALL[..1] };
        modes.iter().map(move |&mode| (steered, mode))
    });
    for (steered, mode) in modes {
        let options = SteerOptions { lanes: 5, mode, ..SteerOptions::new(steered) };
        let profile = {
            let mut profile = Profile::codes();
            profile.config.lanes = 5;
            profile
        };
        let scheme = || Scheme::Steered(options, &steering);
        // Short messages, so that not every cable is met.
        let one = |hosts: [u32; 2]| {
            move || {
                let script = Pairs { partner: vec![1, 0], rounds: 1, messages: 1, bytes: 100 };
                Job::new("one", hosts.iter().map(|&host| HostId(host)).collect(), script)
            }
        };
        let first = one([0, 8]);
        let alone = run(&fabric, scheme(), &profile, vec![first()], 1);
        let mut cases = 0;
        for from in 1..8 {
            for to in 9..40 {
                let second = one([from, to]);
                if are_apart(&alone, &run(&fabric, scheme(), &profile, vec![second()], 1)) {
                    assert_undisturbed(&fabric, scheme, &profile, [&first, &second]);
                    cases += 1;
                }
            }
        }
        assert!(cases >= 5, "{}: {cases}", steered.name());
    }
}

/// Questions are written down by the receiver, answers by the sender, and these may be in two partitions.
#[test]
fn messages_are_written_down_alike_on_any_number_of_threads() {
    let fabric = generated("two-level:leaves=16,hosts=16,spines=4");
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    let mut profile = Profile::infiniband();
    profile.software.eager_bytes = 20_000;
    profile.config.cable_delay_ps = 500_000; // long enough that two partitions pay
    for bytes in [5_000, 40_000] {
        let jobs =
            || vec![pairs("a", &[0, 1, 100, 101], bytes), pairs("b", &[2, 3, 30, 200, 201, 250], bytes)];
        let scheme = || Scheme::PerPacket(PerPacket::ALL[0], &paths);
        let [one, two] = [1, 2].map(|threads| run(&fabric, scheme(), &profile, jobs(), threads));
        assert!(two.partitions > 1);
        assert_eq!(one.recorded.messages, two.recorded.messages);
        let rows = &one.recorded.messages.unwrap().rows;
        assert_eq!(rows.len(), 10 * 12);
        assert!(rows.iter().all(|row| (row.asking_ps > 0) == (bytes > 20_000)));
        // Every rank's messages are numbered from 0.
        assert!(rows.chunks(12).all(|of_rank| of_rank.iter().map(|row| row.number).eq(0..12)));
    }
}
