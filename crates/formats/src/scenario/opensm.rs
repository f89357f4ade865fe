//! The congestion control options of an OpenSM options file (`opensm.conf`): read as a scenario's `[congestion]`, and written.
//!
//! ```text
//! congestion_control TRUE
//! cc_sw_cong_setting_control_map 0x15            # which of the switches' settings count: bit 0 the victim mask, 2 the threshold and
//! cc_sw_cong_setting_threshold 0x08              # the packet size, 4 the marking rate
//! cc_ca_cong_setting_control_map 0x0001          # for which service levels adapters are set up
//! cc_ca_cong_setting_ccti_timer 0 50             # level, value
//! cc_cct 0:0,3:1,3:2
//! ```
//!
//! As OpenSM 3.3 has them: numbers are decimal, `0x` hexadecimal or `0` octal, what is not given is 0, and the largest index is the
//! table's last. Options that are none of congestion control are passed over. The simulator has one setting for all
//! service levels, and no credit starvation: levels with different settings are refused, as is a credit mask.

use std::fmt::Write as _;

use netloom_model::names::nearest;

use super::congestion::{number_of, parse_mask, parse_table};
use crate::FormatError;
use crate::error::excerpt;
use crate::text::text;

/// What OpenSM sets for congestion control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpensmCc {
    /// 0 (none) to 15 (aggressive).
    pub threshold: u8,
    /// In units of 64 bytes.
    pub packet_size: u8,
    /// Mean packets between marks.
    pub marking_rate: u16,
    /// A bit a port.
    pub victim_mask: [u64; 4],
    /// Adapters limit service levels, not queue pairs.
    pub by_level: bool,
    /// In units of 1.024 us.
    pub ccti_timer: u16,
    /// Added at a notification.
    pub ccti_increase: u8,
    /// Least index.
    pub ccti_min: u8,
    /// Shift and multiplier, from index 0 on.
    pub table: Vec<(u8, u16)>,
}

const ENABLED: &str = "congestion_control";
const MAP: &str = "cc_sw_cong_setting_control_map";
const VICTIMS: &str = "cc_sw_cong_setting_victim_mask";
const CREDITS: &str = "cc_sw_cong_setting_credit_mask";
const THRESHOLD: &str = "cc_sw_cong_setting_threshold";
const SIZE: &str = "cc_sw_cong_setting_packet_size";
const MARKING: &str = "cc_sw_cong_setting_marking_rate";
const BY_LEVEL: &str = "cc_ca_cong_setting_port_control";
const LEVELS: &str = "cc_ca_cong_setting_control_map";
const TIMER: &str = "cc_ca_cong_setting_ccti_timer";
const INCREASE: &str = "cc_ca_cong_setting_ccti_increase";
const MIN: &str = "cc_ca_cong_setting_ccti_min";
const TABLE: &str = "cc_cct";
/// Those that change nothing that is simulated.
const OTHERS: [&str; 5] = [
    "cc_key",
    "cc_max_outstanding_mads",
    "cc_sw_cong_setting_credit_starvation_threshold",
    "cc_sw_cong_setting_credit_starvation_return_delay",
    "cc_ca_cong_setting_trigger_threshold",
];
const KNOWN: [&str; 13] =
    [ENABLED, MAP, VICTIMS, CREDITS, THRESHOLD, SIZE, MARKING, BY_LEVEL, LEVELS, TIMER, INCREASE, MIN, TABLE];

/// Settings of adapters for one level: timer, increase, least index.
type OfLevel = (u16, u8, u8);

/// Reads the options, plain or gzip; `None` where congestion control is not enabled.
///
/// # Errors
/// [`FormatError`] names the line: a number that does not fit, half an entry, a table that is too long, a least index above the table's
/// last, an increase without a timer, levels with different settings, a credit mask.
pub fn read_opensm_cc(bytes: &[u8], label: &str) -> Result<Option<OpensmCc>, FormatError> {
    let text = text(bytes, label)?;
    let mut found = OpensmCc::default();
    let (mut enabled, mut map, mut levels) = (None, 0u64, 0u64);
    let mut of_level = [OfLevel::default(); 16];
    // The line of the last option of adapters, and of the table.
    let (mut adapters_line, mut table_line) = (0, 0);
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let line = line.split('#').next().unwrap_or("").trim();
        let (key, value) =
            line.split_once([' ', '\t']).map_or((line, ""), |(key, value)| (key, value.trim()));
        if !(key == ENABLED || key.starts_with("cc_")) || OTHERS.contains(&key) {
            continue;
        }
        let wrong = |expected: &str| {
            let message = format!("{key}: expected {expected}, found \"{}\"", excerpt(value));
            FormatError::at(label, number, &message)
        };
        let below = |text: &str, most: u64| {
            let expected = format!("a number of 0 to {most}");
            number_of(text).filter(|&n| n <= most).ok_or_else(|| wrong(&expected))
        };
        // A level, then its value.
        let of = |most: u64| {
            let (level, value) = value
                .split_once([' ', '\t'])
                .ok_or_else(|| wrong("a service level and its value, such as 0 150"))?;
            Ok::<_, FormatError>((below(level, 15)? as usize, below(value, most)?))
        };
        match key {
            ENABLED => {
                enabled = match value.to_ascii_lowercase().as_str() {
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => return Err(wrong("TRUE or FALSE")),
                }
            }
            MAP => map = below(value, u32::MAX.into())?,
            VICTIMS => {
                found.victim_mask = parse_mask(value).ok_or_else(|| wrong("0x and up to 64 digits"))?
            }
            CREDITS => {
                let mask = parse_mask(value).ok_or_else(|| wrong("0x and up to 64 digits"))?;
                if mask != [0; 4] {
                    return Err(wrong("0x0, as credit starvation is not simulated"));
                }
            }
            THRESHOLD => found.threshold = below(value, 15)? as u8,
            SIZE => found.packet_size = below(value, 255)? as u8,
            MARKING => found.marking_rate = below(value, 65_535)? as u16,
            BY_LEVEL => found.by_level = below(value, 65_535)? & 1 == 1,
            LEVELS => levels = below(value, 65_535)?,
            TIMER | INCREASE | MIN => {
                adapters_line = number;
                let (level, value) = of(if key == TIMER { 65_535 } else { 255 })?;
                match key {
                    TIMER => of_level[level].0 = value as u16,
                    INCREASE => of_level[level].1 = value as u8,
                    _ => of_level[level].2 = value as u8,
                }
            }
            TABLE if value == "(null)" || value.is_empty() => found.table = Vec::new(),
            TABLE => {
                table_line = number;
                let wrong = |message| FormatError::at(label, number, format!("{key}: {message}"));
                found.table = parse_table(value).map_err(wrong)?;
            }
            _ => {
                let help = match nearest(key, KNOWN) {
                    Some(hint) => format!(", did you mean \"{hint}\"?"),
                    None => String::new(),
                };
                let message = format!("OpenSM has no option \"{}\"{help}", excerpt(key));
                return Err(FormatError::at(label, number, &message));
            }
        }
    }
    match enabled {
        Some(true) => {}
        Some(false) => return Ok(None),
        None => {
            let message = format!("expected OpenSM's options with {ENABLED}, found none").to_string();
            return Err(FormatError { label: label.into(), line: None, message });
        }
    }
    // What the map leaves out is not set.
    if map & 1 == 0 {
        found.victim_mask = [0; 4];
    }
    if map & 4 == 0 {
        (found.threshold, found.packet_size) = (0, 0);
    }
    if map & 16 == 0 {
        found.marking_rate = 0;
    }
    let mut used = (0..16).filter(|level| levels >> level & 1 == 1).map(|level| (level, of_level[level]));
    if let Some((first, settings)) = used.next() {
        if let Some((other, _)) = used.find(|(_, others)| *others != settings) {
            let message = format!(
                "cc_ca_cong_setting_*: expected one setting for all service levels, as the simulator has one; \
                 found others for level {other} than for {first}"
            );
            return Err(FormatError::at(label, adapters_line, &message));
        }
        (found.ccti_timer, found.ccti_increase, found.ccti_min) = settings;
    }
    if found.ccti_increase > 0 && found.ccti_timer == 0 {
        let message = format!("{TIMER}: expected at least 1 where {INCREASE} is above 0, found 0");
        return Err(FormatError::at(label, adapters_line, &message));
    }
    if usize::from(found.ccti_min) >= found.table.len().max(1) {
        let message = format!(
            "{MIN}: expected at most the table's last index, {}; found {}",
            found.table.len().max(1) - 1,
            found.ccti_min
        );
        return Err(FormatError::at(label, adapters_line.max(table_line), &message));
    }
    Ok(Some(found))
}

impl OpensmCc {
    /// The same as a scenario's keys and values, as overrides.
    pub fn overrides(&self) -> Vec<String> {
        let mask: String = self.victim_mask.iter().rev().map(|word| format!("{word:016x}")).collect();
        let table = if self.table.is_empty() { "0:0".into() } else { entries(&self.table) };
        let mut all = vec![
            ("control", "ib-cc".to_string()),
            ("limiters", if self.by_level { "host" } else { "destination" }.into()),
            ("threshold", self.threshold.to_string()),
            ("packet_size", self.packet_size.to_string()),
            ("marking_rate", self.marking_rate.to_string()),
            ("victim_mask", format!("\"0x{mask}\"")),
            ("ccti_increase", self.ccti_increase.to_string()),
            ("ccti_min", self.ccti_min.to_string()),
            ("cct", format!("\"{table}\"")),
            ("ccti_limit", (self.table.len().max(1) - 1).to_string()),
        ];
        // Without an increase there is nothing to count down.
        if self.ccti_timer > 0 {
            all.push(("ccti_timer", self.ccti_timer.to_string()));
        }
        all.into_iter().map(|(key, value)| format!("congestion.{key}={value}")).collect()
    }

    /// The options as OpenSM reads them, for all service levels; `origin` says what made them, in one line.
    pub fn write(&self, origin: &str) -> String {
        let mask: String = self.victim_mask.iter().rev().map(|word| format!("{word:016x}")).collect();
        let mut out = format!("# netloom {origin}\n{ENABLED} TRUE\n{MAP} 0x15\n{VICTIMS} 0x{mask}\n");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{THRESHOLD} 0x{:02x}\n{SIZE} {}", self.threshold, self.packet_size);
        let _ =
            writeln!(out, "{MARKING} {}\n{BY_LEVEL} 0x{:04x}", self.marking_rate, u8::from(self.by_level));
        let _ = writeln!(out, "{LEVELS} 0xffff");
        for level in 0..16 {
            let _ = writeln!(
                out,
                "{TIMER} {level} {}\n{INCREASE} {level} {}",
                self.ccti_timer, self.ccti_increase
            );
            let _ = writeln!(out, "{MIN} {level} {}", self.ccti_min);
        }
        let _ = writeln!(out, "{TABLE} {}", entries(&self.table));
        out
    }
}

fn entries(table: &[(u8, u16)]) -> String {
    let one = |(shift, multiplier): &(u8, u16)| format!("{shift}:{multiplier}");
    table.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read_opensm_cc(text.as_bytes(), "o.conf").unwrap_err().to_string()
    }

    const SOME: &str = "congestion_control TRUE\ncc_sw_cong_setting_control_map 0x15\n\
        cc_sw_cong_setting_threshold 0x0f # aggressive\ncc_ca_cong_setting_control_map 0x3\n\
        cc_ca_cong_setting_ccti_timer 0 150\ncc_ca_cong_setting_ccti_timer 1 0x96\nsweep_interval 10\n\
        cc_ca_cong_setting_ccti_increase 0 1\ncc_ca_cong_setting_ccti_increase 1 1\ncc_cct 0:0,1:3,3:16383\n";

    #[test]
    fn options_are_read_and_written_and_read_back() {
        let found = read_opensm_cc(SOME.as_bytes(), "o").unwrap().unwrap();
        let by_hand = OpensmCc {
            threshold: 15,
            ccti_timer: 150,
            ccti_increase: 1,
            table: vec![(0, 0), (1, 3), (3, 16_383)],
            ..OpensmCc::default()
        };
        assert_eq!(found, by_hand);
        let full = OpensmCc {
            packet_size: 8,
            marking_rate: 3,
            victim_mask: [0x1e, 0, 0, 1 << 63],
            by_level: true,
            ccti_min: 2,
            ..found
        };
        assert_eq!(read_opensm_cc(full.write("test").as_bytes(), "w"), Ok(Some(full)));
    }

    /// OpenSM's own file with congestion control enabled and nothing else: no marks, no limits.
    #[test]
    fn enabling_alone_sets_nothing() {
        let text = "congestion_control TRUE\ncc_sw_cong_setting_threshold 0x0f\ncc_cct (null)\n";
        assert_eq!(read_opensm_cc(text.as_bytes(), "o"), Ok(Some(OpensmCc::default())), "the map has no bit");
        assert_eq!(read_opensm_cc(b"congestion_control FALSE\n", "o"), Ok(None));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line() {
        for (text, expected) in [
            ("cc_cct 0:0,1\n", "o.conf:1: cc_cct: expected entries shift:multiplier"),
            ("cc_cct 0:16384\n", "found \"0:16384\""),
            ("cc_cct 4:1\n", "found \"4:1\""),
            (
                "\ncc_sw_cong_setting_threshold 16\n",
                "o.conf:2: cc_sw_cong_setting_threshold: expected a number of 0 to 15",
            ),
            ("cc_ca_cong_setting_ccti_timer 150\n", "expected a service level and its value"),
            ("cc_ca_cong_setting_ccti_timer 16 1\n", "a number of 0 to 15"),
            ("cc_sw_cong_setting_treshold 1\n", "did you mean \"cc_sw_cong_setting_threshold\"?"),
            ("congestion_control YES\n", "expected TRUE or FALSE"),
            ("sweep_interval 10\n", "o.conf: expected OpenSM's options with congestion_control"),
            ("cc_sw_cong_setting_credit_mask 0x2\n", "credit starvation is not simulated"),
        ] {
            assert!(refused(text).contains(expected), "{text}: {}", refused(text));
        }
        let other = SOME.replace("timer 1 0x96", "timer 1 0x97");
        assert!(refused(&other).contains("found others for level 1 than for 0"));
        assert!(
            refused(&format!("{SOME}cc_ca_cong_setting_ccti_min 0 3\ncc_ca_cong_setting_ccti_min 1 3\n"))
                .contains("last index, 2")
        );
        let none = SOME.replace("timer 0 150", "timer 0 0").replace("timer 1 0x96", "timer 1 00");
        assert!(refused(&none).contains("expected at least 1 where"));
        let long = format!("cc_cct {}\n", ["0:0"; 129].join(","));
        assert!(refused(&long).contains("expected at most 128 entries, found 129"));
    }
}
