"""What `netloom optimize` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netloom.cli.optimize import hose, matrices, tables
from netloom.cli.shared import addresses, render, results
from netloom.shown import legend


def verdict(result: Mapping[str, Any], began: str) -> str:
    """What a search has come to, in one line: what is minimised, before and after, and how much is left.

    Parameters
    ----------
    result : mapping
        Of `netloom optimize`.
    began : str
        What the routes are called that it began with.

    Examples
    --------
    `682.0 → 454.7 kB, 33 % less than ftree: proven optimal among any routes`.
    """
    goal, history, before = result["objective"], result["history"], result["background"]
    loads = goal["kind"] not in ("worst-gap", "mean-gap")
    end = goal["value"]
    engine = result["best_engine"]
    start = before["value"] if before is not None else history[0]["max_load"] if history and loads else None
    if before is None and engine is not None and loads:
        began, start = engine["name"], engine["value"]
    elif before is None and (judge := result.get("judge")) and judge["candidates"]:
        start = judge["candidates"][0]["max_load"]
    if not loads:
        sizes = [matrices.of_bounds(goal, value) for value in (start, end) if value is not None]
    else:
        sizes = render.sizes([value for value in (start, end) if value is not None])
    told = sizes[-1] if loads else f"{goal['kind'].replace('-', ' ')} {sizes[-1]}"
    if start is not None:
        name = legend.name(Path(began).name)
        if abs(end - start) <= _SAME * start:
            told += f", as with {name}"
        else:
            number, unit = sizes[0].split(" ", 1)
            first = number if sizes[-1].endswith(f" {unit}") else sizes[0]
            told = told.removesuffix(sizes[-1]) + f"{first} → {sizes[-1]}"
            if loads and start > 0:
                told += f", {_change(end / start)} than {name}"
            else:
                told += f" ({name} before)"
    if (
        before is not None
        and engine is not None
        and loads
        and engine["value"] < before["value"] * (1 - _SAME)
    ):
        told += f"; best engine: {legend.name(engine['name'])}, {render.size(engine['value'])}"
    if goal["proven_optimal"]:
        return f"{told}: proven optimal among {results.words(goal['bound_class'])}"
    gap = goal["gap_percent"] if loads else None
    return told if gap is None else f"{told}; {_figure(gap)} above the proven bound"


_SAME = 1e-9
"""Part by which values differ that are the same but for rounding."""


def _change(ratio: float) -> str:
    """`21 % less`, `3 % more`."""
    return f"{_figure(abs(ratio - 1) * 100)} {'less' if ratio < 1 else 'more'}"


def _figure(percent: float) -> str:
    """A percentage without decimals from 1 % on."""
    return f"{percent:.0f} %" if percent >= 0.995 else render.percent(percent)


def text(result: Mapping[str, Any], began: str) -> str:
    """The report of an optimisation: its verdict; of one matrix its loads, of several how each fares."""
    rows = []
    first = ("verdict", verdict(result, began))
    if result["objective"]["kind"] == "hose":
        parts = [results.with_hottest(render.pairs([first, *hose.rows(result)]), result)]
    elif result["phases"] is None and result["scenarios"] is None:
        rows = [first, *results.loads_rows(result)]
        if result["levels"]:
            rows.append(("between switches", levels_text(result["levels"])))
        if result["links_at_max_bound"] is not None:
            least = result["links_at_max_bound"]
            met = result["levels"] and least == result["levels"][0]["links"]
            told = f"{results.links(least)} must carry that"
            rows.append(("", f"{told}: no such tables have fewer" if met else f"at least {told}"))
        parts = [results.with_hottest(render.pairs(rows), result)]
        rows = []
    else:
        parts = [matrices.text(result, first)]
        if result["stopped"] is not None:
            stopped = results.stopped_text(result["stopped"], proven=result["proven_optimal"])
            rows.append(("stopped", stopped))
    if result["compare"] is not None:
        parts.append(tables.compared(result["compare"]))
    if result["front"] is not None:
        parts.append(tables.front(result["front"]))
    if result["judge"] is not None:
        parts.append(tables.judged(result["judge"]))
    if result["avoided"]:
        rows.append(("avoids", f"{_named(result['avoided'])}: loads and bounds are of the fabric without"))
    before = result["background"]
    if before is not None:
        if result["phases"] is None and result["scenarios"] is None:
            gap = before["ar_gap_percent"]
            told = "" if gap is None else f", AR gap {results.gap(gap)}"
            if before["lost_pairs"]:
                told += f", without {render.count(before['lost_pairs'])} pairs that lose their packets"
            rows.append(("before", f"{render.size(before['max_load'])}{told} ({before['routes']})"))
        if before["led_around_max_load"] is not None:
            rows.append(("led around", f"{render.size(before['led_around_max_load'])}, nothing else changed"))
        if result["changed_entries"] is not None and not kept(result):
            rows.append(("changed", entries(result["changed_entries"])))
    if kept(result):
        rows.append(("changed", "nothing: the bound is met from the start (--depth N improves the tail)"))
    if result["lmc"] and result["pairs_off_base"] is not None:
        rows.append(addresses.row(result))
    if result["exact"] is not None:
        rows += tables.exact_rows(result["exact"], result["lower_bound"])
    if result["repaired_entries"]:
        told = f"{entries(result['repaired_entries'])} of today's routes before that"
        mended = before["repaired_max_load"] if before is not None else None
        if mended is not None and mended != before["max_load"]:
            told += f": {render.size(mended)} with them"
        rows.append(("repaired", told))
    if not result["reproducible"]:
        rows.append(("reproducible", why_not_reproducible(result["stopped"])))
    if result["lanes"] > 1:
        rows.append(("lanes", lanes_text(result)))
    written = [result[key] for key in ("output", "paths", "certificate") if result[key] is not None]
    if written:
        rows.append(("written", ", ".join(written)))
    if rows:
        parts.append(render.pairs(rows))
    # Notes are told as they come, on standard error.
    odd = [one for one in result["findings"] if one["severity"] != "note"]
    return "\n\n".join(parts) + render.findings(odd)


def _named(avoided: Sequence[Mapping[str, Any]]) -> str:
    """Switches by name, cables by an end."""
    return ", ".join(
        one["name"] if one["port"] is None else f"{one['name']}[{one['port']}]" for one in avoided
    )


def kept(result: Mapping[str, Any]) -> bool:
    """Whether nothing was changed because the routes to begin with meet the bound."""
    alone = result["judge"] is None and not result["changed_entries"]
    return alone and result["changed_because"] == "nothing" and result["proven_optimal"]


def levels_text(levels: Sequence[Mapping[str, Any]]) -> str:
    """`12.0 kB on 4 links, 11.0 kB on 9, …`, in as many digits as tell the loads apart."""
    sizes = render.sizes([level["load"] for level in levels])
    if len(set(sizes)) < len(sizes):
        links = sum(level["links"] for level in levels)
        return f"{render.size(levels[0]['load'])} on {results.links(links)}, the same but for rounding"
    first, *others = (f"{told} on" for told in sizes)
    counts = [level["links"] for level in levels]
    out = f"{first} {results.links(counts[0])}"
    return out + "".join(
        f", {told} {render.count(links)}" for told, links in zip(others, counts[1:], strict=True)
    )


def lanes_text(result: Mapping[str, Any]) -> str:
    """`4, written to r.sl2vl and sl.csv`, or what writes them."""
    files = [result[key] for key in ("sl2vl", "sl") if result[key] is not None]
    if files:
        return f"{result['lanes']}, written to {' and '.join(files)}"
    return f"{result['lanes']}: --write-sl2vl FILE and --write-sl FILE write them"


def entries(number: int) -> str:
    """`1 entry`, `2 entries`."""
    return f"{render.count(number)} {'entry' if number == 1 else 'entries'}"


def why_not_reproducible(stopped: str | None) -> str:
    """What to tell of a result that another run need not repeat."""
    return "no: it was interrupted" if stopped == "interrupted" else "no: use --work instead of a time limit"
