//! The equations that inference solves, on cases small enough for exact solvers: `netloom.exact` drives this.
//!
//! Pairs that cross an empty row are left out, as they are in `netloom.infer`; then our own solvers' answers stand beside the arrays that
//! another solver needs for the same problem.

use netloom_counters::{self as counters, Unit};
use netloom_infer::basis_pursuit::Flows;
use netloom_infer::operator::Pair;
use netloom_infer::pursuit::Pursuit;
use netloom_infer::settings::{LeastChangeSettings, Shares};
use netloom_infer::tomography::{Families, least_change};
use netloom_infer::{
    self as inference, Dictionary, Grid, LaneScheme, Operator, Order, Participants, Settings, Target,
};
use netloom_model::Control;
use netloom_numeric::LpEffort;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::counters::PyCounters;
use crate::errors;
use crate::fabric::PyFabric;
use crate::jobs::{PyJob, participants};
use crate::routes::RoutesOrEngine;
use crate::run::{Options, run};

/// More pairs than this are none for other solvers.
const MOST_PAIRS: usize = 1_000_000;
/// More than this have no covariance that is written out.
const MOST_COVARIED: usize = 2_000;

/// Rows, the pairs that may have caused them, and what was counted. Immutable.
#[pyclass(frozen, weakref, name = "Equations", module = "netloom._core")]
pub struct PyEquations {
    operator: Operator,
    jobs: Vec<Participants>,
    target: Target,
    settings: Settings,
}

#[pymethods]
impl PyEquations {
    /// What `infer` would solve; without jobs all hosts are one, a rank each.
    #[new]
    #[pyo3(signature = (fabric, routes, counters, jobs = None, *, vl_scheme = None))]
    fn new(
        py: Python<'_>,
        fabric: &PyFabric,
        routes: RoutesOrEngine<'_>,
        counters: &PyCounters,
        jobs: Option<Vec<PyRef<'_, PyJob>>>,
        vl_scheme: Option<&str>,
    ) -> PyResult<Self> {
        let routes = routes.resolve(py, fabric, 0, 1)?;
        let net = &fabric.shared.fabric;
        let scheme = match vl_scheme.map(|spec| counters::lane_scheme(net, spec)).transpose() {
            Ok(scheme) => scheme.unwrap_or(LaneScheme::One),
            Err(error) => return Err(errors::spec(py, error)),
        };
        let jobs: Vec<Participants> = match jobs {
            Some(jobs) => participants(net, &jobs),
            None => vec![Participants::one_a_host("all hosts", net.hosts().collect())],
        };
        let spans = counters.chosen(py, None)?;
        let sum = counters::added_up(&spans)
            .ok_or_else(|| errors::counters(py, "there are no intervals of counters"))?;
        let counted =
            inference::rows(net, &counters::measure(net, &sum, Unit::Bytes), scheme.lanes()).counted;
        let whole = Operator::new(net, &routes, &scheme, &jobs).map_err(|e| errors::infer(py, &e))?;
        let settings = Settings::default();
        let (operator, rows) = whole.restrict(&counted.possible(&whole, &settings.counters)).compact();
        if operator.pairs() > MOST_PAIRS {
            let text = format!("expected at most {MOST_PAIRS} possible pairs, found {}", operator.pairs());
            return Err(errors::argument(py, text));
        }
        let counted = counted.of(&rows);
        let target = Target::relative(&counted, &settings.counters, |r| counted.bytes[r] > 0.0);
        Ok(Self { operator, jobs, target, settings })
    }

    #[getter]
    fn pairs(&self) -> usize {
        self.operator.pairs()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.operator.rows()
    }

    /// Of every pair its hosts (`source`, `destination`, by number) and the rows that it crosses (`row[first[p]:first[p + 1]]`); of every row
    /// `bytes`, their standard `deviation`, and the `weight` of its error (0: not used).
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hosts = |pair: Pair| {
            let hosts = &self.jobs[pair.job as usize].hosts;
            [hosts[pair.source as usize].0, hosts[pair.destination as usize].0]
        };
        let ends: Vec<[u32; 2]> = self.operator.iter().map(hosts).collect();
        let (mut first, mut rows) = (vec![0i64], Vec::new());
        for pair in 0..self.operator.pairs() {
            self.operator.way(pair, |row| rows.push(row as i32));
            first.push(rows.len() as i64);
        }
        let dict = PyDict::new(py);
        dict.set_item("source", PyArray1::from_iter(py, ends.iter().map(|e| e[0])))?;
        dict.set_item("destination", PyArray1::from_iter(py, ends.iter().map(|e| e[1])))?;
        dict.set_item("first", PyArray1::from_vec(py, first))?;
        dict.set_item("row", PyArray1::from_vec(py, rows))?;
        dict.set_item("bytes", PyArray1::from_slice(py, &self.target.bytes))?;
        dict.set_item("deviation", PyArray1::from_slice(py, &self.target.deviation))?;
        dict.set_item("weight", PyArray1::from_slice(py, &self.target.weight))?;
        Ok(dict)
    }

    /// The linear program of the fewest flows (`pair`, `back`: -1 where a pair is alone, `cost`; `slack` a row), and our answer: `values`,
    /// `prices` of the rows, `steps`, `error`.
    #[pyo3(signature = (*, steps = 100_000, tolerance = 1e-8))]
    fn fewest_flows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::steps)] steps: usize,
        #[pyo3(from_py_with = arguments::tolerance)] tolerance: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let flows = Flows::new(&self.operator, &self.target, &self.settings, None);
        let effort = LpEffort { steps, tolerance };
        let answer =
            run(py, Options::default(), |control| flows.solve(&self.target.bytes, &effort, control))?;
        let dict = PyDict::new(py);
        dict.set_item("pair", PyArray1::from_iter(py, flows.pairs().map(|p| p.0)))?;
        let back = flows.pairs().map(|p| p.1.map_or(-1, |back| back as i32));
        dict.set_item("back", PyArray1::from_iter(py, back))?;
        dict.set_item("cost", PyArray1::from_slice(py, &flows.cost))?;
        dict.set_item("slack", PyArray1::from_slice(py, &flows.slack))?;
        dict.set_item("values", PyArray1::from_slice(py, &answer.values))?;
        dict.set_item("prices", PyArray1::from_slice(py, &answer.prices))?;
        dict.set_item("steps", answer.steps)?;
        dict.set_item("error", answer.error)?;
        Ok(dict)
    }

    /// Atoms on a process grid of the first job, the neighbours and `more` others by pursuit: their columns (`row[first[a]:first[a + 1]]`
    /// and `value`), and our best non-negative combination (`bytes`), weighted squares least.
    #[pyo3(signature = (sides, *, more = 0))]
    fn atoms<'py>(
        &self,
        py: Python<'py>,
        sides: [u32; 3],
        #[pyo3(from_py_with = arguments::more)] more: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let job = &self.jobs[0];
        if sides.iter().map(|&s| u64::from(s)).product::<u64>() != job.ranks() as u64 {
            return Err(errors::argument(py, format!("expected sides of a grid of {} ranks", job.ranks())));
        }
        let grid = Grid { sides, order: Order::Rows };
        let dictionary = Dictionary::new(&self.operator, 0, job, grid, &self.settings.dictionary);
        let mut pursuit = Pursuit::new(&self.operator, dictionary, &self.target, &self.settings.pursuit);
        run(py, Options::default(), |control| {
            pursuit.neighbours(control);
            pursuit.advance(more, control);
        })?;
        let (mut first, mut rows, mut values, mut bytes) = (vec![0i64], Vec::new(), Vec::new(), Vec::new());
        for (column, of_column) in pursuit.columns() {
            rows.extend(column.iter().map(|c| c.0 as i32));
            values.extend(column.iter().map(|c| c.1));
            first.push(rows.len() as i64);
            bytes.push(of_column);
        }
        let dict = PyDict::new(py);
        dict.set_item("first", PyArray1::from_vec(py, first))?;
        dict.set_item("row", PyArray1::from_vec(py, rows))?;
        dict.set_item("value", PyArray1::from_vec(py, values))?;
        dict.set_item("bytes", PyArray1::from_vec(py, bytes))?;
        Ok(dict)
    }

    /// The most likely non-negative traffic near a guess (bytes a pair): `bytes`, and the `covariance` of its change, pairs x pairs by rows.
    /// `opposite`: correlation of a pair and its opposite.
    #[pyo3(signature = (guess, *, opposite = 0.9, rounds = 30, steps = 1_000))]
    fn least_change<'py>(
        &self,
        py: Python<'py>,
        guess: PyReadonlyArray1<'py, f64>,
        #[pyo3(from_py_with = arguments::opposite)] opposite: f64,
        #[pyo3(from_py_with = arguments::rounds)] rounds: usize,
        #[pyo3(from_py_with = arguments::steps)] steps: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (pairs, guess) = (self.operator.pairs(), guess.as_slice()?);
        if guess.len() != pairs || pairs > MOST_COVARIED {
            let text =
                format!("expected bytes of {pairs} pairs, at most {MOST_COVARIED}, found {}", guess.len());
            return Err(errors::argument(py, text));
        }
        let families = Families::new(&self.operator, &self.jobs, &vec![None; self.jobs.len()]);
        let shares = Shares { opposite, offset: 0.0, alike: 0.0, growth: 0.0, floor: 1.0 };
        let effort = LeastChangeSettings { rounds, steps, tolerance: 1e-12, ..self.settings.least_change };
        let mut bytes = guess.to_vec();
        let mut covariance = Vec::with_capacity(pairs * pairs);
        for p in 0..pairs {
            let mut row = vec![0.0; pairs];
            row[p] = 1.0;
            families.spread(&mut row, &vec![1.0; pairs], &shares);
            covariance.extend(row);
        }
        least_change(&self.operator, &families, &shares, &self.target, &mut bytes, &effort, &Control::new());
        let dict = PyDict::new(py);
        dict.set_item("bytes", PyArray1::from_vec(py, bytes))?;
        dict.set_item("covariance", PyArray1::from_vec(py, covariance))?;
        Ok(dict)
    }
}
