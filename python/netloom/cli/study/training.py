"""`netloom study training`: eight training jobs, and what order and routes buy them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from netloom.cli.shared import render
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.studies import training as studied

if TYPE_CHECKING:
    from netloom._core import Fabric

_HEADS = {
    ("given", "ftree"): "ftree",
    ("given", "ecmp:pairs=4"): "ecmp",
    ("given", "adaptive"): "adaptive",
    ("given", "optimized"): "routes",
    ("leaf", "ftree"): "order",
    ("leaf", "ecmp:pairs=4"): "+ ecmp",
    ("leaf", "adaptive"): "+ adaptive",
    ("leaf", "optimized"): "both",
}
"""What a column is called: order of ranks and routing."""
_HELP = ("routes", "order", "both")
"""What is to help, and is judged: which jobs it serves worse than ftree."""


def training(
    *,
    fabric: str = "rail:units=4,machines=32,rails=8",
    model: Literal["packet", "fluid"] | None = None,
    options: Searching | None = None,
) -> int:
    """Eight training jobs on machines that are drawn: what order alone, routes alone, and both buy.

    Four rings, two all-to-all and two trees of NCCL share the fabric. Ranks stand in the order of the draw or
    by leaf; routes are ftree's, hashed on four queue pairs, adaptive, or optimised for all jobs.

    Parameters
    ----------
    fabric
        A fabric of 32 machines or more, with as many adapters each.
    model
        Also simulate the jobs side by side, a collective each: by packets, or as flows (without ecmp).
        [default: loads only]
    options
        Common options; `--seed` draws the machines, `-o` writes the result (.json, .csv, else text).
    """
    run = Run("training-study", options or Searching(), product=False)
    net = run.fabric(fabric)
    rows: list[dict[str, Any]] = []
    jobs: list[dict[str, Any]] = []
    with run.timed("study"):
        for placed, choice in studied.choices(run, net, model=model):
            jobs = _jobs(placed, net, choice.order, jobs)
            rows.append(
                {
                    "order": choice.order,
                    "routes": choice.routes,
                    "of_line_percent": choice.of_line,
                    "time_ms": choice.time_ms,
                }
            )
    result = {
        "model": model,
        "jobs": jobs,
        "choices": rows,
        "threshold_percent": studied.THRESHOLD,
        "slower": _slower(jobs, rows),
    }
    table = [
        {"job": job["name"], "order": row["order"], "routes": row["routes"], "of_line_percent": percent}
        | {"time_ms": None if row["time_ms"] is None else row["time_ms"][at]}
        for row in rows
        for at, (job, percent) in enumerate(zip(jobs, row["of_line_percent"], strict=True))
    ]
    return run.finish(result, lambda: _text(result), rows=table)


def _jobs(
    placed: Sequence[studied.Placed], net: Fabric, order: str, before: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The jobs with the hosts of their ranks in this order, and in those before."""
    table = net.host_table()
    rows = []
    for at, job in enumerate(placed):
        hosts = [int(host) for host in job.ranked.host_of_rank]
        rows.append(
            {
                "name": job.name,
                "algorithm": job.what.algorithm,
                "ranks": job.what.ranks,
                "machines": job.what.machines,
                "leaves": len({int(table["leaf"][host]) for host in hosts}),
                "machine_names": sorted({table["machine"][host] for host in hosts}),
                "hosts": (dict(before[at]["hosts"]) if before else {})
                | {order: [net.host_names[host] for host in hosts]},
            }
        )
    return rows


def _slower(jobs: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Jobs that optimised routes, the order, or both serve worse than ftree in the order given, by loads or
    by times, and by more than the threshold."""
    base = next(row for row in rows if (row["order"], row["routes"]) == ("given", "ftree"))
    found = []
    for row in rows:
        if _HEADS[row["order"], row["routes"]] not in _HELP:
            continue
        for at, job in enumerate(jobs):
            line = 100 * (row["of_line_percent"][at] / base["of_line_percent"][at] - 1)
            time = 100 * (row["time_ms"][at] / base["time_ms"][at] - 1) if row["time_ms"] else None
            if max(-line, time or 0) > studied.THRESHOLD:
                told = {"order": row["order"], "routes": row["routes"], "job": job["name"]}
                found.append(told | {"of_line_change_percent": line, "time_change_percent": time})
    return found


def _text(result: Mapping[str, Any]) -> str:
    said = "percent of line, from loads of all jobs at once"
    parts = [said + "\n" + _table(result, "of_line_percent", "{:.0f}", min, "least")]
    if result["model"]:
        by = {"packet": "by packets", "fluid": "as flows"}[result["model"]]
        parts.append(
            f"ms until a collective is complete, {by}\n" + _table(result, "time_ms", "{:.3f}", max, "most")
        )
    by = f"slower than with ftree as given, by more than {result['threshold_percent']:g} %"
    parts.append(by + "\n" + _slower_text(result))
    return "\n\n".join(parts)


def _table(result: Mapping[str, Any], key: str, form: str, worst: Any, called: str) -> str:
    columns = {_HEADS[row["order"], row["routes"]]: row[key] for row in result["choices"]}
    jobs = result["jobs"]
    cells = [
        [job["name"], job["algorithm"], f"{job['ranks']:,}"]
        + ["" if values is None else form.format(values[at]) for values in columns.values()]
        for at, job in enumerate(jobs)
    ]
    ends = ["" if values is None else form.format(worst(values)) for values in columns.values()]
    header = ["job", "collective", "ranks", *columns]
    return render.table(header, [*cells, [called, "", "", *ends]], right=range(2, len(header)))


def _slower_text(result: Mapping[str, Any]) -> str:
    lines = []
    for name in _HELP:
        told = [
            f"{row['job']} ({_by_how_much(row)})"
            for row in result["slower"]
            if _HEADS[row["order"], row["routes"]] == name
        ]
        lines.append((name, ", ".join(told) or "none"))
    return render.pairs(lines)


def _by_how_much(row: Mapping[str, Any]) -> str:
    parts = []
    if -row["of_line_change_percent"] > studied.THRESHOLD:
        parts.append(f"{-row['of_line_change_percent']:.1f} % less of line")
    if (row["time_change_percent"] or 0) > studied.THRESHOLD:
        parts.append(f"{row['time_change_percent']:.1f} % longer")
    return ", ".join(parts)
