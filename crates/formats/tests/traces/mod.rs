//! Binary traces: real tools' files, cut at every byte, damaged at random.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, OnceLock};

use netloom_formats::Found;

mod damaged;
mod dumpi;
mod otf2;

/// A file of `tests/data/traces`. Thousands of changed traces are read: each file comes from the disk once.
fn file_of(folder: &str, name: &str) -> io::Result<Vec<u8>> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Option<Vec<u8>>>>> = OnceLock::new();
    let path = format!("{}/../../tests/data/traces/{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut known = KNOWN.get_or_init(Default::default).lock().unwrap();
    let bytes = known.entry(path.clone()).or_insert_with(|| std::fs::read(path).ok()).clone();
    bytes.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Opens files of a folder, changed.
fn opened(folder: &str, change: impl Fn(&str, Vec<u8>) -> Vec<u8>) -> impl FnMut(&str) -> io::Result<Found> {
    move |name| file_of(folder, name).map(|bytes| Found::File(change(name, bytes)))
}

/// What Open MPI's monitoring counted of LULESH: 267,712 B between 56 pairs, and what collectives were made of.
#[test]
fn sums_of_open_mpi_are_read_whole() {
    let mut open = |name: &str| -> io::Result<Found> {
        match name {
            "lulesh" => Ok(Found::Folder((0..8).map(|rank| format!("mon.{rank}.prof")).collect())),
            _ => file_of("openmpi-monitoring-lulesh-8", &name["lulesh/".len()..]).map(Found::File),
        }
    };
    let recording = netloom_formats::Recording::read("lulesh", &mut open).unwrap();
    let trace = recording.trace(true).unwrap();
    let sent = |action: &netloom_model::Action| match action {
        netloom_model::Action::Send { bytes, .. } => *bytes,
        _ => 0,
    };
    let all: u64 = (0..8).flat_map(|rank| trace.workload.actions(rank)).map(sent).sum();
    assert_eq!(all - trace.named.clone().unwrap().bytes, 267_712);
    assert!(recording.workload().unwrap_err().to_string().contains("cannot be played"));
}
