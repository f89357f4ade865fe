//! `perfquery`: plain counters (32 bits), `-x` (64 bits), and those by virtual lane (`--vlopdata`, `--vloppackets`,
//! `--vlxmitcounters`), in any number of blocks:
//!
//! ```text
//! # Port extended counters: Lid 35 port 5 (CapMask: 0x1300 CapMask2: 0x0000000)
//! PortSelect:......................5
//! PortXmitData:....................23472
//! ```
//!
//! What other options print (errors, discards, service levels) is passed over, as are the tools' complaints. Data is in units of four
//! octets. Old releases write `XmtData` for `PortXmitData`; names of 32 characters and more come without dots or garbled.

use netloom_model::{Fabric, LinkId, Quantity};

use super::ports::Ports;
use super::sheet::{Counter, Sheet};
use super::{CountersFile, is_complaint};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::{Cursor, text};

/// What results call it.
const KIND: &str = "perfquery";

/// Reads what `perfquery` printed of any ports, once each.
///
/// # Errors
/// [`FormatError`] names the line: a number that is none, a port that is there twice, a sum over all ports, no port of this fabric.
pub fn read_perfquery(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether a block begins here.
pub(super) fn begins(line: &str) -> bool {
    header(line).is_some()
}

/// What stands above a block.
struct Header<'a> {
    extended: bool,
    /// Whether these are a port's own counters, not those of its lanes, errors or service levels.
    of_port: bool,
    node: &'a str,
}

/// A port's counters so far.
struct Block {
    line: usize,
    /// If the fabric has it.
    port: Option<LinkId>,
    bits: u8,
    of_port: bool,
    /// How many counters of data and packets there were.
    counters: usize,
}

impl Block {
    /// A port has four counters of data and packets: fewer are told.
    fn close(self, sheet: &mut Sheet) {
        if self.of_port && self.port.is_some() && self.counters < 4 {
            let text = format!("a port with {} counters of data and packets: expected 4", self.counters);
            sheet.find(self.line, text);
        }
    }
}

/// `# Port extended counters: Lid 35 port 5 (…)`
fn header(line: &str) -> Option<Header<'_>> {
    let (kind, node) = line.trim_start().strip_prefix('#')?.trim_start().split_once(" counters: ")?;
    let (extended, of_port) = (kind == "Port extended", matches!(kind, "Port" | "Port extended"));
    kind.starts_with("Port").then_some(Header { extended, of_port, node })
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    // Nothing before the first block.
    let mut block: Option<Block> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let at_line = |message: String| FormatError::at(label, number, message);
        if let Some(header) = header(line) {
            let bits = if header.extended { 64 } else { 32 };
            let port = port(header.node, &ports, &mut sheet, number).map_err(at_line)?;
            let next = Block { line: number, port, bits, of_port: header.of_port, counters: 0 };
            block.replace(next).into_iter().for_each(|block| block.close(&mut sheet));
            continue;
        }
        let line = line.trim();
        let Some(block) = &mut block else { continue };
        if line.is_empty() || line.starts_with('#') || is_complaint(line) {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(at_line(format!(
                "expected a counter (PortXmitData:....5), found \"{}\"",
                excerpt(line)
            )));
        };
        let (Some(counter), Some(port)) = (Counter::of_tool(name, block.bits), block.port) else { continue };
        let value = value.trim_start_matches('.').trim();
        let raw = value.parse::<u64>().map_err(|_| {
            at_line(format!("expected {name} as a number below 2^64, found \"{}\"", excerpt(value)))
        })?;
        sheet.add(port, counter, counter.value(raw), number);
        block.counters += usize::from(counter.quantity != Quantity::WaitTicks);
    }
    block.into_iter().for_each(|block| block.close(&mut sheet));
    if !text.is_empty() && !text.ends_with('\n') {
        sheet.find(text.lines().count(), "the last line has no end: the file may be cut short");
    }
    let (reading, findings) = sheet.into_reading(fabric, None, label)?;
    Ok(CountersFile::reading(KIND, reading, findings))
}

/// `Lid 35 port 5 (…)`; none if that is no port of a link.
fn port(node: &str, ports: &Ports, sheet: &mut Sheet, line: usize) -> Result<Option<LinkId>, String> {
    let mut cursor = Cursor::new(node.trim_start());
    let by_lid = cursor.eat("Lid ") || cursor.eat("lid ");
    let lid = cursor.number().filter(|_| by_lid);
    let port = cursor.blanks().eat("port ").then(|| cursor.number()).flatten();
    let (Some(lid), Some(port)) = (lid, port) else {
        if node.trim_start().starts_with("DR path") {
            sheet.find(line, "a port by its directed route, left out: only LIDs name a port of the fabric");
            return Ok(None);
        }
        return Err(format!("expected \"Lid 35 port 5\", found \"{}\"", excerpt(node)));
    };
    if port == 255 {
        return Err(
            "port 255 is the sum over all ports: expected a port each (perfquery -l instead of -a)".into()
        );
    }
    if !ports.have_lids() {
        return Err(format!("Lid {lid}: the fabric has no LIDs: expected one read from ibnetdiscover"));
    }
    Ok(sheet.port(ports.by_lid(lid, port), || format!("Lid {lid}"), line))
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quality, Quantity, Reading, SwitchSpec};

    use super::super::CountersContent;
    use super::*;

    /// Hosts with LIDs 1 and 2 on ports 1 and 2 of a switch with LID 3: links 2 and 3 leave the switch.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec { lid: Some(3), ..SwitchSpec::new("s", 1, 4) });
        for i in 1..=2 {
            let h = b.host(HostSpec { lid: Some(i), ..HostSpec::new(format!("h{i}"), 16 * u64::from(i)) });
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(text: &str) -> Result<(Reading, Vec<String>), String> {
        let file = read_perfquery(text.as_bytes(), "p.txt", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(mut readings) = file.content else { panic!("a reading") };
        let findings = file.findings.into_iter().map(|f| format!("{}: {}", f.line.unwrap(), f.text));
        Ok((readings.pop().unwrap(), findings.collect()))
    }

    fn bytes(reading: &Reading, quantity: Quantity, lane: Option<u8>) -> (Vec<u64>, Vec<u8>) {
        let column = reading.column(quantity, lane).unwrap();
        (column.values.clone(), column.quality.iter().map(|q| q.bits()).collect())
    }

    #[test]
    fn words_become_octets_and_what_is_received_goes_to_the_link_that_comes_in() {
        let text = "ibwarn: [1] mad_rpc: failed\n# Port extended counters: Lid 3 port 1 (CapMask: 0x1300)\nPortSelect:......1\n\
                    PortXmitData:....................10\nPortRcvData:.....................20\nPortXmitPkts:...5\nPortRcvPkts:...6\n\
                    # Port extended counters: Lid 2 port 1\nPortXmitData:.7\n\
                    PortRcvData:.0\nPortXmitPkts:.1\nPortRcvPkts:.0\n";
        let (reading, findings) = read(text).unwrap();
        assert_eq!(findings, [] as [String; 0]);
        assert_eq!(bytes(&reading, Quantity::XmitBytes, None), (vec![0, 28, 40, 0], vec![4, 0, 0, 4]));
        assert_eq!(bytes(&reading, Quantity::RcvBytes, None), (vec![80, 0, 0, 0], vec![0, 4, 4, 0]));
        assert_eq!(reading.column(Quantity::XmitPackets, None).unwrap().values[2], 5);
    }

    #[test]
    fn wide_counters_win_over_narrow_ones_of_the_same_port() {
        let text = "# Port counters: Lid 3 port 1 (CapMask: 0x1300)\nPortXmitData:...4294967295\nPortXmitWait:..9\n\
                    # Port extended counters: Lid 3 port 1 (CapMask: 0x1300)\nPortXmitData:...5000000000\n\
                    # Port counters: Lid 3 port 2\nXmtData:....4294967295\n";
        let (reading, _) = read(text).unwrap();
        let (values, quality) = bytes(&reading, Quantity::XmitBytes, None);
        assert_eq!(values, [0, 0, 20_000_000_000, 17_179_869_180]);
        assert_eq!(quality[2..], [Quality::GOOD.bits(), Quality::SATURATED.bits()]);
        assert_eq!(reading.column(Quantity::WaitTicks, None).unwrap().values[2], 9);
    }

    #[test]
    fn a_switch_that_does_not_count_by_lane_is_told_from_one_that_was_not_read() {
        let text = "# Port extended counters: Lid 3 port 1\nPortRcvData:..8\n# Port extended counters: Lid 1 port 1\n\
                    PortRcvData:..8\n# PortVLOpData counters: Lid 3 port 1\nPortVLOpData0:..3\nPortVLOpData1:..5\n";
        let (reading, _) = read(text).unwrap();
        // The host's port (link 2 comes in there) has no lanes, port 2 of the switch was not asked.
        assert_eq!(bytes(&reading, Quantity::RcvBytes, Some(1)), (vec![20, 0, 0, 0], vec![0, 4, 32, 4]));
    }

    #[test]
    fn what_is_not_of_the_fabric_is_told() {
        let text = "# Port counters: Lid 3 port 1\nPortXmitData:..1\n# Port counters: Lid 77 port 1\nPortXmitData:..1\n\
                    # Port counters: DR path slid 0; dlid 0; 0,1 port 1\nPortXmitData:..1\n# Port counters: Lid 3 port 0\nPortXmitData:..1\n";
        let (_, findings) = read(text).unwrap();
        assert_eq!(
            findings,
            [
                "1: a port with 1 counters of data and packets: expected 4",
                "5: a port by its directed route, left out: only LIDs name a port of the fabric",
                "3: 1 of other fabrics, left out: Lid 77"
            ]
        );
        let alone = read("# Port counters: Lid 77 port 1\nPortXmitData:..1\n").unwrap_err();
        assert!(alone.starts_with("p.txt:1: Lid 77 is not of this fabric"), "{alone}");
    }

    #[test]
    fn a_file_that_is_cut_short_is_told() {
        let (_, findings) =
            read("# Port counters: Lid 3 port 1\nPortXmitData:...1\nPortRcvData:...2").unwrap();
        assert_eq!(
            findings,
            [
                "1: a port with 2 counters of data and packets: expected 4",
                "3: the last line has no end: the file may be cut short"
            ]
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let block = |line: &str| read(&format!("# Port counters: Lid 3 port 1\n{line}\n")).unwrap_err();
        assert_eq!(
            block("PortXmitData:...x"),
            "p.txt:2: expected PortXmitData as a number below 2^64, found \"x\""
        );
        assert_eq!(
            block("PortXmitData:...-4"),
            "p.txt:2: expected PortXmitData as a number below 2^64, found \"-4\""
        );
        assert_eq!(
            block("PortXmitData"),
            "p.txt:2: expected a counter (PortXmitData:....5), found \"PortXmitData\""
        );
        assert_eq!(
            block("PortXmitData:.1\n# Port counters: Lid 3 port 1\nPortXmitData:.1"),
            "p.txt:4: xmit_bytes of s[1] is in line 2 already: expected one reading a file"
        );
        let sum = read("# Port counters: Lid 3 port 255\n").unwrap_err();
        assert!(sum.contains("perfquery -l instead of -a"), "{sum}");
        let end = read("# Port counters: Lid 3 port 1\n").unwrap_err();
        assert_eq!(end, "p.txt: expected counters of data and packets of a port with a cable, found none");
        assert!(
            read("# Port counters: Lid x\n")
                .unwrap_err()
                .contains("expected \"Lid 35 port 5\", found \"Lid x\"")
        );
    }
}
