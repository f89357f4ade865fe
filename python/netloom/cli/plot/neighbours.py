"""`netloom plot slowdown`, `plot tail`, `plot noise`: what neighbours cost a job, and on which links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.options import PictureOptions
from netloom.drawing import runs, tables
from netloom.shown import legend


def slowdown(
    result: str, /, *, job: str | None = None, title: str | None = None, options: PictureOptions | None = None
) -> int:
    """Draw what a job's time is spent on under every routing: computing, communicating, held up.

    Parameters
    ----------
    result
        What `netloom simulate --mappings … --alone --format json` printed: times beside the neighbours, and
        alone.
    job
        Only this job. [default: all that end by themselves]
    title
        Above the picture; by default the scenario's name and hosts.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-slowdown", options),
        lambda run, kind: tables.slowdown(run, result, job=job, title=title, kind=kind),
        _slowdown_text,
    )


def _slowdown_text(result: Mapping[str, Any]) -> str:
    rows = [
        [
            legend.name(row["routing"]),
            row["job"],
            *(f"{row[key]:.3f}" for key in ("compute_ms", "communicate_ms", "held_up_ms")),
            f"{row['times_alone']:.2f}",
        ]
        for row in result["bars"]
    ]
    header = ["routing", "job", "computing (ms)", "communicating", "held up", "times alone"]
    table = render.table(header, rows, right=range(2, 6))
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"


def tail(
    folder: Path,
    /,
    *,
    job: str | None = None,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw the tail of message latency: which share of a job's messages takes longer, a curve a routing.

    Parameters
    ----------
    folder
        What `netloom simulate -o` wrote.
    job
        Whose messages. [default: the scenario's first]
    title
        Above the picture; by default the scenario's name, the job and the hosts.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-tail", options, tables=True),
        lambda run, kind: runs.tail(run, folder, job=job, title=title, kind=kind),
        _tail_text,
    )


def _tail_text(result: Mapping[str, Any]) -> str:
    rows = [
        [
            legend.name(row["routing"]),
            f"{row['messages']:,}",
            *(f"{row[key]:.1f}" for key in ("p50_us", "p99_us", "max_us")),
        ]
        for row in result["curves"]
    ]
    table = render.table(["routing", "messages", "half within (µs)", "99 %", "all"], rows, right=range(1, 5))
    return f"{table}\n\n{render.pairs([('job', result['job']), ('written', str(result['output']))])}"


def noise(
    result: str,
    /,
    *,
    job: str | None = None,
    routing: str | None = None,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw at which links a job waits behind bytes of other jobs, and whose these are.

    Parameters
    ----------
    result
        What `netloom noise --format json` printed.
    job
        Which job waits. [default: the one that waits longest]
    routing
        Under which routing. [default: the first one under which it waits]
    title
        Above the picture; by default the scenario's name, the job and the routing.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-noise", options),
        lambda run, kind: tables.noise(run, result, job=job, routing=routing, title=title, kind=kind),
        _noise_text,
    )


def _noise_text(result: Mapping[str, Any]) -> str:
    rows = [[row["link"], f"{row['behind_ms']:.3f}", row["most"]] for row in result["links"]]
    table = render.table(["link", "waits (ms)", "most behind"], rows, right=[1])
    last = [("job", result["job"]), ("routing", result["routing"]), ("written", str(result["output"]))]
    return f"{table}\n\n{render.pairs(last)}"
