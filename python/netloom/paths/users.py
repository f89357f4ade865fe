"""Who uses a link: the pairs whose way crosses it, and their jobs, with bytes.

Every pair with bytes is walked through the tables, so that any routes do: by source, with several addresses a
host, with lanes. A pair belongs to the job that both of its hosts are in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Routes, Traffic

_STEP = 50_000
"""So many pairs are walked between two words of progress."""


@dataclass(frozen=True)
class Pair:
    """A pair of hosts that crosses a link."""

    source: int
    destination: int
    bytes: float
    job: str | None


@dataclass(frozen=True)
class Users:
    """Who crosses one link, most bytes first."""

    link: int
    pairs: list[Pair]

    @property
    def bytes(self) -> float:
        """All that crosses it."""
        return sum(pair.bytes for pair in self.pairs)

    def by_job(self) -> list[tuple[str | None, int, float]]:
        """Job (None: of none), pairs and bytes, most bytes first."""
        sums: dict[str | None, tuple[int, float]] = {}
        for pair in self.pairs:
            number, size = sums.get(pair.job, (0, 0.0))
            sums[pair.job] = number + 1, size + pair.bytes
        rows = [(job, number, size) for job, (number, size) in sums.items()]
        return sorted(rows, key=lambda row: (-row[2], row[0] or ""))


def users(
    fabric: Fabric,
    routes: Routes,
    traffic: Traffic,
    links: Sequence[int],
    jobs: Sequence[Job] = (),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Users]:
    """The users of each of some links.

    Parameters
    ----------
    fabric, routes, traffic : Fabric, Routes, Traffic
        Traffic over the fabric's hosts, and the tables that lead it.
    links : sequence of int
        Links by number.
    jobs : sequence of Job
        Whose hosts are whose.
    progress : callable, optional
        Told how many pairs of how many are walked.

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
    wanted = {link: place for place, link in enumerate(links)}
    found: list[list[Pair]] = [[] for _ in links]
    of_host: dict[int, set[str]] = {}
    for job in jobs:
        for host in job.hosts.tolist():
            of_host.setdefault(host, set()).add(job.name)
    order = {job.name: place for place, job in enumerate(jobs)}
    indptr, indices, data = traffic.indptr.tolist(), traffic.indices.tolist(), traffic.data.tolist()
    done = 0
    for source in range(len(indptr) - 1):
        for at in range(indptr[source], indptr[source + 1]):
            destination, size = indices[at], data[at]
            if destination == source or size <= 0:
                continue
            for link in routes.path(source, destination):
                place = wanted.get(link)
                if place is not None:
                    both = of_host.get(source, set()) & of_host.get(destination, set())
                    name = min(both, key=order.__getitem__) if both else None
                    found[place].append(Pair(source, destination, size, name))
            done += 1
            if progress is not None and done % _STEP == 0:
                progress(done, len(indices))
    for pairs in found:
        pairs.sort(key=lambda one: (-one.bytes, one.source, one.destination))
    return [Users(link, pairs) for link, pairs in zip(links, found, strict=True)]
