//! How few coefficients a matrix has in a basis (table 4.1).
//!
//! In a dictionary there are many ways to write a matrix; counted is the one whose coefficients add up to least, as a linear program
//! finds it (`coefficients`).
//!
//! Source: Taffet, dissertation, sec. 4.3.6.

use netloom_model::Control;
use netloom_numeric::{LinearMap, LpEffort};

use super::bases::{Basis, Frame};
use super::coefficients::Coefficients;

/// Coefficients below this part of the largest are none.
const NOTHING: f64 = 1e-9;
/// Where the linear program found them.
const NEARLY_NOTHING: f64 = 1e-4;
/// What it may cost.
const EFFORT: LpEffort = LpEffort { steps: 1_000, tolerance: 1e-6 };
/// The norm of the error that is no more than this part of the matrix's.
const ERROR: f64 = 0.1;
/// The norm of the coefficients that keeps at least this part.
const POWER: f64 = 0.9;

/// How many coefficients there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// That are not zero.
    pub all: usize,
    /// The largest of them that suffice for an error of 10 %.
    pub of_error: usize,
    /// The largest of them that keep 90 % of their norm.
    pub of_power: usize,
}

/// Of the cells of `n` ranks (`[destination * n + source]`); `None` where the frame is not defined.
pub fn sparsity(frame: Frame, n: usize, cells: &[f64], control: &Control) -> Option<Sparsity> {
    assert_eq!(cells.len(), n * n);
    if !frame.is_defined(n) {
        return None;
    }
    let bases = frame.parts(n);
    let mut parts: Vec<(Basis, Vec<f64>)> = if let [basis] = bases[..] {
        vec![(basis, cells.to_vec())]
    } else {
        bases.into_iter().zip(cheapest_parts(frame, n, cells, control)).collect()
    };
    for (basis, part) in &mut parts {
        basis.analyse(n, part);
    }
    let least = if parts.len() > 1 { NEARLY_NOTHING } else { NOTHING };
    let mut sizes: Vec<f64> = parts.iter().flat_map(|(_, part)| part).map(|c| c.abs()).collect();
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let least = least * sizes.first().copied().unwrap_or_default();
    sizes.truncate(sizes.partition_point(|&size| size > least));

    // Equal coefficients are in or out together.
    let most = sizes.len();
    let mut counts: Vec<usize> = (1..most).filter(|&k| sizes[k] < sizes[k - 1]).collect();
    counts.push(most);
    let enough = |good: &dyn Fn(usize) -> bool| {
        let at = counts.partition_point(|&count| !good(count));
        counts.get(at).copied().unwrap_or(most)
    };
    let squares: Vec<f64> = sizes
        .iter()
        .scan(0.0, |sum, size| {
            *sum += size * size;
            Some(*sum)
        })
        .collect();
    let all_of_it = squares.last().copied().unwrap_or_default();
    let has_power = |count: usize| count == 0 || squares[count - 1] >= POWER * POWER * all_of_it;
    let is_close = |count: usize| count == 0 || off(n, &parts, sizes[count - 1], cells) <= ERROR;
    Some(Sparsity { all: most, of_error: enough(&is_close), of_power: enough(&has_power) })
}

/// The relative error of what coefficients from this size on make.
fn off(n: usize, parts: &[(Basis, Vec<f64>)], least: f64, cells: &[f64]) -> f64 {
    let mut made = vec![0.0; n * n];
    for (basis, part) in parts {
        let mut kept: Vec<f64> = part.iter().map(|&c| if c.abs() >= least { c } else { 0.0 }).collect();
        basis.synthesise(n, &mut kept);
        made.iter_mut().zip(kept).for_each(|(made, kept)| *made += kept);
    }
    let square = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>();
    let wrong = square(&mut made.iter().zip(cells).map(|(a, b)| a - b));
    (wrong / square(&mut cells.iter().copied())).sqrt()
}

/// The parts that cells are the sum of, none negative, whose coefficients add up to least.
fn cheapest_parts(frame: Frame, n: usize, cells: &[f64], control: &Control) -> Vec<Vec<f64>> {
    let used: Vec<u32> = (0..cells.len() as u32).filter(|&c| cells[c as usize] > 0.0).collect();
    let target: Vec<f64> = used.iter().map(|&c| cells[c as usize]).collect();
    let themselves = Themselves(used.len());
    let map = Coefficients::new(&themselves, std::iter::once(n), used.clone(), frame);
    let answer = map.least(&target, &vec![0.0; target.len()], &EFFORT, || control.stopped().is_some());
    let mut parts: Vec<Vec<f64>> = (map.split(&answer.values))
        .map(|part| {
            let mut whole = vec![0.0; cells.len()];
            used.iter().zip(part).for_each(|(&cell, z)| whole[cell as usize] = *z);
            whole
        })
        .collect();
    // What is still off goes to the larger part.
    if let [one, other] = &mut parts[..] {
        for (cell, (a, b)) in one.iter_mut().zip(other).enumerate() {
            let off = cells[cell] - *a - *b;
            *if *a >= *b { a } else { b } += off;
        }
    }
    parts
}

/// Cells that are measured one by one.
struct Themselves(usize);

impl LinearMap for Themselves {
    fn rows(&self) -> usize {
        self.0
    }

    fn columns(&self) -> usize {
        self.0
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        z.to_vec()
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        y.to_vec()
    }
}
