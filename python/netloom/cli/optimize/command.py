"""`netloom optimize`: the best routes for a traffic, with a proof of how good they can be."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from netloom import critical
from netloom.cli.optimize import report
from netloom.cli.optimize.addresses import Addresses, write_paths
from netloom.cli.optimize.exact_model import ExactModel
from netloom.cli.optimize.goals import Goal, Judge, RoutesInForce, percent
from netloom.cli.shared import inputs, options, outputs
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.lanes import write_levels, write_rows
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import named, refuse
from netloom.optimizing import matrices, unfit
from netloom.optimizing.answer import answer
from netloom.optimizing.asked import Asked
from netloom.optimizing.product import Answer


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
    write_sl: Annotated[Path | None, options.OUTPUT_PATH] = None,
    max_lanes: Annotated[int | None, options.within(1, 15)] = None,
    write_certificate: Annotated[Path | None, options.OUTPUT_PATH] = None,
    compare: bool = False,
    goal: Goal | None = None,
    little: RoutesInForce | None = None,
    several: Addresses | None = None,
    judge: Judge | None = None,
    model: ExactModel | None = None,
    options: Searching | None = None,
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
        for the traffic. [default: auto: `ftree` on a tree, `dla` on a dragonfly, `dor` on a
        HyperX, torus or mesh, else `updn`]
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
        Write the SL-to-VL tables here, where the routes need lanes (also .gz). With
        `--write-sl`, shortest ways are searched where a fabric is no tree, which need both.
    write_sl
        With `--write-sl2vl`: write the service level of every pair of hosts here, where these lanes need it
        (CSV `source_lid,destination_lid,sl`; also .gz).
    max_lanes
        Virtual lanes that routes may need at most, as many as the ports have for data. [default: 8]
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
    options, goal, little = options or Searching(), goal or Goal(), little or RoutesInForce()
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
    error = None if goal.error is None else percent(goal.error)
    exact.check()
    if write_sl is not None and write_sl2vl is None:
        raise UsageError("--write-sl: expected --write-sl2vl too, the lanes of the levels")
    tables_alone = options.output is not None and write_sl2vl is None
    if max_lanes is not None and max_lanes > 1 and tables_alone:
        raise UsageError(f"--max-lanes {max_lanes}: expected --write-sl2vl too, as -o writes tables alone")
    run = Run("optimize", options)
    second = (
        (write_certificate, "--write-certificate"),
        (write_sl2vl, "--write-sl2vl"),
        (write_sl, "--write-sl"),
        (several.write_paths, "--write-paths"),
        (exact.write_model, "--write-model"),
    )
    for path, option in second:
        if path is not None:
            run.also_writes(path, option)
    net = inputs.with_groups(run, run.fabric(fabric, warn=True), groups)
    net = inputs.with_roots(run, net, roots)
    asked = Asked(
        background=background,
        avoid=avoid,
        compare=compare,
        **asdict(goal) | {"error": error},
        **asdict(little),
        **asdict(judge),
        **asdict(exact),
        lmc=several.lmc,
        writes=run.has_product,
        max_lanes=1 if tables_alone else max_lanes or Asked.max_lanes,
        tables_alone=tables_alone and max_lanes is None,
        levels=write_sl is not None or not run.has_product,
    )
    found = answer(run, net, traffic, asked, lambda: refuse(unfit.TABLE, given | {unfit.PHASES}))
    result = found.result
    result |= _written(run, found, allow_unreachable=allow_unreachable, sl2vl=write_sl2vl, sl=write_sl)
    result["paths"] = write_paths(run, found.routes, several)
    if write_certificate is not None and found.best is not None:
        result["certificate"] = run.write(matrices.certificates(found.best), write_certificate)
    return run.finish(
        result,
        lambda: report.text(result, found.began),
        rows=result["compare"] or result["front"],
        interrupted=found.interrupted,
    )


def _written(
    run: Run, found: Answer, *, allow_unreachable: bool, sl2vl: Path | None, sl: Path | None
) -> dict[str, Any]:
    """Writes routes where `-o` says, with today's entries of LIDs that no port of the fabric has.

    The SL-to-VL tables that they need come first: tables that lie there without them could deadlock.

    Returns
    -------
    dict
        The result's keys `output`, `sl2vl` and `sl`.

    Raises
    ------
    RoutingError
        If they can deadlock (so where they need lanes and nobody writes these), or lose pairs of hosts that
        cables join and that is not allowed.
    """
    routes, keys = found.routes, dict[str, Any](output=None, sl2vl=None, sl=None)
    lanes, levels = sl2vl is not None, sl is not None
    if run.has_product:
        routes.check_file(allow_unreachable=allow_unreachable, lanes=lanes, levels=levels)
    if routes.lanes is None and sl2vl is not None:
        run.note("--write-sl2vl: these routes need no lanes, nothing is written there")
    with contextlib.nullcontext() if routes.lanes is None else critical.files():
        if routes.lanes is not None:
            keys["sl2vl"] = write_rows(run, routes.lanes, sl2vl)
            keys["sl"] = write_levels(run, routes.lanes, sl)
        if run.has_product and found.today is not None:
            keys["output"] = run.write(found.today.with_foreign_entries(routes.to_bytes(), found.fabric))
        elif run.has_product:
            keys["output"] = run.write(routes, holes=allow_unreachable, lanes=lanes, levels=levels)
    return keys
