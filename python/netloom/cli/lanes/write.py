"""`netloom lanes write`: the virtual lanes of a scheme, as files for a real fabric."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import OUTPUT_PATH, Computing
from netloom.cli.shared.run import Run
from netloom.errors import ArgumentError
from netloom.files import check_folder
from netloom.lanes.files import check_routes, lane_files, packed
from netloom.session.sources import is_stdin


def write(
    fabric: str,
    routes: str,
    /,
    *,
    vl_scheme: str,
    qos: Annotated[Path | None, OUTPUT_PATH] = None,
    paths: Path | None = None,
    options: Computing | None = None,
) -> int:
    """Writes the virtual lanes of a scheme: SL-to-VL tables, and what gives pairs their service levels.

    No counters are needed, but routes: those with a credit loop are refused.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec (`quartz1`).
    routes
        The routes that are in force: a file, or an engine's name.
    vl_scheme
        How pairs are spread over virtual lanes: `5sl5vl:seed=1`, as in `netloom counters synth`.
    qos
        A folder for what gives pairs the service levels: OpenSM's options and QoS policy, settings of MPI
        libraries.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    options
        Common options; `-o` writes the SL-to-VL tables, in the form of OpenSM's dump (also .gz).
    """
    options = options or Computing()
    sl2vl = options.output
    if sl2vl is None and qos is None:
        raise UsageError("expected -o FILE for the SL-to-VL tables, --qos FOLDER, or both")
    try:
        check_routes(routes)
    except ArgumentError as error:
        raise UsageError(str(error)) from None
    run = Run("infer-lanes", options)
    if qos is not None:
        if is_stdin(str(qos)):
            raise UsageError("--qos -: expected a folder")
        check_folder(qos)
    net = run.fabric(fabric, warn=True)
    # All is made before anything is written.
    found = lane_files(run, net, routes, vl_scheme, qos=qos, paths=paths)
    result = found.result
    if qos is not None and sl2vl is None and not result["uniform"]:
        run.note(
            "the levels are worth nothing without the scheme's SL-to-VL tables: write these with "
            "-o, or take a scheme with :uniform, whose one table is in opensm.conf"
        )
    if sl2vl is not None:
        result["sl2vl"] = run.write(packed(found.sl2vl, str(sl2vl)))
    if qos is not None:
        result["files"] = [run.write_in(qos, name, data) for name, data in found.files.items()]
    return run.finish(result, lambda: _text(result, net.switches))


_RULES = {
    "pairs": "a random one for every pair of hosts",
    "groups": "one for every pair of groups of hosts",
    "sources": "one for every sender",
}


def _text(result: Mapping[str, Any], switches: int) -> str:
    tables = "one for all ports" if result["uniform"] else "random, one for every pair of ports"
    rows = [
        ("scheme", result["scheme"]),
        ("service levels", f"{result['levels']}, {_RULES[result['rule']]}"),
        ("lanes", str(result["lanes"])),
        ("tables", f"{tables} of {render.count(switches)} switches"),
        ("deadlock", "none: the routes have no credit loop on one lane"),
    ]
    if result["sl2vl"]:
        rows.append(("tables written", result["sl2vl"]))
    rows += [("written", name) for name in result["files"]]
    return render.pairs(rows)
