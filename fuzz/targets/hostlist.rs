//! Slurm hostlists: any text is a bounded list of names or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::expand_hostlist;

fuzz_target!(|text: &str| {
    let _ = expand_hostlist(text);
});
