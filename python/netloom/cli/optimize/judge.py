"""`netloom optimize --judge`: a simulation chooses among routes that loads alone cannot tell apart.

What is simulated: TRAFFIC itself where it is a recorded run (a trace, or a jobs file of traces), else a
program that sends it: phase after phase, every host posts all that it sends at once, the next host first, and
waits for that and for what it is sent. Bytes do not say in which order they are sent; the result says which
of both it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Group, Parameter

from netloom.cli.optimize.goals import Goal
from netloom.cli.shared import render
from netloom.cli.shared.exits import STDIO
from netloom.cli.shared.inputs import is_recorded, of_run
from netloom.session import jobs_file
from netloom.session.sources import ending
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric, Optimized, Scenario, Traffic
    from netloom.cli.shared.run import Run

_KEYS = ("name", "trace", "allocation", "hosts", "adapters", "storage", "mapping", "grid", "ranks_per_host")
"""What a job with a trace says in a jobs file and in a scenario alike."""


@Parameter(name="*", group=Group("A simulation as the judge", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class Judge:
    """What is simulated."""

    judge: Literal["packets", "fluid"] | None = None
    """Simulate the traffic with the initial routes and with several that have lower loads, and take the
    fastest: packet by packet, or as flows, which is quicker. A trace, or a jobs file of traces, is replayed.
    With a plain matrix every host sends everything at once, nearest host first."""

    def goal(self, goal: Goal) -> Goal:
        """What is reported beside times: the largest load of all phases added up."""
        return goal if self.judge is None else replace(goal, objective="total")

    def chosen(
        self, run: Run, source: str, fabric: Fabric, traffic: Traffic, asked: Mapping[str, Any]
    ) -> tuple[Optimized, dict[str, Any]]:
        """The routes taken, and the result's key `judge` (with `changed_because` beside its own keys)."""
        from netloom import _core

        scenario, program = _program(run, source, fabric, traffic)
        model: Literal["packet", "fluid"] = "fluid" if self.judge == "fluid" else "packet"
        best, told = _core.optimize_judged(scenario, traffic, model, **asked)
        judge: dict[str, Any] = told["judge"] or {"measure": None, "chosen": None, "candidates": []}
        if told["judge"] is None:
            run.note("the program could not be simulated to its end: loads decided", kind="warning")
        return best, {**judge, "program": program, "changed_because": told["changed_because"]}


def _program(run: Run, source: str, fabric: Fabric, traffic: Traffic) -> tuple[Scenario, str]:
    """What is simulated, and whether it is a recorded run (`trace`) or made from bytes (`traffic`)."""
    from netloom import _core

    path = Path(source)
    listed: list[dict[str, Any]] = []
    seed = run.options.seed
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


def text(judge: Mapping[str, Any]) -> str:
    """The candidates, and which was taken."""
    header = ["routes", f"time (ms, {judge['measure']})", "ratio", legend.LOAD, "changed entries", ""]
    lines = []
    for one in judge["candidates"]:
        time = one["completion_ms"]
        ratio = one["ratio"]
        changed = one["changed_entries"]
        lines.append(
            [
                one["name"],
                "-" if time is None else f"{time:,.4g}",
                "-" if ratio is None else f"{ratio:.3f}",
                render.size(one["max_load"]),
                "-" if changed is None else render.count(changed),
                "taken" if one["name"] == judge["chosen"] else "",
            ]
        )
    return render.table(header, lines, right=range(1, len(header) - 1))
