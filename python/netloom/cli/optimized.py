"""Optimised routes as a result: the keys that scripts rely on, and the same as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli import compare, render, results

if TYPE_CHECKING:
    from netloom._core import Optimized, Traffic

LEVELS = 4
"""How many of the highest loads a result lists."""


def optimized_result(best: Optimized, traffic: Traffic, *, changed: int | None) -> dict[str, Any]:
    """What is known of optimised routes; `changed` counts entries that differ from those in force."""
    history = best.history
    reached = [step["seconds"] for step in history if step["max_load"] <= best.loads.max * (1 + 1e-9)]
    return {
        **results.loads_result(best.loads, traffic),
        "levels": [{"load": load, "links": links} for load, links in best.loads.levels(LEVELS)],
        "proven_optimal": best.proven_optimal,
        "stopped": best.stopped,
        "reproducible": best.reproducible,
        "work": best.work,
        "changed_entries": changed,
        "time_to_best": min(reached, default=None),
        "history": history,
    }


def text(result: Mapping[str, Any]) -> str:
    """The report of an optimisation."""
    rows = results.loads_rows(result)
    if result["levels"]:
        rows.append(("between switches", levels_text(result["levels"])))
    parts = [results.with_hottest(render.pairs(rows), result)]
    if result["compare"] is not None:
        parts.append(compare.text(result["compare"]))
    rows = []
    if result["background"] is not None:
        before = result["background"]
        gap = render.percent(before["ar_gap_percent"])
        rows.append(("before", f"{render.size(before['max_load'])}, AR gap {gap} ({before['routes']})"))
        if result["changed_entries"] is not None:
            rows.append(("changed", entries(result["changed_entries"])))
    if not result["reproducible"]:
        rows.append(("reproducible", why_not_reproducible(result["stopped"])))
    written = [result[key] for key in ("output", "certificate") if result[key] is not None]
    if written:
        rows.append(("written", ", ".join(written)))
    if rows:
        parts.append(render.pairs(rows))
    return "\n\n".join(parts)


def levels_text(levels: Sequence[Mapping[str, Any]]) -> str:
    """`12.0 kB on 4 links, 11.0 kB on 9, …`."""
    first, *others = levels
    out = f"{render.size(first['load'])} on {results.links(first['links'])}"
    return out + "".join(f", {render.size(x['load'])} on {render.count(x['links'])}" for x in others)


def entries(number: int) -> str:
    """`1 entry`, `2 entries`."""
    return f"{render.count(number)} {'entry' if number == 1 else 'entries'}"


def why_not_reproducible(stopped: str | None) -> str:
    """What to tell of a result that another run need not repeat."""
    return "no: it was interrupted" if stopped == "interrupted" else "no: use --work instead of a time limit"
