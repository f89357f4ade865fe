//! Time-independent traces: any bytes are a trace or an error with its line, and a trace that can be cut adds up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_ti;
use netloom_model::Cut;
use netloom_traffic::phases;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = read_ti(bytes, "fuzz") else { return };
    if trace.ranks() > 10_000 {
        return;
    }
    let whole = phases(&trace, Cut::One).expect("a whole run needs no cut").total().total_bytes();
    let Ok(cut) = phases(&trace, Cut::default()) else { return };
    let sum = cut.total().total_bytes();
    assert!((sum - whole).abs() <= 1e-9 * whole, "{sum} {whole}");
});
