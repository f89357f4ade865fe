//! Offered load: what queueing theory says of it, what is accepted, and where it saturates. Links run at 12.5 GB/s.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::PathSet;
use netloom_sim::{
    Job, JobOutcome, Measure, Model, OpenLoop, Outcome, PerPacket, Profile, Scheme, Setup, Uniform, simulate,
};
use netloom_testkit::cases::{generated, star};
use netloom_topology::detect;

const LINK_BYTES_PER_S: f64 = 12.5e9;
const PACKET: u64 = 4096 + 26;
/// A packet on a link, ps.
const WIRE_PS: f64 = PACKET as f64 * 80.0;

/// Every host offers `load` of its link in messages of so many packets, so many of a host in the window.
fn offer(fabric: &Fabric, load: f64, packets: u64, messages: f64, model: Model, threads: usize) -> Outcome {
    let paths = PathSet::admissible(fabric, &detect(fabric));
    let hosts: Vec<u32> = fabric.hosts().map(|host| host.0).collect();
    let every_ps = packets as f64 * WIRE_PS / load;
    let (from_ps, length_ps) = ((0.25 * messages * every_ps) as u64, (messages * every_ps) as u64);
    let window = OpenLoop {
        from_ps,
        to_ps: from_ps + length_ps,
        wire_bytes: packets * PACKET,
        capacity_bytes_per_s: LINK_BYTES_PER_S * hosts.len() as f64,
    };
    let script = Uniform::new(hosts.clone(), vec![every_ps; hosts.len()], packets * 4096, window, 3);
    let setup = Setup {
        fabric,
        scheme: Scheme::PerPacket(PerPacket::Adaptive, &paths),
        model,
        profile: Profile::infiniband(),
        jobs: vec![Job::new("load", hosts.into_iter().map(HostId).collect(), script)],
        seed: 1,
        threads,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::default()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.deadlock.is_none());
    outcome
}

fn job(outcome: &Outcome) -> &JobOutcome {
    &outcome.jobs[0]
}

/// Two hosts send each other packets at random times: each waits in its host as in M/D/1, `r S / (2 (1 - r))`, and nowhere after, as
/// the links behind serve it as fast. Idle: 550 ns of software and 479.76 ns on the way (tests of theory).
#[test]
fn a_source_queue_is_as_long_as_m_d_1_says() {
    for (load, messages, within) in [(0.1, 40_000.0, 0.03), (0.5, 40_000.0, 0.03), (0.8, 100_000.0, 0.06)] {
        let outcome = offer(&star(2), load, 1, messages, Model::Packet, 1);
        let found = job(&outcome).offered.as_ref().expect("the window is over");
        assert!((found.offered / load - 1.0).abs() < 0.01, "{load}: {found:?}");
        let waited = found.latency.mean_ps - 550_000.0 - 479_760.0;
        let expected = load * WIRE_PS / (2.0 * (1.0 - load));
        assert!((waited / expected - 1.0).abs() < within, "{load}: waited {waited:.0} ps, not {expected:.0}");
        assert!(!found.saturated && found.under_way == 0, "{found:?}");
    }
}

/// Karol, Hluchyj and Morgan (IEEE Trans. Commun. 35(12), 1987), eq. 2: packets of `N` inputs for a switch's output wait
/// `(N - 1) / N` of M/D/1 there. Here they have waited in their hosts first, as in M/D/1; at low load both waits hardly know of each other.
#[test]
fn at_low_load_a_switch_adds_the_wait_at_its_outputs() {
    let (load, hosts) = (0.1, 16);
    let outcome = offer(&star(hosts), load, 1, 10_000.0, Model::Packet, 1);
    let found = job(&outcome).offered.as_ref().unwrap();
    let alone = load * WIRE_PS / (2.0 * (1.0 - load));
    let others = (hosts - 2) as f64 / (hosts - 1) as f64;
    let waited = found.latency.mean_ps - 550_000.0 - 479_760.0;
    assert!((waited / (alone * (1.0 + others)) - 1.0).abs() < 0.05, "{waited:.0} ps, alone {alone:.0}");
}

/// Below saturation what is offered is accepted, to a hundredth; in the fluid model too, and for messages far above the eager limit,
/// which leave without asking.
#[test]
fn below_saturation_all_that_is_offered_is_accepted() {
    let fabric = generated("two-level:leaves=4,hosts=4,spines=4");
    for (load, packets, model) in [
        (0.3, 1, Model::Packet),
        (0.6, 1, Model::Packet),
        (0.8, 1, Model::Packet),
        (0.4, 16, Model::Packet),
        (0.4, 16, Model::Fluid),
    ] {
        let outcome = offer(&fabric, load, packets, 2_000.0, model, 1);
        let found = job(&outcome).offered.as_ref().unwrap();
        assert!((found.accepted / found.offered - 1.0).abs() < 0.01, "{load} {packets}: {found:?}");
        assert!((found.offered / load - 1.0).abs() < 0.02, "{load} {packets}: {found:?}");
        assert!(!found.saturated, "{load} {packets}: {found:?}");
        // Complete when the last has arrived; rates of flows are settled once more after that.
        let end_ps = job(&outcome).times.end_ps().unwrap();
        assert!(end_ps == outcome.end_ps || model == Model::Fluid && end_ps < outcome.end_ps);
    }
}

/// 8 hosts share 4 cables up, which carry the share `24 / 31` of what they send: a host's link takes at most `4 / (8 x 24 / 31) = 0.6458`,
/// as what stays below the leaf waits behind what does not. Flows come close; packets do not, as heads of queues wait for each other
/// in switches, too. What is accepted depends neither on what more is offered nor on how many packets a message has.
#[test]
fn beyond_saturation_it_is_told_and_what_fits_is_accepted() {
    let fabric = generated("two-level:leaves=4,hosts=8,spines=4");
    let at = |load, packets, messages, model| {
        job(&offer(&fabric, load, packets, messages, model, 1)).offered.clone().unwrap()
    };
    let mut accepted = Vec::new();
    for (load, packets) in [(0.7, 1), (0.9, 1), (0.7, 4), (0.9, 4)] {
        let found = at(load, packets, 1_000.0, Model::Packet);
        assert!(found.saturated, "{found:?}");
        assert_eq!((found.under_way, found.messages), (0, found.latency.count), "all arrive in the end");
        accepted.push(found.accepted);
    }
    assert!(accepted.iter().all(|it| (it / accepted[0] - 1.0).abs() < 0.02), "{accepted:?}");
    assert!((0.8 * 0.6458..0.6458).contains(&accepted[0]), "{accepted:?}");
    let flows = at(0.7, 1, 1_000.0, Model::Fluid);
    assert!(flows.saturated && (flows.accepted / 0.6458 - 1.0).abs() < 0.04, "{flows:?}");
    assert!(!at(0.5, 1, 3_000.0, Model::Packet).saturated);
    assert!(
        !at(0.6, 1, 10.0, Model::Packet).saturated,
        "a window of 10 messages a host is too short to tell"
    );
}

#[test]
fn offered_load_is_the_same_for_any_number_of_threads() {
    let fabric = generated("two-level:leaves=4,hosts=4,spines=4");
    let one = offer(&fabric, 0.7, 2, 200.0, Model::Packet, 1);
    let three = offer(&fabric, 0.7, 2, 200.0, Model::Packet, 3);
    assert_eq!(one.jobs, three.jobs);
}
