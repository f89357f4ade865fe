"""Price of a network against what applications lose on it: estimates, bounds, the limit at every price.

The slowdown is drawn in percent above a network without taper, on a scale that is logarithmic above 0.1 % and
reaches 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloom.plot import style

_FINEST = 0.1
"""Percent below which the scale is linear."""
_NAME = 40
"""Characters of a design's name that fit in the legend."""


@dataclass(frozen=True)
class Point:
    """A design beside the front.

    Attributes
    ----------
    name : str
        What the legend says.
    price : float
        Price a host.
    slower : float
        Percent above a network without taper, by the estimate.
    bound : float
        The same by the bound; a line joins both.
    best : bool
        Whether it stands out.
    """

    name: str
    price: float
    slower: float
    bound: float
    best: bool = False


def plan_picture(
    front: Sequence[tuple[float, float]],
    bounds: Sequence[tuple[float, float]],
    limit: Sequence[tuple[float, float]],
    points: Sequence[Point],
    *,
    currency: str,
    title: str,
    kind: str,
) -> bytes:
    """Returns the picture of price against slowdown.

    Parameters
    ----------
    front : sequence of (float, float)
        Price a host and percent of slowdown by the estimate, cheapest first.
    bounds : sequence of (float, float)
        The same designs by the bound.
    limit : sequence of (float, float)
        Price a host and percent of the limit at that price.
    points : sequence of Point
        Designs to mark: the chosen one, the full tree, those compared.
    currency : str
        Of the prices.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    with style.figure(6.4, 4.2) as fig:
        axes = fig.add_subplot()
        axes.plot(*_sides(limit), color=style.BOUND, linewidth=1.2, zorder=2, label="limit at the price")
        of_front, *of_points = style.curves(["front", *(point.name for point in points)])
        look = {**of_front, "linestyle": "-", "marker": ".", "markersize": 4.0, "markevery": 1}
        axes.step(*_sides(front), where="post", label=f"front: {len(front):,} designs, estimate", **look)
        under = {**look, "linestyle": ":", "marker": "none"}
        axes.step(*_sides(bounds), where="post", label="front, bound", **under)
        for position, point in enumerate(points):
            look = style.one() if point.best else of_points[position]
            at, both = (point.price, point.price), (point.bound, point.slower)
            axes.plot(at, both, color=look["color"], linewidth=1.0, zorder=5)
            axes.plot(
                [point.price],
                [point.slower],
                color=look["color"],
                linestyle="none",
                marker="*" if point.best else ("s", "^", "D", "v", "P", "X")[position % 6],
                markersize=11.0 if point.best else 6.0,
                zorder=6,
                label=style.shorten(point.name, _NAME).replace("$", r"\$"),
            )
        axes.set_yscale("symlog", linthresh=_FINEST)
        high = max([slower for _, slower in [*front, *limit]] + [point.slower for point in points])
        high = max(high, 1.0) * 1.6
        axes.set_ylim(-_FINEST / 8, high)
        axes.set_yticks([0.0, *[tick for tick in (0.1, 1, 10, 100, 1000, 10_000) if tick <= high]])
        axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g} %")
        axes.yaxis.minorticks_off()
        prices = [price for price, _ in [*front, *limit]] + [point.price for point in points]
        style.log_axis(axes.xaxis, prices, "{:,g}".format)
        axes.set_xlabel(f"network, {currency} a host (logarithmic)".replace("$", r"\$"))
        axes.set_ylabel("slower than without taper")
        axes.legend(frameon=False, fontsize=8.0)
        style.clean(axes)
        style.title(axes, title, width=64, pad=10)
        return style.save(fig, kind)


def _sides(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
