//! `ibqueryerrors` of a known fabric: any bytes are a reading or an error with its line.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_counters::{check, since_reset, span};
use netloom_formats::counters::read_ibqueryerrors;
use netloom_formats::{CountersContent, read_fabric};
use netloom_model::Fabric;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let dump = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");
    read_fabric(dump, "ft2_32", None).expect("the fixture is a fabric").fabric
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_ibqueryerrors(bytes, "fuzz", &FABRIC) else { return };
    let CountersContent::Readings(readings) = file.content else { panic!("readings") };
    for reading in &readings {
        // Nothing is counted from a reading to itself.
        let nothing = span(&FABRIC, reading, reading).expect("a reading fits itself");
        assert!(nothing.columns.iter().all(|c| c.values.iter().all(|&v| v == 0)));
        check(&FABRIC, &since_reset(reading));
    }
});
