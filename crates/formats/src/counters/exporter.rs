//! Which counter a Prometheus exporter means, in which unit, and of which port.
//!
//! Each of the three common exporters is known by the names of its metrics, and each has units of its own: treydock's
//! `infiniband_exporter` and Prometheus' `node_exporter` export data in octets, guilbaults' `infiniband-exporter` in units of four octets,
//! as it is counted. A file holds the samples of one exporter.
//!
//! Samples are put together as readings: of samples by rising time, one that is there already begins the next reading.

use std::collections::{BTreeMap, HashSet};

use netloom_model::{Fabric, LinkId, PortError, Quality, Quantity};

use super::fit::{CLAIMED, Scope};
use super::ports::{Place, Ports};
use super::sheet::{Counter, OCTETS, Sheet};
use super::{CountersContent, CountersFile};
use crate::FormatError;
use crate::error::excerpt;

/// Whose metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exporter {
    Treydock,
    Guilbaults,
    Node,
}

impl Exporter {
    /// What results call it.
    fn name(self) -> &'static str {
        match self {
            Self::Treydock => "treydock/infiniband_exporter",
            Self::Guilbaults => "guilbaults/infiniband-exporter",
            Self::Node => "node_exporter",
        }
    }
}

/// A counter of a port as an exporter tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metric {
    pub exporter: Exporter,
    pub shown: Shown,
}

/// Which of a port's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Count(Quantity),
    Error(PortError),
}

/// The counter that a metric's name stands for; none for all others.
pub(crate) fn metric(name: &str) -> Option<Metric> {
    use Quantity::{RcvBytes, RcvPackets, WaitTicks, XmitBytes, XmitPackets};
    let error = |name: &str| Some(Shown::Error(PortError::find(name.strip_suffix("_total")?)?));
    if let Some(rest) = name.strip_prefix("node_infiniband_")
        && let Some(shown) = error(rest)
    {
        return Some(Metric { exporter: Exporter::Node, shown });
    }
    let (exporter, shown) = if let Some(rest) = name.strip_prefix("node_infiniband_port_") {
        let quantity = match rest {
            "data_transmitted_bytes_total" => XmitBytes,
            "data_received_bytes_total" => RcvBytes,
            "packets_transmitted_total" => XmitPackets,
            "packets_received_total" => RcvPackets,
            "transmit_wait_total" => WaitTicks,
            _ => return None,
        };
        (Exporter::Node, Shown::Count(quantity))
    } else {
        let rest = name.strip_prefix("infiniband_")?;
        let treydock = rest.strip_prefix("switch_port_").or_else(|| rest.strip_prefix("hca_port_"));
        let exporter = if treydock.is_some() { Exporter::Treydock } else { Exporter::Guilbaults };
        if let Some(shown) = error(treydock.unwrap_or(rest)) {
            return Some(Metric { exporter, shown });
        }
        let quantity = match (treydock, rest) {
            (Some("transmit_data_bytes_total"), _) | (None, "portxmitdata_total") => XmitBytes,
            (Some("receive_data_bytes_total"), _) | (None, "portrcvdata_total") => RcvBytes,
            (Some("transmit_packets_total"), _) | (None, "portxmitpkts_total") => XmitPackets,
            (Some("receive_packets_total"), _) | (None, "portrcvpkts_total") => RcvPackets,
            (Some("transmit_wait_total"), _) | (None, "portxmitwait_total") => WaitTicks,
            _ => return None,
        };
        (exporter, Shown::Count(quantity))
    };
    Some(Metric { exporter, shown })
}

struct Sample {
    time_ns: Option<u64>,
    port: LinkId,
    value: Value,
    line: usize,
}

enum Value {
    Count(Counter, (u64, Quality)),
    Error(PortError, u64),
}

/// The samples of a file.
pub(crate) struct Samples<'a> {
    fabric: &'a Fabric,
    ports: Ports<'a>,
    exporter: Option<Exporter>,
    samples: Vec<Sample>,
    /// The devices that have a port by name, each with its first line: names may be less than GUIDs.
    claims: BTreeMap<LinkId, BTreeMap<(String, u32), usize>>,
    /// For what belongs to no reading: ports of other fabrics.
    sheet: Sheet,
}

impl<'a> Samples<'a> {
    pub fn of(fabric: &'a Fabric) -> Self {
        let (ports, sheet) = (Ports::of(fabric), Sheet::default());
        Self { fabric, ports, exporter: None, samples: Vec::new(), claims: BTreeMap::new(), sheet }
    }

    /// Adds a sample; `label` gives the metric's labels.
    pub fn add<'l>(
        &mut self,
        metric: Metric,
        label: impl Fn(&str) -> Option<&'l str>,
        value: &str,
        time_ns: Option<u64>,
        line: usize,
    ) -> Result<(), String> {
        let quantity = match metric.shown {
            Shown::Count(quantity) => quantity,
            Shown::Error(error) => {
                // Told beside the traffic: none is reason to refuse it.
                let ours = self.exporter.is_none_or(|first| first == metric.exporter);
                let place = place(&self.ports, metric.exporter, label).ok().filter(|_| ours);
                if let (Some((Place::Port(port), _)), Ok(Some(count))) = (place, number(value)) {
                    self.samples.push(Sample { time_ns, port, value: Value::Error(error, count), line });
                }
                return Ok(());
            }
        };
        let first = *self.exporter.get_or_insert(metric.exporter);
        if first != metric.exporter {
            let (first, other) = (first.name(), metric.exporter.name());
            return Err(format!(
                "samples of {first} and of {other} in one file, whose units differ: expected one exporter's"
            ));
        }
        let (place, name) = place(&self.ports, metric.exporter, label)?;
        let Place::Port(port) = place else {
            // Another fabric's counters may be anything.
            let counted = quantity != Quantity::WaitTicks && matches!(number(value), Ok(Some(1..)));
            self.sheet.fit.see(place, || name, counted, line);
            return Ok(());
        };
        let Some(value) = number(value)? else { return Ok(()) };
        if metric.exporter == Exporter::Node {
            self.claims.entry(port).or_default().entry(name).or_insert(line);
        }
        let counter = Counter { quantity, lane: None, bits: 64 };
        let in_octets = metric.exporter != Exporter::Guilbaults
            && matches!(quantity, Quantity::XmitBytes | Quantity::RcvBytes);
        let value = match in_octets {
            true if value % OCTETS == 0 => counter.value(value / OCTETS),
            true => (value, Quality::GOOD),
            false => counter.value(value),
        };
        self.samples.push(Sample { time_ns, port, value: Value::Count(counter, value), line });
        Ok(())
    }

    /// Readings by rising time.
    pub fn into_file(mut self, label: &str) -> Result<CountersFile, FormatError> {
        for (port, devices) in &self.claims {
            if devices.len() > 1 {
                self.samples.retain(|sample| sample.port != *port);
                for (name, &line) in devices {
                    self.sheet.fit.leave_out(CLAIMED, name.clone(), line);
                }
            }
        }
        self.samples.sort_by_key(|s| s.time_ns);
        let mut sheets: Vec<(Option<u64>, Sheet)> = vec![(None, self.sheet)];
        let mut there = HashSet::new();
        for sample in &self.samples {
            let (counter, value) = match sample.value {
                Value::Count(counter, value) => (counter, value),
                Value::Error(error, value) => {
                    let (_, sheet) = sheets.last_mut().expect("there is a first");
                    sheet.add_error(sample.port, error, Ok(value));
                    continue;
                }
            };
            // Without times nothing tells one reading from the next: the sheet then says what is there twice.
            if !there.insert((sample.port, counter.quantity)) && sample.time_ns.is_some() {
                sheets.push((None, Sheet::default()));
                there = HashSet::from([(sample.port, counter.quantity)]);
            }
            let (time_ns, sheet) = sheets.last_mut().expect("there is a first");
            *time_ns = (*time_ns).or(sample.time_ns);
            sheet.add(sample.port, counter, value, sample.line);
        }
        let scope = if self.exporter == Some(Exporter::Node) { Scope::Hosts } else { Scope::All };
        let (mut readings, mut notes) = (Vec::new(), None);
        for (time_ns, sheet) in sheets {
            let (reading, found) = sheet.into_reading(self.fabric, time_ns, label, scope)?;
            readings.push(reading);
            // The first has what is of no reading, and the others leave out what it does.
            notes.get_or_insert(found);
        }
        let notes = notes.unwrap_or_default();
        let kind = self.exporter.map_or("exporter", Exporter::name);
        Ok(CountersFile {
            kind,
            content: CountersContent::Readings(readings),
            reading: None,
            counted: None,
            notes,
        })
    }
}

/// The port that labels name, and what to call it.
fn place<'l>(
    ports: &Ports,
    exporter: Exporter,
    label: impl Fn(&str) -> Option<&'l str>,
) -> Result<(Place, (String, u32)), String> {
    let need = |name: &str| {
        label(name).filter(|v| !v.is_empty()).ok_or_else(|| format!("expected a label {name}, found none"))
    };
    let number = |text: &str| {
        text.parse::<u32>().map_err(|_| format!("expected a port's number, found \"{}\"", excerpt(text)))
    };
    if exporter == Exporter::Node {
        let (device, port) = (need("device")?, number(need("port")?)?);
        let machine = need("instance").or_else(|_| need("nodename")).map_err(|_| {
            "expected a label instance or nodename, found none: which machine is it?".to_owned()
        })?;
        return Ok((ports.by_machine(machine, device, port), (format!("{machine} {device}"), port)));
    }
    let [guid, port] =
        if exporter == Exporter::Treydock { ["guid", "port"] } else { ["local_guid", "local_port"] };
    let (text, port) = (need(guid)?, number(need(port)?)?);
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let guid = crate::text::parse_hex(digits)
        .ok_or_else(|| format!("expected a GUID, found \"{}\"", excerpt(text)))?;
    Ok((ports.by_guid(guid, port), (format!("GUID 0x{guid:x}"), port)))
}

/// A sample's value; none for one that is not a number, as exporters write for what they could not read.
fn number(text: &str) -> Result<Option<u64>, String> {
    if let Ok(value) = text.parse() {
        return Ok(Some(value));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_nan() => Ok(None),
        _ if text.is_empty() => Ok(None),
        // Above 2^53 a float is no longer exact; far above, no counter is.
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < 1.9e19 => Ok(Some(value as u64)),
        _ => Err(format!("expected a count as a whole number from 0, found \"{}\"", excerpt(text))),
    }
}

/// Seconds since an epoch, or milliseconds: whichever gives a time between 1973 and 5138.
pub(crate) fn time_ns(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e11).contains(&seconds) => Ok(Some((seconds * 1e9) as u64)),
        Ok(millis) if (1e11..1e14).contains(&millis) => Ok(Some((millis * 1e6) as u64)),
        _ => {
            Err(format!("expected a time as seconds or milliseconds since 1970, found \"{}\"", excerpt(text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exporters_are_known_by_their_names() {
        let of = |name: &str| metric(name).map(|m| (m.exporter, m.shown));
        assert_eq!(
            of("infiniband_switch_port_transmit_data_bytes_total"),
            Some((Exporter::Treydock, Shown::Count(Quantity::XmitBytes)))
        );
        assert_eq!(
            of("infiniband_hca_port_receive_packets_total"),
            Some((Exporter::Treydock, Shown::Count(Quantity::RcvPackets)))
        );
        assert_eq!(
            of("infiniband_portrcvdata_total"),
            Some((Exporter::Guilbaults, Shown::Count(Quantity::RcvBytes)))
        );
        assert_eq!(
            of("node_infiniband_port_transmit_wait_total"),
            Some((Exporter::Node, Shown::Count(Quantity::WaitTicks)))
        );
        let symbols = Some(Shown::Error(PortError::SymbolErrors));
        for name in [
            "infiniband_switch_port_symbol_error_total",
            "infiniband_symbolerrorcounter_total",
            "node_infiniband_symbol_error_total",
        ] {
            assert_eq!(metric(name).map(|m| m.shown), symbols, "{name}");
        }
        for other in ["infiniband_switch_port_portxmitdata_total", "up", "node_infiniband_info"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn values_and_times_are_what_prometheus_writes() {
        assert_eq!(number("1.5e+10"), Ok(Some(15_000_000_000)));
        assert_eq!((number("NaN"), number("")), (Ok(None), Ok(None)));
        for bad in ["-1", "+Inf", "0.5", "x", "1e20"] {
            assert!(number(bad).is_err(), "{bad}");
        }
        assert_eq!(time_ns("1700000000.5"), Ok(Some(1_700_000_000_500_000_000)));
        assert_eq!(time_ns("1700000000500"), Ok(Some(1_700_000_000_500_000_000)));
        assert!(time_ns("yesterday").is_err() && time_ns("1e300").is_err() && time_ns("-1").is_err());
    }
}
