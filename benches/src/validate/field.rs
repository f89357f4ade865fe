//! quartz1 with its routes, one run of it, and figures with their spread.

use netloom_model::{Control, HostId, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Job, Measure, Model, Outcome, PerPacket, Profile, Scheme, Script, Setup, simulate};
use netloom_topology::generate;

use crate::study::ground::Ground;

/// Seconds for an optimisation.
pub const LIMIT: f64 = 10.0;

/// What all experiments share.
pub struct Field {
    /// quartz1, its paths, ftree's tables.
    pub ground: Ground,
}

/// How packets find their way.
#[derive(Clone, Copy)]
pub enum Way<'a> {
    /// By tables.
    Tables(&'a Routes),
    /// The papers' adaptive switches.
    Adaptive,
}

impl Field {
    /// quartz1.
    pub fn new() -> Self {
        Self { ground: Ground::new(generate("quartz1").expect("a known spec")) }
    }

    /// ftree's tables.
    pub fn ftree(&self) -> Way<'_> {
        Way::Tables(&self.ground.background)
    }

    /// Random minimal tables.
    pub fn random(&self, seed: u64) -> Routes {
        let options = EngineOptions { seed, ..EngineOptions::default() };
        route(Engine::Random, &self.ground.fabric, &self.ground.structure, &options).expect("any tree")
    }

    /// Every host.
    pub fn everybody(&self) -> Vec<HostId> {
        self.ground.fabric.hosts().collect()
    }

    /// One script on every host.
    pub fn alone(&self, script: impl Script + 'static) -> Vec<Job> {
        vec![job("all", self.everybody(), script)]
    }

    /// Packets.
    pub fn packets(&self, way: Way, jobs: Vec<Job>, seed: u64) -> Outcome {
        self.run(way, jobs, seed, Model::Packet).expect("the experiments run to their end")
    }

    /// The fluid model's time of job 0, ms; none where it has no answer.
    pub fn fluid(&self, way: Way, jobs: Vec<Job>) -> Option<f64> {
        self.run(way, jobs, 1, Model::Fluid).ok().map(|outcome| ms(&outcome))
    }

    /// How switches choose.
    pub fn scheme<'a>(&'a self, way: Way<'a>) -> Scheme<'a> {
        match way {
            Way::Tables(routes) => Scheme::Tables(routes),
            Way::Adaptive => Scheme::PerPacket(PerPacket::Adaptive, &self.ground.paths),
        }
    }

    fn run(
        &self,
        way: Way,
        jobs: Vec<Job>,
        seed: u64,
        model: Model,
    ) -> Result<Outcome, netloom_sim::SimError> {
        let setup = Setup {
            skip_repeats: None,
            fabric: &self.ground.fabric,
            scheme: self.scheme(way),
            model,
            profile: Profile::codes(),
            jobs,
            seed,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            until_ps: None,
        };
        simulate(setup, &Control::new())
    }
}

/// A job that runs once from the start.
pub fn job(name: &str, hosts: Vec<HostId>, script: impl Script + 'static) -> Job {
    Job::new(name, hosts, script)
}

/// When job 0 ended, ms.
pub fn ms(outcome: &Outcome) -> f64 {
    outcome.jobs[0].times.end_ps().expect("job 0 ends") as f64 / 1e9
}

/// The middle one, or the mean of the two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

/// `6.123 (5.872 to 6.711)`; one value alone if there is but one.
pub fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    match values {
        [] => "–".into(),
        [one] => format!("{one:.3}"),
        _ => format!("{:.3} ({least:.3} to {most:.3})", median(values)),
    }
}

/// `-0.6 %`.
pub fn off(value: f64, paper: f64) -> String {
    format!("{:+.1} %", (value / paper - 1.0) * 100.0)
}
