//! Matrix Market files: any bytes are traffic or an error with its line, and written traffic reads back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_mtx, write_mtx};

fuzz_target!(|bytes: &[u8]| {
    let Ok(traffic) = read_mtx(bytes, "fuzz") else { return };
    let (total, hash) = (traffic.total(), traffic.hosts_hash());
    let again = read_mtx(&write_mtx(&total, hash), "again").expect("what was written can be read");
    assert_eq!(again.total().offsets(), total.offsets());
    assert_eq!(again.total().columns(), total.columns());
    assert_eq!(again.total().bytes(), total.bytes());
    assert_eq!(again.hosts_hash(), hash);
});
