//! Width and speed of a link, and what they come to in bytes per second.
//!
//! Data rates a lane in Gb/s, after line coding: SDR 2, DDR 4, QDR 8, FDR10 10, FDR 13.64, EDR 25, HDR 50,
//! NDR 100, XDR 200 (InfiniBand Architecture Specification, vol. 1).

/// Signalling speed of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Speed {
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

/// All speeds with their names and data rates (Gb/s a lane), slowest first.
pub(super) const SPEEDS: [(Speed, &str, f64); 9] = [
    (Speed::Sdr, "SDR", 2.0),
    (Speed::Ddr, "DDR", 4.0),
    (Speed::Qdr, "QDR", 8.0),
    (Speed::Fdr10, "FDR10", 10.0),
    (Speed::Fdr, "FDR", 13.64),
    (Speed::Edr, "EDR", 25.0),
    (Speed::Hdr, "HDR", 50.0),
    (Speed::Ndr, "NDR", 100.0),
    (Speed::Xdr, "XDR", 200.0),
];

/// What a tool printed of a link; `None` is a question mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    /// Lanes: 1, 2, 4, 8 or 12.
    pub width: Option<u8>,
    /// Speed of a lane.
    pub speed: Option<Speed>,
    /// Bytes per second of what is told in other words than InfiniBand's.
    pub exact: Option<u64>,
}

impl Rate {
    /// Lanes of a speed, as far as they are known.
    pub fn of(width: Option<u8>, speed: Option<Speed>) -> Self {
        Self { width, speed, exact: None }
    }

    /// So many bytes per second.
    pub fn exact(bytes_per_s: u64) -> Self {
        Self { exact: Some(bytes_per_s), ..Self::default() }
    }

    /// `4xEDR`, `4x???`, `?????`; anything else is `None`.
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(speed) = word.strip_prefix("??") {
            return Some(Self::of(None, speed_named(speed)?));
        }
        let (width, speed) = word.split_once('x')?;
        Self::parse_parts(width, speed)
    }

    /// Width and speed as two words: `4x`, `EDR`.
    pub fn parse_words(width: &str, speed: &str) -> Option<Self> {
        match width {
            "??" => Some(Self::of(None, speed_named(speed)?)),
            _ => Self::parse_parts(width.strip_suffix('x')?, speed),
        }
    }

    fn parse_parts(width: &str, speed: &str) -> Option<Self> {
        let width: u8 = width.parse().ok().filter(|w| [1, 2, 4, 8, 12].contains(w))?;
        Some(Self::of(Some(width), speed_named(speed)?))
    }

    /// Bytes per second each direction, if they are known.
    pub fn bytes_per_s(self) -> Option<f64> {
        match self.exact {
            Some(exact) => Some(exact as f64),
            None => Some(bytes_per_s(self.width?, self.speed?)),
        }
    }
}

/// `Some(None)` for question marks, `None` for what is no speed.
fn speed_named(word: &str) -> Option<Option<Speed>> {
    if !word.is_empty() && word.bytes().all(|b| b == b'?') {
        return Some(None);
    }
    SPEEDS.iter().find(|s| s.1 == word).map(|s| Some(s.0))
}

/// Bytes per second of `width` lanes of a speed.
pub(super) fn bytes_per_s(width: u8, speed: Speed) -> f64 {
    let lane = SPEEDS[speed as usize].2;
    f64::from(width) * lane * 1e9 / 8.0
}

/// Width and name of the speed that give a data rate, four lanes preferred: FDR is 13.64 Gb/s a lane, or 14.0625 x 64/66.
pub(super) fn name_of(bandwidth_bytes_per_s: f64) -> Option<(u8, Speed)> {
    [4u8, 2, 1, 8, 12].into_iter().find_map(|width| {
        let near = |s: Speed| (bytes_per_s(width, s) / bandwidth_bytes_per_s - 1.0).abs() < 5e-4;
        SPEEDS.iter().find(|s| near(s.0)).map(|s| (width, s.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_edr_lanes_carry_12_5_gigabytes_per_second() {
        let rate = |w: &str| Rate::parse(w).and_then(Rate::bytes_per_s);
        assert_eq!(rate("4xEDR"), Some(12.5e9));
        assert_eq!(rate("4xSDR"), Some(1e9));
        assert_eq!(rate("2xNDR"), Some(25e9));
        assert_eq!(rate("4xFDR"), Some(6.82e9));
        assert_eq!(rate("12xFDR10"), Some(15e9));
    }

    #[test]
    fn question_marks_are_unknown_and_nonsense_is_refused() {
        assert_eq!(Rate::parse("4x???"), Some(Rate::of(Some(4), None)));
        assert_eq!(Rate::parse("?????"), Some(Rate::default()));
        assert_eq!(Rate::parse_words("4x", "???"), Some(Rate::of(Some(4), None)));
        for bad in ["4xED", "4x", "3xEDR", "xEDR", "EDR", "", "4"] {
            assert_eq!(Rate::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn data_rates_have_names() {
        assert_eq!(name_of(12.5e9), Some((4, Speed::Edr)));
        assert_eq!(name_of(2.5e8), Some((1, Speed::Sdr)));
        assert_eq!(name_of(12.34e9), None);
    }
}
