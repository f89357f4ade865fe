"""`netloom optimize`: the best routes for a traffic, with a proof of how good they can be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from netloom.cli.optimize import compare as table
from netloom.cli.optimize import matrices, product, report, sums, uncertain, unfit
from netloom.cli.optimize import today as in_force
from netloom.cli.optimize.addresses import Addresses, write_paths
from netloom.cli.optimize.exact_model import ExactModel
from netloom.cli.optimize.goals import Goal, Little
from netloom.cli.optimize.judge import Judge
from netloom.cli.optimize.search import Search, auto_name
from netloom.cli.shared import doubt, inputs, options, outputs
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import named, refuse


def optimize(
    fabric: str,
    traffic: str,
    /,
    *,
    background: str | None = None,
    avoid: tuple[str, ...] = (),
    roots: str | None = None,
    groups: str | None = None,
    allow_unreachable: bool = False,
    write_sl2vl: Annotated[Path | None, options.OUTPUT_PATH] = None,
    write_certificate: Annotated[Path | None, options.OUTPUT_PATH] = None,
    compare: bool = False,
    goal: Goal | None = None,
    little: Little | None = None,
    several: Addresses | None = None,
    judge: Judge | None = None,
    model: ExactModel | None = None,
    options: Options | None = None,
) -> int:
    """Find the best routes for a traffic, with a proof.

    Anytime: Ctrl-C and `--time-limit` keep (and write) the best so far. The proof is a certificate that
    `netloom check --traffic --certificate` judges with code of its own.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder,
        .goal), a jobs file (.toml), or a pattern spec.
    background
        Routes for the entries that no traffic uses: an engine or a file. The result says how good they are
        for the traffic. [default: auto: `ftree` on a tree, `dla` on a dragonfly, else `updn`]
    avoid
        A switch (`spine03`) or a cable by an end (`leaf03[7]`), by name or GUID, that hosts' packets must
        avoid, for example before maintenance. May be given several times.
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
    allow_unreachable
        Write routes that lose pairs of hosts which cables join, instead of refusing them.
    write_sl2vl
        Write the SL-to-VL tables here, where the routes need lanes (those of `dla`; also .gz).
    write_certificate
        Write the proof of the lower bound here (.json); of several matrices, one each.
    compare
        Also make routes with AFAR, one colouring and every engine (with `--lmc` also with fewer addresses),
        and print all side by side: largest load, gaps in percent, links that carry it, seconds.
    goal
        What to minimise.
    little
        Today's routes, and how they may change.
    several
        Several addresses a host.
    judge
        A simulation as the judge.
    model
        An exact model beside it.
    options
        Common options; `-o` writes the routes for OpenSM's `file` engine.
    """
    options, goal, little = options or Options(), goal or Goal(), little or Little()
    several, judge, exact = several or Addresses(), judge or Judge(), model or ExactModel()
    outputs.check_routes(options)
    given = named(
        goal,
        little,
        several,
        judge,
        exact,
        background=background,
        avoid=avoid,
        roots=roots,
        write_certificate=write_certificate,
        compare=compare,
    )
    refuse(unfit.TABLE, given)
    if goal.error is not None:
        uncertain.part(goal.error)
    exact.check()
    goal = judge.goal(goal)
    run = Run("optimize", options, searches=True)
    if goal.hose:
        net = inputs.with_groups(run, run.fabric(fabric, warn=True), groups)
        net = inputs.with_roots(run, net, roots)
        if write_sl2vl is not None:
            run.also_writes(write_sl2vl, "--write-sl2vl")
        return sums.of_sums(
            run, net, traffic, background, goal, little, allow_unreachable, write_sl2vl, avoid
        )
    if write_certificate is not None:
        run.also_writes(write_certificate, "--write-certificate")
    if write_sl2vl is not None:
        run.also_writes(write_sl2vl, "--write-sl2vl")
    for path, option in ((several.write_paths, "--write-paths"), (exact.write_model, "--write-model")):
        if path is not None:
            run.also_writes(path, option)
    net = inputs.with_groups(run, run.fabric(fabric, warn=True), groups)
    net = inputs.with_roots(run, net, roots)
    lanes = write_sl2vl is not None or not run.has_product
    search = Search(run, net, traffic, background, goal, little, several.lmc, judge, avoid, lanes=lanes)
    if search.layers is not None:
        refuse(unfit.TABLE, given | {unfit.PHASES})
    search.sets_aside()
    started = time.perf_counter()
    run.keeps()
    with run.timed("optimize"):
        share = 0.5 if compare or little.front or exact.exact is not None else 1.0
        best = search.run(search.most, share=share)
    seconds = time.perf_counter() - started
    interrupted = best.stopped == "interrupted"
    rows = points = None
    if compare and not interrupted:
        with run.timed("compare"):
            rows, interrupted = table.compare(
                run,
                search.fabric,
                search.traffic,
                search.loads(best),
                best.routes,
                seconds,
                search.begin,
                several.lmc,
            )
    if little.front and not interrupted:
        with run.timed("front"):
            points, interrupted = search.front(best)
    loads, routes, solved = search.loads(best), best.routes, None
    today, kept = None, best.taken_from == "today"
    known_badly = None if search.layers is not None or several.lmc else doubt.told(traffic)
    if known_badly is not None and not known_badly.is_sure and exact.exact is None:
        today = doubt.kept(run, search.fabric, search.traffic, known_badly, search.in_force, loads)
        routes, loads = today or (routes, loads)
    if not interrupted:
        solved, routes, loads = exact.solved(run, search.fabric, search.traffic, routes, loads)
        interrupted = solved is not None and solved["status"] == "interrupted"
    kept = kept and routes is best.routes
    fewest, known = None, True
    if not interrupted and not kept:
        fewest, known, interrupted = search.links_at_max(routes, loads)
    run.finishing()
    why = "nothing" if today or kept else search.because(best, routes)
    changed = 0 if kept else search.changed(best, routes)
    left = None
    if search.avoided is not None:
        left = (search.fabric, routes)
        routes = search.avoided.whole(routes)
        changed = search.avoided.changed(routes)
    product.judged(run, search.whole, routes, left)
    before = search.before(best, loads)
    minimised, named_before = matrices.result(best, loads, goal, before), search.named_before(best, before)
    value = minimised["objective"]["value"]
    if search.today is not None and kept:
        assert best.searched is not None
        in_force.tell_kept(run, search.today, value, best.searched)
    elif search.today is not None and named_before is not None:
        in_force.tell_worse(run, named_before, value, avoids=bool(avoid))
    product.tell_lanes(run, best, value)
    result: dict[str, Any] = {
        **report.optimized_result(search.fabric, best, loads, search.traffic),
        **minimised,
        **report.portfolio(best),
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
        "findings": product.told(run, search.whole),
        **product.written(
            run,
            routes,
            search.whole,
            search.today,
            allow_unreachable=allow_unreachable,
            sl2vl=write_sl2vl,
        ),
        "certificate": None,
        **write_paths(run, routes, several),
    }
    if not known or (solved is not None and solved["status"] in ("time-limit", "interrupted")):
        result["reproducible"] = False
    if little.max_changes == 0:
        run.note("nothing may change (--max-changes 0): these are today's routes")
    elif (
        best.taken_from is None
        and best.stopped in _TOO_SMALL
        and len(result["history"]) <= 1
        and not best.proven_optimal
    ):
        run.note(f"{_TOO_SMALL[best.stopped]} for any improvement: these are the routes it began with")
    if write_certificate is not None:
        result["certificate"] = run.write(matrices.certificates(best), write_certificate)
    began = search.named or auto_name(search.fabric)
    return run.finish(
        result, lambda: report.text(result, began), rows=rows or points, interrupted=interrupted
    )


_TOO_SMALL = {
    "time-limit": "the time limit was too short",
    "work": "the work budget (--work) was too small",
}
