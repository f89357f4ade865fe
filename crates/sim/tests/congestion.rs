//! Congestion control end to end: queues at their setpoint, fair shares, what it costs a short exchange, and that nothing is lost.
//!
//! Ethernet-like hardware at 10 Gb/s: 1,500-byte packets, queues by output, room at inputs that is never short.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use netloom_model::{Control, Fabric};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::choice::ByTable;
use netloom_sim::{
    Config, Congestion, ControlKind, Finished, Forwarding, Injection, Keeping, Limiters, Managed, Nobody,
    Qcn, Terms, run_network,
};
use netloom_testkit::cases::generated;
use netloom_topology::detect;

use crate::common::AtOnce;

const MB: u32 = 1 << 20;
const MS: u64 = 1_000_000_000;
/// Long enough never to end in these tests.
const LONG: u64 = 4_000_000_000;

/// Eleven hosts on a switch, at 10 Gb/s.
fn one_switch() -> Fabric {
    generated("two-level:leaves=2,hosts=11,spines=1,speed=10G")
}

/// Payload 1,460 of 1,500 bytes; about 4 us from a queue to a source and back.
fn ethernet(congestion: Option<Congestion>) -> Config {
    Config {
        packet_bytes: 1460,
        header_bytes: 40,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(16 * MB),
        head_of_line: false,
        switch_delay_ps: 200_000,
        cable_delay_ps: 800_000,
        congestion,
        ..Config::infiniband()
    }
}

fn qcn(seed: u64) -> Congestion {
    Congestion::new(ControlKind::Qcn(Qcn::default()), seed)
}

fn run(
    fabric: &Fabric,
    config: &Config,
    messages: &[(u32, u32, u64)],
    until_ps: Option<u64>,
    threads: usize,
) -> Finished<AtOnce, Nobody> {
    run_from(fabric, config, messages, until_ps, threads, None)
}

fn run_from(
    fabric: &Fabric,
    config: &Config,
    messages: &[(u32, u32, u64)],
    until_ps: Option<u64>,
    threads: usize,
    keep: Option<&Keeping>,
) -> Finished<AtOnce, Nobody> {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(fabric, routes.lft().unwrap());
    let control = Control::new();
    let terms = Terms {
        threads,
        partitions: None,
        until_ps,
        packet_jobs: 0,
        measure: None,
        keep,
        skip_repeats: None,
        control: &control,
    };
    run_network(fabric, config, choice, AtOnce::new(messages), |_| Nobody, &terms).unwrap()
}

/// The queue towards host 0, mean and most, and what its sources had, from 0.3 s on.
fn steady(sources: u32, congestion: Congestion) -> (f64, Managed) {
    let fabric = one_switch();
    let config = ethernet(Some(Congestion { measure_from_ps: 300 * MS, ..congestion }));
    let messages: Vec<_> = (1..=sources).map(|from| (from, 0, LONG)).collect();
    let managed = run(&fabric, &config, &messages, Some(1000 * MS), 1).managed.unwrap();
    let link = fabric.reverse(fabric.host_link(netloom_model::HostId(0)));
    (managed.outputs[link.index()].mean_bytes, managed)
}

#[test]
fn a_queue_is_held_at_its_setpoint_and_its_sources_share_it() {
    for (sources, setpoint) in [(2, 26_000), (4, 26_000), (10, 26_000), (4, 33_000)] {
        let control = ControlKind::Qcn(Qcn { setpoint_bytes: setpoint, ..Qcn::default() });
        let (mean, managed) = steady(sources, Congestion::new(control, 1));
        let payload: u64 = managed.flows.iter().map(|flow| flow.bytes).sum();
        let used = payload as f64 * (1500.0 / 1460.0) / (0.7 * 1.25e9);
        let fairness = managed.fairness(|_| true).unwrap();
        println!(
            "{sources} sources, Qeq {setpoint}: mean queue {mean:.0}, used {used:.4}, Jain {fairness:.3}, {} notices",
            managed.notices
        );
        assert!((mean / f64::from(setpoint) - 1.0).abs() < 0.05, "{mean}");
        assert!(used > 0.995, "{used}");
        assert!(fairness > 0.9, "{fairness}");
    }
}

/// Seven messages of 750 kB into one link: 4.2 ms and headers without a control, much longer with one.
#[test]
fn a_short_exchange_pays_for_the_control() {
    let fabric = one_switch();
    let messages: Vec<_> = (1..=7).map(|from| (from, 0, 750_000)).collect();
    let end_ms = |config: &Config| {
        let finished = run(&fabric, config, &messages, None, 1);
        (finished.program.end_ps() as f64 / MS as f64, finished.end_ps)
    };
    let (without, end_ps) = end_ms(&ethernet(None));
    assert!((without / (7.0 * 0.6 * 1500.0 / 1460.0) - 1.0).abs() < 0.01, "{without}");
    assert_eq!(end_ps as f64 / MS as f64, without, "a run ends with its last message");
    let with: Vec<f64> = (0..20)
        .map(|seed| {
            let (with, end_ps) = end_ms(&ethernet(Some(qcn(seed))));
            assert_eq!(end_ps as f64 / MS as f64, with, "notifications after it are no part of the run");
            with
        })
        .collect();
    let mean = with.iter().sum::<f64>() / 20.0;
    let (least, most) = with.iter().fold((f64::MAX, 0.0f64), |(a, b), &t| (a.min(t), b.max(t)));
    println!("7 x 750 kB: {without:.2} ms without, {least:.2} to {most:.2} (mean {mean:.2}) with");
    assert!(least > 7.0 && most < 20.0, "{with:?}");
}

/// Two leaves joined by one cable; 1, 2 -> 4 and 3 -> 5 (the victim) from the first, 6, 7 -> 4 on the second: one queue an input.
fn parking_lot(congestion: Option<Congestion>) -> Vec<f64> {
    // Hosts 0 to 3 and 4 to 7; the spine is the cable.
    let fabric = generated("two-level:leaves=2,hosts=4,spines=1,speed=10G");
    let config =
        Config { input_buffer_bytes: Some(128 * 1024), head_of_line: true, congestion, ..ethernet(None) };
    let flows = [(0, 4), (1, 4), (2, 5), (6, 4), (7, 4)];
    let messages: Vec<_> = flows.iter().map(|&(from, to)| (from, to, LONG)).collect();
    // What was received is known of every flow where there is a control: one that marks nothing.
    let silent = Qcn { setpoint_bytes: u32::MAX, ..Qcn::default() };
    let silent = Congestion::new(ControlKind::Qcn(silent), 0);
    let congestion = config.congestion.clone().unwrap_or(silent);
    let config =
        Config { congestion: Some(Congestion { measure_from_ps: 100 * MS, ..congestion }), ..config };
    let managed = run(&fabric, &config, &messages, Some(400 * MS), 1).managed.unwrap();
    let share = |&(from, to): &(u32, u32)| {
        let row = managed.flows.iter().find(|row| (row.from.0, row.to.0) == (from, to)).unwrap();
        row.bytes as f64 * (1500.0 / 1460.0) / (0.3 * 1.25e9)
    };
    flows.iter().map(share).collect()
}

#[test]
fn without_a_control_a_victim_pays_for_a_congestion_tree() {
    let shares = parking_lot(None);
    for (share, by_hand) in shares.iter().zip([1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0]) {
        assert!((share / by_hand - 1.0).abs() < 0.02, "{shares:?}");
    }
}

/// What was posted is received, once (the program sees to it), for any hardware, order of injection and kind of limiter.
#[test]
fn nothing_is_lost_where_flows_are_held_back() {
    let fabric = generated("two-level:leaves=4,hosts=4,spines=2,speed=10G");
    let messages: Vec<_> = (0..160u32)
        .map(|k| (k % 16, [0, 5, (k * 7 + 3) % 16][k as usize % 3], 20_000 + 997 * u64::from(k)))
        .filter(|(from, to, _)| from != to)
        .collect();
    let bytes: u64 = messages.iter().map(|&(.., bytes)| bytes).sum();
    for (k, limiters) in [Limiters::Destination, Limiters::Host].into_iter().enumerate() {
        for injection in [Injection::InOrder, Injection::RoundRobin, Injection::RoundRobinMessages] {
            for config in [ethernet(None), Config::infiniband(), Config::codes()] {
                // Notified early and often.
                let nervous =
                    Qcn { setpoint_bytes: 3_000, sample_bytes: 5_000, min_rate: 1e7, ..Qcn::default() };
                let control = Congestion { limiters, ..Congestion::new(ControlKind::Qcn(nervous), k as u64) };
                let config = Config { injection, congestion: Some(control), ..config };
                let finished = run(&fabric, &config, &messages, None, 1);
                let again = run(&fabric, &config, &messages, None, 4);
                assert!(finished.program.end_ps() > 0);
                let managed = finished.managed.unwrap();
                assert_eq!(managed.flows.iter().map(|flow| flow.bytes).sum::<u64>(), bytes);
                assert!(managed.notices > 0 && managed.cuts == managed.notices, "{managed:?}");
                assert!(managed.held_ps > 0);
                assert_eq!(Some(managed), again.managed, "threads change nothing");
                assert_eq!(finished.program.done_ps, again.program.done_ps);
            }
        }
    }
}

/// Limiters, what they hold back and what is due go on from a state as they would have gone on.
#[test]
fn a_run_that_goes_on_from_a_state_shows_what_it_would_have_shown() {
    let fabric = one_switch();
    let config = ethernet(Some(qcn(3)));
    let messages: Vec<_> = (1..=7).map(|from| (from, 0, 750_000)).collect();
    let whole = run(&fabric, &config, &messages, None, 1);
    for look in 1..=10 {
        let (looks, kept) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let keeping = Keeping {
            from: None,
            due: &|| looks.fetch_add(1, Relaxed) == look,
            keep: &|state| *kept.lock().unwrap() = state.to_vec(),
        };
        run_from(&fabric, &config, &messages, None, 1, Some(&keeping));
        let state = kept.into_inner().unwrap();
        assert!(!state.is_empty(), "{look}");
        let keeping = Keeping { from: Some(&state), due: &|| false, keep: &|_| {} };
        let rest = run_from(&fabric, &config, &messages, None, 1, Some(&keeping));
        assert_eq!((rest.end_ps, &rest.program.done_ps), (whole.end_ps, &whole.program.done_ps), "{look}");
        assert_eq!(rest.managed, whole.managed, "{look}");
        assert!(
            run_network_refuses(&fabric, &ethernet(None), &messages, &state),
            "a state of a run with a control"
        );
    }
}

/// Whether a run on other hardware refuses a state.
fn run_network_refuses(fabric: &Fabric, config: &Config, messages: &[(u32, u32, u64)], state: &[u8]) -> bool {
    let routes = route(Engine::Dmodk, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let choice = ByTable::new(fabric, routes.lft().unwrap());
    let (control, keeping) = (Control::new(), Keeping { from: Some(state), due: &|| false, keep: &|_| {} });
    let terms = Terms {
        threads: 1,
        partitions: None,
        until_ps: None,
        packet_jobs: 0,
        measure: None,
        keep: Some(&keeping),
        skip_repeats: None,
        control: &control,
    };
    run_network(fabric, config, choice, AtOnce::new(messages), |_| Nobody, &terms).is_err()
}
