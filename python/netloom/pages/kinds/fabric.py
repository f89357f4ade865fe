"""A fabric on a page: levels and cables, what is slow or missing, and every link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.pages.kinds import health, shared
from netloom.pages.markup import Column, Row, facts, section, table


def sections(at: str, part: Mapping[str, Any]) -> list[str]:
    """A part that `pages.cabled` made."""
    about = [
        Column("fabric/hosts", "hosts"),
        Column("fabric/switches", "switches"),
        Column("fabric/links", "links"),
        Column("fabric/shape", "shape", "text"),
        Column("fabric/pods", "pods"),
        Column("fabric/regular", "regular", "text"),
    ]
    of_tiers = [
        Column("links", "links"),
        Column("slowest", "slowest", "B/s"),
        Column("fastest", "fastest", "B/s"),
        Column("marked", "to look at"),
    ]
    tiers = [Row([one["tier"]], f"{at}/tiers/{n}", one) for n, one in enumerate(part["tiers"])]
    blocks = [facts(at, part, about), table("Links by level", ["links"], of_tiers, tiers)]
    if part["stages"]:
        columns = [
            Column("cables", "cables"),
            Column("uplinks/least", "uplinks: least"),
            Column("uplinks/most", "most"),
            Column("over_subscription", "over-subscription"),
            Column("bisection_bytes_per_second", "bisection", "B/s"),
            Column("bisection_of_hosts", "of what hosts send", "share"),
        ]
        rows = [
            Row([f"{one['from']} → {one['to']}"], f"{at}/stages/{n}", one)
            for n, one in enumerate(part["stages"])
        ]
        blocks.append(table("What could go up", ["stage"], columns, rows))
    return [
        section("Fabric", *blocks),
        health.cables(at, part),
        shared.picture(part, "Every link"),
    ]
