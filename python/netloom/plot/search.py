"""What a search found: gap against time, and gap against changed entries.

Gaps are to the proven lower bound, in percent, on a scale that is logarithmic above 0.01 % and reaches 0:
a curve that ends on the axis was proved optimal. Between two improvements the best known stays, so curves
are stairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FINEST = 0.01
"""Percent below which the scale is linear."""
_NAME = 24
"""Characters of a name that fit in the legend."""


@dataclass(frozen=True)
class Stairs:
    """The best known gap of one search.

    Attributes
    ----------
    name : str
        What the legend says.
    seconds : sequence of float
        When it got better.
    gaps : sequence of float
        Percent above the lower bound from then on.
    end : float
        Seconds at which the search ended.
    """

    name: str
    seconds: Sequence[float]
    gaps: Sequence[float]
    end: float


def history_picture(curves: Sequence[Stairs], *, title: str, kind: str) -> bytes:
    """Returns the picture of gaps against time.

    Parameters
    ----------
    curves : sequence of Stairs
        The searches.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    with style.figure(6.4, 3.8) as fig:
        axes = fig.add_subplot()
        looks = [style.one()] if len(curves) == 1 else style.curves([curve.name for curve in curves])
        for curve, look in zip(curves, looks, strict=True):
            axes.step(
                [*curve.seconds, max(curve.end, *curve.seconds)],
                [*curve.gaps, curve.gaps[-1]],
                where="post",
                label=style.shorten(curve.name, _NAME),
                **look,
            )
        times = [second for curve in curves for second in (*curve.seconds, curve.end)]
        style.log_axis(axes.xaxis, [second for second in times if second > 0])
        _gaps(axes, [gap for curve in curves for gap in curve.gaps])
        axes.set_xlabel("seconds since the start, bounds included (logarithmic)")
        if len(curves) > 1:
            axes.legend(frameon=False, fontsize=8.5)
        style.title(axes, title, width=64, pad=10)
        return style.save(fig, kind)


def front_picture(points: Sequence[tuple[int, float]], *, title: str, kind: str) -> bytes:
    """Returns the picture of the gap that a number of changed entries reaches.

    Parameters
    ----------
    points : sequence of (int, float)
        Changed entries and the gap in percent, fewest changes first.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    with style.figure(6.4, 3.8) as fig:
        axes = fig.add_subplot()
        changed, gaps = [x for x, _ in points], [y for _, y in points]
        axes.step(changed, gaps, where="post", marker="o", **{**style.one(), "linewidth": 1.6})
        axes.set_xscale("symlog", linthresh=1)
        # (Room for a front that is one point: nothing changed, nothing to gain.)
        axes.set_xlim(-0.1, max(10.0, 3.0 * max(changed, default=0)))
        axes.xaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
        most = max([*gaps, _FINEST])
        axes.set_ylim(-0.03 * most, 1.12 * most)
        axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g} %")
        axes.set_ylabel("above the proven lower bound")
        style.clean(axes)
        for at in told_points(points):
            entries = f"{changed[at]:,} {'entry' if changed[at] == 1 else 'entries'}"
            axes.annotate(
                f"{entries}: {gaps[at]:.3g} %",
                (changed[at], gaps[at]),
                (5, 5),
                textcoords="offset points",
                fontsize=7.5,
            )
        axes.set_xlabel("entries changed (logarithmic)")
        style.title(axes, title, width=64, pad=10)
        return style.save(fig, kind)


_APART = 0.06
"""Of the height: how far apart the numbers of two points are at least."""


def told_points(points: Sequence[tuple[int, float]]) -> list[int]:
    """Which points have their numbers beside them: the ends, and those that are far from the last one.

    Parameters
    ----------
    points : sequence of (int, float)
        Changed entries and gap, fewest changes first.
    """
    if not points:
        return []
    last = len(points) - 1
    apart = _APART * max(max(gap for _, gap in points), _FINEST)
    found = [0]
    for at in range(1, last):
        if points[found[-1]][1] - points[at][1] >= apart and points[at][1] - points[last][1] >= apart:
            found.append(at)
    return found if last == 0 else [*found, last]


def _gaps(axes: Axes, gaps: Sequence[float]) -> None:
    axes.set_yscale("symlog", linthresh=_FINEST)
    high = max([*gaps, _FINEST]) * 1.6
    axes.set_ylim(-_FINEST / 8, high)
    axes.set_yticks([0.0, *[tick for tick in (0.01, 0.1, 1, 10, 100, 1000, 10_000) if tick <= high]])
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g} %")
    axes.minorticks_off()
    axes.set_ylabel("above the proven lower bound")
    style.clean(axes)
