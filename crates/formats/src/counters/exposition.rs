//! Prometheus' text format, as an exporter answers a scrape:
//!
//! ```text
//! # HELP infiniband_switch_port_transmit_data_bytes_total Infiniband switch port PortXmitData
//! infiniband_switch_port_transmit_data_bytes_total{guid="0x7cfe9003009ce5b0",port="1"} 3.6298026860928e+13 1700000000000
//! ```
//!
//! A time, in ms, is rare. Metrics of other things are passed over.
//!
//! Source: Prometheus documentation, *Exposition formats*, text-based format 0.0.4.

use netloom_model::Fabric;

use super::CountersFile;
use super::exporter::{Samples, metric};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::{Cursor, text};

/// Reads what an exporter answered.
///
/// # Errors
/// [`FormatError`] names the line: labels that don't end, a value that is no count, no port of this fabric, a counter that is there twice.
pub fn read_exposition(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether this is a sample, or help on a metric.
pub(super) fn begins(line: &str) -> bool {
    if let Some(comment) = line.strip_prefix('#') {
        let mut words = comment.split_ascii_whitespace();
        return matches!(words.next(), Some("HELP" | "TYPE")) && words.next().is_some_and(is_name);
    }
    let name = line.split(['{', ' ']).next().unwrap_or_default();
    name.len() < line.len() && metric(name).is_some()
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'))
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let mut samples = Samples::of(fabric);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |message: String| FormatError::at(label, number, message);
        let mut cursor = Cursor::new(line);
        let name = cursor.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'));
        if name.is_empty() {
            return Err(at_line(format!("expected a metric's name, found \"{}\"", excerpt(line))));
        }
        let labels = labels(&mut cursor).map_err(at_line)?;
        let Some(metric) = metric(name) else { continue };
        let value = cursor.word();
        let time = cursor.word();
        let time_ns = match time {
            "" => None,
            ms => Some(
                ms.parse::<u64>()
                    .ok()
                    .and_then(|ms| ms.checked_mul(1_000_000))
                    .ok_or_else(|| at_line(format!("expected a time in ms, found \"{}\"", excerpt(ms))))?,
            ),
        };
        if value.is_empty() {
            return Err(at_line(format!("expected a value behind {name}, found the end")));
        }
        let find = |name: &str| labels.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
        samples.add(metric, find, value, time_ns, number).map_err(at_line)?;
    }
    samples.into_file(label)
}

/// `{guid="0x1",name="a \"b\""}`, or nothing.
fn labels<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(&'a str, String)>, String> {
    let mut found = Vec::new();
    if !cursor.eat("{") {
        return Ok(found);
    }
    loop {
        if cursor.blanks().eat("}") {
            return Ok(found);
        }
        let key = cursor.run(|b| b.is_ascii_alphanumeric() || b == b'_');
        if key.is_empty() || !cursor.eat("=\"") {
            return Err(format!("expected a label as in port=\"1\", found \"{}\"", excerpt(cursor.rest)));
        }
        let mut value = String::new();
        let mut characters = cursor.rest.char_indices();
        let end = loop {
            match characters.next() {
                Some((at, '"')) => break at,
                Some((_, '\\')) => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, c)) => value.push(c),
                    None => return Err("expected a closing quote".into()),
                },
                Some((_, c)) => value.push(c),
                None => return Err("expected a closing quote".into()),
            }
        };
        cursor.rest = &cursor.rest[end + 1..];
        found.push((key, value));
        if !cursor.blanks().eat(",") && !cursor.rest.starts_with('}') {
            return Err(format!("expected \",\" or \"}}\", found \"{}\"", excerpt(cursor.rest)));
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quality, Quantity, Reading, SwitchSpec};

    use super::super::CountersContent;
    use super::*;

    /// Machine n1 with two rails on ports 1 and 2 of a switch with GUID 0xabc.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 0xabc, 4));
        for i in 1..=2u16 {
            let spec = HostSpec::new(format!("n1 mlx5_{}", i - 1), 16 * u64::from(i));
            let h = b.host(HostSpec { machine: "n1".into(), ..spec });
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(text: &str) -> Result<(&'static str, Vec<Reading>), String> {
        let file = read_exposition(text.as_bytes(), "m.txt", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(readings) = file.content else { panic!("readings") };
        Ok((file.kind, readings))
    }

    fn sent(reading: &Reading) -> (Vec<u64>, Vec<Quality>) {
        let column = reading.column(Quantity::XmitBytes, None).unwrap();
        (column.values.clone(), column.quality.clone())
    }

    #[test]
    fn every_exporter_has_units_of_its_own() {
        let (good, missing) = (Quality::GOOD, Quality::MISSING);
        // treydock: octets, by GUID; an adapter is called by the GUID of its port.
        let text = "# HELP infiniband_switch_port_transmit_data_bytes_total x\n\
                    infiniband_switch_port_transmit_data_bytes_total{guid=\"0xabc\",port=\"2\"} 1.2e+03\n\
                    infiniband_hca_port_transmit_data_bytes_total{guid=\"0x11\",port=\"1\"} 1.717986918e+10\n\
                    infiniband_switch_info{guid=\"0xabc\",switch=\"a \\\"b\\\" {c}\"} 1\nup 1\n";
        let (kind, readings) = read(text).unwrap();
        assert_eq!(kind, "treydock/infiniband_exporter");
        // 2^32 - 1 units of four octets: a narrow counter that is full.
        let full = Quality::SATURATED;
        assert_eq!(
            sent(&readings[0]),
            (vec![17_179_869_180, 0, 0, 1200], vec![full, missing, missing, good])
        );

        // guilbaults: units of four octets.
        let text = "infiniband_portxmitdata_total{component=\"switch\",local_guid=\"0xabc\",local_name=\"s\",local_port=\"2\"} 300\n";
        let (kind, readings) = read(text).unwrap();
        assert_eq!((kind, sent(&readings[0]).0[3]), ("guilbaults/infiniband-exporter", 1200));

        // node_exporter: octets, by machine and device.
        let text = "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_1\",instance=\"n1.example.org:9100\",port=\"1\"} 1201\n";
        let (kind, readings) = read(text).unwrap();
        assert_eq!((kind, sent(&readings[0]).0), ("node_exporter", vec![0, 1201, 0, 0]));
    }

    #[test]
    fn a_counter_that_comes_again_begins_the_next_reading() {
        let sample = |port: u8, value: u64, ms: u64| {
            format!(
                "infiniband_portxmitdata_total{{local_guid=\"0xabc\",local_port=\"{port}\"}} {value} {ms}\n"
            )
        };
        let text = [sample(1, 9, 2000), sample(1, 5, 1000), sample(2, 6, 1001), sample(2, 7, 2001)].concat();
        let (_, readings) = read(&text).unwrap();
        let found: Vec<_> =
            readings.iter().map(|r| (r.time_ns().unwrap(), sent(r).0[2..].to_vec())).collect();
        assert_eq!(found, [(1_000_000_000, vec![20, 24]), (2_000_000_000, vec![36, 28])]);
    }

    #[test]
    fn devices_that_the_fabric_does_not_have_are_left_out_by_their_names() {
        let sample = |instance: &str, device: &str, value: &str| {
            let name = "node_infiniband_port_data_transmitted_bytes_total";
            format!("{name}{{device=\"{device}\",instance=\"{instance}:9100\",port=\"1\"}} {value}\n")
        };
        // n1 has mlx5_0 and mlx5_1 here: mlx5_2 is another fabric's, and so what it says does not matter.
        let text = sample("n1", "mlx5_1", "8") + &sample("n1", "mlx5_2", "-1") + &sample("n1", "mlx5_3", "5");
        let file = read_exposition(text.as_bytes(), "m.txt", &fabric()).unwrap();
        let notes: Vec<_> = file.notes.iter().map(|note| note.text.as_str()).collect();
        assert!(notes.contains(&"2 of other fabrics, left out: n1:9100 mlx5_2, n1:9100 mlx5_3"), "{notes:?}");
        // Two machines of that name: nobody can say whose the port is.
        let text = sample("n1.here", "mlx5_1", "8")
            + &sample("n1.there", "mlx5_1", "9")
            + &sample("n1", "mlx5_0", "4");
        let file = read_exposition(text.as_bytes(), "m.txt", &fabric()).unwrap();
        let told = "2 that claim the port of another adapter here, left out: n1.here:9100 mlx5_1 port 1, n1.there:9100 mlx5_1 port 1";
        assert!(file.notes.iter().any(|note| note.text == told), "{:?}", file.notes);
        let CountersContent::Readings(readings) = file.content else { panic!("readings") };
        assert_eq!(sent(&readings[0]).0, [4, 0, 0, 0]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let bad = |labels: &str, rest: &str| {
            read(&format!("\ninfiniband_portxmitdata_total{labels}{rest}\n")).unwrap_err()
        };
        let port = "{local_guid=\"0xabc\",local_port=\"1\"}";
        assert_eq!(bad(port, " -1"), "m.txt:2: expected a count as a whole number from 0, found \"-1\"");
        assert_eq!(
            bad(port, ""),
            "m.txt:2: expected a value behind infiniband_portxmitdata_total, found the end"
        );
        assert_eq!(bad(port, " 1 x"), "m.txt:2: expected a time in ms, found \"x\"");
        assert_eq!(bad("{local_port=\"1\"}", " 1"), "m.txt:2: expected a label local_guid, found none");
        assert_eq!(bad("{local_port=\"1", " 1"), "m.txt:2: expected a closing quote");
        assert_eq!(bad("{local_port}", " 1"), "m.txt:2: expected a label as in port=\"1\", found \"} 1\"");
        assert!(
            bad("{local_guid=\"0xz\",local_port=\"1\"}", " 1").contains("expected a GUID, found \"0xz\"")
        );
        assert!(
            bad("{local_guid=\"0xdef\",local_port=\"1\"}", " 1").contains("GUID 0xdef is not of this fabric")
        );
        let twice = format!("infiniband_portxmitdata_total{port} 1\n").repeat(2);
        assert!(read(&twice).unwrap_err().contains("m.txt:2: xmit_bytes of s[1] is in line 1 already"));
        let mixed = format!(
            "infiniband_portxmitdata_total{port} 1\ninfiniband_switch_port_transmit_data_bytes_total{{guid=\"0xabc\",port=\"1\"}} 1\n"
        );
        assert!(read(&mixed).unwrap_err().contains("whose units differ: expected one exporter's"));
        let node = "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_1\",port=\"1\"} 1\n";
        assert!(read(node).unwrap_err().contains("which machine is it?"));
    }
}
