"""`netloom watch --once` on a page: load by level, hottest links, jobs, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, findings, section, table
from netloom.shown.legend import BLUE, VERMILLION

_CARRIED = (
    Column("bytes_per_s", "carried", "B/s"),
    Column("utilisation", "busy", "share"),
    Column("wait_ticks_per_s", "waiting, ticks/s"),
)


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    return f"{result['source']}: {result['hosts']:,} hosts, load of every level"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom watch --once`."""
    about = [
        Column("source", "watched", "text"),
        Column("seconds", "over", "s"),
        Column("hosts", "hosts"),
        Column("switches", "switches"),
        Column("links", "links"),
        Column("links_unknown", "not counted"),
        Column("missing_ports", "ports that did not answer"),
        Column("mads", "datagrams"),
    ]
    levels = [
        Row(
            [level["name"]],
            f"{at}/levels/{n}",
            level,
            bar=Bar(min(level["max_utilisation"], 1.0), BLUE, min(level["mean_utilisation"], 1.0)),
        )
        for n, level in enumerate(result["levels"])
    ]
    columns = [
        Column("links", "links"),
        Column("known", "counted"),
        Column("bytes_per_s", "carried", "B/s"),
        Column("mean_utilisation", "mean", "share"),
        Column("max_utilisation", "busiest", "share"),
        Column("wait_ticks_per_s", "waiting, ticks/s"),
    ]
    wrong = findings(f"{at}/findings", result["findings"])
    return [
        section(
            "Load by level", facts(at, result, about), wrong, table("Levels", ["links"], columns, levels)
        ),
        section(
            "Hottest links",
            _links(f"{at}/hottest", "Links that carry most", result["hottest"]),
            _links(f"{at}/waiting", "Links on which packets waited most", result["waiting"]),
        ),
        *_jobs(at, result),
        *_changes(at, result),
    ]


def _links(at: str, head: str, links: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        Row(
            [f"{one['source']}[{one['source_port']}] → {one['target']}[{one['target_port']}]"],
            f"{at}/{n}",
            one,
            bar=Bar(min(one["utilisation"], 1.0), VERMILLION),
        )
        for n, one in enumerate(links)
    ]
    return table(head, ["link"], _CARRIED, rows) if rows else ""


def _jobs(at: str, result: Mapping[str, Any]) -> list[str]:
    rows = [Row([job["name"]], f"{at}/jobs/{n}", job) for n, job in enumerate(result["jobs"])]
    columns = [
        Column("hosts", "hosts"),
        Column("sent_bytes_per_s", "sent", "B/s"),
        Column("received_bytes_per_s", "received", "B/s"),
        Column("max_utilisation", "busiest link", "share"),
    ]
    return [section("Jobs", table("Jobs", ["job"], columns, rows))] if rows else []


def _changes(at: str, result: Mapping[str, Any]) -> list[str]:
    rows = [Row([str(one["id"])], f"{at}/changes/{n}", one) for n, one in enumerate(result["changes"])]
    columns = [
        Column("time", "time (UTC)", "text"),
        Column("state", "state", "text"),
        Column("changed_entries", "entries"),
        Column("why", "why it was undone", "text", sentence=True),
    ]
    return [section("Changes of routes", table("Changes", ["no."], columns, rows))] if rows else []
