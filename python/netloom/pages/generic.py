"""Any result on a page: its objects and lists of objects as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netloom.pages import result as results
from netloom.pages.markup import Column, Row, facts, pick, table
from netloom.shown.html import text


def blocks(value: Any, at: str, verb: str) -> list[str]:
    """A table for every list of objects in a value, and figures below their names for an object."""
    made = []
    for name, _, rows, keys in results.tables(value, at, ""):
        columns = [Column(key, results.head(key), _unit(key, rows, verb)) for key in keys]
        if len(rows) == 1 and not rows[0][0].rsplit("/", 1)[1].isdigit():
            made.append((f"<h3>{text(name)}</h3>" if name else "") + facts(rows[0][0], rows[0][1], columns))
        else:
            listed = [Row([str(n + 1)], where, row) for n, (where, row) in enumerate(rows)]
            made.append(table(name.replace("_", " "), ["no."], columns, listed))
    return made


def _unit(key: str, rows: Sequence[tuple[str, Any]], verb: str) -> str:
    """Text where a column holds any."""
    values = [pick(row, key) for _, row in rows]
    words = any(isinstance(value, str | bool | list) for value in values)
    return "text" if words else results.unit(key, verb)
