//! Forwarding-table dumps of a known fabric: any bytes are tables with faults or an error with its line, and
//! written tables read back equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_fabric, read_lfts, write_lfts};
use netloom_model::Fabric;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let dump = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");
    read_fabric(dump, "ft2_32", None).expect("the fixture is a fabric").fabric
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_lfts(bytes, "fuzz", &FABRIC) else { return };
    let Ok(text) = write_lfts(&FABRIC, &file.routes) else { return };
    let again = read_lfts(text.as_bytes(), "again", &FABRIC).expect("what was written can be read");
    // Half a table may show fewer addresses a host than it was read with; the numbering is another one then.
    if again.routes.lmc == file.routes.lmc {
        assert_eq!(again.routes.lft(), file.routes.lft());
    }
});
