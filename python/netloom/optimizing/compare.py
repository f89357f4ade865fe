"""Every way to make routes on today's input, side by side.

Table 3.3 of the dissertation, for the fabric and the traffic at hand: the optimiser, AFAR, offline
coloured routing, and the engines.
All are judged by the same bounds, so far as these are of such routes: s-mod-k, which no forwarding table can
hold, by the AR bound alone, and what takes other ways by bounds of any routes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, Routes, Traffic

METHODS = ("afar", "coloured", "ftree", "d-mod-k", "s-mod-k", "minhop", "updn", "random")
"""What is compared with the optimiser, in the table's order."""
_FEWER = "netloom-lmc-"


def compare(
    session: Session,
    fabric: Fabric,
    traffic: Traffic,
    best: LinkLoads,
    routes: Routes,
    seconds: float,
    begin: Routes | str,
    lmc: int,
) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows, the optimiser's first, and whether Ctrl-C ended them early.

    Parameters
    ----------
    session : Session
        Its seed, threads and time limit hold for every method.
    fabric, traffic
        The input.
    best : LinkLoads
        Of the optimised routes: its bounds judge all.
    routes : Routes
        These routes.
    seconds : float
        What the optimiser took.
    begin : Routes or str
        Where AFAR begins.
    lmc : int
        Of the optimised routes. With fewer addresses a host the optimiser is asked once more.
    """
    rows = [_row("netloom", best, seconds, loops=_loops(session, fabric, routes))]
    kind = fabric.shape["kind"]
    own: tuple[str, ...] = (
        ("dla",) if kind == "dragonfly" else ("dor",) if "dimensions" in fabric.shape else ()
    )
    if fabric.has_other_shortest:
        own = (*own, "layers")
    for name in (*(f"{_FEWER}{k}" for k in range(lmc)), *own, *METHODS):
        started = time.perf_counter()
        try:
            found, made, took, note = _loads(session, name, fabric, traffic, best, begin, started)
            loops = None if made is None else _loops(session, fabric, made)
        except KeyboardInterrupt:
            return rows, True
        rows.append(_row(name, found, took, note, loops))
        if note == "interrupted":
            return rows, True
    return rows, False


def _loads(
    session: Session,
    name: str,
    fabric: Fabric,
    traffic: Traffic,
    best: LinkLoads,
    begin: Routes | str,
    started: float,
) -> tuple[LinkLoads | None, Routes | None, float, str | None]:
    """Loads of a method's routes, these, its seconds, and what is to be said of it."""
    from netloom import _core
    from netloom.errors import NetloomError

    made: Optimized | None = None
    try:
        if session.left == 0:
            return None, None, 0.0, "time-limit"
        if name == "afar":
            with session.progress(name) as progress:
                made = _core.afar(
                    fabric,
                    traffic,
                    begin,
                    bounds=best,
                    threads=session.threads,
                    time_limit=session.left,
                    progress=progress,
                )
        elif name.startswith(_FEWER):
            with session.progress(name) as progress:
                made = _core.optimize_lmc(
                    fabric,
                    traffic,
                    int(name.removeprefix(_FEWER)),
                    background=begin,
                    seed=session.seed,
                    threads=session.threads,
                    work=session.work,
                    time_limit=session.left,
                    progress=progress,
                )
        elif name == "coloured":
            made = session.unless_late(
                lambda: _core.coloured(
                    fabric, traffic, background=begin, seed=session.seed, bounds=best, threads=session.threads
                )
            )
        if made is not None:
            return made.loads, made.routes, time.perf_counter() - started, made.stopped
        routes = session.unless_late(
            lambda: _core.route(name, fabric, seed=session.seed, threads=session.threads)
        )
        took = time.perf_counter() - started
        loads = session.unless_late(
            lambda: _core.loads(fabric, routes, traffic, bounds=best, threads=session.threads)
        )
        return loads, routes, took, None
    except TimeoutError:
        return None, None, time.perf_counter() - started, "time-limit"
    except NetloomError as error:
        return None, None, time.perf_counter() - started, str(error)


def _loops(session: Session, fabric: Fabric, routes: Routes) -> tuple[int, int] | None:
    """On how many lanes routes travel, and how many circles of waits there are; None if it is too late."""
    from netloom import _core

    if session.left == 0:
        return None
    try:
        report = session.unless_late(lambda: _core.check(fabric, routes, threads=session.threads))
    except TimeoutError:
        return None
    return 1 if routes.lanes is None else routes.lanes.lanes, report.credit_loops


def _row(
    name: str,
    loads: LinkLoads | None,
    seconds: float,
    note: str | None = None,
    loops: tuple[int, int] | None = None,
) -> dict[str, Any]:
    lanes, circles = (None, None) if loops is None else loops
    return {
        "name": name,
        "lanes": lanes,
        "loop_free": None if circles is None else circles == 0,
        "max_load": None if loads is None else loads.max,
        "ar_gap_percent": None if loads is None else loads.ar_gap_percent,
        "lower_bound_gap_percent": None if loads is None else loads.lower_bound_gap_percent,
        "bound_class": None if loads is None else loads.bound_class,
        "outside_because": None if loads is None else loads.outside_because,
        "links_at_max": None if loads is None else loads.links_at_max,
        "seconds": round(seconds, 6),
        "note": note,
    }
