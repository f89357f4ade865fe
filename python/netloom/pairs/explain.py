"""Why pairs are slow: a cable, a host, or other pairs on a link at the same time.

A test is slow if it has less than `SLOW` of what the slowest cable of its way should give it, or is five
standard deviations below. What links have carried, in any test, they can carry: that clears most. What is
left is explained in this order.

1. **Collision**: on a link of its way the pairs of its round passed what the link carries, until this one was
   done. Which pairs these were is known, so it is no property of a cable.
2. **Behind a collision**: it shared an earlier link with a pair that collided further on. Switches do not
   drop packets, so queues reach back.
3. **Cable**: links that never carried more in any test than in this one, and less than they should. First
   cables without which it would take three others to explain the same tests, the one with most tests first;
   then the fewest cables that explain all tests that are left. What is in every such set is told. If there
   are several, or several cables explain the same tests, these are alternatives: at least one is slow.
4. Nothing: alone, and every link of its way carried more in another test; or beside others, and to be
   measured alone.

Tests beside others that are not known clear links, and accuse none: a link that carries too much looks like a
slow cable. The same goes for tests in which both hosts sent and that shared a link with others, as how much
they sent in each direction is not known; and for rounds that may lack pairs: they have fewer tests than
others, or two hosts less, and in some round of the file pairs met.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.pairs.carried import Carried
from netloom.pairs.cover import fewest
from netloom.pairs.measured import UNKNOWN

if TYPE_CHECKING:
    from netloom.pairs.flows import Flows
    from netloom.pairs.measured import Bools, Floats, Ints, PairTests

SLOW = 0.85
"""Of what a test should measure: less is slow. Chosen by us: five standard deviations at 3 % of noise."""
FULL = 0.88
"""Of what a link carries: that much passed is a full link. Packets of pairs that meet leave gaps."""
SIGMAS = 3.0
"""Standard deviations by which equal rates may differ."""
FAIR = 0.45
"""Of the fastest pair on a full link: switches are fair to inputs, not to pairs, so that many have less."""
DOUBTFUL = 0.7
"""Of what a link carries: pairs that met there and passed that much, if not `FULL`, say nothing of it."""
CLUSTER = 3
"""Tests that a slow cable needs if they cross one that is told, or to be told before all others."""
SINGLE = 0.75
"""Of what a test should measure: of one that is less slow no cable is told; it is to be measured again."""


@dataclass(frozen=True)
class Suspect:
    """A slow cable, or several of which one is slow.

    Attributes
    ----------
    cables : list of int
        A link of each alternative; one: it is told.
    bytes_per_s : float
        What it carries.
    tests : list of int
        The slow tests that it explains.
    """

    cables: list[int]
    bytes_per_s: float
    tests: list[int]


@dataclass
class Explained:
    """What was found.

    Attributes
    ----------
    efficiency : float
        What tests measure of the nominal rate where nothing is wrong.
    noise : float
        The standard deviation of such tests, as a share.
    slow : array of int
        The slow tests.
    suspects : list of Suspect
        Slow cables, with most tests first.
    collisions : dict
        Tests that met others, by (round, link).
    behind : dict
        Tests that waited behind a collision, by (round, link) of that.
    contradicted : list of int
        Slow tests that were alone on a way of which every link carried more in another test.
    untold : list of int
        Slow tests beside others that no link explains: to be measured alone.
    cleared : array of bool
        By link: it carried what the fastest hosts can send, or its own rate if that is less.
    crossed : array of bool
        By link: some test crossed it.
    """

    efficiency: float
    noise: float
    slow: Ints
    suspects: list[Suspect] = field(default_factory=list)
    collisions: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    behind: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    contradicted: list[int] = field(default_factory=list)
    untold: list[int] = field(default_factory=list)
    cleared: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    crossed: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))


def explain(
    flows: Flows, tests: PairTests, *, healthy: float | None = None, partial: Set[int] = frozenset()
) -> Explained:
    """Explains the slow tests.

    Parameters
    ----------
    flows : Flows
        Ways of the tests.
    tests : PairTests
        What was measured, with noise of a few percent.
    healthy : float, optional
        The share of the nominal rate that a healthy test measures, 0 to 1. [default: that of the tests]
    partial : set of int
        Rounds that are known to lack pairs.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom.pairs.measured import PairTest
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
    >>> from netloom.pairs import Flows, PairTests
    >>> rates = {(0, 2): 12e9, (2, 0): 12e9, (1, 3): 6e9, (3, 1): 6e9, (0, 1): 6e9, (2, 3): 12e9}
    >>> tests = PairTests.of(PairTest(*pair, rate) for pair, rate in rates.items())
    >>> flows = Flows.of(tree, nl.route("ftree", tree), tests)
    >>> [int(tree.link_table()["source"][one.cables[0]]) for one in explain(flows, tests).suspects]
    [1]
    """
    return _Search(flows, tests, healthy, partial).run()


class _Search:
    """One explanation in the making."""

    def __init__(self, flows: Flows, tests: PairTests, healthy: float | None, partial: Set[int]) -> None:
        self.flows, self.tests = flows, tests
        self.expected = _expected(flows, tests)
        share = tests.bytes_per_s / self.expected
        self.efficiency, self.noise = _healthy(share, healthy)
        self.carried = Carried(flows, tests, self.efficiency * self.expected)
        self.due = self.efficiency * self.expected
        """What each test should measure."""
        self.below = min(SLOW, 1 - 5 * self.noise)
        slow = np.flatnonzero(tests.bytes_per_s < self.below * self.due)
        self.rows: dict[int, list[int]] = defaultdict(list)
        """Flows of each slow test."""
        wanted = np.zeros(len(tests), np.bool_)
        wanted[slow] = True
        for row in np.flatnonzero(wanted[flows.test]).tolist():
            self.rows[int(flows.test[row])].append(row)
        self.partial = partial | self._incomplete()
        self.found = Explained(self.efficiency, self.noise, slow)
        self.left = set(slow.tolist())

    def _incomplete(self) -> set[int]:
        """Rounds that may lack pairs."""
        hosts: dict[int, set[int]] = defaultdict(set)
        for number, *ends in zip(self.tests.round, self.tests.source, self.tests.destination, strict=True):
            if number >= 0:
                hosts[int(number)] |= {int(end) for end in ends}
        # Where no pairs met in any round, rounds were chosen so (`netloom traffic pairs`), and are whole.
        if not self.carried.met.any():
            return set()
        everybody = len(set().union(*hosts.values()))
        sizes = Counter(self.tests.round[self.tests.round >= 0].tolist())
        most = max(sizes.values())
        return {
            number
            for number, present in hosts.items()
            if len(present) < everybody - 1 or sizes[number] < most
        }

    def run(self) -> Explained:
        """In the order of this module's head."""
        stopped = self._collisions()
        self._behind(stopped)
        self._cables(stopped)
        self._rest()
        proven = self.carried.proven
        fastest = float(self.due.max()) if len(self.due) else 0.0
        wanted = self.below * np.minimum(self.efficiency * self.flows.capacity, fastest)
        self.found.cleared = proven * (1 - SIGMAS * self.noise) >= wanted
        self.found.crossed = proven > 0
        return self.found

    def _collisions(self) -> dict[int, int]:
        """By flow the place on its way where it met others."""
        full = FULL * max(self.efficiency, self.carried.most_share)
        stopped = {}
        for test in sorted(self.left):
            if self.tests.round[test] < 0 or self.tests.in_turn[test]:
                continue
            best: tuple[float, int, int, int] | None = None
            for row in self.rows[test]:
                for place, link in enumerate(self.flows.way[row].tolist()):
                    met = self.carried.meeting(row, place)
                    if met.pairs < 2:
                        continue
                    limit = full * self.flows.capacity[link]
                    fair = met.sum >= limit and met.rate >= FAIR * met.most
                    if (met.passed >= limit or fair) and (best is None or met.passed / limit > best[0]):
                        best = (met.passed / limit, row, place, link)
            if best is not None:
                _, row, place, link = best
                stopped[row] = place
                self.found.collisions.setdefault((int(self.tests.round[test]), link), []).append(test)
                self.left.discard(test)
        return stopped

    def _behind(self, stopped: dict[int, int]) -> None:
        """Tests that waited behind those that were stopped, and so on."""
        blocked = dict(stopped)
        cause: dict[int, tuple[int, int]] = {
            row: (int(self.tests.round[self.flows.test[row]]), int(self.flows.way[row][place]))
            for row, place in stopped.items()
        }
        front = list(blocked)
        while front:
            # Links on which packets of a stopped flow wait, by round.
            waiting: dict[tuple[int, int], tuple[int, int]] = {}
            for row in front:
                number = int(self.tests.round[self.flows.test[row]])
                for link in self.flows.way[row][: blocked[row]].tolist():
                    waiting.setdefault((number, link), cause[row])
            front = []
            for test in sorted(self.left):
                number = int(self.tests.round[test])
                if number < 0:
                    continue
                for row in self.rows[test]:
                    places = [
                        place
                        for place, link in enumerate(self.flows.way[row].tolist())
                        if (number, link) in waiting
                    ]
                    if places:
                        cause[row] = waiting[number, int(self.flows.way[row][places[-1]])]
                        blocked[row] = places[-1]
                        front.append(row)
                        self.found.behind.setdefault(cause[row], []).append(test)
                        self.left.discard(test)
                        break

    def _cables(self, stopped: dict[int, int]) -> None:
        """Cables that explain what is left."""
        while self.left:
            cover = self._cover()
            if not cover:
                break
            ample = self._ample(cover)
            if ample is not None:
                self._tell([ample], cover, stopped)
            elif not self._beyond_known():
                self._last(cover, stopped)
                break
        self._beyond_known()

    def _cover(self) -> dict[int, dict[int, float]]:
        """By cable the tests that it would explain, each with what the cable then carries."""
        cover: dict[int, dict[int, float]] = defaultdict(dict)
        for test in sorted(self.left):
            if self._is_crowded(test):
                continue
            for row in self.rows[test]:
                for place, link in enumerate(self.flows.way[row].tolist()):
                    rate = self._rate_if_slow(test, row, place, link)
                    if rate is not None:
                        cover[min(link, int(self.flows.back[link]))].setdefault(test, rate)
        return {cable: tests for cable, tests in cover.items() if self._enough(tests)}

    def _ample(self, cover: dict[int, dict[int, float]]) -> int | None:
        """The cable with most tests of those that three others would have to replace."""
        for cable in sorted(cover, key=lambda one: (-len(cover[one]), one)):
            tests = cover[cable].keys()
            if len(tests) < CLUSTER:
                return None
            others = {one: of.keys() for one, of in cover.items() if of.keys() != tests}
            if fewest(tests, others, CLUSTER - 1) == []:
                return cable
        return None

    def _last(self, cover: dict[int, dict[int, float]], stopped: dict[int, int]) -> None:
        """The fewest cables that explain all that is left; which of them there is no doubt about."""
        tests = sorted(set().union(*cover.values()))
        groups = {cable: of.keys() for cable, of in cover.items() if cable == self._alike(cable, cover)[0]}
        sets = fewest(tests, groups)
        if not sets:
            # Too many to search, or to believe: these tests are to be measured alone.
            return
        sure = frozenset.intersection(*sets)
        for cable in sorted(sure, key=lambda one: (-len(cover[one]), one)):
            self._tell([cable], cover, stopped)
        doubtful = sorted(frozenset.union(*sets) - sure)
        while doubtful:
            # Those that share tests are alternatives of each other.
            part = [doubtful.pop(0)]
            tests_of: set[int] = set()
            for cable in part:
                tests_of |= cover[cable].keys()
                near = [one for one in doubtful if cover[one].keys() & tests_of]
                part += near
                doubtful = [one for one in doubtful if one not in near]
            self._tell(part, cover, stopped)

    def _alike(self, cable: int, cover: dict[int, dict[int, float]]) -> list[int]:
        """Cables that explain the same tests, itself among them."""
        return sorted(one for one, tests in cover.items() if tests.keys() == cover[cable].keys())

    def _tell(self, chosen: list[int], cover: dict[int, dict[int, float]], stopped: dict[int, int]) -> None:
        """Takes cables as the explanation of their tests; several: at least one of them is slow."""
        cables = sorted(one for cable in chosen for one in self._alike(cable, cover))
        rates = {test: rate for cable in chosen for test, rate in cover[cable].items() if test in self.left}
        if not rates:
            return
        explained = sorted(rates)
        median = float(np.median([rates[test] for test in explained]))
        self.found.suspects.append(Suspect(cables, median, explained))
        self.left.difference_update(explained)
        blocked = {}
        for test in explained:
            for row in self.rows[test]:
                ends = [min(link, int(self.flows.back[link])) for link in self.flows.way[row].tolist()]
                places = [place for place, cable in enumerate(ends) if cable in cables]
                if places and self.tests.round[test] >= 0:
                    blocked[row] = places[0]
        self._behind({row: place for row, place in blocked.items() if row not in stopped})

    def _beyond_known(self) -> bool:
        """Gives tests that cross a cable already told, and are no faster than it, to that cable.

        Something slowed them down further; few as they are, they are no evidence of another cable.
        """
        given = False
        for place, suspect in enumerate(self.found.suspects):
            if len(suspect.cables) > 1:
                continue
            ends = {suspect.cables[0], int(self.flows.back[suspect.cables[0]])}
            most = suspect.bytes_per_s * (1 + SIGMAS * self.noise)
            more = [
                test
                for test in sorted(self.left)
                if self.tests.bytes_per_s[test] <= most
                and any(ends & set(self.flows.way[row].tolist()) for row in self.rows[test])
            ]
            if more:
                self.found.suspects[place] = replace(suspect, tests=sorted([*suspect.tests, *more]))
                self.left.difference_update(more)
                given = True
        return given

    def _enough(self, tests: dict[int, float]) -> bool:
        """Whether tests are evidence of a slow cable: several, or one that met nobody and is slow enough."""
        if len(tests) > 1:
            return True
        (test,) = tests
        return not self._met(test) and self.tests.bytes_per_s[test] <= SINGLE * self.due[test]

    def _met(self, test: int) -> bool:
        """Whether a test shared a link with another of its round, or may have."""
        if self.tests.round[test] == UNKNOWN or int(self.tests.round[test]) in self.partial:
            return True
        return any(
            self.carried.beside(row, place)
            for row in self.rows[test]
            for place in range(len(self.flows.way[row]))
        )

    def _is_crowded(self, test: int) -> bool:
        """Whether a test says nothing of cables: what it met is not known, or how much it sent each way."""
        if self.tests.round[test] == UNKNOWN or int(self.tests.round[test]) in self.partial:
            return True
        both = self.tests.both_ways[test] or self.tests.in_turn[test]
        return bool(both) and self._met(test)

    def _rate_if_slow(self, test: int, row: int, place: int, link: int) -> float | None:
        """What a link carries if it is why a test is slow; None if it is not."""
        slack = SIGMAS * self.noise
        proven = self.carried.proven[link]
        if proven * (1 - slack) >= self.below * self.due[test]:
            return None
        rate = self.tests.bytes_per_s[test]
        if self.tests.in_turn[test]:
            # Both directions in turn: if only this one is slow, it is slower than both together.
            both = any(int(self.flows.back[link]) in self.flows.way[other] for other in self.rows[test])
            rate = rate if both else self.carried.one_direction(test)
        elif self.tests.round[test] >= 0:
            met = self.carried.meeting(row, place)
            rate = met.passed
            if met.pairs > 1 and rate >= DOUBTFUL * self.efficiency * self.flows.capacity[link]:
                return None
        return float(rate) if rate * (1 + slack) >= proven * (1 - slack) else None

    def _rest(self) -> None:
        for test in sorted(self.left):
            (self.found.untold if self._met(test) else self.found.contradicted).append(test)


def _expected(flows: Flows, tests: PairTests) -> Floats:
    """What each test would measure alone, if software and headers took nothing."""
    narrow: Floats = np.array([flows.capacity[way].min() for way in flows.way], np.float64)
    expected: Floats = narrow[: len(tests)].copy()
    for row in range(len(tests), len(flows.test)):
        test = flows.test[row]
        ahead, returning = narrow[test], narrow[row]
        in_turn = 2 / (1 / ahead + 1 / returning)
        expected[test] = in_turn if tests.in_turn[test] else min(ahead, returning)
    return expected


def _healthy(share: Floats, given: float | None) -> tuple[float, float]:
    """The share of the nominal rate that healthy tests measure, and its standard deviation."""
    top = np.quantile(share, 0.95) if given is None else given
    healthy = share[share >= SLOW * top]
    if not len(healthy):
        return float(top), 0.02
    middle = float(np.median(healthy)) if given is None else given
    deviation = 1.4826 * float(np.median(np.abs(healthy - middle))) / middle
    return middle, min(max(deviation, 0.005), 0.05)


__all__ = ["Explained", "Suspect", "explain"]
