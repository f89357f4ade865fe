//! ibdiagnet's `db_csv` and `net_dump`: any bytes are a fabric, and a reading of it, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::counters::read_db_csv;
use netloom_formats::{FabricKind, read_fabric, write_ibnetdiscover};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_fabric(bytes, "fuzz", None) else { return };
    if file.kind == FabricKind::IbdiagnetDbCsv {
        let _ = read_db_csv(bytes, "fuzz", &file.fabric);
    }
    let Ok(text) = write_ibnetdiscover(&file.fabric) else { return };
    let again = read_fabric(text.as_bytes(), "again", None).expect("what was written can be read").fabric;
    assert_eq!(again.link_count(), file.fabric.link_count());
    assert_eq!(again.cabling_hash(), file.fabric.cabling_hash());
});
