//! A fabric with all that its rows share, and one optimisation against the clock.

use netloom_model::{Csr, Fabric, Routes};
use netloom_optimize::{AfarOptions, AfarResult, OptimizeOptions, Optimized, afar, coloured, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Structure, detect};

use crate::race::race;

/// A fabric, detected, with ftree's routes (updn's where it is no fat tree any more).
pub struct Ground {
    /// The fabric.
    pub fabric: Fabric,
    /// What was detected.
    pub structure: Structure,
    /// What is admissible.
    pub paths: PathSet,
    /// Today's routes.
    pub background: Routes,
}

/// What an optimisation came to.
pub struct Outcome {
    /// Everything.
    pub found: Optimized,
    /// Its maximum load over the proven bound, less 1.
    pub gap: f64,
    /// From the start to the result, bounds and tables included.
    pub seconds: f64,
    /// Until the final maximum was found.
    pub to_best: f64,
    /// `(seconds, gap)` of every improvement.
    pub history: Vec<(f64, f64)>,
}

impl Ground {
    /// Detects and routes.
    pub fn new(fabric: Fabric) -> Self {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let background = engine(Engine::Ftree, &fabric, &structure)
            .or_else(|| engine(Engine::Updn, &fabric, &structure))
            .expect("updn routes any tree");
        Self { fabric, structure, paths, background }
    }

    /// The optimiser for `seconds` at most, on one thread.
    pub fn optimize(&self, traffic: &Csr, seconds: f64) -> Outcome {
        self.optimize_with(traffic, seconds, &options())
    }

    /// The optimiser for `seconds` at most.
    pub fn optimize_with(&self, traffic: &Csr, seconds: f64, options: &OptimizeOptions) -> Outcome {
        let Self { fabric, structure, paths, background } = self;
        let run = race(seconds, |control| {
            optimize(fabric, structure, paths, traffic, background, options, control)
                .expect("every pair has a way")
        });
        let found = &run.found;
        let gap = found.loads.max() / found.bound.claim - 1.0;
        // Where hosts' own links are the bottleneck, the search's progress is that of the links between switches.
        let aim = if gap > 1e-9 { found.bound.claim } else { found.switch_bound };
        let at = |work| run.seconds_at(work);
        let history = found.history.iter().map(|s| (at(s.work), s.max_load / aim - 1.0)).collect();
        // Later improvements are of cooler links.
        let max = found.history.last().map_or(0.0, |s| s.max_load);
        let best = found.history.iter().find(|s| s.max_load <= max * (1.0 + 1e-9));
        let to_best = best.map_or(run.seconds, |s| at(s.work));
        Outcome { gap, seconds: run.seconds, to_best, history, found: run.found }
    }

    /// The largest load under an engine's routes; none where the engine refuses or loses traffic.
    pub fn under(&self, which: Engine, traffic: &Csr) -> Option<f64> {
        self.max(&self.routes(which)?, traffic)
    }

    /// An engine's routes; none where it refuses.
    pub fn routes(&self, which: Engine) -> Option<Routes> {
        engine(which, &self.fabric, &self.structure)
    }

    /// AFAR from `start` with so many changes, for `seconds` at most.
    pub fn afar_from(&self, start: &Routes, traffic: &Csr, changes: u64, seconds: f64) -> Option<AfarResult> {
        let options = AfarOptions { max_iters: changes, ..AfarOptions::default() };
        race(seconds, |control| afar(&self.fabric, &self.paths, start, traffic, &options, control)).found.ok()
    }

    /// The largest load after AFAR from today's routes, for `seconds` at most.
    pub fn afar(&self, traffic: &Csr, seconds: f64) -> Option<f64> {
        let found = self.afar_from(&self.background, traffic, u64::MAX, seconds)?;
        self.max(&found.routes, traffic)
    }

    /// The offline coloured routing.
    pub fn coloured_routes(&self, traffic: &Csr) -> Option<Routes> {
        let Self { fabric, structure, paths, background } = self;
        coloured(fabric, structure, paths, traffic, background, 0).ok()
    }

    /// The largest load under the offline coloured routing.
    pub fn coloured(&self, traffic: &Csr) -> Option<f64> {
        self.max(&self.coloured_routes(traffic)?, traffic)
    }

    /// The largest load.
    pub fn max(&self, routes: &Routes, traffic: &Csr) -> Option<f64> {
        loads(&self.fabric, routes, traffic).ok().map(|l| l.max())
    }
}

/// One thread, and as much work as the time allows.
pub fn options() -> OptimizeOptions<'static> {
    OptimizeOptions { threads: 1, work: Some(u64::MAX), tail: true, ..OptimizeOptions::default() }
}

fn engine(which: Engine, fabric: &Fabric, structure: &Structure) -> Option<Routes> {
    route(which, fabric, structure, &EngineOptions { seed: 1, ..EngineOptions::default() }).ok()
}
