"""The virtual lanes of a scheme, as files for a real fabric.

The tables are those that inference assumes under the same scheme. Lanes chosen hop by hop add no
deadlock: where lanes wait for each other in a circle, so do their links, and the links of routes without a
credit loop do not. So that is checked here, and refused.
"""

from __future__ import annotations

import errno
import gzip
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.counting import windows
from netloom.errors import ArgumentError, CountersError, RoutingError
from netloom.files import Folder, check_folder
from netloom.session.session import Session
from netloom.shown import units

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


@dataclass(frozen=True)
class LaneFiles:
    """What a real fabric needs of a scheme; nothing is written yet.

    Attributes
    ----------
    result : dict
        As JSON tells it; its keys about files are empty.
    sl2vl : bytes
        The SL-to-VL tables, in the form of OpenSM's dump.
    files : dict
        By name: OpenSM's options and QoS policy, settings of MPI libraries.
    """

    result: dict[str, Any]
    sl2vl: bytes
    files: dict[str, bytes]


def write_lanes(
    fabric: Fabric | str,
    routes: Routes | str,
    vl_scheme: str,
    *,
    sl2vl: str | os.PathLike[str] | None = None,
    qos: str | os.PathLike[str] | None = None,
    paths: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Writes the virtual lanes of a scheme for a real fabric, as `netloom lanes write` does.

    Parameters
    ----------
    fabric : Fabric or str
        The fabric.
    routes : Routes or str
        The routes in force; those with a credit loop are refused.
    vl_scheme : str
        How pairs are spread over virtual lanes: `5sl5vl:seed=1`, as in `synth_counters`.
    sl2vl : path, optional
        Where the SL-to-VL tables go (also .gz).
    qos : path, optional
        A folder for what gives pairs the service levels: OpenSM's options and QoS policy, settings of MPI
        libraries.
    paths : path, optional
        Which of a host's several addresses every pair uses (.csv).

    Returns
    -------
    dict
        As `result` of `netloom lanes write --format json`.

    Raises
    ------
    ArgumentError
        If the routes are a scheme without tables.
    RoutingError
        If packets can wait for each other in a circle.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import netloom as nl
    >>> told = nl.write_lanes("two-level:leaves=4,hosts=4,spines=4", "ftree", "5sl5vl:seed=1", qos="qos")
    >>> told["lanes"], told["files"]
    (5, ['qos/qos-policy.conf', 'qos/opensm.conf'])
    """
    from netloom import _core

    session = Session()
    folder = None if qos is None else Path(qos)
    if folder is not None:
        check_folder(folder)
    check_routes(routes)
    net = session.fabric(fabric)
    found = lane_files(
        session, net, routes, vl_scheme, qos=folder, paths=None if paths is None else Path(paths)
    )
    if sl2vl is not None:
        _core.write_atomic(sl2vl, packed(found.sl2vl, os.fspath(sl2vl)))
        found.result["sl2vl"] = os.fspath(sl2vl)
    if folder is not None:
        with Folder.open(folder, make=True) as there:
            for name, data in found.files.items():
                there.write(name, data)
        found.result["files"] = [str(folder / name) for name in found.files]
    return found.result


def check_routes(routes: Routes | str) -> None:
    """Refuses routings without tables.

    Raises
    ------
    ArgumentError
    """
    if isinstance(routes, str) and routes in windows.schemes():
        raise ArgumentError(
            f"{routes}: packets of a pair take any way there, and so any lanes: expected tables or an engine"
        )


def lane_files(
    session: Session,
    net: Fabric,
    routes: Routes | str,
    vl_scheme: str,
    *,
    qos: Path | None,
    paths: Path | None,
) -> LaneFiles:
    """What a fabric with these routes needs of a scheme; with `qos` also the files of that folder."""
    from netloom import _core

    tables = session.with_paths(session.routes(routes, net, None), paths)
    with session.timed("tables"):
        lanes = _core.lane_tables(net, vl_scheme)
    with session.timed("check"):
        _no_credit_loop(net, tables, routes if isinstance(routes, str) else "those given", session)
    origin = f"{session.origin()['netloom']} scheme={vl_scheme.strip()}"
    files = {} if qos is None else _files(net, lanes, f"{origin} hosts={net.hosts_hash}")
    if qos is not None:
        _check_stale(qos, files)
    result = {
        "scheme": vl_scheme.strip(),
        "rule": lanes.rule,
        "levels": lanes.levels,
        "lanes": lanes.lanes,
        "uniform": lanes.uniform,
        "sl2vl": None,
        "files": [],
    }
    return LaneFiles(result, lanes.sl2vl(origin), files)


def packed(data: bytes, path: str) -> bytes:
    """Data as its file's ending says."""
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data


def check_tables(session: Session, fabric: Fabric, file: Path, vl_scheme: str) -> None:
    """That the tables in force, as OpenSM dumps them, are those of the scheme.

    Raises
    ------
    CountersError
        Saying where they differ.
    """
    from netloom import _core

    data = session.read("sl2vl", str(file))
    with session.timed("read"):
        count, first = _core.lane_tables(fabric, vl_scheme).differences(data, label=str(file))
    if count:
        raise CountersError(
            f"{file}: {units.count(count)} rows are not those of {vl_scheme}, the first {first}: "
            "expected the tables that were in force, and their scheme"
        )


def _check_stale(folder: Path, files: Mapping[str, bytes]) -> None:
    """Settings of another scheme must not be taken for this one's."""
    if _SCRIPT not in files and (folder / _SCRIPT).exists():
        where = str(folder / _SCRIPT)
        raise FileExistsError(errno.EEXIST, "is of another scheme: expected a folder without it", where)


def _no_credit_loop(fabric: Fabric, tables: Routes, source: str, session: Session) -> None:
    from netloom import _core

    # The scheme's tables take the place of those that the routes have.
    report = _core.check(fabric, tables.with_lanes(None), threads=session.threads)
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
