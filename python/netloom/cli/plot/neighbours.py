"""`netloom plot slowdown`, `plot tail`, `plot noise`: what neighbours cost a job, and on which links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.cli.plot import documents
from netloom.cli.plot.command import picture_kind, prepared
from netloom.cli.shared import render
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.errors import FormatError
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom.plot.routings.tail import Latencies

_EXPECTED = "expected what netloom simulate SCENARIO --mappings block --alone --format json prints"
_OF_NOISE = "expected what netloom noise SCENARIO --format json prints"
_HISTOGRAMS = ("what", "job", "from_ps", "to_ps", "count")
_MESSAGES = "messages"


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
    from netloom.plot.routings.slowdown import Bar, slowdown_picture

    run = prepared("plot-slowdown", options)
    table = _table(run, result)
    known = [row for row in table["rows"] if row["alone_ms"] and row["completion_ms"] is not None]
    chosen = [row for row in known if job in (None, row["job"])]
    if not chosen:
        names = ", ".join(dict.fromkeys(row["job"] for row in known)) or "one that ends by itself"
        what = "no job was simulated alone" if job is None else f'has no job "{job}"'
        raise FormatError(f"{documents.name_of(result)}: {what}: expected {names}")
    several = {key: len({row[key] for row in chosen}) > 1 for key in ("job", "mapping")}
    bars = []
    for row in chosen:
        words = [row[key] for key in ("job", "mapping") if several[key]]
        name = " · ".join([*words, legend.name(row["routing"])])
        bars.append(Bar(name, row["time"]["compute_ms"], row["alone_ms"], row["completion_ms"]))
    told = f"{table['scenario']} ({table['hosts']:,} hosts): what {_jobs(chosen)} waits for"
    with run.timed("draw"):
        picture = slowdown_picture(bars, title=title or told, kind=picture_kind(run))
    rows = [
        {
            "routing": row["routing"],
            "job": row["job"],
            "mapping": row["mapping"],
            "compute_ms": bar.parts[0],
            "communicate_ms": bar.parts[1],
            "held_up_ms": bar.parts[2],
            "completion_ms": row["completion_ms"],
            "times_alone": row["completion_ms"] / row["alone_ms"],
        }
        for row, bar in zip(chosen, bars, strict=True)
    ]
    out: dict[str, Any] = {"scenario": table["scenario"], "bars": rows, "output": run.write(picture)}
    return run.finish(out, lambda: _slowdown_text(out), rows=rows)


def _jobs(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(row["job"] for row in rows))
    return names[0] if len(names) == 1 else "every job"


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


def _table(run: Run, source: str) -> dict[str, Any]:
    """The result of `netloom simulate --mappings … --alone`."""

    def is_known(document: dict[str, Any]) -> bool:
        table = document["result"]
        known = str(document["schema"]).startswith("netloom.simulate-table/1")
        known = known and isinstance(table["scenario"], str) and isinstance(table["hosts"], int)
        return known and all(map(_drawable, table["rows"]))

    table: dict[str, Any] = documents.read(run, source, _EXPECTED, is_known)["result"]
    return table


def _drawable(row: dict[str, Any]) -> bool:
    words = all(isinstance(row[key], str) for key in ("routing", "job", "mapping"))
    times = (row["alone_ms"], row["completion_ms"], row["time"]["compute_ms"])
    return words and all(
        one is None or (isinstance(one, int | float) and math.isfinite(one) and one >= 0) for one in times
    )


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
    run = prepared("plot-tail", options, tables=True)
    from netloom.plot.routings.tail import tail_picture
    from netloom.runs import folder as runs

    manifest = runs.read_manifest(folder)
    run.read("run", str(folder / runs.MANIFEST))
    if not manifest["runs"]:
        raise FormatError(f"{folder}: has no routing to draw")
    tables = [_latencies(run, folder, entry) for entry in manifest["runs"]]
    names = list(dict.fromkeys(name for _, of in tables for name in of))
    whose = job or (names[0] if names else "")
    curves = [of[whose] for _, of in tables if whose in of]
    without = [routing for routing, of in tables if whose not in of]
    if not curves:
        expected = ", ".join(names) or "one that sends messages"
        raise FormatError(f'{folder}: no messages of job "{whose}": expected {expected}')
    for routing in without:
        run.note(f'{routing}: no messages of job "{whose}": not drawn', kind="warning")
    told = f"{manifest['scenario']['name']} ({manifest['hosts']:,} hosts): messages of {whose}"
    with run.timed("draw"):
        picture = tail_picture(curves, title=title or told, kind=picture_kind(run))
    rows = [
        {
            "routing": curve.name,
            "messages": int(curve.count.sum()),
            "p50_us": curve.quantile(0.5),
            "p99_us": curve.quantile(0.99),
            "max_us": float(curve.at_us[-1]),
        }
        for curve in curves
    ]
    result: dict[str, Any] = {
        "job": whose,
        "curves": rows,
        "without": without,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: _tail_text(result), rows=rows)


def _latencies(run: Run, folder: Path, entry: Mapping[str, Any]) -> tuple[str, dict[str, Latencies]]:
    """A routing, and the messages under it of every job that sent some."""
    from netloom.plot.routings.tail import Latencies
    from netloom.runs import folder as runs
    from netloom.runs.panels import columns_of

    table = columns_of(runs.reader(run), folder, entry, "latencies", _HISTOGRAMS)
    if table is None:
        raise FormatError(f"{folder / entry['folder']}: has no table of latencies")
    routing, found = str(entry["routing"]), {}
    messages = np.asarray([str(what) == _MESSAGES for what in table["what"]], bool) & (table["count"] > 0)
    jobs = np.asarray([str(name) for name in table["job"]], object)
    for name in dict.fromkeys(jobs[messages].tolist()):
        chosen = messages & (jobs == name)
        order = np.argsort(table["to_ps"][chosen], kind="stable")
        at_us = table["to_ps"][chosen][order].astype(np.float64) * 1e-6
        found[name] = Latencies(routing, at_us, table["count"][chosen][order].astype(np.int64))
    return routing, found


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
    from netloom.plot.routings.waits import Link, waits_picture

    run = prepared("plot-noise", options)

    def is_known(document: dict[str, Any]) -> bool:
        found = document["result"]
        known = str(document["schema"]).startswith("netloom.noise/1") and isinstance(found["scenario"], str)
        return known and all(
            isinstance(of["name"], str) and all(map(_is_link, of["links"] or ()))
            for one in found["runs"]
            for of in one["jobs"]
            if isinstance(one["routing"], str)
        )

    table = documents.read(run, result, _OF_NOISE, is_known)["result"]
    waiting = [(one["routing"], of) for one in table["runs"] for of in one["jobs"] if of["links"]]
    chosen = [(word, of) for word, of in waiting if job in (None, of["name"]) and routing in (None, word)]
    if not chosen:
        known = ", ".join(dict.fromkeys(f"{of['name']} under {word}" for word, of in waiting))
        what = "no job waits behind others" if job is None and routing is None else "nothing like that waits"
        raise FormatError(f"{documents.name_of(result)}: {what}: expected {known or 'one that does'}")

    def waits(of: Mapping[str, Any]) -> int:
        return sum(int(link["behind_ps"]) for link in of["links"])

    whose = job or max(chosen, key=lambda one: waits(one[1]))[1]["name"]
    word, of = next((word, of) for word, of in chosen if of["name"] == whose)
    links = [
        Link(_ends(link), {other["job"]: other["behind_ps"] * 1e-9 for other in link["jobs"]})
        for link in of["links"]
    ]
    told = f"{table['scenario']}, {legend.name(word)}: where {whose} waits"
    with run.timed("draw"):
        picture = waits_picture(links, title=title or told, kind=picture_kind(run))
    rows = [
        {"link": _ends(link), "behind_ms": link["behind_ps"] * 1e-9, "most": link["jobs"][0]["job"]}
        for link in of["links"]
    ]
    out: dict[str, Any] = {"job": whose, "routing": word, "links": rows, "output": run.write(picture)}
    return run.finish(out, lambda: _noise_text(out), rows=rows)


def _ends(link: Mapping[str, Any]) -> str:
    return f"{link['from']}[{link['from_port']}] \u2192 {link['to']}[{link['to_port']}]"


def _is_link(link: Mapping[str, Any]) -> bool:
    parts = [link["behind_ps"], *(other["behind_ps"] for other in link["jobs"])]
    return (
        bool(link["jobs"])
        and all(isinstance(ps, int) and 0 < ps < 10**18 for ps in parts)
        and all(isinstance(other["job"], str) for other in link["jobs"])
    )


def _noise_text(result: Mapping[str, Any]) -> str:
    rows = [[row["link"], f"{row['behind_ms']:.3f}", row["most"]] for row in result["links"]]
    table = render.table(["link", "waits (ms)", "most behind"], rows, right=[1])
    last = [("job", result["job"]), ("routing", result["routing"]), ("written", str(result["output"]))]
    return f"{table}\n\n{render.pairs(last)}"
