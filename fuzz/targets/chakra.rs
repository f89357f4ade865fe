//! Chakra: whatever a rank's file holds, events come of it or an error that names the file; events can be played.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use netloom_formats::Found;
use netloom_formats::traces::chakra;

fuzz_target!(|bytes: &[u8]| {
    let mut open = |name: &str| -> io::Result<Found> {
        match name {
            "fuzz.0.et" | "fuzz.1.et" => Ok(Found::File(bytes.to_vec())),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    };
    match chakra::read("fuzz.0.et", &mut open) {
        Ok((events, _)) => {
            let _ = netloom_traffic::events::program(&events, None);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
});
