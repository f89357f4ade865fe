//! Spec strings: keys and values, checked sizes, and what all generators share (names, GUIDs, cables).

use netloom_model::names::nearest;
use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

use super::speed::{self, EXPECTED};
use super::{Generator, MAX_CABLES, MAX_HOSTS, MAX_RADIX, MAX_SWITCHES, SpecError};

/// GUID of the first host; the next ones follow in steps of [`GUID_STEP`].
const HOST_GUID: u64 = 0x2_c903_0000_0000;
/// GUID of the first switch.
const SWITCH_GUID: u64 = 0x2_c902_0000_0000;
/// Distance between the GUIDs of neighbours.
const GUID_STEP: u64 = 64;

/// The keys and values of one spec; every key is known and given once.
pub(super) struct Spec<'a> {
    generator: &'static str,
    example: &'static str,
    values: Vec<(&'static str, &'a str)>,
}

impl<'a> Spec<'a> {
    /// Splits `key=value,key=value`.
    pub fn parse(of: &'static Generator, text: &'a str) -> Result<Self, SpecError> {
        let Generator { name: generator, example, keys: known, .. } = *of;
        let mut values: Vec<(&'static str, &'a str)> = Vec::new();
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let bad = |expected: &str| bad(generator, format!("in \"{text}\""), expected, part);
            let (key, value) = part.split_once('=').ok_or_else(|| bad("key=value"))?;
            let key = key.trim();
            let Some(&key) = known.iter().find(|&&k| k == key) else {
                let nearest = nearest(key, known.iter().copied());
                return Err(SpecError::UnknownKey { generator, key: key.into(), nearest, known });
            };
            if values.iter().any(|&(k, _)| k == key) {
                return Err(bad("every key once"));
            }
            values.push((key, value.trim()));
        }
        Ok(Self { generator, example, values })
    }

    /// The text of a key, if given.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.values.iter().find(|&&(k, _)| k == key).map(|&(_, value)| value)
    }

    /// The text of a key that must be there.
    pub fn require(&self, key: &'static str) -> Result<&'a str, SpecError> {
        let (generator, example) = (self.generator, self.example);
        self.get(key).ok_or(SpecError::MissingKey { generator, key, example })
    }

    /// A count, at least 1.
    pub fn count(&self, key: &'static str) -> Result<u64, SpecError> {
        let text = self.require(key)?;
        self.number(key, text)
    }

    /// A number of groups, at least 2.
    pub fn groups(&self, key: &'static str) -> Result<u64, SpecError> {
        match self.require(key)? {
            text @ ("0" | "1") => Err(self.bad(key, "at least 2 groups", text)),
            text => self.number(key, text),
        }
    }

    /// A count, at least 1, or `default` where the key is not given.
    pub fn count_or(&self, key: &'static str, default: u64) -> Result<u64, SpecError> {
        self.get(key).map_or(Ok(default), |text| self.number(key, text))
    }

    /// Counts, separated by `x`.
    pub fn counts(&self, key: &'static str) -> Result<Vec<u64>, SpecError> {
        self.require(key)?.split('x').map(|text| self.number(key, text)).collect()
    }

    fn number(&self, key: &str, text: &str) -> Result<u64, SpecError> {
        match text.parse::<u64>() {
            Ok(n) if is_count(n) => Ok(n),
            _ => Err(self.bad(key, count_expected(), text)),
        }
    }

    /// The data rate of all cables, bytes per second.
    pub fn speed(&self, default: &str) -> Result<f64, SpecError> {
        Ok(self.rate("speed")?.unwrap_or_else(|| speed::named(default).expect("a default is a known name")))
    }

    /// The data rate that a key gives, bytes per second.
    pub fn rate(&self, key: &'static str) -> Result<Option<f64>, SpecError> {
        let rate = |text| speed::parse(text).ok_or_else(|| self.bad(key, EXPECTED.as_str(), text));
        self.get(key).map(rate).transpose()
    }

    /// The data rates that a key gives, separated by `/`, bytes per second.
    pub fn rates(&self, key: &'static str) -> Result<Option<Vec<f64>>, SpecError> {
        let rate = |text| speed::parse(text).ok_or_else(|| self.bad(key, EXPECTED.as_str(), text));
        self.get(key).map(|text| text.split('/').map(rate).collect()).transpose()
    }

    /// "this key's value will not do".
    pub fn bad(&self, key: &str, expected: impl Into<String>, found: impl Into<String>) -> SpecError {
        bad(self.generator, key, expected, found)
    }
}

/// "the value at this place will not do".
pub(super) fn bad(
    generator: &'static str,
    place: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> SpecError {
    SpecError::BadValue { generator, place: place.into(), expected: expected.into(), found: found.into() }
}

/// Whether a number may be a count: at least 1, and no larger than any size, so that products of a few never overflow `u128`.
fn is_count(n: u64) -> bool {
    (1..=MAX_CABLES).contains(&n)
}

fn count_expected() -> String {
    format!("a whole number from 1 to {MAX_CABLES}")
}

/// Refuses counts that are zero or beyond all limits: a typed generator may hold anything.
pub(super) fn check_counts(
    generator: &'static str,
    counts: impl IntoIterator<Item = (&'static str, u64)>,
) -> Result<(), SpecError> {
    match counts.into_iter().find(|&(_, n)| !is_count(n)) {
        Some((key, n)) => Err(bad(generator, key, count_expected(), n.to_string())),
        None => Ok(()),
    }
}

/// Refuses what is too large.
pub(super) fn check_size(generator: &'static str, size: &Size) -> Result<(), SpecError> {
    let checks = [
        ("hosts", size.hosts, MAX_HOSTS),
        ("switches", size.switches, MAX_SWITCHES),
        ("ports of a switch", size.radix, MAX_RADIX),
        ("cables", size.cables, MAX_CABLES),
    ];
    match checks.into_iter().find(|&(_, found, limit)| found > u128::from(limit)) {
        Some((what, found, limit)) => {
            Err(SpecError::TooLarge { generator, what, found: found.to_string(), limit })
        }
        None => Ok(()),
    }
}

/// How large a fabric would be; wide enough not to overflow.
#[derive(Default)]
pub(super) struct Size {
    pub hosts: u128,
    pub switches: u128,
    /// The largest number of ports of any switch.
    pub radix: u128,
    pub cables: u128,
}

/// Product without overflow: saturates far above every limit.
pub(super) fn product(factors: impl IntoIterator<Item = u64>) -> u128 {
    factors.into_iter().fold(1u128, |p, f| p.saturating_mul(u128::from(f)))
}

/// How many digits the numbers `0..n` need.
pub(super) fn digits(n: usize) -> usize {
    n.saturating_sub(1).max(1).ilog10() as usize + 1
}

/// A builder which hands out names' neighbours: GUIDs in the order of creation.
pub(super) struct Maker {
    builder: FabricBuilder,
    hosts: u64,
    switches: u64,
    host_digits: usize,
    bandwidth_bytes_per_s: f64,
}

impl Maker {
    /// Will make `hosts` hosts; their cables, and those that say nothing else, have this speed.
    pub fn new(hosts: usize, bandwidth_bytes_per_s: f64) -> Self {
        let host_digits = digits(hosts).max(4);
        Self { builder: FabricBuilder::new(), hosts: 0, switches: 0, host_digits, bandwidth_bytes_per_s }
    }

    /// The next switch.
    pub fn switch(&mut self, name: String, radix: usize) -> usize {
        let guid = SWITCH_GUID + GUID_STEP * self.switches;
        self.switches += 1;
        self.builder.switch(SwitchSpec::new(name, guid, radix as u16))
    }

    /// The next host (`host0000`, …), cabled to a switch.
    pub fn host(&mut self, switch: usize, port: usize) {
        let name = format!("host{:0width$}", self.hosts, width = self.host_digits);
        let host = self.builder.host(HostSpec::new(name, HOST_GUID + GUID_STEP * self.hosts));
        self.hosts += 1;
        let end = End::Switch(switch, port as u16);
        self.builder.cable(end, End::Host(host), self.bandwidth_bytes_per_s);
    }

    /// Adapter `mlx5_<number>` of a machine, cabled to a switch.
    pub fn adapter(&mut self, machine: &str, number: usize, switch: usize, port: usize) {
        let mut host = HostSpec::new(format!("{machine} mlx5_{number}"), HOST_GUID + GUID_STEP * self.hosts);
        machine.clone_into(&mut host.machine);
        let host = self.builder.host(host);
        self.hosts += 1;
        self.builder.cable(End::Switch(switch, port as u16), End::Host(host), self.bandwidth_bytes_per_s);
    }

    /// A cable between two switches, each given with its port.
    pub fn cable(&mut self, lower: (usize, usize), upper: (usize, usize)) {
        self.cable_at(lower, upper, self.bandwidth_bytes_per_s);
    }

    /// A cable of a speed of its own.
    pub fn cable_at(&mut self, lower: (usize, usize), upper: (usize, usize), bandwidth_bytes_per_s: f64) {
        let (a, b) = (End::Switch(lower.0, lower.1 as u16), End::Switch(upper.0, upper.1 as u16));
        self.builder.cable(a, b, bandwidth_bytes_per_s);
    }

    /// The fabric.
    pub fn build(self) -> Result<netloom_model::Fabric, SpecError> {
        Ok(self.builder.build()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_wide_as_the_largest() {
        assert_eq!([1, 2, 10, 11, 100, 101].map(digits), [1, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn products_do_not_overflow() {
        assert_eq!(product([3, 4]), 12);
        assert_eq!(product([u64::MAX; 9]), u128::MAX);
    }
}
