//! Tables of counters of a known fabric: any bytes are counters or an error with its line, and written counters read back equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use netloom_counters::{added_up, check, summary};
use netloom_formats::counters::{read_counter_table, write_counter_table};
use netloom_formats::{CountersContent, read_fabric};
use netloom_model::{Counters, Fabric};

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let dump = include_bytes!("../../tests/data/opensm/ft2_32/ibnetdiscover.txt");
    read_fabric(dump, "ft2_32", None).expect("the fixture is a fabric").fabric
});

fn counters(content: CountersContent) -> Counters {
    let CountersContent::Intervals(counters) = content else { panic!("intervals") };
    counters
}

fuzz_target!(|bytes: &[u8]| {
    // Every interval has a value for every link: many of them are slow, not wrong.
    if bytes.iter().filter(|&&b| b == b'\n').count() > 200 {
        return;
    }
    let Ok(file) = read_counter_table(bytes, "fuzz", &FABRIC) else { return };
    let found = counters(file.content);
    let text = write_counter_table(&FABRIC, &found);
    if let Ok(again) = read_counter_table(&text, "again", &FABRIC) {
        let again = counters(again.content);
        // Intervals of which nothing was read leave no row.
        assert_eq!(write_counter_table(&FABRIC, &again), text);
    } else {
        assert_eq!(text.iter().filter(|&&b| b == b'\n').count(), 1, "what was written can be read");
    }
    let sum = added_up(&found).expect("there are rows");
    summary(&FABRIC, &sum);
    check(&FABRIC, &sum);
});
