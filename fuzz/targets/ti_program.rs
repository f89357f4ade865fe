//! Time-independent traces as programs: any bytes are a program or an error with its line, and what a program sends is what the
//! same bytes send as traffic, collectives included.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_ti, read_ti_calls, read_ti_workload};
use netloom_model::Action;

fuzz_target!(|bytes: &[u8]| {
    // What can be replayed has the same calls; where ranks disagree there are calls, and no replay.
    let calls = read_ti_calls(bytes, "fuzz");
    let Ok(replay) = read_ti_workload(bytes, "fuzz") else { return };
    assert_eq!(calls.expect("what can be replayed has calls").workload, replay.workload);
    let trace = read_ti(bytes, "fuzz").expect("what can be replayed can be read as traffic");
    assert!(trace.untold.is_empty() && trace.signs == replay.signs);
    assert_eq!(replay.ranks(), trace.ranks());
    assert_eq!(replay.workload.collectives(), trace.workload.collectives());
    for rank in 0..trace.ranks() {
        let kept = |action: &Action| match *action {
            Action::Send { to, bytes, .. } | Action::Isend { to, bytes, .. } => Some((Some(to), bytes)),
            Action::Together { number, .. } => Some((None, u64::from(number))),
            _ => None,
        };
        let [one, other] = [&replay, &trace].map(|run| run.workload.actions(rank).iter().filter_map(kept));
        assert!(one.eq(other), "rank {rank}");
    }
});
