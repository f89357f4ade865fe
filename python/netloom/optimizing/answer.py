"""An optimisation from its input to its result: searched, compared, judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.errors import ArgumentError
from netloom.optimizing import compare as table
from netloom.optimizing import exact_model, matrices, product, results, told_error
from netloom.optimizing import today as in_force
from netloom.optimizing.asked import Asked
from netloom.optimizing.product import Answer, unwritten
from netloom.optimizing.search import Search, auto_name
from netloom.optimizing.sums import of_sums

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Traffic
    from netloom.session.session import Session


def answer(
    session: Session,
    net: Fabric,
    traffic: Hose | Traffic | str,
    asked: Asked,
    phases: Callable[[], None] = lambda: None,
) -> Answer:
    """The best routes for a traffic.

    Parameters
    ----------
    session : Session
        Seed, threads, limits, and whom it tells.
    net, traffic
        The input.
    asked : Asked
        All else.
    phases : callable
        Is called where the traffic has phases that count by themselves: refuses what does not fit to that.
    """
    from netloom import _core

    if asked.hose:
        return of_sums(session, net, traffic, asked)
    if isinstance(traffic, _core.Hose):
        raise ArgumentError("traffic: only sums are known: expected hose=True")
    if asked.judge is not None:
        # What is reported beside times: the largest load of all phases added up.
        asked = replace(asked, objective="total")
    search = Search(session, net, traffic, asked)
    if search.layers is not None:
        phases()
    search.sets_aside()
    started = time.perf_counter()
    session.keeps()
    with session.timed("optimize"):
        share = 0.5 if asked.compare or asked.front or asked.exact is not None else 1.0
        best = search.run(search.most, share=share)
    seconds = time.perf_counter() - started
    interrupted = best.stopped == "interrupted"
    rows = points = None
    if asked.compare and not interrupted:
        with session.timed("compare"):
            rows, interrupted = table.compare(
                session,
                search.fabric,
                search.traffic,
                search.loads(best),
                best.routes,
                seconds,
                search.begin,
                asked.lmc,
            )
    if asked.front and not interrupted:
        with session.timed("front"):
            points, interrupted = search.front(best)
    loads, routes, solved = search.loads(best), best.routes, None
    today, kept = None, best.taken_from == "today"
    known_badly = None if search.layers is not None or asked.lmc else known_of(traffic)
    if known_badly is not None and not known_badly.is_sure and asked.exact is None:
        today = told_error.kept(session, search.fabric, search.traffic, known_badly, search.in_force, loads)
        routes, loads = today or (routes, loads)
    if not interrupted:
        if asked.exact is not None:
            solved, routes, loads = exact_model.solved(
                session,
                asked.exact,
                asked.threshold,
                asked.write_model,
                search.fabric,
                search.traffic,
                routes,
                loads,
            )
        interrupted = solved is not None and solved["status"] == "interrupted"
    kept = kept and routes is best.routes
    fewest, known = None, True
    if not interrupted and not kept:
        fewest, known, interrupted = search.links_at_max(routes, loads)
    session.finishing()
    why = "nothing" if today or kept else search.because(best, routes)
    changed = 0 if kept else search.changed(best, routes)
    left = None
    if search.avoided is not None:
        left = (search.fabric, routes)
        routes = search.avoided.whole(routes)
        changed = search.avoided.changed(routes)
    product.judged(session, search.whole, routes, left)
    before = search.before(best, loads)
    minimised, named_before = matrices.result(best, loads, asked, before), search.named_before(best, before)
    value = minimised["objective"]["value"]
    if search.today is not None and kept:
        assert best.searched is not None
        in_force.tell_kept(session, search.today, value, best.searched)
    elif search.today is not None and named_before is not None:
        in_force.tell_worse(session, named_before, value, avoids=bool(asked.avoid))
    product.tell_lanes(session, best, value, asked)
    result: dict[str, Any] = {
        **results.optimized_result(search.fabric, best, loads, search.traffic),
        **minimised,
        **results.portfolio(best),
        "changed_entries": changed,
        "repaired_entries": in_force.repaired(search.today, kept),
        "avoided": None if search.avoided is None else search.avoided.result(),
        "background": named_before,
        "compare": rows,
        "front": points,
        "exact": solved,
        "judge": search.judged,
        "changed_because": why,
        "links_at_max_bound": fewest,
        "findings": product.told(session, search.whole, writes=asked.writes),
        **unwritten(routes, asked.lmc),
    }
    if not known or (solved is not None and solved["status"] in ("time-limit", "interrupted")):
        result["reproducible"] = False
    if asked.max_changes == 0:
        session.note("nothing may change (--max-changes 0): these are today's routes")
    elif (
        best.taken_from is None
        and best.stopped in _TOO_SMALL
        and len(result["history"]) <= 1
        and not best.proven_optimal
    ):
        session.note(f"{_TOO_SMALL[best.stopped]} for any improvement: these are the routes it began with")
    began = search.named or auto_name(search.fabric)
    return Answer(result, routes, search.whole, search.today, best, began, interrupted)


def known_of(traffic: Traffic | str) -> told_error.Told | None:
    """What a file of traffic says of itself."""
    return told_error.told(traffic) if isinstance(traffic, str) else None


_TOO_SMALL = {
    "time-limit": "the time limit was too short",
    "work": "the work budget (--work) was too small",
}
