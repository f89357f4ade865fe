//! The network side: fabrics and forwarding tables.

mod aries;
mod bad_fabrics;
mod bad_tables;
mod cables;
mod fixtures;
mod ibdiagnet;
mod names;
mod planes;
mod properties;
mod quirks;
mod tables;

use netloom_formats::{FabricFile, LftFile, read_fabric, read_lfts};
use netloom_model::Fabric;

/// A file under `tests/data`.
pub fn data(path: &str) -> Vec<u8> {
    let full = format!("{}/../../tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&full).unwrap_or_else(|e| panic!("{full}: {e}"))
}

/// A text file under `tests/data`.
pub fn text(path: &str) -> String {
    String::from_utf8(data(path)).unwrap()
}

/// A fabric under `tests/data`, with its findings.
pub fn file(path: &str) -> FabricFile {
    read_fabric(&data(path), path, None).unwrap_or_else(|e| panic!("{e}"))
}

/// A fabric under `tests/data` that has no findings.
pub fn fabric(path: &str) -> Fabric {
    let file = file(path);
    assert_eq!(file.findings, [], "{path}");
    file.fabric
}

/// Tables under `tests/data`.
pub fn tables(path: &str, fabric: &Fabric) -> LftFile {
    read_lfts(&data(path), path, fabric).unwrap_or_else(|e| panic!("{e}"))
}

/// The message of a fabric's refusal, without the label's path.
pub fn refusal(text: &str) -> String {
    match read_fabric(text.as_bytes(), "net.txt", None) {
        Ok(_) => panic!("read: {text}"),
        Err(e) => e.to_string(),
    }
}
