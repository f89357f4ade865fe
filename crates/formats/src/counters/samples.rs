//! An exporter's samples as CSV, as they are exported from Prometheus and Grafana or written by scripts: a row a sample,
//!
//! ```text
//! time,name,guid,port,value
//! 1700000000,infiniband_switch_port_transmit_data_bytes_total,0xabc,1,3.6e+13
//! ```
//!
//! or a row a port, with a column a metric. Labels are columns; the metric's name is in `name`, `__name__` or `metric`, the time
//! (seconds or milliseconds since 1970) in `time` or `timestamp`.

use netloom_model::Fabric;

use super::CountersFile;
use super::exporter::{Metric, Samples, metric, time_ns};
use crate::FormatError;
use crate::csv::split;
use crate::error::excerpt;
use crate::text::text;

/// Reads an exporter's samples.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, a label that is missing, a value that is no count, no port of this fabric.
pub fn read_samples(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether this is the header of such a file.
pub(super) fn begins(line: &str) -> bool {
    split(line).is_some_and(|fields| Header::find(&fields).is_some())
}

struct Header {
    names: Vec<String>,
    time: Option<usize>,
    form: Form,
}

enum Form {
    /// Columns of the metric's name and of the value.
    Long { name: usize, value: usize },
    /// A column a metric.
    Wide(Vec<(usize, Metric)>),
}

impl Header {
    fn find(fields: &[String]) -> Option<Self> {
        let names: Vec<String> = fields.iter().map(|f| f.trim().to_ascii_lowercase()).collect();
        let at = |wanted: &[&str]| names.iter().position(|n| wanted.contains(&n.as_str()));
        let wide: Vec<(usize, Metric)> =
            names.iter().enumerate().filter_map(|(at, name)| Some((at, metric(name)?))).collect();
        let form = if wide.is_empty() {
            let (name, value) = (at(&["__name__", "name", "metric"])?, at(&["value"])?);
            Form::Long { name, value }
        } else {
            Form::Wide(wide)
        };
        let time = at(&["time", "timestamp"]);
        Some(Self { names, time, form })
    }
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let mut samples = Samples::of(fabric);
    let mut header: Option<Header> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |message: String| FormatError::at(label, number, message);
        let fields = split(line).ok_or_else(|| at_line("expected a closing quote".into()))?;
        let Some(header) = &header else {
            header = Some(Header::find(&fields).ok_or_else(|| {
                at_line(format!(
                    "expected a header with name and value, or with metrics, found \"{}\"",
                    excerpt(line)
                ))
            })?);
            continue;
        };
        if fields.len() != header.names.len() {
            return Err(at_line(format!("expected {} fields, found {}", header.names.len(), fields.len())));
        }
        let time = header.time.map_or(Ok(None), |at| time_ns(&fields[at])).map_err(at_line)?;
        let find = |name: &str| header.names.iter().position(|n| n == name).map(|at| fields[at].as_str());
        match &header.form {
            Form::Long { name, value } => {
                let Some(metric) = metric(&fields[*name]) else { continue };
                samples.add(metric, find, &fields[*value], time, number).map_err(at_line)?;
            }
            Form::Wide(columns) => {
                for &(at, metric) in columns {
                    samples.add(metric, find, &fields[at], time, number).map_err(at_line)?;
                }
            }
        }
    }
    samples.into_file(label)
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Quantity, Reading, SwitchSpec};

    use super::super::CountersContent;
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

    fn read(text: &str) -> Result<Vec<Reading>, String> {
        let file = read_samples(text.as_bytes(), "s.csv", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Readings(readings) = file.content else { panic!("readings") };
        Ok(readings)
    }

    #[test]
    fn a_row_a_sample_and_a_row_a_port_say_the_same() {
        let long = "time,__name__,guid,port,value\n5,infiniband_switch_port_transmit_data_bytes_total,0xabc,1,40\n\
                    5,infiniband_switch_port_receive_packets_total,0xabc,1,3\n5,up,,,1\n";
        let wide = "guid,port,timestamp,infiniband_switch_port_transmit_data_bytes_total,\
                    infiniband_switch_port_receive_packets_total\n\"0xabc\",1,5,40,3\n\"0xabc\",2,5,,\n";
        let readings = read(long).unwrap();
        assert_eq!(readings, read(wide).unwrap());
        assert_eq!(readings[0].time_ns(), Some(5_000_000_000));
        assert_eq!(readings[0].column(Quantity::XmitBytes, None).unwrap().values, [0, 0, 40, 0]);
        // What the switch receives at port 1 comes over the first host's link.
        assert_eq!(readings[0].column(Quantity::RcvPackets, None).unwrap().values, [3, 0, 0, 0]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let bad = |row: &str| read(&format!("time,name,guid,port,value\n{row}\n")).unwrap_err();
        let name = "infiniband_switch_port_transmit_data_bytes_total";
        assert_eq!(
            bad(&format!("x,{name},0xabc,1,1")),
            "s.csv:2: expected a time as seconds or milliseconds since 1970, found \"x\""
        );
        assert_eq!(bad(&format!("1,{name},0xabc,1")), "s.csv:2: expected 5 fields, found 4");
        assert_eq!(bad(&format!("1,{name},,1,1")), "s.csv:2: expected a label guid, found none");
        assert_eq!(bad(&format!("1,{name},0xabc,x,1")), "s.csv:2: expected a port's number, found \"x\"");
        assert_eq!(
            bad("1,up,,,1"),
            "s.csv: expected counters of data and packets of a port with a cable, found none"
        );
        assert!(
            read("a,b\n1,2\n").unwrap_err().starts_with("s.csv:1: expected a header with name and value")
        );
    }
}
