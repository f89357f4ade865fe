"""What a sweep has come to, as results: runs done and failed, means by group, what failed runs said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netloom import intervals

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom.sweeps.engine import Outcome
    from netloom.sweeps.preparation import Prepared


def result(
    prepared: Prepared,
    outcome: Outcome,
    table: pa.Table,
    path: str,
    by: Mapping[str, Any],
    seconds: Mapping[str, float],
    seed: int,
) -> dict[str, Any]:
    """The result object."""
    from netloom.sweeps import summary

    return {
        "scenario": prepared.name,
        "runs": outcome.runs,
        "done": outcome.done,
        "reused": outcome.reused,
        "failed": outcome.failed,
        "stopped": outcome.stopped,
        "seconds": round(seconds.get("simulate", 0.0), 6),
        "cpu_seconds": round(outcome.cpu_seconds, 6),
        "engine": by["engine"],
        "workers": by["workers"],
        "table": path,
        "script": None,
        "rows": table.num_rows,
        "interval": _interval(seed),
        "groups": summary.groups(table, prepared.spec, seed),
        "sensitivity": summary.sensitivity(table, prepared.spec, seed),
        "errors": _errors(table, prepared),
    }


def script_result(
    prepared: Prepared,
    counts: tuple[int, int, int, int],
    by: Mapping[str, Any],
    script: str | None,
    seed: int,
) -> dict[str, Any]:
    """The result object where only a script was written; `counts`: runs, done, reused, failed."""
    return {
        "scenario": prepared.name,
        **dict(zip(("runs", "done", "reused", "failed"), counts, strict=True)),
        "stopped": None,
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        **by,
        "table": None,
        "script": script,
        "rows": 0,
        "interval": _interval(seed),
        "groups": [],
        "sensitivity": [],
        "errors": [],
    }


def part_result(
    prepared: Prepared, outcome: Outcome, number: int, count: int, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The result object of `sweep part`."""
    return {
        "scenario": prepared.name,
        "part": number,
        "parts": count,
        "runs": outcome.runs,
        "done": outcome.done,
        "reused": outcome.reused,
        "failed": outcome.failed,
        "stopped": outcome.stopped,
        "seconds": round(seconds.get("simulate", 0.0), 6),
        "cpu_seconds": round(outcome.cpu_seconds, 6),
    }


def _interval(seed: int) -> dict[str, Any]:
    return {
        "method": intervals.METHOD,
        "level": intervals.LEVEL,
        "resamples": intervals.RESAMPLES,
        "seed": seed,
    }


def _errors(table: pa.Table, prepared: Prepared) -> list[dict[str, Any]]:
    """What failed runs said, the most frequent first, and which line of the sweep that is."""
    counts: dict[str, int] = {}
    for error in table["error"].to_pylist():
        if error is not None:
            counts[error] = counts.get(error, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    found = []
    for error, number in ordered[:20]:
        key = next((key for key in prepared.spec.varied if error.startswith(f"{key}=")), None)
        at = None if key is None else prepared.spec.place(key)
        found.append({"at": at, "error": error, "runs": number})
    return found
