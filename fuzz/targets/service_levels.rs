//! Service levels of pairs, for a known fabric: any bytes are levels below 16 or an error with its line.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_service_levels;
use netloom_model::{Fabric, SERVICE_LEVELS};

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    netloom_topology::generate("two-level:leaves=2,hosts=1,spines=1").expect("a small tree")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(levels) = read_service_levels(bytes, "fuzz", &FABRIC) else { return };
    assert!(levels.count() <= SERVICE_LEVELS);
    for from in FABRIC.hosts() {
        assert!(FABRIC.hosts().all(|to| levels.level(from, to) < SERVICE_LEVELS));
    }
});
