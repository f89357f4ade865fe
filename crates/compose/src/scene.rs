//! The scene of a scenario: its jobs on the hosts of its fabric, each rank with its script.
//!
//! Invariants: jobs share no hosts; every rank has a host; programs fit their ranks. What is here can be run with any routing, any
//! number of times: a [`Setup`] borrows nothing of it but the scripts, which are shared.

use std::sync::Arc;

use netloom_formats::scenario::{ModeSetting, Of, Scenario, ScenarioJob, Work};
use netloom_model::{Csr, Fabric, HostId, JobSpec, Mapping, Phase, Placement, Routes, Source, Traffic};
use netloom_sim::{
    Exchange, Exchanges, Job, Measure, Mode, Model, Modes, Profile, Scheme, Script, Setup, SteerOptions,
    Steered,
};
use netloom_traffic::{PlaceError, ResolvedJob, place, room as places};

use crate::ComposeError;
use crate::asked::{Asked, Place};
use crate::profile::{profile, service_levels};
use crate::program;
use crate::reader::Reader;
use crate::steered;

/// Ranks of all jobs, at most: twice what the largest machines run, one a core. A routing that is simulated takes 2 GB for so many.
pub const MOST_RANKS: u32 = 1 << 21;

/// How often the phases of a plain traffic are sent in all.
pub const MOST_ROUNDS: f64 = 64.0;

/// One job on its hosts.
#[derive(Clone)]
pub struct SceneJob {
    /// Its name.
    pub name: String,
    /// Its hosts, each once, in allocation order.
    pub hosts: Vec<HostId>,
    /// Where each rank is.
    pub host_of_rank: Vec<HostId>,
    /// What its ranks do.
    pub script: Arc<dyn Script>,
    /// The job until whose end it starts over.
    pub until: Option<usize>,
    /// When it starts, ps.
    pub start_ps: u64,
    /// What its bytes count in traffic for optimised routes.
    pub weight: f64,
    /// Service level of its messages.
    pub service_level: u8,
    /// Modes of its messages.
    pub modes: Modes,
}

impl SceneJob {
    /// A job that sends a traffic between its ranks: its phases in order, each as often as it happens (in proportion,
    /// [`MOST_ROUNDS`] in all).
    fn sending(job: netloom_model::Job, traffic: &Traffic) -> Self {
        let ranks = job.placement.host_of_rank.len() as u32;
        let rounds: f64 = traffic.phases().iter().map(|phase| phase.repeats).sum();
        let scale = (MOST_ROUNDS / rounds).min(1.0);
        let exchange = |phase: &Phase| {
            let entries = phase.matrix.iter().map(|(from, to, bytes)| (from, to, bytes.round() as u64));
            Exchange::new(ranks, entries, (phase.repeats * scale).round().max(1.0) as u64)
        };
        Self {
            name: job.name,
            script: Arc::new(Exchanges(traffic.phases().iter().map(exchange).collect())),
            hosts: job.hosts,
            host_of_rank: job.placement.host_of_rank,
            until: None,
            start_ps: 0,
            weight: 1.0,
            service_level: 0,
            modes: Modes::default(),
        }
    }
}

/// A scenario ready to run.
pub struct Scene {
    /// What was asked for.
    pub scenario: Scenario,
    /// Hardware and software.
    pub profile: Profile,
    /// The jobs, in order.
    pub jobs: Vec<SceneJob>,
}

impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene")
            .field("scenario", &self.scenario)
            .field("jobs", &self.jobs.len())
            .finish_non_exhaustive()
    }
}

impl Scene {
    /// Places the jobs of a scenario on the hosts of its fabric.
    ///
    /// # Errors
    /// [`ComposeError`]: jobs that overlap or have more ranks than there are hosts, programs that do not fit their ranks, jobs that
    /// wait for each other, hardware that can't work, files that can't be read.
    pub fn new(fabric: &Fabric, scenario: Scenario, read: &mut Reader) -> Result<Self, ComposeError> {
        let profile = profile(fabric, &scenario)?;
        check_until(&scenario)?;
        check_modes(&scenario)?;
        let levels = service_levels(&scenario, profile.config.lanes);
        if let Some(number) = scenario.jobs.iter().position(|job| job.service_level >= levels) {
            let asked = Asked { scenario: &scenario, number };
            let level = asked.job().service_level;
            let message = format!(
                "service_level {level}: expected one below {levels} (hardware.lanes, hardware.sl2vl)"
            );
            return Err(asked.refuse("service_level", &message));
        }
        let mut works = Vec::with_capacity(scenario.jobs.len());
        let mut resolved = Vec::with_capacity(scenario.jobs.len());
        let mut room = MOST_RANKS;
        for (number, job) in scenario.jobs.iter().enumerate() {
            let asked = Asked { scenario: &scenario, number };
            let work = program::load(asked, read)?;
            let ranks = ranks(fabric, asked, work.ranks(), room)?;
            room -= ranks;
            works.push(work);
            let rank_hosts = match &job.mapping {
                Mapping::File(path) => Some(lines(&asked.read(read, "mapping", "mapping", path)?)),
                _ => None,
            };
            let own_grid = || match &job.work {
                Work::Program(program) => program.grid(),
                Work::Trace { .. } => Vec::new(),
            };
            let spec = JobSpec {
                name: job.name.clone(),
                source: Source::Ranks(ranks),
                allocation: job.allocation.clone(),
                mapping: job.mapping.clone(),
                adapters: job.adapters.clone(),
                ranks_per_host: job.ranks_per_host,
                copies: 1,
                cross_copies: false,
                grid: if job.grid.is_empty() { own_grid() } else { job.grid.clone() },
            };
            let traffic = Traffic::from_matrix(Csr::empty(ranks as usize));
            resolved.push(ResolvedJob { spec, traffic, rank_hosts });
        }
        let own: Vec<Option<u32>> = works.iter().map(program::Loaded::ranks).collect();
        let placed = place(fabric, &resolved, scenario.seed).map_err(|e| unplaced(&scenario, &own, &e))?;
        let mut jobs = Vec::with_capacity(placed.jobs.len());
        for (number, (job, work)) in placed.jobs.into_iter().zip(works).enumerate() {
            let asked = Asked { scenario: &scenario, number };
            let place = Place {
                asked,
                ranks: job.placement.host_of_rank.len() as u32,
                host_of_rank: &job.placement.host_of_rank,
                fabric,
                config: &profile.config,
            };
            let (script, asked) = (work.script(place)?, asked.job());
            jobs.push(SceneJob {
                name: asked.name.clone(),
                script,
                hosts: job.hosts,
                host_of_rank: job.placement.host_of_rank,
                until: asked.until,
                start_ps: asked.start_ps,
                weight: asked.weight,
                service_level: asked.service_level,
                modes: modes(asked),
            });
        }
        Ok(Self { scenario, profile, jobs })
    }

    /// The same hardware and software with other work: one job over all hosts, which sends what a traffic between them says, all at once.
    pub fn with_traffic(&self, fabric: &Fabric, traffic: &Traffic) -> Self {
        let (hosts, total) = (fabric.host_count() as u32, traffic.total());
        let entries = total.iter().map(|(from, to, bytes)| (from, to, bytes.round() as u64));
        let hosts_of_job: Vec<HostId> = fabric.hosts().collect();
        let job = SceneJob {
            name: "traffic".into(),
            script: Arc::new(Exchange::new(hosts, entries, 1)),
            hosts: hosts_of_job.clone(),
            host_of_rank: hosts_of_job,
            until: None,
            start_ps: 0,
            weight: 1.0,
            service_level: 0,
            modes: Modes::default(),
        };
        Self { scenario: self.scenario.clone(), profile: self.profile.clone(), jobs: vec![job] }
    }

    /// A plain traffic as a program: its phases in order, each as often as it happens (in proportion, [`MOST_ROUNDS`] in all); in a phase every host
    /// posts all that it sends at once, the next host first, and waits for that and for what it is sent.
    ///
    /// # Panics
    /// If the traffic is not over this fabric's hosts.
    pub fn of_traffic(
        fabric: &Fabric,
        mut scenario: Scenario,
        traffic: &Traffic,
    ) -> Result<Self, ComposeError> {
        assert_eq!(traffic.endpoints() as usize, fabric.host_count(), "traffic over the fabric's hosts");
        let profile = profile(fabric, &scenario)?;
        scenario.jobs.clear();
        let hosts: Vec<HostId> = fabric.hosts().collect();
        let placement = Placement { host_of_rank: hosts.clone() };
        let job = SceneJob::sending(netloom_model::Job { name: "traffic".into(), hosts, placement }, traffic);
        Ok(Self { scenario, profile, jobs: vec![job] })
    }

    /// Placed jobs, each of which sends its traffic between its ranks as [`of_traffic`](Self::of_traffic) does.
    ///
    /// # Errors
    /// [`ComposeError`]: hardware that can't work, more than [`MOST_RANKS`] ranks.
    pub fn of_jobs<'t>(
        fabric: &Fabric,
        scenario: Scenario,
        jobs: impl IntoIterator<Item = (netloom_model::Job, &'t Traffic)>,
    ) -> Result<Self, ComposeError> {
        let profile = profile(fabric, &scenario)?;
        check_modes(&scenario)?;
        let mut room = MOST_RANKS as usize;
        let mut found = Vec::new();
        for (job, traffic) in jobs {
            let ranks = job.placement.host_of_rank.len();
            let Some(left) = room.checked_sub(ranks) else {
                let message =
                    format!("job \"{}\": expected at most {MOST_RANKS} ranks in all jobs", job.name);
                return Err(ComposeError::Place(scenario.origins.error("job", message)));
            };
            room = left;
            found.push(SceneJob::sending(job, traffic));
        }
        Ok(Self { scenario, profile, jobs: found })
    }

    /// One of the jobs by itself, on the hosts that it has here; once, where it starts over.
    pub fn alone(&self, number: usize) -> Self {
        let job = SceneJob { until: None, ..self.jobs[number].clone() };
        Self { scenario: self.scenario.clone(), profile: self.profile.clone(), jobs: vec![job] }
    }

    /// A run of this scene with one routing. Its lanes are the scenario's own, else those of the tables: then there are as many as
    /// these need, unless the scenario says how many.
    pub fn setup<'a>(
        &self,
        fabric: &'a Fabric,
        scheme: Scheme<'a>,
        model: Model,
        threads: usize,
    ) -> Setup<'a> {
        let job = |job: &SceneJob| Job {
            name: job.name.clone(),
            hosts: job.host_of_rank.clone(),
            script: Box::new(Arc::clone(&job.script)),
            until: job.until,
            start_ps: job.start_ps,
            service_level: job.service_level,
            modes: job.modes.clone(),
        };
        let measures = self.scenario.measure;
        let (scheme, mut profile) = steered::fitted(&self.scenario, &self.profile, scheme);
        if model == Model::Fluid {
            // A scenario with both is refused; where rates only help to choose routes, they know no queues.
            profile.config.congestion = None;
        }
        if let (Scheme::Tables(Routes { lanes: Some(lanes), .. }), None) = (&scheme, &profile.config.lane_map)
        {
            if !self.scenario.hardware.iter().any(|(name, _)| *name == "lanes") {
                profile.config.lanes = profile.config.lanes.max(lanes.lanes());
            }
            profile.config.lane_map = Some(Arc::clone(lanes));
        }
        Setup {
            fabric,
            scheme,
            model,
            profile,
            jobs: self.jobs.iter().map(job).collect(),
            seed: self.scenario.seed,
            threads,
            measure: Measure {
                counters_every_ps: measures.counters_every_ps,
                queues_every_ps: measures.queues_every_ps,
                longest_queues: measures.longest_queues.unwrap_or(Measure::default().longest_queues),
                trace_ps: measures.trace_ps,
                ..Measure::default()
            },
            keep: None,
            skip_repeats: None,
            until_ps: self.scenario.max_time_ps,
        }
    }
}

/// Ranks of a job: those of its work, else as given, else as many as its machines have places for; at most `room`.
fn ranks(fabric: &Fabric, asked: Asked, own: Option<u32>, room: u32) -> Result<u32, ComposeError> {
    let job = asked.job();
    let what = if matches!(job.work, Work::Trace { .. }) { "trace" } else { "program" };
    let ranks = match (own, job.ranks) {
        (Some(own), Some(given)) if own != given => {
            let message = format!("its {what} has {own} ranks, ranks = {given}: expected one number");
            return Err(asked.refuse("ranks", &message));
        }
        (Some(ranks), _) | (None, Some(ranks)) => u64::from(ranks),
        (None, None) => places(fabric, &job.allocation, &job.adapters, job.ranks_per_host),
    };
    if ranks <= u64::from(room) {
        return Ok(ranks as u32);
    }
    let others = if room < MOST_RANKS { ", those of the jobs before it included" } else { "" };
    let (key, how) = match (own, job.ranks) {
        (Some(_), None) => (what, String::new()),
        (_, Some(_)) => ("ranks", String::new()),
        (None, None) => match job.ranks_per_host {
            Some(ranks) => ("ranks_per_host", format!(" ({ranks} on each host)")),
            None => ("hosts", " (one on each adapter)".to_owned()),
        },
    };
    let message = format!("{ranks} ranks{how}: expected at most {MOST_RANKS}{others}");
    Err(asked.refuse(key, &message))
}

/// Jobs that can't be placed, at the key that is to blame; `own` are the ranks that each one's work says it has.
fn unplaced(scenario: &Scenario, own: &[Option<u32>], error: &PlaceError) -> ComposeError {
    let number = |name: &str| scenario.jobs.iter().position(|job| job.name == name);
    let blamed = error.at().and_then(|(job, key)| Some((number(job)?, key)));
    let key = blamed.map_or_else(|| "job".into(), |(number, key)| format!("job.{number}.{key}"));
    let advice = blamed.and_then(|(number, _)| advice(&scenario.jobs[number], own[number], error));
    let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
    ComposeError::Place(scenario.origins.error(&key, format!("{error}{advice}")))
}

/// What to write for a job that finds too few free hosts.
fn advice(job: &ScenarioJob, own: Option<u32>, error: &PlaceError) -> Option<String> {
    let &PlaceError::TooFewFree { ranks, ranks_per_host, free, .. } = error else { return None };
    if free == 0 {
        return Some("give the other jobs fewer ranks".into());
    }
    let most = free as u64 * u64::from(ranks_per_host);
    let denser = format!("ranks_per_host = {}", ranks.div_ceil(free));
    Some(match (own, job.ranks) {
        (Some(_), _) => {
            let what = if matches!(job.work, Work::Trace { .. }) { "trace" } else { "program" };
            format!("its {what} has these ranks, so give {denser}, or the other jobs fewer")
        }
        (None, Some(_)) => format!("give ranks = {most} or fewer, or {denser}"),
        (None, None) => {
            format!("give ranks = {most} or fewer (unless given, they are as many as the fabric has places)")
        }
    })
}

/// Refuses modes beside routings that have none.
fn check_modes(scenario: &Scenario) -> Result<(), ComposeError> {
    let Some(number) = scenario.jobs.iter().position(|job| !job.modes.is_empty()) else { return Ok(()) };
    let refuse = |number, message: String| Err(Asked { scenario, number }.refuse("mode", &message));
    for word in &scenario.routes {
        match SteerOptions::parse(word) {
            Some(Ok(options)) if options.scheme == Steered::Aries => {}
            Some(Err(_)) => {} // refused by itself
            None if steered::by_mode(word).is_some() => {
                let other = |it: &&ModeSetting| !STATIC_OR_NOT.contains(&it.word);
                let mut jobs = scenario.jobs.iter().enumerate();
                let first = jobs.find_map(|(number, job)| Some((number, job.modes.iter().find(other)?)));
                if let Some((number, setting)) = first {
                    let found = setting.word;
                    let message =
                        format!("mode: {word} has 0 (adaptive) and in-order (by its tables), found {found}");
                    return refuse(number, message);
                }
            }
            _ => {
                let message = format!(
                    "mode: expected routings that have modes, such as adaptive:0 on a dragonfly or by-mode, found \
                     \"{word}\""
                );
                return refuse(number, message);
            }
        }
    }
    Ok(())
}

/// Modes of by-mode.
const STATIC_OR_NOT: [&str; 2] = ["0", "in-order"];

/// The modes of a job.
fn modes(job: &ScenarioJob) -> Modes {
    let of = |of: Of| job.modes.iter().find(|it| it.of == of).map(|it| it.word);
    let below = job.modes.iter().filter_map(|it| match it.of {
        Of::Below(bytes) => Some((bytes, Mode::parse(it.word)?)),
        _ => None,
    });
    let modes = Modes::new(below.collect(), None).with_all_to_all(of(Of::AllToAll).and_then(Mode::parse));
    modes.or(of(Of::Others).and_then(Modes::parse).unwrap_or_default())
}

/// Refuses jobs that start over until each other's end: nobody would ever end.
fn check_until(scenario: &Scenario) -> Result<(), ComposeError> {
    let jobs = &scenario.jobs;
    for number in 0..jobs.len() {
        let mut at = &jobs[number];
        for _ in 0..jobs.len() {
            match at.until {
                Some(next) => at = &jobs[next],
                None => break,
            }
        }
        if at.until.is_some() {
            let message = "until: expected a job that ends, found jobs that wait for each other";
            return Err(Asked { scenario, number }.refuse("until", &message));
        }
    }
    Ok(())
}

/// The names of a mapping file.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(Into::into).collect()
}
