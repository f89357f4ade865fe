"""Curves and points on two axes, without a script: lines are SVG paths, words are text of the page.

What is drawn is stretched with the page and words are not, so that a chart can be read on any width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netloom.shown.html import text

_WIDE, _HIGH = 1000.0, 400.0
_TICKS = (1.0, 2.0, 5.0)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes
    ----------
    name : str
        With its unit.
    low, high : float
        Where it begins and ends.
    log : bool
        Logarithmic; then `low` is above 0.
    """

    name: str
    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value is, from 0 to 1; what lies outside is at the end."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, self.low))
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5

    @property
    def ticks(self) -> list[float]:
        """Round values on it, at most six."""
        if not self.log:
            return _linear(self.low, self.high)
        decades = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        for steps in (_TICKS, (1.0,)):
            found = [step * 10.0**n for n in decades for step in steps]
            found = [one for one in found if self.low * 0.999 <= one <= self.high * 1.001]
            if len(found) <= _MOST_TICKS:
                break
        thinned = found[:: max(1, math.ceil(len(found) / _MOST_TICKS))]
        return thinned if len(thinned) > 1 else [self.low, self.high]


def _linear(low: float, high: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10((high - low) / 4)) if high > low else 1.0
    while (high - low) / step > _MOST_TICKS:
        step *= 2 if f"{step:e}"[0] in "15" else 2.5
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Series:
    """Points, or a line through them.

    Attributes
    ----------
    name : str
        In the legend.
    colour : str
        A style sheet's.
    points : sequence of (float, float)
        Across and up.
    line : bool
        Whether they are joined.
    dashes : str
        SVG's `stroke-dasharray`.
    mark : {"", "hollow", "large"}
        How points look.
    """

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    line: bool = False
    dashes: str = ""
    mark: str = ""


def chart(label: str, x: Axis, y: Axis, series: Sequence[Series]) -> str:
    """A chart; `label` is what it is called where it cannot be seen."""
    lines = "".join(
        f'<path d="{_path(one, x, y)}" stroke="{text(one.colour)}" stroke-dasharray="{text(one.dashes)}" '
        'vector-effect="non-scaling-stroke"/>'
        for one in series
        if one.line and one.points
    )
    grid = "".join(
        f'<path class="grid" d="M0 {_HIGH * (1 - y.place(tick)):.1f}H{_WIDE:g}" '
        'vector-effect="non-scaling-stroke"/>'
        for tick in y.ticks
    )
    dots = "".join(
        f'<i class="{_key(one)}" style="left:{100 * x.place(a):.2f}%;bottom:{100 * y.place(b):.2f}%;'
        f'--c:{text(one.colour)}"></i>'
        for one in series
        if not one.line
        for a, b in one.points
    )
    ups = "".join(
        f'<span style="bottom:{100 * y.place(tick):.2f}%">{text(f"{tick:,.6g}")}</span>' for tick in y.ticks
    )
    across = "".join(
        f'<span style="left:{100 * x.place(tick):.2f}%">{text(f"{tick:,.6g}")}</span>' for tick in x.ticks
    )
    names = "".join(
        f'<span><i class="{_key(one)}" style="--c:{text(one.colour)}"></i>{text(one.name)}</span>'
        for one in series
    )
    scales = [axis.name + (" (logarithmic)" if axis.log else "") for axis in (y, x)]
    return (
        f'<figure class="chart" role="img" aria-label="{text(label)}"><p class="names">{names}</p>\n'
        f'<p class="faint">{text(scales[0])}</p>\n<div class="plot"><div class="ups">{ups}</div>'
        f'<div class="area"><svg viewBox="0 0 {_WIDE:g} {_HIGH:g}" preserveAspectRatio="none" '
        f'aria-hidden="true">{grid}{lines}</svg>{dots}</div><div class="across">{across}</div></div>\n'
        f'<p class="faint under">{text(scales[1])}</p></figure>'
    )


def _key(one: Series) -> str:
    if one.line:
        return "dashed" if one.dashes else "line"
    return f"p {one.mark}".strip()


def _path(one: Series, x: Axis, y: Axis) -> str:
    return "".join(
        f"{'L' if n else 'M'}{_WIDE * x.place(a):.1f} {_HIGH * (1 - y.place(b)):.1f}"
        for n, (a, b) in enumerate(one.points)
    )
