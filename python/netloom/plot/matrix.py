"""A traffic matrix as a picture: bytes from block to block of endpoints, on a logarithmic colour scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.plot import style

if TYPE_CHECKING:
    from netloom._core import Traffic

_CELLS = 384


def matrix_picture(traffic: Traffic, *, title: str, kind: str) -> bytes:
    """Returns the picture of a traffic matrix.

    Parameters
    ----------
    traffic : Traffic
        Endpoints become blocks if there are more than fit.
    title : str
        Above the picture.
    kind : {"svg", "png"}
        The file format.
    """
    from matplotlib.colors import LogNorm

    cells, block = blocks(traffic)
    shown = np.ma.masked_equal(cells, 0.0)
    low = float(shown.min()) if traffic.pairs else 1.0
    high = float(shown.max()) if traffic.pairs else 1.0
    with style.figure(5.4, 4.7) as fig:
        axes = fig.add_subplot()
        if low == high:
            low, high = low / 2, high * 2
        n = traffic.endpoints
        picture = axes.imshow(
            shown,
            norm=LogNorm(low, high),
            cmap="viridis_r",
            extent=(0, cells.shape[1] * block, cells.shape[0] * block, 0),
            interpolation="nearest",
        )
        axes.set_xlim(0, n)
        axes.set_ylim(n, 0)
        style.title(axes, title, width=42, pad=8)
        what = "host" if traffic.hosts_hash is not None else "endpoint"
        axes.set_xlabel(f"destination {what}")
        axes.set_ylabel(f"source {what}")
        each = "pair" if block == 1 else f"block of {block} x {block} pairs"
        bar = fig.colorbar(picture, ax=axes, shrink=0.85, pad=0.02, format=lambda value, _: style.size(value))
        bar.set_label(f"bytes a {each}")
        bar.ax.minorticks_off()
        bar.outline.set_visible(False)
        return style.save(fig, kind)


def blocks(traffic: Traffic) -> tuple[npt.NDArray[np.float64], int]:
    """Returns bytes summed over square blocks of endpoints, and how many endpoints a block is wide."""
    n = traffic.endpoints
    block = -(-n // _CELLS)
    side = -(-n // block)
    source = np.repeat(np.arange(n, dtype=np.int64) // block, np.diff(traffic.indptr))
    cell = source * side + traffic.indices // block
    cells = np.bincount(cell, weights=traffic.data, minlength=side * side).astype(np.float64)
    return cells.reshape(side, side), block
