//! Links to be filled, as a packing sees them.

/// The links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bins {
    /// Relative capacity of each.
    pub capacity: Vec<f64>,
    /// Bytes that each carries already.
    pub base: Vec<f64>,
}

impl Bins {
    /// Links of equal capacity that carry nothing yet.
    #[cfg(test)]
    pub fn even(m: usize) -> Self {
        Self { capacity: vec![1.0; m], base: vec![0.0; m] }
    }

    pub fn len(&self) -> usize {
        self.capacity.len()
    }

    /// Whether all are alike and empty.
    pub fn alike(&self) -> bool {
        let first = self.capacity.first().copied().unwrap_or(1.0);
        self.capacity.iter().all(|&c| c == first) && self.base.iter().all(|&f| f == 0.0)
    }

    /// Room of every link below a load of `z`, in bytes, never negative.
    pub fn rooms(&self, z: f64) -> impl Iterator<Item = f64> + '_ {
        self.capacity.iter().zip(&self.base).map(move |(c, f)| (z * c - f).max(0.0))
    }

    /// A load that any list order of items of these `total` bytes, the `largest` among them, stays below.
    pub fn at_most(&self, total: f64, largest: f64) -> f64 {
        let spare = (self.len() as f64 - 1.0) * largest;
        let full = (self.base.iter().sum::<f64>() + total + spare) / self.capacity.iter().sum::<f64>();
        self.capacity.iter().zip(&self.base).map(|(c, f)| f / c).fold(full, f64::max)
    }
}
