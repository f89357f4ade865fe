//! Matrix Market files: any bytes are traffic or an error with its line, and written traffic reads back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_mtx, write_mtx};

fuzz_target!(|bytes: &[u8]| {
    let Ok(traffic) = read_mtx(bytes, "fuzz") else { return };
    let again = read_mtx(&write_mtx(&traffic), "again").expect("what was written can be read");
    assert_eq!(again.total(), traffic.total());
});
