"""What pages of routes, of runs and of fabrics share: levels, busiest links, the picture of all links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.markup import Bar, Column, Row, section, table
from netloom.shown import legend
from netloom.shown.html import text


def colours(routings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A colour a routing."""
    return [look.colour for look in legend.looks([row["routing"] for row in routings])]


def place(value: float | None, most: float) -> float | None:
    """Where a value lies from 0 to `most`, as part of it; None beyond."""
    return None if value is None or not 0 <= value <= most else value / most


def levels(
    at: str, routings: Sequence[Mapping[str, Any]], colours: Sequence[str], unit: str, bound: float | None
) -> str:
    """Links, mean and largest value of every level, routings below each other."""
    most = max((row["max"] for of in routings for row in of["levels"]), default=0.0) or 1.0
    most = max(most, bound or 0.0)
    line_at = None if bound is None else bound / most
    rows = []
    # All of one fabric: the same levels.
    for k, first in enumerate(routings[0]["levels"]):
        for n, of in enumerate(routings):
            row = of["levels"][k]
            names = [*([first["tier"]] if n == 0 else []), legend.name(of["routing"])]
            bar = Bar(row["max"] / most, colours[n], row["mean"] / most, line_at)
            span = len(routings) if n == 0 else 1
            rows.append(Row(names, f"{at}/routings/{n}/levels/{k}", row, colours[n], bar, span))
    columns = [Column("links", "links"), Column("mean", "mean", unit), Column("max", "largest", unit)]
    what = "Load" if unit == "B" else "Utilisation"
    line = " The long line is the AR bound." if bound is not None else ""
    return section(
        f"{what} by level",
        table(f"{what} by level", ["links", "routing"], columns, rows),
        note=f"A bar ends at the largest of a level's links; the dot is their mean.{line}",
    )


def busiest(at: str, row: Mapping[str, Any], colour: str, columns: Sequence[Column]) -> str:
    """A routing's links with the largest values."""
    most = row["busiest"][0]["value"] if row["busiest"] else 1.0
    rows = [
        Row([link["from"], link["to"]], f"{at}/busiest/{k}", link, bar=Bar(link["value"] / most, colour))
        for k, link in enumerate(row["busiest"])
    ]
    between = " between switches" if row.get("busiest_between_switches") else ""
    return table(f"{legend.name(row['routing'])}: hottest links{between}", ["from", "to"], columns, rows)


def picture(part: Mapping[str, Any], head: str) -> str:
    """Where the script draws all links."""
    names = [one["routing"] for one in part["links"]["values"]]
    own = colours(part["links"]["values"])
    choices = "".join(
        f'<label><input type="radio" name="routing" value="{n}"{" checked" if n == 0 else ""}/>'
        f'<i class="dot" style="background:{own[n]}"></i>{text(legend.name(name))}</label>'
        for n, name in enumerate(names)
    )
    choices = f"<fieldset><legend>routing</legend>{choices}</fieldset>\n" if len(names) > 1 else ""
    return (
        f'<section id="picture" hidden><h2>{text(head)}</h2>\n'
        '<p class="faint">A column is a switch (for hosts their leaf), a row a cable; gaps part pods. '
        "Point at a link to read it, click to open its switch. Ctrl and the wheel zoom, dragging moves. "
        "Keyboard: arrows, Enter opens, + and − zoom, 0 shows all.</p>\n"
        f'{choices}<div id="key"></div>\n'
        f'<canvas id="fabric" tabindex="0" role="img" aria-label="{text(head)}, by level"></canvas>\n'
        '<p id="at" aria-live="polite"></p>\n<div id="opened" aria-live="polite"></div></section>'
    )
