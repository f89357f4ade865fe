//! Hashes of packets by name: any text is one that is written as it is read, and can be used or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_sampling::{Hash, HashFunction};

fuzz_target!(|text: &str| {
    let Ok(function) = text.parse::<HashFunction>() else { return };
    assert_eq!(function.to_string().parse(), Ok(function));
    function.bit(7, function.port(9));
    if let HashFunction::Field { modulus, g } = function {
        // Of a field and 32 bits of ids no two numbers look alike.
        assert_eq!(Hash::new(modulus, g, 14, 32).is_ok(), modulus.is_field());
    }
});
