"""Who uses a link: the pairs whose way crosses it, and their jobs, with bytes.

Every pair with bytes is walked through the tables, so that any routes do: by source, with several addresses a
host, with lanes. A pair belongs to the first job that both of its hosts are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom import _core
from netloom.nodes import Nodes, guid_text

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Routes, Traffic


@dataclass(frozen=True)
class Pair:
    """A pair of hosts that crosses a link."""

    source: int
    destination: int
    bytes: float
    job: str | None


@dataclass(frozen=True)
class Users:
    """Who crosses one link, most bytes first: columns with an entry a pair."""

    link: int
    source: npt.NDArray[np.uint32]
    destination: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.float64]
    """Bytes of each pair."""
    job: npt.NDArray[np.intp]
    """Places in `names`; -1: of no job."""
    names: list[str]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def bytes(self) -> float:
        """All that crosses it."""
        return float(self.sizes.sum())

    @property
    def pairs(self) -> list[Pair]:
        """All pairs."""
        return self.first(len(self))

    def first(self, most: int) -> list[Pair]:
        """The pairs with most bytes, at most so many."""
        columns = (self.source, self.destination, self.sizes, self.job)
        rows = zip(*(column[:most].tolist() for column in columns), strict=True)
        return [Pair(a, b, size, self.names[job] if job >= 0 else None) for a, b, size, job in rows]

    def by_job(self) -> list[tuple[str | None, int, float]]:
        """Job (None: of none), pairs and bytes, most bytes first."""
        pairs = np.bincount(self.job + 1, minlength=len(self.names) + 1).tolist()
        sizes = np.bincount(self.job + 1, weights=self.sizes, minlength=len(self.names) + 1).tolist()
        rows = [row for row in zip([None, *self.names], pairs, sizes, strict=True) if row[1]]
        return sorted(rows, key=lambda row: (-row[2], row[0] or ""))


def users(
    fabric: Fabric,
    routes: Routes,
    traffic: Traffic,
    links: Sequence[int],
    jobs: Sequence[Job] = (),
    *,
    threads: int = 0,
) -> list[Users]:
    """The users of each of some links.

    Parameters
    ----------
    fabric, routes, traffic : Fabric, Routes, Traffic
        Traffic over the fabric's hosts, and the tables that lead it.
    links : sequence of int
        Links by number, each once.
    jobs : sequence of Job
        Whose hosts are whose.
    threads : int, default 0
        Threads that walk; 0 is one a core.

    Returns
    -------
    list of Users
        One for every link, in order.

    Raises
    ------
    RoutingError
        If the tables do not join a pair with bytes.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=1")
    >>> pairs = nl.Traffic.pattern("all-to-all", 2)
    >>> [(one.source, one.destination) for one in users(tree, nl.route("ftree", tree), pairs, [0])[0].pairs]
    [(0, 1)]
    """
    place, source, destination, sizes = _core.link_users(
        fabric, routes, traffic, list(links), threads=threads
    )
    job = np.full(len(sizes), -1)
    for number, one in enumerate(jobs):
        member = np.zeros(fabric.hosts, bool)
        member[one.hosts] = True
        job[(job < 0) & member[source] & member[destination]] = number
    order = np.lexsort((destination, source, -sizes, place))
    ends = np.searchsorted(place[order], np.arange(len(links) + 1))
    names = [one.name for one in jobs]
    parts = [order[begin:end] for begin, end in pairwise(ends)]
    return [
        Users(link, source[part], destination[part], sizes[part], job[part], names)
        for link, part in zip(links, parts, strict=True)
    ]


def told(fabric: Fabric, found: Sequence[Users], most: int) -> list[dict[str, Any]]:
    """Users as results tell them, with at most so many pairs of each link."""
    nodes, table = Nodes(fabric), fabric.link_table()
    return [
        {
            "from": nodes.end(int(table["source"][one.link]), int(table["source_port"][one.link])),
            "to": nodes.end(int(table["target"][one.link]), int(table["target_port"][one.link])),
            "bytes": one.bytes,
            "pairs": len(one),
            "jobs": [{"name": job, "pairs": number, "bytes": size} for job, number, size in one.by_job()],
            "users": [
                {
                    "source": nodes.names[pair.source],
                    "source_guid": guid_text(nodes.guids[pair.source]),
                    "destination": nodes.names[pair.destination],
                    "destination_guid": guid_text(nodes.guids[pair.destination]),
                    "bytes": pair.bytes,
                    "job": pair.job,
                }
                for pair in one.first(most)
            ],
        }
        for one in found
    ]
