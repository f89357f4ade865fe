//! Linux' sysfs: a folder of `/sys/class/infiniband`, of one machine or of many under their names.
//!
//! ```text
//! node7/mlx5_0/node_guid                            0002:c903:0000:0000
//! node7/mlx5_0/ports/1/lid                          0x2a
//! node7/mlx5_0/ports/1/counters/port_xmit_data      23472
//! ```
//!
//! - An adapter is found by `node_guid`, else its port by `lid`, else the machine by the folder's name.
//! - Data is in units of four octets. `counters_ext` (Linux before 4.5) has the 64-bit ones, which win.
//! - `N/A (no PMA)` is a port without counters, `link_layer` Ethernet no InfiniBand: both are passed over.

use std::collections::BTreeMap;

use netloom_model::{Fabric, PortError, Quantity};

use super::CountersFile;
use super::fit::Scope;
use super::ports::{Place, Ports};
use super::sheet::{Counter, Sheet};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::text;

/// What results call it.
const KIND: &str = "sysfs";
/// Files below a device, and below a port of it, that are read beside the counters.
pub const DEVICE_FILES: [&str; 1] = ["node_guid"];
/// Files of a port.
pub const PORT_FILES: [&str; 2] = ["lid", "link_layer"];

/// Counters by file name, with their bits.
const COUNTERS: [(&str, Quantity, u8); 9] = [
    ("port_xmit_data", Quantity::XmitBytes, 63),
    ("port_rcv_data", Quantity::RcvBytes, 63),
    ("port_xmit_packets", Quantity::XmitPackets, 63),
    ("port_rcv_packets", Quantity::RcvPackets, 63),
    ("port_xmit_wait", Quantity::WaitTicks, 63),
    ("port_xmit_data_64", Quantity::XmitBytes, 64),
    ("port_rcv_data_64", Quantity::RcvBytes, 64),
    ("port_xmit_packets_64", Quantity::XmitPackets, 64),
    ("port_rcv_packets_64", Quantity::RcvPackets, 64),
];

/// A device of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device<'a> {
    machine: &'a str,
    name: &'a str,
}

/// Reads the files of a tree: paths with slashes, as they are called in messages, and what they hold. Other files are passed over.
///
/// # Errors
/// [`FormatError`] names the file: a counter, GUID or LID that is none, no port of this fabric.
pub fn read_sysfs(
    files: &[(String, Vec<u8>)],
    label: &str,
    fabric: &Fabric,
) -> Result<CountersFile, FormatError> {
    let ports = Ports::of(fabric);
    let mut guids: BTreeMap<Device, u64> = BTreeMap::new();
    let mut lids: BTreeMap<(Device, u32), u32> = BTreeMap::new();
    let mut ethernet: Vec<(Device, u32)> = Vec::new();
    let (mut counters, mut errors) = (Vec::new(), Vec::new());
    for (path, data) in files {
        let Some(spot) = spot(path) else { continue };
        let content = text(data, path)?;
        let content = content.trim();
        let wrong =
            |what: &str| FormatError::at(path, 1, format!("expected {what}, found \"{}\"", excerpt(content)));
        match spot {
            Spot::Guid(device) => {
                let digits: String = content.chars().filter(|c| *c != ':').collect();
                let guid = crate::text::parse_hex(digits.trim_start_matches("0x"));
                guids.insert(device, guid.ok_or_else(|| wrong("a GUID"))?);
            }
            Spot::Lid(device, port) => {
                let lid = crate::text::parse_hex(content.trim_start_matches("0x"));
                let lid = lid
                    .and_then(|lid| u32::try_from(lid).ok())
                    .ok_or_else(|| wrong("a LID in hexadecimal"))?;
                // 0: no subnet manager has been here.
                lids.extend((lid > 0).then_some(((device, port), lid)));
            }
            Spot::LinkLayer(device, port) if content == "Ethernet" => ethernet.push((device, port)),
            Spot::LinkLayer(..) => {}
            Spot::Counter(..) if content.starts_with("N/A") => {}
            Spot::Error(device, port, error) => {
                errors.extend(content.parse::<u64>().ok().map(|count| (device, port, error, count)));
            }
            Spot::Counter(device, port, counter) => {
                let raw = content.parse::<u64>().map_err(|_| wrong("a number below 2^64"))?;
                counters.push((device, port, counter, raw));
            }
        }
    }
    let mut sheet = Sheet::default();
    let place = |device: &Device<'_>, port: u32| {
        let by_guid = guids.get(device).map_or(Place::Unknown, |&guid| ports.by_guid(guid, port));
        let by_lid =
            || lids.get(&(device.clone(), port)).map_or(Place::Unknown, |&lid| ports.by_lid(lid, port));
        let by_name = || ports.by_machine(device.machine, device.name, port);
        let first = if by_guid == Place::Unknown { by_lid() } else { by_guid };
        if first == Place::Unknown { by_name() } else { first }
    };
    for (device, port, error, count) in errors {
        let of_infiniband = !ethernet.contains(&(device.clone(), port));
        if let (true, Place::Port(link)) = (of_infiniband, place(&device, port)) {
            sheet.errors.push((link, error, count));
        }
    }
    for (device, port, counter, raw) in counters {
        if ethernet.contains(&(device.clone(), port)) {
            continue;
        }
        let place = place(&device, port);
        let name = || (format!("{} {}", device.machine, device.name).trim().to_owned(), port);
        if let Some(link) = sheet.port(place, name, false, 1) {
            sheet.add(link, counter, counter.value(raw), 1);
        }
    }
    let (reading, notes) = sheet.into_reading(fabric, None, label, Scope::Hosts)?;
    Ok(CountersFile::reading(KIND, reading, notes))
}

/// What a path of a tree holds.
enum Spot<'a> {
    Guid(Device<'a>),
    Lid(Device<'a>, u32),
    LinkLayer(Device<'a>, u32),
    Counter(Device<'a>, u32, Counter),
    Error(Device<'a>, u32, PortError),
}

fn spot(path: &str) -> Option<Spot<'_>> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let (last, above) = parts.split_last()?;
    if *last == DEVICE_FILES[0] {
        return Some(Spot::Guid(device(above)?));
    }
    let ports = above.iter().rposition(|part| *part == "ports")?;
    let (device, port) = (device(&above[..ports])?, above.get(ports + 1)?.parse().ok()?);
    match (&above[ports + 2..], *last) {
        ([], "lid") => Some(Spot::Lid(device, port)),
        ([], "link_layer") => Some(Spot::LinkLayer(device, port)),
        (["counters" | "counters_ext"], name) => {
            match COUNTERS.into_iter().find(|(known, ..)| *known == name) {
                Some((_, quantity, bits)) => {
                    Some(Spot::Counter(device, port, Counter { quantity, lane: None, bits }))
                }
                None => Some(Spot::Error(device, port, PortError::find(name)?)),
            }
        }
        _ => None,
    }
}

/// `node7/sys/class/infiniband/mlx5_0` is mlx5_0 of node7.
fn device<'a>(parts: &[&'a str]) -> Option<Device<'a>> {
    let (name, above) = parts.split_last()?;
    let machine =
        above.iter().rev().find(|part| !matches!(**part, "sys" | "class" | "infiniband")).unwrap_or(&"");
    Some(Device { machine, name })
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quality, Reading, SwitchSpec};

    use super::super::CountersContent;
    use super::*;

    /// Machines a, b and c, with LIDs 1 to 3, on a switch.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec { lid: Some(9), ..SwitchSpec::new("s", 0xabc, 4) });
        for (i, name) in (1..).zip(["a", "b", "c"]) {
            let spec =
                HostSpec { lid: Some(i), ..HostSpec::new(format!("{name} mlx5_0"), 16 * u64::from(i)) };
            let h = b.host(HostSpec { machine: name.into(), ..spec });
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(files: &[(&str, &str)]) -> Result<Reading, String> {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        let file = read_sysfs(&files, "tree", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(mut readings) = file.content else { panic!("a reading") };
        Ok(readings.pop().unwrap())
    }

    #[test]
    fn adapters_are_found_by_guid_by_lid_and_by_name() {
        let reading = read(&[
            ("x/sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0010\n"),
            ("x/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "10"),
            ("y/mlx5_3/ports/1/lid", "0x2\n"),
            ("y/mlx5_3/ports/1/link_layer", "InfiniBand\n"),
            ("y/mlx5_3/ports/1/counters/port_xmit_data", "4294967295\n"),
            ("y/mlx5_3/ports/1/counters/port_rcv_data", "N/A (no PMA)\n"),
            ("./c/mlx5_0/ports/1/counters/port_xmit_data", "4294967295\n"),
            ("./c/mlx5_0/ports/1/counters_ext/port_xmit_data_64", "5000000000\n"),
            ("a/mlx5_0/ports/1/counters/symbol_error", "nonsense"),
            ("y/mlx5_3/ports/1/counters/VL15_dropped", "7\n"),
        ])
        .unwrap();
        assert_eq!(reading.errors(PortError::SymbolErrors), []);
        assert_eq!(reading.errors(PortError::Vl15Dropped), [(netloom_model::LinkId(1), 7)]);
        let sent = reading.column(Quantity::XmitBytes, None).unwrap();
        assert_eq!(sent.values[..3], [40, 17_179_869_180, 20_000_000_000]);
        assert_eq!(sent.quality[..3], [Quality::GOOD, Quality::SATURATED, Quality::GOOD]);
        assert!(reading.column(Quantity::RcvBytes, None).is_none());
    }

    #[test]
    fn ethernet_is_passed_over() {
        let none = read(&[
            ("a/mlx5_0/ports/1/link_layer", "Ethernet\n"),
            ("a/mlx5_0/ports/1/counters/port_xmit_data", "1\n"),
        ]);
        assert_eq!(
            none.unwrap_err(),
            "tree: expected counters of data and packets of a port with a cable, found none"
        );
    }

    #[test]
    fn mistakes_are_named_with_their_file() {
        let bad = |path: &str, text: &str| read(&[(path, text)]).unwrap_err();
        let counter = "a/mlx5_0/ports/1/counters/port_xmit_data";
        assert_eq!(bad(counter, "x\n"), format!("{counter}:1: expected a number below 2^64, found \"x\""));
        assert_eq!(bad(counter, ""), format!("{counter}:1: expected a number below 2^64, found \"\""));
        assert_eq!(bad("a/mlx5_0/node_guid", "z\n"), "a/mlx5_0/node_guid:1: expected a GUID, found \"z\"");
        assert!(bad("a/mlx5_0/ports/1/lid", "lid").contains("expected a LID in hexadecimal"));
        assert!(
            bad("d/mlx5_0/ports/1/counters/port_xmit_data", "1").contains("d mlx5_0 is not of this fabric")
        );
    }
}
