"""Congested fractions as a page: pointing at a link tells its name, traffic and contexts; Ctrl-wheel zooms.

One file that fetches nothing. The same layout and scales as the picture's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netloom.plot.congestion import Drawing, Panel, drawing, most_traffic, packets
from netloom.shown.html import asset, page, text

if TYPE_CHECKING:
    from netloom.plot.layout import Layout

_LEFT, _TOP = 52.0, 14.0
"""Points left of a panel for the levels' names, and above it for the pods'."""
_ZOOM = 1.3
"""Pixels of the screen to a point, at first."""
_LEAST = 0.5 / _ZOOM
"""Points of the thinnest line: half a pixel. What is thinner is not seen, though the key says it is there."""


def congestion_page(
    layout: Layout,
    panels: Sequence[Panel],
    contexts: Sequence[Sequence[Panel]],
    ends: Sequence[tuple[str, str]],
    *,
    title: str,
) -> bytes:
    """Returns the page of congested fractions.

    Parameters
    ----------
    layout : Layout
        Where links lie.
    panels : sequence of Panel
        What is drawn, at least one.
    contexts : sequence of sequences of Panel
        What each panel's traffic is made of.
    ends : sequence of (str, str)
        From where to where each link of `layout.links` goes.
    title : str
        Above it.
    """
    most = most_traffic(layout, panels)
    shown = layout.links
    data = {
        "links": [list(pair) for pair in ends],
        "panels": [
            {
                "name": panel.name,
                "contexts": [part.name for part in parts],
                "packets": [_whole(part.traffic[shown]) for part in (panel, *parts)],
                "percent": [_percent(part.fraction[shown]) for part in (panel, *parts)],
                "error": [_error(part, shown) for part in (panel, *parts)],
            }
            for panel, parts in zip(panels, contexts, strict=True)
        ],
    }
    figures = "\n".join(_figure(layout, panel, most, at) for at, panel in enumerate(panels))
    body = (
        f"<h1>{text(title)}</h1>\n{_key(most)}\n<main>\n{figures}\n</main>\n"
        '<div id="told" hidden="hidden"></div>'
    )
    return page(
        title,
        body,
        data,
        style=asset("netloom.plot", "congestion.css"),
        script=asset("netloom.plot", "congestion.js"),
    )


def _whole(values: np.typing.NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.maximum(values, 0.0).round()]


def _percent(values: np.typing.NDArray[np.float64]) -> list[int]:
    return [int(value) for value in (100.0 * values).round()]


def _error(part: Panel, shown: np.typing.NDArray[np.int64]) -> list[float] | None:
    """Standard errors of the shares in percent, to a tenth."""
    if part.fraction_error is None:
        return None
    return [float(value) for value in np.nan_to_num(100.0 * part.fraction_error[shown]).round(1)]


def _key(most: float) -> str:
    return (
        '<p class="key"><span class="grey"></span> congested, 0 to 100 %. Thickest: '
        f"{packets(most)} packets. Down above, up below; hosts: the link to the host above, from it below. "
        "Point at a link; Ctrl and the wheel zoom, dragging moves, a double click goes back.</p>"
    )


def _figure(layout: Layout, panel: Panel, most: float, number: int) -> str:
    drawn = drawing(layout, panel, most, least=_LEAST)
    width, height = layout.width + _LEFT, layout.height + _TOP
    lines = [_line(layout, drawn, at) for at in range(len(drawn.cables))]
    rectangles = [_cell(layout, drawn, at) for at in range(len(drawn.hosts))]
    # The whole cell can be pointed at, however little of it is filled.
    first = len(layout.cables)
    backs = [
        f'<rect class="b" data-l="{first + at}" {_box(layout, cell)}/>'
        for at, cell in enumerate(layout.cells)
    ]
    switches = [
        f'<circle r="1.4" cx="{x + _LEFT:.1f}" cy="{height - y:.1f}"><title>{text(name)}</title></circle>'
        for (x, y), name in zip(layout.switches.tolist(), layout.names, strict=True)
    ]
    words = [
        f'<text x="{_LEFT - 6:.0f}" y="{height - y + 3:.1f}" class="level">{name}</text>'
        for y, name in layout.levels
    ]
    words += [
        f'<text x="{_LEFT + (a + b) / 2:.1f}" y="9" class="pod">{name}</text>' for a, b, name in layout.pods
    ]
    words += [
        f'<text x="{_LEFT + x:.1f}" y="{height - layout.levels[1][0] + 9:.1f}" class="pod">{number}</text>'
        for x, number in layout.leaves
    ]
    return (
        f"<figure><figcaption>{text(panel.name)}</figcaption>\n"
        f'<svg role="img" data-panel="{number}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{_ZOOM * width:.0f}">\n<desc>{text(panel.name)}: traffic as thickness, congested '
        "shares as darkness, of every link</desc>\n"
        + "\n".join([*backs, *rectangles, *lines, *switches, *words])
        + "\n</svg></figure>"
    )


def _line(layout: Layout, drawn: Drawing, at: int) -> str:
    x0, y0, x1, y1 = drawn.strips[at].tolist()
    height = layout.height + _TOP
    return (
        f'<line data-l="{drawn.cables[at]}" x1="{x0 + _LEFT:.2f}" y1="{height - y0:.2f}" '
        f'x2="{x1 + _LEFT:.2f}" y2="{height - y1:.2f}" stroke="{_grey(drawn.greys[at])}" '
        f'stroke-width="{drawn.widths[at]:.3f}"/>'
    )


def _cell(layout: Layout, drawn: Drawing, at: int) -> str:
    return f'<rect class="f" {_box(layout, drawn.cells[at])} fill="{_grey(drawn.host_greys[at])}"/>'


def _box(layout: Layout, cell: np.typing.NDArray[np.float64]) -> str:
    x, y, width, height = cell.tolist()
    top = layout.height + _TOP - y - height
    return f'x="{x + _LEFT:.2f}" y="{top:.2f}" width="{width:.3f}" height="{height:.2f}"'


def _grey(value: float) -> str:
    level = round(255 * float(value))
    return f"#{level:02x}{level:02x}{level:02x}"
