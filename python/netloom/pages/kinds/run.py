"""A run on a page: jobs and latencies, links by level and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.chart import Axis, Series, chart
from netloom.pages.kinds import sampled, shared
from netloom.pages.markup import Bar, Column, Row, beside, facts, known, section, table
from netloom.pages.strips import deepest, strips
from netloom.shown import legend
from netloom.shown.html import text

_JOBS = (
    Column("ranks", "ranks"),
    Column("completion_ms", "complete after", "ms"),
    Column("ratio", "to the first"),
    Column("message_latency_us/mean", "latency: mean", "µs"),
    Column("message_latency_us/p50", "half within", "µs"),
    Column("message_latency_us/p99", "99 % within", "µs"),
    Column("message_latency_us/max", "all within", "µs"),
    Column("time/waiting_share", "waiting", "share"),
    Column("messages", "messages"),
    Column("bytes", "bytes", "B"),
)
_WIDE = 20.0
"""Times the shortest latency from which on the axis is logarithmic."""
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5", "12 4")


def sections(at: str, part: Mapping[str, Any]) -> list[str]:
    """A part that `pages.ran` made."""
    routings = part["routings"]
    colours = shared.colours(routings)
    jobs = [(n, k, job) for n, of in enumerate(routings) for k, job in enumerate(of["result"]["jobs"])]
    most = max((job.get("completion_ms") or 0.0 for _, _, job in jobs), default=0.0) or 1.0
    rows = [
        Row(
            [job["name"], legend.name(routings[n]["routing"])],
            f"{at}/routings/{n}/result/jobs/{k}",
            job,
            colours[n],
            Bar((job.get("completion_ms") or 0.0) / most, colours[n]),
        )
        for n, k, job in sorted(jobs, key=lambda one: (one[1], one[0]))
    ]
    whole = [
        Row([legend.name(of["routing"])], f"{at}/routings/{n}/result", of["result"], colours[n])
        for n, of in enumerate(routings)
    ]
    columns = [
        Column("simulated_ms", "simulated", "ms"),
        Column("packets", "packets"),
        Column("packet_latency_us/mean", "packet latency: mean", "µs"),
        Column("packet_latency_us/p99", "99 % within", "µs"),
        Column("max_link_utilisation", "busiest link", "share"),
        Column("stopped", "stopped", "text"),
    ]
    about = [
        Column("run/scenario", "scenario", "text"),
        Column("run/model", "model", "text"),
        Column("run/hosts", "hosts"),
        Column("run/switches", "switches"),
        Column("run/links", "links"),
        Column("run/longest_ms", "longest routing", "ms"),
    ]
    shown = known(_JOBS, [row.value for row in rows])
    found = [
        section("Jobs", facts(at, part, about), table("Jobs by routing", ["job", "routing"], shown, rows)),
        section("Routings", table("The whole run by routing", ["routing"], columns, whole)),
        shared.levels(at, routings, colours, "share", None),
        *_tails(at, routings, colours),
        *_contexts(at, routings),
        shared.picture(part, "Utilisation of every link"),
    ]
    longest, queue = part["run"]["longest_ms"], deepest(routings)
    if any(of["times"] for of in routings):
        found.append(
            section(
                "Levels over time",
                *(strips(f"{at}/routings/{n}", of, longest, queue) for n, of in enumerate(routings)),
                note="Stronger colour is more: busiest link, mean of links, longest queue of a level.",
            )
        )
    links = [
        Column("value", "utilisation", "share"),
        Column("bytes", "bytes", "B"),
        Column("packets", "packets"),
    ]
    busiest = [shared.busiest(f"{at}/routings/{n}", of, colours[n], links) for n, of in enumerate(routings)]
    return [*found, section("Busiest links", beside(busiest))]


def _tails(at: str, routings: Sequence[Mapping[str, Any]], colours: Sequence[str]) -> list[str]:
    """Which share of a job's messages takes longer, a curve a routing."""
    blocks = []
    columns = [
        Column("messages", "messages"),
        Column("p50_us", "half within", "µs"),
        Column("p90_us", "90 %", "µs"),
        Column("p99_us", "99 %", "µs"),
        Column("p99_9_us", "99.9 %", "µs"),
        Column("max_us", "all", "µs"),
    ]
    for job in dict.fromkeys(tail["job"] for of in routings for tail in of["tails"]):
        tails = [
            (n, k, tail)
            for n, of in enumerate(routings)
            for k, tail in enumerate(of["tails"])
            if tail["job"] == job
        ]
        rows = [
            Row([legend.name(routings[n]["routing"])], f"{at}/routings/{n}/tails/{k}", tail, colours[n])
            for n, k, tail in tails
        ]
        blocks.append(f"<h3>{text(job)}</h3>\n{_curves(job, routings, colours, tails)}")
        blocks.append(table("Latency of its messages", ["routing"], columns, rows))
    note = "How many of a job's messages take longer than what."
    return [section("Tails of latency", *blocks, note=note)] if blocks else []


def _curves(
    job: str,
    routings: Sequence[Mapping[str, Any]],
    colours: Sequence[str],
    tails: Sequence[tuple[int, int, Mapping[str, Any]]],
) -> str:
    least = 100.0 / max(tail["messages"] for *_, tail in tails)
    first = min(tail["at_us"][0] for *_, tail in tails)
    last = max(tail["max_us"] for *_, tail in tails)
    log = last > _WIDE * first > 0
    x = Axis("latency, µs", first if log else 0.0, last * 1.03 or 1.0, log)
    y = Axis("messages that take longer, %", min(least, 50.0), 100.0, log=True)
    series = []
    for n, _, tail in tails:
        before, points = 100.0, []
        for at_us, longer in zip(tail["at_us"], tail["longer"], strict=True):
            points += [(at_us, before), (at_us, 100.0 * longer or y.low)]
            before = 100.0 * longer
        name = legend.name(routings[n]["routing"])
        series.append(Series(name, colours[n], points, line=True, dashes=_DASHES[n % len(_DASHES)]))
    return chart(f"Messages of {job} that take longer, by routing", x, y, series)


def _contexts(at: str, routings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What sampled packets told, if any were."""
    runs = [
        (f"{at}/routings/{n}/result", of["routing"], of["result"])
        for n, of in enumerate(routings)
        if of["result"].get("contexts")
    ]
    return [sampled.contexts(runs)] if runs else []
