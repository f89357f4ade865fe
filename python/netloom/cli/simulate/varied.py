"""`netloom simulate --loads` and `--mappings`: a scenario again and again, one thing different, as a table.

With `--alone` every job runs once more by itself, on the same hosts and routes: how much slower it is beside
the others is its slowdown.

Invariant: all variants run side by side, each as `netloom simulate --set …` would; rows are as asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import inputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.simulate import report
from netloom.errors import FormatError
from netloom.session.side_by_side import partitions, side_by_side

if TYPE_CHECKING:
    from netloom._core import Scenario


@dataclass(frozen=True)
class Variant:
    """A scenario with one thing set.

    Attributes
    ----------
    load : float or None
        What all its jobs that offer load were told to offer.
    mapping : str or None
        Where the ranks of all its jobs are.
    overrides : list of str
        As `--set` says it.
    """

    load: float | None
    mapping: str | None
    overrides: list[str]

    @property
    def name(self) -> str:
        """As progress and errors say it."""
        return f"load {self.load:g}" if self.load is not None else str(self.mapping)


def words(option: str, text: str, *, split: str = ",") -> list[str]:
    """What an option lists, separated by commas (or what `split` matches).

    Raises
    ------
    UsageError
        If something is missing or there twice.
    """
    found = [word.strip() for word in re.split(split, text)]
    if not all(found) or len(set(found)) < len(found):
        raise UsageError(f'{option} "{text}": expected different values separated by commas')
    return found


def variants_of(given: Scenario, loads: str | None, mappings: str | None) -> list[Variant]:
    """What is to be run.

    Raises
    ------
    UsageError
        If the options make no sense for this scenario.
    """
    if mappings is not None:
        names = given.jobs_of_file or [job.name for job in given.jobs]
        told = [
            (word, [f"job.{name}.mapping={json.dumps(word)}" for name in names])
            # (The commas of `fill-leaves:1,2` are its own.)
            for word in words("--mappings", mappings, split=r",(?!\s*\d)")
        ]
        return [Variant(None, word, overrides) for word, overrides in told]
    names = given.offering
    if not names:
        raise UsageError(f'--loads: no job of {given.path} offers load (a program of kind "uniform" does)')
    found = []
    for word in words("--loads", loads or ""):
        try:
            load = float(word)
        except ValueError:
            raise UsageError(f'--loads "{word}": expected shares of a link such as 0.1,0.5,0.9') from None
        found.append(Variant(load, None, [f"job.{name}.program.load={load!r}" for name in names]))
    return found


def varied(
    scenario: str,
    overrides: Sequence[str],
    *,
    loads: str | None,
    mappings: str | None,
    alone: bool,
    options: Options,
) -> int:
    """Runs every variant under every routing and tells all as one table; `-o` takes it as JSON or CSV."""
    from netloom import _core

    run = Run("simulate-table", options, product=False, endings=(".json", ".csv"), searches=True)
    run.read("scenario", scenario)
    with run.timed("read"):
        base = _core.Scenario.read(scenario, overrides)
        run.note_planes(base.fabric)
        inputs.note_jobs_file(run, base)
        run.note_fallbacks(base.routings, base.fabric)
        variants = variants_of(base, loads, mappings)
        scenes = [_scene(scenario, overrides, variant) for variant in variants]
    for role, path in {entry for scene in scenes for entry in scene.files}:
        run.read(role, str(path))
    cases = {
        f"{variant.name}, {word}": (variant, scene, word)
        for variant, scene in zip(variants, scenes, strict=True)
        for word in scene.routings
    }
    done: dict[str, list[dict[str, Any]]] = {}

    def work(name: str, threads: int, left: float | None, progress: Any) -> list[dict[str, Any]]:
        variant, scene, word = cases[name]
        routes = scene.routes(word, threads=threads, progress=progress)
        settings = {
            "routes": routes,
            "threads": partitions(run, threads),
            "time_limit": left,
            "progress": progress,
        }
        found = _core.simulate(scene, word, **settings).result()
        apart = alone_ms(scene, word, settings) if alone else {}
        return rows_of(variant, found, apart)

    def ended(name: str, rows: list[dict[str, Any]]) -> None:
        done[name] = rows

    with run.timed("simulate"):
        side_by_side(run, list(cases), work, ended)
    rows = [row for name in cases for row in done.get(name, [])]
    _add_ratios(rows)
    result: dict[str, Any] = {
        "scenario": base.name,
        "model": base.model,
        "profile": base.profile,
        "hosts": base.fabric.hosts,
        "switches": base.fabric.switches,
        "seed": base.seed,
        "varied": "load" if loads is not None else "mapping",
        "rows": rows,
        "not_run": [name for name in cases if name not in done],
    }
    return run.finish(
        result,
        lambda: text(result),
        rows=flat(rows),
        findings=any(row["stopped"] == "deadlock" for row in rows),
    )


def _scene(path: str, overrides: Sequence[str], variant: Variant) -> Scenario:
    """The scenario with one thing set; what cannot be set is a wrong option, not a wrong file."""
    from netloom import _core

    try:
        return _core.Scenario.read(path, [*overrides, *variant.overrides])
    except FormatError as error:
        option, given = "--mappings", variant.mapping
        if variant.load is not None:
            option, given = "--loads", f"{variant.load:g}"
        # (The words after `--set …: ` name the setting and what was expected.)
        told = str(error).removeprefix("--set ").partition(": ")[2] or str(error)
        raise UsageError(f"{option} {given}: {told}") from None


def alone_ms(scene: Scenario, word: str, settings: Mapping[str, Any]) -> dict[str, float | None]:
    """How long each job takes by itself on its hosts; a job that is alone anyway is left out."""
    from netloom import _core

    if len(scene.jobs) < 2:
        return {}
    found: dict[str, float | None] = {}
    for job in scene.jobs:
        if job.name not in scene.offering:
            one = _core.simulate(scene.alone(job.name), word, **settings).result()
            found[job.name] = one["jobs"][0]["completion_ms"] if one["stopped"] is None else None
    return found


def slowdown(job: Mapping[str, Any], alone: float | None) -> float | None:
    """A job's time over its time alone; None if either is unknown."""
    return job["completion_ms"] / alone if alone and job["completion_ms"] is not None else None


def rows_of(
    variant: Variant, found: Mapping[str, Any], apart: Mapping[str, float | None]
) -> list[dict[str, Any]]:
    """A row a job of one run."""
    return [
        {
            "load": variant.load,
            "mapping": variant.mapping,
            "routing": found["routing"],
            "job": job["name"],
            "ranks": job["ranks"],
            "completion_ms": job["completion_ms"],
            "ratio": None,
            "alone_ms": apart.get(job["name"]),
            "slowdown": slowdown(job, apart.get(job["name"])),
            "time": job["time"],
            "message_latency_us": job["message_latency_us"],
            "accepted": job["load"],
            "max_link_utilisation": found["max_link_utilisation"],
            "stopped": found["stopped"],
        }
        for job in found["jobs"]
    ]


def _add_ratios(rows: Sequence[dict[str, Any]]) -> None:
    """`ratio`: a job's completion over that in the table's first run."""
    first: dict[str, float | None] = {}
    for row in rows:
        base = first.setdefault(row["job"], row["completion_ms"])
        row["ratio"] = row["completion_ms"] / base if base and row["completion_ms"] is not None else None


def flat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds: a table for a data frame."""
    out = []
    for row in rows:
        plain = {key: value for key, value in row.items() if key not in _NESTED}
        plain |= {f"message_latency_{key}_us": value for key, value in row["message_latency_us"].items()}
        time = row["time"] or {}
        plain |= {key: time.get(key) for key in ("elapsed_ms", "compute_ms", "call_ms", "waiting_share")}
        plain |= report.load_columns({"load": row["accepted"]})
        out.append(plain)
    return out


_NESTED = ("time", "accepted", "message_latency_us")


def text(result: Mapping[str, Any]) -> str:
    """The table; below it what ended early."""
    head = [
        ("scenario", f"{result['scenario']}: {result['model']} model, profile {result['profile']}"),
        ("fabric", f"{render.count(result['hosts'])} hosts, {render.count(result['switches'])} switches"),
    ]
    parts = [render.pairs(head)]
    if result["rows"]:
        parts.append((_loads if result["varied"] == "load" else _mappings)(result["rows"]))
    tail = [
        ("cut", f"{row['mapping'] or row['load']}, {row['routing']}: {row['stopped']}")
        for row in result["rows"]
        if row["stopped"] is not None
    ]
    if result["not_run"]:
        tail.append(("not run", "; ".join(result["not_run"])))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts)


def _loads(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        if (load := row["accepted"]) is None:
            continue
        shares = [f"{100 * load[key]:.1f} %" for key in ("offered", "accepted")]
        latency = [report.number(load["latency_us"][key], 2) for key in ("mean", "p50", "p99")]
        told = "saturated" if load["saturated"] else ""
        lines.append([f"{row['load']:g}", row["routing"], row["job"], *shares, *latency, told])
    header = ["load", "routing", "job", "offered", "accepted", "latency mean (µs)", "p50", "p99", ""]
    return render.table(header, lines, right=[0, *range(3, 8)], spare=[6])


def _mappings(rows: Sequence[Mapping[str, Any]]) -> str:
    number = report.number
    lines, before = [], None
    with_alone = any(row["alone_ms"] is not None for row in rows)
    for row in rows:
        at = (row["mapping"], row["routing"])
        time = row["time"] or {}
        waits = sorted(time.get("waiting_ms", {}).items(), key=lambda item: -item[1])
        share = time.get("waiting_share")
        lines.append(
            [
                *(at if at != before else ("", "")),
                row["job"],
                number(row["completion_ms"], 3),
                number(row["ratio"], 2),
                *([number(row["alone_ms"], 3), number(row["slowdown"], 2)] if with_alone else []),
                "-" if share is None else f"{100 * share:.1f} %",
                ", ".join(f"{what} {number(ms, 3)}" for what, ms in waits[:_MOST]) or "-",
            ]
        )
        before = at
    header = ["mapping", "routing", "job", "complete (ms)", "ratio"]
    header += ["alone (ms)", "slowdown"] if with_alone else []
    header += ["waiting", "most of it in (ms a rank)"]
    return render.table(header, lines, right=range(3, len(header) - 1))


_MOST = 3
"""Calls that wait that are named in a row."""
