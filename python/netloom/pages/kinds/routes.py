"""Routes with traffic on a page: loads beside the bound, its proof, the hottest links, what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.kinds import shared
from netloom.pages.markup import Bar, Column, Row, beside, facts, paragraph, section, table
from netloom.shown import legend
from netloom.shown.html import text
from netloom.shown.units import told

_ROUTES = (
    Column("max_load", legend.LOAD, "B"),
    Column("max_load_between_switches", "between switches", "B"),
    Column("links_at_max", "links at max"),
    Column("mean_load", "mean load", "B"),
    Column("ar_bound", "AR bound", "B"),
    Column("ar_gap_percent", "AR gap", "%"),
    Column("lower_bound", "proven lower bound", "B"),
    Column("lower_bound_gap_percent", "gap to it", "%"),
    Column("proven_optimal", "proven optimal", "text"),
)


def sections(at: str, part: Mapping[str, Any]) -> list[str]:
    """A part that `pages.routed` made."""
    routings = part["routings"]
    colours = shared.colours(routings)
    most = max((row["max_load"] for row in routings), default=0.0) or 1.0
    rows = [
        Row(
            [legend.name(row["routing"])],
            f"{at}/routings/{n}",
            row,
            colours[n],
            Bar(row["max_load"] / most, colours[n], bound=shared.place(part["bound"], most)),
        )
        for n, row in enumerate(routings)
    ]
    net = [
        Column("fabric/hosts", "hosts"),
        Column("fabric/switches", "switches"),
        Column("fabric/links", "links"),
        Column("traffic/pairs", "pairs that send"),
        Column("traffic/total_bytes", "all they send", "B"),
    ]
    changes = [
        Column("changed_entries", "entries changed"),
        Column("moved", "bytes moved", "share"),
    ][: 2 * (len(routings) > 1)]
    bound = (
        " The line in a bar is the AR bound: what ideal adaptive routing would load the hottest link with."
    )
    if part["bound"] is None:
        bound = " The AR bound is none of all these routes: they leave the ways that it ranges over."
        changes.append(Column("outside_because/text", "no gap", "text"))
    if any(row["stopped"] for row in routings):
        bound += " Stopped: the bounds of that routing are what was known when its time ended."
        changes.append(Column("stopped", "stopped", "text"))
    found = [
        section(
            "Routes",
            facts(at, part, net),
            table("Maximum load beside the bound", ["routing"], [*_ROUTES, *changes], rows),
            note="Load of a link: bytes it carries, at the speed of the fastest link." + bound,
        ),
        _proofs(at, routings, colours),
        shared.levels(at, routings, colours, "B", part["bound"]),
        *_changed(at, routings, colours),
        shared.picture(part, "Load of every link"),
    ]
    if part["traffic"]["jobs"]:
        jobs = [
            Row([job["job"]], f"{at}/traffic/jobs/{n}", job) for n, job in enumerate(part["traffic"]["jobs"])
        ]
        found.append(
            section("Jobs", table("Jobs of this traffic", ["job"], [Column("hosts", "hosts")], jobs))
        )
    blocks = []
    columns = [Column("value", "load", "B"), Column("pairs", "pairs")]
    for n, row in enumerate(routings):
        hottest = shared.busiest(f"{at}/routings/{n}", row, colours[n], columns)
        who = "".join(_users(f"{at}/routings/{n}/busiest/{k}", link) for k, link in enumerate(row["busiest"]))
        name = legend.name(row["routing"])
        blocks.append(f"{hottest}<details><summary>{text(name)}: who loads them</summary>\n{who}</details>")
    return [*found, section("Hottest links, and who loads them", beside(blocks))]


def _users(at: str, link: Mapping[str, Any]) -> str:
    rows = [
        Row([one["source"], one["destination"], one["job"] or "–"], f"{at}/users/{k}", one)
        for k, one in enumerate(link["users"])
    ]
    jobs = [Row([job["name"]], f"{at}/jobs/{k}", job) for k, job in enumerate(link["jobs"]) if job["name"]]
    size = Column("bytes", "bytes", "B")
    tables = [table("Its jobs", ["job"], [Column("pairs", "pairs"), size], jobs)] if jobs else []
    many = "" if len(rows) == link["pairs"] else f" ({len(rows)} with most bytes)"
    tables.append(table(f"Its pairs{many}", ["source", "destination", "job"], [size], rows))
    name = f"{link['from']} → {link['to']}"
    return (
        f"<details><summary>{text(name)}: "
        f'<span data-at="{text(at)}/value" data-unit="B">{text(told(link["value"], "B"))}</span>'
        f"</summary>{''.join(tables)}</details>"
    )


def _proofs(at: str, routings: Sequence[Mapping[str, Any]], colours: Sequence[str]) -> str:
    """Certificates of the lower bounds, as the checker found them."""
    rows = [
        Row([legend.name(of["routing"])], f"{at}/routings/{n}/certificate", of["certificate"], colours[n])
        for n, of in enumerate(routings)
    ]
    columns = [
        Column("ok", "holds", "text"),
        Column("optimal", "routes meet it", "text"),
        Column("claim", "claims at least", "B"),
        Column("recomputed_bound", "recomputed", "B"),
        Column("bound_class", "of which routes", "text"),
        Column("kind", "argument", "text"),
        Column("place", "at", "text"),
    ]
    if any(of["certificate"]["reasons"] for of in routings):
        columns.append(Column("reasons", "why not", "text", sentence=True))
    return section(
        "Proof of the lower bound",
        table("Certificates, checked", ["routing"], columns, rows),
        note="A certificate says why no routes of its class load the hottest link with less. It was checked "
        "by code of its own, as netloom check does; levels and directions of links are those of the fabric.",
    )


def _changed(at: str, routings: Sequence[Mapping[str, Any]], colours: Sequence[str]) -> list[str]:
    """Links whose loads differ most from the first routing's."""
    blocks = []
    first = legend.name(routings[0]["routing"])
    for n, of in enumerate(routings[1:], 1):
        most = max((max(one["before"], one["after"]) for one in of["changes"]), default=0.0) or 1.0
        rows = [
            Row(
                [one["from"], one["to"]],
                f"{at}/routings/{n}/changes/{k}",
                one,
                bar=Bar(one["after"] / most, colours[n], before=one["before"] / most),
            )
            for k, one in enumerate(of["changes"])
        ]
        name = legend.name(of["routing"])
        if rows:
            columns = [Column("before", first, "B"), Column("after", name, "B")]
            blocks.append(table(f"{name} after {first}", ["from", "to"], columns, rows))
        else:
            blocks.append(paragraph(f"{name} loads every link as {first} does."))
    note = f"Links whose load differs most. A bar is the load, its line that under {first}."
    return [section("What changes", beside(blocks), note=note)] if blocks else []
