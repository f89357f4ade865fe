//! A Cray XC's wiring: any bytes are a fabric with a group for every switch, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{FabricKind, read_fabric, write_cables};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_fabric(bytes, "fuzz", None) else { return };
    if file.kind != FabricKind::Aries {
        return;
    }
    assert_eq!(file.fabric.groups().map(<[u32]>::len), Some(file.fabric.switch_count()));
    let Ok(text) = write_cables(&file.fabric) else { return };
    read_fabric(text.as_bytes(), "again", None).expect("what was written can be read");
});
