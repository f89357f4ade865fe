"""How long the applications of a plan take, packet by packet.

Without taper, that is on a tree of two levels whose leaves have as many cables up as hosts, with switches of
the plan's radix and links of its speed. Ranks are in order, and every packet takes the least loaded way:
tables that collide would count as if they were the network's.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloom._core import Scenario


def run_times(
    source: str | os.PathLike[str], *, threads: int = 0, until: float | None = None
) -> dict[int, float]:
    """Seconds that the traces of a plan run whose run time nobody has told, by number of the application.

    Parameters
    ----------
    source : path
        A plan (.toml).
    threads : int, default 0
        Of a run; 0 is one.
    until : float, optional
        When to give up, by `time.monotonic`.

    Returns
    -------
    dict
        Seconds by number of the application.

    Raises
    ------
    TimeoutError
        If that time came before a run was over.
    SimulationError
        If a run cannot go on.
    """
    from netloom import _core

    found: dict[int, float] = {}
    for number, told in enumerate(_core.plan_applications(source)):
        if told["kind"] != "trace" or told["told"]:
            continue
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError("the time limit came before the traces of the plan were run")
        down = told["radix"] // 2
        hosts = -(-told["ranks"] // told["ranks_per_host"])
        spec = f"two-level:leaves={-(-hosts // down)},hosts={down},spines={down}"
        scenario = scenario_of(told, f"{spec},speed={told['speed_gbps']:f}G")
        ran = _core.simulate(scenario, "adaptive", threads=max(1, threads), time_limit=left)
        if ran.stopped == "interrupted":
            raise KeyboardInterrupt
        if ran.stopped is not None:
            raise TimeoutError(f"{told['source']}: {ran.stopped} before its run was over")
        found[number] = ran.end_ps / 1e12
    return found


def scenario_of(told: Mapping[str, Any], fabric: str, *, hosts: Sequence[Sequence[str]] = ()) -> Scenario:
    """An application of a plan on a fabric.

    Parameters
    ----------
    told : mapping
        One of `_core.plan_applications`.
    fabric : str
        A spec with its speed, or a path.
    hosts : sequence of sequences of str, optional
        The hosts of every copy; one copy on the first hosts if there are none.

    Raises
    ------
    SpecError, PlaceError
        If they do not fit.
    """
    from netloom import _core

    of = f"fabric={json.dumps(fabric)}"
    where = f"ranks_per_host = {told['ranks_per_host']}"
    label = f"run of {told['source']}"
    recorded = told["kind"] == "trace" and not told["told"]
    source = told["source"] if told["kind"] == "pattern" else _absolute(told)
    job = ["[[job]]", f"{told['kind']} = {json.dumps(source)}", where]
    if recorded and told["flops_per_s"] is not None:
        job.append(f"flops_per_s = {float(told['flops_per_s'])!r}")
    jobs = [line for copy in hosts for line in (*job, f"hosts = {json.dumps(copy)}")] or job
    if recorded:
        # A scenario: as it was recorded.
        text = "\n".join([of, *jobs]) + "\n"
        return _core.Scenario.parse(text.encode(), label=label, name="run")
    # A jobs file: phase after phase, all messages of one at once.
    text = "\n".join(jobs) + "\n"
    return _core.Scenario.parse(text.encode(), label=label, overrides=[of], name="run")


def _absolute(told: Mapping[str, Any]) -> str:
    return str(Path(told["source"]).absolute())
