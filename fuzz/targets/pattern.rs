//! Traffic pattern specs: any text is a pattern of the asked size or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_traffic::{is_pattern, pattern};

fuzz_target!(|spec: &str| {
    let _ = is_pattern(spec);
    if let Ok(traffic) = pattern(spec, Some(64)) {
        assert_eq!(traffic.endpoints(), 64, "{spec}");
    }
});
