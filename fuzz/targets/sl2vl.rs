//! SL-to-VL tables, for a known fabric: any bytes are tables or an error with its line, and written tables read back
//! equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_sl2vl, write_sl2vl};
use netloom_model::{Fabric, SERVICE_LEVELS};

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    netloom_topology::generate("two-level:leaves=2,hosts=1,spines=1").expect("a small tree")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(map) = read_sl2vl(bytes, "fuzz", &FABRIC) else { return };
    let text = write_sl2vl(&FABRIC, &map, "fuzz").expect("a small fabric");
    let again = read_sl2vl(text.as_bytes(), "again", &FABRIC).expect("what was written can be read");
    assert_eq!(map.differences(&again, &FABRIC, SERVICE_LEVELS), (0, None));
});
