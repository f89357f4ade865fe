"""`netloom interference`: minutes that jobs lost to their neighbours, from accounting and counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping


_TOLD_PERCENT = 0.1
"""Of all bytes: less than that by unlisted runs is not worth a line."""


def interference(
    runs: str,
    fabric: str,
    routes: str,
    counters: str,
    /,
    *,
    instead: str | None = None,
    most: Annotated[int, options.COUNT] = 20,
    options: Computing | None = None,
) -> int:
    """Minutes that jobs lost to their neighbours, each with a 95 % interval, the link and the neighbours.

    A run of a job is compared with runs of the same job that nobody disturbed. Where there are too few of
    those it says so. Simulated jobs are compared with themselves alone: see `netloom noise`.

    Parameters
    ----------
    runs
        What ran when and where: a table with the columns job, number, start, end (seconds) and hosts (names
        with spaces between), or what Slurm's `sacct` prints.
    fabric
        A dump, or a generator spec.
    routes
        The routes in force: a file, or an engine's name.
    counters
        Counters of all links by the clock of RUNS, several intervals a run: an exporter's samples, a table.
    instead
        Other routes, a file or an engine's name: how far the runs would be exposed with these.
    most
        How many runs the printed table shows; JSON and CSV have all.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    from netloom.interference.calls import find_interference

    run = Run("interference", options or Computing(), product=False)
    result = find_interference(runs, fabric, routes, counters, instead=instead, session=run)
    return run.finish(result, lambda: _text(result, most), rows=[_flat(row) for row in result["jobs"]])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    link = row["worst_link"]
    flat = {key: value for key, value in row.items() if key not in ("worst_link", "neighbours")}
    flat["worst_link"] = None if link is None else link["link"]
    flat["neighbours"] = " ".join(f"{one['name']}.{one['number']}".strip(".") for one in row["neighbours"])
    return flat


def _text(result: dict[str, Any], most: int) -> str:
    from netloom.interference.losses import REASONS

    def interval(row: Mapping[str, Any]) -> list[str]:
        if row["minutes_lost"] is None:
            return ["-", "-"]
        return [f"{row['minutes_lost']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}"]

    parts = []
    header = ["told runs of a job", "hosts", "minutes lost", "95 %", "quiet runs"]
    lines = [
        [row["job"], str(row["hosts"]), *interval(row), str(row["quiet_runs"])] for row in result["together"]
    ]
    parts.append(render.table(header, lines, right=range(1, 5)))
    alone = [row for row in result["jobs"] if row["no_statement"] is None and row["worst_link"] is None]
    told = [row for row in result["jobs"] if row["no_statement"] is None and row["worst_link"] is not None]
    told.sort(key=lambda row: (-row["minutes_lost"], row["name"], row["number"]))
    moved = any(row["instead_percent"] is not None for row in told)
    header = ["run", "minutes", "lost", "95 %", "exposed", "on the link", "to"]
    lines = []
    for row in told[:most]:
        link, neighbours = row["worst_link"], row["neighbours"]
        to = ", ".join(f"{one['name']} {one['number']}".strip() for one in neighbours[:2])
        line = [
            f"{row['name']} {row['number']}",
            f"{row['minutes']:.1f}",
            *interval(row),
            f"{row['exposed_percent']:.1f} %",
            "-" if link is None else f"{link['from']}[{link['from_port']}] {link['to']}[{link['to_port']}]",
            (to + (f", {len(neighbours) - 2} more" if len(neighbours) > 2 else "")) or "-",
        ]
        if moved:
            line.append(f"{row['estimated_percent']:.1f} % > {row['instead_percent']:.1f} %")
        lines.append(line)
    if lines:
        header = [*header, *(["with other routes"] if moved else [])]
        parts.append(render.table(header, lines, right=range(1, 5)))
    if alone:
        parts.append(
            f"{render.count(len(alone))} runs lost nothing: no neighbour's bytes were on links of theirs"
        )
    silent: dict[str, int] = {}
    for row in result["jobs"]:
        if row["no_statement"] is not None:
            silent[row["no_statement"]] = silent.get(row["no_statement"], 0) + 1
    parts.extend(
        f"no statement of {render.count(count)} run{'s' * (count > 1)}: {text}"
        for why, text in REASONS.items()
        if (count := silent.get(why))
    )
    if result["unlisted_percent"] >= _TOLD_PERCENT:
        parts.append(
            f"{result['unlisted_percent']:.1f} % of what hosts sent was sent while no listed run was on "
            "them: a neighbour that is not listed"
        )
    if len(told) > most:
        parts.append(f"{render.count(len(told) - most)} more runs: --most, or -o")
    parts.extend(f"left out: {text}" for text in result["left_out"][:5])
    if len(result["left_out"]) > 5:
        parts.append(f"{render.count(len(result['left_out']) - 5)} more left out: -o")
    return "\n\n".join(parts)
