//! Non-negative least squares over columns that come one by one.
//!
//! Minimises `|A y - b|` over `y >= 0`, where only the Gram matrix `A'A` and `A'b` are kept: columns are as long as they like. The
//! active-set method keeps a set of columns whose coefficients are positive and solves for them; from one solution to the next few
//! columns change sides, so a column more costs a few small systems.
//!
//! Invariants: coefficients are never negative; a solution has no column whose increase would lessen the residual by more than the
//! tolerance (relative to the columns' norms), but for columns that depend on those in use.
//!
//! Source: Lawson and Hanson, *Solving Least Squares Problems*, 1974, ch. 23; kept as Gram matrix after Bro and de Jong, *A fast
//! non-negativity-constrained least squares algorithm*, J. Chemometrics 11, 1997.

/// A pivot below this share of its column's square norm: the column depends on the ones before.
const DEPENDENT: f64 = 1e-11;

/// What a column's square norm grows by where combinations are chosen by liking.
const RIDGE: f64 = 1e-7;

/// Columns, the target's products with them, and the best non-negative combination.
#[derive(Clone, Debug, Default)]
pub struct NonNegative {
    /// `[column][column]`, lower triangle by rows.
    gram: Vec<Vec<f64>>,
    /// `[column]`: product with the target.
    target: Vec<f64>,
    /// `[column]`: the combination.
    coefficient: Vec<f64>,
    /// Columns with positive coefficients, in the order in which they came in.
    used: Vec<usize>,
}

impl NonNegative {
    /// No columns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Columns so far.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there is no column yet.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// Adds a column, given its products with those before and itself (in order) and with the target.
    pub fn push(&mut self, products: Vec<f64>, with_target: f64) {
        debug_assert_eq!(products.len(), self.len() + 1);
        self.gram.push(products);
        self.target.push(with_target);
        self.coefficient.push(0.0);
    }

    /// Another target: its products with all columns, in order.
    pub fn retarget(&mut self, with_target: impl Iterator<Item = f64>) {
        self.target = with_target.collect();
        debug_assert_eq!(self.target.len(), self.gram.len());
    }

    /// The same with some of the columns; to be solved again.
    pub fn among(&self, keep: impl Fn(usize) -> bool) -> Self {
        let of = |of: &[f64]| (of.iter().enumerate().filter(|(at, _)| keep(*at))).map(|(_, v)| *v).collect();
        let rows = self.gram.iter().enumerate().filter(|(at, _)| keep(*at));
        let gram: Vec<Vec<f64>> = rows.map(|(_, row)| of(row)).collect();
        let coefficient = vec![0.0; gram.len()];
        Self { gram, target: of(&self.target), coefficient, used: Vec::new() }
    }

    /// The same where columns are liked by so much more than they help: of combinations that are equally good, the one that is liked best,
    /// for small amounts; to be solved again.
    #[must_use]
    pub fn tilted(mut self, by: impl Fn(usize) -> f64) -> Self {
        for (column, target) in self.target.iter_mut().enumerate() {
            *target += by(column) * self.gram[column][column].sqrt();
            // Columns that depend on others may come in instead of them.
            self.gram[column][column] *= 1.0 + RIDGE;
        }
        self
    }

    /// The combination, one coefficient a column.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficient
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        if a >= b { self.gram[a][b] } else { self.gram[b][a] }
    }

    /// Half the slope of the squared residual down a column.
    fn gain(&self, column: usize) -> f64 {
        let explained: f64 = self.used.iter().map(|&u| self.product(column, u) * self.coefficient[u]).sum();
        self.target[column] - explained
    }

    /// Finds the best combination, starting from the last. `tolerance`: how large a cosine between a column and the residual (relative
    /// to the target's norm) is left alone.
    pub fn solve(&mut self, target_norm: f64, tolerance: f64) {
        // A column that depends on others is not tried again in this call.
        let mut barred = vec![false; self.len()];
        self.solve_passive(&mut barred);
        for _ in 0..8 * self.len() + 8 {
            let best = (0..self.len())
                .filter(|&c| self.coefficient[c] == 0.0 && !barred[c] && self.gram[c][c] > 0.0)
                .map(|c| (c, self.gain(c) / self.gram[c][c].sqrt()))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            match best {
                Some((column, gain)) if gain > tolerance * target_norm => {
                    self.used.push(column);
                    self.solve_passive(&mut barred);
                }
                _ => break,
            }
        }
    }

    /// Solves for the columns in use; those that would become negative leave.
    fn solve_passive(&mut self, barred: &mut [bool]) {
        loop {
            let (solution, dependent) = self.least_squares();
            if let Some(column) = dependent {
                self.used.retain(|&u| u != column);
                self.coefficient[column] = 0.0;
                barred[column] = true;
                continue;
            }
            // The first coefficient to reach zero on the way from the last solution to this one.
            let step = (self.used.iter().zip(&solution))
                .filter(|&(_, &to)| to <= 0.0)
                .map(|(&u, &to)| {
                    let from = self.coefficient[u];
                    (if from > 0.0 { from / (from - to) } else { 0.0 }, u)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let share = step.map_or(1.0, |(share, _)| share);
            for (&u, &to) in self.used.iter().zip(&solution) {
                let from = self.coefficient[u];
                self.coefficient[u] = if share < 1.0 { (from + share * (to - from)).max(0.0) } else { to };
            }
            let Some((_, leaver)) = step else { return };
            // Only the newcomer starts at zero; if it can't rise, rounding alone made it look good.
            barred[leaver] |= share == 0.0;
            self.coefficient[leaver] = 0.0;
            self.used.retain(|&u| u != leaver);
        }
    }

    /// The unconstrained solution for the columns in use (Cholesky), or the first column that depends on those before it.
    fn least_squares(&self) -> (Vec<f64>, Option<usize>) {
        let n = self.used.len();
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (done_i, done_j) = (&factor[i * n..i * n + j], &factor[j * n..j * n + j]);
                let dot: f64 = done_i.iter().zip(done_j).map(|(a, b)| a * b).sum();
                let rest = self.product(self.used[i], self.used[j]) - dot;
                if i == j {
                    if rest <= DEPENDENT * self.product(self.used[i], self.used[i]) {
                        return (Vec::new(), Some(self.used[i]));
                    }
                    factor[i * n + i] = rest.sqrt();
                } else {
                    factor[i * n + j] = rest / factor[j * n + j];
                }
            }
        }
        let mut x: Vec<f64> = self.used.iter().map(|&u| self.target[u]).collect();
        for i in 0..n {
            let dot: f64 = factor[i * n..i * n + i].iter().zip(&x).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - dot) / factor[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] /= factor[i * n + i];
            for j in 0..i {
                x[j] -= factor[i * n + j] * x[i];
            }
        }
        (x, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn solve(columns: &[&[f64]], target: &[f64]) -> Vec<f64> {
        let mut problem = NonNegative::new();
        for (c, column) in columns.iter().enumerate() {
            let products = columns[..=c].iter().map(|other| dot(column, other)).collect();
            problem.push(products, dot(column, target));
        }
        problem.solve(dot(target, target).sqrt(), 1e-12);
        problem.coefficients().to_vec()
    }

    #[test]
    fn what_is_a_combination_is_found() {
        let y = solve(&[&[1.0, 1.0, 0.0], &[0.0, 1.0, 1.0]], &[2.0, 5.0, 3.0]);
        assert!((y[0] - 2.0).abs() < 1e-12 && (y[1] - 3.0).abs() < 1e-12, "{y:?}");
    }

    /// Without the sign, the second column's coefficient is -1 (y = 3, -1); with it, the first alone is best: (5, 1)(1, 0.5) / 1.25.
    #[test]
    fn a_negative_coefficient_becomes_zero() {
        let y = solve(&[&[1.0, 1.0], &[1.0, 2.0]], &[2.0, 1.0]);
        assert_eq!(y[1], 0.0);
        assert!((y[0] - 1.5).abs() < 1e-12, "{y:?}");
    }

    #[test]
    fn a_column_there_twice_does_no_harm() {
        let y = solve(&[&[1.0, 2.0], &[1.0, 2.0], &[0.0, 1.0]], &[1.0, 3.0]);
        assert!((y[0] + y[1] - 1.0).abs() < 1e-9 && (y[2] - 1.0).abs() < 1e-9, "{y:?}");
    }

    /// (2, 2) is 2 (1, 0) + 2 (0, 1), or 2 (1, 1): whichever is liked.
    #[test]
    fn of_equally_good_combinations_the_one_that_is_liked_is_chosen() {
        let (columns, target) = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 2.0]);
        let mut problem = NonNegative::new();
        for (c, column) in columns.iter().enumerate() {
            problem
                .push(columns[..=c].iter().map(|other| dot(column, other)).collect(), dot(column, &target));
        }
        problem.solve(8f64.sqrt(), 1e-12);
        for (liked, used) in [(2, [false, false, true]), (0, [true, true, false])] {
            let mut other = problem.clone().tilted(|column| if column == liked { 1e-4 } else { 0.0 });
            other.solve(8f64.sqrt(), 1e-9);
            assert_eq!([0, 1, 2].map(|c| other.coefficients()[c] > 1e-3), used);
        }
    }

    /// Karush-Kuhn-Tucker on 40 random problems: no slope down a column at zero, none either way at a positive coefficient.
    #[test]
    fn random_problems_end_where_nothing_gains() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.4
        };
        for _ in 0..40 {
            let columns: Vec<Vec<f64>> = (0..12).map(|_| (0..15).map(|_| next()).collect()).collect();
            let target: Vec<f64> = (0..15).map(|_| next()).collect();
            let y = solve(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &target);
            let residual: Vec<f64> = (0..15)
                .map(|r| target[r] - columns.iter().zip(&y).map(|(c, y)| c[r] * y).sum::<f64>())
                .collect();
            for (column, &y) in columns.iter().zip(&y) {
                let slope = dot(column, &residual);
                assert!(y >= 0.0 && slope < 1e-9 && (y == 0.0 || slope > -1e-9), "{y} {slope}");
            }
        }
    }
}
