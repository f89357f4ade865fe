//! Routes chosen by what a run takes: candidates are simulated, and the quickest stays.
//!
//! Link loads are sums over a run, and a sum hides when things happen: two flows that share a link cost nothing while they never
//! meet, and everything where they always do (Taffet, dissertation, sec. 5.3.1: 2.39 ms for optimal sums, ftree's 1.33 ms). So tables that are better
//! by loads are asked for the time that a run takes with them before they replace others.
//!
//! | candidate | what it is |
//! |---|---|
//! | `start` | the routes to begin with, as they are |
//! | `few` | only what lowers the largest load is moved; what gains nothing is given back |
//! | `windows` | optimised for the sum over [`WINDOWS`] equal spans of the start's own run of each one's largest load |
//! | `search` | optimised for the traffic as a whole, its tail included |
//!
//! Invariants: the choice never takes longer than the start by the measure that chose; of candidates within [`WORTH`] of the quickest the first
//! is taken, so that nothing is changed that buys nothing. Equal inputs, seed and work give the same choice: what is simulated does not depend on the clock.

use netloom_model::{Control, Csr, Fabric, Routes, Traffic};
use netloom_optimize::{Because, Change, Combine, Layer, OptimizeOptions, optimize, optimize_layers};
use netloom_routing::{PathSet, loads};
use netloom_sim::{Measure, Model, Outcome, Scheme, Setup, SimError, sends, simulate};
use netloom_topology::Structure;

use crate::{ComposeError, Scene};

/// Spans that the start's run is cut into: more of them tell better what happens together, and cost a matrix each.
pub const WINDOWS: u64 = 8;
/// Part of the start's time that changed entries must gain.
pub const WORTH: f64 = 0.005;
/// Links that packets cross in one run, about, up to which packets are simulated to choose (some seconds); flows above.
const MOST_HOPS: u64 = 30_000_000;
/// Messages up to which flows are.
const MOST_ARRIVALS: u64 = 3_000_000;
/// Links on a way, about.
const HOPS: u64 = 5;
/// How much longer than the start a candidate is followed.
pub const PATIENCE: f64 = 1.5;
/// Candidates that share the work: `search` has half of it.
const SHARES: u64 = 4;

/// Routes that were looked at.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// One of the table above.
    pub name: &'static str,
    /// Complete tables.
    pub routes: Routes,
    /// What the job that took longest took, ps, each from its own start; none where it was not simulated to its end.
    pub completion_ps: Option<u64>,
    /// Mean over jobs of their time over that with the start.
    pub ratio: Option<f64>,
    /// Largest load of the whole traffic, bytes over relative capacity.
    pub max_load: f64,
    /// Entries towards hosts that differ from the start's.
    pub changed_entries: Option<u64>,
}

/// A choice among candidates.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The candidates, the start first.
    pub candidates: Vec<Candidate>,
    /// The one that was taken.
    pub chosen: usize,
    /// What was simulated; none: too much for either model, or nothing of the start's run came to an end, and loads decided.
    pub model: Option<Model>,
    /// What loads say of the change, where they decided.
    pub by_loads: Because,
    /// Path searches spent on all candidates.
    pub work: u64,
}

impl Choice {
    /// The routes taken.
    pub fn routes(&self) -> &Routes {
        &self.candidates[self.chosen].routes
    }

    /// Why the routes are others than the start's: `judge`, `bound`, `tail` or `nothing`.
    pub fn changed_because(&self) -> &'static str {
        match (self.chosen, self.model) {
            (0, _) => Because::Nothing.name(),
            (_, Some(_)) => "judge",
            (_, None) => self.by_loads.name(),
        }
    }
}

/// What to choose routes for.
pub struct Asked<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Its structure.
    pub structure: &'a Structure,
    /// Its admissible ways.
    pub paths: &'a PathSet,
    /// The program that is simulated.
    pub scene: &'a Scene,
    /// What it sends; with several phases their largest loads are added up.
    pub goal: &'a Traffic,
    /// The routes to begin with.
    pub start: &'a Routes,
    /// How to search; [`work`](OptimizeOptions::work) is that of all candidates.
    pub options: &'a OptimizeOptions<'a>,
    /// What to simulate; none: packets where that is a matter of seconds, else flows.
    pub model: Option<Model>,
    /// Threads for one simulation.
    pub threads: usize,
}

/// Makes the candidates and takes the best. A stop from outside leaves what is known by then: the quickest of those that were simulated, and the
/// start itself before that.
///
/// # Errors
/// As [`optimize`]; what keeps a run from beginning.
pub fn choose(asked: &Asked, control: &Control) -> Result<Choice, ComposeError> {
    let measure = asked.model.or_else(|| affordable(asked.scene));
    let total = asked.goal.total();
    let mut choice = Choice {
        candidates: vec![asked.candidate("start", asked.start.clone(), &total)?],
        chosen: 0,
        model: None,
        by_loads: Because::Nothing,
        work: 0,
    };
    let first = match measure {
        Some(model) => asked.run(asked.start, model, None, control)?,
        None => None,
    };
    let Some((model, first)) = measure.zip(first) else {
        // Nothing to compare times with: loads decide, and what meets its bound stays.
        let (routes, because, work) =
            asked.search(&asked.goal_layers(), false, asked.options.change, 1, control)?;
        choice.work = work;
        if because != Because::Nothing {
            choice.candidates.push(asked.candidate("search", routes, &total)?);
            (choice.chosen, choice.by_loads) = (1, because);
        }
        return Ok(choice);
    };
    choice.model = Some(model);
    let start = &mut choice.candidates[0];
    (start.completion_ps, start.ratio) = (longest(&first), Some(1.0));
    let (searched, because, work) =
        asked.search(&asked.goal_layers(), true, asked.options.change, 2, control)?;
    choice.work += work;
    let mut others: Vec<(&'static str, Routes)> = Vec::new();
    if because == Because::Bound && asked.options.change.is_none() {
        let near = Change { from: asked.start, penalty: 0.0, most: None, frozen: &[] };
        let (routes, _, work) = asked.search(&asked.goal_layers(), true, Some(near), SHARES, control)?;
        choice.work += work;
        others.push(("few", routes));
    }
    let windows = asked.windows(&first, WINDOWS, control)?;
    if windows.len() > 1 && control.stopped().is_none() {
        let layers: Vec<Layer> = windows
            .iter()
            .enumerate()
            .map(|(k, matrix)| Layer { name: format!("window {}", k + 1), matrix, weight: 1.0 })
            .collect();
        let (routes, _, work) = asked.search(&layers, true, asked.options.change, SHARES, control)?;
        choice.work += work;
        others.push(("windows", routes));
    }
    others.push(("search", searched));
    for (name, routes) in others {
        if choice.candidates.iter().any(|known| known.routes == routes) {
            continue;
        }
        let mut candidate = asked.candidate(name, routes, &total)?;
        let began_ps = first_start(&first);
        let until = began_ps + ((first.end_ps - began_ps) as f64 * PATIENCE) as u64;
        if control.stopped().is_none()
            && let Some(outcome) = asked.run(&candidate.routes, model, Some(until), control)?
        {
            candidate.completion_ps = longest(&outcome);
            candidate.ratio = ratio(&outcome, &first);
        }
        choice.candidates.push(candidate);
    }
    let least = choice.candidates.iter().filter_map(|c| c.ratio).fold(1.0, f64::min);
    let near = |c: &Candidate| c.ratio.is_some_and(|r| r <= least + WORTH);
    choice.chosen = choice.candidates.iter().position(near).unwrap_or(0);
    Ok(choice)
}

impl Asked<'_> {
    /// Looks at some routes.
    fn candidate(&self, name: &'static str, routes: Routes, total: &Csr) -> Result<Candidate, ComposeError> {
        let max_load = loads(self.fabric, &routes, total)?.max();
        let changed_entries = routes.lft().zip(self.start.lft()).map(|(new, old)| new.changed_entries(old));
        Ok(Candidate { name, routes, completion_ps: None, ratio: None, max_load, changed_entries })
    }

    fn goal_layers(&self) -> Vec<Layer<'_>> {
        let phases = self.goal.phases();
        let layer = |phase: &'_ netloom_model::Phase| (phase.name.clone(), phase.repeats);
        let named = phases.iter().map(layer).zip(phases);
        named.map(|((name, weight), phase)| Layer { name, matrix: &phase.matrix, weight }).collect()
    }

    /// Tables for some matrices, with a share of the work.
    fn search(
        &self,
        layers: &[Layer],
        tail: bool,
        change: Option<Change>,
        share: u64,
        control: &Control,
    ) -> Result<(Routes, Because, u64), ComposeError> {
        let Self { fabric, structure, paths, start, .. } = *self;
        let work = self.options.work.map(|work| work / share);
        let options = OptimizeOptions { work, tail, change, ..self.options.clone() };
        let best = if let [only] = layers
            && only.weight == 1.0
        {
            optimize(fabric, structure, paths, only.matrix, start, &options, control)?.outcome
        } else {
            let options = OptimizeOptions { bound: None, ..options };
            optimize_layers(fabric, structure, paths, layers, Combine::Sum, start, &options, control)?.outcome
        };
        Ok((best.routes, best.changed_because, best.work))
    }

    /// What hosts send each other in so many equal spans of the start's run, `first`, from the start of its first job on; nothing if that is
    /// stopped. Always of packets: flows record nothing over time.
    ///
    /// # Errors
    /// What keeps a run from beginning.
    pub fn windows(&self, first: &Outcome, spans: u64, control: &Control) -> Result<Vec<Csr>, ComposeError> {
        let every = ((first.end_ps - first_start(first)) / spans + 1).max(1_000_000);
        let measure = Measure { pairs: true, counters_every_ps: Some(every), ..Measure::default() };
        let setup = self.scene.setup(self.fabric, Scheme::Tables(self.start), Model::Packet, self.threads);
        let mut setup = Setup { measure, ..setup };
        // Intervals count from 0.
        let began_ps = setup.jobs.iter().map(|job| job.start_ps).min().unwrap_or(0);
        setup.jobs.iter_mut().for_each(|job| job.start_ps -= began_ps);
        setup.until_ps = setup.until_ps.map(|until_ps| until_ps.saturating_sub(began_ps));
        let Some(pairs) = whole(setup, control)?.and_then(|outcome| outcome.recorded.pairs) else {
            return Ok(Vec::new());
        };
        let hosts = self.fabric.host_count() as u32;
        let mut windows = Vec::new();
        for rows in pairs.chunk_by(|a, b| a.interval == b.interval) {
            let of = |get: fn(&netloom_sim::PairRow) -> u64| rows.iter().map(get).collect::<Vec<u64>>();
            let (from, to) = (of(|row| row.from.into()), of(|row| row.to.into()));
            let bytes: Vec<f64> = rows.iter().map(|row| row.bytes as f64).collect();
            let traffic = Traffic::from_triples(hosts, &from, &to, &bytes, None);
            windows.push(traffic.expect("hosts of this fabric").total().into_owned());
        }
        Ok(windows)
    }

    /// A run to its end; none if it was stopped, locked or cut.
    ///
    /// # Errors
    /// None today: what keeps a run from beginning is told by the scene's own run.
    pub fn run(
        &self,
        routes: &Routes,
        model: Model,
        until_ps: Option<u64>,
        control: &Control,
    ) -> Result<Option<Outcome>, ComposeError> {
        let setup = self.scene.setup(self.fabric, Scheme::Tables(routes), model, self.threads);
        let until_ps = setup.until_ps.into_iter().chain(until_ps).min();
        whole(Setup { until_ps, ..setup }, control)
    }
}

/// A run that has come to its end; `None` for others.
///
/// # Errors
/// What keeps a run from beginning.
fn whole(setup: Setup, control: &Control) -> Result<Option<Outcome>, ComposeError> {
    let outcome = match simulate(setup, control) {
        Ok(outcome) => outcome,
        // What the scene's own run will refuse, with its words.
        Err(SimError::State) => unreachable!("no state is read"),
        Err(_) => return Ok(None),
    };
    let cut = outcome.stopped.is_some() || outcome.at_max_time;
    let whole = !cut && outcome.deadlock.is_none() && outcome.stuck.is_empty();
    Ok((whole && longest(&outcome).is_some()).then_some(outcome))
}

/// The model that is simulated in seconds; none for what is too much for both.
fn affordable(scene: &Scene) -> Option<Model> {
    let (mut messages, mut hops) = (0u64, 0u64);
    let packet = u64::from(scene.profile.config.packet_bytes).max(1);
    for job in &scene.jobs {
        for rank in 0..job.host_of_rank.len() as u32 {
            for (_, bytes) in sends(&*job.script, rank) {
                messages += 1;
                hops = hops.saturating_add(bytes.div_ceil(packet).max(1) * HOPS);
                if messages > MOST_ARRIVALS {
                    return None;
                }
            }
        }
    }
    Some(if hops <= MOST_HOPS { Model::Packet } else { Model::Fluid })
}

/// What the job that took longest took, ps, of those that end.
fn longest(outcome: &Outcome) -> Option<u64> {
    outcome.jobs.iter().filter_map(|job| job.times.took_ps()).max()
}

/// When the first job began, ps of simulated time.
fn first_start(outcome: &Outcome) -> u64 {
    outcome.jobs.iter().map(|job| job.times.start_ps).min().unwrap_or(0).min(outcome.end_ps)
}

/// Mean over jobs of their time over that of the first run.
fn ratio(outcome: &Outcome, first: &Outcome) -> Option<f64> {
    let both = outcome.jobs.iter().zip(&first.jobs);
    let ends = both.filter_map(|(job, before)| Some((job.times.took_ps()?, before.times.took_ps()?)));
    let ratios: Vec<f64> = ends.map(|(now, before)| now as f64 / before.max(1) as f64).collect();
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}
