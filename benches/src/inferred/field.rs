//! quartz1 with jobs on it: counters, and what is inferred from them.

use std::time::Instant;

use netloom_counters::{SynthOptions, Unit, measure, synth};
use netloom_infer::{
    Counted, Estimate, LaneScheme, Operator, Options, Participants, estimate, operator::Pair, rows, span,
    trust,
};
use netloom_model::{Control, Csr, Interval, LaneMap, Routes, Traffic};
use netloom_topology::generate;
use netloom_traffic::{ResolvedJob, place};

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
    /// The jobs' hosts, in the order of their ranks; for `hosts_in_order` as numbers rise.
    pub jobs: Vec<Participants>,
    /// The true traffic.
    pub truth: Csr,
}

/// What came of it.
pub struct Inferred {
    /// The answer.
    pub found: Estimate,
    /// True errors of pairs, and of sums over (source leaf, destination).
    pub errors: [f64; 2],
    /// The traffic.
    pub traffic: Csr,
    /// Seconds.
    pub seconds: f64,
}

impl Field {
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
        let map = (lanes > 1).then(|| LaneMap::random(&self.ground.fabric, lanes, lanes, 1));
        self.inferred_under(std::slice::from_ref(&self.ground.background), map, readings)
    }

    /// What counters of an interval under each of these routes say together.
    pub fn inferred_under(&self, routings: &[Routes], map: Option<LaneMap>, readings: Readings) -> Inferred {
        let fabric = &self.ground.fabric;
        let intervals: Vec<Interval> = (1..)
            .zip(routings)
            .map(|(seed, routes)| {
                let mut options = SynthOptions { seed, ..SynthOptions::default() };
                if readings == Readings::Real {
                    options = SynthOptions { noise: 0.005, skew: 0.02, missing: 0.02, ..options };
                }
                synth(fabric, routes, &self.truth, map.as_ref(), &options).expect("delivered")
            })
            .collect();
        let start = Instant::now();
        let scheme = map.map_or(LaneScheme::One, LaneScheme::Tables);
        let counted: Vec<Counted> = (intervals.iter())
            .map(|interval| rows(fabric, &measure(fabric, interval, Unit::Bytes), scheme.lanes()).counted)
            .collect();
        let stack: Vec<(&Routes, &LaneScheme)> = routings.iter().map(|routes| (routes, &scheme)).collect();
        let operator = Operator::stacked(fabric, &stack, &self.jobs).expect("delivered");
        let mut counted = span(fabric, &operator, &counted).expect("all of the same traffic").counted;
        // The truth is one interval's.
        let intervals = routings.len() as f64;
        counted.bytes.iter_mut().chain(&mut counted.deviation).for_each(|b| *b /= intervals);
        let found = estimate(&operator, &self.jobs, &counted, &Options::default(), &Control::new());
        let seconds = start.elapsed().as_secs_f64();
        let errors = trust::errors(&operator, &found.bytes, &self.of_pairs(&operator));
        Inferred { errors, traffic: self.traffic(&operator, &found.bytes), found, seconds }
    }

    fn of_pairs(&self, operator: &Operator) -> Vec<f64> {
        let mut place = vec![None; self.ground.fabric.host_count()];
        for (j, job) in self.jobs.iter().enumerate() {
            for (at, host) in job.hosts.iter().enumerate() {
                place[host.index()] = Some((j as u32, at as u32));
            }
        }
        let mut truth = vec![0.0; operator.pairs()];
        for (from, to, bytes) in self.truth.iter() {
            let (Some((job, source)), Some((_, destination))) = (place[from as usize], place[to as usize])
            else {
                continue;
            };
            if let Some(pair) = operator.find(Pair { job, source, destination }) {
                truth[pair] += bytes;
            }
        }
        truth
    }

    fn traffic(&self, operator: &Operator, bytes: &[f64]) -> Csr {
        let (mut sources, mut destinations, mut amounts) = (Vec::new(), Vec::new(), Vec::new());
        for (pair, &bytes) in operator.iter().zip(bytes).filter(|(_, bytes)| **bytes > 0.0) {
            let hosts = &self.jobs[pair.job as usize].hosts;
            sources.push(u64::from(hosts[pair.source as usize].0));
            destinations.push(u64::from(hosts[pair.destination as usize].0));
            amounts.push(bytes);
        }
        let hosts = self.ground.fabric.host_count() as u32;
        let traffic = Traffic::from_triples(hosts, &sources, &destinations, &amounts, None);
        traffic.expect("hosts of the fabric").total().into_owned()
    }
}
