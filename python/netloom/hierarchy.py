"""What a traffic uses of every level of a network: P(H >= i), visits, and the steps from level to level.

The model is that of Chen, Denzel and Luijten (`levels`). A hierarchy is written as its sizes, from the ground
up. `4x4x4x4` is a tree: four hosts a leaf, four leaves a group, and so on; a packet turns at the lowest level
whose group has both ends. `direct:4x5x21` has no switches above its nodes: the four nodes of a board are all
joined, so are the five boards of a rack, by one link a pair, and the 21 racks. A packet goes to the node that
has the link, over it, and on in the same way. Node k of a group of n nodes has the links to the groups k + 1,
k + 1 + n, … on, so all nodes have equally many if the number of other groups is a multiple of n.

Endpoints lie in order: 0 to 3 on the first leaf or board. Packets count by their bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom import levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom._core import Traffic

MOST_LEVELS = 6
"""Most levels: ways of a direct network are twice as long with each."""
_AT_ONCE = 1 << 20
"""Pairs whose ways are followed at once."""


@dataclass(frozen=True)
class Hierarchy:
    """Sizes of groups, from the ground up.

    Attributes
    ----------
    sizes : tuple of int
        Members of a group at every level, each at least 2.
    direct : bool
        Whether nodes are joined directly; else it is a tree.

    Examples
    --------
    >>> Hierarchy.parse("direct:4x5x21")
    Hierarchy(sizes=(4, 5, 21), direct=True)
    """

    sizes: tuple[int, ...]
    direct: bool = False

    @classmethod
    def parse(cls, text: str) -> Hierarchy:
        """Reads `4x4x4x4` or `direct:4x5x21`.

        Raises
        ------
        ValueError
            If it is neither.
        """
        direct = text.startswith("direct:")
        words = text.removeprefix("direct:").split("x")
        numbers = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 7]
        if len(numbers) != len(words) or not 1 <= len(words) <= MOST_LEVELS or min(numbers) < 2:
            raise ValueError(
                "expected sizes of at least 2 from the ground up, such as 4x4x4x4 or direct:4x5x21, "
                f'found "{text}"'
            )
        return cls(tuple(numbers), direct)

    def __str__(self) -> str:
        return ("direct:" if self.direct else "") + "x".join(map(str, self.sizes))

    @property
    def nodes(self) -> int:
        """How many endpoints it has room for."""
        return math.prod(self.sizes)

    @property
    def is_even(self) -> bool:
        """Whether all links of a level are alike for uniform traffic: equally many at every node."""
        below = np.cumprod([1, *self.sizes[:-1]])
        return not self.direct or all(
            (size - 1) % int(group) == 0 for size, group in zip(self.sizes, below, strict=True)
        )


@dataclass(frozen=True)
class Use:
    """What a traffic uses of every level.

    Attributes
    ----------
    beyond : array
        P(H >= i): share of bytes whose ends have no smaller group in common than one of level i.
    visits : array
        v: links of every level that a byte crosses.
    first : array
        p_0: share of bytes whose first link is of a level.
    onward : array
        p_ij: share of the bytes on a link of level i that use one of level j next.
    """

    beyond: NDArray[np.float64]
    visits: NDArray[np.float64]
    first: NDArray[np.float64]
    onward: NDArray[np.float64]


def use(traffic: Traffic, hierarchy: Hierarchy) -> Use:
    """Returns what a traffic uses of every level of a hierarchy.

    Parameters
    ----------
    traffic : Traffic
        Endpoints in order; phases are added up.
    hierarchy : Hierarchy
        Room for them all.

    Returns
    -------
    Use
        By level: the share of bytes that goes so far, links that a byte crosses, where it begins and goes on.

    Raises
    ------
    ValueError
        If there are more endpoints than the hierarchy has room for, or none sends another anything.

    References
    ----------
    L. Y. Chen, W. Denzel, R. Luijten, *Optimization of Link Bandwidth for Parallel Communication
    Performance*, section III; `docs/methods/planning.md`.

    Examples
    --------
    >>> from netloom import Traffic
    >>> found = use(Traffic.pattern("all-to-all:ranks=256"), Hierarchy.parse("16x16"))
    >>> found.beyond.round(4).tolist()
    [1.0, 0.9412]
    """
    if traffic.endpoints > hierarchy.nodes:
        raise ValueError(
            f"expected at most {hierarchy.nodes:,} endpoints, as {hierarchy} has, found {traffic.endpoints:,}"
        )
    count = len(hierarchy.sizes)
    turns, first, onward = np.zeros(count), np.zeros(count), np.zeros((count, count))
    visits, total = np.zeros(count), 0.0
    for source, target, sent in _pairs(traffic):
        total += sent.sum()
        turns += np.bincount(_turn(source, target, hierarchy.sizes), sent, count)
        if hierarchy.direct:
            _follow(_ways(source, target, hierarchy.sizes), sent, first, visits, onward)
    if not total > 0:
        raise ValueError("expected traffic from an endpoint to another, found none")
    # From above down: shares that are equal but for rounding never rise.
    beyond = np.minimum.accumulate(np.cumsum(turns[::-1])[::-1] / total)
    beyond[0] = 1.0
    if not hierarchy.direct:
        first, onward = levels.tree_chain(beyond)
        return Use(beyond, levels.tree_visits(beyond), first, onward)
    used = np.where(visits > 0, visits, 1.0)
    return Use(beyond, visits / total, first / total, onward / used[:, None])


def _pairs(
    traffic: Traffic,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Source, destination and bytes of pairs that are two endpoints, some at once."""
    pointers = np.asarray(traffic.indptr, dtype=np.int64)
    targets, amounts = np.asarray(traffic.indices), np.asarray(traffic.data, dtype=float)
    for begin in range(0, len(targets), _AT_ONCE):
        places = np.arange(begin, min(begin + _AT_ONCE, len(targets)))
        source = np.searchsorted(pointers, places, side="right") - 1
        target = targets[places].astype(np.int64)
        other = source != target
        yield source[other], target[other], amounts[places][other]


def _turn(source: NDArray[np.int64], target: NDArray[np.int64], sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """The level, from 0, of the smallest group that has both."""
    level = np.zeros(len(source), dtype=np.int64)
    for group in np.cumprod(sizes[:-1], dtype=np.int64):
        level += source // group != target // group
    return level


def _ways(
    source: NDArray[np.int64], target: NDArray[np.int64], sizes: tuple[int, ...]
) -> list[NDArray[np.int64]]:
    """The levels of the links of every pair's way, one after the other, -1 where there is none."""
    if len(sizes) == 0:
        return []
    group = math.prod(sizes[:-1])
    of_source, of_target = source // group, target // group
    apart = of_source != of_target
    here = source - source % group
    there = target - target % group
    # The groups' places in the group of theirs, and the nodes that have the link.
    ahead = (of_target - of_source) % sizes[-1]
    leave = np.where(apart, here + (ahead - 1) % group, target)
    enter = np.where(apart, there + (sizes[-1] - ahead - 1) % group, target)
    across = np.where(apart, len(sizes) - 1, -1)
    return [*_ways(source, leave, sizes[:-1]), across, *_ways(enter, target, sizes[:-1])]


def _follow(
    ways: list[NDArray[np.int64]],
    sent: NDArray[np.float64],
    first: NDArray[np.float64],
    visits: NDArray[np.float64],
    onward: NDArray[np.float64],
) -> None:
    """Adds what ways use to the sums, bytes by bytes."""
    count = len(first)
    last = np.full(len(sent), -1)
    for level in ways:
        on = level >= 0
        visits += np.bincount(level[on], sent[on], count)
        begins = on & (last < 0)
        first += np.bincount(level[begins], sent[begins], count)
        goes = on & (last >= 0)
        steps = np.bincount(last[goes] * count + level[goes], sent[goes], count * count)
        onward += steps.reshape(count, count)
        last = np.where(on, level, last)
