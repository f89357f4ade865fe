//! Bases in which the traffic of applications is sparse.
//!
//! A matrix of bytes between `n` ranks has `n * n` cells, `[destination * n + source]`, numbered as the ranks are. A basis turns them into
//! as many coefficients (`analyse`), of which few are not zero where the traffic has the structure that the basis is for:
//!
//! | basis | a coefficient is |
//! |---|---|
//! | `identity` | a cell |
//! | `symmetric` | a pair's two cells added up, below the diagonal; the upper less the lower, above it |
//! | `differences` | a cell less the one before it on its diagonal: one rank down, one rank on |
//! | `copy-shift` | a cell less the same cell of the block before: a diagonal block of `b` ranks, halved, has two quarters off the diagonal, and these repeat every `b` ranks; `n` is a power of two |
//!
//! The last two only ever compare cells of one triangle, so each can be followed by the symmetric one, in either order.
//!
//! Invariants: `synthesise` undoes `analyse`; `transposed` is its adjoint.
//!
//! Source: Taffet, dissertation, sec. 4.3.1–4.3.5.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use netloom_model::Csr;

/// What a cell is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Before {
    /// Nothing: it is a coefficient itself.
    Nothing,
    /// The cell before it on its diagonal.
    Diagonal,
    /// The same cell of the block before.
    Block,
}

/// An invertible basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Basis {
    /// What a cell is compared with.
    pub before: Before,
    /// Whether a pair's two coefficients then become their sum and their difference.
    pub symmetric: bool,
}

/// A basis, or a dictionary of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frame {
    /// Coefficients of a matrix are unique.
    Basis(Basis),
    /// A matrix is the sum of two, each in a basis of its own (eq. 4.3.5): symmetric differences; and symmetric copy-shift, or where that
    /// is not defined the symmetric basis.
    Dictionary,
}

impl Frame {
    /// All of them, as table 4.1 has them.
    pub const ALL: [Self; 7] = [
        Self::Basis(Basis { before: Before::Nothing, symmetric: false }),
        Self::Basis(Basis { before: Before::Nothing, symmetric: true }),
        Self::Basis(Basis { before: Before::Diagonal, symmetric: false }),
        Self::Basis(Basis { before: Before::Diagonal, symmetric: true }),
        Self::Basis(Basis { before: Before::Block, symmetric: false }),
        Self::Basis(Basis { before: Before::Block, symmetric: true }),
        Self::Dictionary,
    ];

    /// As in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basis(Basis { before: Before::Nothing, symmetric: false }) => "identity",
            Self::Basis(Basis { before: Before::Nothing, symmetric: true }) => "symmetric",
            Self::Basis(Basis { before: Before::Diagonal, symmetric: false }) => "differences",
            Self::Basis(Basis { before: Before::Diagonal, symmetric: true }) => "symmetric-differences",
            Self::Basis(Basis { before: Before::Block, symmetric: false }) => "copy-shift",
            Self::Basis(Basis { before: Before::Block, symmetric: true }) => "symmetric-copy-shift",
            Self::Dictionary => "dictionary",
        }
    }

    /// The bases that a matrix of so many ranks is a sum of.
    pub fn parts(self, ranks: usize) -> Vec<Basis> {
        match self {
            Self::Basis(basis) => vec![basis],
            Self::Dictionary => {
                let other = if ranks.is_power_of_two() { Before::Block } else { Before::Nothing };
                [Before::Diagonal, other].map(|before| Basis { before, symmetric: true }).into()
            }
        }
    }

    /// Whether it is defined for so many ranks.
    pub fn is_defined(self, ranks: usize) -> bool {
        self.parts(ranks).iter().all(|part| part.is_defined(ranks))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Frame {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|frame| frame.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name}: no such basis; expected one of {names}")
        })
    }
}

impl Basis {
    /// Copy-shift needs a power of two.
    pub fn is_defined(self, ranks: usize) -> bool {
        self.before != Before::Block || ranks.is_power_of_two()
    }

    /// Coefficients of the cells of `n` ranks, in their place.
    pub fn analyse(self, n: usize, cells: &mut [f64]) {
        self.compare(n, cells, -1.0);
        if self.symmetric {
            both_ways(n, cells, |here, back| (here + back, back - here));
        }
    }

    /// The same with every entry of the matrix as its size.
    pub fn analyse_sizes(self, n: usize, cells: &mut [f64]) {
        self.compare(n, cells, 1.0);
        if self.symmetric {
            both_ways(n, cells, |here, back| (here + back, here + back));
        }
    }

    /// The adjoint of `analyse`.
    pub fn transposed(self, n: usize, cells: &mut [f64]) {
        if self.symmetric {
            both_ways(n, cells, |sum, difference| (sum - difference, sum + difference));
        }
        self.compare_back(n, cells, -1.0);
    }

    /// The adjoint of `analyse_sizes`.
    pub fn transposed_sizes(self, n: usize, cells: &mut [f64]) {
        if self.symmetric {
            both_ways(n, cells, |sum, difference| (sum + difference, sum + difference));
        }
        self.compare_back(n, cells, 1.0);
    }

    /// The cells that have these coefficients.
    pub fn synthesise(self, n: usize, cells: &mut [f64]) {
        if self.symmetric {
            both_ways(n, cells, |sum, difference| (0.5 * (sum - difference), 0.5 * (sum + difference)));
        }
        // Rows rise, so what is added is a cell by now.
        for row in 0..n {
            self.before.each_in(n, row, |step, columns| {
                let (done, rest) = cells.split_at_mut(row * n);
                let before = &done[(row - step) * n..][columns.start - step..columns.end - step];
                rest[columns].iter_mut().zip(before).for_each(|(cell, before)| *cell += before);
            });
        }
    }

    fn compare(self, n: usize, cells: &mut [f64], sign: f64) {
        // Rows fall, so what is compared with is still a cell.
        for row in (0..n).rev() {
            self.before.each_in(n, row, |step, columns| {
                let (others, mine) = cells.split_at_mut(row * n);
                let before = &others[(row - step) * n..][columns.start - step..columns.end - step];
                mine[columns].iter_mut().zip(before).for_each(|(cell, before)| *cell += sign * before);
            });
        }
    }

    fn compare_back(self, n: usize, cells: &mut [f64], sign: f64) {
        // Rows rise: a row is handed back before anything is handed to it.
        for row in 0..n {
            self.before.each_in(n, row, |step, columns| {
                let (others, mine) = cells.split_at_mut(row * n);
                let before = &mut others[(row - step) * n..][columns.start - step..columns.end - step];
                before.iter_mut().zip(&mine[columns]).for_each(|(before, cell)| *before += sign * cell);
            });
        }
    }
}

impl Before {
    /// Calls `visit(step, columns)` for the cells of a row that are compared, with `(row - step, column - step)`.
    fn each_in(self, n: usize, row: usize, mut visit: impl FnMut(usize, Range<usize>)) {
        match self {
            Self::Nothing => {}
            Self::Diagonal if row > 0 => visit(1, 1..n),
            Self::Diagonal => {}
            Self::Block => {
                let mut block = 2;
                while block <= row {
                    let start = row & !(block - 1);
                    let middle = start + block / 2;
                    visit(block, if row < middle { middle..start + block } else { start..middle });
                    block *= 2;
                }
            }
        }
    }
}

/// A pair's two cells, below the diagonal and above it, become two others; what is on the diagonal stays: nobody sends to himself.
fn both_ways(n: usize, cells: &mut [f64], to: impl Fn(f64, f64) -> (f64, f64)) {
    for row in 0..n {
        for column in 0..row {
            let (below, above) = (row * n + column, column * n + row);
            (cells[below], cells[above]) = to(cells[below], cells[above]);
        }
    }
}

/// The cells of the ranks from `first` on, out of a matrix by source; what a rank sends to itself is none of them.
pub fn cells(matrix: &Csr, first: usize, n: usize) -> Vec<f64> {
    let mut cells = vec![0.0; n * n];
    for source in first..(first + n).min(matrix.size()) {
        let (columns, bytes) = matrix.row(source);
        for (&to, &bytes) in columns.iter().zip(bytes) {
            let to = to as usize;
            if to != source && (first..first + n).contains(&to) {
                cells[(to - first) * n + source - first] += bytes;
            }
        }
    }
    cells
}
