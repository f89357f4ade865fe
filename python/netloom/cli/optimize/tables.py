"""The tables below the report of `netloom optimize`: `--compare`, `--front`, `--judge`, `--exact`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render, results
from netloom.shown import legend


def compared(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table, and below it why a row is empty or cut short."""
    header = ["routes", legend.LOAD, "AR gap", "gap to bound", "links at max", "loop-free", "seconds"]
    lines = []
    for row in rows:
        seconds = f"{row['seconds']:.2f}"
        if row["max_load"] is None:
            lines.append([legend.name(row["name"]), "none", "", "", "", "", seconds])
            continue
        gaps = [results.gap(row[key]) for key in ("ar_gap_percent", "lower_bound_gap_percent")]
        at_max = render.count(row["links_at_max"])
        size, free = render.size(row["max_load"]), _free(row)
        lines.append([legend.name(row["name"]), size, *gaps, at_max, free, seconds])
    notes = [f"\n{legend.name(row['name'])}: {row['note']}" for row in rows if row["note"] is not None]
    for because in dict.fromkeys(row["outside_because"]["text"] for row in rows if row["outside_because"]):
        names = ", ".join(
            legend.name(row["name"])
            for row in rows
            if row["outside_because"] and row["outside_because"]["text"] == because
        )
        notes.append(f"\nno gap for {names}: {because}")
    return render.table(header, lines, right=(1, 2, 3, 4, 6)) + "".join(notes)


def _free(row: Mapping[str, Any]) -> str:
    """`yes`, `no`, `on 2 lanes`: whether packets cannot wait in a circle; empty where that is not known."""
    if row["loop_free"] is None:
        return ""
    if not row["loop_free"]:
        return "no"
    return "yes" if row["lanes"] == 1 else f"on {row['lanes']} lanes"


def front(points: Sequence[Mapping[str, Any]]) -> str:
    """The front as a table."""
    rows = [
        [
            render.count(point["changed_entries"]),
            render.size(point["max_load"]),
            results.gap(point["lower_bound_gap_percent"]),
        ]
        for point in points
    ]
    return render.table(["changed entries", legend.LOAD, "gap to bound"], rows, right=range(3))


def judged(judge: Mapping[str, Any]) -> str:
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


def exact_rows(exact: Mapping[str, Any], ours: float) -> list[tuple[str, str]]:
    """The report's lines; `ours` is our own lower bound."""
    if exact["output"] is not None:
        return [("model", f"{exact['model']}, written to {exact['output']}")]
    size = f"{render.count(exact['variables'])} variables, {render.count(exact['constraints'])} constraints"
    out = [("model", f"{exact['model']}: {exact['status']}, {size}")]
    links = exact["model"] == "few-hot"
    if links:
        above = render.size(exact["threshold"])
        out.append(("above", f"{results.links(round(exact['objective']))} above {above}"))
    if exact["lower_bound"] is None:
        heuristic = exact["model"] == "partitioned"
        out.append(
            ("its bound", f"none: {'this model proves nothing' if heuristic else 'stopped too early'}")
        )
    elif links:
        out.append(("its bound", results.links(round(exact["lower_bound"]))))
    else:
        out.append(("its bound", f"{render.size(exact['lower_bound'])} (ours {render.size(ours)})"))
    if exact["bound_class"] is not None:
        out.append(("", f"of {results.words(exact['bound_class'])}"))
    told = (lambda value: results.links(round(value))) if links else render.size
    start = told(exact["start_objective"])
    if exact["own_objective"] is None:
        what = "none before the time was over"
    elif exact["better"]:
        what = f"{told(exact['own_objective'])}, better than the search's ({start}), and taken"
    else:
        what = f"{told(exact['own_objective'])}, no better than the search's ({start})"
    out.append(("its routes", what))
    return out
