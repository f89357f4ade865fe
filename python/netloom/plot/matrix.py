"""A traffic matrix as a picture, and its coefficients in a basis.

Bytes from block to block of endpoints on a logarithmic colour scale; or pair by pair, in grey, as the
dissertation draws them; coefficients in red and blue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.plot import cells as cell_by_cell
from netloom.plot import style

if TYPE_CHECKING:
    from netloom._core import Traffic
    from netloom.plot.cells import Borders

_CELLS = 384


def matrix_picture(
    traffic: Traffic,
    first: int = 0,
    end: int | None = None,
    *,
    title: str,
    kind: str,
    borders: Borders | None = None,
) -> bytes:
    """Returns the picture of a traffic matrix.

    Parameters
    ----------
    traffic : Traffic
        Endpoints become blocks if there are more than fit.
    first, end : int
        Of which endpoints; of all unless given.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    borders : Borders, optional
        Between which endpoints lines are drawn.
    """
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    end = traffic.endpoints if end is None else end
    cells, block = blocks(traffic, first, end)
    shown = np.ma.masked_equal(cells, 0.0)
    low = float(shown.min()) if cells.any() else 1.0
    high = float(shown.max()) if cells.any() else 1.0
    with style.figure(5.4, 4.7) as fig:
        axes = fig.add_subplot()
        alone = low == high
        picture = axes.imshow(
            shown,
            norm=LogNorm(low / 2, high * 2) if alone else LogNorm(low, high),
            cmap="viridis_r",
            extent=(first, first + cells.shape[1] * block, first + cells.shape[0] * block, first),
            interpolation="nearest",
        )
        axes.set_xlim(first, end)
        axes.set_ylim(end, first)
        style.title(axes, title, width=42, pad=8)
        what = endpoint(traffic)
        lines = cell_by_cell.draw_borders(axes, borders, first, end)
        axes.set_xlabel(f"destination {what}{lines}")
        axes.set_ylabel(f"source {what}")
        cell_by_cell.thousands(axes)
        each = "pair" if block == 1 else f"block of {block} x {block} pairs"
        if not cells.any():
            style.say(axes, "nothing is sent")
        elif alone:
            style.one_value(axes, colormaps["viridis_r"](0.5), f"{style.size(low)} a {each}")
        else:
            style.scale_of(fig, axes, picture, f"bytes a {each} (logarithmic)", style.size)
        return style.save(fig, kind)


def grey_picture(
    traffic: Traffic, first: int, end: int, *, title: str, kind: str, borders: Borders | None = None
) -> bytes:
    """Returns the same pair by pair, from white for nothing to black for most, destinations downwards."""
    from matplotlib.colors import Normalize

    what = endpoint(traffic)
    cells = largest(traffic, first, end)
    return cell_by_cell.picture(
        cells,
        first=first,
        end=end,
        colours="Greys",
        norm=Normalize(0.0, float(cells.max()) or 1.0),
        labels=(f"source {what}", f"destination {what}", "bytes a pair"),
        empty="nothing is sent",
        title=title,
        kind=kind,
        borders=borders,
    )


def coefficients_picture(
    cells: npt.NDArray[np.float64], first: int, *, what: str, title: str, kind: str
) -> bytes:
    """Returns the picture of coefficients: blue for positive, red for negative, each by its own largest.

    Parameters
    ----------
    cells : array
        Destinations by sources.
    first : int
        The number of the first endpoint.
    what : str
        What endpoints are.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    most = float(np.abs(cells).max()) or 1.0
    low, high = float(cells.min()), float(cells.max())
    norm = TwoSlopeNorm(0.0, low if low < 0 else -most, high if high > 0 else most)
    return cell_by_cell.picture(
        cell_by_cell.largest_of_blocks(cells),
        first=first,
        end=first + len(cells),
        colours=LinearSegmentedColormap.from_list("red-blue", [style.BELOW, style.ZERO, style.ABOVE]),
        norm=norm,
        labels=(f"source {what}", f"destination {what}", "coefficient, bytes"),
        empty="all coefficients are 0",
        title=title,
        kind=kind,
    )


def endpoint(traffic: Traffic) -> str:
    """What the endpoints of a traffic are: hosts where it is placed on a fabric, else ranks."""
    return "host" if traffic.hosts_hash is not None else "rank"


def largest(traffic: Traffic, first: int, end: int) -> npt.NDArray[np.float64]:
    """Returns the largest bytes of a pair in every block of these endpoints, destinations by sources."""
    block = cell_by_cell.block_of(end - first)
    side = -(-(end - first) // block)
    source, target, data = _pairs(traffic, first, end)
    cells = np.zeros((side, side))
    np.maximum.at(cells, (target // block, source // block), data)
    return cells


def _pairs(
    traffic: Traffic, first: int, end: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Sources, destinations and bytes between these endpoints, numbered from the first of them."""
    source = np.repeat(np.arange(traffic.endpoints, dtype=np.int64), np.diff(traffic.indptr)) - first
    target = traffic.indices.astype(np.int64) - first
    n = end - first
    inside = (source >= 0) & (source < n) & (target >= 0) & (target < n)
    return source[inside], target[inside], traffic.data[inside]


def blocks(traffic: Traffic, first: int = 0, end: int | None = None) -> tuple[npt.NDArray[np.float64], int]:
    """Returns bytes summed over square blocks of endpoints, and how many endpoints a block is wide."""
    n = (traffic.endpoints if end is None else end) - first
    block = -(-n // _CELLS)
    side = -(-n // block)
    source, target, data = _pairs(traffic, first, first + n)
    cell = source // block * side + target // block
    cells = np.bincount(cell, weights=data, minlength=side * side).astype(np.float64)
    return cells.reshape(side, side), block
