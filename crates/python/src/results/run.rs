//! Parts of a simulated run's entry in results.

use netloom_model::Fabric;
use netloom_sim::{
    AdapterCounters, Deadlock, JobOutcome, Managed, Offered, Outcome, SentBy, Skipped, Spent, Summary,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pub(crate) fn ms(ps: u64) -> f64 {
    ps as f64 * 1e-9
}

/// Microseconds; `None` where there was nothing.
pub(crate) fn latency<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let some = |ps: f64| (summary.count > 0).then_some(ps * 1e-6);
    let dict = PyDict::new(py);
    dict.set_item("mean", some(summary.mean_ps))?;
    dict.set_item("p50", some(summary.p50_ps as f64))?;
    dict.set_item("p99", some(summary.p99_ps as f64))?;
    dict.set_item("max", some(summary.max_ps as f64))?;
    Ok(dict)
}

/// What a job's ranks spent their time on, ms a rank, and the share in which they waited.
pub(crate) fn spent<'py>(py: Python<'py>, found: &Spent, ranks: usize) -> PyResult<Bound<'py, PyDict>> {
    let mean_ms = |ps: u128| ps as f64 * 1e-9 / ranks as f64;
    let waits = PyDict::new(py);
    for &(what, ps) in &found.waits_ps {
        waits.set_item(what, mean_ms(ps))?;
    }
    let share = (found.elapsed_ps > 0).then(|| found.waited_ps() as f64 / found.elapsed_ps as f64);
    let dict = PyDict::new(py);
    dict.set_item("elapsed_ms", mean_ms(found.elapsed_ps))?;
    dict.set_item("compute_ms", mean_ms(found.compute_ps))?;
    dict.set_item("call_ms", mean_ms(found.call_ps))?;
    dict.set_item("waiting_ms", waits)?;
    dict.set_item("waiting_share", share)?;
    Ok(dict)
}

/// Messages to other hosts by mode, with shares of the bytes.
pub(crate) fn by_mode<'py>(py: Python<'py>, found: &[SentBy]) -> PyResult<Bound<'py, PyList>> {
    let bytes: u64 = found.iter().map(|it| it.bytes).sum();
    let list = PyList::empty(py);
    for it in found {
        let dict = PyDict::new(py);
        dict.set_item("mode", it.mode.word())?;
        dict.set_item("messages", it.messages)?;
        dict.set_item("bytes", it.bytes)?;
        dict.set_item("share", it.bytes as f64 / bytes.max(1) as f64)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Share of the host links that was accepted of all jobs that offer load, and of the least-served host.
pub(crate) fn accepted<'py>(py: Python<'py>, jobs: &[JobOutcome]) -> PyResult<Option<Bound<'py, PyDict>>> {
    let measured = || jobs.iter().filter_map(|job| Some((job.offered.as_ref()?, job.least_accepted)));
    let capacity: f64 = measured().map(|(load, _)| load.capacity_bytes_per_s).sum();
    if capacity <= 0.0 {
        return Ok(None);
    }
    let carried: f64 = measured().map(|(load, _)| load.accepted * load.capacity_bytes_per_s).sum();
    let dict = PyDict::new(py);
    dict.set_item("mean", carried / capacity)?;
    dict.set_item("least", measured().filter_map(|(_, least)| least).reduce(f64::min))?;
    Ok(Some(dict))
}

/// Offered load and what was accepted of it.
pub(crate) fn load<'py>(py: Python<'py>, found: &Offered) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("window_us", [1e3 * ms(found.window_ps.0), 1e3 * ms(found.window_ps.1)])?;
    dict.set_item("offered", found.offered)?;
    dict.set_item("accepted", found.accepted)?;
    dict.set_item("messages", found.messages)?;
    dict.set_item("under_way", found.under_way)?;
    dict.set_item("latency_us", latency(py, &found.latency)?)?;
    dict.set_item("saturated", found.saturated)?;
    Ok(dict)
}

/// What a congestion control has done by the end of a run.
pub(crate) fn congestion<'py>(
    py: Python<'py>,
    fabric: &Fabric,
    end_ps: u64,
    managed: &Managed,
) -> PyResult<Bound<'py, PyDict>> {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let hosts_ps = fabric.host_count() as f64 * end_ps as f64;
    let queues = PyList::empty(py);
    for queue in managed.queues(fabric) {
        let dict = PyDict::new(py);
        dict.set_item("level", &queue.name)?;
        dict.set_item("links", queue.links)?;
        dict.set_item("mean_bytes", queue.mean_bytes)?;
        dict.set_item("longest_mean_bytes", queue.longest_mean_bytes)?;
        dict.set_item("longest", queue.link.map(|link| fabric.describe_link(link)))?;
        dict.set_item("max_bytes", queue.max_bytes)?;
        dict.set_item("marked_packets", queue.marked)?;
        queues.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("control", managed.control)?;
    dict.set_item("samples", managed.samples)?;
    dict.set_item("notices", managed.notices)?;
    dict.set_item("marked_packets", managed.marked)?;
    dict.set_item("marked_fraction", share(managed.marked as f64, managed.packets as f64))?;
    dict.set_item("cuts", managed.cuts)?;
    dict.set_item("most_limiters", managed.most_limiters)?;
    dict.set_item("limited_share", share(managed.held_ps as f64, hosts_ps))?;
    if let Some(index) = managed.mean_index {
        dict.set_item("mean_ccti", index)?;
    }
    if let Some(snooped) = managed.snooped {
        dict.set_item("consumed", snooped.consumed)?;
        dict.set_item("rerouted", snooped.rerouted)?;
        dict.set_item("all_marked", snooped.all_marked)?;
    }
    if let Some(reordering) = managed.reordering {
        let percent = 100.0 * share(reordering.out_of_order as f64, reordering.packets as f64);
        dict.set_item("out_of_order_percent", percent)?;
        dict.set_item("resequencing_bytes_max", reordering.most_bytes)?;
    }
    dict.set_item("queues", queues)?;
    Ok(dict)
}

/// Packets that wait for each other: how many, and the links and lanes of the cycle.
pub(crate) fn deadlock<'py>(
    py: Python<'py>,
    fabric: &Fabric,
    found: &Deadlock,
) -> PyResult<Bound<'py, PyDict>> {
    let cycle = PyList::empty(py);
    for &(link, lane) in &found.cycle {
        let ends = fabric.link(link);
        let dict = PyDict::new(py);
        dict.set_item("from", fabric.node_name(ends.from))?;
        dict.set_item("from_port", ends.from_port)?;
        dict.set_item("to", fabric.node_name(ends.to))?;
        dict.set_item("to_port", ends.to_port)?;
        dict.set_item("lane", lane)?;
        cycle.append(dict)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("packets", found.packets)?;
    dict.set_item("cycle", cycle)?;
    Ok(dict)
}

/// What adapters have counted, all together; *s* and *L* of the transmission model are null where nothing was counted.
pub(crate) fn adapter<'py, 'a>(
    py: Python<'py>,
    adapters: impl Iterator<Item = &'a AdapterCounters>,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut flits, mut packets, mut stalled, mut latency) = (0, 0, 0.0, 0.0);
    for counters in adapters {
        flits += counters.flits;
        packets += counters.packets;
        stalled += counters.stalled_cycles();
        latency += counters.latency_cycles();
    }
    let dict = PyDict::new(py);
    dict.set_item("flits", flits)?;
    dict.set_item("stalled_cycles", stalled)?;
    dict.set_item("packets", packets)?;
    dict.set_item("latency_cycles", latency)?;
    dict.set_item("stall_ratio", (flits > 0).then(|| stalled / flits as f64))?;
    dict.set_item("mean_latency_cycles", (packets > 0).then(|| latency / packets as f64))?;
    Ok(dict)
}

/// What was not simulated, as it repeats what was: `skipped` of a run's result.
pub(crate) fn skipped<'py>(
    py: Python<'py>,
    outcome: &Outcome,
    skipped: &Skipped,
) -> PyResult<Bound<'py, PyDict>> {
    let found = skipped.job.is_some();
    let dict = PyDict::new(py);
    dict.set_item("job", skipped.job.map(|job| &outcome.jobs[job].name))?;
    dict.set_item("from_iteration", found.then_some(skipped.from_iteration))?;
    dict.set_item("period_iterations", found.then_some(skipped.period_iterations))?;
    dict.set_item("period_ms", found.then(|| ms(skipped.period_ps)))?;
    dict.set_item("iterations", skipped.iterations)?;
    dict.set_item("share", skipped.time_ps as f64 / outcome.end_ps.max(1) as f64)?;
    let how = if skipped.near.is_some() { "near" } else { "exact" };
    dict.set_item("how", skipped.reason.is_none().then_some(how))?;
    dict.set_item("error", skipped.near.map(|near| near.error))?;
    dict.set_item("seen", skipped.near.map(|near| near.seen))?;
    dict.set_item("reason", skipped.reason)?;
    Ok(dict)
}
