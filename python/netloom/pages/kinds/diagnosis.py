"""`netloom diagnose` on a page: where it is congested, whose fault it is, what was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, items, paragraph, section, table
from netloom.shown import legend
from netloom.shown.html import text
from netloom.shown.legend import BLUE, VERMILLION

_OF = {"completion_ms": "time to completion", "bytes_per_s": "data a second"}
"""What a job loses."""


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    of = result["routing"]
    return f"Congestion of {result['hosts']:,} hosts" + ("" if of is None else f" under {legend.name(of)}")


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom diagnose`."""
    about = [
        Column("routing", "routing", "text"),
        Column("source", "seen by", "text"),
        Column("windows", "windows of time"),
        Column("enough", "enough was sampled", "text"),
        Column("hosts", "hosts"),
        Column("switches", "switches"),
    ]
    found = [_finding(f"{at}/findings/{n}", one) for n, one in enumerate(result["findings"])]
    none = paragraph("Nothing is congested enough to blame anything for it.")
    if result["congested"]:
        none = paragraph("Packets wait, but no other routes, places or links would help the run much.")
    return [
        section("Findings", facts(at, result, about), *(found or [none])),
        section("Congested links", _links(at, result["congested"]), _jobs(at, result["jobs"])),
        *([section("Tried", _tried(f"{at}/tried", result["tried"]))] if result["tried"] else []),
        *([section("Notes", items(f"{at}/notes", result["notes"]))] if result["notes"] else []),
    ]


def _finding(at: str, one: Mapping[str, Any]) -> str:
    about = [
        Column("cause", "cause", "text"),
        Column("confidence", "confidence", "share"),
        Column("uncertain", "uncertain", "text"),
        Column("culprits", "culprits", "text"),
        Column("phases", "phases", "text"),
        Column("victims", "held up", "text"),
        Column("predicted_gain_percent", "gain", "%"),
        Column("remedy", "remedy", "text"),
    ]
    roots = "".join(
        (
            f"<h4>Links at the root</h4>\n{items(f'{at}/root_links', one['root_links'])}",
            f"<h4>Evidence</h4>\n{items(f'{at}/evidence', one['evidence'])}",
        )
    )
    tried = _tried(f"{at}/tried", one["tried"]) if one["tried"] else ""
    head = one["cause"].replace("-", " ")
    said = f'<p data-at="{text(at)}/text" data-unit="text">{text(one["text"])}</p>'
    return f"<h3>{text(head.capitalize())}</h3>\n{said}\n{facts(at, one, about)}\n{tried}\n{roots}"


def _tried(at: str, tried: Sequence[Mapping[str, Any]]) -> str:
    """What was simulated: a bar ends at the time with it, the line is the time as it was."""
    most = max(max(one["before_ms"], one["after_ms"]) for one in tried) or 1.0
    rows = [
        Row(
            [one["what"], one["job"]],
            f"{at}/{n}",
            one,
            bar=Bar(
                one["after_ms"] / most,
                BLUE if one["after_ms"] <= one["before_ms"] else VERMILLION,
                before=one["before_ms"] / most,
            ),
        )
        for n, one in enumerate(tried)
    ]
    columns = [
        Column("before_ms", "before", "ms"),
        Column("after_ms", "with it", "ms"),
        Column("gain_percent", "gain", "%"),
    ]
    about = "What was simulated; the line in a bar is the time before"
    return table(about, ["remedy", "job"], columns, rows) + _slower(at, tried)


def _slower(at: str, tried: Sequence[Mapping[str, Any]]) -> str:
    """Jobs that pay for a remedy."""
    rows = [
        Row([one["what"], job["job"], _OF[job["measure"]]], f"{at}/{n}/slower/{k}", job)
        for n, one in enumerate(tried)
        for k, job in enumerate(one["slower"])
    ]
    columns = [Column("worse_percent", "lost", "%")]
    head = ["remedy", "job", "what it loses"]
    return "\n" + table("Other jobs that lose by it", head, columns, rows) if rows else ""


def _links(at: str, congested: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        Row([one["link"]], f"{at}/congested/{n}", one, bar=Bar(min(one["waiting"] or 0.0, 1.0), VERMILLION))
        for n, one in enumerate(congested)
    ]
    columns = [
        Column("waiting", "packets that waited", "share"),
        Column("utilisation", "of what fits through it", "share"),
    ]
    if not rows:
        return paragraph("At no link a tenth of the packets waited.")
    return table("Links at which packets wait most", ["link"], columns, rows)


def _jobs(at: str, jobs: Sequence[Mapping[str, Any]]) -> str:
    rows = [Row([job["name"]], f"{at}/jobs/{n}", job) for n, job in enumerate(jobs)]
    return table("Jobs", ["job"], [Column("congested_hops", "congested hops a packet")], rows)
