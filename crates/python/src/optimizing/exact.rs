//! The exact models: arrays out for a solver, its answers in. `netloom.exact` drives this.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netloom_optimize::OptimizeError;
use netloom_optimize::exact::{self, Goal, Instance, Model};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments;
use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::optimizing::optimize::passed;
use crate::routes::PyRoutes;
use crate::run::{Options, run};
use crate::traffic::PyTraffic;

/// A mixed-integer program for the routing of a traffic. Immutable.
#[pyclass(frozen, weakref, name = "ExactModel", module = "netloom._core")]
pub struct PyExactModel {
    model: Arc<Model>,
    /// Bytes of one unit of the first objective; 1 where it counts links.
    scale: f64,
    /// Above this a link is hot, in units.
    threshold: f64,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyExactModel {
    #[getter]
    fn kind(&self) -> &'static str {
        self.model.kind
    }

    #[getter]
    fn variables(&self) -> usize {
        self.model.columns.len()
    }

    #[getter]
    fn constraints(&self) -> usize {
        self.model.rows.name.len()
    }

    /// Bytes of one unit of the first objective; 1 where it counts links.
    #[getter]
    fn scale(&self) -> f64 {
        self.scale
    }

    /// Columns and rows as arrays: `lower`, `upper`, `integer` a column; `row_lower`, `row_upper` a row; the matrix by
    /// rows as `first`, `column`, `value`.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (columns, rows) = (&self.model.columns, &self.model.rows);
        let arrays = PyDict::new(py);
        arrays.set_item("lower", PyArray1::from_iter(py, columns.iter().map(|c| c.lower)))?;
        arrays.set_item("upper", PyArray1::from_iter(py, columns.iter().map(|c| c.upper)))?;
        arrays.set_item("integer", PyArray1::from_iter(py, columns.iter().map(|c| c.integer)))?;
        arrays.set_item("row_lower", PyArray1::from_slice(py, &rows.lower))?;
        arrays.set_item("row_upper", PyArray1::from_slice(py, &rows.upper))?;
        arrays.set_item("first", PyArray1::from_iter(py, rows.first.iter().map(|&f| f as i64)))?;
        arrays.set_item("column", PyArray1::from_iter(py, rows.column.iter().map(|&c| c as i32)))?;
        arrays.set_item("value", PyArray1::from_slice(py, &rows.value))?;
        Ok(arrays)
    }

    /// Name, columns and coefficients of every objective, first things first; all are minimised.
    #[allow(clippy::type_complexity)] // three columns of a list
    fn objectives<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(&'static str, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>)> {
        let objectives = self.model.objectives.iter().map(|o| {
            let columns = PyArray1::from_iter(py, o.terms.iter().map(|t| t.0 as i32));
            (o.name, columns, PyArray1::from_iter(py, o.terms.iter().map(|t| t.1)))
        });
        objectives.collect()
    }

    /// Sets of columns of which one at most may differ from zero.
    fn sos1(&self) -> Vec<Vec<u32>> {
        self.model.sos1.clone()
    }

    /// The name of every column, as MPS has it.
    fn column_names(&self) -> Vec<String> {
        (0..self.model.columns.len()).map(|c| self.model.column_name(c)).collect()
    }

    /// The value of every column under a routing; `None` if it loses traffic.
    fn start<'py>(&self, py: Python<'py>, routes: &PyRoutes) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let start = run(py, Options::default(), |_| {
            let lft = routes.routes.lft().ok_or(OptimizeError::NotByDestination)?;
            let choice = self.model.instance.choice_of(lft, routes.routes.lmc);
            Ok(self.model.start(&choice, self.threshold))
        })?;
        let start = start.map_err(|e: OptimizeError| errors::optimize(py, e))?;
        Ok(start.map(|start| PyArray1::from_vec(py, start)))
    }

    /// The routes of a solution; entries without traffic follow `background`.
    fn routes(
        &self,
        py: Python<'_>,
        solution: PyReadonlyArray1<'_, f64>,
        background: &PyRoutes,
    ) -> PyResult<PyRoutes> {
        let solution = full(&self.model, &solution)?;
        let choice = self.model.read(&solution);
        tables(py, &self.shared, &self.model.instance, &choice, background)
    }

    /// The model as free-format MPS.
    fn mps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = run(py, Options::default(), |_| exact::mps(&self.model))?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    fn __repr__(&self) -> String {
        let (columns, rows) = (self.variables(), self.constraints());
        format!("<netloom.ExactModel: {}, {columns} variables, {rows} constraints>", self.model.kind)
    }
}

/// A model of one formulation: "basic", "sos1", "product" or "productless". It minimises the largest load, or with a
/// `threshold` in bytes the number of links between switches above it, none above `limit`.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, formulation, *, host_links = true, threshold = None, limit = None))]
pub fn exact_model(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    formulation: &str,
    host_links: bool,
    #[pyo3(from_py_with = arguments::threshold)] threshold: Option<f64>,
    #[pyo3(from_py_with = arguments::limit)] limit: Option<f64>,
) -> PyResult<PyExactModel> {
    traffic.check_fits(py, fabric)?;
    let built = run(py, Options::default(), |_| {
        let (shared, matrix) = (&fabric.shared, &traffic.shared);
        let instance = Arc::new(Instance::new(&shared.fabric, shared.paths(), matrix.total())?);
        let unit = instance.unit;
        let goal = match threshold {
            None => Goal::MaxLoad { least: if host_links { instance.host_max } else { 0.0 } },
            // Loads that equal the limit, or the threshold, may be above by rounding.
            Some(bytes) => Goal::FewHot {
                threshold: bytes / unit * (1.0 + 1e-9),
                limit: limit.map_or(f64::INFINITY, |l| l / unit * (1.0 + 1e-9)),
            },
        };
        let model = match formulation {
            "basic" => exact::basic(&instance, goal, false),
            "sos1" => exact::basic(&instance, goal, true),
            "product" => exact::product(&instance, goal)?,
            "productless" => exact::productless(&instance, goal)?,
            _ => return Ok(None),
        };
        Ok::<_, OptimizeError>(Some((model, goal)))
    })?;
    let Some((model, goal)) = built.map_err(|e| errors::optimize(py, e))? else {
        let expected = "expected basic, sos1, product or productless";
        return Err(PyValueError::new_err(format!("formulation {formulation:?}: {expected}")));
    };
    let (scale, threshold) = match goal {
        Goal::MaxLoad { .. } => (model.instance.unit, f64::INFINITY),
        Goal::FewHot { threshold, .. } => (1.0, threshold),
    };
    let shared = Arc::clone(&fabric.shared);
    Ok(PyExactModel { model: Arc::new(model), scale, threshold, shared })
}

/// Models that are made from the answers to earlier ones: "partitioned" or "multilevel".
#[pyclass(frozen, weakref, name = "ExactPlan", module = "netloom._core")]
pub struct PyExactPlan {
    state: Mutex<exact::Plan>,
    models: Mutex<Vec<Arc<Model>>>,
    instance: Arc<Instance>,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyExactPlan {
    #[new]
    #[pyo3(signature = (fabric, traffic, kind, start, *, host_links = true))]
    fn new(
        py: Python<'_>,
        fabric: &PyFabric,
        traffic: &PyTraffic,
        kind: &str,
        start: &PyRoutes,
        host_links: bool,
    ) -> PyResult<Self> {
        traffic.check_fits(py, fabric)?;
        start.check_fits(py, fabric)?;
        let make = match kind {
            "partitioned" => exact::Plan::partitioned,
            "multilevel" => exact::Plan::multilevel,
            _ => {
                let expected = "expected partitioned or multilevel";
                return Err(PyValueError::new_err(format!("plan {kind:?}: {expected}")));
            }
        };
        let built = run(py, Options::default(), |_| {
            let (shared, matrix) = (&fabric.shared, &traffic.shared);
            let instance = Arc::new(Instance::new(&shared.fabric, shared.paths(), matrix.total())?);
            let lft = start.routes.lft().ok_or(OptimizeError::NotByDestination)?;
            let choice = instance.choice_of(lft, start.routes.lmc);
            let least = if host_links { instance.host_max } else { 0.0 };
            let plan = make(&shared.fabric, shared.structure(), &instance, choice, least);
            Ok::<_, OptimizeError>((instance, plan))
        })?;
        let (instance, plan) = built.map_err(|e| errors::optimize(py, e))?;
        let shared = Arc::clone(&fabric.shared);
        Ok(Self { state: Mutex::new(plan), models: Mutex::default(), instance, shared })
    }

    /// What to solve next: a name, models, and for each a value for every column to start from, or `None`. `None` at the
    /// end.
    #[allow(clippy::type_complexity)] // a tuple of two lists
    fn step<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(String, Vec<PyExactModel>, Vec<Option<Bound<'py, PyArray1<f64>>>>)>> {
        let step = run(py, Options::default(), |_| lock(&self.state).step())?;
        let Some(step) = step else { return Ok(None) };
        let models: Vec<Arc<Model>> = step.models.into_iter().map(Arc::new).collect();
        *lock(&self.models) = models.clone();
        let wrap = |model: Arc<Model>| PyExactModel {
            scale: model.instance.unit,
            threshold: f64::INFINITY,
            shared: Arc::clone(&self.shared),
            model,
        };
        let starts = step.starts.into_iter().map(|s| s.map(|s| PyArray1::from_vec(py, s)));
        Ok(Some((step.name, models.into_iter().map(wrap).collect(), starts.collect())))
    }

    /// The solutions of the last step's models, in order; `None` where there is none.
    fn answer(&self, py: Python<'_>, solutions: Vec<Option<PyReadonlyArray1<'_, f64>>>) -> PyResult<()> {
        let models = std::mem::take(&mut *lock(&self.models));
        if models.len() != solutions.len() {
            let found = solutions.len();
            return Err(PyValueError::new_err(format!("expected {} solutions, found {found}", models.len())));
        }
        let pairs = models.iter().zip(&solutions);
        let solutions: Vec<Option<Vec<f64>>> =
            pairs.map(|(m, s)| s.as_ref().map(|s| full(m, s)).transpose()).collect::<PyResult<_>>()?;
        let models: Vec<&Model> = models.iter().map(Arc::as_ref).collect();
        run(py, Options::default(), |_| lock(&self.state).answer(&models, &solutions))
    }

    /// The routes of all answers so far; entries without traffic follow `background`.
    fn routes(&self, py: Python<'_>, background: &PyRoutes) -> PyResult<PyRoutes> {
        let choice = lock(&self.state).choice();
        tables(py, &self.shared, &self.instance, &choice, background)
    }
}

fn tables(
    py: Python<'_>,
    shared: &Arc<Shared>,
    instance: &Instance,
    choice: &exact::Choice,
    background: &PyRoutes,
) -> PyResult<PyRoutes> {
    let routes = run(py, Options::default(), |_| {
        let (fabric, structure, paths) = (&shared.fabric, shared.structure(), shared.paths());
        let routes = exact::routes_of(fabric, structure, paths, instance, choice, &background.routes)
            .map_err(|e| e.to_string())?;
        passed(shared, routes)
    })?;
    Ok(PyRoutes::passed(routes.map_err(|e| errors::optimize(py, e))?, shared))
}

fn full(model: &Model, solution: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
    let values = solution.as_array().to_vec();
    if values.len() == model.columns.len() {
        return Ok(values);
    }
    let (expected, found) = (model.columns.len(), values.len());
    Err(PyValueError::new_err(format!("a solution of {found} values: expected {expected}")))
}

/// A panic elsewhere leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
