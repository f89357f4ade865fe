"""Tables 5.1 to 5.5: what the loop makes of the dissertation's experiments, beside other routings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.loop.published import PUBLISHED
from netloom.loop.round import whole
from netloom.loop.simulated import SimulatedLoop

if TYPE_CHECKING:
    from netloom.loop.plan import Plan, Table

SCENARIOS = (
    "table-5.1-shift",
    "table-5.1-shuffle",
    "table-5.2-large",
    "table-5.2-large-sum",
    "table-5.2-small",
    "table-5.3-random",
    "table-5.4-bytes",
    "table-5.4-mixed",
    "table-5.5",
)
"""The shipped ones, in order."""


def rows(loop: SimulatedLoop) -> Iterator[dict[str, Any]]:
    """A table's rows of one scenario whose rounds have run: first other routings, last the loop's."""
    plan, table = loop.plan, loop.plan.table
    assert table is not None, "a scenario of a table"
    phase = plan.phases[0]
    alone = _alone(plan, table) if table.alone else None
    if alone is not None:
        yield _row(table, "alone", alone, alone)
    began = loop.ran(0, loop.start)
    first = began.gap_percent if table.measure == "gap" else began.time_ms
    yield _row(table, plan.routes, first, alone)
    for word in table.beside:
        if word == plan.routes:
            continue
        if table.measure == "gap":
            yield _row(table, word, _gap(loop, word), alone)
        else:
            yield _row(table, word, _time(loop, word), alone)
    if table.measure == "gap":
        yield _row(table, "known", _gap(loop, None), alone)
    last = loop.history[-1]
    value = last.gap_after_percent if table.measure == "gap" else last.time_after_ms
    row = _row(table, "loop", value, alone)
    decisions = ", ".join(dict.fromkeys(one.decision for one in loop.history))
    yield {
        **row,
        "verdict": loop.history[0].verdict,
        "estimated_error_percent": loop.history[0].estimated_error_percent,
        "true_error_percent": loop.history[0].true_error_percent,
        "decision": decisions,
        "phase": phase.name,
    }


def _row(table: Table, routing: str, value: float | None, alone: float | None) -> dict[str, Any]:
    published = PUBLISHED.get((table.number, table.column, routing))
    base = PUBLISHED.get((table.number, table.column, "alone"))
    timed = table.measure == "time" and alone is not None
    return {
        "table": table.number,
        "column": table.column,
        "routing": routing,
        "measure": "ms" if table.measure == "time" else "AR gap in %",
        "value": value,
        "published": published,
        "times_alone": value / alone if timed and value is not None and alone else None,
        "published_times_alone": published / base if timed and published and base else None,
        "verdict": None,
        "estimated_error_percent": None,
        "true_error_percent": None,
        "decision": None,
        "phase": None,
    }


def _time(loop: SimulatedLoop, word: str) -> float | None:
    """What the job takes that takes longest of those that end by themselves, under another routing."""
    from netloom import _core

    scenario = loop.plan.phases[0].scenario
    ended = _core.simulate(scenario, word, model="packet", threads=max(1, loop.threads))
    return _last(whole(ended).result())


def _alone(plan: Plan, table: Table) -> float | None:
    """The same without the other jobs."""
    from netloom import _core

    phase = plan.phases[0]
    scenario = _core.Scenario.read(phase.file, [*phase.sets, *table.alone])
    return _last(whole(_core.simulate(scenario, plan.routes, model="packet")).result())


def _gap(loop: SimulatedLoop, word: str | None) -> float | None:
    """The AR gap of a routing, or of routes optimised for the true traffic."""
    from netloom import _core

    sent = loop.ran(0, loop.start).sent
    if word is None:
        return whole(
            _core.optimize(loop.fabric, sent, today=loop.start, seed=loop.plan.seed, threads=loop.threads)
        ).loads.ar_gap_percent
    routes = loop.plan.phases[0].scenario.routes(word)
    assert routes is not None, "a routing with tables"
    return whole(_core.loads(loop.fabric, routes, sent, threads=loop.threads)).ar_gap_percent


def _last(result: dict[str, Any]) -> float | None:
    times = [job["completion_ms"] for job in result["jobs"] if job["completion_ms"] is not None]
    return max(times, default=None)


def shipped(folder: Path, numbers: list[str] | None) -> list[Path]:
    """The files of the shipped scenarios of these tables, or of all."""
    return [
        folder / f"{name}.toml"
        for name in SCENARIOS
        if numbers is None or any(name.startswith(f"table-{number}") for number in numbers)
    ]
