//! Speeds of cables, as specs give them: InfiniBand's names for four lanes, or a data rate in Gb/s (`10G`).

use std::sync::LazyLock;

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

/// Slowest and fastest data rate, Gb/s.
const GIGABITS: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

/// What [`parse`] takes, for messages.
pub(super) static EXPECTED: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = SPEEDS.iter().map(|speed| speed.0).collect();
    format!("one of {}, or a data rate in Gb/s such as 10G", names.join(", "))
});

/// The rate of a name, bytes per second.
pub(super) fn named(text: &str) -> Option<f64> {
    SPEEDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, rate)| rate)
}

/// The rate of a name, or of a number of Gb/s, in bytes per second.
pub(super) fn parse(text: &str) -> Option<f64> {
    let gigabits = || {
        let number = text.strip_suffix(['G', 'g'])?;
        let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        number.parse::<f64>().ok().filter(|n| plain && GIGABITS.contains(n))
    };
    named(text).or_else(|| gigabits().map(|n| n * 1e9 / 8.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_gigabits_are_rates() {
        assert_eq!(parse("edr"), Some(12.5e9));
        assert_eq!(parse("100G"), parse("EDR"));
        assert_eq!(parse("37.5g"), Some(37.5e9 / 8.0));
        assert_eq!(parse("10G"), Some(1.25e9));
    }

    #[test]
    fn other_words_are_none() {
        for text in
            ["", "G", ".G", "10", "-1G", "+1G", "1e3G", "0G", "nanG", "infG", "1.2.3G", "10GB", "999999G"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
