//! The numbers of InfiniBand's congestion control (InfiniBand Architecture, annex A10), by OpenSM's names.
//!
//! No number is the standard's: all are zero in OpenSM unless a site sets them. Three sets are here: Gran et al.'s, those that opa-fm comes
//! with, and one that was fitted to this simulator (docs/methods/congestion.md says on what).

use crate::SimError;

/// An entry of a congestion control table: after a packet its flow waits for `multiplier / 2^shift` of the packet's time on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// 0 to 3.
    pub shift: u8,
    /// 14 bits.
    pub multiplier: u16,
}

/// Most entries of a table: OpenSM 3.3's.
pub const MOST_ENTRIES: usize = 128;
/// Largest multiplier: 14 bits.
pub const MOST_MULTIPLIER: u16 = (1 << 14) - 1;
/// The unit of `ccti_timer`, ps.
pub(crate) const TIMER_PS: u64 = 1_024_000;
/// The unit of `packet_size`, bytes.
pub(crate) const SIZE_BYTES: u32 = 64;

impl TableEntry {
    /// The wait after a packet, in packets' times.
    pub fn gap(self) -> f64 {
        f64::from(self.multiplier) / f64::from(1u32 << self.shift)
    }

    /// The entry whose wait is nearest to `gap` packets' times.
    fn nearest(gap: f64) -> Self {
        let shift =
            (0..4u8).rev().find(|&shift| gap * f64::from(1u32 << shift) <= f64::from(MOST_MULTIPLIER));
        let shift = shift.unwrap_or(0);
        let multiplier = (gap * f64::from(1u32 << shift)).round().min(f64::from(MOST_MULTIPLIER));
        Self { shift, multiplier: multiplier as u16 }
    }
}

/// The numbers of InfiniBand's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IbCc {
    /// An output marks from `buffer x (16 - threshold) / 16` waiting bytes on; 0: it never does. 0 to 15.
    pub threshold: u8,
    /// Packets of less than so many 64 bytes are not marked.
    pub packet_size: u8,
    /// Mean number of packets between two that are marked; 0: all are.
    pub marking_rate: u16,
    /// By port of any switch, a bit each: outputs that mark though they lack credits.
    pub victim_mask: [u64; 4],
    /// What a notification adds to a flow's index in the table.
    pub ccti_increase: u8,
    /// Every 1.024 us times this, indices fall by one.
    pub ccti_timer: u16,
    /// Largest index.
    pub ccti_limit: u16,
    /// Least index, which flows have that no notification has reached.
    pub ccti_min: u16,
    /// The table, from index 0 on.
    pub table: Vec<TableEntry>,
}

impl IbCc {
    /// A table whose waits grow by a packet's time an entry: rates C, C/2, C/3, …
    pub fn linear(entries: u16) -> Vec<TableEntry> {
        (0..entries).map(|multiplier| TableEntry { shift: 0, multiplier }).collect()
    }

    /// A table whose rates fall by an eighth of a packet's time an entry, then by a part of what is left: fine where few flows share a link,
    /// coarse where many do.
    pub fn fine() -> Vec<TableEntry> {
        let mut gap = 0.0f64;
        let mut table = Vec::new();
        while table.len() < MOST_ENTRIES {
            table.push(TableEntry::nearest(gap));
            gap += (FINE_STEP * (1.0 + gap)).max(0.125);
        }
        table
    }

    /// Gran et al.'s numbers: every packet is marked.
    pub fn gran() -> Self {
        Self {
            threshold: 15,
            packet_size: 8,
            marking_rate: 0,
            victim_mask: [0; 4],
            ccti_increase: 1,
            ccti_timer: 150,
            ccti_limit: 127,
            ccti_min: 0,
            table: Self::linear(128),
        }
    }

    /// Those of opa-fm's file: earlier and faster; all ports mark. Its table ends at a wait of 8,300 ns for a packet of the largest MTU.
    pub fn opa_fm() -> Self {
        Self {
            threshold: 8,
            packet_size: 0,
            victim_mask: [u64::MAX; 4],
            ccti_increase: 5,
            ccti_timer: 10,
            ..Self::gran()
        }
    }

    /// Numbers fitted to this simulator.
    pub fn tuned() -> Self {
        Self { threshold: 8, marking_rate: 1, ccti_timer: 50, table: Self::fine(), ..Self::gran() }
    }

    /// Refuses numbers that can't work.
    pub(super) fn check(&self) -> Result<(), SimError> {
        let refuse = |what, expected: String| Err(SimError::Config { what, expected });
        if self.threshold > 15 {
            return refuse("threshold", "0 to 15".into());
        }
        if self.ccti_timer == 0 {
            return refuse("ccti_timer", "at least 1".into());
        }
        if self.ccti_min > self.ccti_limit {
            return refuse("ccti_min", format!("at most ccti_limit, {}", self.ccti_limit));
        }
        if usize::from(self.ccti_limit) >= self.table.len() {
            let expected = format!("below the table's {} entries", self.table.len());
            return refuse("ccti_limit", expected);
        }
        if self.table.len() > MOST_ENTRIES {
            return refuse("cct", format!("at most {MOST_ENTRIES} entries"));
        }
        if self.table.iter().any(|entry| entry.shift > 3 || entry.multiplier > MOST_MULTIPLIER) {
            return refuse("cct", format!("shifts of 0 to 3, multipliers of 0 to {MOST_MULTIPLIER}"));
        }
        Ok(())
    }
}

impl Default for IbCc {
    fn default() -> Self {
        Self::gran()
    }
}

/// By how much of itself a rate falls with an entry of the fine table, where an eighth of a packet's time is less.
const FINE_STEP: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_multiples_of_the_packets_time() {
        assert_eq!(TableEntry { shift: 3, multiplier: 1 }.gap(), 0.125);
        assert_eq!(IbCc::linear(128)[127].gap(), 127.0);
        let fine = IbCc::fine();
        let gaps: Vec<f64> = fine.iter().map(|entry| entry.gap()).collect();
        assert_eq!((fine.len(), &gaps[..4]), (128, &[0.0, 0.125, 0.25, 0.375][..]));
        assert!(gaps.is_sorted_by(|a, b| a < b), "{gaps:?}");
        assert!(gaps[127] > 127.0, "it goes as far as the linear one: {}", gaps[127]);
    }

    #[test]
    fn the_sets_can_work() {
        for set in [IbCc::gran(), IbCc::opa_fm(), IbCc::tuned()] {
            assert_eq!(set.check(), Ok(()));
        }
    }
}
