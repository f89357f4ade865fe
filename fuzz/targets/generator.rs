//! Generator specs: any text is a fabric or an error that names the key, never a panic. Sizes are kept small: what
//! is fuzzed is the spec, not the memory of the machine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_topology::{detect, generate, is_generator};

fuzz_target!(|spec: &str| {
    let _ = is_generator(spec);
    let digits = |c: char| !c.is_ascii_digit();
    let small = spec.split(digits).filter(|n| !n.is_empty()).map(|n| n.trim_start_matches('0').len()).all(|n| n < 2);
    if small && spec.len() < 80 {
        if let Ok(fabric) = generate(spec) {
            assert!(detect(&fabric).level.len() == fabric.switch_count());
        }
    }
});
