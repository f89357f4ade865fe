//! OpenSM's congestion control options: any bytes are options or an error with its line, written options read back equal, and a
//! scenario takes what they say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_opensm_cc, read_scenario};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some(options)) = read_opensm_cc(bytes, "fuzz") else { return };
    let scenario = b"fabric = \"f\"\n[[job]]\ntrace = \"t\"\n";
    read_scenario(scenario, "fuzz", &options.overrides()).expect("a scenario takes what options say");
    if options.table.is_empty() {
        return; // written with one entry or more
    }
    let again = read_opensm_cc(options.write("fuzz").as_bytes(), "again").expect("what was written can be read");
    assert_eq!(again, Some(options));
});
