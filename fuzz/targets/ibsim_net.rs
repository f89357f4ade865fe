//! ibsim net files: any bytes are a fabric or an error with its line, and what is a fabric survives
//! being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_fabric, write_ibsim_net};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_fabric(bytes, "fuzz.net", None) else { return };
    let Ok(text) = write_ibsim_net(&file.fabric) else { return };
    let again = read_fabric(text.as_bytes(), "again.net", None).expect("what was written can be read").fabric;
    assert_eq!(again.host_count(), file.fabric.host_count());
    assert_eq!(again.switch_count(), file.fabric.switch_count());
    assert_eq!(again.link_count(), file.fabric.link_count());
});
