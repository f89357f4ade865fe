//! Generator specs: any text is a fabric or an error that names the key, never a panic. Sizes are kept small: what
//! is fuzzed is the spec, not the memory of the machine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_topology::{detect, generate, is_generator};

fuzz_target!(|spec: &str| {
    let _ = is_generator(spec);
    // The product of all numbers bounds every count that a spec can ask for.
    let numbers = spec.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    let product = numbers.map(|n| n.parse().unwrap_or(u64::MAX)).fold(1u64, |a, n| a.saturating_mul(n.max(1)));
    if product > 20_000 {
        return;
    }
    if let Ok(fabric) = generate(spec) {
        assert_eq!(detect(&fabric).level.len(), fabric.switch_count());
    }
});
