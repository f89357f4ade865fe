//! What adapters have counted, in all and by message, and the transmission model beside it.

use netloom_planning::Sent;
use netloom_sim::{AdapterCounters, MessageRow, Transmission};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::array;

/// How long a message takes by the transmission model, ps: as published, and with a window that slides.
fn estimates_ps(sent: &Transmission, window: u32) -> (f64, f64) {
    let counters = &sent.counters;
    let message = Sent {
        packets: counters.packets,
        flits: counters.flits,
        stall_ratio: counters.stalled_cycles() / counters.flits.max(1) as f64,
        latency_cycles: counters.latency_cycles() / counters.packets.max(1) as f64,
        window,
    };
    let cycle_ps = counters.cycle_ps as f64;
    (message.published_cycles() * cycle_ps, message.sliding_cycles() * cycle_ps)
}

/// Adds to rows of messages what adapters have counted of them, with a window of so many packets.
pub(crate) fn transmissions<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
    rows: &[MessageRow],
    window: u32,
) -> PyResult<()> {
    let sent = || rows.iter().map(|row| row.sent.unwrap_or_default());
    let estimates: Vec<(f64, f64)> = sent().map(|sent| estimates_ps(&sent, window)).collect();
    columns.set_item("flits", array(py, sent().map(|it| it.counters.flits)))?;
    columns.set_item("stalled_cycles", array(py, sent().map(|it| it.counters.stalled_cycles())))?;
    columns.set_item("packets", array(py, sent().map(|it| it.counters.packets)))?;
    columns.set_item("latency_cycles", array(py, sent().map(|it| it.counters.latency_cycles())))?;
    columns.set_item("network_ps", array(py, sent().map(|it| it.network_ps)))?;
    columns.set_item("eq2_ps", array(py, estimates.iter().map(|it| it.0)))?;
    columns.set_item("window_ps", array(py, estimates.iter().map(|it| it.1)))
}

/// What adapters have counted, a row a host.
pub(crate) fn adapter_columns<'py>(
    py: Python<'py>,
    adapters: &[AdapterCounters],
) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("host", array(py, (0..adapters.len()).map(|host| host as u32)))?;
    columns.set_item("flits", array(py, adapters.iter().map(|it| it.flits)))?;
    columns.set_item("stalled_cycles", array(py, adapters.iter().map(AdapterCounters::stalled_cycles)))?;
    columns.set_item("packets", array(py, adapters.iter().map(|it| it.packets)))?;
    columns.set_item("latency_cycles", array(py, adapters.iter().map(AdapterCounters::latency_cycles)))?;
    Ok(columns)
}
