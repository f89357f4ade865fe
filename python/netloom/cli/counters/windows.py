"""Counters and the routes in force: one stretch of time, or several (`--also-counted`)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.cli.counters import command as counters
from netloom.cli.shared import render
from netloom.cli.shared.addresses import with_paths
from netloom.cli.shared.exits import UsageError
from netloom.errors import CountersError

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Routes
    from netloom.cli.shared.run import Run
    from netloom.findings import Finding


def schemes() -> list[str]:
    """Routings without tables, as scenarios name them: switches split traffic evenly, on average."""
    from netloom import _core

    return [name for name, _ in _core.schemes()]


@dataclass(frozen=True, kw_only=True)
class Window:
    """What was counted while the same routes were in force, as the command line says it."""

    routes: str
    paths: Path | None
    reading: str
    after: str | None

    @property
    def name(self) -> str:
        """In messages."""
        tables = self.routes if self.paths is None else f"{self.routes}+{self.paths}"
        return ",".join([tables, self.reading, *([] if self.after is None else [self.after])])


def also(text: str) -> Window:
    """`ROUTES,COUNTERS` or `ROUTES,BEFORE,AFTER`; routes may be `TABLES+PATHS.csv`, as in scenarios.

    Raises
    ------
    UsageError
    """
    parts = text.split(",")
    if len(parts) not in (2, 3) or not all(parts):
        raise UsageError(
            f"--also-counted {text}: expected ROUTES,COUNTERS or ROUTES,BEFORE,AFTER, separated by commas"
        )
    tables, paths = parts[0], None
    head, plus, tail = tables.rpartition("+")
    if plus and head and tail.removesuffix(".gz").endswith(".csv"):
        tables, paths = head, Path(tail)
    return Window(routes=tables, paths=paths, reading=parts[1], after=parts[2] if len(parts) > 2 else None)


def chosen(intervals: Sequence[int] | None, windows: Sequence[Window]) -> list[int | None]:
    """Which interval of every window's counters; None: all of them.

    Raises
    ------
    UsageError
    """
    if not intervals:
        return [None] * len(windows)
    if len(intervals) != len(windows):
        expected = (
            "one" if len(windows) == 1 else f"{len(windows)} of them, for COUNTERS and every --also-counted"
        )
        raise UsageError(f"--interval is given {len(intervals)} times: expected {expected}")
    return list(intervals)


def differ(windows: Sequence[Window], numbers: Sequence[int | None]) -> None:
    """The same counters again say nothing new, and would be believed twice.

    Raises
    ------
    CountersError
    """
    seen: dict[tuple[object, ...], Window] = {}
    for window, number in zip(windows, numbers, strict=True):
        files = [Path(name) for name in (window.reading, window.after) if name is not None]
        said = [hashlib.sha256(reading.whole(file)).digest() if file.is_file() else file for file in files]
        first = seen.setdefault((*said, number), window)
        if first is not window:
            raise CountersError(
                f"--also-counted {window.name}: the same counters as those of {first.name}: "
                "expected counters of its own, or one --interval each"
            )


def read(run: Run, net: Fabric, window: Window) -> tuple[Routes | str, Counters]:
    """The routes and counters of a window."""
    tables: Routes | str
    adaptive = schemes()
    if window.routes in adaptive:
        if window.paths is not None:
            raise UsageError(f"{window.routes} routes have no tables, so no paths either: {window.paths}")
        run.note_input("routes", window.routes, None)
        tables = window.routes
    else:
        tables = with_paths(run, run.routes(window.routes, net, None, others=adaptive), window.paths)
    first = counters.read(run, window.reading, net, role="counters" if window.after is None else "before")
    if window.after is None:
        return tables, _of_this_fabric(first)
    second = counters.read(run, window.after, net, role="after")
    for wrong in counters.reversed_readings(*second.fallen_since(first), window.reading):
        raise CountersError(wrong["text"])
    if not (first.readings and second.readings):
        which = window.after if first.readings else window.reading
        raise CountersError(
            f"{which}: these are intervals already: expected two readings "
            "(absolute values of the same counters)"
        )
    return tables, _of_this_fabric(second).since(_of_this_fabric(first))


def port_errors(read: Sequence[tuple[Routes | str, Counters]]) -> list[Finding]:
    """What the error counters of all windows say, each once."""
    found = [one for _, reading in read for one in reading.port_errors]
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _of_this_fabric(read: Counters) -> Counters:
    """LIDs are numbers that every fabric has: what another one counted would be explained by some traffic."""
    if read.foreign is not None:
        raise CountersError(f"{read.foreign}: expected counters of FABRIC")
    return read


def row(windows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """`routings  4; hosts sent the same under all of them, to 0.31 %`; nothing for one window."""
    if len(windows) < 2:
        return []
    apart = render.percent(max(window["apart_percent"] for window in windows))
    return [("routings", f"{len(windows)}; what hosts sent and received differs by {apart}")]
