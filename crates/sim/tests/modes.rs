//! Modes of Aries: detours within groups and between them, by job and by size of message.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::Steering;
use netloom_sim::{
    AllToAll, Config, Job, Measure, Mode, Model, Modes, Outcome, Profile, Scheme, Setup, SteerOptions,
    Steered, Stream, simulate,
};
use netloom_topology::{detect, generate};

fn dragonfly() -> (Fabric, Steering) {
    let fabric = generate("dragonfly:p=2,a=4,h=2").unwrap();
    let steering = Steering::new(&fabric, &detect(&fabric)).unwrap();
    (fabric, steering)
}

fn options(mode: Mode, bias_bytes: u32) -> SteerOptions {
    SteerOptions { mode, bias_bytes, ..SteerOptions::new(Steered::Aries) }
}

fn run((fabric, steering): &(Fabric, Steering), options: SteerOptions, jobs: Vec<Job>) -> Outcome {
    let profile = Profile { config: Config { lanes: 5, ..Config::infiniband() }, ..Profile::infiniband() };
    let setup = Setup {
        fabric,
        scheme: Scheme::Steered(options, steering),
        model: Model::Packet,
        profile,
        jobs,
        seed: 4,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::new()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.deadlock.is_none());
    outcome
}

/// Every host sends to the host at the same place of the next switch of its group, or of the next group.
fn shifted(hosts: u32, by: u32, within: u32, bytes: u64) -> Job {
    let to = |host: u32| host / within * within + (host % within + by) % within;
    Job::new(
        "shift",
        (0..hosts).map(HostId).collect(),
        Stream::of(&(0..hosts).map(to).collect::<Vec<_>>(), 2, bytes),
    )
}

/// Two hosts share the cable to the next switch of four; a third of what a switch sends goes by each of the others otherwise.
#[test]
fn a_group_has_detours_of_its_own_and_a_bias_holds_them_back() {
    let net = &dragonfly();
    let shift = || vec![shifted(72, 2, 8, 200_000)];
    let unbiased = run(net, options(Mode::Unbiased, 0), shift());
    let biased = run(net, options(Mode::HighBias, 1 << 30), shift());
    let minimal = run(net, SteerOptions { lanes: 5, ..SteerOptions::new(Steered::Minimal) }, shift());
    assert!(
        unbiased.detours.unwrap() > unbiased.packets / 4,
        "{:?} of {}",
        unbiased.detours,
        unbiased.packets
    );
    assert_eq!(biased.detours, Some(0));
    assert!(unbiased.end_ps < biased.end_ps * 3 / 4, "{} and {}", unbiased.end_ps, biased.end_ps);
    assert_eq!(biased.counters, minimal.counters);
    // No packet leaves its group: it crosses a link more than it must, on a lane of its own.
    let lanes = unbiased.counters.lanes;
    let carried = |lane: usize| {
        let of_lane = unbiased.counters.sent.iter().skip(lane).step_by(lanes);
        of_lane.map(|sent| sent.packets).sum::<u64>()
    };
    let detours = unbiased.detours.unwrap();
    assert_eq!([1, 3, 4].map(carried), [0; 3]);
    assert_eq!(carried(2), 2 * detours, "the second cable and the host's");
    assert_eq!(unbiased.packet_hops, 3 * unbiased.packets + detours);
}

#[test]
fn the_higher_the_bias_the_fewer_detours_between_groups() {
    let net = &dragonfly();
    let detours =
        |mode, bias| run(net, options(mode, bias), vec![shifted(72, 8, 72, 100_000)]).detours.unwrap();
    let found = [(Mode::Unbiased, 1 << 20), (Mode::HighBias, 8_192), (Mode::HighBias, 1 << 30)]
        .map(|(mode, bias)| detours(mode, bias));
    assert!(found.is_sorted_by(|a, b| a > b) && found[2] == 0, "{found:?}");
    assert_eq!(detours(Mode::HighBias, 0), found[0]);
}

/// A job's mode takes the place of the routing's; by size it does so for the messages that are below.
#[test]
fn jobs_and_sizes_have_their_own_modes() {
    let net = &dragonfly();
    let run = |mode, modes: Modes, bytes| {
        let script = AllToAll { ranks: 40, bytes, iterations: 1, compute_ps: 0 };
        let job = Job { modes, ..Job::new("all", (0..40).map(HostId).collect(), script) };
        let outcome = run(net, options(mode, 8_192), vec![job]);
        (outcome.end_ps, outcome.detours, outcome.counters)
    };
    let bytes = 9_000;
    let (unbiased, biased) =
        (run(Mode::Unbiased, Modes::default(), bytes), run(Mode::HighBias, Modes::default(), bytes));
    assert!(unbiased.1 > biased.1);
    assert_eq!(run(Mode::Unbiased, Modes::all(Mode::HighBias), bytes), biased);
    assert_eq!(run(Mode::HighBias, Modes::all(Mode::Unbiased), bytes), unbiased);
    let below = |size, others| Modes::new(vec![(size, Mode::HighBias)], others);
    assert_eq!(run(Mode::Unbiased, below(bytes + 1, None), bytes), biased);
    assert_eq!(run(Mode::Unbiased, below(bytes, None), bytes), unbiased);
    assert_eq!(run(Mode::HighBias, below(bytes, Some(Mode::Unbiased)), bytes), unbiased);
}
