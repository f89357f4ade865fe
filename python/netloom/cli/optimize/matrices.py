"""Several matrices as text: phases one after another, or scenarios of which one will come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render, results
from netloom.shown import legend

_KINDS: dict[str, tuple[str, str]] = {
    "total": ("largest load", "largest load"),
    "sum": ("sum over the phases of the phase's largest load", "sum of largest loads"),
    "worst": ("the worst phase's largest load", "worst phase"),
    "worst-gap": ("the worst gap of a traffic to its own bound", "worst gap"),
    "mean-gap": ("the mean gap of a traffic to its own bound", "mean gap"),
}


def of_bounds(objective: Mapping[str, Any], value: float) -> str:
    """A gap to bounds, or a multiple of bounds that are of other ways than these routes' and have no gap."""
    if objective["gap_percent"] is None:
        return f"{value:.3f} times the bound of {results.words(objective['bound_class'])}"
    return render.percent((value - 1) * 100)


def text(result: Mapping[str, Any], verdict: tuple[str, str]) -> str:
    """The verdict, the objective, and a table of the matrices."""
    objective = result["objective"]
    kind = objective["kind"]
    rows = [verdict, ("minimised", _KINDS[kind][0])]
    before = result["background"]
    if kind in ("sum", "worst"):
        rows += [
            (_KINDS[kind][1], render.size(objective["value"])),
            *([("before", f"{render.size(before['value'])} ({before['routes']})")] if before else []),
            ("proven lower bound", render.size(objective["lower_bound"])),
            ("", f"of {results.words(objective['bound_class'])}"),
            ("gap to it", results.proven(objective, objective["gap_percent"])),
        ]
    else:
        value = of_bounds(objective, objective["value"])
        if objective["proven_optimal"]:
            value += f": proven optimal among {results.words(objective['bound_class'])}"
        rows.append((_KINDS[kind][1], value))
        if before:
            rows.append(("before", f"{of_bounds(objective, before['value'])} ({before['routes']})"))
    phases = result["phases"] is not None
    matrices = result["phases"] if phases else result["scenarios"]
    known = [row["max_load_before"] is not None for row in matrices]
    header = ["phase" if phases else "traffic", "times" if phases else "weight"]
    header += ["before"] * any(known) + [legend.LOAD, "lower bound"]
    lines = [
        [
            row["name"],
            f"{row['repeats' if phases else 'weight']:,g}",
            *(render.size(row["max_load_before"]) for _ in range(any(known))),
            render.size(row["max_load"]),
            render.size(row["lower_bound"]),
            results.gap(row["lower_bound_gap_percent"]),
            "yes" if row["proven_optimal"] else "no",
            row["bound_at"],
        ]
        for row in matrices
    ]
    because = next((row["outside_because"] for row in matrices if row["outside_because"]), None)
    if because is not None:
        rows.append(("no gap", because["text"]))
    table = render.table([*header, "gap", "proven", "bound at"], lines, right=range(1, len(header) + 1))
    return f"{render.pairs(rows)}\n\n{table}"
