"""Reports as wide as the terminal: one rule for all tables and lines.

Only what is printed on a terminal is fitted to its width (`within`); pipes and files get everything. A table
that is too wide loses, in this order and only as far as it must:

1. the columns that its verb can spare;
2. the middles of long names: `leaf…17[3]`, at least 16 characters stay;
3. the columns at the right; the first stays.

A column of sentences loses nothing: it breaks between words, and the names beside it make room for it.

A line below it names the columns that are missing. Other lines break between words, what follows indented
below what it belongs to. A word that is longer than the terminal (a path) stays whole, for copying.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence

NARROWEST = 40
"""Columns that a report has at least; a terminal that is narrower breaks its lines itself."""
_SHORTEST = 16
"""Characters that are left of a name."""
_GAP = 2
_SENTENCE = 28
"""Characters that a line of a column of sentences has at least."""
_HANG = re.compile(r"\s*(?:\S+(?: \S+)*\s{2,})?")
"""What a line begins with: its indent, and a label that stands in a column of its own."""

_width: int | None = None


@contextlib.contextmanager
def within(columns: int | None) -> Iterator[None]:
    """Lets tables that are laid out meanwhile have so many columns at most; None: as many as they need."""
    global _width
    before, _width = _width, None if columns is None else max(columns, NARROWEST)
    try:
        yield
    finally:
        _width = before


def fitted(
    lines: Sequence[Sequence[str]],
    right: Iterable[int],
    spare: Iterable[int] = (),
    sentences: int | None = None,
) -> tuple[list[list[str]], list[int], list[str]]:
    """A table, its head first, that fits.

    Parameters
    ----------
    lines : sequence of sequences of str
        Head and rows.
    right : iterable of int
        Columns that end at the right: numbers, which are never shortened.
    spare : iterable of int, optional
        Columns that go first, in this order.
    sentences : int, optional
        The column whose cells are sentences.

    Returns
    -------
    tuple
        Head and rows; the columns that are left; the heads of those that are not.
    """
    cells = [list(line) for line in lines]
    shown = list(range(len(cells[0])))
    if _width is None or _total(cells, shown) <= _width:
        return cells, shown, []
    numbers = set(right)
    gone: list[int] = []

    def drop(column: int) -> None:
        if column in shown and _total(cells, shown) > limit:
            shown.remove(column)
            gone.append(column)

    limit = _width
    for column in spare:
        drop(column)
    if sentences is not None:
        _break(cells, sentences, [c for c in shown if c not in numbers], limit, shown)
    _shorten(cells, [column for column in shown if column not in numbers], limit, shown)
    for column in reversed(shown[1:]):
        drop(column)
    _shorten(cells, shown[:1], limit, shown, shortest=1)
    told = [cells[0][column] or "the last" for column in sorted(gone)]
    return [[line[column] for column in shown] for line in cells], shown, told


def _break(
    cells: list[list[str]], sentences: int, names: Sequence[int], limit: int, shown: Sequence[int]
) -> None:
    """Breaks a column of sentences into lines, beside names that are shortened for it; nothing if it fits."""
    import textwrap

    if _total(cells, shown) <= limit:
        return
    others = [column for column in shown if column != sentences]
    _shorten(cells, [c for c in names if c != sentences], limit - _SENTENCE - _GAP, others)
    room = max(limit - _total(cells, others) - _GAP, _SENTENCE)
    broken: list[list[str]] = []
    for line in cells:
        pieces = textwrap.wrap(line[sentences], room, break_long_words=False, break_on_hyphens=False) or [""]
        for k, piece in enumerate(pieces):
            row = list(line) if k == 0 else [""] * len(line)
            row[sentences] = piece
            broken.append(row)
    cells[:] = broken


def _total(cells: Sequence[Sequence[str]], shown: Sequence[int]) -> int:
    return sum(_widest(cells, column) for column in shown) + _GAP * (len(shown) - 1)


def _widest(cells: Sequence[Sequence[str]], column: int) -> int:
    return max(len(line[column]) for line in cells)


def _shorten(
    cells: Sequence[list[str]],
    names: Sequence[int],
    limit: int,
    shown: Sequence[int],
    *,
    shortest: int = _SHORTEST,
) -> None:
    """Shortens the widest of these columns, again and again, if that is enough; else none."""
    widths = {column: _widest(cells, column) for column in names}
    least = {column: max(shortest, len(cells[0][column])) for column in names}
    over = _total(cells, shown) - limit
    if over <= 0 or sum(max(widths[column] - least[column], 0) for column in names) < over:
        return
    for _ in range(over):
        widest = max((column for column in names if widths[column] > least[column]), key=widths.__getitem__)
        widths[widest] -= 1
    for column, width in widths.items():
        for line in cells:
            line[column] = middle(line[column], width)


def middle(text: str, width: int) -> str:
    """Text of so many characters at most, without its middle: `leaf…17[3]`."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def missing(heads: Sequence[str]) -> str:
    """The line below a table that has lost columns."""
    return f"(no room in {_width} columns for: {', '.join(heads)})"


def wrapped(text: str) -> str:
    """A report whose lines are broken between words where they are too long."""
    if _width is None:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line, _width))


def _pieces(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    import textwrap

    match = _HANG.match(line)
    start = match.end() if match else 0
    if start > width // 2:
        start = len(line) - len(line.lstrip())
    yield from textwrap.wrap(
        line[start:],
        width,
        initial_indent=line[:start],
        subsequent_indent=" " * start,
        break_long_words=False,
        break_on_hyphens=False,
    )
