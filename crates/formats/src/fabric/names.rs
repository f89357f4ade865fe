//! Names: node-name-maps, and which machine a host port belongs to.
//!
//! Node descriptions are free text of at most 64 bytes. They may be empty, hold quotes, and be the same
//! on many nodes (`Quantum-2 Mellanox Technologies`): nodes are told apart by GUID, never by name.

use std::collections::HashMap;

use super::raw::{MAX_NAME, too_long};
use crate::error::{FormatError, excerpt};
use crate::text::Cursor;

/// Names by node GUID, from a node-name-map.
#[derive(Debug, Default)]
pub(super) struct NameMap {
    names: HashMap<u64, String>,
}

impl NameMap {
    /// `0xGUID {"}name{"}` lines; `#` starts a comment and also ends a name; the first of duplicates wins.
    pub fn parse(text: &str, label: &str) -> Result<Self, FormatError> {
        let mut names = HashMap::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim_ascii();
            if line.is_empty() {
                continue;
            }
            let mut cursor = Cursor::new(line);
            let guid = cursor.hex().filter(|_| cursor.rest.starts_with(|c: char| c.is_ascii_whitespace()));
            let name = cursor.rest.trim_ascii();
            let name = name.strip_prefix('"').map_or(name, |n| n.strip_suffix('"').unwrap_or(n));
            match guid {
                Some(_) if name.len() > MAX_NAME => return Err(too_long(label, i + 1, name)),
                Some(guid) if !name.is_empty() => {
                    names.entry(guid).or_insert_with(|| name.to_owned());
                }
                _ => {
                    let message = format!("expected 0xGUID \"name\", found \"{}\"", excerpt(line));
                    return Err(FormatError::at(label, i + 1, message));
                }
            }
        }
        Ok(Self { names })
    }

    /// The name of a node, if the map has one.
    pub fn get(&self, guid: u64) -> Option<&str> {
        self.names.get(&guid).map(String::as_str)
    }
}

/// First words of a device name, as drivers call adapters.
const DEVICES: [&str; 16] = [
    "mlx4_", "mlx5_", "mthca", "HCA-", "hfi1_", "qib", "ipath", "ibp", "ibs", "ib", "rocep", "roceo",
    "ocrdma", "bnxt_re", "irdma", "efa_",
];

/// The machine that a host port belongs to: its description without the adapter's name at the end
/// (`node7 mlx5_2` and `node7 HCA-1` are `node7`). A description without an adapter's name is a machine of
/// its own; so is one that never left the factory (`MT4129 ConnectX7   Mellanox Technologies`, the same on
/// every adapter): then the GUID tells machines apart.
pub fn machine_of(name: &str, guid: u64) -> String {
    let name = name.trim_ascii();
    if let Some((host, device)) = name.rsplit_once(char::is_whitespace)
        && is_adapter(device)
        && !host.trim_ascii().is_empty()
    {
        return host.trim_ascii().to_owned();
    }
    if name.is_empty() || name.ends_with("Mellanox Technologies") || name.ends_with("NVIDIA") {
        return format!("0x{guid:016x}");
    }
    name.to_owned()
}

/// Whether a word is an adapter's name, as `mlx5_2` and `HCA-1` are.
pub(crate) fn is_adapter(word: &str) -> bool {
    DEVICES.iter().any(|d| {
        word.strip_prefix(d).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) || d.ends_with('_') && !rest.is_empty()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_share_a_machine() {
        assert_eq!(machine_of("node7 mlx5_2", 1), "node7");
        assert_eq!(machine_of("selene-cache-02 mlx5_1 ", 1), "selene-cache-02");
        assert_eq!(machine_of("node7 mlx5_bond_0", 1), "node7");
        assert_eq!(machine_of("localhost HCA-1", 1), "localhost");
        assert_eq!(machine_of("rack 3 node 7 HCA-2", 1), "rack 3 node 7");
        assert_eq!(machine_of("host0031", 1), "host0031");
        assert_eq!(machine_of("rack 3", 1), "rack 3");
        assert_eq!(machine_of("HCA-1", 1), "HCA-1");
        assert_eq!(machine_of("MT4129 ConnectX7   Mellanox Technologies", 0x2c9), "0x00000000000002c9");
    }

    #[test]
    fn name_maps_keep_the_first_and_stop_at_comments() {
        let map = "# map\n0x2c9 \"spine one\" # best\n0x2ca leaf two\n0x2c9 \"other\"\n\n0x2cb a#b\n";
        let map = NameMap::parse(map, "map").unwrap();
        assert_eq!(map.get(0x2c9), Some("spine one"));
        assert_eq!(map.get(0x2ca), Some("leaf two"));
        assert_eq!(map.get(0x2cb), Some("a"));
        assert_eq!(map.get(0x2cc), None);
        let e = NameMap::parse("0x2c9 a\nleaf b\n", "map").unwrap_err();
        assert_eq!(e.to_string(), "map:2: expected 0xGUID \"name\", found \"leaf b\"");
        let e = NameMap::parse(&format!("0x2c9 {}\n", "a".repeat(1025)), "map").unwrap_err();
        assert_eq!(e.to_string(), "map:1: a name of 1025 bytes: expected at most 1024");
    }
}
