"""Jobs on machines with several adapters: what stays inside a machine, and ranks by leaf.

A job's machines change places, never its adapters: what was on the *k*-th machine's adapters is then on those
of the *k*-th machine by leaf. So ranks of a machine stay together, and rails stay rails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import PlaceError

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Job, Traffic


@dataclass(frozen=True)
class Ranked:
    """A job with the host of every rank.

    Parameters
    ----------
    name : str
        The job's.
    hosts : array of int
        All that it has.
    host_of_rank : array of int
        By rank.
    """

    name: str
    hosts: npt.NDArray[Any]
    host_of_rank: npt.NDArray[Any]


def outside(traffic: Traffic, fabric: Fabric) -> tuple[Traffic, float]:
    """Traffic without what adapters of one machine send each other, and the bytes of that.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("rail:units=1,machines=2,rails=2,radix=8")
    >>> some, stays = outside(nl.Traffic.pattern("all-to-all:bytes=10", 4), fabric)
    >>> some.pairs, stays
    (8, 40.0)
    """
    import numpy as np

    from netloom import _core

    _, machine = np.unique(fabric.host_table()["machine"], return_inverse=True)
    matrix = traffic.to_scipy(copy=False).tocoo()
    leaves = machine[matrix.row] != machine[matrix.col]
    kept = _core.Traffic.from_triples(fabric, matrix.row[leaves], matrix.col[leaves], matrix.data[leaves])
    return kept, float(matrix.data[~leaves].sum())


def by_leaf(traffic: Traffic, jobs: Iterable[Job | Ranked], fabric: Fabric) -> tuple[Traffic, list[Ranked]]:
    """The same jobs on the same hosts, their machines in order of leaf, then name.

    Raises
    ------
    PlaceError
        If ranks use more adapters of one machine than of another.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    >>> job = Ranked("a", [2, 0, 3, 1], [2, 0, 3, 1])
    >>> by_leaf(nl.Traffic.pattern("ring:bytes=1", 4), [job], fabric)[1][0].host_of_rank.tolist()
    [0, 1, 2, 3]
    """
    import numpy as np

    from netloom import _core

    table = fabric.host_table()
    to = np.arange(fabric.hosts)
    ranked = []
    for job in jobs:
        for old, new in _moves(job, table):
            to[old] = new
        ranked.append(Ranked(job.name, np.asarray(job.hosts), to[np.asarray(job.host_of_rank)]))
    matrix = traffic.to_scipy(copy=False).tocoo()
    return _core.Traffic.from_triples(fabric, to[matrix.row], to[matrix.col], matrix.data), ranked


def _moves(job: Job | Ranked, table: Mapping[str, Any]) -> list[tuple[int, int]]:
    used: dict[str, list[int]] = {}
    for host in dict.fromkeys(int(host) for host in job.host_of_rank):
        used.setdefault(table["machine"][host], []).append(host)
    machines = [sorted(hosts) for hosts in used.values()]
    _same_size(job.name, list(used), machines)
    ordered = sorted(machines, key=lambda hosts: ([int(table["leaf"][host]) for host in hosts], hosts))
    return [pair for old, new in zip(machines, ordered, strict=True) for pair in zip(old, new, strict=True)]


def _same_size(job: str, names: Sequence[str], machines: Sequence[Sequence[int]]) -> None:
    for name, hosts in zip(names, machines, strict=True):
        if len(hosts) != len(machines[0]):
            raise PlaceError(
                f'job "{job}": by leaf: expected ranks on as many adapters of every machine, '
                f"found {len(machines[0])} of {names[0]} and {len(hosts)} of {name}"
            )
