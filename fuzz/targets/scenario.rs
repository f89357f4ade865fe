//! Scenarios: any bytes are a scenario or an error with its line; whatever an override says is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{has_jobs_of_jobs_file, read_jobs_scenario, read_scenario};

fuzz_target!(|bytes: &[u8]| {
    // What is behind a line of `---` is an override.
    let text = String::from_utf8_lossy(bytes);
    let (scenario, overrides) = match text.split_once("\n---\n") {
        Some((scenario, rest)) => (scenario.as_bytes(), rest.lines().map(str::to_owned).collect()),
        None => (bytes, Vec::new()),
    };
    if let Ok((scenario, jobs)) = read_jobs_scenario(scenario, "fuzz", &overrides) {
        assert!(scenario.jobs.is_empty() && !jobs.jobs.is_empty(), "{jobs:?}");
    }
    let _ = has_jobs_of_jobs_file(scenario, "fuzz");
    let Ok(scenario) = read_scenario(scenario, "fuzz", &overrides) else { return };
    assert!(!scenario.jobs.is_empty() && !scenario.routes.is_empty(), "{scenario:?}");
    for (i, job) in scenario.jobs.iter().enumerate() {
        assert!(job.ranks_per_host != Some(0) && job.until != Some(i), "{job:?}");
    }
});
