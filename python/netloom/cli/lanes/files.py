"""`netloom lanes write`: the virtual lanes of a scheme, as files for a real fabric.

The tables are those that inference assumes under the same `--vl-scheme`. Lanes chosen hop by hop add no
deadlock: where lanes wait for each other in a circle, so do their links, and the links of routes without a
credit loop do not. So that is checked here, and refused.
"""

from __future__ import annotations

import errno
import gzip
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import inputs, render
from netloom.cli.shared.addresses import with_paths
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import OUTPUT_PATH, Options
from netloom.cli.shared.run import Run
from netloom.counting import windows
from netloom.errors import CountersError, RoutingError
from netloom.files import check_folder

if TYPE_CHECKING:
    from netloom._core import Fabric, LaneTables, Routes

_OPERATIONAL = (1, 2, 4, 8, 15)
"""How many data lanes a port can have; OpenSM's `max_op_vls` is the position in this list, from 1."""

_MTU_CREDITS = 64
"""64 credits of 64 bytes: a packet of 4 KiB a turn."""

_SETTINGS = (
    ("UCX_IB_SL", "UCX, and MPI libraries on it"),
    ("NCCL_IB_SL", "NCCL"),
    ("OMPI_MCA_btl_openib_ib_service_level", "Open MPI before 5, where it does not use UCX"),
    ("MV2_DEFAULT_SERVICE_LEVEL", "MVAPICH2"),
)
"""Settings that give all packets that a process sends one service level."""

_SCRIPT = "service-level.sh"
"""Where they are written to, where a sender's packets all have one."""


def write(
    fabric: str,
    routes: str,
    /,
    *,
    vl_scheme: str,
    qos: Annotated[Path | None, OUTPUT_PATH] = None,
    paths: Path | None = None,
    options: Options | None = None,
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
    from netloom import _core

    options = options or Options()
    sl2vl = options.output
    if sl2vl is None and qos is None:
        raise UsageError("expected -o FILE for the SL-to-VL tables, --qos FOLDER, or both")
    if routes in windows.schemes():
        raise UsageError(
            f"{routes}: packets of a pair take any way there, and so any lanes: expected tables or an engine"
        )
    run = Run("infer-lanes", options)
    if qos is not None:
        if inputs.is_stdin(str(qos)):
            raise UsageError("--qos -: expected a folder")
        check_folder(qos)
    net = run.fabric(fabric, warn=True)
    tables = with_paths(run, run.routes(routes, net, None), paths)
    with run.timed("tables"):
        lanes = _core.lane_tables(net, vl_scheme)
    with run.timed("check"):
        _no_credit_loop(net, tables, routes, run)
    origin = f"{run.origin()['netloom']} scheme={vl_scheme.strip()}"
    # All is made before anything is written.
    files = {} if qos is None else _files(net, lanes, f"{origin} hosts={net.hosts_hash}")
    if qos is not None:
        _check_stale(qos, files)
        if sl2vl is None and not lanes.uniform:
            run.note(
                "the levels are worth nothing without the scheme's SL-to-VL tables: write these with "
                "-o, or take a scheme with :uniform, whose one table is in opensm.conf"
            )
    written = None
    if sl2vl is not None:
        data = lanes.sl2vl(origin)
        packed = gzip.compress(data, mtime=0) if str(sl2vl).endswith(".gz") else data
        written = run.write(packed)
    result = {
        "scheme": vl_scheme.strip(),
        "rule": lanes.rule,
        "levels": lanes.levels,
        "lanes": lanes.lanes,
        "uniform": lanes.uniform,
        "sl2vl": written,
        "files": [] if qos is None else [run.write_in(qos, name, data) for name, data in files.items()],
    }
    return run.finish(result, lambda: _text(result, net))


def check_tables(run: Run, fabric: Fabric, file: Path, vl_scheme: str) -> None:
    """That the tables in force, as OpenSM dumps them, are those of the scheme.

    Raises
    ------
    CountersError
        Saying where they differ.
    """
    from netloom import _core

    data = run.read("sl2vl", str(file))
    with run.timed("read"):
        count, first = _core.lane_tables(fabric, vl_scheme).differences(data, label=str(file))
    if count:
        raise CountersError(
            f"{file}: {render.count(count)} rows are not those of {vl_scheme}, the first {first}: "
            "expected the tables that were in force, and their scheme"
        )


def _check_stale(folder: Path, files: Mapping[str, bytes]) -> None:
    """Settings of another scheme must not be taken for this one's."""
    if _SCRIPT not in files and (folder / _SCRIPT).exists():
        where = str(folder / _SCRIPT)
        raise FileExistsError(errno.EEXIST, "is of another scheme: expected a folder without it", where)


def _no_credit_loop(fabric: Fabric, tables: Routes, source: str, run: Run) -> None:
    from netloom import _core

    # The scheme's tables take the place of those that the routes have.
    report = _core.check(fabric, tables.with_lanes(None), threads=run.options.threads)
    if report.credit_loops:
        text = next(item["text"] for item in report.findings if item["kind"] == "credit-loop")
        raise RoutingError(
            f"{source}: packets can wait for each other in a circle on one lane ({text}), and these tables "
            "would not help: expected routes without credit loops"
        )


def _files(fabric: Fabric, lanes: LaneTables, origin: str) -> dict[str, bytes]:
    """By name: what OpenSM and hosts read."""
    files = {"qos-policy.conf": lanes.qos_policy(origin), "opensm.conf": _opensm(lanes, origin)}
    levels = lanes.host_levels()
    if levels is not None:
        machines = dict(zip(fabric.host_table()["machine"], levels, strict=True))
        files[_SCRIPT] = _script(machines, origin)
    return files


def _opensm(lanes: LaneTables, origin: str) -> bytes:
    """OpenSM's options for so many lanes that are served alike, and one table for all ports."""
    position, ports = next((i, n) for i, n in enumerate(_OPERATIONAL, 1) if n >= lanes.lanes)
    turns = ",".join(f"{lane}:{_MTU_CREDITS}" for lane in range(lanes.lanes))
    table = ",".join(str(level % lanes.lanes) for level in range(16))
    after = (
        "Every port has this table."
        if lanes.uniform
        else "The tables by port (`lanes write -o`) come over it, again whenever OpenSM has set it anew."
    )
    return (
        f"# netloom {origin}\n"
        f"# For OpenSM's options file. The policy goes where qos_policy_file says.\n"
        f"qos TRUE\n"
        f"# {ports} lanes, the least number of at least {lanes.lanes} that ports can have.\n"
        f"max_op_vls {position}\n"
        f"qos_max_vls {ports}\n"
        f"# All lanes in turn, a packet of 4 KiB each.\n"
        f"qos_high_limit 0\n"
        f"qos_vlarb_high 0:0\n"
        f"qos_vlarb_low {turns}\n"
        f"# Level L on lane L modulo {lanes.lanes}. {after}\n"
        f"qos_sl2vl {table}\n"
    ).encode()


def _script(levels: Mapping[str, int], origin: str) -> bytes:
    """A script that hosts source before a job's processes start."""
    by_level: dict[int, list[str]] = {}
    for machine, level in levels.items():
        by_level.setdefault(level, []).append(shlex.quote(machine))
    cases = [f"{'|'.join(names)}) level={level} ;;" for level, names in sorted(by_level.items())]
    settings = [f"export {name}=$level  # {what}" for name, what in _SETTINGS]
    lines = [
        f"# netloom {origin}",
        "# To be sourced on every host before a job's processes start: what it sends has one service level.",
        'host="${NETLOOM_HOST:-$(hostname -s)}"',
        'case "$host" in',
        *cases,
        '*) echo "$host is not in this fabric: service level 0" >&2; level=0 ;;',
        "esac",
        *settings,
    ]
    return ("\n".join(lines) + "\n").encode()


_RULES = {
    "pairs": "a random one for every pair of hosts",
    "groups": "one for every pair of groups of hosts",
    "sources": "one for every sender",
}


def _text(result: Mapping[str, Any], fabric: Fabric) -> str:
    tables = "one for all ports" if result["uniform"] else "random, one for every pair of ports"
    rows = [
        ("scheme", result["scheme"]),
        ("service levels", f"{result['levels']}, {_RULES[result['rule']]}"),
        ("lanes", str(result["lanes"])),
        ("tables", f"{tables} of {render.count(fabric.switches)} switches"),
        ("deadlock", "none: the routes have no credit loop on one lane"),
    ]
    if result["sl2vl"]:
        rows.append(("tables written", result["sl2vl"]))
    rows += [("written", name) for name in result["files"]]
    return render.pairs(rows)
