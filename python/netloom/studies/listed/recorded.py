"""Figures of the papers beside those found here, as rows: of a table, or of results of studies."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

from netloom.errors import FormatError
from netloom.studies.listed import ITEMS


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, and the one found here.

    Attributes
    ----------
    paper, item : str
        Of which table or figure: `000`, `table 5.1`.
    row, column : str
        Which cell of it; `column` may be empty.
    unit : str
        `ms`, `%`; may be empty.
    published, here : str
        As printed; empty where there is none. A spread may follow: `6.714 (5.875 to 7.553)`.
    measured : str
        When and where the one here was measured.
    """

    paper: str
    item: str
    row: str
    column: str
    unit: str
    published: str
    here: str
    measured: str

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """What it is a figure of."""
        return self.paper, self.item, self.row, self.column

    @property
    def off(self) -> str:
        """How far off ours is: in points where the unit is `%`, else in percent; empty if unknown."""
        one, two = _number(self.published), _number(self.here)
        if one is None or two is None:
            return ""
        if self.unit == "%":
            return f"{two - one:+.2f} points"
        return f"{(two / one - 1) * 100:+.1f} %" if one else ""

    def result(self) -> dict[str, Any]:
        """As results tell it."""
        return asdict(self) | {"off": self.off}


_COLUMNS = tuple(field.name for field in fields(Figure))
_LISTED = {(item.paper, item.what) for item in ITEMS}


def read(data: bytes, label: str, measured: str | None) -> list[Figure]:
    """Reads rows: a table as `written` makes it, or a result of a study as JSON.

    Parameters
    ----------
    measured : str, optional
        When and where results were measured; JSON does not say.

    Raises
    ------
    FormatError
        If it is neither, or says nothing of a paper.
    """
    if data.lstrip()[:1] == b"{":
        if measured is None:
            raise FormatError(f"{label}: a result does not say when and where: expected --measured TEXT")
        return list(_of_result(data, label, measured))
    return _of_table(data, label)


def written(figures: Sequence[Figure]) -> bytes:
    """The rows as CSV."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_COLUMNS)
    lines.writerows(map(astuple, figures))
    return text.getvalue().encode()


def merged(figures: Sequence[Figure]) -> list[Figure]:
    """The last one of each cell, where it stands last, in the order of the papers' items."""
    last: dict[tuple[str, str, str, str], Figure] = {}
    for figure in figures:
        last.pop(figure.cell, None)
        last[figure.cell] = figure
    place = {(item.paper, item.what): at for at, item in enumerate(ITEMS)}
    return sorted(last.values(), key=lambda figure: place[figure.paper, figure.item])


def _of_table(data: bytes, label: str) -> list[Figure]:
    try:
        lines = list(csv.reader(io.StringIO(data.decode()), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{label}: expected CSV or a JSON result: {error}") from None
    if not lines or tuple(lines[0]) != _COLUMNS:
        raise FormatError(f"{label}:1: expected the columns {','.join(_COLUMNS)}")
    found = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(_COLUMNS):
            raise FormatError(f"{label}:{number}: expected {len(_COLUMNS)} columns, found {len(line)}")
        if (line[0], line[1]) not in _LISTED:
            raise FormatError(f"{label}:{number}: paper {line[0]} has no {line[1]}; see netloom study list")
        found.append(Figure(*line))
    return found


def _of_result(data: bytes, label: str, measured: str) -> Iterator[Figure]:
    try:
        document = json.loads(data)
        schema = document["schema"]
        known = _KINDS.get(schema)
        if known is None:
            raise FormatError(f"{label}: expected a result of {_MAKERS}, found {schema}")
        yield from known(document["result"], measured)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{label}: expected a result of {_MAKERS}, found {type(error).__name__}") from None


def _static(result: Mapping[str, Any], measured: str) -> Iterator[Figure]:
    """Table 3.2, of `study table32`: where a row starts, its models, and what is possible."""
    cases: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in result["rows"]:
        if row["published_as"] is not None:
            cases.setdefault((row["published_as"], row["hosts"]), []).append(row)
    for (name, hosts), rows in cases.items():
        line = f"{name}, {hosts:,} hosts"

        def figure(column: str, there: str, here: str, line: str = line) -> Figure:
            return Figure("000", "table 3.2", line, column, "%", there, here, measured)

        yield figure("ftree, the start", "", _text(rows[0]["ftree_gap_percent"]))
        for row in rows:
            own, there = row["own_gap_percent"], row["published_percent"]
            ended = {"time-limit": " (time limit)", "too-large": " (too large)"}.get(row["status"], "")
            here = ("none" if own is None else _text(own)) + ended
            yield figure(row["model"], "none" if there is None else _text(there), here)
        possible = rows[0]["published_possible"].removesuffix(" %")
        yield figure("possible", possible, _text(rows[0]["possible_gap_percent"]))


def _chapter4(result: Mapping[str, Any], measured: str) -> Iterator[Figure]:
    """Tables 4.1 to 4.3, of `study chapter4`."""
    for row in result["applications"]:
        named = _named(row["application"], row["published_as"])
        for key, words in _WHICH.items():
            for one in row["coefficients"]:
                there, here = one[f"published_{key}"], one[key]
                if there is not None or here is not None:
                    line = f"{named}{words}"
                    figures = (_text(there), _text(here))
                    yield Figure("000", "table 4.1", line, one["basis"], "", *figures, measured)
    for row in result["errors"]:
        if row["routings"] != 1:
            continue
        scheme = row["scheme"].partition(":seed=")[0]
        line = _named(row["application"], row["published_as"])
        here = _text(row["relative_error_percent"]) + (" (time limit)" if row["stopped"] else "")
        best, dictionary = row["published_best_basis_percent"], row["published_dictionary_percent"]
        if row["method"] == "dictionary":
            yield Figure("000", "table 4.3", line, scheme, "%", _text(dictionary), here, measured)
        elif row["method"] == row["published_best_basis"]:
            yield Figure("000", "table 4.2", line, scheme, "%", _text(best), here, measured)
        elif row["method"] == "netloom":
            line = f"{line}, `infer`"
            yield Figure("000", "table 4.2", line, scheme, "%", _text(best), here, measured)


def _loops(result: Mapping[str, Any], measured: str) -> Iterator[Figure]:
    """Tables 5.1 to 5.5, of `loop table`."""
    for row in result["tables"]:
        unit = "%" if row["measure"].endswith("%") else "ms"
        digits = 2 if unit == "%" else 3
        there, here = (
            None if row[key] is None else f"{row[key]:.{digits}f}" for key in ("published", "value")
        )
        item, line = (
            f"table {row['table']}",
            f"{row['column']}, {_ROUTINGS.get(row['routing'], row['routing'])}",
        )
        yield Figure("000", item, line, "", unit, there or "", here or "", measured)


_WHICH = {
    "a_rank": "",
    "a_rank_for_10_percent_error": ", 10 % error",
    "a_rank_for_90_percent_power": ", 90 % power",
}
"""Which coefficients table 4.1 counts: all, or enough of the largest."""
_ROUTINGS = {"alone": "the barrier alone", "known": "routes for the true traffic", "loop": "the loop"}

_KINDS = {
    "netloom.static-study/1": _static,
    "netloom.infer-study/1": _chapter4,
    "netloom.loop-table/1": _loops,
}
_MAKERS = "study table32, study chapter4 or loop table"


def _named(application: str, like: str | None) -> str:
    return application if like is None else f"{like} (here {application})"


def _text(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:.2f}"


def _number(text: str) -> float | None:
    """The number that a text begins with."""
    found = re.match(r"[-+]?[0-9][0-9,]*(\.[0-9]+)?(?=$| \()", text)
    return None if found is None else float(found.group().replace(",", ""))
