//! The few atoms that explain the counters: orthogonal matching pursuit.
//!
//! Step by step the atom whose column is most like the residual comes in, and all coefficients are fitted again (non-negative least
//! squares). Rows are weighted by the inverse of their bytes, so that small atoms on quiet links count as much as large ones on busy
//! links. A column is made only when its atom looks good; until then its norm is estimated from the number of its pairs.
//!
//! Knows a job's own rows, its dictionary on a grid, and which grid explains the rows best ([`ranked_grids`]); it sees one job at a time.
//!
//! Source: Tropp and Gilbert, *Signal recovery from random measurements via orthogonal matching pursuit*, IEEE Trans. Inf. Theory 53, 2007.

mod collective_grid;
mod ranking;

pub use self::ranking::{Ranked, ranked_grids};

use netloom_model::Control;
use netloom_model::rng::{Stream, normal};
use netloom_numeric::NonNegative;

use crate::dictionary::{Atom, Dictionary, Hypothesis, Pattern};
use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::PursuitSettings;

/// A residual that is this small (relative) is nothing.
const NOTHING: f64 = 1e-12;
/// Bytes that are this part of the largest atom's are a trace.
const TRACE: f64 = 1e-9;

/// A pursuit that can go on.
#[derive(Clone, Debug)]
pub struct Pursuit<'a> {
    operator: &'a Operator,
    settings: &'a PursuitSettings,
    /// What there is to choose from.
    pub dictionary: Dictionary<'a>,
    /// The atoms that came in first.
    pattern: Pattern,
    /// How many.
    begun: usize,
    target: &'a Target,
    target_norm: f64,
    /// A residual that is this small (relative) is nothing, or noise.
    enough: f64,
    /// Atoms that came in, and their weighted columns as (row, value).
    columns: Vec<(usize, Vec<(u32, f64)>)>,
    fit: NonNegative,
    /// `[row]`: weighted residual.
    residual: Vec<f64>,
}

impl<'a> Pursuit<'a> {
    /// Nothing explained yet.
    pub fn new(
        operator: &'a Operator,
        dictionary: Dictionary<'a>,
        target: &'a Target,
        settings: &'a PursuitSettings,
    ) -> Self {
        let residual = target.bytes.iter().zip(&target.weight).map(|(b, w)| b * w).collect();
        let (target_norm, enough) = (target.norm(), target.noise().max(NOTHING));
        let (columns, fit) = (Vec::new(), NonNegative::new());
        let pattern = Pattern::Neighbours;
        let begun = 0;
        #[rustfmt::skip]
        let new = Self { operator, settings, dictionary, pattern, begun, target, target_norm, enough, columns, fit, residual };
        new
    }

    /// The grid, and what came in first.
    pub fn hypothesis(&self) -> Hypothesis {
        Hypothesis { grid: self.dictionary.grid(), pattern: self.pattern }
    }

    /// An atom's weighted column.
    fn column(&self, atom: usize) -> Vec<(u32, f64)> {
        let weight = &self.target.weight;
        let weighted = |(row, pairs): (u32, f64)| (row, pairs * weight[row as usize]);
        self.dictionary.column(atom).into_iter().map(weighted).collect()
    }

    /// Takes in all neighbours on the grid at once; or nothing but the atom of all pairs, if that explains everything.
    pub fn neighbours(&mut self, control: &Control) {
        self.begin(Pattern::Neighbours, control);
    }

    /// Takes in all atoms of a pattern at once; or nothing but the atom of all pairs, if that explains everything. When stopped, those
    /// that came first.
    pub fn begin(&mut self, pattern: Pattern, control: &Control) {
        self.pattern = pattern;
        if control.stopped().is_some() {
            return;
        }
        if let Some(all) = self.dictionary.all() {
            let column = self.column(all);
            self.add(all, column);
            self.refit();
            if self.is_done() {
                return;
            }
            // All pairs and their parts, as groups are, go together.
            if !matches!(pattern, Pattern::Groups | Pattern::Mixed) {
                self.columns.clear();
                self.fit = NonNegative::new();
            }
        }
        for atom in
            self.dictionary.add_pattern(pattern).into_iter().take_while(|_| control.stopped().is_none())
        {
            let column = self.column(atom);
            self.add(atom, column);
        }
        self.refit();
        // Of shifts there are as many as ranks: those in use were chosen.
        self.begun = if pattern == Pattern::Shifts { 0 } else { self.tried() };
    }

    /// Takes up to `steps` more atoms in; ends early where none helps, or when stopped.
    pub fn advance(&mut self, steps: usize, control: &Control) {
        for _ in 0..steps {
            if self.is_done() || control.stopped().is_some() {
                return;
            }
            let u: Vec<f64> = self.residual.iter().zip(&self.target.weight).map(|(r, w)| r * w).collect();
            let correlation = self.dictionary.correlation(&u).into_iter().enumerate();
            let mut likely: Vec<(f64, usize)> = correlation
                .filter(|&(at, score)| score > 0.0 && self.columns.iter().all(|c| c.0 != at))
                .map(|(at, score)| (score * self.dictionary.prior(at), at))
                .collect();
            let by_score = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            let candidates = self.settings.candidates;
            if likely.len() > candidates {
                likely.select_nth_unstable_by(candidates, by_score);
                likely.truncate(candidates);
            }
            likely.sort_by(by_score);
            let scored = likely.into_iter().map(|(_, atom)| {
                let column = self.column(atom);
                let norm = column.iter().map(|c| c.1 * c.1).sum::<f64>().sqrt();
                let with: f64 = column.iter().map(|&(r, v)| v * self.residual[r as usize]).sum();
                (if norm > 0.0 { self.dictionary.prior(atom) * with / norm } else { 0.0 }, atom, column)
            });
            let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((score, atom, column)) = best else { return };
            if score <= NOTHING * self.target_norm {
                return;
            }
            self.add(atom, column);
            self.refit();
        }
    }

    /// Takes an atom in.
    fn add(&mut self, atom: usize, column: Vec<(u32, f64)>) {
        let mut dense = vec![0.0; self.residual.len()];
        for &(row, value) in &column {
            dense[row as usize] = value;
        }
        let dot = |other: &[(u32, f64)]| other.iter().map(|&(r, v)| v * dense[r as usize]).sum::<f64>();
        let mut products: Vec<f64> = self.columns.iter().map(|(_, other)| dot(other)).collect();
        products.push(dot(&column));
        let Target { bytes, weight, .. } = self.target;
        let with_target = column.iter().map(|&(r, v)| v * bytes[r as usize] * weight[r as usize]).sum();
        self.fit.push(products, with_target);
        self.columns.push((atom, column));
    }

    /// Fits all atoms again.
    fn refit(&mut self) {
        let Target { bytes, weight, .. } = self.target;
        self.fit.solve(self.target_norm, 1e-13);
        for (r, residual) in self.residual.iter_mut().enumerate() {
            *residual = bytes[r] * weight[r];
        }
        for ((_, column), &bytes) in self.columns.iter().zip(self.fit.coefficients()) {
            if bytes > 0.0 {
                column.iter().for_each(|&(r, v)| self.residual[r as usize] -= v * bytes);
            }
        }
    }

    /// The same atoms fitted to other counters of the same rows: bytes of all pairs.
    pub fn refitted(&self, bytes: &[f64]) -> Vec<f64> {
        let mut fit = self.fit.clone();
        let weighted: Vec<f64> = bytes.iter().zip(&self.target.weight).map(|(b, w)| b * w).collect();
        let with = |column: &[(u32, f64)]| column.iter().map(|&(r, v)| v * weighted[r as usize]).sum();
        fit.retarget(self.columns.iter().map(|(_, column)| with(column)));
        fit.solve(self.target_norm, 1e-13);
        self.bytes_of(fit.coefficients())
    }

    /// What is left unexplained: weighted norm over the target's.
    pub fn left(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum::<f64>().sqrt() / self.target_norm.max(f64::MIN_POSITIVE)
    }

    /// How many atoms came in, in use or not.
    pub fn tried(&self) -> usize {
        self.columns.len()
    }

    /// Whether all is explained but noise.
    pub fn is_done(&self) -> bool {
        self.left() < self.enough
    }

    /// Whether nothing is in use but the atom of all pairs.
    pub fn is_all_pairs(&self) -> bool {
        let mut used = self.columns.iter().zip(self.fit.coefficients()).filter(|&(_, &bytes)| bytes > 0.0);
        used.all(|((at, _), _)| self.dictionary.atom(*at) == Atom::All)
    }

    /// The atoms in use and the bytes of each of their pairs.
    pub fn atoms(&self) -> Vec<(Atom, f64)> {
        (self.columns.iter().zip(self.fit.coefficients()))
            .filter(|&(_, &bytes)| bytes > 0.0)
            .map(|((at, _), &bytes)| (self.dictionary.atom(*at), bytes))
            .collect()
    }

    /// How many atoms carry more than a trace: the fewer, the simpler.
    pub fn simple(&self) -> usize {
        let most = self.fit.coefficients().iter().copied().fold(0.0, f64::max);
        self.fit.coefficients().iter().filter(|bytes| **bytes > TRACE * most).count()
    }

    /// Bytes of an atom that are no more than a trace, or than what noise makes.
    fn trace(&self) -> f64 {
        let most = self.fit.coefficients().iter().copied().fold(0.0, f64::max);
        most * TRACE.max(self.settings.noise_atoms * self.target.noise())
    }

    /// Whether atoms that carry more than a trace are whole: all of their pairs can carry something.
    pub fn is_whole(&self) -> bool {
        let trace = self.trace();
        let mut columns = self.columns.iter().zip(self.fit.coefficients());
        columns.all(|((atom, _), bytes)| *bytes <= trace || self.dictionary.is_whole(*atom))
    }

    /// Whether atoms that were chosen one by one are more than rows have different bytes, or some are cut by rows without bytes: then
    /// others would do as well.
    pub fn by_chance(&self) -> bool {
        let trace = self.trace();
        let used = |from: usize| self.fit.coefficients()[from..].iter().filter(|b| **b > trace).count();
        used(self.begun) > 0 && used(0) > self.target.values() || !self.is_whole()
    }

    /// The same without one of the atoms that carry something, for each that is not needed to explain the target, largest first.
    pub fn leave_one_out(&self) -> Vec<Self> {
        let coefficients = self.fit.coefficients();
        let most = coefficients.iter().copied().fold(0.0, f64::max);
        let mut used: Vec<usize> =
            (0..coefficients.len()).filter(|&c| coefficients[c] > TRACE * most).collect();
        used.sort_by(|&a, &b| coefficients[b].total_cmp(&coefficients[a]).then(a.cmp(&b)));
        let without = |column: usize| self.among(|other| other != column);
        // Noise alone may make so much of a difference.
        let chance = self.settings.equal_squares * self.target.noise().powi(2)
            / self.target.rows().max(1) as f64
            + NOTHING * NOTHING;
        let as_well = |other: &Self| other.is_done() && other.left().powi(2) - self.left().powi(2) <= chance;
        used.into_iter().map(without).filter(as_well).collect()
    }

    /// The same atoms otherwise: those that are liked best by chance of all combinations that explain the target; `None` if there is none.
    pub fn perturbed(&self, draw: &mut Stream) -> Option<Self> {
        let perturbation = self.settings.perturbation;
        let likes: Vec<f64> =
            self.columns.iter().map(|_| perturbation * self.target_norm * normal(draw)).collect();
        let mut tilted = self.fit.clone().tilted(|column| likes[column]);
        tilted.solve(self.target_norm, 0.1 * perturbation);
        let other = self.among(|column| tilted.coefficients()[column] > 0.0);
        other.is_done().then_some(other)
    }

    /// The same with some of its atoms, fitted anew.
    fn among(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut other = Self { fit: self.fit.among(&keep), ..self.clone() };
        let mut at = 0..;
        other.columns.retain(|_| at.next().is_some_and(&keep));
        other.refit();
        other
    }

    /// The atoms that came in: weighted columns as (row, value), and the bytes of each of their pairs.
    pub fn columns(&self) -> impl Iterator<Item = (&[(u32, f64)], f64)> {
        let coefficients = self.fit.coefficients().iter();
        self.columns.iter().zip(coefficients).map(|((_, column), &bytes)| (&column[..], bytes))
    }

    /// Bytes of all pairs, by the atoms found.
    pub fn bytes(&self) -> Vec<f64> {
        self.bytes_of(self.fit.coefficients())
    }

    fn bytes_of(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.operator.pairs()];
        for ((atom, _), &bytes) in self.columns.iter().zip(coefficients) {
            if bytes > 0.0 {
                self.dictionary.each_pair(*atom, |pair, times| x[pair] += times * bytes);
            }
        }
        x
    }
}
