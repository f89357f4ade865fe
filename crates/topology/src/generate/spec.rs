//! Spec strings: keys and values, checked sizes, and what all trees share (names, GUIDs, speeds).

use netloom_model::names::nearest;
use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

use super::{MAX_CABLES, MAX_HOSTS, MAX_RADIX, MAX_SWITCHES, SpecError};

/// GUID of the first host; the next ones follow in steps of [`GUID_STEP`].
const HOST_GUID: u64 = 0x2_c903_0000_0000;
/// GUID of the first switch.
const SWITCH_GUID: u64 = 0x2_c902_0000_0000;
/// Distance between the GUIDs of neighbours.
const GUID_STEP: u64 = 64;

/// Data rates of four lanes in bytes per second, by InfiniBand's names: signalling rate times the share
/// that the line code leaves (8b/10b up to QDR, 64b/66b from FDR10 on; from HDR on the names' nominal rates).
const SPEEDS: [(&str, f64); 9] = [
    ("SDR", 1.0e9),
    ("DDR", 2.0e9),
    ("QDR", 4.0e9),
    ("FDR10", 5.0e9),
    ("FDR", 4.0 * 14.0625e9 * 64.0 / 66.0 / 8.0),
    ("EDR", 12.5e9),
    ("HDR", 25.0e9),
    ("NDR", 50.0e9),
    ("XDR", 100.0e9),
];

/// The keys and values of one spec; every key is known and given once.
pub(super) struct Spec<'a> {
    pub generator: &'static str,
    example: &'static str,
    values: Vec<(&'static str, &'a str)>,
}

impl<'a> Spec<'a> {
    /// Splits `key=value,key=value`.
    pub fn parse(
        generator: &'static str,
        example: &'static str,
        text: &'a str,
        known: &'static [&'static str],
    ) -> Result<Self, SpecError> {
        let mut values: Vec<(&'static str, &'a str)> = Vec::new();
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let bad = |expected: &str| SpecError::BadValue {
                generator,
                place: format!("in \"{text}\""),
                expected: expected.into(),
                found: part.into(),
            };
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

    /// A count, at least 1, or `default` where the key is not given.
    pub fn count_or(&self, key: &'static str, default: u64) -> Result<u64, SpecError> {
        self.get(key).map_or(Ok(default), |text| self.number(key, text))
    }

    /// Counts, separated by `x`.
    pub fn counts(&self, key: &'static str) -> Result<Vec<u64>, SpecError> {
        self.require(key)?.split('x').map(|text| self.number(key, text)).collect()
    }

    fn number(&self, key: &str, text: &str) -> Result<u64, SpecError> {
        // No factor of a size can exceed the largest limit, so products of a few never overflow u128.
        match text.parse::<u64>() {
            Ok(n) if (1..=MAX_CABLES).contains(&n) => Ok(n),
            _ => Err(self.bad(key, format!("a whole number from 1 to {MAX_CABLES}"), text)),
        }
    }

    /// The data rate of all cables, bytes per second.
    pub fn speed(&self, default: &str) -> Result<f64, SpecError> {
        let text = self.get("speed").unwrap_or(default);
        let found = SPEEDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|&(_, rate)| rate).ok_or_else(|| {
            let names: Vec<&str> = SPEEDS.iter().map(|s| s.0).collect();
            self.bad("speed", format!("one of {}", names.join(", ")), text)
        })
    }

    /// "this key's value will not do".
    pub fn bad(&self, key: &str, expected: impl Into<String>, found: impl Into<String>) -> SpecError {
        SpecError::BadValue {
            generator: self.generator,
            place: key.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// Refuses what is too large.
    pub fn check_size(&self, size: &Size) -> Result<(), SpecError> {
        let checks = [
            ("hosts", size.hosts, MAX_HOSTS),
            ("switches", size.switches, MAX_SWITCHES),
            ("ports of a switch", size.radix, MAX_RADIX),
            ("cables", size.cables, MAX_CABLES),
        ];
        for (what, found, limit) in checks {
            if found > u128::from(limit) {
                return Err(SpecError::TooLarge {
                    generator: self.generator,
                    what,
                    found: found.to_string(),
                    limit,
                });
            }
        }
        Ok(())
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
    /// Will make `hosts` hosts and cables of one speed.
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

    /// A cable between two switches, each given with its port.
    pub fn cable(&mut self, lower: (usize, usize), upper: (usize, usize)) {
        let (a, b) = (End::Switch(lower.0, lower.1 as u16), End::Switch(upper.0, upper.1 as u16));
        self.builder.cable(a, b, self.bandwidth_bytes_per_s);
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
