//! `netloom.Job`: jobs files, placed on a fabric's hosts.

use std::path::{Path, PathBuf};

use netloom_formats as formats;
use netloom_infer::Participants;
use netloom_model::{AdapterChoice, Csr, Fabric, Machines, Mapping, Phase, Source, Traffic};
use netloom_traffic::collective::Algorithms;
use netloom_traffic::{self as patterns, MadeOf, Recorded, RecordedOptions, ResolvedJob};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::fabric::PyFabric;
use crate::recorded::{Collectives, read_trace};
use crate::run::{Options, run};
use crate::{errors, io};

/// A job that runs: its hosts and the host of every rank.
#[pyclass(frozen, weakref, name = "Job", module = "netloom._core")]
pub struct PyJob(pub(crate) netloom_model::Job);

#[pymethods]
impl PyJob {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its hosts, each once, rising.
    #[getter]
    fn hosts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_iter(py, self.0.hosts.iter().map(|h| h.0))
    }

    /// The host of every rank.
    #[getter]
    fn host_of_rank<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_iter(py, self.0.placement.host_of_rank.iter().map(|h| h.0))
    }

    fn __repr__(&self) -> String {
        let (hosts, ranks) = (self.0.hosts.len(), self.0.placement.host_of_rank.len());
        format!("<netloom.Job: {}, {ranks} ranks on {hosts} hosts>", self.0.name)
    }
}

/// Jobs with their hosts, and what they send.
pub struct Placed {
    /// Of all of them.
    pub traffic: Traffic,
    /// What it is made of.
    pub made_of: MadeOf,
    /// What is to be told of it: kind, text.
    pub notes: Vec<(&'static str, String)>,
    /// The jobs, the copies of each one after another.
    pub jobs: Vec<PyJob>,
    /// What each of them was before it had a place; copies are one.
    pub resolved: Vec<ResolvedJob>,
}

impl Placed {
    /// Each placed job with the traffic between its ranks.
    pub fn with_traffic(&self) -> impl Iterator<Item = (netloom_model::Job, &Traffic)> {
        let traffic = self.resolved.iter().flat_map(|job| (0..job.spec.copies).map(|_| &job.traffic));
        self.jobs.iter().map(|job| job.0.clone()).zip(traffic)
    }
}

/// Ranks of a job that does not say how many, at most.
const MOST_RANKS: u64 = 10_000_000;

/// Who may have talked to whom, of these jobs.
pub fn participants(fabric: &Fabric, jobs: &[PyRef<'_, PyJob>]) -> Vec<Participants> {
    let machines = Machines::of(fabric);
    jobs.iter().map(|job| Participants::of_job(&job.0, &machines)).collect()
}

/// Reads the traffic of a file, as [`placed`] needs for jobs that name one.
pub type ReadTraffic<'a> = &'a dyn Fn(PathBuf) -> PyResult<Traffic>;

/// The jobs of a jobs file, placed, and their traffic; `adapters` are those of jobs that do not choose theirs.
pub fn placed(
    py: Python<'_>,
    fabric: &PyFabric,
    jobs: &Path,
    seed: Option<u64>,
    collectives: Collectives,
    adapters: &AdapterChoice,
    read: ReadTraffic,
) -> PyResult<Placed> {
    let label = jobs.display().to_string();
    let file = formats::read_jobs(&io::read(py, jobs)?, &label).map_err(|e| errors::format(py, &e))?;
    let folder = jobs.parent().unwrap_or(Path::new(""));
    placed_in(py, fabric, (&file, &label, folder), seed, collectives, adapters, read)
}

/// [`placed`] of a file that was read: it, what errors call it, and where its files are.
pub fn placed_in(
    py: Python<'_>,
    fabric: &PyFabric,
    (file, label, folder): (&formats::JobsFile, &str, &Path),
    seed: Option<u64>,
    collectives: Collectives,
    adapters: &AdapterChoice,
    read: ReadTraffic,
) -> PyResult<Placed> {
    let mut resolved = Vec::with_capacity(file.jobs.len());
    let (mut made_of, mut notes) = (MadeOf::default(), Vec::new());
    let place = |job: usize, key: &str| {
        file.line(job, key).map_or_else(|| label.to_owned(), |line| format!("{label}:{line}"))
    };
    for (number, mut spec) in file.jobs.iter().cloned().enumerate() {
        for (own, unless_given) in
            [(&mut spec.adapters.only, &adapters.only), (&mut spec.adapters.storage, &adapters.storage)]
        {
            if own.is_empty() {
                own.clone_from(unless_given);
            }
        }
        let key = match &spec.source {
            Source::Pattern(_) => "pattern",
            Source::Trace { .. } => "trace",
            Source::Matrix(_) => "matrix",
            Source::Phases(_) | Source::Ranks(_) | Source::Adapters => "phase",
        };
        let job = format!("{}: job \"{}\"", place(number, key), spec.name);
        let ranks = patterns::room(fabric.fabric(), &spec.allocation, &spec.adapters, spec.ranks_per_host)
            .min(MOST_RANKS);
        let run = resolve(py, &job, &spec.source, folder, ranks as u32, collectives, read)?;
        let copies = f64::from(spec.copies);
        made_of = made_of.plus(run.bytes, if spec.cross_copies { copies * copies } else { copies });
        notes.extend(
            run.notes.into_iter().map(|(kind, text)| (kind, format!("job \"{}\": {text}", spec.name))),
        );
        let traffic = run.traffic;
        let rank_hosts = rank_hosts(py, &spec.mapping, folder)?;
        resolved.push(ResolvedJob { spec, traffic, rank_hosts });
    }
    let seed = seed.unwrap_or(file.seed);
    let placed = run(py, Options::default(), |_| patterns::place(fabric.fabric(), &resolved, seed))?
        .map_err(|e| {
            let number = |name: &str| resolved.iter().position(|job| job.spec.name == name);
            let at = e.at().and_then(|(name, key)| Some(place(number(name)?, key)));
            errors::place(py, format!("{}: {e}", at.as_deref().unwrap_or(label)))
        })?;
    // What ranks of one host say to each other is no traffic of the fabric.
    let sent = placed.traffic.total().total_bytes();
    made_of.within_endpoints = (made_of.point_to_point + made_of.collective - sent).max(0.0);
    let jobs = placed.jobs.into_iter().map(PyJob).collect();
    Ok(Placed { traffic: placed.traffic, made_of, notes, jobs, resolved })
}

fn resolve(
    py: Python<'_>,
    job: &str,
    source: &Source,
    folder: &Path,
    ranks: u32,
    collectives: Collectives,
    read: ReadTraffic,
) -> PyResult<Recorded> {
    let traffic = match source {
        Source::Matrix(name) => read(folder.join(name))?,
        // A job has the ranks that its pattern says; one that says none has as many as its hosts have room for.
        Source::Pattern(spec) => {
            let made = || patterns::pattern(spec, None).or_else(|_| patterns::pattern(spec, Some(ranks)));
            run(py, Options::default(), |_| made())?.map_err(|e| errors::spec(py, format!("{job}: {e}")))?
        }
        Source::Trace { path, cut, collectives: own } => {
            let path = folder.join(path);
            let own = own.as_ref().map(|text| Algorithms::parse(text)).transpose();
            let own = own.map_err(|e| errors::place(py, format!("{job}: algorithms: {e}")))?;
            let options = RecordedOptions { cut: *cut, collectives: own.filter(|_| collectives.count()) };
            return read_trace(py, &path, &options);
        }
        Source::Ranks(ranks) => Traffic::from_matrix(Csr::empty(*ranks as usize)),
        Source::Adapters => Traffic::from_matrix(Csr::empty(ranks as usize)),
        Source::Phases(phases) => {
            let mut out = Vec::with_capacity(phases.len());
            for phase in phases {
                let phase_traffic =
                    resolve(py, job, &phase.source, folder, ranks, collectives, read)?.traffic;
                let matrix = phase_traffic.total().into_owned();
                out.push(Phase { name: phase.name.clone(), matrix, repeats: phase.repeats });
            }
            let ranks = |i: usize| out[i].matrix.size();
            if let Some(i) = (1..out.len()).find(|&i| ranks(i) != ranks(0)) {
                let (first, other) = (ranks(0), ranks(i));
                return Err(errors::place(
                    py,
                    format!(
                        "{job}: its first phase has {first} ranks, phase {} has {other}: expected one number",
                        i + 1
                    ),
                ));
            }
            Traffic::from_phases(out)
        }
    };
    let bytes = MadeOf::messages(traffic.total().total_bytes());
    Ok(Recorded { traffic, bytes, notes: Vec::new() })
}

/// The hosts that a mapping file names, rank by rank.
pub fn rank_hosts(py: Python<'_>, mapping: &Mapping, folder: &Path) -> PyResult<Option<Vec<String>>> {
    let Mapping::File(name) = mapping else { return Ok(None) };
    let path = folder.join(name);
    let text = String::from_utf8_lossy(&io::read(py, &path)?).into_owned();
    Ok(Some(
        text.lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
            .map(Into::into)
            .collect(),
    ))
}
