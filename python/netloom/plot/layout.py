"""Where the links of a fabric lie in a picture: switches by level and pod, hosts in columns under their leaf.

Lengths are points (1/72 inch), from the lower left corner. A cable is a straight line from switch to switch;
its two directions lie side by side along it, up below and down above. A host is a cell in two halves: its
link from the leaf above, its link to the leaf below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.errors import NetloomError
from netloom.tables import HOST, link_levels

if TYPE_CHECKING:
    from netloom import Fabric

_WIDE, _NARROW, _COLUMN = 860.0, 330.0, 26.0
"""Points: the widest and the narrowest picture, and a leaf's column where there is room."""
_TALL, _LOW = 165.0, 80.0
"""Between two levels of switches, at most and at least."""
_CELL, _HOSTS = 5.0, 190.0
"""A host's cell, and the longest column of them."""
_NAMES = 13.0
"""From leaves to the first hosts, with the leaves' names between."""
_POD = 0.6
"""Between two pods, in columns."""
_CABLES = 6.0
"""Points from a switch's row to where cables begin."""

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Attributes
    ----------
    width, height : float
        Of the picture.
    cables : array of int
        Directed links between switches, by number.
    lines : array
        `[link][x0, y0, x1, y1]`: the cable of each, from its lower switch to its upper one.
    above : array of bool
        Which of them go down, and so lie above their line.
    hosts : array of int
        Links between hosts and leaves.
    cells : array
        `[link][x, y, width, height]`: the half of a cell for each.
    switches : array
        `[switch][x, y]` of the switches that are drawn.
    names : sequence of str
        Theirs.
    levels : sequence of (float, str)
        Height and name of every level.
    pods : sequence of (float, float, str)
        From where to where each reaches, and what it is called.
    leaves : sequence of (float, str)
        Numbers of leaves, as many as there is room for.
    thickest : float
        How thick a line may be.
    """

    width: float
    height: float
    cables: Numbers
    lines: Array
    above: npt.NDArray[np.bool_]
    hosts: Numbers
    cells: Array
    switches: Array
    names: list[str]
    levels: list[tuple[float, str]]
    pods: list[tuple[float, float, str]]
    leaves: list[tuple[float, str]]
    thickest: float

    @property
    def links(self) -> Numbers:
        """All links that are drawn."""
        return np.concatenate([self.cables, self.hosts])

    def strips(self, widths: Array) -> Array:
        """Returns the middle lines of strips that are `widths` thick, each on its side of its cable.

        Parameters
        ----------
        widths : array
            In points, in the order of `cables`.
        """
        along = self.lines[:, 2:] - self.lines[:, :2]
        normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.hypot(*along.T)[:, None]
        # Above: the normal that points up; of an upright cable, to the right.
        flip = (normal[:, 1] < -1e-9) | ((np.abs(normal[:, 1]) <= 1e-9) & (normal[:, 0] < 0))
        normal[flip] *= -1.0
        shift = normal * (np.where(self.above, 0.5, -0.5) * widths)[:, None]
        strips: Array = self.lines + np.concatenate([shift, shift], axis=1)
        return strips


def idle_pods(fabric: Fabric, busy: npt.NDArray[np.bool_]) -> list[int]:
    """Pods of a tree none of whose links is busy; none where there is one pod, or all are idle.

    Parameters
    ----------
    fabric : Fabric
        A tree.
    busy : array of bool
        Of every link, whether it carries anything.
    """
    table, of = fabric.link_table(), pods(fabric)
    ends = [np.asarray(table[end], np.int64) - fabric.hosts for end in ("source", "target")]
    used = {int(pod) for end in ends for pod in of[end[busy & (end >= 0)]] if pod >= 0}
    idle = [pod for pod in range(int(of.max(initial=-1)) + 1) if pod not in used]
    return idle if used else []


def layout(fabric: Fabric, part: str | None = None, *, without: Sequence[int] = ()) -> Layout:
    """Lays a fabric out, or a part of it.

    Parameters
    ----------
    fabric : Fabric
        Live links are drawn, of switches that reach a host.
    part : str, optional
        `leaf:0-5` or `pod:1`: these leaves (or the leaves of these pods) with their hosts, and the switches
        above them; numbers from 0, ends included.
    without : sequence of int
        Pods that are not drawn.

    Raises
    ------
    NetloomError
        If the part is none of this, or there is no such leaf or pod, or the fabric is no tree.
    """
    if (kind := fabric.shape["kind"]) != "tree" and fabric.switches > 2:  # Two are drawn side by side.
        raise NetloomError(f"the fabric is a {kind}: expected one with levels, which is all that plot draws")
    table = fabric.link_table()
    source, target = (np.asarray(table[name], np.int64) for name in ("source", "target"))
    found = link_levels(fabric)
    below, above = (np.asarray(found[name], np.int64) for name in ("from_level", "to_level"))
    alive = np.asarray(table["alive"], bool) & (np.minimum(below, above) >= HOST)
    hosts = fabric.hosts
    level = np.asarray(fabric.switch_table()["level"], np.int64)
    up = below <= above
    lower, upper = np.where(up, source, target), np.where(up, target, source)
    between = alive & (np.minimum(below, above) >= 0)
    pod = pods_of(level, lower[between] - hosts, upper[between] - hosts)
    leaves = np.flatnonzero(level == 0)
    chosen = _chosen(part, leaves, pod[leaves])
    chosen = chosen[~np.isin(pod[leaves][chosen], list(without))]
    drawn = np.zeros(len(level), bool)
    drawn[leaves[chosen]] = True
    cables = np.flatnonzero(between)
    for at in range(int(level.max(initial=0))):
        first = lower[cables] - hosts
        drawn[upper[cables[(level[first] == at) & drawn[first]]] - hosts] = True
    cables = cables[drawn[lower[cables] - hosts] & drawn[upper[cables] - hosts]]
    at_hosts = np.flatnonzero(alive & ((below == HOST) | (above == HOST)))
    leaf_of = np.where(below == HOST, target, source)[at_hosts] - hosts
    at_hosts, leaf_of = at_hosts[drawn[leaf_of]], leaf_of[drawn[leaf_of]]

    shown = np.flatnonzero(drawn)
    order = shown[np.lexsort((shown, pod[shown], level[shown]))]
    in_order = order[level[order] == 0]
    columns = _columns(pod[in_order])
    across = float(columns[-1]) + 1.0
    step = max(min(_COLUMN, _WIDE / across), _NARROW / across)
    width = step * across
    x = np.zeros(len(level))
    x[in_order] = step * (columns + 0.5)
    extent = {
        int(p): (step * columns[pod[in_order] == p].min(), step * (columns[pod[in_order] == p].max() + 1))
        for p in np.unique(pod[in_order])
    }
    top = int(level[order].max(initial=0))
    for rank in range(1, top + 1):
        row = order[level[order] == rank]
        for p in np.unique(pod[row]):
            members = row[pod[row] == p]
            first, last = extent.get(int(p), (0.0, width))
            x[members] = first + (last - first) * (np.arange(len(members)) + 0.5) / len(members)
    # Hosts below, then level above level.
    host = np.where(below[at_hosts] == HOST, source[at_hosts], target[at_hosts])
    place, most = _places(host, leaf_of)
    cell = min(_CELL, _HOSTS / max(most, 1))
    zone = min(_TALL, max(_LOW, 0.3 * width))
    floor = cell * most + _NAMES
    height = floor + zone * top + 8.0
    y = floor + zone * level
    wide = min(0.84 * step, 22.0)
    corner = np.stack(
        [
            x[leaf_of] - wide / 2,
            floor - _NAMES - cell * (place + np.where(below[at_hosts] == HOST, 0.92, 0.46)),
            np.full(len(host), wide),
            np.full(len(host), 0.46 * cell),
        ],
        axis=1,
    )
    ends = [x[lower[cables] - hosts], y[lower[cables] - hosts], x[upper[cables] - hosts]]
    lines = np.stack(
        [ends[0], ends[1] + _CABLES / 2, ends[2], y[upper[cables] - hosts] - _CABLES / 2], axis=1
    )
    lines = _apart(lines, lower[cables], upper[cables], up[cables])
    names = list(fabric.switch_names)
    words = {0: "hosts", 1: "leaves", 2: "spines", 3: "cores"}
    levels = [((floor - _NAMES) / 2, "hosts")] + [
        (floor + zone * rank, words[rank + 1] if top < 3 else f"level {rank}") for rank in range(top + 1)
    ]
    pods = [(*extent[p], f"pod {p}") for p in sorted(extent)] if top > 1 else []
    numbers = leaves.searchsorted(in_order)
    every = -(-len(in_order) // max(1, int(width / 16.0)))
    labels = [(float(x[leaf]), str(numbers[at])) for at, leaf in enumerate(in_order) if at % every == 0]
    at_leaves = max(int((level[lower[cables] - hosts] == 0).sum()) / 2, 1.0)
    return Layout(
        width,
        height,
        cables,
        lines,
        ~up[cables],
        at_hosts,
        corner,
        np.stack([x[order], y[order]], axis=1),
        [names[i] for i in order],
        levels,
        pods,
        labels,
        float(np.clip(0.065 * width / np.sqrt(at_leaves), 1.2, 5.0)),
    )


def pods(fabric: Fabric) -> Numbers:
    """The pod of every switch of a tree: what hangs together below the top; -1 for the top."""
    table, found = fabric.link_table(), link_levels(fabric)
    below, above = (np.asarray(found[name], np.int64) for name in ("from_level", "to_level"))
    up = np.asarray(table["alive"], bool) & (below >= 0) & (above > below)
    lower, upper = (np.asarray(table[end], np.int64)[up] - fabric.hosts for end in ("source", "target"))
    return pods_of(np.asarray(fabric.switch_table()["level"], np.int64), lower, upper)


def pods_of(level: Numbers, lower: Numbers, upper: Numbers) -> Numbers:
    """The pod of every switch: what hangs together below the top; -1 for the top, one pod if that is all."""
    top = int(level.max(initial=0))
    parent = np.arange(len(level))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = int(parent[i])
        return i

    for a, b in zip(lower.tolist(), upper.tolist(), strict=True):
        if level[a] < top and level[b] < top:
            first, second = sorted((root(a), root(b)))
            parent[second] = first
    pod = np.full(len(level), -1, np.int64)
    if top < 2:
        pod[level == 0] = 0
        return pod
    numbers: dict[int, int] = {}
    for i in np.flatnonzero((level >= 0) & (level < top)).tolist():
        pod[i] = numbers.setdefault(root(i), len(numbers))
    return pod


def _chosen(part: str | None, leaves: Numbers, pod: Numbers) -> Numbers:
    """Which leaves a part has, by their number among leaves."""
    if part is None:
        return np.arange(len(leaves))
    what, _, numbers = part.partition(":")
    first, _, last = numbers.partition("-")
    last = last or first
    expected = 'expected leaf:FIRST-LAST or pod:FIRST-LAST, such as "leaf:0-5"'
    if what not in ("leaf", "pod") or not (first.isascii() and first.isdigit() and last.isdigit()):
        raise NetloomError(f'part "{part}": {expected}')
    count = len(leaves) if what == "leaf" else int(pod.max(initial=-1)) + 1
    a, b = int(first), int(last)
    if a > b or b >= count:
        raise NetloomError(f'part "{part}": {expected}, of 0 to {count - 1}')
    number = np.arange(len(leaves)) if what == "leaf" else pod
    return np.flatnonzero((number >= a) & (number <= b))


def _columns(pod: Numbers) -> Array:
    """The column of every leaf, with room between pods."""
    changes = np.concatenate([[False], pod[1:] != pod[:-1]])
    return np.arange(len(pod)) + _POD * np.cumsum(changes)


def _places(host: Numbers, leaf: Numbers) -> tuple[Numbers, int]:
    """The place of every host link in its leaf's column, and the longest column."""
    pairs, inverse = np.unique(np.stack([leaf, host]), axis=1, return_inverse=True)
    first = np.searchsorted(pairs[0], pairs[0])
    place = np.arange(pairs.shape[1]) - first
    return place[inverse.reshape(-1)], int(place.max(initial=-1)) + 1


def _apart(lines: Array, lower: Numbers, upper: Numbers, up: npt.NDArray[np.bool_]) -> Array:
    """Parallel cables side by side: the k-th of a direction between two switches lies k places further."""
    order = np.lexsort((np.arange(len(lower)), up, upper, lower))
    key = np.stack([lower, upper, up.astype(np.int64)])[:, order]
    same = np.concatenate([[False], (key[:, 1:] == key[:, :-1]).all(axis=0)])
    start = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    number = np.empty(len(order))
    number[order] = np.arange(len(order)) - start
    moved: Array = lines.copy()
    moved[:, [0, 2]] += 5.0 * number[:, None]
    return moved
