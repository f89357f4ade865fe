"""A sweep's means with their intervals: a panel a kept key, a curve a group, over what varies.

Where what lies across is numbers, points of a curve are joined; else they stand side by side.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME = 34
"""Characters of a name that fit in the legend."""
_LINE_INCHES = 0.22
"""A line of the title above the legend."""
_GAP_INCHES = 0.08
"""Beside the legend."""
_TICKS = 12
"""So many words fit below a panel."""
_COLUMNS = 2


@dataclass(frozen=True)
class Point:
    """A mean.

    Attributes
    ----------
    at : float
        Where it is across: a number, or the place of a word.
    mean : float
        The mean.
    low, high : float or None
        Its interval, if there is one.
    """

    at: float
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curve:
    """The means of a group.

    Attributes
    ----------
    name : str
        Of the group.
    engine : str
        Its routing, whose colour it has; else what the first key has, which several curves may share.
    points : sequence of Point
        By where they are across.
    """

    name: str
    engine: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Panel:
    """One key and its curves."""

    key: str
    curves: Sequence[Curve]


def sweep_picture(
    panels: Sequence[Panel],
    *,
    across: str,
    words: Sequence[str] | None,
    title: str,
    kind: str,
    named: str = "",
) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    panels : sequence of Panel
        At least one.
    across : str
        What lies across.
    words : sequence of str, optional
        What its places are called, if these are no numbers.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    named : str
        Of which keys the curves' names are the values.
    """
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    found = looks([curve for panel in panels for curve in panel.curves])
    width, height = 4.3 * columns + (2.0 if len(found) > 1 else 0.0), 3.3 * rows
    with style.figure(width, height) as fig:
        grid = fig.subplots(rows, columns, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw(axes, panel, across, words, found)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        paper = style.inches((width, height))
        style.head(fig, title, paper[0], 10.0)
        if len(found) > 1:
            _name(fig, named, paper, narrow=paper[0] < 0.7 * width)
        return style.save(fig, kind)


def _name(fig: Figure, named: str, paper: tuple[float, float], *, narrow: bool) -> None:
    """Names the curves: below all on narrow paper, else right of the panels and below the title."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    handles, names = style.named_curves(fig)
    scale = style.type_scale((float(fig.get_figwidth()), float(fig.get_figheight())))
    above = scale * _LINE_INCHES * (fig.get_suptitle().count("\n") + 1) / paper[1]
    legend = fig.legend(
        handles,
        names,
        loc="outside lower left" if narrow else "upper right",
        bbox_to_anchor=None if narrow else (0.0, 0.0, 1.0, 1.0 - above),
        title=_heading(named).replace("$", r"\$"),
        title_fontsize=8.0,
        alignment="left",
        frameon=False,
        fontsize=8.0,
        handlelength=3.6,  # Dashes of all kinds show.
    )
    engine = fig.get_layout_engine()
    if not narrow and isinstance(engine, ConstrainedLayoutEngine):
        # The layout finds room for legends at the edge only, where the title is.
        fig.draw_without_rendering()
        wide = scale * (legend.get_window_extent().width / fig.dpi + 2.0 * _GAP_INCHES)
        engine.set(rect=(0.0, 0.0, 1.0 - wide / paper[0], 1.0))


def _heading(named: str) -> str:
    """Keys in lines about as long as names are, none cut: a long one goes on behind a dot."""
    lines = []
    for line in textwrap.wrap(named, _NAME, break_long_words=False, break_on_hyphens=False):
        while len(line) > _NAME and (at := line.rfind(".", 1, _NAME) + 1):
            lines.append(line[:at])
            line = line[at:]
        lines.append(line)
    return "\n".join(lines)


def looks(curves: Sequence[Curve]) -> dict[str, dict[str, Any]]:
    """The look of every curve by its name, the same in all panels.

    Where two keys vary several curves are of one engine (or of one value of the first key): they share its
    colour, and each has dashes of its own. Every curve has a marker of its own, filled up to the twelfth,
    hollow up to the 24th: without colour it is told from all others, where no line joins points too.
    """
    engines = {curve.name: curve.engine for curve in curves}
    colours = list(dict.fromkeys(engines.values()))
    of = dict(zip(colours, style.curves(colours), strict=True))
    found, before = {}, dict.fromkeys(colours, 0)
    for position, (name, engine) in enumerate(engines.items()):
        look = {**of[engine], "marker": _MARKERS[position % len(_MARKERS)], "markersize": 5.0, "markevery": 1}
        if position // len(_MARKERS) % 2:
            look["markerfacecolor"] = "white"
        if list(engines.values()).count(engine) > 1:
            look["linestyle"] = _DASHES[before[engine] % len(_DASHES)]
            before[engine] += 1
        found[name] = look
    return found


_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "d")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5)),
    (0, (3, 3)),
)


def _draw(
    axes: Axes, panel: Panel, across: str, words: Sequence[str] | None, found: Mapping[str, Mapping[str, Any]]
) -> None:
    order = list(found)
    number = len(order)
    for curve in panel.curves:
        look, position = dict(found[curve.name]), order.index(curve.name)
        points = curve.points
        # Side by side, so that intervals at one place do not cover each other.
        shift = 0.0 if words is None or number < 2 else 0.5 * (position / (number - 1) - 0.5)
        at = [point.at + shift for point in points]
        for x, point in zip(at, points, strict=True):
            if point.low is not None and point.high is not None:
                axes.vlines(x, point.low, point.high, color=look["color"], linewidth=1.2, zorder=4)
        if words is not None:
            look["linestyle"] = "none"
        label = style.shorten(curve.name, _NAME).replace("$", r"\$")
        axes.plot(at, [point.mean for point in points], **{**look, "zorder": 6}, label=label or None)
    if words is not None:
        step = max(1, len(words) // _TICKS)
        shown = [style.shorten(word, 18).replace("$", r"\$") for word in words[::step]]
        turned = 0 if sum(map(len, shown)) < 40 else 30
        axes.set_xticks(
            range(0, len(words), step), shown, rotation=turned, ha="right" if turned else "center"
        )
        axes.set_xlim(-0.6, len(words) - 0.4)
    axes.set_xlabel(across.replace("$", r"\$"))
    axes.set_ylabel(panel.key)
    style.clean(axes)
