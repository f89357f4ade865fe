"""Counters under several routes, as the command line says it (`--also-counted`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.counting.windows import Window


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


def row(windows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """`routings  4; hosts sent the same under all of them, to 0.31 %`; nothing for one window."""
    if len(windows) < 2:
        return []
    apart = render.percent(max(window["apart_percent"] for window in windows))
    return [("routings", f"{len(windows)}; what hosts sent and received differs by {apart}")]
