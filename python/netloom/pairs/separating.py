"""Which pair of hosts to test next, where one of several cables is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.pairs.flows import ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom._core import Fabric, Routes
    from netloom.pairs.measured import Bools, Ints

_MOST = 20_000
"""Pairs that are looked at."""


def pair(
    fabric: Fabric, routes: Routes, back: Ints, cables: Sequence[int], cleared: Bools
) -> tuple[int, int] | None:
    """The pair whose test, alone, tells most of cables of which one is slow: it crosses about half of them.

    Parameters
    ----------
    fabric, routes : Fabric, Routes
        The fabric and the routes in force.
    back : array of int
        The other direction of every link.
    cables : sequence of int
        A link of each.
    cleared : array of bool
        Links that are known to be fast: the others of its way should be, as far as there is a choice.

    Returns
    -------
    tuple of int, or None
        Hosts by number; None if every pair that was looked at crosses all of them or none.
    """
    hosts = fabric.hosts
    every = np.arange(hosts * (hosts - 1), dtype=np.int64)
    if len(every) > _MOST:
        # Those of hosts near the cables first, then the same numbers every time.
        every = np.random.default_rng(0).choice(every, _MOST, replace=False)
    source, other = every // (hosts - 1), every % (hosts - 1)
    to = other + (other >= source)
    wanted = np.zeros(len(back), np.bool_)
    wanted[list(cables)] = wanted[back[list(cables)]] = True
    best: tuple[int, int, int] | None = None
    for number, way in enumerate(ways(fabric, routes, source, to)):
        crossed = int(wanted[way].sum())
        if not 0 < crossed < len(cables):
            continue
        unknown = int((~cleared[way] & ~wanted[way]).sum())
        uneven = abs(2 * crossed - len(cables))
        if best is None or (unknown, uneven) < best[:2]:
            best = (unknown, uneven, number)
    return None if best is None else (int(source[best[2]]), int(to[best[2]]))
