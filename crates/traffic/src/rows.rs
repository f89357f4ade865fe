//! Building a sparse matrix row by row, without a detour over triples.

use netloom_model::{Csr, Traffic};

/// Collects rows in order; entries of a row come in any order, those of equal column add up, and the
/// diagonal is left out (what stays on an endpoint crosses no link).
#[derive(Debug)]
pub(crate) struct Rows {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    bytes: Vec<f64>,
    packets: Option<Vec<f64>>,
    row: Vec<(u32, f64, f64)>,
}

impl Rows {
    pub(crate) fn new(endpoints: u32, entries_hint: usize) -> Self {
        let mut offsets = Vec::with_capacity(endpoints as usize + 1);
        offsets.push(0);
        Self {
            offsets,
            columns: Vec::with_capacity(entries_hint),
            bytes: Vec::with_capacity(entries_hint),
            packets: None,
            row: Vec::new(),
        }
    }

    /// Rows whose packets count, too.
    pub(crate) fn with_packets(mut self) -> Self {
        self.packets = Some(Vec::new());
        self
    }

    /// An entry of the current row.
    #[inline]
    pub(crate) fn push(&mut self, column: u32, bytes: f64) {
        self.row.push((column, bytes, 0.0));
    }

    /// An entry of the current row, its packets known.
    #[inline]
    pub(crate) fn push_with_packets(&mut self, column: u32, bytes: f64, packets: f64) {
        self.row.push((column, bytes, packets));
    }

    /// Ends the current row.
    pub(crate) fn end_row(&mut self) {
        let this = (self.offsets.len() - 1) as u32;
        let start = self.columns.len();
        self.row.sort_by_key(|&(column, ..)| column);
        for (column, bytes, packets) in self.row.drain(..) {
            if self.columns.len() > start && self.columns.last() == Some(&column) {
                *self.bytes.last_mut().expect("as many values as columns") += bytes;
                if let Some(last) = self.packets.as_mut().and_then(|p| p.last_mut()) {
                    *last += packets;
                }
            } else if column != this && bytes > 0.0 {
                self.columns.push(column);
                self.bytes.push(bytes);
                if let Some(all) = &mut self.packets {
                    all.push(packets);
                }
            }
        }
        self.offsets.push(self.columns.len() as u64);
    }

    pub(crate) fn finish(self) -> Traffic {
        Traffic::from_matrix(self.finish_matrix())
    }

    pub(crate) fn finish_matrix(self) -> Csr {
        Csr::from_parts(self.offsets, self.columns, self.bytes, self.packets)
    }
}

/// One partner a row: `to(i)` says whom `i` sends how much, if anybody.
pub(crate) fn one_each(endpoints: u32, mut to: impl FnMut(u32) -> Option<(u32, f64)>) -> Traffic {
    let mut rows = Rows::new(endpoints, endpoints as usize);
    for i in 0..endpoints {
        if let Some((j, bytes)) = to(i) {
            rows.push(j, bytes);
        }
        rows.end_row();
    }
    rows.finish()
}

/// Everybody to everybody else, `bytes` each.
pub(crate) fn all_to_all(endpoints: u32, bytes: f64) -> Traffic {
    let n = endpoints as usize;
    let per_row = n.saturating_sub(1);
    let mut columns = Vec::with_capacity(n * per_row);
    for i in 0..endpoints {
        columns.extend(0..i);
        columns.extend(i + 1..endpoints);
    }
    let offsets = (0..=n).map(|i| (i * per_row) as u64).collect();
    Traffic::from_matrix(Csr::from_parts(offsets, columns, vec![bytes; n * per_row], None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_equal_column_add_up_and_the_diagonal_goes() {
        let mut rows = Rows::new(3, 0);
        for (column, bytes) in [(2, 1.0), (1, 4.0), (2, 2.0), (0, 9.0)] {
            rows.push(column, bytes);
        }
        rows.end_row();
        rows.end_row();
        rows.end_row();
        let entries: Vec<_> = rows.finish().total().iter().collect();
        assert_eq!(entries, [(0, 1, 4.0), (0, 2, 3.0)]);
    }

    #[test]
    fn all_to_all_leaves_the_diagonal_out() {
        let m = all_to_all(3, 2.0).total().into_owned();
        assert_eq!(
            m.iter().map(|(i, j, _)| (i, j)).collect::<Vec<_>>(),
            [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
        );
        assert_eq!(m.total_bytes(), 12.0);
        assert_eq!(all_to_all(1, 2.0).total().entry_count(), 0);
    }
}
