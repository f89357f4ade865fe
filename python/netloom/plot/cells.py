"""Matrices cell by cell, as the dissertation's appendix A draws them.

The origin is at the top left, sources go to the right, destinations downwards, and nothing is white. A cell
is a whole number of pixels wide, so that none is lost or doubled. Where there are more cells than fit, a
block of them shows its largest.

Source: Taffet, dissertation, appendix A.1.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELLS = 1280
"""Cells a side, at most."""
_PIXELS = 640
"""A side, at least."""
_DPI = 150
_LEFT, _BOTTOM, _ABOVE, _BAR, _RIGHT = 88, 66, 26, 24, 142
_LINE = 24
"""Margins in pixels, the bar's width and what stands right of it; a line of the title."""
_GAP = 24


def block_of(count: int) -> int:
    """Returns how many endpoints share a cell where there are so many."""
    return max(1, -(-count // _CELLS))


def largest_of_blocks(cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the entry of largest size of every block."""
    n = len(cells)
    block = block_of(n)
    if block == 1:
        return cells
    side = -(-n // block)
    padded = np.zeros((side * block, side * block))
    padded[:n, :n] = cells
    blocks = padded.reshape(side, block, side, block).transpose(0, 2, 1, 3).reshape(side, side, -1)
    at = np.abs(blocks).argmax(axis=2)
    return np.take_along_axis(blocks, at[..., None], axis=2)[..., 0]


def picture(
    shown: npt.NDArray[np.float64],
    *,
    first: int,
    end: int,
    colours: Any,
    norm: Any,
    labels: tuple[str, str, str],
    empty: str,
    title: str,
    kind: str,
    borders: Borders | None = None,
) -> bytes:
    """Returns the picture of a matrix.

    Parameters
    ----------
    shown : array
        Destinations by sources, in blocks where endpoints are many.
    first, end : int
        Which endpoints they are.
    colours, norm : matplotlib's
        How values become colours.
    labels : tuple of str
        Of the sources, of the destinations, and of the bar.
    empty : str
        What is said where all is 0.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    borders : Borders, optional
        Between which endpoints lines are drawn.
    """
    block = block_of(end - first)
    each = -(-_PIXELS // len(shown))
    side = each * len(shown)
    lines = min(3, len(textwrap.wrap(title, side // 12)))
    width, height = _LEFT + side + _GAP + _BAR + _RIGHT, _BOTTOM + side + _ABOVE + _LINE * lines
    with style.figure(width / _DPI, height / _DPI, arranged=False) as fig:
        axes = _axes(fig, _LEFT, _BOTTOM, side, side)
        last = first + len(shown) * block
        drawn = axes.imshow(
            np.kron(shown, np.ones((each, each))),
            norm=norm,
            cmap=colours,
            extent=(first, last, last, first),
            interpolation="none",
        )
        axes.set_xlim(first, end)
        axes.set_ylim(end, first)
        if block == 1:
            ticks = _ticks(first, end)
            axes.set_xticks(ticks)
            axes.set_yticks(ticks)
        sources, destinations, values = labels
        thousands(axes)
        axes.set_xlabel(f"{sources}{draw_borders(axes, borders, first, end)}")
        axes.set_ylabel(destinations)
        style.title(axes, title, width=side // 12, pad=8)
        if not shown.any():
            style.say(axes, empty)
            return style.save(fig, kind)
        beside = _axes(fig, _LEFT + side + _GAP, _BOTTOM + side // 4, _BAR, side // 2)
        told = values if block == 1 else f"{values}, largest of {block} x {block}"
        style.scale_of(fig, beside, drawn, told, _size)
        return style.save(fig, kind)


@dataclass(frozen=True)
class Borders:
    """Between which endpoints something ends.

    Attributes
    ----------
    what : str
        What lies between two lines: `pod`.
    at : sequence of int
        The number of the first endpoint of each but the first.
    """

    what: str
    at: Sequence[int]


def draw_borders(axes: Axes, borders: Borders | None, first: int, end: int) -> str:
    """Draws lines between endpoints, and returns what the axis says of them; nothing where there are none."""
    inside = [] if borders is None else [at for at in borders.at if first < at < end]
    if borders is None or not inside:
        return ""
    look: dict[str, Any] = {"color": style.FAINT, "linewidth": 0.4, "alpha": 0.7}
    for at in inside:
        axes.axhline(at, **look)
        axes.axvline(at, **look)
    return f" (lines between {borders.what})"


def thousands(axes: Axes) -> None:
    """Numbers of endpoints with thousands separated, as text has them, and none between two."""
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        locator = axis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            locator.set_params(integer=True)
        axis.set_major_formatter(lambda value, _position: f"{value:,.0f}")


def _axes(fig: Figure, left: int, bottom: int, width: int, height: int) -> Any:
    across, up = fig.get_size_inches() * _DPI
    return fig.add_axes((left / across, bottom / up, width / across, height / up))


def _size(value: float) -> str:
    return "0" if value == 0 else f"{'-' if value < 0 else ''}{style.size(abs(value))}"


def _ticks(first: int, end: int) -> list[int]:
    """Quarters or eighths where that is whole, as powers of two are divided; else round numbers."""
    for parts in (8, 4):
        step, rest = divmod(end - first, parts)
        if not rest and step and not step & (step - 1):
            return list(range(first, end + 1, step * parts // 4))
    step = next(
        s for s in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 10**9) if (end - first) / s <= 8
    )
    return list(range(-(-first // step) * step, end + 1, step))
