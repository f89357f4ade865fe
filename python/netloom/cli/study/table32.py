"""`netloom study table32`: table 3.2 of Taffet's dissertation, by its own models and an open solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run


def table32(
    *traffic: str,
    fabric: str | None = None,
    models: str = "basic,partitioned,combined",
    each: Annotated[float, options.within(0, 1e6)] = 60.0,
    options: Computing | None = None,
) -> int:
    """Table 3.2 of the dissertation: AR gaps of its integer models, each from ftree's tables.

    Basic MCF, Partitioned Binary and both combined, by HiGHS (`pip install 'netloom-hpc[exact]'`), or
    Gurobi if only that is installed. No model starts from netloom's own search.

    Parameters
    ----------
    traffic
        Patterns, traffic files, or jobs files (`examples/jobs/table`). [default: the table's five synthetic
        rows]
    fabric
        A dump, or a generator spec. [default: trees of quartz1's shape with 16, 32 and 128 hosts]
    models
        Which, with commas: basic, partitioned, combined.
    each
        Seconds by the clock for each model; the table's runs had 720, on 48 cores.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    from netloom.exact.solvers import solver_named
    from netloom.studies.static import runs

    run = Run("static-study", options or Computing(), product=False)
    try:
        asked = runs.known_models([word.strip() for word in models.split(",")])
    except ValueError as error:
        raise UsageError(f"--models {models}: {error}") from None
    solver_named("auto")
    rows: list[runs.Row] = []
    stopped: str | None = None
    nets = [(spec, run.fabric(spec)) for spec in (runs.TREES if fabric is None else (fabric,))]
    cases = [
        (spec, net, source, run.traffic(source, net))
        for spec, net in nets
        for source in traffic or runs.patterns(net.hosts)
    ]
    run.keeps()
    with run.timed("solve"), run.bars() as bars:
        task = None if bars is None else bars.add_task("study", total=len(cases) * len(asked), told="")
        try:
            for spec, net, source, wanted in cases:
                for model in asked:
                    left = run.left
                    if left is not None and left <= 0:
                        raise TimeoutError
                    if bars is not None and task is not None:
                        bars.update(task, completed=len(rows), told=f"{source}, {net.hosts} hosts: {model}")
                    limit = each if left is None else min(each, left)
                    threads, seed = run.threads, run.seed
                    row = runs.solved(
                        spec, net, source, wanted, model, time_limit=limit, threads=threads, seed=seed
                    )
                    if row.status == "interrupted":
                        raise KeyboardInterrupt
                    rows.append(row)
        except TimeoutError:
            stopped = "time-limit"
        except KeyboardInterrupt:
            stopped = "interrupted"
    found = [row.result() for row in rows]
    result = {
        "models": asked,
        "each_seconds": each,
        "rows": found,
        "stopped": stopped,
        "reproducible": stopped is None and not any(row.status == "time-limit" for row in rows),
    }
    return run.finish(result, lambda: _text(result), rows=found, stopped=stopped)


def _text(result: Mapping[str, Any]) -> str:
    parts = []
    cases: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for row in result["rows"]:
        cases.setdefault((row["fabric"], row["hosts"], row["traffic"]), []).append(row)
    lines = [
        [f"{hosts:,}", source, *_cells(rows, result["models"])] for (_, hosts, source), rows in cases.items()
    ]
    if lines:
        names = list(result["models"])
        there = [f"there: {name}" for name in [*names, "possible"]]
        header = ["hosts", "traffic", "ftree", *names, "possible", *there]
        right = [0, *range(2, len(header))]
        parts.append(f"AR gaps (table 3.2)\n{render.table(header, lines, right=right)}")
    if any(row["status"] == "time-limit" for row in result["rows"]):
        parts.append("* ended by its time, with what it had reached; - gave no routes of its own")
    if result["stopped"]:
        parts.append(f"stopped: {result['stopped'].replace('-', ' ')}; the rest was not run")
    return "\n\n".join(parts)


def _cells(rows: Sequence[Mapping[str, Any]], models: Sequence[str]) -> list[str]:
    by = {row["model"]: row for row in rows}
    first = rows[0]
    there = [by[model]["published_percent"] if model in by else None for model in models]
    known = first["published_as"] is not None
    return [
        render.percent(first["ftree_gap_percent"]),
        *(_own(by[model]) if model in by else "" for model in models),
        render.percent(first["possible_gap_percent"]),
        *("" if not known else "-" if gap is None else f"{gap:.2f} %" for gap in there),
        first["published_possible"] or "",
    ]


def _own(row: Mapping[str, Any]) -> str:
    if row["status"] == "too-large":
        return "too large"
    mark = "*" if row["status"] == "time-limit" else ""
    own = row["own_gap_percent"]
    return ("-" if own is None else render.percent(own)) + mark
