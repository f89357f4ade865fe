//! `netloom.lane_tables`: SL-to-VL tables and service levels of a VL scheme, as files and row by row.

use std::sync::Arc;

use netloom_counters as counters;
use netloom_formats::{self as formats, WriteError};
use netloom_model::{HostId, LaneMap, Levels, SERVICE_LEVELS};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments;
use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::run::{Options, run};

/// SL-to-VL tables of all switches and hosts, and the service level of every pair.
#[pyclass(frozen, weakref, name = "LaneTables", module = "netloom._core")]
pub struct PyLaneTables {
    /// The tables themselves.
    pub map: Arc<LaneMap>,
    /// The fabric they are of.
    pub shared: Arc<Shared>,
}

#[pymethods]
impl PyLaneTables {
    /// Reads tables in the form of OpenSM's dump. Files don't say which level a pair has: it is 0.
    #[staticmethod]
    #[pyo3(signature = (data, fabric, *, label = "<bytes>"))]
    fn parse(py: Python<'_>, data: &[u8], fabric: &PyFabric, label: &str) -> PyResult<Self> {
        let shared = Arc::clone(&fabric.shared);
        let map = run(py, Options::default(), |_| formats::read_sl2vl(data, label, &shared.fabric))?;
        Ok(Self { map: Arc::new(map.map_err(|e| errors::format(py, &e))?), shared })
    }

    /// The same tables with the level of every pair (CSV `source_lid,destination_lid,sl`).
    #[pyo3(signature = (data, *, label = "<bytes>"))]
    fn with_levels(&self, py: Python<'_>, data: &[u8], label: &str) -> PyResult<Self> {
        let fabric = &self.shared.fabric;
        let levels = run(py, Options::default(), |_| formats::read_service_levels(data, label, fabric))?
            .map_err(|e| errors::format(py, &e))?;
        let map = LaneMap::clone(&self.map).with_levels(levels);
        Ok(Self { map: Arc::new(map), shared: Arc::clone(&self.shared) })
    }

    /// Every row: `switch`, `in_port`, `out_port` and `lanes` (a column a service level); of hosts only `host_lanes`.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fabric = &self.shared.fabric;
        let (mut switch, mut ports, mut lanes) = (Vec::new(), (Vec::new(), Vec::new()), Vec::new());
        for s in fabric.switches() {
            let pairs = fabric.switch_links(s).flat_map(|a| fabric.switch_links(s).map(move |b| (a, b)));
            for (from, to) in pairs {
                switch.push(s.0);
                ports.0.push(fabric.link_port(from));
                ports.1.push(fabric.link_port(to));
                let via = fabric.reverse(from);
                lanes.extend((0..SERVICE_LEVELS).map(|level| self.map.lane(via.0, to.0, level)));
            }
        }
        let first = |h: HostId| (0..SERVICE_LEVELS).map(move |level| self.map.first_lane(h.0, level));
        let columns = |values| PyArray1::from_vec(py, values).call_method1("reshape", (-1, SERVICE_LEVELS));
        let dict = PyDict::new(py);
        dict.set_item("switch", PyArray1::from_vec(py, switch))?;
        dict.set_item("in_port", PyArray1::from_vec(py, ports.0))?;
        dict.set_item("out_port", PyArray1::from_vec(py, ports.1))?;
        dict.set_item("lanes", columns(lanes)?)?;
        dict.set_item("host_lanes", columns(fabric.hosts().flat_map(first).collect())?)?;
        Ok(dict)
    }

    /// How many service levels pairs use.
    #[getter]
    fn levels(&self) -> u8 {
        self.map.levels().map_or(1, Levels::count)
    }

    /// How many lanes the tables use.
    #[getter]
    fn lanes(&self) -> u8 {
        self.map.lanes()
    }

    /// What decides the level: `pairs`, `groups` or `sources`.
    #[getter]
    fn rule(&self) -> &'static str {
        match self.map.levels() {
            Some(Levels::Groups(groups)) if groups.by_sender() => "sources",
            Some(Levels::Groups(_)) => "groups",
            Some(Levels::Pairs { .. }) | None => "pairs",
        }
    }

    /// Whether every port has the same table.
    #[getter]
    fn uniform(&self) -> bool {
        let (fabric, lanes) = (&self.shared.fabric, self.lanes());
        self.map.differences(&LaneMap::uniform(fabric, lanes), fabric, self.levels()).0 == 0
    }

    /// The service level from one host to another.
    fn level(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::source)] source: u32,
        #[pyo3(from_py_with = arguments::destination)] destination: u32,
    ) -> PyResult<u8> {
        let hosts = self.shared.fabric.host_count();
        if source as usize >= hosts || destination as usize >= hosts {
            let text = format!("from {source} to {destination}: expected hosts below {hosts}");
            return Err(errors::argument(py, text));
        }
        Ok(self.map.level(HostId(source), HostId(destination)).unwrap_or(0))
    }

    /// The level of every host as a sender; `None` where the destination matters too.
    fn host_levels(&self) -> Option<Vec<u8>> {
        let fabric = &self.shared.fabric;
        match self.map.levels() {
            Some(Levels::Groups(groups)) if groups.by_sender() => {
                Some(fabric.hosts().map(|host| groups.level(groups.group(host), 0)).collect())
            }
            _ => None,
        }
    }

    /// The tables in the form of OpenSM's dump; `origin` says in one line what made them.
    fn sl2vl<'py>(&self, py: Python<'py>, origin: &str) -> PyResult<Bound<'py, PyBytes>> {
        let fabric = &self.shared.fabric;
        bytes(py, run(py, Options::default(), |_| formats::write_sl2vl(fabric, &self.map, origin))?)
    }

    /// The service level of every pair of hosts as CSV `source_lid,destination_lid,sl`; `None` where pairs have none.
    fn service_levels<'py>(&self, py: Python<'py>, origin: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (fabric, levels) = (&self.shared.fabric, self.map.levels());
        let Some(levels) = levels else { return Ok(None) };
        let text = run(py, Options::default(), |_| formats::write_service_levels(fabric, levels, origin))?;
        bytes(py, text).map(Some)
    }

    /// A QoS policy for OpenSM that gives every pair its level.
    fn qos_policy<'py>(&self, py: Python<'py>, origin: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (fabric, none) = (&self.shared.fabric, Levels::pairs(1, 0));
        let levels = self.map.levels().unwrap_or(&none);
        bytes(py, run(py, Options::default(), |_| formats::write_qos_policy(fabric, levels, origin))?)
    }

    /// In how many rows the tables of a file, such as OpenSM's dump, differ; and where first, in words.
    #[pyo3(signature = (data, *, label = "<bytes>"))]
    fn differences(&self, py: Python<'_>, data: &[u8], label: &str) -> PyResult<(usize, Option<String>)> {
        let fabric = &self.shared.fabric;
        let other = run(py, Options::default(), |_| formats::read_sl2vl(data, label, fabric))?
            .map_err(|e| errors::format(py, &e))?;
        let (count, first) = self.map.differences(&other, fabric, self.levels());
        let text = first.map(|(via, out, level)| {
            let from = via.map_or_else(String::new, |via| format!("from {} ", fabric.describe_link(via)));
            let lane = |map: &LaneMap| match (via, fabric.link_from_switch(out)) {
                (Some(via), _) => map.lane(via.0, out.0, level),
                (None, _) => map.first_lane(out.0, level),
            };
            let (there, wanted) = (lane(&other), lane(&self.map));
            let out = fabric.describe_link(out);
            format!("{from}over {out} level {level} has lane {there}, the scheme says {wanted}")
        });
        Ok((count, text))
    }

    fn __repr__(&self) -> String {
        format!("<netloom.LaneTables: {} levels by {}, {} lanes>", self.levels(), self.rule(), self.lanes())
    }
}

fn bytes(py: Python<'_>, text: Result<String, WriteError>) -> PyResult<Bound<'_, PyBytes>> {
    let text = text.map_err(|e| errors::spec(py, e))?;
    Ok(PyBytes::new(py, text.as_bytes()))
}

/// The SL-to-VL tables and service levels of a VL scheme; schemes that no tables can say are refused with the reason.
#[pyfunction]
pub fn lane_tables(py: Python<'_>, fabric: &PyFabric, vl_scheme: &str) -> PyResult<PyLaneTables> {
    let shared = Arc::clone(&fabric.shared);
    let map = run(py, Options::default(), |_| counters::lane_tables(&shared.fabric, vl_scheme))?;
    Ok(PyLaneTables { map: Arc::new(map.map_err(|e| errors::spec(py, e))?), shared })
}
