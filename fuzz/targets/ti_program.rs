//! Time-independent traces as programs: any bytes are a program or an error with its line, and what a program sends is what the
//! same bytes send as traffic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_ti, read_ti_workload};
use netloom_model::{Action, Event};

fuzz_target!(|bytes: &[u8]| {
    let Ok(workload) = read_ti_workload(bytes, "fuzz") else { return };
    let trace = read_ti(bytes, "fuzz").expect("what can be replayed can be read as traffic");
    assert_eq!(workload.ranks(), trace.ranks());
    for rank in 0..workload.ranks() {
        let sends = workload.actions(rank).iter().filter_map(|action| match *action {
            Action::Send { to, bytes, .. } | Action::Isend { to, bytes, .. } => Some((to, bytes as f64)),
            _ => None,
        });
        let events = trace.events(rank).iter().filter_map(|event| match *event {
            Event::Send { to, bytes } => Some((to, bytes)),
            Event::Synchronise => None,
        });
        assert!(sends.eq(events), "rank {rank}");
    }
});
