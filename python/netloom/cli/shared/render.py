"""Results as text: aligned columns, sizes with units. No terminal is asked for its width; `fit` is told it.

Text is for people; scripts use `--format json` or `csv`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netloom.cli.shared import fit
from netloom.findings import by_severity
from netloom.shown.documents import as_csv as as_csv
from netloom.shown.documents import as_json as as_json
from netloom.shown.text import arrows as arrows
from netloom.shown.text import line as line
from netloom.shown.text import printable as printable
from netloom.shown.units import count as count
from netloom.shown.units import measured as measured
from netloom.shown.units import percent as percent
from netloom.shown.units import seconds as seconds
from netloom.shown.units import size as size
from netloom.shown.units import sizes as sizes


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """`label  value` lines, values aligned."""
    rows = [(label, printable(value)) for label, value in rows]
    width = max((len(label) for label, _ in rows), default=0)
    return "\n".join(f"{label:<{width}}  {value}".rstrip() for label, value in rows)


def end(port: Mapping[str, Any]) -> str:
    """A port as results tell it (`netloom.nodes`): `leaf03[7] 0x0002c902000000c0 lid 34`."""
    lid = "" if port["lid"] is None else f" lid {port['lid']}"
    return f"{port['name']}[{'?' if port['port'] is None else port['port']}] {port['guid']}{lid}"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    spare: Iterable[int] = (),
    sentences: int | None = None,
) -> str:
    """A table with a header, as wide as the terminal at most (`fit`).

    Parameters
    ----------
    header : sequence of str
        Heads of the columns.
    rows : iterable of sequences of str
        Cells, as many as heads.
    right : iterable of int, optional
        Columns that are right-aligned.
    spare : iterable of int, optional
        Columns that go first where there is no room for all.
    sentences : int, optional
        The column whose cells are sentences: they break between words.
    """
    lines = [list(header), *[[printable(cell, lines=False) for cell in row] for row in rows]]
    rights = set(right)
    lines, shown, gone = fit.fitted(lines, rights, spare, sentences)
    widths = [max(len(line[i]) for line in lines) for i in range(len(shown))]

    def text(line: Sequence[str]) -> str:
        cells = (
            f"{c:>{w}}" if i in rights else f"{c:<{w}}" for i, c, w in zip(shown, line, widths, strict=True)
        )
        return "  ".join(cells).rstrip()

    return "\n".join([*(text(line) for line in lines), *([fit.missing(gone)] if gone else [])])


def findings(found: Iterable[Mapping[str, str]], title: str = "findings") -> str:
    """Findings below a title, the worst first: `  warning  dead-cable: …`; empty if there are none.

    Of a kind that has more than a dozen the first ten are told, and how many more there are: results have
    all. `streams.tell` colours the word on a terminal.
    """
    found = by_severity(found)
    number = Counter(one["kind"] for one in found)
    told: Counter[str] = Counter()
    lines = []
    for one in found:
        kind = one["kind"]
        told[kind] += 1
        text = printable(one["text"], lines=False)
        if number[kind] > _MANY and told[kind] > _FIRST:
            if told[kind] > _FIRST + 1:
                continue
            text = f"+{count(number[kind] - _FIRST)} more (--format json has all)"
        lines.append(f"  {one['severity']:<7}  {kind}: {text}")
    return "\n".join([f"\n\n{title}", *lines]) if lines else ""


_MANY, _FIRST = 12, 10
"""Findings of a kind from which on only the first are told, and how many these are."""
