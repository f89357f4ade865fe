//! quartz1 with jobs on it: counters, and what is inferred from them.

use std::time::Instant;

use netloom_counters::{SynthOptions, Unit, measure, synth};
use netloom_infer::{
    Counted, Errors, Estimate, LaneScheme, Operator, Participants, Settings, errors, estimate, rows, span,
    traffic,
};
use netloom_model::{Control, Csr, Interval, LaneMap, Routes};
use netloom_topology::generate;
use netloom_traffic::{ResolvedJob, place};

use crate::inputs::resolved_text;
use crate::study::ground::Ground;

/// How good counters are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Readings {
    /// To the byte.
    Exact,
    /// Noisy, late and incomplete.
    Real,
}

impl Readings {
    /// In a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Real => "real",
        }
    }
}

/// Jobs on quartz1.
pub struct Field {
    /// quartz1.
    pub ground: Ground,
    /// The jobs' hosts, in the order of their ranks; where the mapping is not known as numbers rise.
    pub jobs: Vec<Participants>,
    /// The true traffic.
    pub truth: Csr,
}

/// What came of it.
pub struct Inferred {
    /// The answer.
    pub found: Estimate,
    /// How far it is from the truth.
    pub errors: Errors,
    /// The traffic.
    pub traffic: Csr,
    /// Seconds.
    pub seconds: f64,
}

impl Field {
    /// A recorded application alone, a rank a host, on consecutive hosts from number 10 (dissertation, sec. 4.7).
    pub fn recorded(name: &str) -> Self {
        let text = format!(
            "[[job]]\nname = \"{name}\"\nmatrix = \"{name}.mtx.gz\"\nallocation = \"contiguous:10\"\n"
        );
        Self::new(resolved_text(text.as_bytes(), name, "examples/data"), true)
    }

    /// Places jobs; `known_mapping`: inference knows which rank is where, not only which hosts.
    pub fn new((jobs, seed): (Vec<ResolvedJob>, u64), known_mapping: bool) -> Self {
        let ground = Ground::new(generate("quartz1").expect("a known spec"));
        let placed = place(&ground.fabric, &jobs, seed).expect("the jobs fit");
        let participants = placed.jobs.iter().map(|job| {
            if known_mapping {
                return Participants::new(&job.name, &job.placement);
            }
            let mut hosts = job.placement.host_of_rank.clone();
            hosts.sort_unstable();
            Participants::one_a_host(&job.name, hosts)
        });
        let jobs = participants.collect();
        Self { ground, jobs, truth: placed.traffic.total().into_owned() }
    }

    /// What counters of one interval under ftree's routes say.
    pub fn inferred(&self, lanes: u8, readings: Readings) -> Inferred {
        let fabric = &self.ground.fabric;
        let tables = |lanes| LaneScheme::Tables(LaneMap::random(fabric, lanes, lanes, 1));
        self.inferred_with(&if lanes > 1 { tables(lanes) } else { LaneScheme::One }, readings)
    }

    /// The same with any lanes.
    pub fn inferred_with(&self, scheme: &LaneScheme, readings: Readings) -> Inferred {
        self.inferred_under(std::slice::from_ref(&self.ground.background), scheme, readings)
    }

    /// What counters of an interval under each of these routes say together.
    pub fn inferred_under(&self, routings: &[Routes], scheme: &LaneScheme, readings: Readings) -> Inferred {
        let fabric = &self.ground.fabric;
        let lanes = (*scheme != LaneScheme::One).then_some(scheme);
        let intervals: Vec<Interval> = (1..)
            .zip(routings)
            .map(|(seed, routes)| {
                let mut options = SynthOptions { seed, ..SynthOptions::default() };
                if readings == Readings::Real {
                    options = SynthOptions { noise: 0.005, skew: 0.02, missing: 0.02, ..options };
                }
                synth(fabric, routes, &self.truth, lanes, &options).expect("delivered")
            })
            .collect();
        let start = Instant::now();
        let counted: Vec<Counted> = (intervals.iter())
            .map(|interval| rows(fabric, &measure(fabric, interval, Unit::Bytes), scheme.lanes()).counted)
            .collect();
        let stack: Vec<(&Routes, &LaneScheme)> = routings.iter().map(|routes| (routes, scheme)).collect();
        let operator = Operator::stacked(fabric, &stack, &self.jobs).expect("delivered");
        let counted =
            span(fabric, &operator, &counted, &Default::default()).expect("all of the same traffic").counted;
        let found = estimate(&operator, &self.jobs, &counted, &[], &Settings::default(), &Control::new());
        let seconds = start.elapsed().as_secs_f64();
        let traffic = traffic(fabric, &operator, &self.jobs, &found.bytes);
        let errors = errors(fabric, &traffic, &self.truth).expect("there is traffic");
        Inferred { errors, traffic, found, seconds }
    }
}
