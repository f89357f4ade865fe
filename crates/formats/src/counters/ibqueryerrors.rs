//! `ibqueryerrors --data` and `--counters`: a line a port under its node.
//!
//! ```text
//! Data Counters for 0x2c90200000000 "leaf00"
//!    GUID 0x2c90200000000 port 5: [PortXmitData == 286272 (1.092MB)] [PortRcvData == 287856 (1.098MB)] …
//! ```
//!
//! - Values are as counted, data in units of four octets; what stands in brackets behind them is for people.
//! - `Errors for …` lists ports in error only, and with `--data` leaves out data counters that are 0: where a line has one, the others
//!   are 0. Ports that are not listed are not known.
//! - `port ALL` is a node's sum, port 0 the switch itself: passed over, as are summaries, thresholds and complaints.
//! - It reads the wide counter where the port has one and the narrow one elsewhere, without saying so.

use netloom_model::{Fabric, PortError, Quality, Quantity};

use super::fit::Scope;
use super::ports::Ports;
use super::sheet::{Counter, Sheet, error_count};
use super::{CountersFile, is_complaint};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::{Cursor, text};

/// What results call it.
const KIND: &str = "ibqueryerrors";
/// What a node's block begins with.
const HEADS: [&str; 2] = ["Data Counters for ", "Errors for "];

/// Reads what `ibqueryerrors` printed of all nodes.
///
/// # Errors
/// [`FormatError`] names the line: a number that is none, a port that is there twice, no port of this fabric.
pub fn read_ibqueryerrors(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether a block begins here.
pub(super) fn begins(line: &str) -> bool {
    HEADS.iter().any(|head| line.starts_with(head))
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    let mut only_errors = false;
    for (number, line) in (1..).zip(text.lines()) {
        let at_line = |message: String| FormatError::at(label, number, message);
        if begins(line) {
            only_errors = line.starts_with(HEADS[1]);
            continue;
        }
        let trimmed = line.trim();
        let passed_over = trimmed.is_empty()
            || trimmed.starts_with('#')
            || trimmed.starts_with("Link info:")
            || is_complaint(line);
        if passed_over {
            continue;
        }
        let mut cursor = Cursor::new(trimmed);
        let guid = cursor.eat("GUID ").then(|| cursor.hex()).flatten();
        let Some(guid) = guid.filter(|_| cursor.blanks().eat("port ")) else {
            let found = excerpt(line);
            return Err(at_line(format!(
                "expected \"GUID 0x2c90200000000 port 5: [PortXmitData == 1 (…)]\", found \"{found}\""
            )));
        };
        if cursor.eat("ALL") {
            continue;
        }
        let Some(port) = cursor.number().filter(|_| cursor.eat(":")) else {
            return Err(at_line(format!(
                "expected a port's number or ALL, found \"{}\"",
                excerpt(cursor.rest)
            )));
        };
        let (values, errors) = values(cursor.rest).map_err(at_line)?;
        let place = ports.by_guid(guid, port);
        let counted = values.iter().any(|(c, raw)| c.quantity != Quantity::WaitTicks && *raw > 0);
        let name = || (format!("GUID 0x{guid:x}"), port);
        let Some(link) = sheet.port(place, name, counted, number) else { continue };
        errors.into_iter().for_each(|(error, count)| sheet.add_error(link, error, count));
        for &(counter, raw) in &values {
            sheet.add(link, counter, counter.value(raw), number);
        }
        let data = |c: &Counter| c.quantity != Quantity::WaitTicks;
        if only_errors && values.iter().any(|(c, _)| data(c)) {
            for name in ["PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"] {
                let counter = Counter::of_tool(name, 64).expect("a known name");
                if !values.iter().any(|(c, _)| *c == counter) {
                    sheet.add(link, counter, (0, Quality::GOOD), number);
                }
            }
        }
    }
    let (reading, notes) = sheet.into_reading(fabric, None, label, Scope::All)?;
    Ok(CountersFile::reading(KIND, reading, notes))
}

/// Counters of data and of errors.
type Values = (Vec<(Counter, u64)>, Vec<(PortError, Result<u64, String>)>);

/// The counters in `[PortXmitData == 286272 (1.092MB)] [PortRcvErrors == 1]` that matter here.
fn values(list: &str) -> Result<Values, String> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let mut cursor = Cursor::new(list);
    while cursor.blanks().eat("[") {
        let item = cursor
            .until(']')
            .ok_or_else(|| format!("expected \"]\" behind \"[{}\"", excerpt(cursor.rest)))?;
        let Some((name, value)) = item.split_once(" == ") else {
            return Err(format!("expected [PortXmitData == 1], found \"[{}]\"", excerpt(item)));
        };
        let raw = value.split_ascii_whitespace().next().unwrap_or_default();
        if let Some(error) = PortError::find(name.trim()) {
            errors.push((error, error_count(raw)));
        }
        let Some(counter) = Counter::of_tool(name.trim(), 64) else { continue };
        let raw = raw.parse().map_err(|_| {
            format!("expected {} as a number below 2^64, found \"{}\"", name.trim(), excerpt(value))
        })?;
        found.push((counter, raw));
    }
    match cursor.blanks().rest {
        "" => Ok((found, errors)),
        rest => Err(format!("expected \"[\", found \"{}\"", excerpt(rest))),
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Reading, SwitchSpec};

    use super::super::CountersContent;
    use super::*;

    /// A host on port 1 of a switch, another on port 2: links 2 and 3 leave the switch.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 0xabc, 4));
        for i in 1..=2 {
            let h = b.host(HostSpec::new(format!("h{i}"), 16 * u64::from(i)));
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(text: &str) -> Result<Reading, String> {
        let file = read_ibqueryerrors(text.as_bytes(), "q.txt", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(mut readings) = file.content else { panic!("a reading") };
        Ok(readings.pop().unwrap())
    }

    #[test]
    fn ports_are_found_by_the_guid_of_their_node_or_their_own() {
        // A factory name may hold quotes, an adapter is called by its node's GUID (16 = 0x10) or its port's (33 = 0x21).
        let text = "ibwarn: [7] query_and_dump: failed\nData Counters for 0xabc \"a \"b\" c\"\n\
                    \x20  GUID 0xabc port 0: [PortXmitData == 9 (36.000B)]\n\
                    \x20  GUID 0xabc port 2: [PortXmitData == 10 (40.000B)] [PortRcvData == 20 (  infPB)]\n\
                    Data Counters for 0x10 \"h1\"\n   GUID 0x10 port 1: [PortXmitData == 3]\n\
                    Errors for \"h2\"\n   GUID 0x21 port ALL: [PortXmitData == 3]\n   GUID 0x21 port 1: [PortRcvPkts == 4 (4.000)]\n\
                    \x20        Link info:      2    1[  ] ==(…)==> 0xabc 3 1[  ] \"s\" ( )\n\n## Summary: 3 nodes checked\n## (null)\n";
        let reading = read(text).unwrap();
        let sent = reading.column(Quantity::XmitBytes, None).unwrap();
        // Of h2 a data counter is told, so its others are 0; of port 1 of the switch nothing is known.
        assert_eq!(sent.values, [12, 0, 0, 40]);
        assert_eq!(sent.quality, [Quality::GOOD, Quality::GOOD, Quality::MISSING, Quality::GOOD]);
        assert_eq!(reading.column(Quantity::RcvPackets, None).unwrap().values, [0, 0, 0, 4]);
        assert_eq!(reading.column(Quantity::RcvBytes, None).unwrap().values[1], 80);
    }

    #[test]
    fn a_counter_of_errors_below_0_is_told() {
        let text = "Data Counters for 0xabc \"s\"\n   GUID 0xabc port 1: [SymbolErrorCounter == -40] [PortXmitData == 3]\n";
        let file = read_ibqueryerrors(text.as_bytes(), "q.txt", &fabric()).unwrap();
        let told = "SymbolErrorCounter of s[1] is -40: no count is below 0, left out";
        assert!(file.notes.iter().any(|note| note.text == told), "{:?}", file.notes);
    }

    #[test]
    fn errors_alone_say_nothing_of_data() {
        let text =
            "Errors for 0xabc \"s\"\n   GUID 0xabc port 1: [SymbolErrorCounter == 3] [PortXmitWait == 5]\n";
        let reading = read(text).unwrap();
        assert!(reading.column(Quantity::XmitBytes, None).is_none());
        assert_eq!(reading.error(PortError::SymbolErrors, netloom_model::LinkId(2)), Some(3));
        assert_eq!(reading.column(Quantity::WaitTicks, None).unwrap().values[2], 5);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let bad = |line: &str| read(&format!("Data Counters for 0xabc \"s\"\n{line}\n")).unwrap_err();
        let port = |rest: &str| bad(&format!("   GUID 0xabc port 1: {rest}"));
        assert_eq!(
            port("[PortXmitData == x]"),
            "q.txt:2: expected PortXmitData as a number below 2^64, found \"x\""
        );
        assert_eq!(port("[PortXmitData == 1"), "q.txt:2: expected \"]\" behind \"[PortXmitData == 1\"");
        assert_eq!(port("[PortXmitData]"), "q.txt:2: expected [PortXmitData == 1], found \"[PortXmitData]\"");
        assert_eq!(port("PortXmitData"), "q.txt:2: expected \"[\", found \"PortXmitData\"");
        assert!(bad("port 1: [a == 1]").starts_with("q.txt:2: expected \"GUID 0x2c90200000000 port 5:"));
        assert!(bad("   GUID 0xabc port x: ").contains("expected a port's number or ALL"));
        assert!(
            bad("   GUID 0xabd port 1: [PortXmitData == 1]").contains("GUID 0xabd is not of this fabric")
        );
        let twice = "[PortXmitData == 1] [PortXmitData == 1]";
        assert!(port(twice).contains("xmit_bytes of s[1] is in line 2 already"));
    }
}
