//! Linear forwarding tables: `[switch][DestId] -> output port`.
//!
//! Invariants: every row has one entry a destination; an entry is a port `0..=radix` or [`NO_PORT`];
//! port 0 means "this switch itself". Rows are shared between clones and copied when written.
//! Storage is one byte an entry up to radix 254, else two.

use std::sync::Arc;

use crate::ids::{DestId, SwitchId};

/// "No entry" as [`Lft::port`] reports it, whatever the storage width.
pub const NO_PORT: u16 = u16::MAX;

/// The largest radix that one byte a port can hold (255 is "no entry").
const MAX_NARROW_RADIX: u16 = 254;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    Narrow(Arc<[u8]>),
    Wide(Arc<[u16]>),
}

/// A borrowed row of a table, as wide as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum LftRow<'a> {
    /// One byte an entry; 255 is "no entry".
    Narrow(&'a [u8]),
    /// Two bytes an entry; 65535 is "no entry".
    Wide(&'a [u16]),
}

impl LftRow<'_> {
    /// The port towards `dest`, or [`NO_PORT`].
    #[inline]
    pub fn port(self, dest: DestId) -> u16 {
        match self {
            LftRow::Narrow(row) => match row[dest.index()] {
                u8::MAX => NO_PORT,
                port => u16::from(port),
            },
            LftRow::Wide(row) => row[dest.index()],
        }
    }
}

/// Forwarding tables of all switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lft {
    dests: usize,
    rows: Vec<Row>,
}

impl Lft {
    /// Tables without any entry, for `switches` switches and `dests` destinations.
    ///
    /// `max_radix`: the largest switch radix; it decides the width of an entry.
    pub fn empty(switches: usize, dests: usize, max_radix: u16) -> Self {
        let row = if max_radix <= MAX_NARROW_RADIX {
            Row::Narrow(vec![u8::MAX; dests].into())
        } else {
            Row::Wide(vec![NO_PORT; dests].into())
        };
        Self { dests, rows: vec![row; switches] }
    }

    /// Tables from rows of ports ([`NO_PORT`] = none), one row a switch.
    ///
    /// # Panics
    /// If the rows differ in length, or a port exceeds `max_radix`.
    pub fn from_rows(rows: Vec<Vec<u16>>, dests: usize, max_radix: u16) -> Self {
        let rows = rows
            .into_iter()
            .map(|row| {
                assert_eq!(row.len(), dests, "a row has one entry a destination");
                assert!(row.iter().all(|&p| p <= max_radix || p == NO_PORT), "a port exceeds the radix");
                if max_radix <= MAX_NARROW_RADIX {
                    // NO_PORT truncates to 255, which is "no entry" in a narrow row.
                    Row::Narrow(row.iter().map(|&p| p as u8).collect())
                } else {
                    Row::Wide(row.into())
                }
            })
            .collect();
        Self { dests, rows }
    }

    /// Tables from narrow rows (255 = none), one row a switch; the fast door for engines.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn from_narrow_rows(rows: Vec<impl Into<Arc<[u8]>>>, dests: usize) -> Self {
        let rows = rows
            .into_iter()
            .map(|row| {
                let row: Arc<[u8]> = row.into();
                assert_eq!(row.len(), dests, "a row has one entry a destination");
                Row::Narrow(row)
            })
            .collect();
        Self { dests, rows }
    }

    /// Whether entries are one byte wide.
    pub fn is_narrow(max_radix: u16) -> bool {
        max_radix <= MAX_NARROW_RADIX
    }

    /// Number of destinations (row length).
    pub fn dests(&self) -> usize {
        self.dests
    }

    /// Number of switches (rows).
    pub fn switches(&self) -> usize {
        self.rows.len()
    }

    /// The output port of `switch` towards `dest`, or `None`.
    #[inline]
    pub fn get(&self, switch: SwitchId, dest: DestId) -> Option<u16> {
        match self.port(switch, dest) {
            NO_PORT => None,
            port => Some(port),
        }
    }

    /// The output port of `switch` towards `dest`, or [`NO_PORT`].
    #[inline]
    pub fn port(&self, switch: SwitchId, dest: DestId) -> u16 {
        self.row(switch).port(dest)
    }

    /// The whole table of one switch.
    #[inline]
    pub fn row(&self, switch: SwitchId) -> LftRow<'_> {
        match &self.rows[switch.index()] {
            Row::Narrow(row) => LftRow::Narrow(row),
            Row::Wide(row) => LftRow::Wide(row),
        }
    }

    /// Sets (or with `None` clears) one entry; copies the row if it is shared.
    ///
    /// # Panics
    /// If `port` does not fit the width of the table.
    pub fn set(&mut self, switch: SwitchId, dest: DestId, port: Option<u16>) {
        match &mut self.rows[switch.index()] {
            Row::Narrow(row) => {
                let entry = match port {
                    None => u8::MAX,
                    Some(p) => {
                        assert!(p <= MAX_NARROW_RADIX, "port {p} does not fit a narrow table");
                        p as u8
                    }
                };
                if row[dest.index()] != entry {
                    make_mut(row)[dest.index()] = entry;
                }
            }
            Row::Wide(row) => {
                let entry = port.unwrap_or(NO_PORT);
                if row[dest.index()] != entry {
                    make_mut(row)[dest.index()] = entry;
                }
            }
        }
    }

    /// How many entries differ from `other` (same shape).
    pub fn changed_entries(&self, other: &Lft) -> u64 {
        assert_eq!((self.dests, self.rows.len()), (other.dests, other.rows.len()));
        let mut changed = 0;
        for s in 0..self.rows.len() {
            let (a, b) = (self.row(SwitchId::from_index(s)), other.row(SwitchId::from_index(s)));
            changed += match (a, b) {
                (LftRow::Narrow(x), LftRow::Narrow(y)) => x.iter().zip(y).filter(|(p, q)| p != q).count(),
                _ => (0..self.dests).map(DestId::from_index).filter(|&d| a.port(d) != b.port(d)).count(),
            } as u64;
        }
        changed
    }
}

fn make_mut<T: Copy>(row: &mut Arc<[T]>) -> &mut [T] {
    Arc::make_mut(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_and_wide_tables_agree() {
        for radix in [48, 300] {
            let mut lft = Lft::empty(2, 3, radix);
            assert_eq!(lft.get(SwitchId(1), DestId(2)), None);
            lft.set(SwitchId(1), DestId(2), Some(radix.min(254)));
            assert_eq!(lft.get(SwitchId(1), DestId(2)), Some(radix.min(254)));
            assert_eq!(lft.get(SwitchId(0), DestId(2)), None);
            lft.set(SwitchId(1), DestId(2), None);
            assert_eq!(lft.port(SwitchId(1), DestId(2)), NO_PORT);
        }
    }

    #[test]
    fn clones_share_rows_until_written() {
        let a = Lft::empty(2, 2, 8);
        let mut b = a.clone();
        b.set(SwitchId(0), DestId(1), Some(4));
        assert_eq!(a.get(SwitchId(0), DestId(1)), None);
        assert_eq!(b.changed_entries(&a), 1);
    }

    #[test]
    fn rows_round_trip() {
        let lft = Lft::from_rows(vec![vec![1, NO_PORT], vec![0, 7]], 2, 36);
        assert_eq!(lft.get(SwitchId(0), DestId(1)), None);
        assert_eq!(lft.get(SwitchId(1), DestId(1)), Some(7));
    }
}
