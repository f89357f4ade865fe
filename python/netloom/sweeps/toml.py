"""TOML that a scenario is written in: keys set by their dotted names, and the text of it all."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from typing import Any


def with_keys(scenario: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario with keys given other values, as `netloom simulate --set` gives them.

    In `job.NAME.…` the second word is a job's name, or its number from 1.

    Raises
    ------
    KeyError
        Naming the key, if there is no such job or a table of it is none.
    """
    found = copy.deepcopy(dict(scenario))
    for key, value in overrides.items():
        parts, at = key.split("."), found
        if parts[0] == "job" and len(parts) > 2:
            at, parts = _job(found, parts[1], key), parts[2:]
        for part in parts[:-1]:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise KeyError(key)
        at[parts[-1]] = value
    return found


def _job(scenario: Mapping[str, Any], name: str, key: str) -> dict[str, Any]:
    jobs = [job for job in scenario.get("job", ()) if isinstance(job, dict)]
    names = [str(job.get("name", f"job{number}")) for number, job in enumerate(jobs, 1)]
    if name in names:
        return jobs[names.index(name)]
    if name.isdecimal() and 1 <= int(name) <= len(jobs):
        return jobs[int(name) - 1]
    raise KeyError(key)


def text_of(table: Mapping[str, Any]) -> str:
    """A table as TOML: a line a key, and a section for every table of a list of tables."""
    plain: list[str] = []
    sections: list[str] = []
    for key, value in table.items():
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                lines = [f"{_quoted(name)} = {inline(what)}" for name, what in item.items()]
                sections += [f"[[{_quoted(key)}]]", *lines]
        else:
            plain.append(f"{_quoted(key)} = {inline(value)}")
    return "\n".join([*plain, *sections, ""])


def inline(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key)} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for pairs of surrogates: what is no ASCII stays as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
