"""Counters and the routes in force: one stretch of time, or several (`--also-counted`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netloom import reading
from netloom.counting import reading as counters
from netloom.errors import ArgumentError, CountersError

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Routes
    from netloom.findings import Finding
    from netloom.session.session import Session


def schemes() -> list[str]:
    """Routings without tables, as scenarios name them: switches split traffic evenly, on average."""
    from netloom import _core

    return [name for name, _ in _core.schemes()]


@dataclass(frozen=True, kw_only=True)
class Window:
    """What was counted while the same routes were in force, as files or names say it."""

    routes: str
    paths: Path | None
    reading: str
    after: str | None

    @property
    def name(self) -> str:
        """In messages."""
        tables = self.routes if self.paths is None else f"{self.routes}+{self.paths}"
        return ",".join([tables, self.reading, *([] if self.after is None else [self.after])])


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


def check(window: Window) -> None:
    """Refuses paths beside routes that have no tables.

    Raises
    ------
    ArgumentError
    """
    if window.paths is not None and window.routes in schemes():
        raise ArgumentError(f"{window.routes} routes have no tables, so no paths either: {window.paths}")


def read(session: Session, net: Fabric, window: Window) -> tuple[Routes | str, Counters]:
    """The routes and counters of a window."""
    tables: Routes | str
    adaptive = schemes()
    check(window)
    if window.routes in adaptive:
        session.note_input("routes", window.routes, None)
        tables = window.routes
    else:
        tables = session.with_paths(session.routes(window.routes, net, None, others=adaptive), window.paths)
    first = counters.read(session, window.reading, net, role="counters" if window.after is None else "before")
    if window.after is None:
        return tables, _of_this_fabric(first)
    second = counters.read(session, window.after, net, role="after")
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
