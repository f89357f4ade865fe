//! `netloom.scheme_loads`, `netloom.check_scheme`: what routing schemes carry, and whether their packets can deadlock.

use netloom_bounds::{self as bounds, BoundError, Bounds, Minimal, Scheme};
use netloom_model::SwitchId;
use netloom_routing::Steering;
use netloom_topology::Shape;
use netloom_verify::{self as verify, AnyOrder, LanesBy, Moves};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{FabricOrSpec, TrafficOrSpec};
use crate::check::cycle_of;
use crate::lanes::PyLaneTables;
use crate::loads::{Judged, PyLinkLoads};
use crate::run::{Interrupt, Options, run, run_until};
use crate::{arguments, errors};

/// Iterations of the best split without a caller's limit.
const WORK: u64 = 4000;
/// Lanes of data that InfiniBand can have.
const MOST_LANES: u8 = 15;

/// What a routing scheme carries: loads that are expected, beside a bound of any ways.
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     The fabric, or what `Fabric.read` takes.
/// traffic : Traffic or str
///     Bytes from host to host, placed on this fabric, or what `Traffic.read` takes.
/// scheme : {"minimal", "valiant", "valiant:router", "best"}
///     Random minimal ways, an output each as likely at every switch; random detours, by a third group on a dragonfly, else by a
///     switch with hosts; by a random switch of a third group, on dragonflies only; or the best split of ways of any kind.
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
///     For another scheme, and for `valiant:router` on what is no dragonfly.
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
        let names = "minimal, valiant, valiant:router or best";
        return Err(errors::argument(py, format!("scheme: expected {names}, found \"{scheme}\"")));
    };
    let fabric = &fabric.resolve(py)?;
    let traffic = &traffic.resolve(py, fabric)?;
    let (shared, matrix) = (&fabric.shared, traffic.shared.total());
    if scheme == Scheme::ValiantRouter
        && let Err(error) = shared.steering().and_then(Steering::check_detours)
    {
        return Err(errors::argument(py, format!("scheme: valiant:router: {error}")));
    }
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

/// Whether packets of a routing scheme of dragonflies can wait for each other for ever: every move that one may make, by (link, lane).
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     A dragonfly, or what `Fabric.read` takes.
/// scheme : {"minimal", "valiant", "valiant:router", "ugal", "ugal:global", "par"}
///     As scenarios name it.
/// vls : int, optional
///     Lanes. With fewer than slots of a way, the two slots within one group share one, with fewer still the last ones do. Default: one a slot.
/// sl2vl : LaneTables, optional
///     Lanes by these tables, at any service level, in place of slots.
/// any_order : bool, default False
///     Minimal ways take the cables of a group in any order, as packets of no scheme do in a Cray XC: rows come before columns.
///
/// Returns
/// -------
/// dict
///     `ok`, `credit_loops` (groups of lanes of links that wait for each other in circles), `cycle` (`link`, `lane` of a shortest), `waits` (pairs of
///     (link, lane) of which the first may wait for the second), `lanes`, and `slots` (`slot`, and its `lane`; none by tables).
///
/// Raises
/// ------
/// ArgumentError
///     For another scheme, `vls` outside of 1 to 15 or with `sl2vl`, and for what is no dragonfly or has no third group.
///
/// References
/// ----------
/// `docs/methods/schemes.md`; W. J. Dally, C. L. Seitz, IEEE Trans. Computers C-36(5), 1987.
///
/// Examples
/// --------
/// >>> found = netloom.check_scheme("dragonfly:p=2,a=4,h=2", "valiant:router")
/// >>> found["ok"], found["lanes"]
/// (True, 6)
/// >>> netloom.check_scheme("dragonfly:p=2,a=4,h=2", "valiant:router", vls=5)["ok"]
/// False
#[pyfunction]
#[pyo3(signature = (fabric, scheme, *, vls = None, sl2vl = None, any_order = false))]
pub fn check_scheme<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arguments::fabric)] fabric: FabricOrSpec<'_>,
    scheme: &str,
    vls: Option<u8>,
    sl2vl: Option<&PyLaneTables>,
    any_order: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let refuse = |text: String| Err(errors::argument(py, text));
    let Some(&(_, moves)) = Moves::ALL.iter().find(|(name, _)| *name == scheme) else {
        let names = Moves::ALL.map(|(name, _)| name).join(", ");
        return refuse(format!("scheme: expected one of {names}, found \"{scheme}\""));
    };
    let lanes = match (vls, sl2vl) {
        (Some(_), Some(_)) => {
            return refuse("vls: expected none with sl2vl, whose tables say the lanes".into());
        }
        (Some(vls), None) if !(1..=MOST_LANES).contains(&vls) => {
            return refuse(format!("vls: expected a whole number of 1 to {MOST_LANES}, found {vls}"));
        }
        (vls, None) => LanesBy::Slot(vls.unwrap_or(MOST_LANES)),
        (None, Some(tables)) => LanesBy::Tables(&tables.map),
    };
    let fabric = fabric.resolve(py)?;
    let shared = &fabric.shared;
    if sl2vl.is_some_and(|tables| !std::sync::Arc::ptr_eq(&tables.shared, shared)) {
        return refuse("sl2vl: expected tables of this fabric".into());
    }
    let found = run(py, Options::default(), |_| {
        let steering = shared.steering()?;
        if moves.through.is_some() {
            steering.check_detours()?;
        }
        let net = &shared.fabric;
        let group: Vec<u32> = net.switches().map(|s| steering.group(s)).collect();
        let any = any_order.then(|| AnyOrder::new(net, &group));
        let links = |from: SwitchId, to: SwitchId| match &any {
            Some(any) => any.links(from, to),
            None => steering.paths.links(from, to).to_vec(),
        };
        Ok::<_, netloom_routing::RoutingError>(verify::move_loops(net, &group, &links, moves, lanes))
    })?;
    let found = match found {
        Ok(found) => found,
        Err(error) => return refuse(format!("{scheme}: {error}")),
    };
    let dict = PyDict::new(py);
    dict.set_item("ok", found.lanes.credit_loops == 0)?;
    dict.set_item("credit_loops", found.lanes.credit_loops)?;
    dict.set_item("cycle", cycle_of(py, &shared.fabric, &found.lanes.cycle)?)?;
    dict.set_item("waits", found.waits)?;
    dict.set_item("lanes", found.lanes.lanes)?;
    let slot = |(i, slot): (usize, &verify::Slot)| {
        let one = PyDict::new(py);
        one.set_item("slot", slot.to_string())?;
        one.set_item("lane", found.lane_of.get(i))?;
        Ok(one)
    };
    let slots: Vec<Bound<'py, PyDict>> = found.slots.iter().enumerate().map(slot).collect::<PyResult<_>>()?;
    dict.set_item("slots", slots)?;
    Ok(dict)
}
