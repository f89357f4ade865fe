"""What a sweep has come to, as results: runs done and failed, means by group, what failed runs said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netloom import intervals
from netloom.simulating.skipping import largest
from netloom.sweeps.store import SKIPPED

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

    found = {
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
    if prepared.spec.skip_repeats is not None:
        found["skipped"] = _skipped(table, prepared.spec.skip_repeats)
    return found


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


def _skipped(table: pa.Table, allowed: float) -> dict[str, Any]:
    """What was not simulated, as it repeats what was: of the runs that ended, each once."""
    columns = [table[name].to_pylist() for name in ("run", *SKIPPED)]
    by_run = {run: told for run, *told in zip(*columns, strict=True) if told[0] is not None}
    shares = [share for share, _ in by_run.values()]
    return {
        "allowed": allowed,
        "runs": len(shares),
        "skipped": sum(share > 0 for share in shares),
        "share": sum(shares) / len(shares) if shares else 0.0,
        "error": largest(error for _, error in by_run.values()),
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
