//! CSV triples, by number or by the host names of a known fabric: any bytes are traffic or an error with its line,
//! and written traffic reads back equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_formats::{read_csv_triples, write_csv_triples};
use netloom_model::Fabric;
use netloom_topology::generate;

static FABRIC: LazyLock<Fabric> =
    LazyLock::new(|| generate("two-level:leaves=4,hosts=4,spines=2").expect("a known spec"));

fuzz_target!(|bytes: &[u8]| {
    let _ = read_csv_triples(bytes, "fuzz", None);
    let Ok(traffic) = read_csv_triples(bytes, "fuzz", Some(&FABRIC)) else { return };
    let (total, hash) = (traffic.total(), traffic.hosts_hash());
    let text = write_csv_triples(&total, Some(&FABRIC), hash);
    let again = read_csv_triples(&text, "again", Some(&FABRIC)).expect("what was written can be read");
    assert_eq!(again.total().columns(), total.columns());
    assert_eq!(again.total().bytes(), total.bytes());
});
