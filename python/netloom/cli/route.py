"""`netloom route`: make routes with an engine."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom import critical
from netloom.cli.shared import inputs, options, outputs, render, results
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.lanes import write_levels, write_rows
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.findings import Finding, findings, without_entries
from netloom.session.sources import OPTIMISERS, raise_not_an_engine

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes

_WITH_LANES = ("dla", "dor", "layers")
"""Engines whose routes need lanes on some fabrics."""
_WITH_LEVELS = ("dor", "layers")
"""Those whose pairs of hosts have levels of their own on some of these."""


def route(
    engine: str,
    fabric: str,
    traffic: str | None = None,
    /,
    *,
    lmc: Annotated[int, options.within(0, 7)] = 0,
    roots: str | None = None,
    groups: str | None = None,
    allow_unreachable: bool = False,
    write_sl2vl: Annotated[Path | None, options.OUTPUT_PATH] = None,
    write_sl: Annotated[Path | None, options.OUTPUT_PATH] = None,
    options: Searching | None = None,
) -> int:
    """Make routes with an engine.

    With traffic the result is the load of every link, as `netloom loads` prints it.

    Parameters
    ----------
    engine
        `minhop`, `updn`, `ftree`, `d-mod-k`, `s-mod-k`, `random`; `dla` for dragonflies, `dor` for a HyperX,
        a torus or a mesh, `layers` for any graph; or, with traffic, `afar` or `coloured`.
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts, a jobs file, or a pattern spec.
    lmc
        LID mask control: 2^lmc addresses a host (not with `afar` and `coloured`).
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
        [default: found from the cables]
    allow_unreachable
        Write routes that lose pairs of hosts which cables join, instead of refusing them.
    write_sl2vl
        Write the SL-to-VL tables that the routes need, in the form of `opensm-sl2vl.dump` (`dla`, `dor` and
        `layers`; also .gz). Without it routes that need lanes are not written.
    write_sl
        Write the service level of every pair of hosts that these lanes need, as CSV
        `source_lid,destination_lid,sl` (`dor` on a torus, `layers`; also .gz). Without it such routes are
        not written.
    options
        Common options; `-o` writes the routes for OpenSM's `file` engine.
    """
    from netloom import _core

    options = options or Searching()
    outputs.check_routes(options)
    run = Run("route", options)
    if options.work is not None and traffic is None:
        run.note("--work: not used, nothing is searched for here")
    known = _core.is_engine(engine) or engine in OPTIMISERS
    if not known:
        raise_not_an_engine(engine)
    if engine in OPTIMISERS and traffic is None:
        raise UsageError(f"{engine} makes routes for a traffic: netloom route {engine} FABRIC TRAFFIC")
    if engine in OPTIMISERS and lmc:
        raise UsageError(f"{engine} makes tables with one address a host (LMC 0), found --lmc {lmc}")
    if roots is not None and known and engine.lower() in ("minhop", "ftree", *_WITH_LANES):
        raise UsageError(f"--roots orders up*/down* ways, which {engine} does not take; expected updn")
    if write_sl2vl is not None:
        if engine.lower() not in _WITH_LANES:
            expected = f"{', '.join(_WITH_LANES[:-1])} or {_WITH_LANES[-1]}"
            raise UsageError(
                f"--write-sl2vl: routes of {engine} need no lanes; expected the engine {expected}"
            )
        run.also_writes(write_sl2vl, "--write-sl2vl")
    if write_sl is not None:
        if engine.lower() not in _WITH_LEVELS:
            expected = " or ".join(_WITH_LEVELS)
            raise UsageError(
                f"--write-sl: routes of {engine} need no levels of pairs; expected the engine {expected}"
            )
        if write_sl2vl is None:
            raise UsageError("--write-sl: expected --write-sl2vl too, the lanes of the levels")
        run.also_writes(write_sl, "--write-sl")
    net = inputs.with_roots(run, inputs.with_groups(run, run.fabric(fabric, warn=True), groups), roots)
    told = run.note_fallbacks([engine], net)
    if write_sl is not None and lmc > net.lmc:
        raise UsageError(f"--write-sl: levels are by the fabric's LIDs, of LMC {net.lmc}; found --lmc {lmc}")
    demand = None if traffic is None else run.traffic(traffic, net)
    result: dict[str, Any] = {"engine": engine}
    with_lanes, with_levels = write_sl2vl is not None, write_sl is not None
    interrupted = False
    if engine in OPTIMISERS:
        assert demand is not None
        with run.timed("route"):
            made = run.made_for(engine, net, demand)
        run.finishing()
        tables, found = made.routes, made.loads
        interrupted = made.stopped == "interrupted"
        result |= {**results.loads_result(net, found, demand), "stopped": made.stopped, "status": made.status}
    else:
        with run.timed("route"):
            tables = _core.route(engine, net, seed=run.seed, lmc=lmc, threads=options.threads)
        # Before the loads: what cannot be a file (s-mod-k) is said at once.
        if run.has_product:
            tables.check_file(allow_unreachable=allow_unreachable, lanes=with_lanes, levels=with_levels)
        if demand is not None:
            with run.timed("loads"):
                found = run.loads(net, tables, demand)
            interrupted = found.stopped == "interrupted"
            result |= results.loads_result(net, found, demand)
    lanes = tables.lanes
    result["lanes"] = 1 if lanes is None else lanes.lanes
    unwritten = [str(path) for path in (write_sl2vl, write_sl) if lanes is None and path is not None]
    if unwritten:
        run.note(f"one lane is enough: {' and '.join(unwritten)} not written, and not needed")
    if lanes is not None and demand is not None:
        result["lane_loads"] = _core.lane_loads(net, tables, demand)
    result |= {"lmc": tables.lmc, "switches": net.switches, "hosts": net.hosts}
    result["findings"] = told + (without_entries(net.findings) if run.has_product else [])
    if allow_unreachable and run.has_product:
        result["findings"] += lost_pairs(run, net, tables)
    # First the lanes: tables that lie there without them could deadlock.
    with contextlib.nullcontext() if lanes is None else critical.files():
        result["sl2vl"] = None if lanes is None else write_rows(run, lanes, write_sl2vl)
        result["sl"] = None if lanes is None else write_levels(run, lanes, write_sl)
        result["output"] = None
        if run.has_product:
            result["output"] = run.write(
                tables, holes=allow_unreachable, lanes=with_lanes, levels=with_levels
            )
    return run.finish(result, lambda: text(result), interrupted=interrupted)


def lost_pairs(run: Run, fabric: Fabric, tables: Routes) -> list[Finding]:
    """The first pairs of hosts that cables join and routes lose, where these are written all the same."""
    from netloom import _core

    with run.timed("check"):
        report = _core.check(fabric, tables, threads=run.threads)
    if not report.holes:
        return []
    run.note(f"written, though {render.count(report.holes)} pairs of hosts have no way", kind="warning")
    return [one for one in findings(report.findings) if one["kind"] == "unreachable"]


def text(result: dict[str, Any]) -> str:
    """The report of routes."""
    count = render.count
    rows = [("engine", result["engine"])]
    rows.append(
        (
            "tables",
            f"{count(result['switches'])} switches, {count(result['hosts'])} hosts, LMC {result['lmc']}",
        )
    )
    if result["output"]:
        rows.append(("written", result["output"]))
    elif "max_load" not in result:
        rows.append(("written", "nothing: -o FILE writes the tables"))
    if result["lanes"] > 1:
        files = [path for path in (result["sl2vl"], result["sl"]) if path is not None]
        written = f", written to {' and '.join(files)}" if files else ""
        rows.append(("lanes", f"{result['lanes']}{written}"))
    out = render.pairs(rows)
    if "max_load" in result:
        out += f"\n\n{results.loads_text(result)}"
    return out + render.findings(result["findings"])
