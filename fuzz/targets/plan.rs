//! Plans and catalogues: any bytes are one, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_catalogue, read_plan};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(plan) = read_plan(bytes, "fuzz") {
        assert!(plan.hosts >= 2 && plan.radix % 2 == 0 && !plan.levels.is_empty(), "{plan:?}");
        assert!(plan.applications.iter().map(|a| a.weight).sum::<f64>() > 0.0, "{plan:?}");
        assert!(plan.line("machine.hosts").is_some());
    }
    if let Ok(catalogue) = read_catalogue(bytes, "fuzz") {
        assert!(!catalogue.switches.is_empty() && !catalogue.cables.is_empty());
        for switch in &catalogue.switches {
            assert!(switch.ports.is_none_or(|n| switch.price + switch.price_per_port * f64::from(n) >= 0.0));
        }
    }
});
