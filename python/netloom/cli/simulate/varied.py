"""`netloom simulate --loads` and `--mappings`: a scenario again and again, one thing different: a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.cli.simulate import report
from netloom.errors import ArgumentError
from netloom.simulating.routings import opened
from netloom.simulating.varied import check_offers, of_variants, variants


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


def varied(
    scenario: str,
    overrides: Sequence[str],
    *,
    loads: str | None,
    mappings: str | None,
    alone: bool,
    options: Searching,
) -> int:
    """Runs every variant under every routing and tells all as one table; `-o` takes it as JSON or CSV."""
    run = Run("simulate-table", options, product=False, endings=(".json", ".csv"))
    given = opened(run, scenario, overrides, files=False)
    run.note_fallbacks(given.scenario.routings, given.scenario.fabric)
    try:
        if mappings is not None:
            # (The commas of `fill-leaves:1,2` are its own.)
            what = variants(given, None, words("--mappings", mappings, split=r",(?!\s*\d)"))
        else:
            check_offers(given.scenario)
            what = variants(given, shares(loads or ""), None)
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None
    result = of_variants(run, given.scenario, what, alone=alone)
    return run.finish(
        result,
        lambda: text(result),
        rows=flat(result["rows"]),
        findings=any(row["stopped"] == "deadlock" for row in result["rows"]),
    )


def shares(text: str) -> list[float]:
    """The loads that an option lists."""
    found = []
    for word in words("--loads", text):
        try:
            found.append(float(word))
        except ValueError:
            raise UsageError(f'--loads "{word}": expected shares of a link such as 0.1,0.5,0.9') from None
    return found


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
