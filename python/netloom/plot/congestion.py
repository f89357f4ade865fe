"""Congested fractions: which links carried how much, and what share of it met congestion; a panel a context.

As in the dissertation's figures 2.1 to 2.9: a line's thickness is traffic, its darkness the congested
fraction, up below and down above. All panels share both scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netloom.plot.layout import Layout

_LEFT, _RIGHT, _BETWEEN, _TITLE, _HEAD, _FOOT = 50.0, 14.0, 26.0, 30.0, 30.0, 46.0
"""Points for levels' names, to the right, between panels, for a panel's title, the picture's, and scales."""
_WIDEST = 1080.0
"""Of panels side by side."""
_LIGHTEST = 0.87
"""Grey of a link without congestion; of one with nothing else, black."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """What links did in a context.

    Attributes
    ----------
    name : str
        Above the panel.
    traffic : array
        Packets on every link of the fabric.
    congested : array
        Of these, how many found their link congested.
    fraction_error : array, optional
        How far the congested shares may be off, where they are estimates: `Totals.fraction_doubt`.
    """

    name: str
    traffic: Array
    congested: Array
    fraction_error: Array | None = None

    @property
    def fraction(self) -> Array:
        """Congested packets of all, 0 to 1; 0 where there are none."""
        share = np.divide(
            self.congested, self.traffic, out=np.zeros(len(self.traffic)), where=self.traffic > 0
        )
        return np.clip(share, 0.0, 1.0)

    def least_sure(self, links: npt.NDArray[np.int64]) -> float | None:
        """The largest error of a share of `links` that carry traffic; None without errors."""
        if self.fraction_error is None:
            return None
        return float(self.fraction_error[links][self.traffic[links] > 0].max(initial=0.0))


@dataclass(frozen=True)
class Drawing:
    """A panel's strips and cells as they are drawn, lightest first.

    Attributes
    ----------
    cables, hosts : array of int
        Positions within the layout's `cables` and `hosts`; those with traffic.
    strips : array
        `[x0, y0, x1, y1]` of the middle of each strip.
    widths : array
        Their thickness in points, in proportion to traffic.
    cells : array
        `[x, y, width, height]` of each host link's rectangle, whose width is in proportion to traffic.
    greys, host_greys : array
        1: white, 0: black.
    """

    cables: npt.NDArray[np.int64]
    strips: Array
    widths: Array
    greys: Array
    hosts: npt.NDArray[np.int64]
    cells: Array
    host_greys: Array


def most_traffic(layout: Layout, panels: Sequence[Panel]) -> float:
    """Returns the traffic that is drawn thickest: the most of any link of any panel."""
    return max((float(panel.traffic[layout.links].max(initial=0.0)) for panel in panels), default=0.0) or 1.0


def drawing(layout: Layout, panel: Panel, most: float, *, least: float = 0.0) -> Drawing:
    """Returns what a panel draws, with `most` packets as the thickest, and `least` points wide at least."""
    grey = _LIGHTEST * (1.0 - panel.fraction)
    share = np.clip(panel.traffic / most, 0.0, 1.0)
    widths = layout.thickest * share[layout.cables]
    widths[widths > 0] = np.maximum(widths[widths > 0], least)
    strips = layout.strips(widths)
    shown = np.flatnonzero(widths > 0)
    shown = shown[np.argsort(-grey[layout.cables][shown], kind="stable")]
    at_hosts = np.flatnonzero(share[layout.hosts] > 0)
    cells = layout.cells[at_hosts].copy()
    cells[:, 2] = np.minimum(np.maximum(cells[:, 2] * share[layout.hosts][at_hosts], least), cells[:, 2])
    return Drawing(
        shown,
        strips[shown],
        widths[shown],
        grey[layout.cables][shown],
        at_hosts,
        cells,
        grey[layout.hosts][at_hosts],
    )


def congestion_picture(layout: Layout, panels: Sequence[Panel], *, title: str, kind: str) -> bytes:
    """Returns the picture of congested fractions.

    Parameters
    ----------
    layout : Layout
        Where links lie.
    panels : sequence of Panel
        At least one.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    most = most_traffic(layout, panels)
    across = max(1, min(len(panels), int((_WIDEST + _BETWEEN) // (layout.width + _BETWEEN))))
    down = -(-len(panels) // across)
    width = max(_LEFT + across * layout.width + (across - 1) * _BETWEEN + _RIGHT, 450.0)
    height = _HEAD + down * (_TITLE + layout.height) + _FOOT
    with style.figure(width / 72, height / 72, arranged=False) as fig:
        for at, panel in enumerate(panels):
            row, column = divmod(at, across)
            left = _LEFT + column * (layout.width + _BETWEEN)
            bottom = height - _HEAD - (row + 1) * (_TITLE + layout.height)
            axes = fig.add_axes(
                (left / width, bottom / height, layout.width / width, (layout.height + _TITLE) / height)
            )
            axes.set_xlim(0.0, layout.width)
            axes.set_ylim(0.0, layout.height + _TITLE)
            axes.axis("off")
            _draw(axes, layout, drawing(layout, panel, most), named=column == 0)
            sure = panel.least_sure(layout.links)
            name = panel.name if sure is None else f"{panel.name} (± {100 * sure:.1f} % at most)"
            told = style.shorten(name, max(int(layout.width / 5.2), 16))
            top = layout.height + _TITLE - 10.0
            axes.text(0.0, top, told, fontsize=9, fontweight="bold", va="center", parse_math=False)
        text = style.shorten(title, int(width / 6))
        fig.text(
            8 / width, 1 - 14 / height, text, va="center", fontweight="bold", fontsize=10.5, parse_math=False
        )
        _scales(fig, (width, height), layout.thickest, most)
        return style.save(fig, kind)


def _draw(axes: Axes, layout: Layout, drawn: Drawing, *, named: bool) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    axes.add_collection(
        LineCollection(list(layout.lines.reshape(-1, 2, 2)), colors=style.NOTHING, linewidths=0.25)
    )
    strips = LineCollection(
        list(drawn.strips.reshape(-1, 2, 2)),
        colors=[(grey,) * 3 for grey in drawn.greys],
        linewidths=drawn.widths,
        capstyle="butt",
    )
    axes.add_collection(strips)
    for cells, look in (
        (layout.cells, {"facecolors": style.NOTHING}),
        (drawn.cells, {"facecolors": [(grey,) * 3 for grey in drawn.host_greys]}),
    ):
        axes.add_collection(PolyCollection(list(_corners(cells)), linewidths=0.0, **look))
    axes.plot(*layout.switches.T, "s", color=style.INK, markersize=2.2, clip_on=False)
    for x0, x1, name in layout.pods:
        axes.text((x0 + x1) / 2, layout.height + 2.0, name, fontsize=7, color=style.FAINT, ha="center")
    for x, number in layout.leaves:
        at = layout.levels[1][0] - 4.0
        axes.text(x, at, number, fontsize=6, color=style.FAINT, ha="center", va="top")
    if named:
        for height, name in layout.levels:
            axes.text(-6.0, height, name, fontsize=7.5, color=style.FAINT, ha="right", va="center")


def _corners(cells: Array) -> Array:
    x, y, width, height = cells.T
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)


def _scales(fig: Figure, page: tuple[float, float], thickest: float, most: float) -> None:
    """What thickness and darkness mean, at the bottom."""
    width, height = page
    axes = fig.add_axes((0.0, 0.0, 1.0, _FOOT / height))
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, _FOOT)
    axes.axis("off")
    left, middle = 8.0 + _LEFT, 22.0
    greys = np.linspace(_LIGHTEST, 0.0, 64)[None, :]
    axes.imshow(
        greys,
        cmap="gray",
        vmin=0.0,
        vmax=1.0,
        extent=(left, left + 90.0, middle - 4, middle + 4),
        aspect="auto",
    )
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, _FOOT)
    for at, word in ((0.0, "0"), (0.5, "50 %"), (1.0, "100 %")):
        axes.text(left + 90.0 * at, middle - 7, word, fontsize=7, ha="center", va="top")
    axes.text(left, middle + 8, "congested", fontsize=7.5, color=style.FAINT)
    left += 130.0
    for at, share in enumerate((1.0, 0.5, 0.1)):
        x = left + 62.0 * at
        axes.plot(
            [x, x + 40.0], [middle] * 2, color=style.FAINT, linewidth=thickest * share, solid_capstyle="butt"
        )
        axes.text(x + 20.0, middle - 7, packets(most * share), fontsize=7, ha="center", va="top")
    told = "packets; down above, up below (a host's: of its cell's width)"
    axes.text(left, middle + 8, told, fontsize=7.5, color=style.FAINT)


def packets(count: float) -> str:
    """Returns a number of packets in three digits: `1.25 M`."""
    for factor, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= factor:
            return f"{count / factor:.3g}{name}"
    return f"{count:.3g}"
