"""Tables of a page. Every figure says where in the document it is copied from, and its unit.

A row names its object by a JSON pointer (`data-at`), a head its key and unit (`data-key`, `data-unit`): so a
reader, and the tests, find the figure in the JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netloom.shown.html import text
from netloom.shown.units import sizes, told


@dataclass(frozen=True)
class Column:
    """A column of figures.

    Attributes
    ----------
    key : str
        Where in a row's object: `result/simulated_ms`.
    head : str
        What it is called.
    unit : str
        As `netloom.shown.units.told` takes it.
    sentence : bool
        Whether it holds sentences, which are broken into lines.
    """

    key: str
    head: str
    unit: str = "n"
    sentence: bool = False


@dataclass(frozen=True)
class Row:
    """A row: its names, where its object is, and the object.

    `span`: so many rows have its first name. `mark`: which of its names has the colour.
    """

    names: Sequence[str]
    at: str
    value: Any
    colour: str = ""
    bar: Bar | None = None
    span: int = 1
    mark: int = -1


@dataclass(frozen=True)
class Bar:
    """A bar in a row, from 0 to 1: how long; its mean, the bound, what it was before; its interval."""

    length: float
    colour: str
    mean: float | None = None
    bound: float | None = None
    before: float | None = None
    interval: tuple[float, float] | None = None


def section(head: str, *blocks: str, note: str = "") -> str:
    """A part of a page with its head; of blocks that are empty nothing is left."""
    said = f'<p class="faint">{text(note)}</p>\n' if note else ""
    return f"<section><h2>{text(head)}</h2>\n{said}" + "\n".join(filter(None, blocks)) + "</section>"


def beside(blocks: Sequence[str]) -> str:
    """Blocks side by side where there is room."""
    return '<div class="beside">' + "\n".join(f"<div>{block}</div>" for block in blocks) + "</div>"


def folded(head: str, block: str) -> str:
    """What is opened by a click, and on paper."""
    return f"<details><summary>{text(head)}</summary>\n{block}</details>"


def paragraph(words: str) -> str:
    """A sentence."""
    return f"<p>{text(words)}</p>"


def items(at: str, words: Sequence[Any]) -> str:
    """A list of sentences; of none nothing."""
    if not words:
        return ""
    listed = "".join(
        f'<li data-at="{text(at)}/{n}" data-unit="text">{text(told(one, "text"))}</li>'
        for n, one in enumerate(words)
    )
    return f"<ul>{listed}</ul>"


def findings(at: str, found: Sequence[Mapping[str, Any]], first: int = 0) -> str:
    """What was found, from the `first` on, as every verb tells it."""
    columns = [Column("severity", "severity", "text"), Column("text", "what", "text", sentence=True)]
    rows = [Row([one["kind"]], f"{at}/{n}", one) for n, one in enumerate(found) if n >= first]
    return table("Findings", ["finding"], columns, rows) if rows else ""


def pick(value: Any, key: str) -> Any:
    """What a pointer's rest leads to in an object; None if there is nothing."""
    for part in key.split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def known(columns: Iterable[Column], values: Sequence[Any]) -> list[Column]:
    """Columns that say something of at least one of some objects."""
    return [one for one in columns if any(pick(value, one.key) is not None for value in values)]


def table(caption: str, heads: Sequence[str], columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """A table, `heads` above the names of its rows."""
    barred = any(row.bar is not None for row in rows)
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    top += '<td class="b"></td>' if barred else ""
    top += "".join(
        f'<th scope="col" class="{_side(c)}" data-key="{text(c.key)}" data-unit="{text(c.unit)}">'
        f"{text(c.head)}</th>"
        for c in columns
    )
    cells = [_cells(column, rows) for column in columns]
    body = "\n".join(
        _row(row, [(c, of[place]) for c, of in zip(columns, cells, strict=True)], barred)
        for place, row in enumerate(rows)
    )
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{text(caption)}">'
        f"<table><caption>{text(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n"
        "</tbody></table></div>"
    )


def facts(at: str, value: Any, columns: Sequence[Column]) -> str:
    """Figures of one object, each below its name."""
    cells = "".join(
        f'<div><dt>{text(c.head)}</dt><dd data-at="{text(at)}/{text(c.key)}" data-unit="{text(c.unit)}">'
        f"{text(_shown(value, c))}</dd></div>"
        for c in columns
    )
    return f'<dl class="facts">{cells}</dl>'


def _cells(column: Column, rows: Sequence[Row]) -> list[str]:
    """A column's figures; bytes with so many digits that those which differ read differently."""
    found = [pick(row.value, column.key) for row in rows]
    if column.unit == "B" and all(isinstance(value, int | float) for value in found):
        return sizes(found)
    return [_shown(row.value, column) for row in rows]


def _row(row: Row, cells: Sequence[tuple[Column, str]], barred: bool) -> str:
    mark = f'<i class="dot" style="background:{row.colour}"></i>' if row.colour else ""
    names = "".join(
        f'<th scope="row"{f" rowspan={row.span}" if place == 0 and row.span > 1 else ""}>'
        f"{mark if place == row.mark % len(row.names) else ''}{text(name)}</th>"
        for place, name in enumerate(row.names)
    )
    figures = "".join(f'<td class="{_side(column)}">{text(words)}</td>' for column, words in cells)
    return f'<tr data-at="{text(row.at)}">{names}{_bar(row, barred)}{figures}</tr>'


def _shown(value: Any, column: Column) -> str:
    """A figure of an object; a list of plain values with commas."""
    found = pick(value, column.key)
    if isinstance(found, list):
        return ", ".join(_plain(one) for one in found) or told(None, column.unit)
    return told(found, column.unit)


def _plain(value: Any) -> str:
    """One of several values: a number in six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _side(column: Column) -> str:
    if column.sentence:
        return "t s"
    return "t" if column.unit == "text" else "n"


def _bar(row: Row, barred: bool) -> str:
    if not barred:
        return ""
    if row.bar is None:
        return '<td class="b"></td>'
    marks = f'<i class="bar" style="width:{100 * row.bar.length:.2f}%;background:{row.bar.colour}"></i>'
    if row.bar.interval is not None:
        low, high = row.bar.interval
        marks += f'<i class="interval" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></i>'
    for kind, place in (("mean", row.bar.mean), ("bound", row.bar.bound), ("before", row.bar.before)):
        if place is not None:
            marks += f'<i class="{kind}" style="left:{100 * place:.2f}%"></i>'
    return f'<td class="b" aria-hidden="true"><div>{marks}</div></td>'
