"""The lanes of routes: the file of SL-to-VL tables that goes with forwarding tables (`--sl2vl`), and
that of the service levels of pairs (`--sl`).

A forwarding table does not say on which lane packets travel. Where tables are free of deadlocks only with
their lanes, a second file says these, in the form of OpenSM's `opensm-sl2vl.dump`.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.cli.shared.exits import UsageError

if TYPE_CHECKING:
    from netloom._core import Fabric, LaneTables, Routes
    from netloom.cli.shared.run import Run


def check(sl2vl: Path | None, sl: Path | None) -> None:
    """Refuses service levels without the tables that give them lanes."""
    if sl is not None and sl2vl is None:
        raise UsageError("--sl says which level a pair has: expected --sl2vl too, the lanes of the levels")


def with_lanes(run: Run, fabric: Fabric, tables: Routes, sl2vl: Path | None, sl: Path | None) -> Routes:
    """The same tables with the lanes of a file, if one is given, and the levels of pairs of another."""
    from netloom import _core

    if sl2vl is None:
        return tables
    data = run.read("sl2vl", str(sl2vl))
    levels = None if sl is None else run.read("service-levels", str(sl))
    with run.timed("read"):
        lanes = _core.LaneTables.parse(data, fabric, label=str(sl2vl))
        if levels is not None:
            lanes = lanes.with_levels(levels, label=str(sl))
        return tables.with_lanes(lanes)


def write_rows(run: Run, lanes: LaneTables, path: Path | None) -> str | None:
    """Writes SL-to-VL tables, as OpenSM dumps them, where somebody said; packed if that ends in `.gz`."""
    if path is None:
        return None
    return _write(run, lanes.sl2vl(f"{run.origin()['netloom']} {run.verb}"), path)


def write_levels(run: Run, lanes: LaneTables, path: Path | None) -> str | None:
    """Writes the service levels of pairs as CSV where somebody said, if pairs have some; packed as above."""
    data = None if path is None else lanes.service_levels(f"{run.origin()['netloom']} {run.verb}")
    return None if path is None or data is None else _write(run, data, path)


def _write(run: Run, data: bytes, path: Path) -> str | None:
    return run.write(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data, path)
