//! GOAL's binary form: any bytes are a schedule or an error that names the byte; what is read is the same once it is written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_goal, rewrite_goal};

fuzz_target!(|bytes: &[u8]| {
    // With the cookie, else it is text.
    let bytes = &[&4223u64.to_le_bytes()[..], bytes.get(8..).unwrap_or_default()].concat();
    let Ok(schedule) = read_goal(bytes, "fuzz") else { return };
    let again = rewrite_goal(bytes, "fuzz", true).expect("it was read");
    assert_eq!(read_goal(&again, "again").expect("it was written"), schedule);
    let text = rewrite_goal(bytes, "fuzz", false).expect("it was read");
    assert_eq!(read_goal(&text, "text").expect("it was written").ranks(), schedule.ranks());
});
