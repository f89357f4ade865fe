//! Least sums of coefficients: `min |W z|_1` over `z >= 0` with `M z = b`.
//!
//! `M` is what is measured (the counters' operator, or the cells themselves), `W` what a basis makes of the cells, part by part where a
//! matrix is a sum of two. It is a linear program whose rows are those of `M` and the coefficients, which may be anything but zero at a
//! price of 1 a byte ([`netloom_numeric::pdhg`]). Neither matrix is stored.
//!
//! Source: Taffet, dissertation, eq. 4.3.3 (analysis form), 4.3.5 (dictionary), 4.5.6 (several jobs).

use netloom_numeric::{LinearMap, LinearProgram, LpAnswer, LpEffort, solve_lp};

use super::bases::{Basis, Frame};

/// What is measured of traffic, and below that its coefficients.
pub(crate) struct Coefficients<'a, M> {
    measured: &'a M,
    /// Unknowns are those of the measurement, part by part.
    parts: usize,
    /// `[matrix]`: its ranks, and the bases of the parts.
    matrices: Vec<(usize, Vec<Basis>)>,
    /// `[unknown of a part]`: its cell, matrices one after the other.
    cell: Vec<u32>,
    cells: usize,
}

impl<'a, M: LinearMap> Coefficients<'a, M> {
    /// Of matrices of so many ranks each.
    pub fn new(measured: &'a M, ranks: impl Iterator<Item = usize>, cell: Vec<u32>, frame: Frame) -> Self {
        assert_eq!(cell.len(), measured.columns());
        let matrices: Vec<_> = ranks.map(|n| (n, frame.parts(n))).collect();
        let parts = matrices.first().map_or(1, |(_, parts)| parts.len());
        let cells = matrices.iter().map(|(n, _)| n * n).sum();
        Self { measured, parts, matrices, cell, cells }
    }

    /// The least sum of coefficients with this target, but for its slack.
    pub fn least(
        &self,
        target: &[f64],
        slack: &[f64],
        effort: &LpEffort,
        stop: impl FnMut() -> bool,
    ) -> LpAnswer {
        let with = |measured: &[f64], coefficients: f64| {
            let mut rows = measured.to_vec();
            rows.resize(self.rows(), coefficients);
            rows
        };
        let price = with(&vec![f64::INFINITY; target.len()], 1.0);
        let mean = target.iter().sum::<f64>() / self.cell.len().max(1) as f64;
        let program = LinearProgram {
            map: self,
            cost: &vec![0.0; self.columns()],
            target: &with(target, 0.0),
            slack: &with(slack, 0.0),
            price: Some(&price),
            size: &vec![mean.max(f64::MIN_POSITIVE); self.columns()],
        };
        solve_lp(&program, effort, stop)
    }

    /// `[unknown of a part]`: all parts together.
    pub fn sum(&self, z: &[f64]) -> Vec<f64> {
        let mut x = z[..self.cell.len()].to_vec();
        for part in self.split(z).skip(1) {
            x.iter_mut().zip(part).for_each(|(x, z)| *x += z);
        }
        x
    }

    /// The parts of `z`.
    pub fn split<'b>(&self, z: &'b [f64]) -> impl Iterator<Item = &'b [f64]> {
        z.chunks(self.cell.len().max(1)).take(self.parts)
    }

    fn down(&self, z: &[f64], turn: impl Fn(Basis, usize, &mut [f64])) -> Vec<f64> {
        let mut rows = self.measured.forward(&self.sum(z));
        rows.reserve_exact(self.parts * self.cells);
        for (part, z) in self.split(z).enumerate() {
            let start = rows.len();
            rows.resize(start + self.cells, 0.0);
            let cells = &mut rows[start..];
            self.cell.iter().zip(z).for_each(|(&cell, z)| cells[cell as usize] = *z);
            self.each_matrix(part, cells, &turn);
        }
        rows
    }

    fn up(&self, y: &[f64], turn: impl Fn(Basis, usize, &mut [f64])) -> Vec<f64> {
        let (measured, coefficients) = y.split_at(self.measured.rows());
        let by_measured = self.measured.adjoint(measured);
        let mut z = Vec::with_capacity(self.columns());
        for part in 0..self.parts {
            let mut cells = coefficients[part * self.cells..(part + 1) * self.cells].to_vec();
            self.each_matrix(part, &mut cells, &turn);
            z.extend(self.cell.iter().zip(&by_measured).map(|(&cell, sum)| sum + cells[cell as usize]));
        }
        z
    }

    fn each_matrix(&self, part: usize, mut cells: &mut [f64], turn: &impl Fn(Basis, usize, &mut [f64])) {
        for (n, parts) in &self.matrices {
            let (mine, rest) = cells.split_at_mut(n * n);
            turn(parts[part], *n, mine);
            cells = rest;
        }
    }
}

impl<M: LinearMap> LinearMap for Coefficients<'_, M> {
    fn rows(&self) -> usize {
        self.measured.rows() + self.parts * self.cells
    }

    fn columns(&self) -> usize {
        self.parts * self.cell.len()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        self.down(z, Basis::analyse)
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        self.up(y, Basis::transposed)
    }

    fn forward_sizes(&self, z: &[f64]) -> Vec<f64> {
        self.down(z, Basis::analyse_sizes)
    }

    fn adjoint_sizes(&self, y: &[f64]) -> Vec<f64> {
        self.up(y, Basis::transposed_sizes)
    }
}
