"""The links of a run by tier: those from one level to the next, as images, and over time.

A switch is a column of a tier's image (the lower end of the cables; for hosts their leaf), its cables one
above the other, so that both directions of a cable lie at the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

_WIDE = 512
"""Switches that an image shows one by one; of more, neighbours share a column, which shows the busiest."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tier:
    """The links from one level to the next.

    Attributes
    ----------
    name : str
        `leaf → spine`.
    busy : array
        Share of the longest run's time, 0 to 1, `[cable][switch]`; NaN where there is no link.
    """

    name: str
    busy: Array


@dataclass(frozen=True)
class Strip:
    """Something of every tier over time.

    Attributes
    ----------
    name : str
        What: `busiest link`.
    edges_ms : array
        Where intervals begin and end, one more than there are.
    values : array
        `[tier][interval]`.
    queue : bool
        Whether they are bytes in a queue; otherwise utilisation, 0 to 1.
    """

    name: str
    edges_ms: Array
    values: Array
    queue: bool = False


@dataclass(frozen=True)
class Panel:
    """One routing.

    Attributes
    ----------
    name : str
        Its word in the scenario.
    end : str
        When its jobs were complete, as text.
    tiers : sequence of Tier
        From the hosts up, then down again.
    strips : sequence of Strip
        None where nothing was recorded over time.
    """

    name: str
    end: str
    tiers: Sequence[Tier]
    strips: Sequence[Strip] = field(default=())


def tier_name(below: int, above: int, levels: int) -> str:
    """What links from level `below` to level `above` are called; hosts are level -1, leaves 0.

    With 0 levels switches are all alike.
    """

    def name(level: int) -> str:
        named = {0: ("switch",), 1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "spine", "core")}.get(levels)
        if level < 0:
            return "host"
        return f"level {level}" if named is None else named[level]

    return f"{name(below)} → {name(above)}"


def group_tiers(from_group: Any, to_group: Any, busy: Any) -> list[tuple[Tier, npt.NDArray[np.int64]]]:
    """Returns the tiers of a dragonfly with the links of each: a column a group, that of a link's sender.

    Parameters
    ----------
    from_group, to_group : array of int
        Group of every link's ends; -1 for hosts.
    busy : array of float
        Utilisation of every link.
    """
    first, last = np.asarray(from_group, np.int64), np.asarray(to_group, np.int64)
    switches = (first >= 0) & (last >= 0)
    found = []
    for name, of in (
        ("host → group", (first < 0) & (last >= 0)),
        ("within groups", switches & (first == last)),
        ("between groups", switches & (first != last)),
        ("group → host", (first >= 0) & (last < 0)),
    ):
        links = np.flatnonzero(of)
        if len(links):
            column = np.where(first < 0, last, first)[links]
            found.append((Tier(name, _image(column, np.asarray(busy, np.float64)[links])), links))
    return found


def tiers(from_level: Any, to_level: Any, lower: Any, busy: Any) -> list[tuple[Tier, npt.NDArray[np.int64]]]:
    """Returns the tiers of a fabric with the links of each, from the hosts up, then down again.

    Parameters
    ----------
    from_level, to_level : array of int
        Level of every link's ends; -1 for hosts. Links at switches cut off (below -1) are left out.
    lower : array of int
        The switch to whose column a link belongs.
    busy : array of float
        Utilisation of every link.
    """
    first, last = np.asarray(from_level, np.int64), np.asarray(to_level, np.int64)
    levels = 1 + int(max(first.max(initial=0), last.max(initial=0)))
    up = {(int(a), int(b)) for a, b in zip(first, last, strict=True) if min(a, b) >= -1}
    if levels == 1 and (0, 0) in up:
        levels = 0
    order = sorted(up, key=lambda ends: (ends[0] > ends[1], ends[0] if ends[0] <= ends[1] else -ends[0]))
    found = []
    for below, above in order:
        links = np.flatnonzero((first == below) & (last == above))
        image = _image(np.asarray(lower, np.int64)[links], np.asarray(busy, np.float64)[links])
        found.append((Tier(tier_name(below, above, levels), image), links))
    return found


def _image(column: npt.NDArray[np.int64], busy: Array) -> Array:
    """Links by column, in their order from the top; of very many columns neighbours are joined."""
    _, at = np.unique(column, return_inverse=True)
    width = int(at.max(initial=-1)) + 1
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], np.arange(width))
    row = np.arange(len(at)) - starts[at[order]]
    image = np.full((int(row.max(initial=0)) + 1, width), np.nan)
    image[row, at[order]] = busy[order]
    block = -(-width // _WIDE)
    if block > 1:
        padded = np.full((image.shape[0], -(-width // block) * block), np.nan)
        padded[:, :width] = image
        whole = padded.reshape(image.shape[0], -1, block)
        image = np.where(np.isnan(whole).all(axis=2), np.nan, np.nan_to_num(whole, nan=-1.0).max(axis=2))
    return image
