"""Which way a pair takes, and which pairs take a cable: routes asked about one pair, or one link.

| module | |
|---|---|
| here | the links of a pair, with the lane on each |
| `users` | the pairs and jobs that cross a link, with their bytes |

Links are numbers of the fabric's table; a link is one direction of a cable.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import RoutingError

if TYPE_CHECKING:
    from netloom._core import Fabric, LaneTables, Routes, Traffic

__all__ = ["Way", "bytes_of_pair", "way"]


@dataclass(frozen=True)
class Way:
    """What a packet of one pair crosses."""

    links: list[int]
    lanes: list[int] | None
    """The virtual lane on each link; None where routes have none."""
    service_level: int | None
    same_back: bool | None
    """Whether the way back crosses the same cables; None where there is none."""


def way(fabric: Fabric, routes: Routes, source: int, destination: int) -> Way:
    """The way from one host to another.

    Parameters
    ----------
    fabric : Fabric
        What the routes are of.
    routes : Routes
        Tables.
    source, destination : int
        Hosts by number.

    Raises
    ------
    RoutingError
        If the tables lead nowhere, or round and round; with the switch where they end.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=1")
    >>> len(way(tree, nl.route("ftree", tree), 0, 1).links)
    4
    """
    links = list(routes.path(source, destination))
    table = fabric.link_table()
    try:
        back = list(routes.path(destination, source))
    except RoutingError:
        same = None
    else:
        same = {_cable(table, link) for link in links} == {_cable(table, link) for link in back}
    if routes.lanes is None:
        return Way(links, None, None, same)
    level = routes.lanes.level(source, destination)
    return Way(links, _lanes(fabric, routes.lanes, links, source, level), level, same)


def _cable(table: dict[str, np.ndarray], link: int) -> frozenset[tuple[int, int]]:
    return frozenset(
        (int(table[side][link]), int(table[f"{side}_port"][link])) for side in ("source", "target")
    )


def _lanes(fabric: Fabric, tables: LaneTables, links: list[int], source: int, level: int) -> list[int]:
    """The lane on each link: the adapter's table, then each switch's, by the port in and the port out."""
    rows, table = tables.rows(), fabric.link_table()
    lanes = [int(rows["host_lanes"][source][level])]
    for before, link in pairwise(links):
        switch = int(table["source"][link]) - fabric.hosts
        here = (
            (rows["switch"] == switch)
            & (rows["in_port"] == table["target_port"][before])
            & (rows["out_port"] == table["source_port"][link])
        )
        lanes.append(int(rows["lanes"][np.flatnonzero(here)[0]][level]))
    return lanes


def bytes_of_pair(traffic: Traffic, source: int, destination: int) -> float:
    """What a traffic has one host send another."""
    begin, end = int(traffic.indptr[source]), int(traffic.indptr[source + 1])
    at = np.flatnonzero(traffic.indices[begin:end] == destination)
    return float(traffic.data[begin:end][at].sum())
