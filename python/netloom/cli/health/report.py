"""What `netloom health` tells: a row a cable, worst first; in CSV a row a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV holds: a row a cable and problem."""
    found = []
    for cable in result["cables"]:
        ends = {
            f"{side}{key}": value
            for side, end in zip(("from", "to"), cable["ends"], strict=True)
            for key, value in (
                ("", end["name"]),
                ("_guid", end["guid"]),
                ("_lid", end["lid"]),
                ("_port", end["port"]),
            )
        }
        for problem in cable["problems"]:
            found.append(
                {
                    "rank": cable["rank"],
                    **ends,
                    "bytes_per_second": cable["bytes_per_second"],
                    **{key: problem[key] for key in ("severity", "kind", "end", "counter", "count")},
                    **{key: problem[key] for key in ("per_hour", "per_bit", "full", "text")},
                }
            )
    return found


def text(result: Mapping[str, Any], others: Sequence[Mapping[str, str]], most: int) -> str:
    """The report."""
    count = render.count
    sick = result["cables"]
    number = len(sick)
    size = ", ".join(
        f"{count(many)} {what}"
        for many, what in (
            (result["hosts"], "hosts"),
            (result["switches"], "switches"),
            (result["links"] // 2, "cables"),
        )
    )
    parts = [("fabric", size)]
    if result["readings"]:
        parts.append(("readings", _readings(result)))
    if result["expected_by"] is not None:
        parts.append(("expected", f"nodes found by {result['expected_by']}"))
    parts.append(
        ("to look at", "no cable" if not sick else f"{count(number)} cable{'' if number == 1 else 's'}")
    )
    out = render.pairs(parts)
    if sick:
        lines = []
        for cable in sick[:most]:
            for first, problem in enumerate(cable["problems"]):
                places = ["", "", ""] if first else [str(cable["rank"]), *map(render.end, cable["ends"])]
                lines.append([*places, problem["severity"], _what(problem, cable)])
        out += "\n\n" + render.table(["", "from", "to", "", "what"], lines, right=[0], sentences=4)
        if number > most:
            out += f"\n\n{count(number - most)} more cables (--most N shows more, --format json and csv all)"
    return out + render.findings(others)


def _readings(result: Mapping[str, Any]) -> str:
    if result["seconds"] is not None:
        return f"what was counted in {result['seconds']:,.6g} s"
    if result["readings"] > 1:
        return "what was counted between two (--seconds N gives rates)"
    return "one: since the counters were last set back"


def _what(problem: Mapping[str, Any], cable: Mapping[str, Any]) -> str:
    if problem["end"] is None:
        return str(problem["text"])
    end = cable["ends"][problem["end"]]
    return f"{problem['text']}, at {end['name']}[{end['port']}]"
