"""The worst over all traffic with some sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.errors import NetloomError
from netloom.optimizing import hose, product, results, search
from netloom.optimizing import today as in_force
from netloom.optimizing.avoid import Avoided
from netloom.optimizing.product import Answer, unwritten

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Routes, Traffic
    from netloom.optimizing.asked import Asked
    from netloom.session.session import Session


def of_sums(session: Session, net: Fabric, traffic: Hose | Traffic | str, asked: Asked) -> Answer:
    """Routes for all traffic with the sums of one."""
    from netloom import _core

    sums = hose.read(session, traffic, net)
    avoided = Avoided(session, net, asked.avoid) if asked.avoid else None
    # What is searched on: the whole, without what is avoided.
    fabric = net if avoided is None else avoided.left
    begin, named, today = search.begin(session, fabric, asked, avoided)
    limits: dict[str, Any] = {"background": begin}
    if today is not None:
        limits = {
            "today": begin,
            "penalty_per_change": asked.penalty_per_change or 0.0,
            "max_changes": 0 if today.still else asked.max_changes,
            "stays": today.given if today.safe else None,
        }
    session.sets_aside(search.seconds_to_finish(fabric, writes=asked.writes))
    # Until it returns there is nothing to keep: what overruns the limit by far is ended.
    with session.timed("optimize"), session.progress("optimize") as progress:
        try:
            best = _core.optimize_hose(
                fabric,
                sums,
                depth=asked.depth,
                seed=session.seed,
                threads=session.threads,
                work=session.work,
                time_limit=session.left,
                progress=progress,
                max_lanes=asked.max_lanes,
                **limits,
            )
        except TimeoutError:
            # How bad the routes to begin with can be was not known yet.
            raise session.too_late() from None
    session.finishing()
    before, routes, kept = None, best.routes, best.taken_from == "today"
    if named is not None:
        before = {"routes": named, **_before(session, (net, fabric), begin, sums, today, avoided)}
        if today is not None and kept:
            assert best.searched is not None
            in_force.tell_kept(session, today, best.worst.max, best.searched)
        elif today is not None:
            in_force.tell_worse(session, before, best.worst.max, avoids=avoided is not None)
    values = hose.hose_result(fabric, best, named is not None, kept=kept)
    left = None
    if avoided is not None:
        left, routes = (fabric, routes), avoided.whole(routes)
        values["changed_entries"] = avoided.changed(routes)
    product.judged(session, net, routes, left)
    product.tell_lanes(session, best, best.worst.max, asked)
    result: dict[str, Any] = {
        **values,
        **results.portfolio(best),
        "repaired_entries": in_force.repaired(today, kept),
        "avoided": None if avoided is None else avoided.result(),
        "background": before,
        "compare": None,
        "front": None,
        "exact": None,
        "judge": None,
        "changed_because": best.changed_because,
        "links_at_max_bound": None,
        "findings": product.told(session, net, writes=asked.writes),
        **unwritten(routes),
    }
    began = named or search.auto_name(fabric)
    return Answer(result, routes, net, today, None, began, best.stopped == "interrupted")


def _before(
    session: Session,
    fabrics: tuple[Fabric, Fabric],
    begin: Routes | str,
    sums: Hose,
    today: in_force.Today | None,
    avoided: Avoided | None,
) -> dict[str, Any]:
    """The keys of `background` but its name: worst loads of the routes that were named, as given.

    They stand on the first fabric, the whole; what the search began with on the second, what is left of it.
    """
    from netloom import _core

    threads, (whole, left) = session.threads, fabrics
    keys: dict[str, Any] = {"ar_gap_percent": None, "lost_pairs": 0}
    keys |= {"repaired_max_load": None, "led_around_max_load": None}
    mended = _core.hose_loads(left, begin, sums, threads=threads).max
    if today is None or (avoided is None and not today.repaired_entries):
        return {**keys, "max_load": mended, "value": mended}
    keys["repaired_max_load" if avoided is None else "led_around_max_load"] = mended
    if avoided is not None and avoided.today is not None:
        today = avoided.today
    try:
        worst = _core.hose_loads(whole, today.read, sums, threads=threads).max
    except NetloomError:
        # Which packets are lost depends on who sends to whom: only what was mended can be measured.
        lost = _core.check(whole, today.read, threads=threads).holes
        return {**keys, "max_load": mended, "value": mended, "lost_pairs": lost}
    return {**keys, "max_load": worst, "value": worst}
