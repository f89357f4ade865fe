"""Results as text: aligned columns, sizes with units. No terminal is asked for its width; `fit` is told it.

Text is for people; scripts use `--format json` or `csv`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netloom.cli.shared import fit
from netloom.findings import by_severity
from netloom.shown.units import seconds as seconds

_NONE = "unknown"
"""For a number that is not finite: a bound of which nothing is known."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def printable(text: str, *, lines: bool = True) -> str:
    """Text whose control characters do nothing to a terminal: `\\x1b`, say. Line ends stay if `lines`.

    Names in dumps, tables and jobs files may be any bytes; all that people read goes through here.
    """

    def shown(character: str) -> str:
        if (character == "\n" and lines) or not _odd(character):
            return character
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return text if text.isprintable() else "".join(map(shown, text))


def _odd(character: str) -> bool:
    """Controls, and what turns the direction of writing; not what merely has no glyph here."""
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


def arrows(text: str) -> str:
    """Text with one arrow: findings of the core say `a -> b` and `a->b`, tables and pictures `a → b`.

    Only what people read: results keep their words.
    """
    return _ARROW.sub(" → ", text) if "->" in text else text


def line(text: str) -> str:
    """Text as one line that people read."""
    return arrows(printable(text, lines=False))


_ARROW = re.compile(r" ?(?<!-)-> ?")


def size(value: float) -> str:
    """Bytes with a decimal unit and three or four digits: `83.89 MB`."""
    if not math.isfinite(value):
        return _NONE
    unit = 0
    while abs(value) >= 999.95 and unit < len(_UNITS) - 1:
        value /= 1000.0
        unit += 1
    digits = 0 if unit == 0 and value == int(value) else 2 if abs(value) < 99.995 else 1
    return f"{value:.{digits}f} {_UNITS[unit]}"


def sizes(values: Sequence[float]) -> list[str]:
    """Bytes, each as `size` tells it, with more digits where two that differ would read alike.

    At most six digits after the point; beyond that values differ by less than a byte in a megabyte.

    Examples
    --------
    >>> sizes([2_481_900.0, 2_480_100.0])
    ['2.482 MB', '2.480 MB']
    """
    told = [size(value) for value in values]
    for digits in range(3, 7):
        if len(set(told)) == len(set(values)):
            break
        told = [_sized(value, digits) for value in values]
    return told


def _sized(value: float, digits: int) -> str:
    unit = 0
    while abs(value) >= 999.95 and unit < len(_UNITS) - 1:
        value /= 1000.0
        unit += 1
    return f"{value:.{0 if unit == 0 and value == int(value) else digits}f} {_UNITS[unit]}"


def count(value: float) -> str:
    """A number with thousands separated: `9,434,112`."""
    return f"{value:,}"


def percent(value: float) -> str:
    """A percentage with two decimals: `0.00 %`. A number that is not 0 never reads as 0.00."""
    if not math.isfinite(value):
        return _NONE
    if 0 < abs(value) < 0.005:
        return "< 0.01 %" if value > 0 else "> -0.01 %"
    return f"{value + 0.0:.2f} %"


def measured(value: float, error: float) -> str:
    """A percentage and its error, both rounded to the error's first digit: `77 ± 10 %`.

    Without an error as `percent` tells it.
    """
    if not (math.isfinite(error) and error > 0):
        return percent(value)
    digits = min(max(-math.floor(math.log10(error)), 0), 2)
    told = f"{error:.{digits}f}"
    if float(told) == 0:
        return f"{value + 0.0:.{digits}f} ± < 0.01 %"
    return f"{value + 0.0:.{digits}f} ± {told} %"


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


def as_json(document: Mapping[str, Any]) -> str:
    """JSON, as scripts read it. It has no infinity and no NaN: what is not finite is null, for unknown."""
    return json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_FORMULA = "=+-@\t\r"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV with a header line; true and false as in JSON, nothing for null."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    value = _finite(value)
    return "" if value is None else no_formula(value) if isinstance(value, str) else value


def no_formula(text: str) -> str:
    """A text that no spreadsheet runs: an apostrophe before what it would take for a formula.

    Examples
    --------
    >>> no_formula("=cmd|' /C calc'!A0")
    "'=cmd|' /C calc'!A0"
    >>> no_formula("leaf03[7]"), no_formula("-")
    ('leaf03[7]', '-')
    """
    return f"'{text}" if len(text) > 1 and text[0] in _FORMULA else text
