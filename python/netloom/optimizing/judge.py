"""A simulation chooses among routes that loads alone cannot tell apart.

What is simulated: the traffic itself where it is a recorded run (a trace, or a jobs file of traces), else a
program that sends it: phase after phase, every host posts all that it sends at once, the next host first, and
waits for that and for what it is sent. Bytes do not say in which order they are sent; the result says which
of both it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.session import STDIO, jobs_file
from netloom.session.sources import ending, is_recorded, of_run

if TYPE_CHECKING:
    from netloom._core import Fabric, Optimized, Scenario, Traffic
    from netloom.session.session import Session

_KEYS = ("name", "trace", "allocation", "hosts", "adapters", "storage", "mapping", "grid", "ranks_per_host")
"""What a job with a trace says in a jobs file and in a scenario alike."""


def chosen(
    session: Session,
    judge: Literal["packets", "fluid"],
    source: Traffic | str,
    fabric: Fabric,
    traffic: Traffic,
    asked: Mapping[str, Any],
) -> tuple[Optimized, dict[str, Any]]:
    """The routes taken, and the result's key `judge` (with `changed_because` beside its own keys)."""
    from netloom import _core

    scenario, program = _program(session, source, fabric, traffic)
    model: Literal["packet", "fluid"] = "fluid" if judge == "fluid" else "packet"
    best, told = _core.optimize_judged(scenario, traffic, model, **asked)
    keys: dict[str, Any] = told["judge"] or {"measure": None, "chosen": None, "candidates": []}
    if told["judge"] is None:
        session.note("the program could not be simulated to its end: loads decided", kind="warning")
    return best, {**keys, "program": program, "changed_because": told["changed_because"]}


def _program(
    session: Session, source: Traffic | str, fabric: Fabric, traffic: Traffic
) -> tuple[Scenario, str]:
    """What is simulated, and whether it is a recorded run (`trace`) or made from bytes (`traffic`)."""
    from netloom import _core

    if not isinstance(source, str):
        return _core.Scenario.of_traffic(fabric, traffic), "traffic"
    path = Path(source)
    listed: list[dict[str, Any]] = []
    seed = session.given_seed
    if source != STDIO and path.exists():
        source = of_run(source, "jobs.toml")
        if is_recorded(source):
            listed = [{"name": "traffic", "trace": path.name}]
        elif ending(path) == ".toml":
            listed, own = jobs_file.replayable(path)
            seed = own if seed is None else seed
    if not listed:
        return _core.Scenario.of_traffic(fabric, traffic), "traffic"
    lines = ['fabric = "at hand"', f"seed = {seed or 0}"]
    for job in listed:
        lines.append("[[job]]")
        lines += [f"{key} = {json.dumps(job[key], ensure_ascii=False)}" for key in _KEYS if key in job]
    return _core.Scenario.on(fabric, "\n".join(lines) + "\n", source, path.parent), "trace"
