"""Results as JSON and CSV, as scripts read them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


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
