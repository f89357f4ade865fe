//! `netloom.scheme_loads`: what routing schemes carry.

use netloom_bounds::{self as bounds, BoundError, Bounds, Minimal, Scheme};
use netloom_topology::Shape;
use pyo3::prelude::*;

use crate::arguments::{FabricOrSpec, TrafficOrSpec};
use crate::loads::{Judged, PyLinkLoads};
use crate::run::{Interrupt, Options, run_until};
use crate::{arguments, errors};

/// Iterations of the best split without a caller's limit.
const WORK: u64 = 4000;

/// What a routing scheme carries: loads that are expected, beside a bound of any ways.
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     The fabric, or what `Fabric.read` takes.
/// traffic : Traffic or str
///     Bytes from host to host, placed on this fabric, or what `Traffic.read` takes.
/// scheme : {"minimal", "valiant", "best"}
///     Random minimal ways, an output each as likely at every switch; random detours, by a third group on a dragonfly, else by a
///     switch with hosts; or the best split of ways of any kind.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// work : int, optional
///     Iterations of the best split, at most. Default: 4000.
/// time_limit : float, optional
///     Seconds of wall time; the interval that is known by then is returned, and `stopped` says so.
/// progress : callable, optional
///     Called as `progress(done, all)` now and then; an exception that it raises ends the call.
/// on_interrupt : {"raise", "return"}, default "raise"
///     What Ctrl-C does: it raises `KeyboardInterrupt`, or what was found by then is returned and says so.
///
/// Returns
/// -------
/// LinkLoads
///     Its bounds are of any ways: no routing whatsoever has less than `ar_bound`, and some split reaches `ar_bound_upper`.
///
/// Raises
/// ------
/// RoutingError
///     If no way joins a pair with bytes.
/// ArgumentError
///     For another scheme.
///
/// References
/// ----------
/// `docs/methods/schemes.md`; J. Kim, W. J. Dally, S. Scott, D. Abts, ISCA 2008; L. G. Valiant, SIAM J. Comput. 11(2), 1982.
///
/// Examples
/// --------
/// >>> loads = netloom.scheme_loads("dragonfly:p=2,a=4,h=2", "adversarial:1", "valiant")
/// >>> round(loads.throughput, 4)
/// 0.4375
#[pyfunction]
#[pyo3(signature = (fabric, traffic, scheme, *, threads = 0, work = None, time_limit = None, progress = None, on_interrupt = "raise"))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn scheme_loads(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::fabric)] fabric: FabricOrSpec<'_>,
    #[pyo3(from_py_with = arguments::traffic)] traffic: TrafficOrSpec<'_>,
    scheme: &str,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<PyLinkLoads> {
    let Some(&(_, scheme)) = Scheme::ALL.iter().find(|(name, _)| *name == scheme) else {
        let names = "minimal, valiant or best";
        return Err(errors::argument(py, format!("scheme: expected {names}, found \"{scheme}\"")));
    };
    let fabric = &fabric.resolve(py)?;
    let traffic = &traffic.resolve(py, fabric)?;
    let (shared, matrix) = (&fabric.shared, traffic.shared.total());
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let ended = run_until(py, options, |control| {
        let (net, structure) = (&shared.fabric, shared.structure());
        let minimal = match structure.shape {
            Shape::Tree if !shared.other_shortest() => Minimal::Paths(shared.paths()),
            _ => match shared.steering() {
                Ok(steering) => Minimal::Groups(steering),
                Err(_) => Minimal::Paths(shared.shortest()),
            },
        };
        let work = work.or(Some(WORK));
        let (loads, ar) = bounds::scheme_loads(net, structure, &minimal, matrix, scheme, control, work)?;
        let lower = ar.certificate.clone();
        Ok::<_, BoundError>((loads, Bounds::with(net, structure, matrix, ar, lower)))
    })?;
    let (loads, bounds) = ended.result.map_err(|e| errors::routing(py, e))?;
    Ok(PyLinkLoads::new(Judged::of_any(loads), bounds, ended.stopped, shared))
}
