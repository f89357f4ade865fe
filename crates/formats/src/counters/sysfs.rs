//! Linux' sysfs: a folder of `/sys/class/infiniband`, of one machine or of many under their names.
//!
//! ```text
//! node7/mlx5_0/node_guid                            0002:c903:0000:0000
//! node7/mlx5_0/ports/1/lid                          0x2a
//! node7/mlx5_0/ports/1/counters/port_xmit_data      23472
//! ```
//!
//! - An adapter is found by `node_guid`; one whose GUID the fabric does not have is another fabric's, whatever its LID. Where no GUID is
//!   told, its port is found by `lid`, else the machine by the folder's name.
//! - A GUID of 0 is that of a virtual function, which shares its adapter's LID: left out, as are ports of Ethernet and those without
//!   counters of InfiniBand, each with a note. Whatever stands in their files refuses nothing.
//! - A port of the fabric that several devices claim is the one's that knows best: by GUID, then by a LID in its own machine, by name, by
//!   LID alone. Of equal ones none has it.
//! - Data is in units of four octets. `counters_ext` (Linux before 4.5) has the 64-bit ones, which win.
//! - `N/A (no PMA)` is a port without counters.

use std::collections::BTreeMap;
use std::fmt;

use netloom_model::{Fabric, LinkId, PortError, Quantity};

use super::CountersFile;
use super::fit::{CLAIMED, Scope};
use super::ports::{Place, Ports};
use super::sheet::{Counter, Sheet, error_count};
use crate::FormatError;
use crate::error::excerpt;

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

/// A device of a machine; as text, `node7 mlx5_0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device<'a> {
    machine: &'a str,
    name: &'a str,
}

impl fmt::Display for Device<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.machine.is_empty() { "" } else { " " };
        write!(f, "{}{between}{}", self.machine, self.name)
    }
}

/// Of ports that are no port of InfiniBand's with counters.
const ETHERNET: &str = "that are Ethernet, not InfiniBand";
const NO_COUNTERS: &str = "without counters of InfiniBand";
const NO_GUID: &str = "without a GUID (virtual functions)";

/// A file: its path, and what it holds without blanks around it.
type File<'a> = (&'a str, &'a [u8]);

/// What is known of one port of a device.
#[derive(Default)]
struct Port<'a> {
    lid: Option<File<'a>>,
    link_layer: Option<File<'a>>,
    counters: Vec<(Counter, File<'a>)>,
    errors: Vec<(PortError, File<'a>)>,
}

/// What is known of the devices of all machines.
#[derive(Default)]
struct Tree<'a> {
    guids: BTreeMap<Device<'a>, File<'a>>,
    ports: BTreeMap<(Device<'a>, u32), Port<'a>>,
}

/// How a device is known to have a port: the surer, the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Guid,
    LidAndMachine,
    Name,
    Lid,
}

/// A device's port, and how it is known to be one of the fabric's.
type Claim<'t, 'a> = (Known, &'t (Device<'a>, u32));

/// Reads the files of a tree: paths with slashes, as they are called in messages, and what they hold. Other files are passed over.
///
/// # Errors
/// [`FormatError`] names the file: a counter, GUID or LID that is none, a counter that is there twice, no port of this fabric.
pub fn read_sysfs(
    files: &[(String, Vec<u8>)],
    label: &str,
    fabric: &Fabric,
) -> Result<CountersFile, FormatError> {
    let tree = Tree::of(files);
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    // Of every link the devices that claim its port.
    let mut claims: BTreeMap<LinkId, Vec<Claim>> = BTreeMap::new();
    let guids = tree.guids()?;
    for (at @ (device, number), port) in &tree.ports {
        let name = || (device.to_string(), *number);
        if port.is_ethernet() {
            sheet.fit.leave_out(ETHERNET, name(), 0);
            continue;
        }
        let guid = guids.get(device).copied();
        if guid == Some(0) {
            sheet.fit.leave_out(NO_GUID, name(), 0);
            continue;
        }
        let (known, place) = place(&ports, device, *number, guid, port)?;
        let counted =
            || port.counters.iter().any(|&(c, file)| c.quantity != Quantity::WaitTicks && some(file));
        match place {
            _ if port.counters.iter().all(|&(_, file)| is_absent(file)) => {
                sheet.fit.leave_out(NO_COUNTERS, name(), 0);
            }
            Place::Port(link) => claims.entry(link).or_default().push((known, at)),
            place => {
                let with_guid = |(name, port)| match guid {
                    Some(guid) => (format!("{name} (GUID 0x{guid:x})"), port),
                    None => (name, port),
                };
                sheet.fit.see(place, || with_guid(name()), counted(), 0);
            }
        }
    }
    for (link, mut claims) in claims {
        claims.sort();
        let best = claims[0].0;
        let rivals = claims.iter().filter(|(known, _)| *known == best).count();
        for (place, (_, at)) in claims.into_iter().enumerate() {
            if rivals == 1 && place == 0 {
                tree.ports[at].add_to(&mut sheet, link, &at.0)?;
            } else {
                sheet.fit.leave_out(CLAIMED, (at.0.to_string(), at.1), 0);
            }
        }
    }
    let (reading, notes) = sheet.into_reading(fabric, None, label, Scope::Hosts)?;
    Ok(CountersFile::reading(KIND, reading, notes))
}

impl<'a> Tree<'a> {
    fn of(files: &'a [(String, Vec<u8>)]) -> Self {
        let mut tree = Self::default();
        for (path, data) in files {
            let file = (path.as_str(), data.trim_ascii());
            let Some(spot) = spot(path) else { continue };
            match spot {
                Spot::Guid(device) => _ = tree.guids.insert(device, file),
                Spot::Port(device, port, what) => {
                    let port = tree.ports.entry((device, port)).or_default();
                    match what {
                        What::Lid => port.lid = Some(file),
                        What::LinkLayer => port.link_layer = Some(file),
                        What::Counter(counter) => port.counters.push((counter, file)),
                        What::Error(error) => port.errors.push((error, file)),
                    }
                }
            }
        }
        tree
    }

    /// The GUIDs of all devices, but of those that Ethernet alone has.
    fn guids(&self) -> Result<BTreeMap<&Device<'a>, u64>, FormatError> {
        let of_infiniband = |device: &Device| {
            let mut ports = self.ports.range((device.clone(), 0)..=(device.clone(), u32::MAX)).peekable();
            ports.peek().is_none() || ports.any(|(_, port)| !port.is_ethernet())
        };
        let ours = self.guids.iter().filter(|(device, _)| of_infiniband(device));
        ours.map(|(device, &file)| Ok((device, guid(file)?))).collect()
    }
}

impl Port<'_> {
    fn is_ethernet(&self) -> bool {
        self.link_layer.is_some_and(|(_, layer)| layer == b"Ethernet")
    }

    /// Adds the counters of a device's port to those of a link.
    fn add_to(&self, sheet: &mut Sheet, link: LinkId, device: &Device) -> Result<(), FormatError> {
        for &(error, file) in self.errors.iter().filter(|(_, file)| !is_absent(*file)) {
            sheet.add_error(link, error, error_count(&String::from_utf8_lossy(file.1)));
        }
        let mut first: Vec<(Counter, &str)> = Vec::new();
        for &(counter, file) in self.counters.iter().filter(|(_, file)| !is_absent(*file)) {
            let raw = number(file).ok_or_else(|| wrong(file, "a number below 2^64"))?;
            if let Some((_, path)) = first.iter().find(|(known, _)| *known == counter) {
                let name = counter.quantity.name();
                let message =
                    format!("{name} of {device} is in {path} already: expected one reading a folder");
                return Err(FormatError::at(file.0, 1, message));
            }
            first.push((counter, file.0));
            sheet.add(link, counter, counter.value(raw), 1);
        }
        Ok(())
    }
}

/// Which port of the fabric a device's is, and how that is known.
fn place(
    ports: &Ports,
    device: &Device,
    number: u32,
    guid: Option<u64>,
    port: &Port,
) -> Result<(Known, Place), FormatError> {
    let beside = |place| match place {
        Place::Unknown if ports.has_machine(device.machine) => Place::Beside,
        place => place,
    };
    if let Some(guid) = guid {
        return Ok((Known::Guid, beside(ports.by_guid(guid, number))));
    }
    let by_lid = match port.lid.map(lid).transpose()? {
        // 0: no subnet manager has been here.
        None | Some(0) => Place::Unknown,
        Some(lid) => ports.by_lid(lid, number),
    };
    let ours = ports.has_machine(device.machine);
    Ok(match by_lid {
        Place::Unknown => (Known::Name, ports.by_machine(device.machine, device.name, number)),
        Place::Port(link) if ports.is_of(link, device.machine) => (Known::LidAndMachine, by_lid),
        // The LID of another machine: it is of another fabric.
        Place::Port(_) if ours => (Known::Lid, Place::Beside),
        place => (Known::Lid, place),
    })
}

fn guid(file: File) -> Result<u64, FormatError> {
    let digits = word(file).map(|word| word.replace(':', ""));
    let guid = digits.and_then(|digits| crate::text::parse_hex(digits.trim_start_matches("0x")));
    guid.ok_or_else(|| wrong(file, "a GUID"))
}

fn lid(file: File) -> Result<u32, FormatError> {
    let lid = word(file).and_then(|word| crate::text::parse_hex(word.trim_start_matches("0x")));
    lid.and_then(|lid| lid.try_into().ok()).ok_or_else(|| wrong(file, "a LID in hexadecimal"))
}

fn word((_, data): File<'_>) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

fn number(file: File) -> Option<u64> {
    word(file)?.parse().ok()
}

/// Whether it has counted.
fn some(file: File) -> bool {
    number(file).is_some_and(|count| count > 0)
}

/// Whether the device has no such counter.
fn is_absent((_, data): File) -> bool {
    data.starts_with(b"N/A")
}

fn wrong((path, data): File, what: &str) -> FormatError {
    let found = String::from_utf8_lossy(data);
    FormatError::at(path, 1, format!("expected {what}, found \"{}\"", excerpt(&found)))
}

/// What a path of a tree holds.
enum Spot<'a> {
    Guid(Device<'a>),
    Port(Device<'a>, u32, What),
}

/// What a file says of a port.
enum What {
    Lid,
    LinkLayer,
    Counter(Counter),
    Error(PortError),
}

fn spot(path: &str) -> Option<Spot<'_>> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let (last, above) = parts.split_last()?;
    if *last == DEVICE_FILES[0] {
        return Some(Spot::Guid(device(above)?));
    }
    let ports = above.iter().rposition(|part| *part == "ports")?;
    let (device, port) = (device(&above[..ports])?, above.get(ports + 1)?.parse().ok()?);
    let what = match (&above[ports + 2..], *last) {
        ([], "lid") => What::Lid,
        ([], "link_layer") => What::LinkLayer,
        (["counters" | "counters_ext"], name) => {
            match COUNTERS.into_iter().find(|(known, ..)| *known == name) {
                Some((_, quantity, bits)) => What::Counter(Counter { quantity, lane: None, bits }),
                None => What::Error(PortError::find(name)?),
            }
        }
        _ => return None,
    };
    Some(Spot::Port(device, port, what))
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
            "tree: expected counters of data and packets of a port with a cable, found none; \
             1 that are Ethernet, not InfiniBand, left out: a mlx5_0 port 1"
        );
    }

    /// Notes of a tree in which a is 20 units, and what `more` adds.
    fn notes(more: &[(&str, &str)]) -> (Vec<u64>, Vec<String>) {
        let a = [
            ("a/mlx5_0/node_guid", "0000:0000:0000:0010"),
            ("a/mlx5_0/ports/1/lid", "0x1"),
            ("a/mlx5_0/ports/1/counters/port_xmit_data", "5"),
        ];
        let files: Vec<_> =
            a.iter().chain(more).map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())).collect();
        let file = read_sysfs(&files, "tree", &fabric()).unwrap();
        let CountersContent::Readings(readings) = file.content else { panic!("a reading") };
        let sent = readings[0].column(Quantity::XmitBytes, None).unwrap().values[..3].to_vec();
        let left_out = file.notes.iter().filter(|note| note.kind == "left-out");
        (sent, left_out.map(|note| note.text.clone()).collect())
    }

    #[test]
    fn an_adapter_of_another_fabric_never_counts_for_the_host_that_has_its_lid_here() {
        // It was given to c, whose LID is 3 here.
        let found = notes(&[
            ("a/mlx5_1/node_guid", "b859:9f03:00aa:0000"),
            ("a/mlx5_1/ports/1/lid", "0x3"),
            ("a/mlx5_1/ports/1/counters/port_xmit_data", "999999"),
        ]);
        let told = "1 of other fabrics, left out: a mlx5_1 (GUID 0xb8599f0300aa0000)";
        assert_eq!(found, (vec![20, 0, 0], vec![told.to_owned()]));
        // Without its GUID: a is known, and c is not a.
        let found =
            notes(&[("a/mlx5_1/ports/1/lid", "0x3"), ("a/mlx5_1/ports/1/counters/port_xmit_data", "999999")]);
        assert_eq!(found, (vec![20, 0, 0], vec!["1 of other fabrics, left out: a mlx5_1".to_owned()]));
    }

    #[test]
    fn virtual_functions_and_ports_without_counters_are_left_out_with_a_note() {
        let found = notes(&[
            ("a/mlx5_2/node_guid", "0000:0000:0000:0000"),
            ("a/mlx5_2/ports/1/lid", "0x1"),
            ("a/mlx5_2/ports/1/counters/port_xmit_data", "7"),
            ("b/mlx5_0/node_guid", "0000:0000:0000:0020"),
            ("b/mlx5_0/ports/1/counters/port_xmit_data", "N/A (no PMA)"),
            ("c/mlx5_0/ports/1/link_layer", "Ethernet"),
            ("c/mlx5_0/ports/1/counters/port_xmit_data", "what?"),
            ("c/mlx5_0/node_guid", "what?"),
        ]);
        let told = [
            "1 that are Ethernet, not InfiniBand, left out: c mlx5_0 port 1",
            "1 without a GUID (virtual functions), left out: a mlx5_2 port 1",
            "1 without counters of InfiniBand, left out: b mlx5_0 port 1",
        ];
        assert_eq!(found, (vec![20, 0, 0], told.map(str::to_owned).to_vec()));
    }

    #[test]
    fn of_devices_that_claim_one_port_the_surest_has_it_or_none() {
        let told = |devices: &str| {
            let many = devices.matches("port").count();
            vec![format!("{many} that claim the port of another adapter here, left out: {devices}")]
        };
        // LID 1 is a's, whose GUID is there.
        let found =
            notes(&[("q/mlx5_0/ports/1/lid", "0x1"), ("q/mlx5_0/ports/1/counters/port_xmit_data", "7")]);
        assert_eq!(found, (vec![20, 0, 0], told("q mlx5_0 port 1")));
        let found = notes(&[
            ("q/mlx5_0/ports/1/lid", "0x2"),
            ("q/mlx5_0/ports/1/counters/port_xmit_data", "7"),
            ("r/mlx5_0/ports/1/lid", "0x2"),
            ("r/mlx5_0/ports/1/counters/port_xmit_data", "9"),
        ]);
        assert_eq!(found, (vec![20, 0, 0], told("q mlx5_0 port 1, r mlx5_0 port 1")));
    }

    #[test]
    fn mistakes_are_named_with_their_file() {
        let bad = |path: &str, text: &str| read(&[(path, text)]).unwrap_err();
        let counter = "a/mlx5_0/ports/1/counters/port_xmit_data";
        assert_eq!(bad(counter, "x\n"), format!("{counter}:1: expected a number below 2^64, found \"x\""));
        assert_eq!(bad(counter, ""), format!("{counter}:1: expected a number below 2^64, found \"\""));
        assert_eq!(bad("a/mlx5_0/node_guid", "z\n"), "a/mlx5_0/node_guid:1: expected a GUID, found \"z\"");
        let twice = read(&[(&format!("x/{counter}"), "1"), (&format!("y/{counter}"), "2")]).unwrap_err();
        assert_eq!(
            twice,
            format!(
                "y/{counter}:1: xmit_bytes of a mlx5_0 is in x/{counter} already: expected one reading a folder"
            )
        );
        assert!(bad("a/mlx5_0/ports/1/lid", "lid").contains("expected a LID in hexadecimal"));
        assert!(
            bad("d/mlx5_0/ports/1/counters/port_xmit_data", "1").contains("d mlx5_0 is not of this fabric")
        );
    }
}
