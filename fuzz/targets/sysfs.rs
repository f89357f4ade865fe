//! A sysfs tree (here `path=content`, a line a file) of a known fabric: any files are a reading or an error with the file.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_counters::{check, since_reset, span};
use netloom_formats::counters::read_sysfs;
use netloom_formats::{CountersContent, read_fabric};
use netloom_model::Fabric;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let dump = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");
    read_fabric(dump, "ft2_32", None).expect("the fixture is a fabric").fabric
});

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let files: Vec<(String, Vec<u8>)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(path, content)| (path.to_owned(), content.as_bytes().to_vec()))
        .collect();
    let Ok(file) = read_sysfs(&files, "fuzz", &FABRIC) else { return };
    let CountersContent::Readings(readings) = file.content else { panic!("readings") };
    for reading in &readings {
        // Nothing is counted from a reading to itself.
        let nothing = span(&FABRIC, reading, reading).expect("a reading fits itself");
        assert!(nothing.columns.iter().all(|c| c.values.iter().all(|&v| v == 0)));
        check(&FABRIC, &since_reset(reading));
    }
});
