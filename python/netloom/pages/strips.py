"""Levels over time: strips whose cells are as dark as their level was busy, and the same as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.shown import legend
from netloom.shown.html import text
from netloom.shown.units import told

_SHADES = 9
"""Shades of a cell; the lightest is nothing."""
_LISTED = 60
"""Up to so many intervals a table lists every one; of more the picture and the JSON tell."""


def strips(at: str, routing: Mapping[str, Any], longest_ms: float, most_bytes: float) -> str:
    """A routing's strips, on one scale of time for all routings.

    Parameters
    ----------
    at : str
        Where the routing is in the document.
    routing : mapping
        With `times`.
    longest_ms : float
        The end of the scale.
    most_bytes : float
        Bytes of the longest queue of any routing.
    """
    name = legend.name(routing["routing"])
    if not routing["times"]:
        return f"<h3>{text(name)}</h3><p>Nothing was recorded over time.</p>"
    drawn = "".join(_strip(strip, longest_ms, most_bytes) for strip in routing["times"])
    listed = "".join(_table(f"{at}/times/{k}", name, strip) for k, strip in enumerate(routing["times"]))
    return (
        f"<h3>{text(name)}</h3>\n{drawn}"
        f'<p class="axis"><span>0 ms</span><span>{text(told(longest_ms, "ms"))}</span></p>\n{listed}'
    )


def _strip(strip: Mapping[str, Any], longest_ms: float, most_bytes: float) -> str:
    tiers = strip["tiers"]
    most = 1.0 if strip["unit"] == "share" else most_bytes or 1.0
    scale = f"0 to {told(most, strip['unit'])}"
    if not any(map(any, (tier["values"] for tier in tiers))):
        scale = "always 0"
    rows = "".join(
        f'<div class="strip"><span>{text(tier["tier"])}</span>'
        f'<svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="'
        f'{text(strip["name"])}, {text(tier["tier"])}">'
        f"{_cells(tier['values'], strip['edges_ms'], longest_ms, most)}</svg></div>"
        for tier in tiers
    )
    return f'<p class="head">{text(strip["name"])} <span class="faint">({text(scale)})</span></p>\n{rows}\n'


def deepest(routings: Sequence[Mapping[str, Any]]) -> float:
    """Bytes of the longest queue of any routing."""
    queues = [strip for of in routings for strip in of["times"] if strip["unit"] == "B"]
    return max((max(tier["values"], default=0.0) for of in queues for tier in of["tiers"]), default=0.0)


def _cells(values: Sequence[float], edges: Sequence[float], longest: float, most: float) -> str:
    """A path a shade: cells of one darkness together, neighbours in one piece."""
    paths: dict[int, list[str]] = {}
    begin = 0
    shades = [min(math.ceil(_SHADES * value / most - 1e-9), _SHADES) for value in values]
    for at in range(1, len(shades) + 1):
        if at < len(shades) and shades[at] == shades[begin]:
            continue
        left, right = (1000 * edges[place] / longest for place in (begin, at))
        if shades[begin] > 0:
            paths.setdefault(shades[begin], []).append(f"M{left:.1f} 0H{right:.1f}V10H{left:.1f}")
        begin = at
    return "".join(f'<path class="s{shade}" d="{"".join(of)}"/>' for shade, of in sorted(paths.items()))


def _table(at: str, name: str, strip: Mapping[str, Any]) -> str:
    edges, tiers, unit = strip["edges_ms"], strip["tiers"], strip["unit"]
    count = len(edges) - 1
    if count > _LISTED:
        return ""
    top = "".join(
        f'<th scope="col" class="n" data-at="{text(at)}/tiers/{k}/values" data-unit="{unit}">'
        f"{text(tier['tier'])}</th>"
        for k, tier in enumerate(tiers)
    )
    rows = "\n".join(
        f'<tr><th scope="row">{text(told(edges[i], "ms"))}</th>'
        + "".join(f'<td class="n">{text(told(tier["values"][i], unit))}</td>' for tier in tiers)
        + "</tr>"
        for i in range(count)
    )
    caption = f"{name}: {strip['name']} by level"
    return (
        f'<details><summary>{text(caption)}</summary><div class="wide" tabindex="0" role="group" '
        f'aria-label="{text(caption)}"><table class="columns"><thead><tr><th scope="col">from</th>{top}</tr>'
        f"</thead>\n<tbody>{rows}</tbody></table></div></details>"
    )
