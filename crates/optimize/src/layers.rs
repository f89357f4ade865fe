//! Several matrices over one routing: phases of a run, or what uncertain traffic may turn out to be.
//!
//! A sum over time hides when things happen: routes that are optimal for the sum can be bad in every phase
//! (Taffet, dissertation, sec. 5.3.1: 2.39 ms against ftree's 1.33 ms). Here every matrix keeps its own loads.

use netloom_bounds::ArBound;
use netloom_model::{Certificate, Control, Csr, Fabric, Routes};
use netloom_routing::{LinkLoads, PathSet, loads};
use netloom_topology::Structure;
use serde::{Deserialize, Serialize};

use crate::OptimizeError;
use crate::optimize::{bounds, default_work, in_pool, switch_bound};
use crate::options::OptimizeOptions;
use crate::search::budget::TOLERANCE;
use crate::search::outcome::{Because, Outcome, has_outcome};
use crate::search::state::items::layered_items;
use crate::search::state::objective::{Objective, Rule};
use crate::solve::{Setting, agrees, check_reachable, host_loads, solve};

/// One matrix.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// For results.
    pub name: String,
    /// Who sends how much to whom, over hosts.
    pub matrix: &'a Csr,
    /// How often the phase happens, or how likely the scenario is; positive.
    pub weight: f64,
}

/// How the maxima of several layers become one number to minimise. All count links of hosts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The weighted sum of the maxima: a proxy of the run time of phases one after another.
    Sum,
    /// The largest maximum.
    Worst,
    /// The largest maximum relative to its layer's lower bound: no scenario is far from its own best.
    WorstGap,
    /// The weighted mean of the maxima relative to their bounds.
    MeanGap,
}

/// One layer of a result.
#[derive(Clone, Debug)]
pub struct LayerResult {
    /// As given.
    pub name: String,
    /// As given.
    pub weight: f64,
    /// Its loads, host links included.
    pub loads: LinkLoads,
    /// Its own lower bound: what tables made for it alone could reach at best.
    pub bound: Certificate,
    /// Its adaptive-routing bound.
    pub ar: ArBound,
    /// Its maximum meets its bound.
    pub proven_optimal: bool,
}

/// Routes for several matrices at once.
#[derive(Clone, Debug)]
pub struct OptimizedLayers {
    /// The tables, and how the search went; history is of the objective.
    pub outcome: Outcome,
    /// One for every layer given, in order.
    pub layers: Vec<LayerResult>,
    /// The combined maxima: bytes for `Sum` and `Worst`, else a ratio of at least 1.
    pub objective: f64,
    /// The combined bounds: no tables have a smaller objective.
    pub objective_bound: f64,
    /// What was minimised, to judge other routes by.
    pub combined: Combined,
}

has_outcome!(OptimizedLayers);

/// How the layers' largest loads came to one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Combined(Objective);

impl Combined {
    /// Whether it is of so many layers: what was read back from memory may be none.
    pub fn is_of(&self, layers: usize) -> bool {
        [&self.0.coefficient, &self.0.floor, &self.0.goal].iter().all(|each| each.len() == layers)
    }

    /// What these largest loads come to, one for every layer, in order; `None` if there are more or fewer.
    pub fn value(&self, maxima: &[f64]) -> Option<f64> {
        (maxima.len() == self.0.len()).then(|| self.0.value(maxima.iter().copied()))
    }
}

/// The best routes for several matrices that the work budget finds. See [`optimize`](crate::optimize()).
///
/// # Errors
/// [`OptimizeError`] if there is no layer, shapes disagree, tables to start from are not destination-based,
/// or traffic has no path.
#[allow(clippy::too_many_arguments)] // as `optimize`, and how layers combine
pub fn optimize_layers(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    layers: &[Layer],
    combine: Combine,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<OptimizedLayers, OptimizeError> {
    let background = options.change.map_or(background, |change| change.from);
    let setting = Setting { fabric, structure, paths, background, options, control };
    in_pool(options.threads, || run(setting, layers, combine, &[]))
}

/// The same where the bounds of the first layers are `known`.
pub(crate) fn run(
    setting: Setting,
    layers: &[Layer],
    combine: Combine,
    known: &[(Certificate, ArBound)],
) -> Result<OptimizedLayers, OptimizeError> {
    let Setting { fabric, paths, background, options, .. } = setting;
    let first = layers.first().ok_or(OptimizeError::NoLayers)?;
    let lft = crate::afar::check_shapes(fabric, first.matrix, background)?;
    for layer in layers {
        crate::afar::check_shapes(fabric, layer.matrix, background)?;
    }
    let matrices: Vec<&Csr> = layers.iter().map(|l| l.matrix).collect();
    let items = layered_items(fabric, &matrices, background);
    let mut found = Vec::new();
    let (mut floor, mut aims) = (Vec::new(), Vec::new());
    for (k, matrix) in matrices.iter().enumerate() {
        let own = layered_items(fabric, &[matrix], background);
        check_reachable(fabric, paths, matrix, &own)?;
        let (bound, ar) = known.get(k).map_or_else(|| bounds(setting, matrix), |known| Ok(known.clone()))?;
        let hosts = host_loads(fabric, matrix);
        let host_max = hosts.iter().copied().fold(0.0, f64::max);
        floor.push(host_max);
        aims.push(switch_bound(setting, matrix, &own, &bound, host_max).max(host_max));
        found.push((bound, ar, hosts));
    }
    let claims: Vec<f64> = found.iter().map(|(bound, ..)| bound.claim).collect();
    let coefficient = coefficients(combine, layers, &claims);
    let rule = match combine {
        Combine::Sum | Combine::MeanGap => Rule::Sum,
        Combine::Worst | Combine::WorstGap => Rule::Max,
    };
    if combine == Combine::Worst {
        // Below the hottest layer's bound nothing is gained.
        let common = aims.iter().copied().fold(0.0, f64::max);
        aims.fill(common);
    }
    let combined = Objective::layers(rule, coefficient, floor, &aims);
    let objective_bound = combined.value(claims.iter().copied());
    let work = default_work(options, items.len() as u64 * layers.len().min(8) as u64);
    let aim = if options.tail { combined.clone() } else { combined.clone().met_at(objective_bound) };
    let solved = solve(setting, lft, &items, aim, options.work.unwrap_or(work))?;

    let mut results = Vec::new();
    for (k, (layer, (bound, ar, hosts))) in layers.iter().zip(found).enumerate() {
        let loads = loads(fabric, &solved.outcome.routes, layer.matrix)?;
        debug_assert!(agrees(&loads.load, &hosts, &solved.believed[k]), "the search and its tables disagree");
        results.push(LayerResult {
            name: layer.name.clone(),
            weight: layer.weight,
            proven_optimal: loads.max() <= bound.claim * (1.0 + TOLERANCE),
            loads,
            bound,
            ar,
        });
    }
    let objective = combined.value(results.iter().map(|r| r.loads.max()));
    let outcome = Outcome {
        proven_optimal: objective <= objective_bound * (1.0 + TOLERANCE),
        changed_because: Because::of(solved.moved, solved.start_value, objective),
        ..solved.outcome
    };
    Ok(OptimizedLayers { outcome, layers: results, objective, objective_bound, combined: Combined(combined) })
}

/// What a byte of every layer's maximum counts.
fn coefficients(combine: Combine, layers: &[Layer], claims: &[f64]) -> Vec<f64> {
    let total: f64 = layers.iter().map(|l| l.weight).sum();
    let share = |weight: f64| if total > 0.0 { weight / total } else { 1.0 / layers.len() as f64 };
    let each = layers.iter().zip(claims).map(|(layer, &claim)| {
        // A layer without traffic counts nothing, whatever it is measured against.
        let per_byte = if claim > 0.0 { 1.0 / claim } else { 0.0 };
        match combine {
            Combine::Sum => layer.weight,
            Combine::Worst => 1.0,
            Combine::WorstGap => per_byte,
            Combine::MeanGap => share(layer.weight) * per_byte,
        }
    });
    each.collect()
}
