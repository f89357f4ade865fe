"""Sorted link loads, one curve a routing, and the bound below which no routing can get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.plot import style
from netloom.shown import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400
_HEIGHT = 4.3
_GAP = 0.054
"""Between two labels, as a share of the axes' height in a picture of `_HEIGHT` inches."""
_NAME = 14
"""Characters of a name that fit left of the curves."""


@dataclass(frozen=True)
class Curve:
    """The loads of one routing.

    Attributes
    ----------
    name : str
        What the label says.
    loads : array
        Load of every link, in bytes, in any order.
    best : bool
        Whether it is the one to look at.
    """

    name: str
    loads: npt.NDArray[np.float64]
    best: bool = False


def loads_picture(curves: Sequence[Curve], *, bound: float, bound_name: str, title: str, kind: str) -> bytes:
    """Returns the picture of sorted link loads.

    Parameters
    ----------
    curves : sequence of Curve
        The routings.
    bound : float
        The AR bound in bytes: a line.
    bound_name : str
        What its label says.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    stretch = max(1.0, (len(curves) + 1) * _GAP / 0.96)
    with style.figure(7.2, _HEIGHT * stretch) as fig:
        axes = fig.add_subplot()
        factor, unit = style.unit(max([bound, *(float(c.loads.max(initial=0.0)) for c in curves)]))
        _draw(axes, curves, bound / factor, bound_name, factor, _GAP / stretch)
        style.title(axes, title, width=72, pad=12)
        axes.set_ylabel(f"load ({unit})")
        axes.set_xlabel("link, from the most loaded on (directed links, logarithmic)")
        return style.save(fig, kind)


def _draw(
    axes: Axes, curves: Sequence[Curve], bound: float, bound_name: str, factor: float, gap: float
) -> None:
    labels = []
    longest = 1
    best = next((position for position, curve in enumerate(curves) if curve.best), None)
    for curve, look in zip(curves, style.curves([curve.name for curve in curves], best=best), strict=True):
        ranks, values = _sorted_points(curve.loads / factor)
        axes.plot(ranks, values, drawstyle="steps-post", **look)
        start = float(values[0]) if len(values) else 0.0
        labels.append(_Label(legend.name(curve.name), start, str(look["color"]), curve.best))
        longest = max(longest, len(curve.loads))
    labels.append(_Label(bound_name, bound, style.BOUND, False))
    high = max(label.at for label in labels) * 1.06 or 1.0
    left = longest ** (-0.42)
    axes.plot(
        [1.0, longest], [bound, bound], color=style.BOUND, linewidth=1.1, linestyle=(0, (1, 2)), zorder=4
    )
    axes.set_xscale("log")
    axes.set_xlim(left, longest)
    axes.set_ylim(0.0, high)
    axes.set_xticks([t for t in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000) if t <= longest])
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
    axes.minorticks_off()
    style.clean(axes)
    _name(axes, labels, left, high, gap)


@dataclass(frozen=True)
class _Label:
    name: str
    at: float
    colour: str
    bold: bool


def _name(axes: Axes, labels: Sequence[_Label], left: float, high: float, gap: float) -> None:
    """Names stand left of the curves' starts, at their heights as far as there is room."""
    heights = style.spread([label.at for label in labels], gap * high, 0.02 * high, 0.98 * high)
    bound = labels[-1].at
    for label, height in zip(labels, heights, strict=True):
        axes.plot([left**0.08, 0.97], [height, label.at], color=label.colour, linewidth=0.7)
        axes.text(
            left**0.1,
            height,
            f"{style.shorten(label.name, _NAME)}  {figure(label.at, bound)}",
            ha="right",
            va="center",
            fontsize=8.5,
            color=label.colour,
            fontweight="bold" if label.bold else "normal",
            parse_math=False,
        )


def figure(load: float, bound: float) -> str:
    """A load, and how far it is above the bound: `3.61 (+26 %)`; as it is where it meets the bound."""
    told = f"{load:.{2 if load < 99.995 else 0}f}"
    above = 100.0 * (load / bound - 1.0) if bound > 0 else 0.0
    if above < 0.005:
        return told
    return f"{told} (+{above:.0f} %)" if above >= 1 else f"{told} (+{above:.2g} %)"


def _sorted_points(loads: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Loads in falling order over their rank, thinned evenly on the logarithmic axis."""
    falling = np.sort(loads)[::-1]
    if not len(falling):
        return np.ones(0), falling
    ranks = np.unique(np.geomspace(1, len(falling), _POINTS).round().astype(np.int64))
    return ranks.astype(np.float64), falling[ranks - 1]
