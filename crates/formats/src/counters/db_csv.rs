//! `PM_INFO` and `PM_DELTA` of `ibdiagnet2.db_csv`: a row a port, a column a counter.
//!
//! `PM_INFO` is a reading. `PM_DELTA`, which ibdiagnet writes where it reads twice (`--pm_pause_time`), is what was counted in between: an
//! interval, of a length that the file does not tell. A file with both is the interval, and the reading that ended it.
//!
//! The file has each counter of data in 32 bits (which stops when it is full) and in 64 (`…Extended`, `…Ext`): the wider counts where the
//! port has it. Data is in units of four octets; values are decimal, or hexadecimal with `0x`; `N/A` is a counter that the port
//! does not have.

use netloom_model::{Counters, Fabric, Interval, PortError, Quantity, Reading};

use super::fit::Scope;
use super::ports::{Place, Ports};
use super::sheet::{Counter, Sheet};
use super::{CountersContent, CountersFile};
use crate::db_csv::{Section, needed, section};
use crate::text::text;
use crate::{Finding, FormatError};

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
        let message = format!(
            "expected a column PortXmitData or another counter of data or packets in START_{}, found none",
            section.name
        );
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
    let delta = section(text, label, "PM_DELTA")?;
    let info = match &delta {
        Some(_) => section(text, label, "PM_INFO")?,
        None => {
            Some(needed(text, label, "PM_INFO", "counters of ports: written by ibdiagnet --pc and the like")?)
        }
    };
    let info = info.map(|section| reading(&section, label, fabric)).transpose()?;
    let Some(delta) = delta else {
        let (reading, notes) = info.expect("it was needed");
        return Ok(CountersFile::reading(KIND, reading, notes));
    };
    let (counted, mut notes) = reading(&delta, label, fabric)?;
    let text = "PM_DELTA is the interval: what was counted between two readings; PM_INFO, since the counters were last set back, is the later one";
    if info.is_some() {
        notes.push(Finding { kind: "interval", line: Some(delta.line), text: text.into() });
    }
    let columns = counted.columns().to_vec();
    let mut counters = Counters::new(fabric, None);
    counters
        .push(Interval { start_ns: 0, end_ns: 0, routes: 0, columns })
        .map_err(|e| FormatError::at(label, delta.line, e.to_string()))?;
    let content = CountersContent::Intervals(counters);
    let reading = info.map(|(reading, _)| reading);
    Ok(CountersFile { kind: KIND, content, reading, counted: Some(counted), notes })
}

/// The rows of a section, as a reading.
fn reading(
    section: &Section<'_>,
    label: &str,
    fabric: &Fabric,
) -> Result<(Reading, Vec<Finding>), FormatError> {
    let (guid, port) = (section.column(&["NodeGUID"])?, section.column(&["PortNumber", "PortNum"])?);
    let counters = counters(section, label)?;
    let errors = errors(section);
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    for row in section.rows() {
        let row = row?;
        let node = row.number(guid, "a node's GUID")?;
        let number = u32::try_from(row.number(port, "a port's number")?).unwrap_or(u32::MAX);
        let place = ports.by_guid(node, number);
        let name = || (format!("GUID 0x{node:x}"), number);
        if place == Place::Unknown {
            // Another fabric's counters may be anything.
            sheet.fit.see(place, name, false, row.line);
            continue;
        }
        let mut values = Vec::with_capacity(counters.len());
        for &(at, counter, name) in &counters {
            if let Some(raw) = row.optional(at, name)? {
                values.push((counter, raw));
            }
        }
        let counted = values.iter().any(|(c, raw)| c.quantity != Quantity::WaitTicks && *raw > 0);
        let Some(link) = sheet.port(place, name, counted, row.line) else { continue };
        for &(at, error) in &errors {
            if let Some(count) = row.optional(at, error.name())? {
                sheet.add_error(link, error, Ok(count));
            }
        }
        for (counter, raw) in values {
            sheet.add(link, counter, counter.value(raw), row.line);
        }
    }
    sheet.into_reading(fabric, None, label, Scope::All)
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quality, SwitchSpec};

    use super::super::read_counters;
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
    fn a_delta_is_the_interval_and_the_reading_its_end() {
        let section = |name: &str, rows: &str| {
            format!(
                "START_{name}\nNodeGUID,PortNumber,PortXmitData,PortXmitDataExtended\n{rows}END_{name}\n\n"
            )
        };
        let (info, delta) = ("0xabc,1,4294967295,5000000000\n", "0xabc,1,25,25\n0xdef,1,x,y\n");
        let text = section("PM_INFO", info) + &section("PM_DELTA", delta);
        let file = read_counters(text.as_bytes(), "d.db_csv", &fabric()).unwrap();
        let CountersContent::Intervals(counters) = &file.content else { panic!("an interval") };
        assert_eq!(counters.intervals().len(), 1);
        assert_eq!(counters.intervals()[0].columns[0].values, [0, 0, 100, 0]);
        let reading = file.reading.unwrap();
        assert_eq!(reading.column(Quantity::XmitBytes, None).unwrap().values[2], 20_000_000_000);
        let told: Vec<_> = file.notes.iter().map(|note| note.text.as_str()).collect();
        assert!(told[0].starts_with("1 of other fabrics, left out: GUID 0xdef"), "{told:?}");
        // Alone it is an interval too.
        let alone = read_counters(section("PM_DELTA", delta).as_bytes(), "d.db_csv", &fabric()).unwrap();
        assert!(matches!(alone.content, CountersContent::Intervals(_)) && alone.reading.is_none());
        let bad = section("PM_DELTA", "0xabc,1,x,1\n");
        let found = read_counters(bad.as_bytes(), "d", &fabric()).unwrap_err().to_string();
        assert_eq!(found, "d:3: expected PortXmitData as a number below 2^64, found \"x\"");
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
