//! CSV triples: any bytes are traffic or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_csv_triples;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_csv_triples(bytes, "fuzz");
});
