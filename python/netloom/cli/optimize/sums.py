"""A run of `netloom optimize --hose`: the worst over all traffic with some sums."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.cli.optimize import hose, product, report, search
from netloom.cli.optimize import today as in_force
from netloom.cli.optimize.addresses import Addresses, write_paths
from netloom.cli.optimize.avoid import Avoided
from netloom.cli.optimize.goals import Goal, Little
from netloom.cli.shared.guard import TooLate
from netloom.errors import NetloomError

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Routes
    from netloom.cli.shared.run import Run


def of_sums(
    run: Run,
    net: Fabric,
    traffic: str,
    background: str | None,
    goal: Goal,
    little: Little,
    allow_unreachable: bool,
    write_sl2vl: Path | None,
    avoid: Sequence[str] = (),
) -> int:
    """`--hose`: the worst over all traffic with some sums."""
    from netloom import _core

    options = run.options
    sums = hose.read(run, traffic, net)
    avoided = Avoided(run, net, avoid) if avoid else None
    # What is searched on: the whole, without what is avoided.
    fabric = net if avoided is None else avoided.left
    begin, named, today = search.begin(run, fabric, background, little, avoided)
    limits: dict[str, Any] = {"background": begin}
    if today is not None:
        limits = {
            "today": begin,
            "penalty_per_change": little.penalty_per_change or 0.0,
            "max_changes": 0 if today.still else little.max_changes,
            "stays": today.given if today.safe else None,
        }
    run.sets_aside(search.seconds_to_finish(run, fabric))
    # Until it returns there is nothing to keep: what overruns the limit by far is ended.
    with run.timed("optimize"), run.progress("optimize") as progress:
        try:
            best = _core.optimize_hose(
                fabric,
                sums,
                depth=goal.depth,
                seed=run.seed,
                threads=options.threads,
                work=options.work,
                time_limit=run.left,
                progress=progress,
                lanes=write_sl2vl is not None or not run.has_product,
                **limits,
            )
        except TimeoutError:
            # How bad the routes to begin with can be was not known yet.
            raise TooLate(options.time_limit or 0.0) from None
    run.finishing()
    before, routes, kept = None, best.routes, best.taken_from == "today"
    if named is not None:
        before = {"routes": named, **_before(run, (net, fabric), begin, sums, today, avoided)}
        if today is not None and kept:
            assert best.searched is not None
            in_force.tell_kept(run, today, best.worst.max, best.searched)
        elif today is not None:
            in_force.tell_worse(run, before, best.worst.max, avoids=avoided is not None)
    values = hose.hose_result(fabric, best, named is not None, kept=kept)
    left = None
    if avoided is not None:
        left, routes = (fabric, routes), avoided.whole(routes)
        values["changed_entries"] = avoided.changed(routes)
    product.judged(run, net, routes, left)
    product.tell_lanes(run, best, best.worst.max)
    result: dict[str, Any] = {
        **values,
        **report.portfolio(best),
        "repaired_entries": in_force.repaired(today, kept),
        "avoided": None if avoided is None else avoided.result(),
        "background": before,
        "compare": None,
        "front": None,
        "exact": None,
        "judge": None,
        "changed_because": best.changed_because,
        "links_at_max_bound": None,
        "findings": product.told(run, net),
        **product.written(run, routes, net, today, allow_unreachable=allow_unreachable, sl2vl=write_sl2vl),
        "certificate": None,
        **write_paths(run, routes, Addresses()),
    }
    began = named or search.auto_name(fabric)
    return run.finish(result, lambda: report.text(result, began), interrupted=best.stopped == "interrupted")


def _before(
    run: Run,
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

    threads, (whole, left) = run.options.threads, fabrics
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
