//! DUMPI: whatever a rank's file holds, events come of it or an error that names the file; events can be played.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use netloom_formats::Found;
use netloom_formats::traces::dumpi;

fuzz_target!(|bytes: &[u8]| {
    let mut open = |_: &str| -> io::Result<Found> { Ok(Found::File(bytes.to_vec())) };
    match dumpi::read("fuzz.meta", b"numprocs=2\nfileprefix=fuzz\n", &mut open) {
        Ok((events, files)) => {
            assert_eq!((events.ranks.len(), files.len()), (2, 2));
            let _ = netloom_traffic::events::program(&events, None);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
});
