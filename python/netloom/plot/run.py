"""A simulated run: how busy every link was, level by level, and when; a column a routing.

A level's links are a small image: a switch a column (the lower end of the cables; for hosts their leaf), its
cables one above the other, so that both directions of a cable lie at the same place. Below are strips of
time: a row a level, first its busiest link, then the mean of its links, and, if they were recorded, the
longest queue. All routings share the colours and the axis of time; images show shares of the longest run's
time, so that a routing that takes longer for the same work never looks the cooler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.plot import style
from netloom.runs.tiers import Panel, Strip, Tier
from netloom.shown import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_COLUMNS = 4
"""Routings side by side; more go below."""
_COLOURS = "magma_r"
_QUEUES = "Blues"
_IMAGE, _ROW, _LINE = 0.42, 0.13, 0.2
"""Inches of an image, of a row of a strip, and of a line of text below the one or above the other."""
_NAMES, _WIDTH, _BETWEEN, _BAR = 0.95, 2.2, 0.3, 0.9
"""Inches of the levels' names, of a routing, between two, and of the scale of colours with its numbers."""
_HEAD, _TITLE, _LONG, _FOOT = 0.32, 0.24, 1.6, 0.22
"""Inches of the title, of a routing's, of a scale of colours, and of the line below all."""
_FOOTNOTE = "Images: a column a switch (for hosts their leaf), a row a cable."
_OF_GROUPS = "Images: a column a group, a row a cable."
_STRIPS = " Strips: shares of each interval."

Array = npt.NDArray[np.float64]


def run_picture(panels: Sequence[Panel], *, title: str, kind: str, longest_ms: float) -> bytes:
    """Returns the picture of a run.

    Parameters
    ----------
    panels : sequence of Panel
        The routings, at least one, of one fabric.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    longest_ms : float
        The longest run's simulated time, of which images show shares.
    """
    across = min(len(panels), _COLUMNS)
    down = -(-len(panels) // across)
    panels = [_filled(panel, panels) for panel in panels]
    tall = max(_height(panel) for panel in panels)
    strips = [strip for panel in panels for strip in panel.strips]
    longest = max((float(strip.edges_ms[-1]) for strip in strips), default=0.0)
    deepest = max((float(strip.values.max(initial=0.0)) for strip in strips if strip.queue), default=0.0)
    page = _Page(_NAMES + across * (_WIDTH + _BETWEEN) + _BAR, _HEAD + down * tall + _FOOT)
    with style.figure(page.width, page.height, arranged=False) as fig:
        busy: list[Any] = []
        waiting: list[Any] = []
        for position, panel in enumerate(panels):
            row, column = divmod(position, across)
            corner = (_NAMES + column * (_WIDTH + _BETWEEN), _HEAD + row * tall)
            _panel(fig, page, corner, panel, (longest, deepest), (busy, waiting), named=column == 0)
        bars: list[tuple[str, list[Any], Any]] = [
            (busy_label(panels, longest_ms), busy, lambda value, _: f"{100 * value:.0f} %")
        ]
        if waiting:
            bars.append(("waits at a link", waiting, lambda value, _: style.size(value)))
        for position, (name, pictures, form) in enumerate(bars):
            left, top = _NAMES + across * (_WIDTH + _BETWEEN), _HEAD + _TITLE + position * (_LONG + 0.4)
            bar = fig.colorbar(pictures[0], cax=page.axes(fig, left, top, 0.12, _LONG), format=form)
            bar.set_label(name, fontsize=8)
            bar.ax.tick_params(labelsize=7)
            bar.outline.set_visible(False)
        groups = any("group" in tier.name for tier in panels[0].tiers)
        note = (_OF_GROUPS if groups else _FOOTNOTE) + (_STRIPS if strips else "")
        at = (_NAMES / page.width, 0.07 / page.height)
        fig.text(*at, note, fontsize=6.5 if across == 1 else 7, color=style.FAINT)
        text = style.shorten(title, 12 + 32 * across)
        top = 1 - 0.18 / page.height
        fig.text(0.08 / page.width, top, text, va="center", fontweight="bold", fontsize=10, parse_math=False)
        return style.save(fig, kind)


def busy_label(panels: Sequence[Panel], longest_ms: float) -> str:
    """What the shares of the scale are shares of: two things where there are strips."""
    images = f"{longest_ms:.3g} ms"
    if not any(not strip.queue for panel in panels for strip in panel.strips):
        return f"busy, of {images}"
    return f"busy: images of {images},\nstrips of their interval"


def _filled(panel: Panel, panels: Sequence[Panel]) -> Panel:
    """A routing with all strips that any has: those that were not recorded have no values."""
    names = dict.fromkeys((strip.name, strip.queue) for one in panels for strip in one.strips)
    own = {strip.name: strip for strip in panel.strips}
    rows = len(panel.tiers)
    nothing = np.zeros(2), np.zeros((rows, 0))
    strips = [own.get(name) or Strip(name, *nothing, queue=queue) for name, queue in names]
    return replace(panel, strips=strips)


@dataclass(frozen=True)
class _Page:
    """A page in inches, from its upper left corner."""

    width: float
    height: float

    def axes(self, fig: Figure, left: float, top: float, width: float, height: float) -> Axes:
        bottom = self.height - top - height
        sides = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        return fig.add_axes(sides)


def _height(panel: Panel) -> float:
    """Inches of a routing's images and strips, with its title and its axis."""
    strips = sum(_ROW * len(strip.values) + _LINE for strip in panel.strips)
    return _TITLE + len(panel.tiers) * (_IMAGE + _LINE) + strips + (0.5 if panel.strips else 0.1)


def _panel(
    fig: Figure,
    page: _Page,
    corner: tuple[float, float],
    panel: Panel,
    scale: tuple[float, float],
    drawn: tuple[list[Any], list[Any]],
    *,
    named: bool,
) -> None:
    """One routing's images and strips, added to `drawn`; only the first of a row names its levels."""
    left, top = corner
    told = f"{style.shorten(legend.name(panel.name), 22)}  {panel.end}"
    at = (left / page.width, 1 - (top + _TITLE - 0.07) / page.height)
    fig.text(*at, told, fontsize=9, fontweight="bold", parse_math=False)
    top += _TITLE
    for tier in panel.tiers:
        drawn[0].append(_draw_tier(page.axes(fig, left, top, _WIDTH, _IMAGE), tier, named=named))
        top += _IMAGE + _LINE
    names = [tier.name if named else "" for tier in panel.tiers]
    for row, strip in enumerate(panel.strips, 1):
        tall = _ROW * len(strip.values)
        axes = page.axes(fig, left, top + _LINE, _WIDTH, tall)
        mesh = _draw_strip(axes, strip, scale, names)
        if strip.queue and mesh is not None:
            drawn[1].append(mesh)
        if row == len(panel.strips):
            axes.set_xlabel("simulated ms", fontsize=8)
        else:
            axes.set_xticklabels([])
        top += tall + _LINE


def _draw_tier(axes: Axes, tier: Tier, *, named: bool) -> AxesImage:
    image = axes.imshow(
        np.ma.masked_invalid(tier.busy),
        cmap=_COLOURS,
        vmin=0.0,
        vmax=1.0,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color(style.GRID)
    if named:
        axes.set_ylabel(tier.name, rotation=0, ha="right", va="center", fontsize=8)
    known = tier.busy[~np.isnan(tier.busy)]
    if known.size:
        told = f"mean {100 * known.mean():.0f} %, most {100 * known.max():.0f} %"
        axes.set_xlabel(told, fontsize=7, color=style.FAINT, labelpad=1, loc="left")
    return image


def _draw_strip(axes: Axes, strip: Strip, scale: tuple[float, float], names: Sequence[str]) -> Any:
    longest, deepest = scale
    mesh = None
    if strip.values.size:
        mesh = axes.pcolormesh(
            strip.edges_ms,
            np.arange(len(strip.values) + 1),
            strip.values,
            cmap=_QUEUES if strip.queue else _COLOURS,
            vmin=0.0,
            vmax=(deepest or 1.0) if strip.queue else 1.0,
            rasterized=True,
        )
    else:
        told = axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, fontsize=8, color=style.FAINT)
        told.set(ha="center", va="center")
    axes.set_xlim(0.0, longest or 1.0)
    axes.set_ylim(len(strip.values), 0.0)
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=7)
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(strip.name, fontsize=8, fontweight="normal", pad=2)
    return mesh
