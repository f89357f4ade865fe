//! Plain tables of cables, UFM's plans and iblinkinfo: any bytes are a fabric, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_fabric, write_cables};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_fabric(bytes, "fuzz", None) else { return };
    let Ok(text) = write_cables(&file.fabric) else { return };
    let again = read_fabric(text.as_bytes(), "again", None).expect("what was written can be read").fabric;
    let counts = |f: &netloom_model::Fabric| (f.host_count(), f.switch_count());
    // Switches without a cable are not in a table.
    assert!(counts(&again).0 <= counts(&file.fabric).0 && counts(&again).1 <= counts(&file.fabric).1);
});
