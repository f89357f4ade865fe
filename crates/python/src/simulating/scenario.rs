//! `netloom.Scenario`: a scenario with its fabric made, its files read and its jobs placed.
//!
//! Everything that can be wrong before packets move is found here.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use netloom_compose::{self as compose, Choice, ComposeError, Routing, Scene};
use netloom_formats::{self as formats, Found};
use netloom_model::{AdapterChoice, Control, Job, Placement, Routes};
use netloom_sim::Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::errors;
use crate::fabric::{PyFabric, Shared, split_plane, unknown};
use crate::jobs::{Placed, PyJob, placed_in};
use crate::recorded::Collectives;
use crate::routes::PyRoutes;
use crate::run::{Options, run};
use crate::traffic::PyTraffic;

/// What a scenario and its runs share.
pub struct Stage {
    /// Jobs on their hosts.
    pub scene: Scene,
    /// The fabric.
    pub shared: Arc<Shared>,
    /// The scenario as the caller named it.
    pub label: String,
    folder: PathBuf,
    /// Routes that were checked.
    sound: Mutex<Vec<Weak<Routes>>>,
}

/// How a scenario was made.
#[derive(Clone, Serialize, Deserialize)]
pub enum Made {
    /// Of a file's bytes.
    Parsed {
        /// The file.
        data: Vec<u8>,
        /// What messages call it.
        label: String,
        /// Where files are.
        folder: PathBuf,
        /// Keys that changed.
        overrides: Vec<String>,
        /// Its name, if it has none.
        name: String,
    },
    /// Of text, on a fabric that was at hand.
    On {
        /// The text.
        text: String,
        /// What messages call it.
        label: String,
        /// Where files are.
        folder: PathBuf,
    },
    /// Of a traffic on its own.
    OfTraffic,
    /// Of one job of another scenario.
    Alone(String),
    /// Of another scenario's hardware, and a traffic.
    WithTraffic,
}

/// A scenario, ready to run. Immutable.
#[pyclass(frozen, weakref, name = "Scenario", module = "netloom._core")]
pub struct PyScenario {
    /// Shared with its runs.
    pub stage: Arc<Stage>,
    files: Vec<(&'static str, PathBuf)>,
    jobs_file: Option<formats::JobsFile>,
    /// The call that made it, and the objects that it was made of.
    pub(crate) made: Made,
    pub(crate) of: Vec<Py<PyAny>>,
}

#[pymethods]
impl PyScenario {
    /// Reads a scenario and every file that it names.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     A scenario (.toml); files are relative to it.
    /// overrides : sequence of str, default ()
    ///     Keys that change: `"hardware.lanes=2"`.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// FormatError, SpecError, PlaceError, OSError
    ///     If a key, value or file is not what it should be.
    ///
    /// Examples
    /// --------
    /// >>> from netloom import examples
    /// >>> netloom.Scenario.read(examples.path("scenarios/shuffle.toml"), ["seed=2"]).seed
    /// 2
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn read(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let data = crate::io::read(py, &path)?;
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::parse(py, &data, &path.display().to_string(), folder, overrides, &name)
    }

    /// Parses a scenario.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     TOML.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    /// folder : path, default "."
    ///     What files are relative to.
    /// overrides : sequence of str, default ()
    ///     Keys that change: `"hardware.lanes=2"`.
    /// name : str, default "scenario"
    ///     Its name.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// FormatError, SpecError, PlaceError, OSError
    ///     If a key or value is not what it should be.
    #[staticmethod]
    #[pyo3(signature = (data, *, label = "<bytes>", folder = PathBuf::new(), overrides = Vec::new(), name = "scenario"))]
    pub(crate) fn parse(
        py: Python<'_>,
        data: &[u8],
        label: &str,
        folder: PathBuf,
        overrides: Vec<String>,
        name: &str,
    ) -> PyResult<Self> {
        let mut opened = false;
        Self::parse_files(py, data, label, folder, overrides, name, &mut opened)
            .map_err(|error| marked(py, error, opened))
    }

    /// A scenario as text, on a fabric that is at hand; the one it names is not looked at.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     The fabric.
    /// text, label : str
    ///     The scenario, and what messages call it.
    /// folder : path
    ///     What files are relative to.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// FormatError, SpecError, PlaceError, OSError
    ///     If a key or value is not what it should be.
    #[staticmethod]
    pub(crate) fn on(
        py: Python<'_>,
        fabric: &PyFabric,
        text: &str,
        label: &str,
        folder: PathBuf,
    ) -> PyResult<Self> {
        let scenario = formats::read_scenario(text.as_bytes(), label, &[])
            .map_err(|e| marked(py, errors::format(py, &e), false))?;
        let shared = Arc::clone(&fabric.shared);
        let (scene, files, opened) = run(py, Options::default(), |_| {
            let (mut read, mut found) = (Vec::new(), false);
            let scene = Scene::new(&shared.fabric, scenario, &mut reader(&folder, &mut read, &mut found));
            (scene, read, found)
        })?;
        let scene = scene.map_err(|e| marked(py, raise(py, label, &folder, e), opened))?;
        Ok(Self {
            made: Made::On { text: text.to_owned(), label: label.to_owned(), folder: absolute(&folder) },
            of: Vec::new(),
            stage: Stage::new(scene, shared, label.to_owned(), folder),
            files,
            jobs_file: None,
        })
    }

    /// A traffic as a program: phase after phase, every host sends all at once and waits for all.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     The fabric.
    /// traffic : Traffic
    ///     Traffic over its hosts.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If the traffic is of other hosts.
    #[staticmethod]
    pub(crate) fn of_traffic(
        py: Python<'_>,
        fabric: &PyFabric,
        traffic: &Bound<'_, PyTraffic>,
    ) -> PyResult<Self> {
        let given = traffic.get();
        given.check_fits(py, fabric)?;
        let text =
            "fabric = \"at hand\"\n[[job]]\nprogram = { kind = \"collective\", collective = \"barrier\" }\n";
        let plain =
            formats::read_scenario(text.as_bytes(), "traffic", &[]).map_err(|e| errors::format(py, &e))?;
        let shared = Arc::clone(&fabric.shared);
        let scene =
            run(py, Options::default(), |_| Scene::of_traffic(&shared.fabric, plain, &given.shared.traffic))?;
        let folder = PathBuf::new();
        let scene = scene.map_err(|e| raise(py, "traffic", &folder, e))?;
        Ok(Self {
            stage: Stage::new(scene, shared, "traffic".into(), folder),
            files: Vec::new(),
            jobs_file: None,
            made: Made::OfTraffic,
            of: vec![traffic.clone().into_any().unbind()],
        })
    }

    /// A scenario from a dictionary.
    ///
    /// Parameters
    /// ----------
    /// scenario : mapping
    ///     The keys of a scenario's file (`docs/verbs/simulate.md`).
    /// folder : path, optional
    ///     What files are relative to; None: the present folder.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// FormatError, SpecError, PlaceError
    ///     If a key or value is not what it should be.
    #[staticmethod]
    #[pyo3(signature = (scenario, *, folder = None))]
    fn from_dict<'py>(scenario: Bound<'py, PyAny>, folder: Option<PathBuf>) -> PyResult<Bound<'py, PyAny>> {
        scenario.py().import("netloom.interop")?.call_method1("scenario_from_dict", (&scenario, folder))
    }

    /// Its name: the file's, without the ending.
    #[getter]
    fn name(&self) -> &str {
        &self.stage.scene.scenario.name
    }

    /// The file, or what it was called.
    #[getter]
    fn path(&self) -> &str {
        &self.stage.label
    }

    /// The simulator: `packet` or `fluid`.
    #[getter]
    fn model(&self) -> &str {
        &self.stage.scene.scenario.model
    }

    /// The profile of hardware: `codes`, `infiniband`, `aries`.
    #[getter]
    fn profile(&self) -> &str {
        &self.stage.scene.scenario.profile
    }

    /// Seed of all random choices.
    #[getter]
    fn seed(&self) -> u64 {
        self.stage.scene.scenario.seed
    }

    /// The routings to compare, in the scenario's own words.
    #[getter]
    fn routings(&self) -> Vec<String> {
        self.stage.scene.scenario.routes.clone()
    }

    /// The fabric that it runs on.
    #[getter]
    pub fn fabric(&self) -> PyFabric {
        PyFabric { shared: Arc::clone(&self.stage.shared) }
    }

    /// The fabric as the scenario names it: a generator's spec, or a file beside the scenario.
    #[getter]
    fn fabric_source(&self) -> &str {
        &self.stage.scene.scenario.fabric
    }

    /// The jobs on their hosts.
    #[getter]
    fn jobs(&self) -> Vec<PyJob> {
        let jobs = self.stage.scene.jobs.iter().map(|job| {
            PyJob(Job {
                name: job.name.clone(),
                hosts: job.hosts.clone(),
                placement: Placement { host_of_rank: job.host_of_rank.clone() },
            })
        });
        jobs.collect()
    }

    /// Names of the jobs of a jobs file, as it has them (copies are one): their matrices are what runs. `None` for a scenario with programs.
    #[getter]
    fn jobs_of_file(&self) -> Option<Vec<&str>> {
        self.jobs_file.as_ref().map(|file| file.jobs.iter().map(|job| job.name.as_str()).collect())
    }

    /// Names of the jobs that offer load (`kind = "uniform"`).
    #[getter]
    fn offering(&self) -> Vec<String> {
        let jobs = self.stage.scene.jobs.iter().filter(|job| job.script.open_loop().is_some());
        jobs.map(|job| job.name.clone()).collect()
    }

    /// Names of the jobs that start over until another ends.
    #[getter]
    fn repeating(&self) -> Vec<String> {
        let jobs = self.stage.scene.jobs.iter().filter(|job| job.until.is_some());
        jobs.map(|job| job.name.clone()).collect()
    }

    /// One of its jobs by itself, on the same hosts; once, where it starts over until another ends.
    ///
    /// Parameters
    /// ----------
    /// job : str
    ///     The job's name.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// ArgumentError
    ///     If there is no such job.
    pub(crate) fn alone(slf: &Bound<'_, Self>, job: &str) -> PyResult<Self> {
        let stage = &slf.get().stage;
        let scene = stage.scene.alone(stage.job(slf.py(), job)?);
        let of = vec![slf.clone().into_any().unbind()];
        Ok(slf.get().with_scene(scene, Made::Alone(job.to_owned()), of))
    }

    /// Every other file that it names: (role, path).
    #[getter]
    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.files.clone()
    }

    /// The tables of a routing, checked.
    ///
    /// Parameters
    /// ----------
    /// routing : str
    ///     One of `routings`.
    /// threads : int, default 0
    ///     Threads; 0 is one a core.
    /// work : int, optional
    ///     Path searches at most, where routes are optimised.
    /// progress : callable, optional
    ///     Called as `progress(done, all)` now and then.
    ///
    /// Returns
    /// -------
    /// Routes or None
    ///     None for a routing that chooses packet by packet.
    ///
    /// Raises
    /// ------
    /// SpecError, RoutingError
    ///     If there is no such routing, or it cannot route the fabric.
    #[pyo3(signature = (routing, *, threads = 0, work = None, progress = None))]
    pub fn routes(
        &self,
        py: Python<'_>,
        routing: &str,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<PyRoutes>> {
        let options = Options { threads, progress, ..Options::default() };
        let made = run(py, options, |control| self.stage.routes(routing, work, threads, control))?;
        let made = made.map_err(|e| self.stage.raise(py, e))?;
        Ok(made.map(|routes| self.stage.checked(routes)))
    }

    /// The tables of `optimized` routes, and how they were chosen.
    ///
    /// Parameters
    /// ----------
    /// routing : str, default "optimized"
    ///     `optimized` or `optimized:phases`.
    /// threads : int, default 0
    ///     Threads; 0 is one a core.
    /// work : int, optional
    ///     Path searches at most, where routes are optimised.
    /// progress : callable, optional
    ///     Called as `progress(done, all)` now and then.
    ///
    /// Returns
    /// -------
    /// (Routes, dict)
    ///
    /// Raises
    /// ------
    /// RoutingError, TrafficError
    ///     If they cannot be made.
    #[pyo3(signature = (routing = "optimized", *, threads = 0, work = None, progress = None))]
    fn optimized<'py>(
        &self,
        py: Python<'py>,
        routing: &str,
        #[pyo3(from_py_with = arguments::threads)] threads: usize,
        #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(PyRoutes, Bound<'py, PyDict>)> {
        let options = Options { threads, progress, ..Options::default() };
        let parsed = Routing::parse(routing).map_err(|e| self.stage.raise(py, e))?;
        let made = run(py, options, |control| {
            let choice = self.stage.choice(&parsed, work, threads, control)?;
            self.stage.check(routing, choice.routes())?;
            Ok(choice)
        })?;
        let choice = made.map_err(|e| self.stage.raise(py, e))?;
        let told = choice_dict(py, &choice)?;
        Ok((self.stage.checked(choice.routes().clone()), told))
    }

    /// What `optimized` routes are optimised for, host to host.
    ///
    /// Parameters
    /// ----------
    /// routing : str, default "optimized"
    ///     `optimized` or `optimized:phases`.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// SpecError
    ///     If it is neither.
    #[pyo3(signature = (routing = "optimized"))]
    fn traffic(&self, py: Python<'_>, routing: &str) -> PyResult<crate::traffic::PyTraffic> {
        let made = run(py, Options::default(), |control| {
            let routing = Routing::parse(routing)?;
            compose::optimized::goal(&routing, &self.stage.shared.fabric, &self.stage.scene, control)
        })?;
        made.map(Into::into).map_err(|e| self.stage.raise(py, e))
    }

    /// The same fabric and hardware with other work: one job over all hosts, which sends at once what a traffic says.
    ///
    /// Parameters
    /// ----------
    /// traffic : Traffic
    ///     Traffic over the fabric's hosts.
    ///
    /// Returns
    /// -------
    /// Scenario
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If the traffic is of other hosts.
    pub(crate) fn with_traffic(slf: &Bound<'_, Self>, traffic: &Bound<'_, PyTraffic>) -> PyResult<Self> {
        let (py, own, given) = (slf.py(), slf.get(), &traffic.get().shared.traffic);
        traffic.get().check_fits(py, &own.fabric())?;
        let stage = &own.stage;
        let scene = run(py, Options::default(), |_| stage.scene.with_traffic(&stage.shared.fabric, given))?;
        let of = vec![slf.clone().into_any().unbind(), traffic.clone().into_any().unbind()];
        Ok(own.with_scene(scene, Made::WithTraffic, of))
    }

    fn __repr__(&self) -> String {
        let Scene { scenario, jobs, .. } = &self.stage.scene;
        format!("<netloom.Scenario: {}, {} jobs, {}>", scenario.name, jobs.len(), scenario.routes.join(", "))
    }
}

impl PyScenario {
    /// Parses a scenario, and reads what it names; `opened`: whether anything was read.
    #[allow(clippy::too_many_arguments)] // those of `parse`, and what it notes
    fn parse_files(
        py: Python<'_>,
        data: &[u8],
        label: &str,
        folder: PathBuf,
        overrides: Vec<String>,
        name: &str,
        opened: &mut bool,
    ) -> PyResult<Self> {
        let made = Made::Parsed {
            data: data.to_vec(),
            label: label.to_owned(),
            folder: absolute(&folder),
            overrides: overrides.clone(),
            name: name.to_owned(),
        };
        let label = label.to_owned();
        let read = if formats::has_jobs_of_jobs_file(data, &label) {
            formats::read_jobs_scenario(data, &label, &overrides)
                .map(|(scenario, jobs)| (scenario, Some(jobs)))
        } else {
            formats::read_scenario(data, &label, &overrides).map(|scenario| (scenario, None))
        };
        let (mut scenario, jobs_file) = read.map_err(|e| errors::format(py, &e))?;
        if scenario.name.is_empty() {
            name.clone_into(&mut scenario.name);
        }
        let refuse = |key: &str, error: String| errors::spec(py, scenario.origins.error(key, error));
        let readable = |key: &str, path: &Path| {
            // A pipe is not opened twice.
            let opened = path
                .metadata()
                .and_then(|it| if it.is_file() { crate::io::open(path).map(drop) } else { Ok(()) });
            opened.map_err(|e| errors::os_at(py, &e, path, &scenario.origins.error(key, key)))
        };
        let mut files = Vec::new();
        let fabric = if netloom_topology::is_generator(&scenario.fabric) {
            let made = run(py, Options::default(), |_| netloom_topology::generate(&scenario.fabric))?;
            let made = made.map_err(|e| refuse("fabric", format!("fabric: {e}")))?;
            PyFabric { shared: Shared::new(made, "generated", Vec::new()) }
        } else {
            let named = folder.join(&scenario.fabric);
            let (path, _) = split_plane(named.clone());
            if let Some(message) = unknown(&scenario.fabric).filter(|_| !path.exists()) {
                return Err(refuse("fabric", format!("fabric: {message}")));
            }
            readable("fabric", &path)?;
            *opened = true;
            files.push(("fabric", path.clone()));
            PyFabric::read(py, named, None)?
        };
        let fabric = match &scenario.groups {
            None => fabric,
            Some(stated) => {
                let path = folder.join(stated);
                let data = if path.is_file() {
                    readable("groups", &path)?;
                    *opened = true;
                    files.push(("groups", path.clone()));
                    Some(crate::io::read(py, &path)?)
                } else {
                    None
                };
                of_groups(py, &fabric, stated, data).map_err(|error| {
                    let told = error.is_instance_of::<PyValueError>(py);
                    if told { refuse("groups", format!("groups: {}", error.value(py))) } else { error }
                })?
            }
        };
        let shared = Arc::clone(&fabric.shared);
        let raise = |e| raise(py, &label, &folder, e);
        for word in &scenario.routes {
            let routing = Routing::parse(word).map_err(|e| refuse("routes", e.to_string()))?;
            for (role, path) in routing.files() {
                let path = folder.join(path);
                readable("routes", &path)?;
                if !files.iter().any(|(_, known)| *known == path) {
                    files.push((role, path));
                }
            }
        }
        let scene = if let Some(jobs) = &jobs_file {
            let seed = scenario.seed;
            *opened = true;
            let (placed, read) = of_jobs_file(py, &fabric, (jobs, &label, &folder), seed)?;
            files.extend(read);
            run(py, Options::default(), |_| Scene::of_jobs(&shared.fabric, scenario, placed.with_traffic()))?
        } else {
            let (scene, read) = run(py, Options::default(), |_| {
                let (mut read, mut found) = (Vec::new(), false);
                let scene = Scene::new(&shared.fabric, scenario, &mut reader(&folder, &mut read, &mut found));
                *opened |= found;
                (scene, read)
            })?;
            files.extend(read);
            scene
        };
        let scene = scene.map_err(raise)?;
        Ok(Self { stage: Stage::new(scene, shared, label, folder), files, jobs_file, made, of: Vec::new() })
    }

    /// The same with other work.
    fn with_scene(&self, scene: Scene, made: Made, of: Vec<Py<PyAny>>) -> Self {
        let Stage { shared, label, folder, .. } = &*self.stage;
        Self {
            stage: Stage::new(scene, Arc::clone(shared), label.clone(), folder.clone()),
            files: self.files.clone(),
            jobs_file: self.jobs_file.clone(),
            made,
            of,
        }
    }
}

/// The fabric with the groups that a rule, or a file's lines, state.
fn of_groups(py: Python<'_>, fabric: &PyFabric, stated: &str, data: Option<Vec<u8>>) -> PyResult<PyFabric> {
    let names: Vec<&str> = fabric.fabric().switches().map(|s| fabric.fabric().switch_name(s)).collect();
    let data = data.map(|data| PyBytes::new(py, &data));
    let groups = py.import("netloom.reading.groups")?.call_method1("stated", (stated, names, data))?;
    fabric.with_groups(py, groups.extract()?)
}

/// The jobs of a jobs file on a fabric, and the files that they name.
fn of_jobs_file(
    py: Python<'_>,
    fabric: &PyFabric,
    (file, label, folder): (&formats::JobsFile, &str, &Path),
    seed: u64,
) -> PyResult<(Placed, Vec<(&'static str, PathBuf)>)> {
    if let Some(number) = file.jobs.iter().position(|job| job.cross_copies) {
        let message = format!(
            "cross_copies: expected false: jobs that are simulated send between their own ranks, and \"{}\" does not",
            file.jobs[number].name
        );
        let error = match file.line(number, "cross_copies") {
            Some(line) => formats::FormatError::at(label, line, message),
            None => formats::FormatError::whole(label, message),
        };
        return Err(errors::format(py, &error));
    }
    let files = RefCell::new(Vec::new());
    let read = |path: PathBuf| {
        files.borrow_mut().push(("matrix", path.clone()));
        let object = PyTraffic::read(py, path, None, None, None)?;
        Ok(object.get().shared.traffic.clone())
    };
    let collectives = Collectives::parse(py, None)?;
    let adapters = AdapterChoice::default();
    let placed = placed_in(py, fabric, (file, label, folder), Some(seed), collectives, &adapters, &read)?;
    Ok((placed, files.into_inner()))
}

/// A folder as any process finds it, wherever that works.
fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_path_buf())
}

impl Stage {
    fn new(scene: Scene, shared: Arc<Shared>, label: String, folder: PathBuf) -> Arc<Self> {
        Arc::new(Self { scene, shared, label, folder, sound: Mutex::default() })
    }

    /// Routes that were checked here as an object: they are not checked again.
    fn checked(&self, routes: Routes) -> PyRoutes {
        let made = PyRoutes::new(routes, &self.shared);
        self.remember(&made.routes);
        made
    }

    fn remember(&self, routes: &Arc<Routes>) {
        let mut sound = self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        sound.retain(|known| known.strong_count() > 0);
        sound.push(Arc::downgrade(routes));
    }

    /// Refuses routes that must not be run, unless they were checked before. It remembers them if they may be.
    ///
    /// # Errors
    /// As [`Stage::check`].
    pub fn check_once(&self, word: &str, routes: &Arc<Routes>) -> Result<(), ComposeError> {
        let is = |known: &Weak<Routes>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(routes));
        let known = self.sound.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is);
        if !known {
            self.check(word, routes)?;
            self.remember(routes);
        }
        Ok(())
    }

    /// The number of a job.
    pub fn job(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let number = self.scene.jobs.iter().position(|job| job.name == name);
        number.ok_or_else(|| errors::argument(py, format!("job: {} has no job \"{name}\"", self.label)))
    }

    /// The tables of a routing, checked; `None` for one that has none.
    pub fn routes(
        &self,
        word: &str,
        work: Option<u64>,
        threads: usize,
        control: &Control,
    ) -> Result<Option<Routes>, ComposeError> {
        let routing = Routing::parse(word)?;
        if !routing.has_tables() {
            return Ok(None);
        }
        let (fabric, structure) = (&self.shared.fabric, self.shared.structure());
        let scenario = &self.scene.scenario;
        let routes = match &routing {
            Routing::Optimized | Routing::OptimizedPhases => {
                self.choice(&routing, work, threads, control)?.routes().clone()
            }
            Routing::ByWay(which) => which.routes(fabric, structure, &self.scene, control)?,
            _ => {
                let mut read = Vec::new();
                let mut opened = false;
                let mut read = reader(&self.folder, &mut read, &mut opened);
                compose::tables(&routing, fabric, structure, scenario.seed, &mut read)?
            }
        };
        self.check(word, &routes)?;
        Ok(Some(routes))
    }

    /// The optimiser's tables, with what else was looked at.
    fn choice(
        &self,
        routing: &Routing,
        work: Option<u64>,
        threads: usize,
        control: &Control,
    ) -> Result<Choice, ComposeError> {
        let (shared, scene) = (&self.shared, &self.scene);
        let (fabric, structure, paths) = (&shared.fabric, shared.structure(), shared.paths());
        compose::optimized(routing, fabric, structure, paths, scene, work, threads.max(1), control)
    }

    /// Refuses routes that must not be run.
    ///
    /// # Errors
    /// [`ComposeError::Unsound`], with the routing's word.
    pub fn check(&self, word: &str, routes: &Routes) -> Result<(), ComposeError> {
        let allow = self.scene.scenario.allow_credit_loops;
        let (fabric, structure) = (&self.shared.fabric, self.shared.structure());
        let own = self.scene.profile.config.lane_map.as_deref();
        let lanes = own.or(routes.lanes.as_deref());
        compose::check_sound_on(fabric, structure, routes, lanes, allow).map_err(|e| match e {
            ComposeError::Unsound(message) => ComposeError::Unsound(format!("{word}: {message}")),
            other => other,
        })
    }

    /// An error of this scenario as a Python exception.
    pub fn raise(&self, py: Python<'_>, error: ComposeError) -> PyErr {
        raise(py, &self.label, &self.folder, error)
    }
}

/// A choice as results tell it.
pub fn choice_dict<'py>(py: Python<'py>, choice: &Choice) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("changed_because", choice.changed_because())?;
    let Some(model) = choice.model else {
        dict.set_item("judge", py.None())?;
        return Ok(dict);
    };
    let judge = PyDict::new(py);
    judge.set_item("measure", if model == Model::Packet { "packets" } else { "fluid" })?;
    judge.set_item("chosen", choice.candidates[choice.chosen].name)?;
    let rows = PyList::empty(py);
    for one in &choice.candidates {
        let row = PyDict::new(py);
        row.set_item("name", one.name)?;
        row.set_item("completion_ms", one.completion_ps.map(|ps| ps as f64 * 1e-9))?;
        row.set_item("ratio", one.ratio)?;
        row.set_item("max_load", one.max_load)?;
        row.set_item("changed_entries", one.changed_entries)?;
        rows.append(row)?;
    }
    judge.set_item("candidates", rows)?;
    dict.set_item("judge", judge)?;
    Ok(dict)
}

/// Reads files beside a scenario and notes which; `opened`: whether there was any, or a folder.
fn reader<'a>(
    folder: &'a Path,
    read: &'a mut Vec<(&'static str, PathBuf)>,
    opened: &'a mut bool,
) -> impl FnMut(&'static str, &str) -> io::Result<Found> + 'a {
    move |role, name| {
        let path = folder.join(name);
        let found = crate::io::find(&path)?;
        *opened = true;
        if matches!(found, Found::File(_)) {
            read.push((role, path));
        }
        Ok(found)
    }
}

/// An error with its attribute `opened`: whether a file had been read that the scenario names. What the error says may
/// then be of its content.
fn marked(py: Python<'_>, error: PyErr, opened: bool) -> PyErr {
    match error.value(py).setattr("opened", opened) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn raise(py: Python<'_>, label: &str, folder: &Path, error: ComposeError) -> PyErr {
    match error {
        ComposeError::File { place: None, path, error } => errors::os(&error, &folder.join(path)),
        ComposeError::File { place: Some(place), path, error } => {
            errors::os_at(py, &error, &folder.join(path), &place)
        }
        ComposeError::Format(error) => errors::format(py, &error),
        ComposeError::Place(error) => errors::place(py, error),
        error @ ComposeError::Pattern(_) => errors::spec(py, error),
        error @ ComposeError::Misfit(_) => errors::simulation(py, error),
        error @ ComposeError::UnknownRouting(_) => errors::spec(py, format!("{label}: {error}")),
        error @ (ComposeError::Routing(_) | ComposeError::Unsound(_)) => errors::routing(py, error),
        ComposeError::Optimize(error) => errors::optimize(py, error),
        error => errors::simulation(py, format!("{label}: {error}")),
    }
}
