//! The optimiser on quartz1, one core: quality and time, against AFAR.
//!
//! The gap is (maximum load - bound) / bound. For patterns the bound is the adaptive-routing bound, which whole items
//! need not reach, so what is demanded is a proof that nothing is better; for applications it is the proven lower bound
//! for destination-based routes.

use std::time::Instant;

use netloom_model::{Control, Csr, Fabric};
use netloom_optimize::{AfarOptions, OptimizeOptions, Optimized, afar, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::Structure;

use crate::Options;
use crate::inputs::{jobs, pattern, quartz1};
use crate::table::{Row, Table, spell};

/// `(name, spec)` of the patterns.
const PATTERNS: [(&str, &str); 4] = [
    ("stencil", "stencil:16x16x12"),
    ("bisection", "bisection"),
    ("shuffle", "bisection-shuffle:seed=1"),
    ("all-to-all", "all-to-all"),
];
/// `(name, jobs file)` of the applications: the examples that ship with the repository.
const APPLICATIONS: [(&str, &str); 2] =
    [("LULESH 512 x 6, fragmented", "lulesh6.toml"), ("three applications", "mix.toml")];

/// Patterns, then applications.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let paths = PathSet::admissible(&fabric, &structure);
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let case = Case { fabric: &fabric, structure: &structure, paths: &paths };
    one_core.install(|| {
        for (name, spec) in PATTERNS {
            let traffic = pattern(spec, &fabric);
            case.run(table, &format!("optimise {name} on quartz1"), &traffic.total(), Against::Adaptive, 1.0);
        }
        for (name, file) in APPLICATIONS {
            case.run(
                table,
                &format!("optimise {name}"),
                &jobs(&format!("examples/jobs/{file}"), &fabric).total(),
                Against::Whole,
                10.0,
            );
        }
    });
}

/// What a row's gap is measured against, and what it demands.
#[derive(Clone, Copy)]
enum Against {
    /// The adaptive-routing bound; demands the proof that no tables are better.
    Adaptive,
    /// The bound for destination-based routes; demands a gap of at most 0.1 %.
    Whole,
}

/// The fabric of all rows.
struct Case<'a> {
    fabric: &'a Fabric,
    structure: &'a Structure,
    paths: &'a PathSet,
}

impl Case<'_> {
    /// One row: what `against` demands, in `seconds`.
    fn run(&self, table: &mut Table, what: &str, traffic: &Csr, against: Against, seconds: f64) {
        let start = Instant::now();
        let found = self.optimized(traffic);
        let spent = start.elapsed().as_secs_f64();
        let bound = match against {
            Against::Adaptive => found.ar.as_ref().expect("no bound was given").lower,
            Against::Whole => found.bound.claim,
        };
        let gap = found.loads.max() / bound - 1.0;
        let proved = if found.proven_optimal { ", proved" } else { "" };
        let (good, demand) = match against {
            Against::Adaptive => (found.proven_optimal, "proved"),
            Against::Whole => (gap <= 1e-3, "0.1 %"),
        };
        table.add(Row {
            what: what.into(),
            measured: format!("{:.3} %{proved}, {}", gap * 100.0, spell(spent)),
            goal: format!("{demand}, {}", spell(seconds)),
            right: good,
            beside: self.beside_afar(traffic, bound),
        });
    }

    fn optimized(&self, traffic: &Csr) -> Optimized {
        let options = EngineOptions::default();
        let background = route(Engine::Ftree, self.fabric, self.structure, &options).expect("a fat tree");
        let options = OptimizeOptions::default();
        optimize(self.fabric, self.structure, self.paths, traffic, &background, &options, &Control::new())
            .expect("every pair has a way")
    }

    fn beside_afar(&self, traffic: &Csr, bound: f64) -> String {
        let start = Instant::now();
        let options = EngineOptions::default();
        let ftree = route(Engine::Ftree, self.fabric, self.structure, &options).expect("a fat tree");
        let options = AfarOptions::default();
        let found = afar(self.fabric, self.paths, &ftree, traffic, &options, &Control::new())
            .expect("every pair has a way");
        let max = loads(self.fabric, &found.routes, traffic).expect("every pair has a way").max();
        format!("AFAR {:.3} % in {}", (max / bound - 1.0) * 100.0, spell(start.elapsed().as_secs_f64()))
    }
}
