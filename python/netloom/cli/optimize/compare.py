"""`netloom optimize --compare`: every way to make routes on today's input, side by side.

Table 3.3 of the dissertation, for the fabric and the traffic at hand: the optimiser, AFAR, offline
coloured routing, and the engines.
All are judged by the same bounds, so far as these are of such routes: s-mod-k, which no forwarding table can
hold, by the AR bound alone, and what takes other ways by bounds of any routes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render, results
from netloom.cli.shared.run import Run
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, Routes, Traffic

METHODS = ("afar", "coloured", "ftree", "d-mod-k", "s-mod-k", "minhop", "updn", "random")
"""What is compared with the optimiser, in the table's order."""
_FEWER = "netloom-lmc-"


def compare(
    run: Run,
    fabric: Fabric,
    traffic: Traffic,
    best: LinkLoads,
    seconds: float,
    begin: Routes | str,
    lmc: int,
) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows, the optimiser's first, and whether Ctrl-C ended them early.

    Parameters
    ----------
    run : Run
        Its seed, threads and time limit hold for every method.
    fabric, traffic
        The input.
    best : LinkLoads
        Of the optimised routes: its bounds judge all.
    seconds : float
        What the optimiser took.
    begin : Routes or str
        Where AFAR begins.
    lmc : int
        Of the optimised routes. With fewer addresses a host the optimiser is asked once more.
    """
    rows = [_row("netloom", best, seconds)]
    dragonfly = ("dla",) if fabric.shape["kind"] == "dragonfly" else ()
    for name in (*(f"{_FEWER}{k}" for k in range(lmc)), *dragonfly, *METHODS):
        started = time.perf_counter()
        try:
            found, took, note = _loads(run, name, fabric, traffic, best, begin, started)
        except KeyboardInterrupt:
            return rows, True
        rows.append(_row(name, found, took, note))
        if note == "interrupted":
            return rows, True
    return rows, False


def _loads(
    run: Run,
    name: str,
    fabric: Fabric,
    traffic: Traffic,
    best: LinkLoads,
    begin: Routes | str,
    started: float,
) -> tuple[LinkLoads | None, float, str | None]:
    """Loads of a method's routes, its seconds, and what is to be said of it."""
    from netloom import _core
    from netloom.errors import NetloomError

    options = run.options
    made: Optimized | None = None
    try:
        if run.left == 0:
            return None, 0.0, "time-limit"
        if name == "afar":
            with run.progress(name) as progress:
                made = _core.afar(
                    fabric,
                    traffic,
                    begin,
                    bounds=best,
                    threads=options.threads,
                    time_limit=run.left,
                    progress=progress,
                )
        elif name.startswith(_FEWER):
            with run.progress(name) as progress:
                made = _core.optimize_lmc(
                    fabric,
                    traffic,
                    int(name.removeprefix(_FEWER)),
                    background=begin,
                    seed=run.seed,
                    threads=options.threads,
                    work=options.work,
                    time_limit=run.left,
                    progress=progress,
                )
        elif name == "coloured":
            made = run.unless_late(
                lambda: _core.coloured(
                    fabric, traffic, background=begin, seed=run.seed, bounds=best, threads=options.threads
                )
            )
        if made is not None:
            return made.loads, time.perf_counter() - started, made.stopped
        routes = run.unless_late(lambda: _core.route(name, fabric, seed=run.seed, threads=options.threads))
        took = time.perf_counter() - started
        loads = run.unless_late(
            lambda: _core.loads(fabric, routes, traffic, bounds=best, threads=options.threads)
        )
        return loads, took, None
    except TimeoutError:
        return None, time.perf_counter() - started, "time-limit"
    except NetloomError as error:
        return None, time.perf_counter() - started, str(error)


def _row(name: str, loads: LinkLoads | None, seconds: float, note: str | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "max_load": None if loads is None else loads.max,
        "ar_gap_percent": None if loads is None else loads.ar_gap_percent,
        "lower_bound_gap_percent": None if loads is None else loads.lower_bound_gap_percent,
        "bound_class": None if loads is None else loads.bound_class,
        "outside_because": None if loads is None else loads.outside_because,
        "links_at_max": None if loads is None else loads.links_at_max,
        "seconds": round(seconds, 6),
        "note": note,
    }


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table, and below it why a row is empty or cut short."""
    header = ["routes", legend.LOAD, "AR gap", "gap to bound", "links at max", "seconds"]
    lines = []
    for row in rows:
        seconds = f"{row['seconds']:.2f}"
        if row["max_load"] is None:
            lines.append([legend.name(row["name"]), "none", "", "", "", seconds])
            continue
        gaps = [results.gap(row[key]) for key in ("ar_gap_percent", "lower_bound_gap_percent")]
        at_max = render.count(row["links_at_max"])
        lines.append([legend.name(row["name"]), render.size(row["max_load"]), *gaps, at_max, seconds])
    notes = [f"\n{legend.name(row['name'])}: {row['note']}" for row in rows if row["note"] is not None]
    for because in dict.fromkeys(row["outside_because"]["text"] for row in rows if row["outside_because"]):
        names = ", ".join(
            legend.name(row["name"])
            for row in rows
            if row["outside_because"] and row["outside_because"]["text"] == because
        )
        notes.append(f"\nno gap for {names}: {because}")
    return render.table(header, lines, right=range(1, 6)) + "".join(notes)
