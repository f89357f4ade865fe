"""What a study found, as text: coefficients by basis, and errors beside the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netloom.cli.shared import render

_SHORT = {
    "symmetric-differences": "sym-diff",
    "symmetric-copy-shift": "sym-copy",
}
_COUNTS = (
    ("a_rank", "all"),
    ("a_rank_for_10_percent_error", "10 % error"),
    ("a_rank_for_90_percent_power", "90 % power"),
    ("published_a_rank", "all"),
    ("published_a_rank_for_10_percent_error", "10 % error"),
    ("published_a_rank_for_90_percent_power", "90 % power"),
)


def text(result: Mapping[str, Any]) -> str:
    """The report."""
    parts = []
    if any(application["coefficients"] for application in result["applications"]):
        parts.append(f"coefficients a rank (table 4.1)\n{_coefficients(result['applications'])}")
    if result["errors"]:
        parts.append(f"errors of pairs and of leaf sums (tables 4.2, 4.3)\n{_errors(result['errors'])}")
    if any(row["stopped"] == "time-limit" for row in result["errors"]):
        parts.append("* ended by its time, with what it had reached")
    if result["stopped"] is not None:
        parts.append(f"stopped: {result['stopped'].replace('-', ' ')}; the rest was not run")
    return "\n\n".join(parts)


def _coefficients(applications: Sequence[Mapping[str, Any]]) -> str:
    known = [application for application in applications if application["coefficients"]]
    bases = [_SHORT.get(row["basis"], row["basis"]) for row in known[0]["coefficients"]]
    rows = []
    for application in known:
        name = application["application"]
        for key, label in _COUNTS:
            values = [row[key] for row in application["coefficients"]]
            if any(value is not None for value in values):
                cells = ["-" if value is None else f"{value:.2f}" for value in values]
                if key.startswith("published"):
                    label = f"{application['published_as']}, {label}"
                rows.append([name, label, *cells, *[""] * (len(bases) - len(cells))])
                name = ""
    return render.table(["application", "", *bases], rows, right=range(2, 2 + len(bases)))


def _errors(errors: Sequence[Mapping[str, Any]]) -> str:
    several = any(row["routings"] > 1 for row in errors)
    rows = []
    before: tuple[Any, ...] = (None, None)
    for row in errors:
        of = (row["application"], row["scheme"], row["routings"])
        scheme = str(row["scheme"]).partition(":seed=")[0]
        names = [row["application"] if of[0] != before[0] else "", scheme if of != before else ""]
        names += [str(row["routings"])] if several else []
        before = of
        rows.append(
            [
                *names,
                row["method"],
                _percent(row["relative_error_percent"]),
                _percent(row["leaf_error_percent"]),
                row["verdict"] or "",
                _published(row),
                f"{row['seconds']:.2f}" + ("*" if row["stopped"] else ""),
            ]
        )
    head = ["application", "lanes", *(["routings"] if several else []), "method"]
    right = {len(head), len(head) + 1, len(head) + 4}
    header = [*head, "pairs", "leaf sums", "verdict", "published", "s"]
    return render.table(header, rows, right=right)


def _percent(value: float | None) -> str:
    return "-" if value is None else render.percent(value)


def _published(row: Mapping[str, Any]) -> str:
    """What the tables have for a method; beside our own the better of both."""
    best, dictionary = row["published_best_basis_percent"], row["published_dictionary_percent"]
    if row["method"] == "dictionary":
        value = dictionary
    elif row["method"] == row["published_best_basis"]:
        value = best
    elif row["method"] == "netloom":
        value = _least([best, dictionary])
    else:
        value = None
    return "" if value is None else f"{value:.1f} % ({row['published_as']})"


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
