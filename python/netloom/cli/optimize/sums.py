"""A run of `netloom optimize --hose`: the worst over all traffic with some sums."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.cli.optimize import hose, product, report, search
from netloom.cli.optimize import today as in_force
from netloom.cli.optimize.addresses import Addresses, write_paths
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
) -> int:
    """`--hose`: the worst over all traffic with some sums."""
    from netloom import _core

    options = run.options
    sums = hose.read(run, traffic, net)
    begin, named, today = search.begin(run, net, background, little)
    limits: dict[str, Any] = {"background": begin}
    if today is not None:
        limits = {
            "today": begin,
            "penalty_per_change": little.penalty_per_change or 0.0,
            "max_changes": 0 if today.still else little.max_changes,
            "stays": today.given if today.safe else None,
        }
    run.sets_aside(search.seconds_to_finish(run, net))
    # Until it returns there is nothing to keep: what overruns the limit by far is ended.
    with run.timed("optimize"), run.progress("optimize") as progress:
        try:
            best = _core.optimize_hose(
                net,
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
        before = {"routes": named, **_before(run, net, begin, sums, today)}
        if today is not None and kept:
            assert best.searched is not None
            in_force.tell_kept(run, today, best.worst.max, best.searched)
        elif today is not None:
            in_force.tell_worse(run, before, best.worst.max, avoids=False)
    product.judged(run, net, routes)
    product.tell_lanes(run, best, best.worst.max)
    result: dict[str, Any] = {
        **hose.hose_result(net, best, named is not None, kept=kept),
        **report.portfolio(best),
        "repaired_entries": in_force.repaired(today, kept),
        "avoided": None,
        "background": before,
        "compare": None,
        "front": None,
        "exact": None,
        "judge": None,
        "changed_because": best.changed_because,
        **product.lanes(run, routes, write_sl2vl),
        "links_at_max_bound": None,
        "findings": product.told(run, net),
        "output": product.written(
            run,
            routes,
            net,
            today,
            allow_unreachable=allow_unreachable,
            lanes_written=write_sl2vl is not None,
        ),
        "certificate": None,
        **write_paths(run, routes, Addresses()),
    }
    began = named or search.auto_name(net)
    return run.finish(result, lambda: report.text(result, began), interrupted=best.stopped == "interrupted")


def _before(
    run: Run, fabric: Fabric, begin: Routes | str, sums: Hose, today: in_force.Today | None
) -> dict[str, Any]:
    """The keys of `background` but its name: worst loads of the routes that were named, as given."""
    from netloom import _core

    threads = run.options.threads
    keys = {"ar_gap_percent": None, "lost_pairs": 0, "repaired_max_load": None, "led_around_max_load": None}
    if today is None or not today.repaired_entries:
        worst = _core.hose_loads(fabric, begin, sums, threads=threads).max
        return {**keys, "max_load": worst, "value": worst}
    mended = _core.hose_loads(fabric, begin, sums, threads=threads).max
    try:
        worst = _core.hose_loads(fabric, today.read, sums, threads=threads).max
    except NetloomError:
        # Which packets are lost depends on who sends to whom: only what was mended can be measured.
        lost = _core.check(fabric, today.read, threads=threads).holes
        return {**keys, "max_load": mended, "value": mended, "lost_pairs": lost, "repaired_max_load": mended}
    return {**keys, "max_load": worst, "value": worst, "repaired_max_load": mended}
