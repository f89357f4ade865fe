"""What `netloom sweep` tells: the result's keys, and the same as text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom.sweeps.engine import Outcome
    from netloom.sweeps.preparation import Prepared

_MOST = 40
"""Groups that the text has; the result has all."""


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
        "interval": _interval(summary, seed),
        "groups": summary.groups(table, prepared.spec, seed),
        "errors": _errors(table),
    }


def script_result(
    prepared: Prepared,
    counts: tuple[int, int, int, int],
    by: Mapping[str, Any],
    script: str | None,
    seed: int,
) -> dict[str, Any]:
    """The result object where only a script was written; `counts`: runs, done, reused, failed."""
    from netloom.sweeps import summary

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
        "interval": _interval(summary, seed),
        "groups": [],
        "errors": [],
    }


def script_text(result: Mapping[str, Any], sweep: str, folder: str) -> str:
    """What is to be done with the script."""
    count = render.count
    script = shlex.quote(str(result["script"]))
    left = result["runs"] - result["done"]
    return render.pairs(
        [
            ("sweep", f"{result['scenario']}: {count(left)} of {count(result['runs'])} runs to do"),
            ("script", f"{result['script']}, an array of {count(result['workers'])} tasks"),
            ("now", f"sbatch {script}"),
            ("then", shlex.join(["netloom", "sweep", "merge", sweep, folder])),
        ]
    )


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


def part_text(result: Mapping[str, Any]) -> str:
    """A line."""
    return render.pairs([("part", f"{result['part']} of {render.count(result['parts'])}: {_done(result)}")])


def _interval(summary: Any, seed: int) -> dict[str, Any]:
    return {
        "method": summary.METHOD,
        "level": summary.LEVEL,
        "resamples": summary.RESAMPLES,
        "seed": seed,
    }


def _errors(table: pa.Table) -> list[dict[str, Any]]:
    """What failed runs said, the most frequent first."""
    counts: dict[str, int] = {}
    for error in table["error"].to_pylist():
        if error is not None:
            counts[error] = counts.get(error, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"error": error, "runs": number} for error, number in ordered[:20]]


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV holds: a row a group and key."""
    return [
        {**group["by"], "key": key, "runs": group["runs"], "failed": group["failed"], **value}
        for group in result["groups"]
        for key, value in group["values"].items()
    ]


def text(result: Mapping[str, Any]) -> str:
    """The report."""
    count = render.count
    level = f"{100 * result['interval']['level']:.0f} %"
    head = [
        ("sweep", f"{result['scenario']}: {_done(result)}"),
        ("table", f"{result['table']}, {count(result['rows'])} rows"),
    ]
    parts = [render.pairs(head)]
    if result["groups"]:
        parts.append(f"mean and its {level} interval ({result['interval']['method']})\n{_groups(result)}")
    failed = [(f"{count(one['runs'])} x", one["error"]) for one in result["errors"]]
    if failed:
        parts.append(f"failed\n{render.pairs(failed)}")
    return "\n\n".join(parts)


def _done(result: Mapping[str, Any]) -> str:
    count = render.count
    runs = f"{count(result['done'])} of {count(result['runs'])} done"
    if result["reused"] and result.get("engine") != "merge":
        runs += f", {count(result['reused'])} of them before"
    if result["failed"]:
        runs += f", {count(result['failed'])} failed"
    if result["stopped"] is not None:
        runs += f" ({result['stopped']}: the same command goes on)"
    return runs


def _groups(result: Mapping[str, Any]) -> str:
    shown: Sequence[Mapping[str, Any]] = result["groups"][:_MOST]
    names, keys = list(shown[0]["by"]), list(shown[0]["values"])
    lines = [
        [
            *(_word(group["by"][name]) for name in names),
            render.count(group["runs"]),
            *(_cell(group["values"][key]) for key in keys),
        ]
        for group in shown
    ]
    header = [*names, "runs", *keys]
    told = render.table(header, lines, right=[len(names)])
    more = len(result["groups"]) - len(shown)
    return told + (f"\n… and {render.count(more)} groups more: --format csv has them" if more else "")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _cell(value: Mapping[str, Any]) -> str:
    if value["mean"] is None:
        return "-"
    between = "" if value["low"] is None else f" [{value['low']:.4g}, {value['high']:.4g}]"
    return f"{value['mean']:.4g}{between}"


def clock(seconds: float) -> str:
    """A length of time as people say it: `40 s`, `3 min`, `2 h 10 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    if whole < 6000:
        return f"{round(whole / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
