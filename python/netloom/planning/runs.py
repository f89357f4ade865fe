"""How long recorded runs take on a network without taper, packet by packet.

That network is a tree of two levels whose leaves have as many cables up as hosts, with switches of the plan's
radix and links of its speed. Ranks are in order, and every packet takes the least loaded way: tables that
collide would count as if they were the network's.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


def run_times(
    source: str | os.PathLike[str], *, threads: int = 0, until: float | None = None
) -> dict[int, float]:
    """Seconds that the traces of a plan run whose run time nobody has told, by number of the application.

    Parameters
    ----------
    source : path
        A plan (.toml).
    threads : int, default 0
        0 is one a core.
    until : float, optional
        When to give up, by `time.monotonic`.

    Raises
    ------
    TimeoutError
        If that time came before a run was over.
    SimulationError
        If a run cannot go on.
    """
    from netloom import _core

    found: dict[int, float] = {}
    for trace in _core.plan_traces(source):
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError("the time limit came before the traces of the plan were run")
        label = f"run of {trace['path']}"
        scenario = _core.Scenario.parse(_scenario(trace).encode(), label=label, name="run")
        ran = _core.simulate(scenario, threads=threads, time_limit=left)
        if ran.stopped == "interrupted":
            raise KeyboardInterrupt
        if ran.stopped is not None:
            raise TimeoutError(f"{label}: {ran.stopped} before it was over")
        found[int(trace["application"])] = ran.end_ps / 1e12
    return found


def _scenario(trace: dict[str, Any]) -> str:
    down = trace["radix"] // 2
    hosts = -(-trace["ranks"] // trace["ranks_per_host"])
    spec = f"two-level:leaves={-(-hosts // down)},hosts={down},spines={down},speed={trace['speed_gbps']:f}G"
    lines = [
        f"fabric = {json.dumps(spec)}",
        'routes = ["adaptive"]',
        "[[job]]",
        f"trace = {json.dumps(str(Path(trace['path']).absolute()))}",
        f"ranks_per_host = {trace['ranks_per_host']}",
    ]
    if trace["flops_per_s"] is not None:
        lines.append(f"flops_per_s = {float(trace['flops_per_s'])!r}")
    return "\n".join(lines) + "\n"
