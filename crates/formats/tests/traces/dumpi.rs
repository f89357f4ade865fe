//! DUMPI: the matrix that others counted, and files that are cut or changed.

use netloom_formats::traces::dumpi::read;
use netloom_model::Events;

use super::{file_of, opened};

/// The trace of a test folder, its files changed by `change`.
fn read_with(folder: &str, meta: &str, change: &dyn Fn(&str, Vec<u8>) -> Vec<u8>) -> Result<Events, String> {
    let text = change(meta, file_of(folder, meta).unwrap());
    let found = read(meta, &text, &mut opened(folder, change));
    found.map(|(events, _)| events).map_err(|error| error.to_string())
}

fn whole(folder: &str, meta: &str) -> Events {
    read_with(folder, meta, &|_, bytes| bytes).unwrap()
}

/// Bytes and messages by pair of ranks.
fn pairs(events: &Events) -> std::collections::BTreeMap<(u32, u32), (u64, u64)> {
    let mut found = std::collections::BTreeMap::new();
    for (rank, own) in (0..).zip(&events.ranks) {
        for event in &own.events {
            let name = &events.functions[usize::from(event.function)];
            if netloom_model::events::base_of(name).ends_with("end") && event.peer >= 0 {
                let entry: &mut (u64, u64) = found.entry((rank, event.peer as u32)).or_default();
                entry.0 += event.bytes;
                entry.1 += 1;
            }
        }
    }
    found
}

const LULESH: (&str, &str) = ("dumpi-lulesh-8", "dumpi-2026.11.23.00.51.07.meta");

/// As SMPI's trace and Open MPI's own monitoring have it.
#[test]
fn lulesh_sends_56_pairs_380_messages() {
    let events = whole(LULESH.0, LULESH.1);
    let pairs = pairs(&events);
    assert_eq!((pairs.len(), pairs.values().map(|one| one.0).sum::<u64>()), (56, 267_712));
    assert_eq!(pairs.values().map(|one| one.1).sum::<u64>(), 380);
    assert_eq!((events.tool.as_str(), events.ranks.len()), ("DUMPI 13.0.0", 8));
    assert!(events.lacks.is_empty(), "{:?}", events.lacks);
}

#[test]
fn every_truncation_of_a_file_is_an_error_that_names_it() {
    let name = "testtrace-0000.bin";
    let length = whole("dumpi-sst", "testtrace.meta").ranks.len();
    assert_eq!(length, 4);
    for cut in 0..2960 {
        let change = |file: &str, mut bytes: Vec<u8>| {
            if file == name {
                bytes.truncate(cut);
            }
            bytes
        };
        let error = read_with("dumpi-sst", "testtrace.meta", &change).unwrap_err();
        assert!(
            error.starts_with("testtrace-0000.bin: byte ") && error.contains("expected"),
            "{cut}: {error}"
        );
    }
}

/// Any byte changed: an error or a trace, never a panic or much memory.
#[test]
fn hostile_bytes_are_survived() {
    for at in 0..2960 {
        for value in [0x7f, 0xff] {
            let change = |file: &str, mut bytes: Vec<u8>| {
                if file == "testtrace-0000.bin" {
                    bytes[at] = value;
                }
                bytes
            };
            if let Err(error) = read_with("dumpi-sst", "testtrace.meta", &change) {
                assert!(error.contains("expected"), "{at}: {error}");
            }
        }
    }
}

#[test]
fn a_metafile_without_ranks_is_named() {
    let change = |text: &'static str| {
        move |file: &str, bytes: Vec<u8>| if file.ends_with("meta") { text.into() } else { bytes }
    };
    let refusal = |text| read_with("dumpi-sst", "testtrace.meta", &change(text)).unwrap_err();
    assert_eq!(refusal(""), "testtrace.meta: expected a line \"numprocs=…\", found none");
    assert_eq!(refusal("numprocs=x\n"), "testtrace.meta:1: expected 1 to 10000000 ranks, found \"x\"");
    assert!(refusal("numprocs=4\nfileprefix=../\n").contains("expected how names"));
    assert!(refusal("numprocs=4\nfileprefix=other\n").starts_with("other-0000.bin: "));
}

#[test]
fn another_version_is_named() {
    let change = |file: &str, mut bytes: Vec<u8>| {
        if file.ends_with(".bin") {
            let end = bytes.len();
            let header = u64::from_be_bytes(bytes[end - 32..end - 24].try_into().unwrap()) as usize;
            bytes[header] = 14;
        }
        bytes
    };
    let error = read_with("dumpi-sst", "testtrace.meta", &change).unwrap_err();
    assert!(error.contains("expected DUMPI 0.6.9 to 13, found DUMPI 14.0.0"), "{error}");
}
