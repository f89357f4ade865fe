//! Recorded runs of many files: whatever an index says and its files hold, a run comes of it or an error. Files are parted by bytes of 0.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{Found, Recording, TrafficKind};

fuzz_target!(|bytes: &[u8]| {
    let files: Vec<&[u8]> = bytes.split(|&byte| byte == 0).collect();
    TrafficKind::of(files[0]);
    let mut next = 0;
    let mut open = |name: &str| {
        if name == "gone" {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = files[next % files.len()];
        next += 1;
        Ok(Found::File(file.to_vec()))
    };
    let Ok(recording) = Recording::read("fuzz", &mut open) else { return };
    let error = if recording.is_goal() { recording.schedule().err() } else { recording.trace(true).err() };
    if let Some(error) = error {
        assert!(!error.label.is_empty() && error.line != Some(0), "{error}");
    }
});
