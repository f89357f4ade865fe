//! `netloom.plan`: a plan's file in, designs counted, priced and slowed down out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use netloom_formats::catalogue::{CatalogueCable, CatalogueSwitch, Told};
use netloom_formats::plan::{PlanApplication, PlanRun};
use netloom_formats::{self as formats, CatalogueFile, FormatError, PlanFile, PlanSource};
use netloom_model::Traffic;
use netloom_planning as planning;
use netloom_planning::{
    Answer, Application, Bundles, Design, Goal, Offer, Order, PlanError, Planned, Request, Share,
};
use netloom_traffic as patterns;
use pyo3::exceptions::{PyOSError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::run::{Options, run};
use crate::traffic::PyTraffic;
use crate::{arguments, errors, io};

/// Levels by the switches that the cables go up from.
const LEVELS: [&str; 3] = ["hosts", "leaves", "spines"];

/// Designs for the machine of a plan: counted, priced, and how much they slow its applications.
///
/// What `netloom.plan` asks once it knows how long the plan's traces run. `docs/schemas/plan.json` has the result's keys.
///
/// Parameters
/// ----------
/// source : path
///     A plan (.toml).
/// seed : int, optional
///     Of fragmented and random orders; the plan's own if None.
/// threads : int, default 0
///     0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds.
/// progress : callable, optional
///     Called with what is done and all that is to do.
/// runs : dict of int and float, optional
///     Seconds that traces run on a network without taper, by the number of the application. Those that
///     are missing are taken to do nothing but send.
///
/// Returns
/// -------
/// dict
///     `designs` is the front of price against slowdown, cheapest first; `chosen` a number in it or None;
///     `full` the cheapest design without taper; `compared` the plan's own specs.
///
/// Raises
/// ------
/// FormatError, TrafficError, OSError
///     If the plan, its catalogue or a file of traffic is not what it should be.
/// TimeoutError
///     If the time limit came first.
///
/// References
/// ----------
/// Paper 004; `docs/methods/planning.md`.
///
/// Examples
/// --------
/// >>> from netloom import examples
/// >>> result = netloom._core.plan(examples.path("plan/quartz.toml"))
/// >>> result["chosen"] is None or result["designs"][result["chosen"]]["spec"].startswith(("two-level", "fattree", "xgft"))
/// True
#[pyfunction]
#[pyo3(signature = (source, *, seed = None, threads = 0, time_limit = None, progress = None, runs = HashMap::new()))]
pub fn plan<'py>(
    py: Python<'py>,
    source: PathBuf,
    #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    runs: HashMap<usize, f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = Plan::read(py, &source)?;
    let offer = plan.catalogue(py)?;
    let (request, notes) = plan.request(py, &offer, seed, &runs)?;
    let options = Options { threads, time_limit, progress, ..Options::default() };
    let answer = run(py, options, |control| planning::plan(&request, control))?;
    let answer = answer.map_err(|e| plan.error(py, &e))?;
    let result = plan.result(py, &request, &offer, &answer)?;
    result.set_item("notes", notes)?;
    Ok(result)
}

/// The files that a plan names: role (`catalogue`, `matrix`, `trace`) and path of each, once, in its order.
#[pyfunction]
pub fn plan_files(py: Python<'_>, source: PathBuf) -> PyResult<Vec<(&'static str, PathBuf)>> {
    let plan = Plan::read(py, &source)?;
    let mut files = vec![("catalogue", plan.path(&plan.file.catalogue))];
    for application in &plan.file.applications {
        let file = match &application.source {
            PlanSource::Matrix(name) => ("matrix", plan.path(name)),
            PlanSource::Trace(name) => ("trace", plan.path(name)),
            PlanSource::Pattern(_) => continue,
        };
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// The applications of a plan, and what running them takes.
///
/// Parameters
/// ----------
/// source : path
///     A plan (.toml).
///
/// Returns
/// -------
/// list of dict
///     `name`, `weight`, `kind` (matrix, pattern, trace), `source` (a path, or the pattern), `ranks` (of a trace; else
///     None), `ranks_per_host`, `copies` (None: as many as fit), `flops_per_s` (None: it computes in no time), `told`
///     (whether the plan gives its share or its run time), and `radix` (the largest) and `speed_gbps` of the plan.
#[pyfunction]
pub fn plan_applications<'py>(py: Python<'py>, source: PathBuf) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let plan = Plan::read(py, &source)?;
    let offers = plan.offers(py, &plan.catalogue(py)?)?;
    let largest = offers.last().expect("at least one is on offer");
    let one = |(number, spec): (usize, &PlanApplication)| {
        let dict = PyDict::new(py);
        dict.set_item("name", &spec.name)?;
        dict.set_item("weight", spec.weight)?;
        let (kind, path) = match &spec.source {
            PlanSource::Matrix(name) => ("matrix", plan.path(name)),
            PlanSource::Trace(name) => ("trace", plan.path(name)),
            PlanSource::Pattern(text) => ("pattern", PathBuf::from(text)),
        };
        dict.set_item("kind", kind)?;
        dict.set_item("source", path.display().to_string())?;
        let ranks = match &spec.source {
            PlanSource::Trace(name) => {
                let key = format!("application.{number}.trace");
                Some(plan.traffic(py, &key, name, &mut Vec::new())?.endpoints())
            }
            _ => None,
        };
        dict.set_item("ranks", ranks)?;
        dict.set_item("ranks_per_host", spec.ranks_per_host)?;
        dict.set_item("copies", spec.copies)?;
        let (told, flops_per_s) = match spec.run {
            PlanRun::Unknown { flops_per_s } => (false, flops_per_s),
            PlanRun::Share(_) | PlanRun::Seconds(_) => (true, None),
        };
        dict.set_item("flops_per_s", flops_per_s)?;
        dict.set_item("told", told)?;
        dict.set_item("radix", largest.radix)?;
        dict.set_item("speed_gbps", largest.prices.speed_gbps)?;
        Ok(dict)
    };
    plan.file.applications.iter().enumerate().map(one).collect()
}

/// The hosts of copies of a job, in an order of a plan.
///
/// Parameters
/// ----------
/// order : str
///     `block`, `fragmented` or `random`.
/// hosts : int
///     Of the machine.
/// copies : int
///     How many, side by side.
/// each : int
///     Hosts of a copy.
/// seed : int
///     Of the plan.
/// draw : int
///     Which draw of the order, from 0.
///
/// Returns
/// -------
/// list of list of int
///     By copy and host of the job, numbers of hosts, which count leaf by leaf.
///
/// Raises
/// ------
/// SpecError
///     If there is no such order, or the copies do not fit.
///
/// Examples
/// --------
/// >>> netloom._core.plan_hosts("block", 8, 2, 3, seed=0, draw=0)
/// [[0, 1, 2], [3, 4, 5]]
#[pyfunction]
#[pyo3(signature = (order, hosts, copies, each, *, seed, draw))]
pub fn plan_hosts(
    py: Python<'_>,
    order: &str,
    #[pyo3(from_py_with = arguments::hosts)] hosts: u32,
    #[pyo3(from_py_with = arguments::copies)] copies: u32,
    #[pyo3(from_py_with = arguments::each)] each: u32,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::draw)] draw: u32,
) -> PyResult<Vec<Vec<u32>>> {
    let known = Order::ALL.into_iter().find(|known| known.name() == order);
    let known = known.ok_or_else(|| errors::spec(py, format!("no order is called \"{order}\"")))?;
    if u64::from(copies) * u64::from(each) > u64::from(hosts) {
        return Err(errors::spec(
            py,
            format!("{copies} copies of {each} hosts: expected at most {hosts} hosts"),
        ));
    }
    Ok(known.place(hosts, copies, each, seed, draw))
}

/// Kind and text of what to know of a traffic.
type Note = (String, String);

/// A plan's file and what it is called.
struct Plan {
    file: PlanFile,
    label: String,
    folder: PathBuf,
}

impl Plan {
    fn read(py: Python<'_>, source: &Path) -> PyResult<Self> {
        let label = source.display().to_string();
        let file = formats::read_plan(&io::read(py, source)?, &label).map_err(|e| errors::format(py, &e))?;
        Ok(Self { file, label, folder: source.parent().unwrap_or(Path::new("")).to_path_buf() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// An error at a key of the plan.
    fn at(&self, py: Python<'_>, key: &str, message: impl std::fmt::Display) -> PyErr {
        let short =
            key.rsplit('.').next().filter(|word| word.parse::<u32>().is_err()).unwrap_or("application");
        let line = self.file.line(key);
        let message = format!("{short}: {message}");
        errors::format(py, &FormatError { label: self.label.clone(), line, message })
    }

    fn error(&self, py: Python<'_>, error: &PlanError) -> PyErr {
        match (error, error.key()) {
            (PlanError::Stopped, _) => PyTimeoutError::new_err(error.to_string()),
            (_, Some(key)) => self.at(py, &key, error),
            (_, None) => errors::format(py, &FormatError::whole(&self.label, error.to_string())),
        }
    }

    /// The same of a file that a key names and that cannot be opened: with the place of the key.
    fn opened<T>(&self, py: Python<'_>, key: &str, result: PyResult<T>) -> PyResult<T> {
        result.inspect_err(|error| {
            if error.is_instance_of::<PyOSError>(py) {
                let line = self.file.line(key).map_or_else(String::new, |line| format!(":{line}"));
                // If that fails, the error is told without its place.
                let _ = error.value(py).setattr("place", format!("{}{line}", self.label));
            }
        })
    }

    fn catalogue(&self, py: Python<'_>) -> PyResult<CatalogueFile> {
        let path = self.path(&self.file.catalogue);
        let bytes = self.opened(py, "catalogue.file", io::read(py, &path))?;
        formats::read_catalogue(&bytes, &path.display().to_string()).map_err(|e| errors::format(py, &e))
    }

    fn most_levels(&self) -> usize {
        self.file.levels.iter().copied().max().unwrap_or(2) as usize
    }

    /// The switches that the plan names, or all of the catalogue, each with its prices; by ports, rising.
    fn offers(&self, py: Python<'_>, offer: &CatalogueFile) -> PyResult<Vec<Offer>> {
        let file = &self.file;
        let runs =
            file.cables.each_ref().map(|c| planning::Run { kind: c.kind.clone(), length_m: c.length_m });
        let catalogue = catalogue(offer);
        let mut radices = file.radices.clone();
        if radices.is_empty() {
            radices = catalogue.radices(file.speed_gbps).0;
        }
        if radices.is_empty() {
            let message = "expected the ports of a switch: the catalogue has none with a fixed, even number";
            return Err(self.at(py, "machine.radix", message));
        }
        let one = |radix: u32| {
            let prices = catalogue.prices(radix, file.speed_gbps, &runs[..self.most_levels()]);
            Ok(Offer { radix, prices: prices.map_err(|e| self.error(py, &e))? })
        };
        radices.into_iter().map(one).collect()
    }

    /// A note of the switches of the catalogue that are not looked at, where the plan names none.
    fn left_out(&self, offer: &CatalogueFile) -> Vec<Note> {
        let odd = catalogue(offer).radices(self.file.speed_gbps).1;
        if odd.is_empty() || !self.file.radices.is_empty() {
            return Vec::new();
        }
        let odd: Vec<String> = odd.iter().map(u32::to_string).collect();
        let text = format!(
            "{}: switches of {} ports are left out: trees without taper, with which all designs are compared, have half \
             of the ports up, so expected an even number",
            self.file.catalogue,
            odd.join(", ")
        );
        vec![("odd-ports".into(), text)]
    }

    /// What is asked, and what to know of the traffic that was read.
    fn request(
        &self,
        py: Python<'_>,
        offer: &CatalogueFile,
        seed: Option<u64>,
        runs: &HashMap<usize, f64>,
    ) -> PyResult<(Request, Vec<Note>)> {
        let file = &self.file;
        let most = self.most_levels();
        let compare = file.compare.iter().map(|spec| {
            let design = Design::parse(spec).map_err(|e| self.at(py, "compare", e))?;
            let levels = design.levels();
            if levels > most {
                let message =
                    format!("{spec} has {levels} levels: expected at most {most}, as machine.levels says");
                return Err(self.at(py, "compare", message));
            }
            Ok(design)
        });
        let mut notes = self.left_out(offer);
        let applications =
            file.applications.iter().enumerate().map(|(i, a)| self.application(py, i, a, runs, &mut notes));
        let applications = applications.collect::<PyResult<_>>()?;
        let orders =
            Order::ALL.into_iter().filter(|order| file.orders.iter().any(|word| word == order.name()));
        let request = Request {
            hosts: file.hosts,
            offers: self.offers(py, offer)?,
            levels: file.levels.clone(),
            bundles: if file.equal_bundles { Bundles::Equal } else { Bundles::Any },
            compare: compare.collect::<PyResult<_>>()?,
            applications,
            orders: orders.collect(),
            draws: file.draws,
            seed: seed.unwrap_or(file.seed),
            node_price: file.node_price,
            goal: Goal { budget: file.budget, slowdown: file.slowdown },
        };
        Ok((request, notes))
    }

    fn application(
        &self,
        py: Python<'_>,
        number: usize,
        spec: &PlanApplication,
        runs: &HashMap<usize, f64>,
        notes: &mut Vec<Note>,
    ) -> PyResult<Application> {
        let key = |source: &str| format!("application.{number}.{source}");
        let traffic = match &spec.source {
            PlanSource::Pattern(text) => {
                let room = self.file.hosts.saturating_mul(spec.ranks_per_host);
                let made = || {
                    patterns::pattern(text, None).or_else(|e| match e {
                        patterns::PatternError::NoEndpoints { .. } => patterns::pattern(text, Some(room)),
                        other => Err(other),
                    })
                };
                run(py, Options::default(), |_| made())?.map_err(|e| self.at(py, &key("pattern"), e))?
            }
            PlanSource::Matrix(name) => self.traffic(py, &key("matrix"), name, notes)?,
            PlanSource::Trace(name) => self.traffic(py, &key("trace"), name, notes)?,
        };
        let share = match (spec.run, runs.get(&number)) {
            (PlanRun::Share(share), _) => Share::Given(share),
            (PlanRun::Seconds(run_s), _) => Share::Measured(run_s),
            (PlanRun::Unknown { .. }, Some(&run_s)) => Share::Simulated(run_s),
            (PlanRun::Unknown { .. }, None) => Share::Assumed,
        };
        Ok(Application {
            name: spec.name.clone(),
            weight: spec.weight,
            share,
            traffic,
            ranks_per_host: spec.ranks_per_host,
            copies: spec.copies,
        })
    }

    fn traffic(&self, py: Python<'_>, key: &str, name: &str, notes: &mut Vec<Note>) -> PyResult<Traffic> {
        let path = self.path(name);
        let missing = || std::fs::metadata(&path).map_err(|e| errors::os(&e, &path));
        self.opened(py, key, missing())?;
        let read = self.opened(py, key, PyTraffic::read(py, path, None, None, None))?;
        let traffic = read.get().shared.traffic.clone();
        if traffic.hosts_hash().is_some() {
            let message = format!("{name} is of the hosts of a fabric: expected a matrix of ranks");
            return Err(self.at(py, key, message));
        }
        let told: Vec<Note> = read.bind(py).getattr("notes")?.extract()?;
        notes.extend(told.into_iter().map(|(kind, text)| (kind, format!("{name}: {text}"))));
        Ok(traffic)
    }

    fn result<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        offer: &CatalogueFile,
        answer: &Answer,
    ) -> PyResult<Bound<'py, PyDict>> {
        let file = &self.file;
        let planned = |p: &Planned| design(py, request, p);
        let dict = PyDict::new(py);
        dict.set_item("name", &file.name)?;
        dict.set_item("hosts", request.hosts)?;
        dict.set_item("radices", request.offers.iter().map(|o| o.radix).collect::<Vec<_>>())?;
        dict.set_item("levels", &request.levels)?;
        dict.set_item("bundles", if file.equal_bundles { "equal" } else { "any" })?;
        dict.set_item("speed_gbps", request.offers[0].prices.speed_gbps)?;
        dict.set_item("node_price", request.node_price)?;
        dict.set_item("budget", request.goal.budget)?;
        dict.set_item("target_slowdown", request.goal.slowdown)?;
        dict.set_item("orders", request.orders.iter().map(|o| o.name()).collect::<Vec<_>>())?;
        dict.set_item("draws", request.draws)?;
        dict.set_item("seed", request.seed)?;
        dict.set_item("designs_counted", answer.designs)?;
        dict.set_item("designs", answer.front.iter().map(planned).collect::<PyResult<Vec<_>>>()?)?;
        dict.set_item("chosen", answer.chosen)?;
        dict.set_item("better", &answer.better)?;
        dict.set_item("full", answer.full.as_ref().map(planned).transpose()?)?;
        dict.set_item("compared", answer.compared.iter().map(planned).collect::<PyResult<Vec<_>>>()?)?;
        let limits = answer.limits.iter().map(|found| limit(py, request, found));
        dict.set_item("limits", limits.collect::<PyResult<Vec<_>>>()?)?;
        let rows = (0..request.applications.len()).map(|number| {
            application(py, request, &file.applications[number], number, answer.shares[number])
        });
        dict.set_item("applications", rows.collect::<PyResult<Vec<_>>>()?)?;
        dict.set_item("catalogue", prices(py, request, offer, &self.path(&file.catalogue))?)?;
        Ok(dict)
    }
}

/// A catalogue as planning has it.
fn catalogue(file: &CatalogueFile) -> planning::Catalogue {
    let switch = |s: &CatalogueSwitch| planning::Switch {
        ports: s.ports,
        speed_gbps: s.speed_gbps,
        price: planning::Rate { fixed: s.price, each: s.price_per_port },
        power_w: planning::Rate { fixed: s.power_w, each: s.power_w_per_port },
    };
    let cable = |c: &CatalogueCable| planning::Cable {
        kind: c.kind.clone(),
        speed_gbps: c.speed_gbps,
        price: planning::Rate { fixed: c.price, each: c.price_per_m },
        power_w: c.power_w,
        most_m: c.most_m,
    };
    planning::Catalogue {
        switches: file.switches.iter().map(switch).collect(),
        cables: file.cables.iter().map(cable).collect(),
    }
}

/// The prices that were used, and when and where they were told.
fn prices<'py>(
    py: Python<'py>,
    request: &Request,
    offer: &CatalogueFile,
    path: &Path,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("file", path.display().to_string())?;
    dict.set_item("name", &offer.name)?;
    dict.set_item("currency", &offer.currency)?;
    let mut told: Vec<&Told> = offer.switches.iter().map(|s| &s.told).collect();
    told.extend(offer.cables.iter().map(|c| &c.told));
    let dates = || told.iter().map(|t| t.date.as_str());
    dict.set_item("oldest", dates().min())?;
    dict.set_item("newest", dates().max())?;
    let mut sources: Vec<&str> = Vec::new();
    for one in &told {
        if !sources.contains(&one.source.as_str()) {
            sources.push(&one.source);
        }
    }
    dict.set_item("sources", sources)?;
    let switches = request.offers.iter().map(|offer| {
        let dict = PyDict::new(py);
        dict.set_item("radix", offer.radix)?;
        dict.set_item("price", offer.prices.switch)?;
        dict.set_item("power_w", offer.prices.switch_power_w)?;
        Ok(dict)
    });
    dict.set_item("switches", switches.collect::<PyResult<Vec<_>>>()?)?;
    let cables = request.offers[0].prices.cables.iter().zip(LEVELS).map(|(cable, level)| {
        let dict = PyDict::new(py);
        dict.set_item("level", level)?;
        dict.set_item("kind", &cable.kind)?;
        dict.set_item("length_m", cable.length_m)?;
        dict.set_item("price", cable.price)?;
        dict.set_item("power_w", cable.power_w)?;
        Ok(dict)
    });
    dict.set_item("cables", cables.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn application<'py>(
    py: Python<'py>,
    request: &Request,
    written: &PlanApplication,
    number: usize,
    share: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let application = &request.applications[number];
    let weights: f64 = request.applications.iter().map(|a| a.weight).sum();
    let (PlanSource::Matrix(source) | PlanSource::Pattern(source) | PlanSource::Trace(source)) =
        &written.source;
    let ranks = application.traffic.endpoints();
    let hosts = ranks.div_ceil(application.ranks_per_host);
    dict.set_item("name", &application.name)?;
    dict.set_item("source", source)?;
    dict.set_item("ranks", ranks)?;
    dict.set_item("hosts", hosts)?;
    dict.set_item("copies", application.copies.unwrap_or(request.hosts / hosts.max(1)))?;
    dict.set_item("phases", application.traffic.phases().len())?;
    dict.set_item("weight", application.weight / weights)?;
    dict.set_item("wire_share", share)?;
    dict.set_item("wire_share_source", application.share.source())?;
    let run_s = match application.share {
        Share::Measured(run_s) | Share::Simulated(run_s) => Some(run_s),
        Share::Given(_) | Share::Assumed => None,
    };
    dict.set_item("run_s", run_s)?;
    Ok(dict)
}

fn slowdown<'py>(py: Python<'py>, found: &planning::Slowdown) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("bound", found.bound)?;
    dict.set_item("estimate", found.estimate)?;
    dict.set_item("mean", found.mean)?;
    Ok(dict)
}

/// The least estimate for a price, and the division of it that has it.
fn limit<'py>(py: Python<'py>, request: &Request, found: &planning::Limit) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let optimum = &found.optimum;
    dict.set_item("price", optimum.price)?;
    dict.set_item("price_per_host", optimum.price / f64::from(request.hosts))?;
    dict.set_item("estimate", optimum.slowdown)?;
    dict.set_item("hosts_per_leaf", found.hosts_per_leaf)?;
    let pods = found.leaves_per_pod > 0;
    dict.set_item("leaves_per_pod", pods.then_some(found.leaves_per_pod))?;
    let levels = if pods { 2 } else { 1 };
    dict.set_item("bandwidth", &optimum.bandwidth[..levels])?;
    Ok(dict)
}

fn design<'py>(py: Python<'py>, request: &Request, planned: &Planned) -> PyResult<Bound<'py, PyDict>> {
    let (design, counts) = (&planned.design, &planned.counts);
    let hosts = f64::from(request.hosts);
    let dict = PyDict::new(py);
    dict.set_item("spec", design.spec())?;
    dict.set_item("radix", planned.radix)?;
    dict.set_item("levels", design.levels())?;
    dict.set_item("hosts_per_leaf", design.hosts)?;
    dict.set_item("up_per_leaf", design.leaf_up)?;
    dict.set_item("up_between_leaves", design.up_between_leaves())?;
    dict.set_item("host_ports", counts.host_ports)?;
    dict.set_item("taper", planned.design.taper())?;
    dict.set_item("switches", &counts.switches)?;
    let cables = counts.cables.iter().enumerate().map(|(level, &count)| {
        let cable = PyDict::new(py);
        cable.set_item("level", LEVELS[level])?;
        cable.set_item("kind", &request.offers[0].prices.cables[level].kind)?;
        cable.set_item("count", if level == 0 { u64::from(request.hosts) } else { count })?;
        Ok(cable)
    });
    dict.set_item("cables", cables.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("spare_ports", &planned.spare_ports)?;
    dict.set_item("price", planned.price)?;
    dict.set_item("price_per_host", planned.price / hosts)?;
    dict.set_item("power_w", planned.power_w)?;
    dict.set_item("slowdown", slowdown(py, &planned.slowdown)?)?;
    dict.set_item("limit", limit(py, request, &planned.limit)?)?;
    dict.set_item("gap_percent", planned.gap_percent())?;
    dict.set_item("pays_below", planned.pays_below)?;
    let rows = planned.applications.iter().map(|on| {
        let row = PyDict::new(py);
        row.set_item("name", &request.applications[on.application].name)?;
        row.set_item("order", on.order.name())?;
        row.set_item("slowdown", slowdown(py, &on.slowdown)?)?;
        row.set_item("least", on.range.0)?;
        row.set_item("most", on.range.1)?;
        row.set_item("stretches", &on.stretches)?;
        row.set_item("share", &on.share)?;
        row.set_item("busiest", &on.busiest)?;
        Ok(row)
    });
    dict.set_item("applications", rows.collect::<PyResult<Vec<_>>>()?)?;
    let source = PyDict::new(py);
    for (what, how) in [
        ("counts", "counted"),
        ("price", "catalogue"),
        ("power_w", "catalogue"),
        ("slowdown", "model"),
        ("limit", "model"),
    ] {
        source.set_item(what, how)?;
    }
    dict.set_item("source", source)?;
    Ok(dict)
}
