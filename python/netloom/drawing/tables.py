"""Pictures of tables of runs: what neighbours cost, where jobs wait, latency over load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.drawing import documents
from netloom.drawing.drawn import Drawn
from netloom.errors import FormatError
from netloom.session.session import Session
from netloom.session.sources import name_of
from netloom.shown import legend, units
from netloom.shown.legend import link_name

_EXPECTED = "expected what netloom simulate SCENARIO --mappings block --alone --format json prints"
_OF_NOISE = "expected what netloom noise SCENARIO --format json prints"
_OF_LOADS = (
    "expected what netloom simulate SCENARIO --loads 0.1,0.5,0.9 --format json prints, or writes to .json"
)


def slowdown(
    session: Session, result: str, *, job: str | None = None, title: str | None = None, kind: str
) -> Drawn:
    """What a job's time is spent on under every routing."""
    from netloom.plot.routings.slowdown import Bar, slowdown_picture

    table = _table(session, result)
    known = [row for row in table["rows"] if row["alone_ms"] and row["completion_ms"] is not None]
    chosen = [row for row in known if job in (None, row["job"])]
    if not chosen:
        names = ", ".join(dict.fromkeys(row["job"] for row in known)) or "one that ends by itself"
        what = "no job was simulated alone" if job is None else f'has no job "{job}"'
        raise FormatError(f"{name_of(result)}: {what}: expected {names}")
    several = {key: len({row[key] for row in chosen}) > 1 for key in ("job", "mapping")}
    bars = []
    for row in chosen:
        words = [row[key] for key in ("job", "mapping") if several[key]]
        name = " · ".join([*words, legend.name(row["routing"])])
        bars.append(Bar(name, row["time"]["compute_ms"], row["alone_ms"], row["completion_ms"]))
    told = f"{table['scenario']} ({table['hosts']:,} hosts): what {_jobs(chosen)} waits for"
    with session.timed("draw"):
        picture = slowdown_picture(bars, title=title or told, kind=kind)
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
    out: dict[str, Any] = {"scenario": table["scenario"], "bars": rows}
    return Drawn(picture, out, rows)


def _jobs(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(row["job"] for row in rows))
    return names[0] if len(names) == 1 else "every job"


def _table(session: Session, source: str) -> dict[str, Any]:
    """The result of `netloom simulate --mappings … --alone`."""

    def is_known(document: dict[str, Any]) -> bool:
        table = document["result"]
        known = str(document["schema"]).startswith("netloom.simulate-table/1")
        known = known and isinstance(table["scenario"], str) and isinstance(table["hosts"], int)
        return known and all(map(_drawable, table["rows"]))

    table: dict[str, Any] = documents.read(session, source, _EXPECTED, is_known)["result"]
    return table


def _drawable(row: dict[str, Any]) -> bool:
    words = all(isinstance(row[key], str) for key in ("routing", "job", "mapping"))
    times = (row["alone_ms"], row["completion_ms"], row["time"]["compute_ms"])
    return words and all(
        one is None or (isinstance(one, int | float) and math.isfinite(one) and one >= 0) for one in times
    )


def noise(
    session: Session,
    result: str,
    *,
    job: str | None = None,
    routing: str | None = None,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """At which links a job waits behind others, and behind whom."""
    from netloom.plot.routings.waits import Link, waits_picture

    def is_known(document: dict[str, Any]) -> bool:
        found = document["result"]
        known = str(document["schema"]).startswith("netloom.noise/1") and isinstance(found["scenario"], str)
        return known and all(
            isinstance(of["name"], str) and all(map(_is_link, of["links"] or ()))
            for one in found["runs"]
            for of in one["jobs"]
            if isinstance(one["routing"], str)
        )

    table = documents.read(session, result, _OF_NOISE, is_known)["result"]
    waiting = [(one["routing"], of) for one in table["runs"] for of in one["jobs"] if of["links"]]
    chosen = [(word, of) for word, of in waiting if job in (None, of["name"]) and routing in (None, word)]
    if not chosen:
        known = ", ".join(dict.fromkeys(f"{of['name']} under {word}" for word, of in waiting))
        what = "no job waits behind others" if job is None and routing is None else "nothing like that waits"
        raise FormatError(f"{name_of(result)}: {what}: expected {known or 'one that does'}")

    def waits(of: Mapping[str, Any]) -> int:
        return sum(int(link["behind_ps"]) for link in of["links"])

    whose = job or max(chosen, key=lambda one: waits(one[1]))[1]["name"]
    word, of = next((word, of) for word, of in chosen if of["name"] == whose)
    links = [
        Link(link_name(link), {other["job"]: other["behind_ps"] * 1e-9 for other in link["jobs"]})
        for link in of["links"]
    ]
    told = f"{table['scenario']}, {legend.name(word)}: where {whose} waits"
    with session.timed("draw"):
        picture = waits_picture(links, title=title or told, kind=kind)
    rows = [
        {"link": link_name(link), "behind_ms": link["behind_ps"] * 1e-9, "most": link["jobs"][0]["job"]}
        for link in of["links"]
    ]
    out: dict[str, Any] = {"job": whose, "routing": word, "links": rows}
    return Drawn(picture, out, rows)


def _is_link(link: Mapping[str, Any]) -> bool:
    parts = [link["behind_ps"], *(other["behind_ps"] for other in link["jobs"])]
    return (
        bool(link["jobs"])
        and all(isinstance(ps, int) and 0 < ps < 10**18 for ps in parts)
        and all(isinstance(other["job"], str) for other in link["jobs"])
    )


def load(session: Session, results: Sequence[str], *, title: str | None = None, kind: str) -> Drawn:
    """Latency and accepted throughput over offered load."""
    from netloom.plot.load import Curve, Point, load_picture

    found = [(name_of(source), _load_table(session, source)) for source in results]
    points: dict[str, list[Point]] = {}
    engine: dict[str, str] = {}
    not_drawn = 0
    several_jobs = len({row["job"] for _, table in found for row in table["rows"] if row["accepted"]}) > 1
    for name, table in found:
        for row in table["rows"]:
            measured = row["accepted"]
            mean_us = measured and measured["latency_us"]["mean"]
            if not mean_us:
                not_drawn += 1
                continue
            words = [name] if len(found) > 1 else []
            words += [legend.name(row["routing"]), *([row["job"]] if several_jobs else [])]
            engine[" · ".join(words)] = row["routing"]
            point = Point(row["load"], measured["accepted"], mean_us, measured["saturated"])
            points.setdefault(" · ".join(words), []).append(point)
    if not points:
        raise FormatError(f"{results[0]}: no load was measured to its end: there is nothing to draw")
    curves = [
        Curve(name, sorted(of, key=lambda point: point.load), engine[name]) for name, of in points.items()
    ]
    if not_drawn:
        why = "they offer no load, or ended before the window did"
        session.note(f"{units.count(not_drawn)} rows are not drawn: {why}")
    with session.timed("draw"):
        names = ", ".join(dict.fromkeys(table["scenario"] for _, table in found))
        hosts = {table["hosts"] for _, table in found}
        where = f" ({hosts.pop():,} hosts)" if len(hosts) == 1 else ""
        told = title or f"{names}{where}: latency and throughput"
        picture = load_picture(curves, title=told, kind=kind)
    rows = [_load_row(curve) for curve in curves]
    result: dict[str, Any] = {"curves": rows, "not_drawn": not_drawn}
    return Drawn(picture, result, rows)


def _load_row(curve: Any) -> dict[str, Any]:
    """What is told of a curve."""
    full = [point for point in curve.points if point.saturated]
    return {
        "curve": curve.name,
        "points": len(curve.points),
        "lowest_latency_us": min(point.latency_us for point in curve.points),
        "most_accepted": max(point.accepted for point in curve.points),
        "saturated_from": min((point.load for point in full), default=None),
    }


def _load_table(session: Session, source: str) -> dict[str, Any]:
    """The result of `netloom simulate --loads`."""

    def is_known(document: dict[str, Any]) -> bool:
        table = document["result"]
        known = str(document["schema"]).startswith("netloom.simulate-table/1") and table["varied"] == "load"
        known = known and isinstance(table["scenario"], str) and isinstance(table["hosts"], int)
        return known and all(map(_load_drawable, table["rows"]))

    table: dict[str, Any] = documents.read(session, source, _OF_LOADS, is_known)["result"]
    return table


def _load_drawable(row: dict[str, Any]) -> bool:
    """Whether a row has what a point is made of."""
    measured = row["accepted"]
    names = isinstance(row["routing"], str) and isinstance(row["job"], str)
    if measured is None:
        return names
    numbers = (row["load"], measured["accepted"], measured["latency_us"]["mean"] or 0.0)
    return (
        names and all(isinstance(n, int | float) for n in numbers) and isinstance(measured["saturated"], bool)
    )
