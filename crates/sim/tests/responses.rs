//! Adapters with a window: responses, what is counted, and that nobody waits for ever. Links run at 12.5 GB/s: a flit takes 1,280 ps.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, Steering, route};
use netloom_sim::{
    Config, Congestion, Job, Measure, MessageRow, Model, Outcome, Pairs, PerPacket, PingPong, Profile, Qcn,
    Scheme, Setup, SimError, SteerOptions, Steered, Stream, simulate,
};
use netloom_testkit::cases::star;
use netloom_topology::{detect, generate};

fn aries(window: u32, lanes: u8) -> Profile {
    let mut profile = Profile::aries();
    (profile.config.window_packets, profile.config.lanes) = (Some(window), lanes);
    profile
}

fn setup<'a>(fabric: &'a Fabric, scheme: Scheme<'a>, profile: Profile, jobs: Vec<Job>) -> Setup<'a> {
    Setup {
        fabric,
        scheme,
        model: Model::Packet,
        profile,
        measure: Measure { messages: (0..jobs.len()).collect(), ..Measure::default() },
        jobs,
        seed: 1,
        threads: 1,
        keep: None,
        skip_repeats: None,
        until_ps: None,
    }
}

fn run(setup: Setup) -> Outcome {
    let outcome = simulate(setup, &Control::new()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.deadlock.is_none(), "{:?}", outcome.stuck);
    outcome
}

fn rows(outcome: &Outcome) -> &[MessageRow] {
    &outcome.recorded.messages.as_ref().unwrap().rows
}

fn hosts(some: &[u32]) -> Vec<HostId> {
    some.iter().map(|&host| HostId(host)).collect()
}

/// A message from host 0 to host 1, both on one switch.
fn one(bytes: u64, window: u32) -> (MessageRow, Outcome) {
    let fabric = star(2);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let to = vec![
        vec![netloom_sim::Op::Send { to: 1, bytes, tag: 0 }],
        vec![netloom_sim::Op::Recv { from: 0, tag: 0 }],
    ];
    let job = Job::new("one", hosts(&[0, 1]), to);
    // The run goes on until the last response has come.
    let outcome = run(setup(&fabric, Scheme::Tables(&routes), aries(window, 1), vec![job]));
    (rows(&outcome)[0], outcome)
}

/// There: 80 bytes on the host's link and 10 ns of cable, 100 ns in the switch, 10 ns of cable; the tail comes 6.4 ns after the head.
/// Back: the same with 16 bytes, 1.28 ns.
#[test]
fn a_lone_packet_and_its_response_take_the_time_worked_out_by_hand() {
    let (there_ps, back_ps) = (10_000 + 100_000 + 10_000 + 6_400, 10_000 + 100_000 + 10_000 + 1_280);
    let (row, outcome) = one(64, 1_024);
    let sent = row.sent.unwrap();
    assert_eq!(sent.network_ps, there_ps);
    assert_eq!((sent.counters.flits, sent.counters.packets, sent.counters.stalled_ps), (5, 1, 0));
    assert_eq!(sent.counters.latency_ps, there_ps + back_ps);
    assert_eq!(sent.counters.cycle_ps, 1_280);
    assert_eq!(outcome.adapters.as_ref().unwrap()[0], sent.counters);
    assert_eq!((outcome.packets, outcome.responses), (2, 1));
}

/// With room for one packet without a response each waits for the one before to be answered; with room for all none does.
#[test]
fn a_window_holds_packets_back_until_responses_come() {
    let (there_ps, round_ps) = (126_400, 126_400 + 121_280);
    for (window, wait_ps) in [(1, 2 * round_ps), (2, round_ps), (3, 2 * 6_400), (1_024, 2 * 6_400)] {
        let sent = one(3 * 64, window).0.sent.unwrap();
        assert_eq!(sent.network_ps, wait_ps + there_ps, "window {window}");
        // Waiting for the window is no stall, and in no packet's latency.
        assert_eq!((sent.counters.packets, sent.counters.flits, sent.counters.stalled_ps), (3, 15, 0));
        assert_eq!(sent.counters.latency_ps, 3 * round_ps, "window {window}");
    }
}

/// Three hosts send to one: two thirds of what they could send has no room.
#[test]
fn back_pressure_is_counted_as_stalls() {
    let fabric = star(4);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let incast = netloom_sim::Incast { ranks: 4, root: 0, messages: 1, bytes: 1 << 18, iterations: 1 };
    let mut profile = aries(1_024, 1);
    profile.software.eager_bytes = u64::MAX;
    let job = Job::new("incast", hosts(&[0, 1, 2, 3]), incast);
    let outcome = run(setup(&fabric, Scheme::Tables(&routes), profile, vec![job]));
    let sent: Vec<_> = rows(&outcome).iter().map(|row| row.sent.unwrap()).collect();
    assert_eq!(sent.len(), 3);
    for one in &sent {
        let counters = one.counters;
        assert_eq!((counters.flits, counters.packets), (5 * 4_096, 4_096));
        let ratio = counters.stalled_ps as f64 / (counters.flits * counters.cycle_ps) as f64;
        assert!((1.5..2.1).contains(&ratio), "{ratio}");
    }
    let adapters = outcome.adapters.unwrap();
    assert_eq!(adapters[1].flits + adapters[2].flits + adapters[3].flits, 3 * 5 * 4_096);
    assert_eq!(adapters[0].flits, 0, "responses are not counted");
    assert_eq!(outcome.packets, 2 * outcome.responses);
}

/// Both sides have full windows and responses to send on the lane of their data.
#[test]
fn hosts_with_full_windows_do_not_wait_for_each_other_for_ever() {
    let fabric = generate("two-level:leaves=4,hosts=4,spines=2").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
    let all: Vec<u32> = (0..16).collect();
    let partner: Vec<u32> = (0..16).map(|rank| (rank + 8) % 16).collect();
    let schemes = [
        Scheme::Tables(&routes),
        Scheme::PerPacket(PerPacket::Adaptive, &paths),
        Scheme::PerPacket(PerPacket::Random, &paths),
    ];
    for (scheme, window) in schemes.into_iter().flat_map(|scheme| [(scheme, 1), (scheme, 3), (scheme, 1_024)])
    {
        let pairs = Pairs { partner: partner.clone(), rounds: 2, messages: 3, bytes: 9_000 };
        let job = Job::new("pairs", hosts(&all), pairs);
        let outcome = run(setup(&fabric, scheme, aries(window, 1), vec![job]));
        assert_eq!(outcome.jobs[0].messages, 16 * 6);
        assert_eq!(outcome.packets, 2 * outcome.responses);
    }
}

fn dragonfly() -> (Fabric, Steering) {
    let fabric = generate("dragonfly:p=2,a=4,h=2").unwrap();
    let steering = Steering::new(&fabric, &detect(&fabric)).unwrap();
    (fabric, steering)
}

/// Responses are alone on the three lanes behind those of the scheme; with fewer lanes they share.
#[test]
fn responses_have_lanes_of_their_own_where_there_are_enough() {
    let (fabric, steering) = &dragonfly();
    for steered in Steered::ALL {
        for (response_lanes, lanes) in [(SteerOptions::RESPONSE_LANES, 8), (0, 5)] {
            let options = SteerOptions { response_lanes, lanes: 5, ..SteerOptions::new(steered) };
            let to: Vec<u32> = (0..72).map(|rank| (rank + 8) % 72).collect();
            let job = Job::new("stream", fabric.hosts().collect(), Stream::of(&to, 2, 5_000));
            let scheme = Scheme::Steered(options, steering);
            let outcome = run(setup(fabric, scheme, aries(64, lanes), vec![job]));
            let sent = &outcome.counters.sent;
            assert_eq!(outcome.packets, 2 * outcome.responses);
            for lane in 0..usize::from(lanes) {
                let of_lane = || sent.iter().skip(lane).step_by(lanes.into());
                let (bytes, packets) =
                    of_lane().fold((0, 0), |sum, it| (sum.0 + it.bytes, sum.1 + it.packets));
                assert_eq!(
                    lane >= 5,
                    packets > 0 && bytes == 16 * packets,
                    "{steered:?}, lane {lane} of {lanes}"
                );
            }
            if steered == Steered::Valiant {
                assert_eq!(
                    outcome.detours,
                    Some(outcome.responses),
                    "every packet of data goes to the next group"
                );
            }
        }
    }
}

/// Who watches sees the same run, and no responses.
#[test]
fn a_run_that_is_traced_is_the_same() {
    let (fabric, steering) = &dragonfly();
    let options = SteerOptions { response_lanes: 3, ..SteerOptions::new(Steered::Ugal) };
    let all = |trace_ps| {
        let to: Vec<u32> = (0..72).map(|rank| (rank + 8) % 72).collect();
        let job = Job::new("stream", fabric.hosts().collect(), Stream::of(&to, 1, 20_000));
        let mut setup = setup(fabric, Scheme::Steered(options, steering), aries(64, 8), vec![job]);
        setup.measure.trace_ps = trace_ps;
        run(setup)
    };
    let (plain, traced) = (all(None), all(Some((0, 1_000_000_000))));
    assert_eq!(plain.adapters, traced.adapters);
    assert_eq!(plain.recorded.messages, traced.recorded.messages);
    assert!(plain.detours > Some(0));
}

/// Without neighbours a ping-pong's times on the network are those between its posts.
#[test]
fn the_times_of_a_ping_pong_are_those_of_its_messages() {
    let (fabric, steering) = &dragonfly();
    let options = SteerOptions { response_lanes: 3, ..SteerOptions::new(Steered::Minimal) };
    let script = PingPong { partner: vec![1, 0], bytes: 4_096, iterations: 5 };
    let job = Job::new("pingpong", hosts(&[0, 70]), script);
    let profile = aries(1_024, 8);
    let post_ps = profile.software.post_ps;
    let outcome = run(setup(fabric, Scheme::Steered(options, steering), profile, vec![job]));
    let rows = rows(&outcome);
    assert_eq!(rows.len(), 10);
    // The last message's responses may come after the end.
    for row in &rows[..9] {
        assert_eq!(row.sent.unwrap().network_ps + post_ps, row.latency_ps);
    }
}

#[test]
fn hardware_that_cannot_answer_is_refused_by_name() {
    let refusal = |config: Config| match config.check() {
        Err(SimError::Config { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(Config { window_packets: Some(0), ..Config::aries() }), "window_packets");
    assert_eq!(refusal(Config { window_packets: Some(8), ..Config::codes() }), "header_bytes");
    let congestion = Congestion::new(netloom_sim::ControlKind::Qcn(Qcn::default()), 0);
    assert_eq!(refusal(Config { congestion: Some(congestion), ..Config::aries() }), "window_packets");
}
