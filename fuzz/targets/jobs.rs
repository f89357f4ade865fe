//! Jobs files: any bytes are jobs or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_jobs;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_jobs(bytes, "fuzz") else { return };
    for job in &file.jobs {
        assert!(job.copies >= 1 && job.ranks_per_host != Some(0), "{job:?}");
    }
});
