"""`netloom health` on a page: cables to look at, worst first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.pages.markup import Column, Row, facts, findings, folded, paragraph, section, table

_END = (
    Column("rank", "rank"),
    Column("ends/0/guid", "from: GUID", "text"),
    Column("ends/0/lid", "LID", "text"),
    Column("ends/1/guid", "to: GUID", "text"),
    Column("ends/1/lid", "LID", "text"),
    Column("bytes_per_second", "runs at, or should", "B/s"),
)


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    return f"Cables of {result['hosts']:,} hosts and {result['switches']:,} switches"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom health`."""
    about = [
        Column("hosts", "hosts"),
        Column("switches", "switches"),
        Column("links", "links"),
        Column("readings", "readings of counters"),
        Column("seconds", "between them", "s"),
        Column("expected_by", "expected nodes found by", "text"),
    ]
    return [section("Fabric", facts(at, result, about)), cables(at, result)]


def cables(at: str, result: Mapping[str, Any]) -> str:
    """Its cables and findings: `cables` and `findings` of a result, or of a fabric's part."""
    rows, ends = [], []
    for n, cable in enumerate(result["cables"]):
        name = " → ".join(map(_end, cable["ends"]))
        ends.append(Row([name], f"{at}/cables/{n}", cable))
        rows += [
            Row([name] if k == 0 else [], f"{at}/cables/{n}/problems/{k}", one, span=len(cable["problems"]))
            for k, one in enumerate(cable["problems"])
        ]
    columns = [
        Column("severity", "severity", "text"),
        Column("text", "what is wrong", "text", sentence=True),
        Column("count", "counted"),
        Column("per_hour", "an hour"),
    ]
    if not rows:
        return section(
            "Cables to look at",
            paragraph("Nothing is wrong with a cable."),
            findings(f"{at}/findings", result["findings"]),
        )
    return section(
        "Cables to look at",
        table("Cables, the most urgent first", ["cable"], columns, rows),
        folded("Their ends: GUIDs, LIDs and speed", table("Ends", ["cable"], _END, ends)),
        # Those of cables stand above, and come first.
        findings(f"{at}/findings", result["findings"], len(result["cables"])),
    )


def _end(end: Mapping[str, Any]) -> str:
    return f"{end['name']}[{'?' if end['port'] is None else end['port']}]"
