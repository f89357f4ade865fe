//! `PM_INFO` of `ibdiagnet2.db_csv`: a row a port, a column a counter.
//!
//! The file has each counter of data in 32 bits (which stops when it is full) and in 64 (`…Extended`, `…Ext`): the wider counts where the
//! port has it. Data is in units of four octets; values are decimal, or hexadecimal with `0x`; `N/A` is a counter that the port
//! does not have.

use netloom_model::{Fabric, PortError, Quantity};

use super::CountersFile;
use super::fit::Scope;
use super::ports::Ports;
use super::sheet::{Counter, Sheet};
use crate::FormatError;
use crate::db_csv::{Section, needed};
use crate::text::text;

/// What results call it.
const KIND: &str = "ibdiagnet db_csv";
/// A column's name, its counter, and what the errors call it.
type Column = (usize, Counter, &'static str);

/// Reads the counters of an `ibdiagnet2.db_csv`.
///
/// # Errors
/// [`FormatError`] names the line: no section `PM_INFO`, a column that it lacks, a value that is none, no port of this fabric.
pub fn read_db_csv(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// The counter of a column: a name as `perfquery` has it, wide ones with `Extended` or `Ext` behind.
fn counter(column: &str) -> Option<(Counter, &'static str)> {
    const NAMES: [&str; 5] = ["PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortXmitWait"];
    let name = NAMES
        .into_iter()
        .find(|name| column.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)))?;
    let bits = match &column[name.len()..] {
        "" => 32,
        "extended" | "ext" => 64,
        _ => return None,
    };
    Some((Counter::of_tool(name, bits)?, name))
}

/// The section's counters, at least one of data.
fn counters(section: &Section<'_>, label: &str) -> Result<Vec<Column>, FormatError> {
    let known: Vec<Column> = section
        .columns()
        .filter_map(|(at, name)| counter(name).map(|(counter, name)| (at, counter, name)))
        .collect();
    if known.iter().all(|(_, counter, _)| counter.quantity == Quantity::WaitTicks) {
        let message = "expected a column PortXmitData or another counter of data or packets in START_PM_INFO, found none";
        return Err(FormatError::at(label, section.line, message));
    }
    Ok(known)
}

/// The section's counters of errors, narrow and wide.
fn errors(section: &Section<'_>) -> Vec<(usize, PortError)> {
    let known =
        |(at, name): (usize, &str)| Some((at, PortError::find(name.strip_suffix("ext").unwrap_or(name))?));
    section.columns().filter_map(known).collect()
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let section =
        needed(text, label, "PM_INFO", "counters of ports: written by ibdiagnet --pc and the like")?;
    let (guid, port) = (section.column(&["NodeGUID"])?, section.column(&["PortNumber", "PortNum"])?);
    let counters = counters(&section, label)?;
    let errors = errors(&section);
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    for row in section.rows() {
        let row = row?;
        let node = row.number(guid, "a node's GUID")?;
        let number = u32::try_from(row.number(port, "a port's number")?).unwrap_or(u32::MAX);
        let mut values = Vec::with_capacity(counters.len());
        for &(at, counter, name) in &counters {
            if let Some(raw) = row.optional(at, name)? {
                values.push((counter, raw));
            }
        }
        let counted = values.iter().any(|(c, raw)| c.quantity != Quantity::WaitTicks && *raw > 0);
        let name = || (format!("GUID 0x{node:x}"), number);
        let Some(link) = sheet.port(ports.by_guid(node, number), name, counted, row.line) else { continue };
        for &(at, error) in &errors {
            sheet.errors.extend(row.optional(at, error.name())?.map(|raw| (link, error, raw)));
        }
        for (counter, raw) in values {
            sheet.add(link, counter, counter.value(raw), row.line);
        }
    }
    let (reading, notes) = sheet.into_reading(fabric, None, label, Scope::All)?;
    Ok(CountersFile::reading(KIND, reading, notes))
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quality, Reading, SwitchSpec};

    use super::super::{CountersContent, read_counters};
    use super::*;

    /// Hosts on ports 1 and 2 of a switch with GUID 0xabc: links 2 and 3 leave it.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 0xabc, 4));
        for i in 1..=2 {
            let h = b.host(HostSpec::new(format!("h{i}"), 16 * u64::from(i)));
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    const HEADER: &str = "NodeGUID,PortGUID,PortNumber,PortXmitData,PortRcvData,PortXmitPkts,PortXmitWait,PortXmitDataExtended,PortXmitWaitExt, odd";

    fn read(rows: &str) -> Result<Reading, String> {
        let text = format!("# x\n\nSTART_PM_INFO\n{HEADER}\n{rows}END_PM_INFO\n");
        let file = read_counters(text.as_bytes(), "d.db_csv", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(mut readings) = file.content else { panic!("a reading") };
        Ok(readings.pop().unwrap())
    }

    #[test]
    fn wide_counters_count_and_what_a_port_lacks_is_missing() {
        let rows = "0xabc,0xabc,1,4294967295,0x10,7,4294967295,5000000000,9,N/A\n\
                    0xabc,0xabc,2,4294967295,N/A,-1,3,N/A,N/A,0\n0xabc,0xabc,0,1,1,1,1,1,1,1\n";
        let reading = read(rows).unwrap();
        let sent = reading.column(Quantity::XmitBytes, None).unwrap();
        assert_eq!(sent.values[2..], [20_000_000_000, 4 * 4_294_967_295]);
        assert_eq!(sent.quality[2..], [Quality::GOOD, Quality::SATURATED]);
        // What the switch receives at port 1 comes over the first host's link; port 2 does not tell.
        let received = reading.column(Quantity::RcvBytes, None).unwrap();
        assert_eq!((received.values[0], received.quality[1]), (64, Quality::MISSING));
        assert_eq!(reading.column(Quantity::WaitTicks, None).unwrap().values[2..], [9, 3]);
    }

    #[test]
    fn errors_are_read_in_both_widths() {
        let text = "START_PM_INFO\nNodeGUID,PortNumber,PortXmitData,SymbolErrorCounter,PortXmitDiscards,PortXmitDiscardsExt,\
                    QP1DroppedExt\n0xabc,1,1,0x11,65535,70000,5\n0xabc,2,1,N/A,3,N/A,5\nEND_PM_INFO\n";
        let file = read_counters(text.as_bytes(), "d.db_csv", &fabric()).unwrap();
        let CountersContent::Readings(readings) = file.content else { panic!("a reading") };
        let of = |error: PortError| {
            readings[0].errors(error).into_iter().map(|(l, n)| (l.0, n)).collect::<Vec<_>>()
        };
        assert_eq!(of(PortError::SymbolErrors), [(2, 17)]);
        assert_eq!(of(PortError::TransmitDiscards), [(2, 70_000), (3, 3)]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let bad = |rows: &str| read(rows).unwrap_err();
        assert_eq!(
            bad("0xabc,0xabc,1,x,0,0,0,0,0,0\n"),
            "d.db_csv:5: expected PortXmitData as a number below 2^64, found \"x\""
        );
        assert_eq!(
            bad("0xabc,0xabc,N/A,1,0,0,0,0,0,0\n"),
            "d.db_csv:5: expected a port's number, found \"N/A\""
        );
        assert!(bad("0xabd,0,1,1,0,0,0,0,0,0\n").contains(":5: GUID 0xabd is not of this fabric"));
        let twice = "0xabc,0xabc,1,1,0,0,0,0,0,0\n";
        assert!(bad(&format!("{twice}{twice}")).contains("is in line 5 already"));
        let other = |text: &str| read_counters(text.as_bytes(), "d", &fabric()).unwrap_err().to_string();
        let none = other("START_NODES\nNodeGUID\nEND_NODES\n");
        assert!(none.starts_with("d: expected a section START_PM_INFO (counters of ports"), "{none}");
        assert!(none.ends_with("found none (but NODES)"), "{none}");
        assert!(other("START_PM_INFO\nNodeGUID,PortXmitData\nEND_PM_INFO\n").contains("a column PortNumber"));
        assert!(other("START_PM_INFO\nNodeGUID,PortNumber\nEND_PM_INFO\n").contains("a column PortXmitData"));
    }
}
