//! Values of ports, put together as a reading.
//!
//! Invariants: a counter is there once a port, lane and width; where a port tells one in two widths, the wider counts. A value at its
//! counter's largest is [`Quality::SATURATED`]. Tools that read the wide counter where there is one and the narrow one elsewhere do not
//! say which they have shown: whatever the width, a value of exactly 2^32 - 1 is taken for a full narrow counter.

use netloom_model::{Fabric, LinkId, PortError, Quality, Quantity, Reading};

use super::fit::{Fit, Scope};
use super::ports::Place;
use crate::error::excerpt;
use crate::{Finding, FormatError};

/// Octets in a unit of the data counters.
pub(crate) const OCTETS: u64 = 4;

/// Which counter of a port, and how many bits it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    pub quantity: Quantity,
    pub lane: Option<u8>,
    pub bits: u8,
}

impl Counter {
    /// By the name that `perfquery` and `ibqueryerrors` give it, today or in old releases; `bits` for those of the whole port.
    pub fn of_tool(name: &str, bits: u8) -> Option<Self> {
        let (quantity, lane, bits) = match name {
            "PortXmitData" | "XmtData" => (Quantity::XmitBytes, None, bits),
            "PortRcvData" | "RcvData" => (Quantity::RcvBytes, None, bits),
            "PortXmitPkts" | "XmtPkts" => (Quantity::XmitPackets, None, bits),
            "PortRcvPkts" | "RcvPkts" => (Quantity::RcvPackets, None, bits),
            "PortXmitWait" => (Quantity::WaitTicks, None, bits),
            _ => {
                let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
                let lane = digits.parse().ok().filter(|&lane: &u8| lane < 16)?;
                match &name[..name.len() - digits.len()] {
                    "PortVLOpData" => (Quantity::RcvBytes, Some(lane), 32),
                    "PortVLOpPackets" => (Quantity::RcvPackets, Some(lane), 16),
                    "PortVLXmitWait" => (Quantity::WaitTicks, Some(lane), 16),
                    _ => return None,
                }
            }
        };
        Some(Self { quantity, lane, bits })
    }

    /// What `raw` is in octets, packets or ticks, where data comes in units of four octets.
    pub fn value(self, raw: u64) -> (u64, Quality) {
        let full = raw >= u64::MAX >> (64 - self.bits.min(64)) || raw == u64::from(u32::MAX);
        let unit = if matches!(self.quantity, Quantity::XmitBytes | Quantity::RcvBytes) { OCTETS } else { 1 };
        (raw.saturating_mul(unit), if full { Quality::SATURATED } else { Quality::GOOD })
    }
}

struct Entry {
    port: LinkId,
    counter: Counter,
    value: u64,
    quality: Quality,
    line: usize,
}

/// What was read so far.
#[derive(Default)]
pub(crate) struct Sheet {
    entries: Vec<Entry>,
    /// What names no port of this fabric.
    pub fit: Fit,
    pub notes: Vec<Finding>,
    /// What went wrong at ports.
    errors: Vec<(LinkId, PortError, Result<u64, String>)>,
    /// Counters of that which have 64 bits.
    pub wide_errors: Vec<(LinkId, PortError)>,
}

impl Sheet {
    pub fn add(&mut self, port: LinkId, counter: Counter, (value, quality): (u64, Quality), line: usize) {
        self.entries.push(Entry { port, counter, value, quality, line });
    }

    /// How often something went wrong at a port, as it was read. A text that is no number is told and left out.
    pub fn add_error(&mut self, port: LinkId, error: PortError, count: Result<u64, String>) {
        self.errors.push((port, error, count));
    }

    /// The link of a place; what is not of this fabric is kept for a note, under the tool's name of the node and its port. `counted`:
    /// data has gone over it.
    pub fn port(
        &mut self,
        place: Place,
        name: impl FnOnce() -> (String, u32),
        counted: bool,
        line: usize,
    ) -> Option<LinkId> {
        if let Place::Port(link) = place {
            return Some(link);
        }
        self.fit.see(place, name, counted, line);
        None
    }

    pub fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Finding { kind: "left-out", line: Some(line), text: text.into() });
    }

    /// The reading.
    ///
    /// # Errors
    /// A counter that is there twice; a file of which nothing belongs to the fabric.
    pub fn into_reading(
        mut self,
        fabric: &Fabric,
        time_ns: Option<u64>,
        label: &str,
        scope: Scope,
    ) -> Result<(Reading, Vec<Finding>), FormatError> {
        if self.entries.is_empty() {
            self.fit.refuse(fabric, label)?;
            let mut message =
                "expected counters of data and packets of a port with a cable, found none".to_owned();
            for note in self.fit.unfit() {
                message += &format!("; {}", note.text);
            }
            return Err(FormatError::whole(label, message));
        }
        let mut read = vec![false; fabric.link_count()];
        self.entries.iter().for_each(|e| read[e.port.index()] = true);
        self.notes.extend(self.fit.notes(fabric, &read, scope));
        let place = |c: &Counter| (c.quantity, c.lane);
        // Stable: of equal ones the earlier line comes first.
        self.entries.sort_by_key(|e| (e.port, place(&e.counter), u8::MAX - e.counter.bits));
        let twice = |pair: &&[Entry]| pair[0].port == pair[1].port && pair[0].counter == pair[1].counter;
        if let Some(pair) = self.entries.windows(2).find(twice) {
            let (name, first) = (pair[0].counter.quantity.name(), pair[0].line);
            let lane = pair[0].counter.lane.map(|lane| format!(" of lane {lane}")).unwrap_or_default();
            let from = port_name(fabric, pair[0].port);
            let message =
                format!("{name}{lane} of {from} is in line {first} already: expected one reading a file");
            return Err(FormatError::at(label, pair[1].line, message));
        }
        self.entries
            .dedup_by(|next, kept| next.port == kept.port && place(&next.counter) == place(&kept.counter));
        let mut reading = Reading::new(fabric, time_ns);
        for e in &self.entries {
            reading.set(fabric, e.port, place(&e.counter), e.value, e.quality);
        }
        for (port, error, count) in self.errors {
            let what = match count {
                Ok(value) => match negative(value) {
                    None => {
                        reading.set_error(port, error, value);
                        continue;
                    }
                    Some(below) => {
                        reading.set_impossible_error(port, error, value);
                        format!("{below}: no count is below 0")
                    }
                },
                Err(found) => format!("\"{found}\": expected a number below 2^64"),
            };
            let text = format!("{} of {} is {what}, left out", error.name(), port_name(fabric, port));
            self.notes.push(Finding { kind: "left-out", line: None, text });
        }
        for (port, error) in self.wide_errors {
            reading.set_wide_error(port, error);
        }
        reading.mark_without_lanes();
        Ok((reading, self.notes))
    }
}

/// A counter of errors as a tool prints it; one below 0 as [`negative`] knows it. Else the text.
pub(crate) fn error_count(text: &str) -> Result<u64, String> {
    let below = || text.parse::<i64>().map(i64::cast_unsigned);
    text.parse().or_else(|_| below()).map_err(|_| excerpt(text).to_string())
}

/// What a counter of errors says that has fallen below 0: drivers print it as a number of 64 bits, 2^64 - 40 for -40. No port has
/// counted 2^63 errors.
fn negative(value: u64) -> Option<i64> {
    Some(value.cast_signed()).filter(|&signed| signed < 0)
}

/// `leaf00[5]`
pub(crate) fn port_name(fabric: &Fabric, port: LinkId) -> String {
    format!("{}[{}]", fabric.node_name(fabric.link_from(port)), fabric.link_port(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_below_0_is_no_count() {
        assert_eq!(negative(18_446_744_073_709_551_576), Some(-40));
        assert_eq!(negative(u64::MAX), Some(-1));
        assert_eq!(negative(u64::MAX / 2), None);
        assert_eq!(negative(0), None);
        // Other drivers print the sign.
        assert_eq!(error_count("-40").map(negative), Ok(Some(-40)));
        assert_eq!(error_count("40"), Ok(40));
        for text in ["", "x", "-", "4 0", "0x4", "18446744073709551616", "-9223372036854775809"] {
            assert_eq!(error_count(text), Err(text.to_owned()));
        }
    }

    #[test]
    fn every_width_has_its_own_largest_value() {
        let of = |name: &str, bits: u8, raw: u64| Counter::of_tool(name, bits).unwrap().value(raw);
        let (good, full) = (Quality::GOOD, Quality::SATURATED);
        assert_eq!(of("PortXmitData", 64, 1 << 40), (4 << 40, good));
        assert_eq!(of("PortXmitData", 64, u64::MAX), (u64::MAX, full));
        // A narrow counter's largest value, shown where a wide one was asked for.
        assert_eq!(of("PortRcvPkts", 64, 0xffff_ffff), (0xffff_ffff, full));
        assert_eq!(of("XmtData", 32, 0xffff_fffe), (0x3_ffff_fff8, good));
        assert_eq!(of("PortVLOpPackets3", 32, 0xffff), (0xffff, full));
        assert_eq!(of("PortVLOpPackets3", 32, 0xfffe), (0xfffe, good));
        assert_eq!(of("PortVLOpData15", 32, 10), (40, good));
        assert_eq!(Counter::of_tool("PortVLOpData16", 32), None);
        assert_eq!(Counter::of_tool("SymbolErrorCounter", 32), None);
    }
}
