"""What `netloom loop` tells: a line a round, and the dissertation's tables beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render
from netloom.loop.published import TITLES

if TYPE_CHECKING:
    from netloom.loop.plan import Plan
    from netloom.loop.simulated import SimulatedLoop

__all__ = ["TITLES", "result", "rows", "tables_text", "text", "wanted"]


def wanted(plan: Plan) -> int:
    """How many rounds a plan has."""
    return sum(phase.rounds for phase in plan.phases)


def result(plan: Plan, loop: SimulatedLoop, stopped: str | None, output: str | None) -> dict[str, Any]:
    """The result object."""
    decisions = [one.decision for one in loop.history]
    return {
        "loop": plan.name,
        "scenario": ", ".join(dict.fromkeys(phase.scenario.name for phase in plan.phases)),
        "hosts": loop.fabric.hosts,
        "switches": loop.fabric.switches,
        "routes": plan.routes,
        "counters": plan.vl_scheme or "of whole links",
        "weight": plan.weight,
        "canary_percent": plan.canary_percent,
        "rounds": [one.result() for one in loop.history],
        "applied": decisions.count("applied"),
        "kept": decisions.count("kept"),
        "rolled_back": decisions.count("rolled back"),
        "stopped": stopped,
        "output": output,
    }


def rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV holds: a row a round."""
    out = []
    for entry in found["rounds"]:
        row = {key: value for key, value in entry.items() if key != "seconds"}
        out.append({**row, "seconds": sum(entry["seconds"].values())})
    return out


def text(found: Mapping[str, Any]) -> str:
    """The report."""
    count = render.count
    head = [
        ("loop", f"{found['loop']}: {found['scenario']}, from {found['routes']}"),
        ("fabric", f"{count(found['hosts'])} hosts, {count(found['switches'])} switches"),
        ("counters", f"{found['counters']}, inferred from {found['weight']}"),
    ]
    parts = [render.pairs(head), _rounds(found["rounds"])]
    parts.append("\n".join(f"{one['number']}  {one['decision']}: {one['reason']}" for one in found["rounds"]))
    tail = []
    if found["stopped"] is not None:
        tail.append(("stopped", f"{found['stopped'].replace('-', ' ')}: the rounds so far"))
    if found["output"] is not None:
        tail.append(("written", found["output"]))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts)


def _rounds(entries: Sequence[Mapping[str, Any]]) -> str:
    header = ["round", "work", "verdict", "time (ms)", "after", "AR gap", "after", "at least", "found"]
    header += ["entries", "decision", "seconds"]
    lines = [
        [
            count_of(one["number"]),
            one["phase"],
            one["verdict"] or "-",
            _number(one["time_before_ms"], 3),
            _number(one["time_after_ms"], 3),
            _percent(one["gap_before_percent"]),
            _percent(one["gap_after_percent"]),
            _percent(one["sure_gain"], 1),
            _percent(one["realised_gain"], 1),
            count_of(one["changed_entries"]),
            one["decision"],
            f"{sum(one['seconds'].values()):.2f}",
        ]
        for one in entries
    ]
    # The decision is told once more below, with its reason.
    return render.table(header, lines, right=[0, *range(3, 10), 11], spare=[11, 10, 9])


def count_of(value: int) -> str:
    """A whole number with thousands separated."""
    return render.count(value)


def tables_text(found: Mapping[str, Any]) -> str:
    """The dissertation's tables, ours beside them."""
    parts = []
    for number, title in TITLES.items():
        entries = [row for row in found["tables"] if row["table"] == number]
        if entries:
            parts.append(f"table {number}: {title}\n{_table(entries)}")
    if found["stopped"] is not None:
        parts.append(f"stopped: {found['stopped'].replace('-', ' ')}")
    return "\n\n".join(parts)


def _table(entries: Sequence[Mapping[str, Any]]) -> str:
    timed = any(row["times_alone"] is not None for row in entries)
    header = ["", "routing", "here", "dissertation", *(["times alone", "there"] if timed else [])]
    header += ["verdict", "decision"]
    lines = []
    last = None
    for row in entries:
        digits = 3 if row["measure"] == "ms" else 2
        line = ["" if row["column"] == last else row["column"], row["routing"]]
        line += [_number(row["value"], digits), _number(row["published"], digits)]
        if timed:
            line += [_number(row["times_alone"], 2), _number(row["published_times_alone"], 2)]
        lines.append([*line, row["verdict"] or "", row["decision"] or ""])
        last = row["column"]
    return render.table(header, lines, right=range(2, len(header) - 2))


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _percent(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value + 0.0:.{digits}f} %"
