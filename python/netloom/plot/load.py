"""Latency and accepted throughput over offered load: the two pictures by which networks are compared.

To the left the mean latency of messages, to the right what was accepted; both over what was asked for. Where
more was offered than accepted a point is hollow: its latency grows with the window that was measured (W. J.
Dally, B. Towles, *Principles and Practices of Interconnection Networks*, 2004, sec. 23.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 28
"""Characters of a name that fit in the legend."""


@dataclass(frozen=True)
class Point:
    """One load.

    Attributes
    ----------
    load : float
        What was asked for, a share of a host's link.
    accepted : float
        What was received of it, a share of the same.
    latency_us : float
        Mean of the messages made in the window.
    saturated : bool
        Whether less was accepted than offered.
    """

    load: float
    accepted: float
    latency_us: float
    saturated: bool


@dataclass(frozen=True)
class Curve:
    """What one routing does to one job: its points by rising load."""

    name: str
    points: Sequence[Point]
    engine: str = ""
    """The routing's word, where the name is not that alone."""


def load_picture(curves: Sequence[Curve], *, title: str, kind: str) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    curves : sequence of Curve
        The routings.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    most = max(point.load for curve in curves for point in curve.points)
    with style.figure(8.2, 3.6) as fig:
        left, right = fig.subplots(1, 2)
        fig.get_layout_engine().set(wspace=0.1)  # type: ignore[union-attr, call-arg]
        looks = style.curves([curve.engine or curve.name for curve in curves])
        for curve, look in zip(curves, looks, strict=True):
            loads = [100 * point.load for point in curve.points]
            for axes, values in (
                (left, [point.latency_us for point in curve.points]),
                (right, [100 * point.accepted for point in curve.points]),
            ):
                axes.plot(loads, values, label=style.shorten(curve.name, _NAME), **look)
                for point, load, value in zip(curve.points, loads, values, strict=True):
                    inside = "white" if point.saturated else look["color"]
                    axes.plot(
                        [load], [value], "o", color=look["color"], markerfacecolor=inside, ms=4, zorder=6
                    )
        style.log_axis(left.yaxis, [point.latency_us for curve in curves for point in curve.points])
        if any(point.saturated for curve in curves for point in curve.points):
            look = {"color": style.INK, "markerfacecolor": "white", "linestyle": "none"}
            left.plot([], [], marker="o", ms=4, label="hollow: saturated", **look)
        left.set_ylabel("mean latency (µs, logarithmic)")
        right.plot([0, 100 * most], [0, 100 * most], color=style.FAINT, linewidth=0.8, zorder=1)
        right.set_ylim(bottom=0)
        right.set_ylabel("accepted (% of a host's link)")
        for axes in (left, right):
            _across(axes, most)
        handles, names = style.named_curves(fig)
        columns = max(1, int(style.inches((8.2, 3.6))[0] / 1.6))
        fig.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, fontsize=8.5)
        style.title(left, title, width=46, pad=10)
        return style.save(fig, kind)


def _across(axes: Axes, most: float) -> None:
    axes.set_xlim(0, 104 * most)
    axes.set_xlabel("offered (% of a host's link)")
    style.clean(axes)
