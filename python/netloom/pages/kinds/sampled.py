"""`netloom sample run` on a page: whose packets met congestion, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, findings, paragraph, section, table
from netloom.shown import legend

_CONTEXTS = (
    Column("phase", "phase", "text"),
    Column("packets", "packets"),
    Column("sampled", "sampled"),
    Column("bytes", "bytes", "B"),
    Column("enough", "enough", "text"),
)
_LINKS = (
    Column("congested_fraction", "found it congested", "share"),
    Column("congested_fraction_error", "±", "share"),
    Column("congested", "packets that did"),
    Column("congested_error", "±"),
    Column("traffic", "packets"),
    Column("traffic_error", "±"),
)


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    return f"{result['scenario']}: paths sampled, {result['hosts']:,} hosts"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom sample run`."""
    about = [
        Column("scenario", "scenario", "text"),
        Column("model", "model", "text"),
        Column("profile", "profile", "text"),
        Column("hosts", "hosts"),
        Column("switches", "switches"),
        Column("runs/0/sampling/method", "tag", "text"),
        Column("runs/0/sampling/rate", "packets with it", "share"),
        Column("runs/0/sampling/marking", "congested by", "text"),
        Column("runs/0/sampling/every_us", "windows", "µs"),
        Column("runs/0/sampling/contexts", "contexts by", "text"),
    ]
    runs = [(f"{at}/runs/{n}", run["routing"], run) for n, run in enumerate(result["runs"])]
    return [
        section("Sampled", facts(at, result, about), findings(f"{at}/findings", result["findings"])),
        contexts(runs),
    ]


def contexts(runs: list[tuple[str, str, Mapping[str, Any]]]) -> str:
    """What packets told, context by context: where a routing's result is, its word, the result."""
    looks = legend.looks([routing for _, routing, _ in runs])
    whose, links = [], []
    for (at, routing, run), look in zip(runs, looks, strict=True):
        name = legend.name(routing)
        for n, one in enumerate(run["contexts"]):
            own = f"{at}/contexts/{n}"
            context = f"{one['context']}: {one['job_name']}"
            if n == 0:
                whose.append(Row([name, context], own, one, look.colour, span=len(run["contexts"]), mark=0))
            else:
                whose.append(Row([context], own, one))
            links += [
                Row(
                    [name, f"{one['job_name']}, {one['phase']}", f"{link['from']} → {link['to']}"],
                    f"{own}/hottest/{k}",
                    link,
                    bar=Bar(min(max(link["congested_fraction"], 0.0), 1.0), look.colour),
                )
                for k, link in enumerate(one["hottest"])
            ]
    hot = paragraph("Of no link it is sure that packets found it congested.")
    if links:
        hot = table(
            "Links that packets found congested, with standard errors",
            ["routing", "context", "link"],
            _LINKS,
            links,
        )
    return section(
        "Who met congestion, and where",
        table("Contexts", ["routing", "context"], _CONTEXTS, whose),
        hot,
        note="A context is a job, or messages of one tag. Packets of all links are estimated from samples.",
    )
