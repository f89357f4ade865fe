//! Sums of what hosts send and receive: any bytes are sums or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_sums;

fuzz_target!(|bytes: &[u8]| {
    let Ok(hose) = read_sums(bytes, "fuzz", None) else { return };
    assert_eq!(hose.sent.len(), hose.received.len());
});
