"""Any verb's JSON result as a page's document: objects and lists of objects as tables."""

from __future__ import annotations

import json
import math
from typing import Any

from netloom.errors import FormatError

EXPECTED = "expected what netloom VERB --format json prints"


def document(data: bytes, source: str) -> dict[str, Any]:
    """What a page tells of a result.

    Parameters
    ----------
    data : bytes
        The JSON.
    source : str
        What errors call it.

    Raises
    ------
    FormatError
        If it is none of netloom's.
    """
    try:
        found = json.loads(data, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
        verb = str(found["schema"]).split("/")[0]
        known = verb.startswith("netloom.") and isinstance(found["result"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise FormatError(f"{source}: {EXPECTED}", source)
    return {"kind": "result", "verb": verb.removeprefix("netloom."), "document": found}


def _finite(word: str) -> float:
    """A number of JSON, which has no infinity."""
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(word)
    return value


def _whole(word: str) -> int:
    """A whole number, of which there is a floating-point one."""
    _finite(word)
    return int(word)


_ENDS = {
    "bytes_per_s": "B/s",
    "bytes_per_second": "B/s",
    "_bytes": "B",
    "_percent": "%",
    "_us": "µs",
    "_ms": "ms",
    "_ns": "ns",
    "_ps": "ps",
    "_mb": "MB",
    "_seconds": "s",
    "_utilisation": "share",
    "_share": "share",
}
"""What keys of results end in, and the unit that it says."""
_WHOLE = {"bytes": "B", "seconds": "s", "utilisation": "share", "time_to_best": "s"}
"""Keys that say no unit, and theirs."""
_LOADS = dict.fromkeys(
    ("max_load", "mean_load", "max_load_between_switches", "ar_bound", "ar_bound_upper", "lower_bound"), "B"
) | {"any_bound": "B", "load": "B", "value": "B", "ftree_max_load": "B"}
"""The same of verbs that tell loads of links."""
_OF_ROUTINGS = {"max_load": "B", "mean_load": "B"}
"""The same of runs."""
_TELL_LOADS = ("loads", "route", "optimize", "plot-loads", "demo")


def unit(path: str, verb: str = "") -> str:
    """The unit that a key says, or those that it lies in: `latency_us/p99` is in microseconds.

    Examples
    --------
    >>> unit("message_latency_us/p99"), unit("load", "loads"), unit("load", "simulate")
    ('µs', 'B', 'n')
    """
    known = _WHOLE | (_LOADS if verb in _TELL_LOADS else _OF_ROUTINGS)
    for key in reversed(path.split("/")):
        if key in known:
            return known[key]
        for end, word in _ENDS.items():
            if key.endswith(end):
                return word
    return "n"


def head(path: str) -> str:
    """What a key is called: `ar_gap_percent` is the AR gap.

    Examples
    --------
    >>> head("ar_gap_percent"), head("objective/lower_bound")
    ('AR gap', 'objective: lower bound')
    """
    words = path.removesuffix("_percent").replace("_", " ").replace("/", ": ")
    return f"AR{words[2:]}" if words.startswith("ar ") else words


def tables(value: Any, at: str, name: str) -> list[tuple[str, str, list[tuple[str, Any]], list[str]]]:
    """What of a result lies in which table: its name, where it is, its rows and its columns.

    What no row has is left out. An object is a table of one row; one inside of it adds its columns, a list of
    objects is another table.
    """
    found: list[tuple[str, str, list[tuple[str, Any]], list[str]]] = []
    rows = value if isinstance(value, list) else [value]
    heads: dict[str, None] = {}
    for number, row in enumerate(rows):
        here = f"{at}/{number}" if isinstance(value, list) else at
        for key, item in _flat(row):
            if isinstance(item, list) and item and all(isinstance(one, dict) for one in item):
                label = (
                    f"{name} {number + 1}: {key}" if len(rows) > 1 else f"{name}: {key}".removeprefix(": ")
                )
                found += tables(item, f"{here}/{key}", label)
            elif item is not None and item != []:
                heads[key] = None
    columns = list(heads)
    if columns:
        pointers = range(len(rows))
        listed = [(f"{at}/{n}" if isinstance(value, list) else at, rows[n]) for n in pointers]
        found.insert(0, (name, at, listed, columns))
    return found


def _flat(row: Any, before: str = "") -> list[tuple[str, Any]]:
    """Keys and values of an object, with those of objects in it as `outer/inner`."""
    found: list[tuple[str, Any]] = []
    for key, value in row.items():
        path = f"{before}{escaped(key)}"
        if isinstance(value, dict):
            found += _flat(value, f"{path}/")
        else:
            found.append((path, value))
    return found


def escaped(key: str) -> str:
    """A key as JSON pointers have it."""
    return key.replace("~", "~0").replace("/", "~1")
