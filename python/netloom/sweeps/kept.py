"""Result keys that a sweep can keep, and their types: those of `netloom simulate --format json`.

A key of a job stands as it is, nested ones with dots (`message_latency_us.p99`); a key of the whole run too,
where no job has it, else behind `run.` (`run.messages`). What a clock says (`cpu_seconds`, memory) differs
from one run to the next and is not kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Literal

Kind = Literal["integer", "number", "boolean", "string"]

_LATENCY = ("mean", "p50", "p99", "max")
JOB: dict[str, Kind] = {
    "ranks": "integer",
    "start_ms": "number",
    "completion_ms": "number",
    "messages": "integer",
    "bytes": "integer",
    "unreceived": "integer",
    **{f"message_latency_us.{key}": "number" for key in _LATENCY},
    "load.offered": "number",
    "load.accepted": "number",
    "load.messages": "integer",
    "load.under_way": "integer",
    **{f"load.latency_us.{key}": "number" for key in _LATENCY},
    "load.saturated": "boolean",
    "time.elapsed_ms": "number",
    "time.compute_ms": "number",
    "time.call_ms": "number",
    "time.waiting_share": "number",
    "fairness": "number",
    **{f"flow_bytes_per_second.{key}": "number" for key in ("least", "mean", "most")},
    "adapter.flits": "integer",
    "adapter.stalled_cycles": "number",
    "adapter.packets": "integer",
    "adapter.latency_cycles": "number",
    "adapter.stall_ratio": "number",
    "adapter.mean_latency_cycles": "number",
}
"""Of a job."""
RUN: dict[str, Kind] = {
    "simulated_ms": "number",
    **{f"packet_latency_us.{key}": "number" for key in _LATENCY},
    "messages": "integer",
    "bytes": "integer",
    "packets": "integer",
    "packet_hops": "integer",
    "mean_hops": "number",
    "detours": "number",
    "accepted.mean": "number",
    "accepted.least": "number",
    "events": "integer",
    "max_link_utilisation": "number",
    "deadlock.packets": "integer",
    "congestion.samples": "integer",
    "congestion.notices": "integer",
    "congestion.marked_fraction": "number",
    "congestion.cuts": "integer",
    "congestion.most_limiters": "integer",
    "congestion.consumed": "integer",
    "congestion.rerouted": "integer",
    "congestion.all_marked": "integer",
    "congestion.out_of_order_percent": "number",
    "congestion.resequencing_bytes_max": "integer",
    "congestion.limited_share": "number",
}
"""Of the whole run."""
CLOCKED = ("cpu_seconds", "packet_hops_per_cpu_second", "peak_memory_mb")
"""What differs from one run to the next."""
DEFAULT = ("completion_ms", "message_latency_us.mean", "message_latency_us.p99", "max_link_utilisation")
"""What is kept if nothing is said."""
_RUN = "run."


def kind_of(key: str) -> Kind:
    """The type of a key.

    Raises
    ------
    ValueError
        If there is no such key, with the nearest.
    """
    found = JOB.get(key) or RUN.get(key) or (RUN.get(key[len(_RUN) :]) if key.startswith(_RUN) else None)
    if found is not None:
        return found
    if key.removeprefix(_RUN) in CLOCKED:
        raise ValueError(f"{key} is measured by a clock and differs from run to run: it is not kept")
    names = [*JOB, *RUN, *(f"{_RUN}{name}" for name in RUN)]
    near = difflib.get_close_matches(key, names, 1, 0.5)
    if not near:
        raise ValueError(f'a sweep does not keep "{key}": expected some of {", ".join([*JOB, *RUN])}')
    raise ValueError(f'no result has the key "{key}", did you mean "{near[0]}"?')


def value(key: str, run: Mapping[str, Any], job: Mapping[str, Any]) -> Any:
    """What a key has in a result and one of its jobs; None where there is none."""
    found: Any = job if key in JOB else run
    for part in key.removeprefix(_RUN).split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
