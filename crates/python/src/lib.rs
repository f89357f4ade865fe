//! The Python door: one file a noun or verb, and nothing but converting, releasing the interpreter lock,
//! calling and mapping the error.
//!
//! | module | idea |
//! |---|---|
//! | [`run`] | the one door for threads, cancellation, progress and panics |
//! | [`io`] | whole files in, whole files out or nothing |
//! | [`errors`] | core errors as typed Python exceptions |
//! | `findings` | findings as Python has them |
//! | `shape` | the shape of a fabric as a dictionary |
//! | `arguments` | numbers within their range, nouns by their specs |
//! | [`arrays`] | read-only NumPy views of memory that a noun owns |
//! | [`fabric`], [`traffic`], [`routes`], [`loads`] | the nouns |
//! | [`check`], [`optimize`], [`optimized`], [`layers`], [`hose`], [`judged`] | the verbs that have results of their own |
//! | [`mix`](mod@mix) | changing tables while packets run |
//! | [`scenario`], [`simulate`] | scenarios, and what their runs show |
//! | [`sampled`] | paths sampled inside the packets of runs |
//! | [`states`](simulating::states) | runs that are broken off and go on |
//! | [`counters`] | port counters |
//! | [`infer`](mod@infer) | traffic from them |
//! | [`bases`](mod@bases) | bases of traffic, and what is recovered in them |
//! | [`lanes`] | virtual lanes that tell more of it |
//! | [`equations`] | what it solves, for exact solvers |
//! | [`exact`] | models for solvers, and what they answer |
//! | `content` | what objects are made of: pickles, equality, hashes |
//! | [`plan`](mod@plan) | designs of a machine to be bought |

mod arguments;
pub mod arrays;
pub mod check;
mod content;
pub mod counters;
pub mod errors;
pub mod fabric;
mod findings;
pub mod inference;
pub mod io;
pub mod jobs;
pub mod lanes;
pub mod loads;
pub mod optimizing;
pub mod plan;
pub mod recorded;
mod results;
mod routes;
pub mod run;
mod schemes;
mod shape;
pub mod simulating;
pub mod sums;
mod traffic;

use inference::{bases, equations, infer};
use optimizing::{exact, hose, judged, layers, mix, optimize, optimized};
use simulating::{sampled, scenario, simulate};

use pyo3::prelude::*;

/// The Rust core of netloom.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<fabric::PyFabric>()?;
    m.add_class::<traffic::PyTraffic>()?;
    m.add_class::<jobs::PyJob>()?;
    m.add_class::<sums::PyHose>()?;
    m.add_class::<routes::PyRoutes>()?;
    m.add_class::<loads::PyCertificate>()?;
    m.add_class::<loads::PyLinkLoads>()?;
    m.add_class::<results::PyOutcome>()?;
    m.add_class::<optimized::PyOptimized>()?;
    m.add_class::<exact::PyExactModel>()?;
    m.add_class::<exact::PyExactPlan>()?;
    m.add_class::<layers::PyOptimizedLayers>()?;
    m.add_class::<hose::PyHoseLoads>()?;
    m.add_class::<hose::PyOptimizedHose>()?;
    m.add_class::<check::PyCheckReport>()?;
    m.add_class::<check::PyVerdict>()?;
    m.add_class::<mix::PyMixReport>()?;
    m.add_class::<scenario::PyScenario>()?;
    m.add_class::<simulate::PySimulation>()?;
    m.add_class::<sampled::PySampled>()?;
    m.add_class::<counters::PyCounters>()?;
    m.add_class::<infer::PyInferred>()?;
    m.add_class::<bases::PyRecovered>()?;
    m.add_class::<lanes::PyLaneTables>()?;
    m.add_class::<equations::PyEquations>()?;
    m.add_function(wrap_pyfunction!(routes::engines, m)?)?;
    m.add_function(wrap_pyfunction!(routes::schemes, m)?)?;
    m.add_function(wrap_pyfunction!(routes::is_engine, m)?)?;
    m.add_function(wrap_pyfunction!(routes::route_by_name, m)?)?;
    m.add_function(wrap_pyfunction!(is_generator, m)?)?;
    m.add_function(wrap_pyfunction!(is_pattern, m)?)?;
    m.add_function(wrap_pyfunction!(expand_hostlist, m)?)?;
    m.add_function(wrap_pyfunction!(recorded::traffic_format, m)?)?;
    m.add_function(wrap_pyfunction!(recorded::trace_files, m)?)?;
    m.add_function(wrap_pyfunction!(recorded::trace_events, m)?)?;
    m.add_function(wrap_pyfunction!(recorded::goal_form, m)?)?;
    m.add_function(wrap_pyfunction!(traffic::traffic_of_columns, m)?)?;
    m.add_function(wrap_pyfunction!(traffic::place_jobs, m)?)?;
    m.add_function(wrap_pyfunction!(loads::loads, m)?)?;
    m.add_function(wrap_pyfunction!(loads::ecmp_loads, m)?)?;
    m.add_function(wrap_pyfunction!(schemes::scheme_loads, m)?)?;
    m.add_function(wrap_pyfunction!(schemes::check_scheme, m)?)?;
    m.add_function(wrap_pyfunction!(loads::lane_loads, m)?)?;
    m.add_function(wrap_pyfunction!(loads::link_users, m)?)?;
    m.add_function(wrap_pyfunction!(loads::bound_classes, m)?)?;
    m.add_function(wrap_pyfunction!(check::check, m)?)?;
    m.add_function(wrap_pyfunction!(check::verify_certificate, m)?)?;
    m.add_function(wrap_pyfunction!(mix::mix, m)?)?;
    m.add_function(wrap_pyfunction!(mix::patched, m)?)?;
    m.add_function(wrap_pyfunction!(mix::stages, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::afar, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::coloured, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::optimize, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::optimize_lmc, m)?)?;
    m.add_function(wrap_pyfunction!(judged::optimize_judged, m)?)?;
    m.add_function(wrap_pyfunction!(hose::optimize_hose, m)?)?;
    m.add_function(wrap_pyfunction!(hose::hose_loads, m)?)?;
    m.add_function(wrap_pyfunction!(check::links_at_max_bound, m)?)?;
    m.add_function(wrap_pyfunction!(exact::exact_model, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::repaired, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::dead_entries, m)?)?;
    m.add_function(wrap_pyfunction!(layers::optimize_layers, m)?)?;
    m.add_function(wrap_pyfunction!(simulate::simulate, m)?)?;
    m.add_function(wrap_pyfunction!(sampled::sample, m)?)?;
    m.add_function(wrap_pyfunction!(sampled::decode_packets, m)?)?;
    m.add_function(wrap_pyfunction!(sampled::sampling_hash, m)?)?;
    m.add_function(wrap_pyfunction!(sampled::sampling_ports, m)?)?;
    m.add_function(wrap_pyfunction!(counters::synth_counters, m)?)?;
    m.add_function(wrap_pyfunction!(counters::error_counters, m)?)?;
    m.add_function(wrap_pyfunction!(infer::infer, m)?)?;
    m.add_function(wrap_pyfunction!(bases::bases, m)?)?;
    m.add_function(wrap_pyfunction!(bases::coefficients, m)?)?;
    m.add_function(wrap_pyfunction!(bases::sparsity, m)?)?;
    m.add_function(wrap_pyfunction!(bases::recover, m)?)?;
    m.add_function(wrap_pyfunction!(lanes::lane_tables, m)?)?;
    m.add_function(wrap_pyfunction!(io::write_atomic, m)?)?;
    m.add_function(wrap_pyfunction!(io::remove_temporaries, m)?)?;
    m.add_function(wrap_pyfunction!(io::allow_input, m)?)?;
    m.add_function(wrap_pyfunction!(io::gunzip, m)?)?;
    m.add_function(wrap_pyfunction!(io::most_input, m)?)?;
    m.add_function(wrap_pyfunction!(content::unpickled, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan_files, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan_applications, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan_hosts, m)?)?;
    Ok(())
}

/// Whether `spec` names a fabric generator.
#[pyfunction]
fn is_generator(spec: &str) -> bool {
    netloom_topology::is_generator(spec)
}

/// Whether `spec` names a traffic pattern.
#[pyfunction]
fn is_pattern(spec: &str) -> bool {
    netloom_traffic::is_pattern(spec)
}

/// Names of hosts from a list in Slurm's notation.
///
/// Parameters
/// ----------
/// text : str
///     E.g. `"node[01-03,7],login"`.
///
/// Returns
/// -------
/// list of str
///     The names, in order.
///
/// Raises
/// ------
/// SpecError
///     If brackets or ranges are not complete, or there would be too many names.
///
/// Examples
/// --------
/// >>> netloom.expand_hostlist("node[01-03,7]")
/// ['node01', 'node02', 'node03', 'node7']
#[pyfunction]
fn expand_hostlist(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    netloom_formats::expand_hostlist(text).map_err(|e| errors::spec(py, e))
}
