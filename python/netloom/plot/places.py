"""Hosts where their ranks lie in an application's grid, as dark as their links' congested fractions.

As in the dissertation's figure 2.7: a cell a host, a panel a plane; x to the right, y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom.errors import NetloomError
from netloom.plot import style

_CELL, _LEAST, _MOST = 11.0, 40.0, 150.0
"""Points of a cell, and of a plane at least and at most."""
_BETWEEN, _LEFT, _RIGHT, _HEAD, _ROW, _FOOT = 12.0, 116.0, 12.0, 44.0, 10.0, 42.0
_LIGHTEST = 1.0

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Places:
    """Hosts on a grid.

    Attributes
    ----------
    shape : (int, int, int)
        Hosts along x, y, z.
    hosts : array of int
        Their numbers.
    at : array of int
        `[host][x, y, z]` of each.
    """

    shape: tuple[int, int, int]
    hosts: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]


def places(grid: Sequence[int], host_of_rank: npt.NDArray[np.int64]) -> Places:
    """Returns where hosts lie on a process grid: by the first of their ranks along each axis.

    Parameters
    ----------
    grid : sequence of int
        Ranks along x, y and z, x fastest.
    host_of_rank : array of int
        The host of every rank.

    Raises
    ------
    NetloomError
        If the grid has not the job's ranks, or hosts don't own boxes of it that fit together.
    """
    shape = (*grid, 1, 1)[:3]
    count = len(host_of_rank)
    if int(np.prod(shape)) != count:
        told = "x".join(map(str, grid))
        raise NetloomError(f"grid {told}: expected one of the job's {count:,} ranks")
    rank = np.arange(count)
    x, y, _ = shape
    axes = np.stack([rank % x, rank // x % y, rank // (x * y)])
    hosts, owner = np.unique(host_of_rank, return_inverse=True)
    corner = np.full((3, len(hosts)), count)
    for axis in range(3):
        np.minimum.at(corner[axis], owner, axes[axis])
    found = [np.unique(row, return_inverse=True) for row in corner]
    sizes = tuple(len(values) for values, _ in found)
    at = np.stack([number for _, number in found], axis=1)
    if len(np.unique(at, axis=0)) < len(hosts):
        raise NetloomError("the job's hosts don't each own a box of its grid: expected a tiled mapping")
    return Places((sizes[0], sizes[1], sizes[2]), hosts, at)


def places_picture(
    layout: Places, rows: Sequence[tuple[str, Array]], *, planes: Sequence[int], title: str, kind: str
) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    layout : Places
        Where hosts lie.
    rows : sequence of (str, array)
        A row of planes each: its name, and the congested fraction of every host's link.
    planes : sequence of int
        Which z are drawn.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    across, down, _ = layout.shape
    cell = min(_CELL, _MOST / max(across, down))
    cell = max(cell, _LEAST / max(across, down))
    wide, tall = cell * across, cell * down
    width = max(_LEFT + len(planes) * (wide + _BETWEEN) + _RIGHT, 330.0)
    height = _HEAD + len(rows) * (tall + _ROW) + _FOOT
    with style.figure(width / 72, height / 72, arranged=False) as fig:
        for line, (name, fraction) in enumerate(rows):
            bottom = height - _HEAD - (line + 1) * tall - line * _ROW
            told = style.shorten(name, 16)
            middle = (bottom + tall / 2) / height
            fig.text(
                (_LEFT - 24) / width, middle, told, ha="right", va="center", fontsize=8.5, parse_math=False
            )
            for column, z in enumerate(planes):
                left = _LEFT + column * (wide + _BETWEEN)
                axes = fig.add_axes((left / width, bottom / height, wide / width, tall / height))
                image = np.full((down, across), np.nan)
                inside = layout.at[:, 2] == z
                image[layout.at[inside, 1], layout.at[inside, 0]] = fraction[inside]
                axes.imshow(1.0 - np.ma.masked_invalid(image), cmap="gray", vmin=0.0, vmax=1.0, aspect="auto")
                axes.set_xticks([])
                shown = sorted({0, down - 2, down - 1} & set(range(down))) if column == 0 else []
                axes.set_yticks(shown, [f"y {y}" for y in shown] if shown else [], fontsize=6)
                axes.tick_params(length=0, pad=1)
                axes.spines[:].set_color(style.FAINT)
                if line == 0:
                    axes.set_title(f"z {z}", fontsize=8, fontweight="normal", pad=3)
        text = style.shorten(title, int(width / 6))
        fig.text(
            8 / width, 1 - 14 / height, text, va="center", fontweight="bold", fontsize=10, parse_math=False
        )
        axes = fig.add_axes((_LEFT / width, 22 / height, 90 / width, 8 / height))
        axes.imshow(np.linspace(_LIGHTEST, 0.0, 64)[None, :], cmap="gray", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_yticks([])
        axes.set_xticks([0, 31.5, 63], ["0", "50 %", "100 %"], fontsize=7)
        axes.tick_params(length=0, pad=2)
        axes.set_title("congested, of what came", fontsize=7.5, fontweight="normal", color=style.FAINT, pad=2)
        return style.save(fig, kind)
