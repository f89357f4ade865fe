//! `perfquery`: plain counters (32 bits), `-x` (64 bits), and those by virtual lane (`--vlopdata`, `--vloppackets`,
//! `--vlxmitcounters`), in any number of blocks:
//!
//! ```text
//! # Port extended counters: Lid 35 port 5 (CapMask: 0x1300 CapMask2: 0x0000000)
//! PortSelect:......................5
//! PortXmitData:....................23472
//! ```
//!
//! Error counters that are no numbers, or below 0, are told and left out. What other options print (discards, service levels) is passed over, as are the tools' complaints. Data is in units of four
//! octets. A block that ends early, or a line, is an error wherever it was cut: a number may have lost its last digits. Where the last
//! line has no end, that can be told only if no further digit could follow (after a 0, or in a number as large as the counter), or does not
//! matter, since the number is not used (as the last one of `-x`). How a block ends,
//! others of its form say, and where it begins as the tool begins it, the tool. Old releases write `XmtData` for `PortXmitData`; names of 32 characters and more come without dots or garbled.

use std::collections::HashMap;

use netloom_model::{Fabric, LinkId, PortError, Quantity};

use super::fit::Scope;
use super::ports::{Place, Ports};
use super::sheet::{Counter, Sheet, error_count};
use super::{CountersFile, is_complaint};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::{Cursor, text};

/// What results call it.
const KIND: &str = "perfquery";

/// Reads what `perfquery` printed of any ports, once each.
///
/// # Errors
/// [`FormatError`] names the line: a number that is none, a port that is there twice, a sum over all ports, no port of this fabric,
/// a block that was cut.
pub fn read_perfquery(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether a block begins here.
pub(super) fn begins(line: &str) -> bool {
    header(line).is_some()
}

/// What stands above a block.
struct Header<'a> {
    kind: &'a str,
    /// Whether these are a port's own counters, not those of its lanes, errors or service levels.
    of_port: bool,
    node: &'a str,
}

/// Which port a block is of.
struct Port {
    lid: u32,
    number: u32,
    place: Place,
    /// If the fabric has it.
    link: Option<LinkId>,
}

/// A port's counters so far.
struct Block<'a> {
    line: usize,
    /// `None`: nobody can tell.
    port: Option<Port>,
    of_port: bool,
    bits: u8,
    /// How many counters of data and packets there were.
    counters: usize,
    /// What kind of counters, and what the port can count: blocks that agree in both have the same lines.
    form: (&'a str, &'a str),
    /// The names of all lines.
    names: Vec<&'a str>,
    /// The last of them.
    end: usize,
}

impl<'a> Block<'a> {
    fn new(header: &Header<'a>, port: Option<Port>, line: usize) -> Self {
        let bits = if header.kind == "Port extended" { 64 } else { 32 };
        let form = (header.kind, header.node.split_once('(').map_or("", |(_, can)| can));
        Self { line, port, of_port: header.of_port, bits, counters: 0, form, names: Vec::new(), end: line }
    }

    /// What the block ends before, if it was cut; `longest` are the names in another block of its form.
    fn lacks(&self, longest: &[&'a str]) -> Option<&'a str> {
        if let Some(next) = longest.get(self.names.len()).filter(|_| longest.starts_with(&self.names)) {
            return Some(next);
        }
        // As the tool begins it: not what somebody picked.
        let whole = self.names.first().is_none_or(|name| *name == "PortSelect");
        let last = match self.form.0 {
            "Port extended" => "PortMulticastRcvPkts",
            // Old releases know no such counter.
            "Port" if !self.names.contains(&"XmtPkts") => "PortXmitWait",
            "PortVLOpData" => "PortVLOpData15",
            "PortVLOpPackets" => "PortVLOpPackets15",
            _ => return self.names.is_empty().then_some("its counters"),
        };
        (whole && !self.names.contains(&last)).then_some(last)
    }
}

/// Refuses a file with a block that was cut; tells ports of which fewer than the four counters of data and packets are there.
fn close(blocks: &[Block], sheet: &mut Sheet, label: &str) -> Result<(), FormatError> {
    let mut longest: HashMap<(&str, &str), &[&str]> = HashMap::new();
    for block in blocks {
        let names = longest.entry(block.form).or_default();
        if block.names.len() > names.len() {
            *names = &block.names;
        }
    }
    for block in blocks {
        if let Some(next) = block.lacks(longest[&block.form]) {
            let message = format!(
                "the block of line {} ends before {next}: expected all of it, is the file cut short?",
                block.line
            );
            return Err(FormatError::at(label, block.end, message));
        }
        let of_link = block.port.as_ref().is_some_and(|port| port.link.is_some());
        if block.of_port && of_link && block.counters < 4 {
            let text = format!("a port with {} counters of data and packets: expected 4", block.counters);
            sheet.note(block.line, text);
        }
    }
    Ok(())
}

/// `# Port extended counters: Lid 35 port 5 (…)`
fn header(line: &str) -> Option<Header<'_>> {
    let (kind, node) = line.trim_start().strip_prefix('#')?.trim_start().split_once(" counters: ")?;
    let of_port = matches!(kind, "Port" | "Port extended");
    kind.starts_with("Port").then_some(Header { kind, of_port, node })
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let ports = Ports::of(fabric);
    let mut sheet = Sheet::default();
    let mut blocks: Vec<Block> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let at_line = |message: String| FormatError::at(label, number, message);
        if let Some(header) = header(line) {
            let port = port(header.node, &ports, &mut sheet, number).map_err(at_line)?;
            blocks.push(Block::new(&header, port, number));
            continue;
        }
        let line = line.trim();
        // Nothing before the first block.
        let Some(block) = blocks.last_mut() else { continue };
        if line.is_empty() || line.starts_with('#') || is_complaint(line) {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(at_line(format!(
                "expected a counter (PortXmitData:....5), found \"{}\"",
                excerpt(line)
            )));
        };
        if line.contains("# Port") {
            return Err(at_line(format!(
                "expected a line of its own for every block, found \"{}\"",
                excerpt(line)
            )));
        }
        block.names.push(name);
        block.end = number;
        let value = value.trim_start_matches('.').trim();
        if block.of_port
            && let Some(error) = PortError::find(name)
            && let Some(link) = block.port.as_ref().and_then(|port| port.link)
        {
            sheet.add_error(link, error, error_count(value));
        }
        let (Some(counter), Some(port)) = (Counter::of_tool(name, block.bits), &block.port) else { continue };
        let raw = value.parse::<u64>().map_err(|_| {
            at_line(format!("expected {name} as a number below 2^64, found \"{}\"", excerpt(value)))
        })?;
        let of_data = counter.quantity != Quantity::WaitTicks;
        match port.link {
            Some(link) => sheet.add(link, counter, counter.value(raw), number),
            None if of_data && raw > 0 => sheet.fit.see(port.place, || port.name(), true, block.line),
            None => {}
        }
        block.counters += usize::from(of_data);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let bits = blocks.last().map_or(64, |block| block.bits);
        if !text.lines().last().is_some_and(|line| is_whole(line, bits)) {
            let message = "expected an end of the last line, found none: is the file cut short? \
                           (what follows its number cannot be told; if it is whole, end the line)";
            return Err(FormatError::at(label, text.lines().count(), message));
        }
    }
    close(&blocks, &mut sheet, label)?;
    let (reading, notes) = sheet.into_reading(fabric, None, label, Scope::All)?;
    Ok(CountersFile::reading(KIND, reading, notes))
}

/// Whether nothing can be lost of a line without an end.
fn is_whole(line: &str, bits: u8) -> bool {
    let Some((name, value)) = line.split_once(':').filter(|_| !line.starts_with('#')) else {
        return line.trim().is_empty();
    };
    let digits = value.trim_start_matches('.');
    let Ok(raw) = digits.trim().parse::<u64>() else { return false };
    let Some(counter) = Counter::of_tool(name.trim(), bits) else { return true };
    let largest = u64::MAX >> (64 - counter.bits);
    digits.ends_with(' ') || raw == 0 || raw.checked_mul(10).is_none_or(|more| more > largest)
}

impl Port {
    fn name(&self) -> (String, u32) {
        (format!("Lid {}", self.lid), self.number)
    }
}

/// `Lid 35 port 5 (…)`; none if only the tool knows which port that is.
fn port(node: &str, ports: &Ports, sheet: &mut Sheet, line: usize) -> Result<Option<Port>, String> {
    let mut cursor = Cursor::new(node.trim_start());
    let by_lid = cursor.eat("Lid ") || cursor.eat("lid ");
    let lid = cursor.number().filter(|_| by_lid);
    let number = cursor.blanks().eat("port ").then(|| cursor.number()).flatten();
    let (Some(lid), Some(number)) = (lid, number) else {
        if node.trim_start().starts_with("DR path") {
            sheet.note(line, "a port by its directed route, left out: only LIDs name a port of the fabric");
            return Ok(None);
        }
        return Err(format!("expected \"Lid 35 port 5\", found \"{}\"", excerpt(node)));
    };
    if number == 255 {
        return Err(
            "port 255 is the sum over all ports: expected a port each (perfquery -l instead of -a)".into()
        );
    }
    if !ports.have_lids() {
        return Err(format!("Lid {lid}: the fabric has no LIDs: expected one read from ibnetdiscover"));
    }
    let mut port = Port { lid, number, place: ports.by_lid(lid, number), link: None };
    port.link = sheet.port(port.place, || port.name(), false, line);
    Ok(Some(port))
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
        let line = |f: &crate::Finding| f.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let notes = file.notes.iter().map(|f| format!("{}{}", line(f), f.text));
        Ok((readings.pop().unwrap(), notes.collect()))
    }

    fn bytes(reading: &Reading, quantity: Quantity, lane: Option<u8>) -> (Vec<u64>, Vec<u8>) {
        let column = reading.column(quantity, lane).unwrap();
        (column.values.clone(), column.quality.iter().map(|q| q.bits()).collect())
    }

    #[test]
    fn words_become_octets_and_what_is_received_goes_to_the_link_that_comes_in() {
        let text = "ibwarn: [1] mad_rpc: failed\n# Port extended counters: Lid 3 port 1 (CapMask: 0x1300)\n\
                    PortXmitData:....................10\nPortRcvData:.....................20\nPortXmitPkts:...5\nPortRcvPkts:...6\n\
                    # Port extended counters: Lid 2 port 1\nPortXmitData:.7\n\
                    PortRcvData:.0\nPortXmitPkts:.1\nPortRcvPkts:.0\n";
        let (reading, notes) = read(text).unwrap();
        assert_eq!(notes, [] as [String; 0]);
        assert_eq!(bytes(&reading, Quantity::XmitBytes, None), (vec![0, 28, 40, 0], vec![4, 0, 0, 4]));
        assert_eq!(bytes(&reading, Quantity::RcvBytes, None), (vec![80, 0, 0, 0], vec![0, 4, 4, 0]));
        assert_eq!(reading.column(Quantity::XmitPackets, None).unwrap().values[2], 5);
    }

    #[test]
    fn errors_are_counted_beside_data_by_old_names_too() {
        let text = "# Port counters: Lid 3 port 1 (CapMask: 0x1300)\nSymbolErrorCounter:.3\nPortXmitData:...4\nPortXmitWait:..9\n\
                    # Port counters: Lid 3 port 2\nXmtDiscards:....8\nLinkRecovers:..x\nXmtPkts:..1\n";
        let (reading, _) = read(text).unwrap();
        assert_eq!(reading.errors(PortError::SymbolErrors), [(LinkId(2), 3)]);
        assert_eq!(reading.errors(PortError::TransmitDiscards), [(LinkId(3), 8)]);
        assert_eq!(reading.errors(PortError::LinkRecoveries), []);
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
    fn a_counter_of_errors_that_is_no_count_is_told() {
        let text = whole(3, 1)
            .replace("PortXmitData", "SymbolErrorCounter:.-40\nLinkDownedCounter:.x\nPortXmitData")
            + &whole(3, 2)
                .replace("PortXmitData", "SymbolErrorCounter:.-1\nLinkDownedCounter:.7\nPortXmitData");
        let (reading, notes) = read(&text).unwrap();
        assert_eq!(reading.errors(PortError::SymbolErrors), []);
        assert_eq!(reading.errors(PortError::LinkDowned), [(LinkId(3), 7)]);
        assert_eq!(
            notes,
            [
                "SymbolErrorCounter of s[1] is -40: no count is below 0, left out",
                "LinkDownedCounter of s[1] is \"x\": expected a number below 2^64, left out",
                "SymbolErrorCounter of s[2] is -1: no count is below 0, left out",
            ]
        );
    }

    /// All that `perfquery -x` prints of a port.
    fn whole(lid: u32, port: u32) -> String {
        let names = ["PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"];
        let casts =
            ["PortUnicastXmitPkts", "PortUnicastRcvPkts", "PortMulticastXmitPkts", "PortMulticastRcvPkts"];
        let lines = names.iter().chain(&casts).map(|name| format!("{name}:....12\n")).collect::<String>();
        format!(
            "# Port extended counters: Lid {lid} port {port} (CapMask: 0x1300)\nPortSelect:..{port}\nCounterSelect:..0x0000\n{lines}"
        )
    }

    #[test]
    fn what_is_not_of_the_fabric_is_told() {
        let text = "# Port counters: Lid 3 port 1\nPortXmitData:..1\n# Port counters: Lid 77 port 1\nPortXmitData:..1\n\
                    # Port counters: DR path slid 0; dlid 0; 0,1 port 1\nPortXmitData:..1\n# Port counters: Lid 3 port 0\nPortXmitData:..1\n";
        let (_, notes) = read(text).unwrap();
        assert_eq!(
            notes,
            [
                "5: a port by its directed route, left out: only LIDs name a port of the fabric",
                "1: a port with 1 counters of data and packets: expected 4",
                "3: 1 of other fabrics, left out: Lid 77",
                "this looks like another fabric's file: 3 of the fabric's 4 ports were not read"
            ]
        );
        let alone = read("# Port counters: Lid 77 port 1\nPortXmitData:..1\n").unwrap_err();
        assert!(alone.starts_with("p.txt:1: Lid 77 is not of this fabric"), "{alone}");
    }

    #[test]
    fn ports_that_the_fabric_cannot_have_are_named_with_their_lines() {
        let fits: String = [(1, 1), (2, 1), (3, 1), (3, 2)].map(|(lid, port)| whole(lid, port)).concat();
        assert_eq!(read(&fits).unwrap().1, [] as [String; 0]);
        let (_, notes) = read(&(fits.clone() + &whole(3, 77) + &whole(1, 5))).unwrap();
        assert_eq!(
            notes,
            [
                "45: 2 ports that this fabric does not have, left out: Lid 3 port 77 (line 45; s has ports 1 to 4), \
                 Lid 1 port 5 (line 56; h1 is a host)",
                "this looks like another fabric's file: 2 of its 6 ports do not fit"
            ]
        );
        // A port that has counted, but where the fabric has no cable.
        let (_, notes) = read(&(fits + &whole(3, 4))).unwrap();
        assert_eq!(
            notes[0],
            "45: 1 port that counted data, but has no cable in this fabric, left out: Lid 3 port 4 (line 45)"
        );
        assert_eq!(
            read(&whole(3, 77)).unwrap_err(),
            "p.txt:1: Lid 3 port 77 is not of this fabric (s has ports 1 to 4), nor is any other here: \
             expected counters of its ports"
        );
    }

    #[test]
    fn a_part_of_a_fabric_is_told() {
        let (_, notes) = read(&whole(1, 1)).unwrap();
        assert_eq!(
            notes,
            [
                "this looks like another fabric's file, or only a part of this one's: 1 of the fabric's 1 switches were not read"
            ]
        );
        assert_eq!(read(&(whole(3, 1) + &whole(3, 2))).unwrap().1, [] as [String; 0]);
    }

    #[test]
    fn a_block_that_is_cut_is_refused_wherever_it_is_cut() {
        for text in [whole(3, 1), whole(3, 1) + &whole(3, 2)] {
            let block = whole(3, 1).len();
            for end in 1..text.len() {
                let cut = read(&text[..end]);
                match cut {
                    Ok(found) => {
                        // Between the blocks; or in a last number that is of no use, so that nothing that counts is lost.
                        let number = [block, text.len()].iter().any(|&last| end + 2 >= last && end <= last);
                        assert!(number, "{end}");
                        assert_eq!(found, read(&text[..end.div_ceil(block) * block]).unwrap());
                    }
                    Err(message) if end > 40 => {
                        let line = text[..end].lines().count();
                        assert!(
                            message.starts_with(&format!("p.txt:{line}: expected"))
                                || message.starts_with(&format!("p.txt:{line}: the block of line ")),
                            "{end}: {message}"
                        );
                    }
                    Err(_) => {}
                }
            }
            assert!(read(&text).is_ok());
        }
        // The tool may be asked for less, and other ports can count more.
        let picked = "# Port counters: Lid 3 port 1 (a)\nPortXmitData:...1\nPortRcvData:..2\n# Port counters: Lid 3 port 2\nPortXmitData:..1\n";
        assert_eq!(read(picked).unwrap().1.len(), 2);
        let first = read(&(whole(3, 1).replace("PortMulticastRcvPkts:....12\n", "") + &whole(3, 2)));
        assert_eq!(
            first.unwrap_err(),
            "p.txt:10: the block of line 1 ends before PortMulticastRcvPkts: expected all of it, is the file cut short?"
        );
        let joined = read(&(whole(3, 1).trim_end().to_owned() + &whole(3, 2))).unwrap_err();
        assert!(joined.starts_with("p.txt:11: expected a line of its own for every block"), "{joined}");
    }

    /// Editors and `$(…)` take the last line's end away. A number that counts is believed without only where no digit can follow it.
    #[test]
    fn a_last_line_without_an_end_is_read_where_nothing_can_be_lost_of_it() {
        let extended = whole(3, 1) + &whole(3, 2);
        assert_eq!(read(extended.trim_end()).unwrap(), read(&extended).unwrap());
        let plain = |wait: &str| {
            let names = ["PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"];
            let lines = names.map(|name| format!("{name}:....12\n")).concat();
            format!(
                "# Port counters: Lid 3 port 1 (CapMask: 0x1300)\nPortSelect:..1\n{lines}PortXmitWait:....{wait}"
            )
        };
        for wait in ["0", "4294967295", "429496730", "12 "] {
            assert_eq!(read(&plain(wait)).unwrap(), read(&(plain(wait) + "\n")).unwrap(), "{wait}");
        }
        for wait in ["", "7", "12", "429496729", "x"] {
            let message = read(&plain(wait)).unwrap_err();
            assert!(message.starts_with("p.txt:7: expected "), "{wait}: {message}");
        }
        // The block is complete, but another one, or a line that is none, has begun.
        for more in ["#", "# Port extended counters: Lid 3", "PortX"] {
            assert!(read(&(extended.clone() + more)).is_err(), "{more}");
        }
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
        assert_eq!(
            end,
            "p.txt:1: the block of line 1 ends before PortXmitWait: expected all of it, is the file cut short?"
        );
        assert!(
            read("# Port counters: Lid x\n")
                .unwrap_err()
                .contains("expected \"Lid 35 port 5\", found \"Lid x\"")
        );
    }
}
