"""Few rounds of tests that tell all cables apart.

A cable is told by the tests that cross it: if one is slow, so are these and no others. Two cables that the
same tests cross cannot be told apart. Pairs of a round share no link, so each measures what its own way
carries.

Which pairs are tested is chosen greedily: the pair that splits most sets of cables that were alike so far,
with directions that no test crossed yet, goes into the round, as long as one fits; then the next round
begins. That is no proof of the fewest rounds. What is told of the result is counted anew from the tables
(`Rounds.of`).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import ArgumentError, RoutingError
from netloom.pairs.flows import back, ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom._core import Fabric, Routes
    from netloom.pairs.measured import Bools, Ints


_MOST = 3_000_000
"""Tests to choose from, at most: 4,096 hosts on 256 switches are 1 million."""


@dataclass(frozen=True)
class Rounds:
    """Rounds of tests, and what they tell.

    Attributes
    ----------
    pairs : list of list of (int, int)
        By round, from host to host.
    cables : int
        Cables that some pair of hosts crosses.
    unused : list of int
        A link of each cable that no pair of hosts crosses by these routes.
    uncrossed : list of int
        Links that some pair crosses and no test.
    alike : list of list of int
        Cables, each by a link, that the same tests cross.
    inseparable : list of list of int
        Those of them that every pair of hosts crosses together.
    shared : int
        Links that two tests of a round cross: 0.
    """

    pairs: list[list[tuple[int, int]]]
    cables: int
    unused: list[int]
    uncrossed: list[int]
    alike: list[list[int]]
    inseparable: list[list[int]]
    shared: int

    @classmethod
    def of(cls, fabric: Fabric, routes: Routes, pairs: Sequence[Sequence[tuple[int, int]]]) -> Rounds:
        """Counts what rounds tell, from the tables.

        Parameters
        ----------
        fabric, routes : Fabric, Routes
            The fabric and the routes in force.
        pairs : sequence of sequence of (int, int)
            By round.

        Raises
        ------
        RoutingError
            If the tables do not join a pair.
        """
        every = _Candidates(fabric, routes)
        flat = [pair for one in pairs for pair in one]
        source, destination = (np.array([pair[end] for pair in flat], np.int64) for end in (0, 1))
        crossed = np.zeros(len(every.back), np.bool_)
        tests: dict[int, list[int]] = defaultdict(list)
        shared = 0
        found = iter(enumerate(ways(fabric, routes, source, destination)))
        for one in pairs:
            used: set[int] = set()
            for _ in one:
                test, way = next(found)
                for link in way.tolist():
                    shared += link in used
                    used.add(link)
                    tests[min(link, int(every.back[link]))].append(test)
                crossed[way] = True
        same: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for cable in every.cables.tolist():
            same[tuple(sorted(set(tests[cable])))].append(cable)
        alike = sorted(group for group in same.values() if len(group) > 1)
        together = every.together()
        return cls(
            [list(one) for one in pairs],
            len(every.cables),
            every.unused(fabric),
            np.flatnonzero(every.used & ~crossed).tolist(),
            alike,
            [group for group in together if any(set(group) <= set(other) for other in alike)],
            shared,
        )


def rounds(fabric: Fabric, routes: Routes, *, seed: int = 0) -> Rounds:
    """Rounds of tests that cross every link that can be crossed, and tell apart all cables that can be.

    Parameters
    ----------
    fabric, routes : Fabric, Routes
        The fabric and the routes in force.
    seed : int, default 0
        Of the order of equally good pairs.

    Raises
    ------
    RoutingError
        If the tables do not join a pair.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=4")
    >>> found = rounds(tree, nl.route("d-mod-k", tree))
    >>> len(found.pairs) < 15, found.uncrossed, found.alike
    (True, [], [])
    """
    every = _Candidates(fabric, routes)
    order = np.random.default_rng(seed).permutation(len(every.ways))
    chosen: list[list[tuple[int, int]]] = []
    state = _Classes(every)
    # By what each gained when it was last looked at.
    heap = [(-state.gain(candidate), place, candidate) for place, candidate in enumerate(order.tolist())]
    heapq.heapify(heap)
    while heap and heap[0][0] < 0:
        taken = np.zeros(len(every.back), np.bool_)
        later = []
        one: list[tuple[int, int]] = []
        while heap:
            gain, place, candidate = heapq.heappop(heap)
            way = every.ways[candidate]
            if taken[way].any():
                later.append((gain, place, candidate))
                continue
            now = -state.gain(candidate)
            if now == 0:
                continue
            if heap and (now, place) > heap[0][:2]:
                heapq.heappush(heap, (now, place, candidate))
                continue
            taken[way] = True
            state.cross(candidate)
            one.append(every.pairs[candidate])
        if one:
            chosen.append(one)
        heap = later
        heapq.heapify(heap)
    return Rounds.of(fabric, routes, chosen)


class _Candidates:
    """Pairs that may be tested, with their ways: from every switch with hosts to every host, at least.

    Routes by destination lead all hosts of a switch the same way from there on. If routes look at the source,
    or hosts have several addresses, every pair is a candidate.
    """

    def __init__(self, fabric: Fabric, routes: Routes) -> None:
        table = fabric.link_table()
        self.back = back(table)
        hosts = fabric.hosts
        leaf = np.zeros(hosts, np.int64)
        up = np.flatnonzero(table["source"] < hosts)
        leaf[table["source"][up]] = table["target"][up]
        of_leaf: dict[int, list[int]] = defaultdict(list)
        for host, switch in enumerate(leaf.tolist()):
            of_leaf[switch].append(host)
        pairs = []
        by_source = routes.lmc > 0 or not _by_destination(routes)
        for destination in range(hosts):
            for number, members in enumerate(of_leaf.values()):
                # Another host of the switch for each destination, so that all of them send.
                turn = (destination + number) % len(members)
                sources = members if by_source else members[turn:] + members[:turn]
                others = [host for host in sources if host != destination]
                pairs += [(host, destination) for host in (others if by_source else others[:1])]
            if len(pairs) > _MOST:
                raise ArgumentError(
                    f"fabric: expected at most {_MOST:,} pairs of a switch and a host (of hosts, if routes "
                    f"look at the source), found more: {hosts:,} hosts"
                )
        self.pairs: list[tuple[int, int]] = pairs
        source, to = (np.array([pair[end] for pair in pairs], np.int64) for end in (0, 1))
        self.ways: list[Ints] = ways(fabric, routes, source, to)
        self.used: Bools = np.zeros(len(self.back), np.bool_)
        for way in self.ways:
            self.used[way] = True
        links = np.arange(len(self.back))
        self.cables: Ints = np.unique(np.minimum(links, self.back)[self.used])

    def unused(self, fabric: Fabric) -> list[int]:
        """A link of each cable that no pair crosses."""
        alive = fabric.link_table()["alive"]
        links = np.arange(len(self.back))
        cables = np.unique(np.minimum(links, self.back)[alive])
        found: list[int] = np.setdiff1d(cables, self.cables).tolist()
        return found

    def together(self) -> list[list[int]]:
        """Cables that every pair crosses together."""
        state = _Classes(self)
        for candidate in range(len(self.ways)):
            state.cross(candidate)
        return state.alike()


def _by_destination(routes: Routes) -> bool:
    try:
        routes.table()
    except RoutingError:
        return False
    return True


class _Classes:
    """Cables by the tests that cross them, while tests are added."""

    def __init__(self, every: _Candidates) -> None:
        self._every = every
        links = np.arange(len(every.back))
        self._cable = np.minimum(links, every.back)
        self._class = np.zeros(len(links), np.int64)
        self._size = [len(every.cables)]
        self._crossed = np.zeros(len(links), np.bool_)

    def gain(self, candidate: int) -> int:
        """Sets of cables that a test would split, and directions that it would be the first to cross.

        Once it is 0 it stays so.
        """
        way = self._every.ways[candidate]
        inside: dict[int, int] = defaultdict(int)
        for number in self._class[self._cable[way]].tolist():
            inside[number] += 1
        split = sum(many < self._size[number] for number, many in inside.items())
        return split + int((~self._crossed[way]).sum())

    def cross(self, candidate: int) -> None:
        """Adds a test."""
        way = self._every.ways[candidate]
        self._crossed[way] = True
        inside: dict[int, list[int]] = defaultdict(list)
        for cable in self._cable[way].tolist():
            inside[int(self._class[cable])].append(cable)
        for number, cables in inside.items():
            if len(cables) < self._size[number]:
                self._class[cables] = len(self._size)
                self._size[number] -= len(cables)
                self._size.append(len(cables))

    def alike(self) -> list[list[int]]:
        """Classes of more than one cable."""
        groups: dict[int, list[int]] = defaultdict(list)
        for cable in self._every.cables.tolist():
            groups[int(self._class[cable])].append(cable)
        return sorted(group for group in groups.values() if len(group) > 1)
