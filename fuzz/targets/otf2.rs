//! OTF2: whatever its files hold, events come of them or an error that names one; events can be played. Files are parted by `~~~~`.
#![no_main]

use std::io;

use libfuzzer_sys::fuzz_target;
use netloom_formats::Found;
use netloom_formats::traces::otf2;

fuzz_target!(|bytes: &[u8]| {
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(4).position(|window| window == b"~~~~") {
        parts.push(&rest[..at]);
        rest = &rest[at + 4..];
    }
    parts.push(rest);
    let mut open = |name: &str| -> io::Result<Found> {
        let kind = if name == "fuzz.def" { 1 } else if name.ends_with(".def") { 2 } else { 3 };
        parts.get(kind).map(|part| Found::File(part.to_vec())).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    match otf2::read("fuzz.otf2", parts[0], &mut open) {
        Ok((events, _)) => {
            let _ = netloom_traffic::events::program(&events, None);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
});
