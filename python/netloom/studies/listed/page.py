"""A page in Markdown: every table and figure of the papers, with their figures beside those found here."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence

from netloom.studies.listed import ITEMS, PAPERS, STATES, Item
from netloom.studies.listed.recorded import Figure

_WIDTH = 118
_WIDE = 2
"""So many columns have a row a cell; more have a cell each, with both figures."""
_BY_TIME, _MARK = " (time limit)", "†"
"""What rows say of a figure that is not the last one, and how a narrow cell says so."""


def page(figures: Sequence[Figure], *, command: str, folder: str) -> str:
    """The page.

    Parameters
    ----------
    figures : sequence of Figure
        In order, one a cell.
    command : str
        What makes the page, told at its head.
    folder : str
        Where the page will be, from the repository's: links are relative to it.
    """
    parts = [_head(command)]
    for paper in PAPERS:
        items = [item for item in ITEMS if item.paper == paper.number]
        own = [figure for figure in figures if figure.paper == paper.number]
        counts = ", ".join(f"{sum(item.state == state for item in items)} {state}" for state in STATES)
        parts.append(f"## Paper {paper.number}: {paper.source}")
        parts.append(_filled(f"About {paper.about}. Of {len(items)} tables and figures: {counts}."))
        for item in items:
            found = [figure for figure in own if figure.item == item.what]
            if found:
                parts += _compared(item, found, folder)
        rest = [item for item in items if all(figure.item != item.what for figure in own)]
        if rest:
            parts.append(f"### Without figures here ({paper.number})")
            parts.append("\n".join(_line(item, folder) for item in rest))
    return "\n\n".join(parts) + "\n"


def _head(command: str) -> str:
    states = "\n".join(f"- **{state}**: {text}" for state, text in STATES.items())
    return "\n\n".join(
        [
            "# The papers' tables and figures beside ours",
            _filled(
                "What can be set side by side of the papers' tables and figures (`netloom study list` has "
                "all of them): the published figures beside those found here, measured on the day that "
                "stands with them, and on the machine where that was recorded. Published figures are the "
                "papers' own, on their machines; ratios and differences are computed from them."
            ),
            _filled(
                f"Made by `{command}`: change the rows, not the page. What differs in set-up stands with "
                "each table; the page that is linked has the rest."
            ),
            states,
        ]
    )


def _compared(item: Item, figures: Sequence[Figure], folder: str) -> Iterator[str]:
    yield f"### {item.what[0].upper()}{item.what[1:]}: {item.about}"
    # A reason is a clause: it begins with a small letter.
    why = f" {item.why[0].upper()}{item.why[1:]}." if item.why else ""
    units = sorted({figure.unit for figure in figures} - {""})
    told = f"**{item.state.capitalize()}.**{why}"
    told += f" In {' and '.join(units)}." if units else ""
    yield _filled(f"{told} {_made(item, folder)}")
    dates = list(dict.fromkeys(figure.measured for figure in figures))
    if len(dates) == 1:
        yield _filled(f"Measured {dates[0]}.")
    columns = list(dict.fromkeys(figure.column for figure in figures))
    if len(columns) > _WIDE:
        for date in dates:
            if len(dates) > 1:
                yield _filled(f"Measured {date}:")
            yield _crossed([figure for figure in figures if figure.measured == date])
        if any(_BY_TIME in figure.here for figure in figures):
            yield f"{_MARK} ended by its time limit."
    else:
        yield _listed(figures, columns, with_dates=len(dates) > 1)


def _crossed(figures: Sequence[Figure]) -> str:
    """A cell each, the published figure before the one here."""
    rows = list(dict.fromkeys(figure.row for figure in figures))
    # In the order of the fullest row: others may lack some.
    named = [[figure.column for figure in figures if figure.row == row] for row in rows]
    columns = list(dict.fromkeys([*max(named, key=len), *(one for each in named for one in each)]))
    cells = {(figure.row, figure.column): figure for figure in figures}
    lines = []
    for row in rows:
        line = [row]
        for column in columns:
            one = cells.get((row, column))
            here = "" if one is None else one.here.replace(_BY_TIME, _MARK)
            line.append("" if one is None else f"{one.published or '–'} / {here or '–'}")
        lines.append(line)
    return _table(["published / here", *columns], lines)


def _listed(figures: Sequence[Figure], columns: Sequence[str], *, with_dates: bool) -> str:
    several = len(columns) > 1 or columns[0] != ""
    head = ["", *([""] if several else []), "published", "here", "off", *(["measured"] if with_dates else [])]
    lines = []
    for one in figures:
        line = [one.row, *([one.column] if several else []), one.published or "–", one.here or "–", one.off]
        lines.append([*line, *([one.measured] if with_dates else [])])
    return _table(head, lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cell.replace("*", "\\*") for cell in row) + " |" for row in rows)


def _line(item: Item, folder: str) -> str:
    why = f" {item.why[0].upper()}{item.why[1:]}." if item.why else ""
    text = f"- **{item.what}**, {item.about}: {item.state}.{why} {_made(item, folder)}"
    return _filled(text, indent="  ")


def _made(item: Item, folder: str) -> str:
    if not item.commands:
        return ""
    more = f", and {len(item.commands) - 1} more" if len(item.commands) > 1 else ""
    linked = ""
    if item.page is not None:
        linked = f" ([page]({os.path.relpath(item.page, folder or '.').replace(os.sep, '/')}))"
    return f"`{item.commands[0]}`{more}{linked}."


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text.strip(), _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
