//! Node-name maps: any bytes rename nodes or are an error with their line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_fabric;

const DUMP: &[u8] = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");

fuzz_target!(|map: &[u8]| {
    if let Ok(file) = read_fabric(DUMP, "dump", Some((map, "map"))) {
        assert_eq!(file.fabric.host_count(), 32);
    }
});
