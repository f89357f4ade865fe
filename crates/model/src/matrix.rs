//! Sparse matrices of bytes in compressed rows.
//!
//! Invariants: `offsets` has one more entry than rows, starts at 0 and never falls; columns rise within
//! a row; values are finite and positive.

/// A square sparse matrix: entry `(i, j)` is what endpoint `i` sends to endpoint `j`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Csr {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    bytes: Vec<f64>,
    packets: Option<Vec<f64>>,
}

impl Csr {
    /// Wraps arrays that already obey the invariants.
    ///
    /// # Panics
    /// If the lengths disagree; in debug builds also if columns do not rise or a value is not positive.
    pub fn from_parts(
        offsets: Vec<u64>,
        columns: Vec<u32>,
        bytes: Vec<f64>,
        packets: Option<Vec<f64>>,
    ) -> Self {
        assert!(!offsets.is_empty() && offsets[0] == 0, "offsets start at 0");
        assert_eq!(*offsets.last().unwrap() as usize, columns.len());
        assert_eq!(columns.len(), bytes.len());
        assert!(packets.as_ref().is_none_or(|p| p.len() == bytes.len()));
        debug_assert!(offsets.windows(2).all(|w| {
            w[0] <= w[1] && columns[w[0] as usize..w[1] as usize].windows(2).all(|c| c[0] < c[1])
        }));
        debug_assert!(bytes.iter().all(|b| b.is_finite() && *b > 0.0));
        Self { offsets, columns, bytes, packets }
    }

    /// A matrix of `n` rows without entries.
    pub fn empty(n: usize) -> Self {
        Self { offsets: vec![0; n + 1], columns: Vec::new(), bytes: Vec::new(), packets: None }
    }

    /// Number of rows (= columns).
    pub fn size(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of entries.
    pub fn entry_count(&self) -> usize {
        self.columns.len()
    }

    /// Columns and bytes of one row.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.columns[range.clone()], &self.bytes[range])
    }

    /// All entries `(row, column, bytes)` in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        (0..self.size()).flat_map(|i| {
            let (columns, bytes) = self.row(i);
            columns.iter().zip(bytes).map(move |(&j, &b)| (i as u32, j, b))
        })
    }

    /// Row offsets into [`columns`](Self::columns); one more than rows.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Column of every entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Bytes of every entry.
    pub fn bytes(&self) -> &[f64] {
        &self.bytes
    }

    /// Packets of every entry, where they are known.
    pub fn packets(&self) -> Option<&[f64]> {
        self.packets.as_deref()
    }

    /// Sum of all entries in bytes.
    pub fn total_bytes(&self) -> f64 {
        // `sum` of nothing is -0.0.
        self.bytes.iter().fold(0.0, |sum, b| sum + b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_adds_up_to_a_positive_zero() {
        assert_eq!(Csr::empty(2).total_bytes().to_bits(), 0.0f64.to_bits());
        assert_eq!(Csr::from_parts(vec![0, 2], vec![0, 1], vec![1.0, 2.0], None).total_bytes(), 3.0);
    }
}
