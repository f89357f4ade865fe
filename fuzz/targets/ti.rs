//! Time-independent traces: any bytes are a trace or an error with its line, and a trace that can be cut adds up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_ti;
use netloom_model::Cut;
use netloom_traffic::{RecordedOptions, recorded};

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = read_ti(bytes, "fuzz") else { return };
    // All-to-alls grow with the square of the ranks.
    if trace.ranks() > 100 || trace.workload.collectives().len() > 100 {
        return;
    }
    let all = RecordedOptions { cut: Cut::One, ..RecordedOptions::default() };
    let whole = recorded(&trace, &all).expect("a whole run needs no cut").traffic.total().total_bytes();
    let Ok(cut) = recorded(&trace, &RecordedOptions::default()) else { return };
    let sum = cut.traffic.total().total_bytes();
    assert!((sum - whole).abs() <= 1e-9 * whole, "{sum} {whole}");
});
