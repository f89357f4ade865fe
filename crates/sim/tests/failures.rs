//! What can't go on says so.

use netloom_model::{DestId, End, FabricBuilder, HostSpec, Lft, SwitchId, SwitchSpec};
use netloom_sim::{Config, SimError};
use netloom_testkit::cases::ring;

use crate::common::{clockwise, run};

/// Everybody sends to the host three switches on, all the way round: each input buffer waits for the next one's.
#[test]
fn a_ring_of_credits_deadlocks_and_the_cycle_is_named() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    let messages: Vec<_> = (0..6).map(|h| (h, (h + 3) % 6, 100 * 4096)).collect();
    let Err(SimError::Deadlock { packets, cycle, .. }) = run(&fabric, &Config::infiniband(), &lft, &messages)
    else {
        panic!("the ring must lock up");
    };
    assert!(packets > 6);
    // Clockwise round the ring: each link begins where the one before it ends.
    let ends = |at: usize| fabric.link(cycle[at % 6].0);
    assert_eq!(cycle.len(), 6, "{cycle:?}");
    assert!((0..6).all(|at| ends(at).to == ends(at + 1).from && cycle[at].1 == 0), "{cycle:?}");
}

/// The same ring is no trouble as long as everything fits its buffers.
#[test]
fn a_ring_that_is_not_full_does_not_lock_up() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    let messages: Vec<_> = (0..6).map(|h| (h, (h + 3) % 6, 4096)).collect();
    run(&fabric, &Config::infiniband(), &lft, &messages).unwrap();
}

#[test]
fn a_hole_in_the_tables_is_named() {
    let fabric = ring(3);
    let mut lft = clockwise(&fabric, 3);
    lft.set(SwitchId(1), DestId(2), None);
    let Err(error) = run(&fabric, &Config::codes(), &lft, &[(0, 2, 10)]) else { panic!("there is no way") };
    let SimError::NoRoute { switch, host } = &error else { panic!("{error}") };
    assert_eq!(
        (switch.as_str(), host.as_str()),
        (fabric.switch_name(SwitchId(1)), fabric.host_name(netloom_model::HostId(2)))
    );
}

/// Buffers of 2 GiB before one output: what waits there would not fit its counter.
#[test]
fn buffers_that_could_hold_more_than_is_counted_are_refused() {
    let fabric = ring(3);
    let config = Config { output_buffer_bytes: i32::MAX as u32, ..Config::codes() };
    let Err(error) = run(&fabric, &config, &clockwise(&fabric, 3), &[(0, 2, 10)]) else { panic!("too much") };
    assert!(error.to_string().contains("output_buffer_bytes: expected at most"), "{error}");
}

/// At 500 kB/s a packet of 4096 bytes takes 8.2 ms; its time on the wire is counted up to 4.29 ms, that of 2147 bytes.
#[test]
fn links_too_slow_for_a_packet_are_refused() {
    let mut builder = FabricBuilder::new();
    let switch = builder.switch(SwitchSpec::new("switch", 0x10, 4));
    for port in [1, 2] {
        let host = builder.host(HostSpec::new(format!("host{port}"), 0x20 + u64::from(port)));
        builder.cable(End::Switch(switch, port), End::Host(host), 500_000.0);
    }
    let fabric = builder.build().unwrap();
    let lft = Lft::empty(1, fabric.dests(0).count(), fabric.max_radix());
    let Err(error) = run(&fabric, &Config::codes(), &lft, &[(0, 1, 10)]) else { panic!("too slow") };
    assert!(error.to_string().contains("packet_bytes: expected below 2147 with headers"), "{error}");
}
