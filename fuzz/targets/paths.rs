//! Paths by pair, for a known fabric: any bytes are paths or an error with its line, and written paths read back
//! equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_fabric, read_pair_paths, write_pair_paths};
use netloom_model::Fabric;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let dump = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");
    read_fabric(dump, "ft2_32", None).expect("the fixture is a fabric").fabric
});

fuzz_target!(|bytes: &[u8]| {
    for lmc in [0, 1, 7] {
        let Ok(paths) = read_pair_paths(bytes, "fuzz", &FABRIC, lmc) else { continue };
        let text = write_pair_paths(&FABRIC, &paths);
        let again = read_pair_paths(&text, "again", &FABRIC, lmc).expect("what was written can be read");
        assert_eq!(again, paths);
    }
});
