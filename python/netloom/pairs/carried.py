"""What links were seen to carry in tests of pairs.

Pairs of a round begin together and send as much. When the k-th of those on a link is done, k of them have
passed whole, so the link carries at least k times the rate of that one; and what had passed by then of the
slower ones, at an even rate, comes to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from netloom.pairs.flows import Flows
    from netloom.pairs.measured import Floats, PairTests


class Meeting(NamedTuple):
    """The pairs of a round on a link, as one of them saw it. Rates are bytes per second."""

    pairs: int
    rate: float
    """Of this one."""
    most: float
    """Of the fastest."""
    sum: float
    passed: float
    """What passed until this one was done, over that time."""


class Carried:
    """What every link carried in every round.

    Parameters
    ----------
    flows : Flows
        Ways of the tests.
    tests : PairTests
        What was measured.
    due : array of float
        What each test should measure, bytes per second.

    Attributes
    ----------
    proven : array of float
        What each link is known to carry, bytes per second; 0 if no test crossed it.
    met : array of bool
        By flow: whether it shared a link with another of its round.
    most_share : float
        The largest share of a link's nominal rate that several pairs were seen to fill.
    """

    def __init__(self, flows: Flows, tests: PairTests, due: Floats) -> None:
        self._due, self._tests = due, tests
        length = np.array([len(way) for way in flows.way])
        row = np.repeat(np.arange(len(flows.way)), length)
        self._first = np.concatenate([[0], np.cumsum(length)])
        link = np.concatenate(flows.way) if flows.way else np.zeros(0, np.int64)
        test = flows.test[row]
        rate = tests.bytes_per_s[test].copy()
        # Half of the time in the other direction: one direction carries at least that.
        in_turn = tests.in_turn[test]
        rate[in_turn] = np.array([self.one_direction(one) for one in test[in_turn].tolist()])
        known = tests.round[test] >= 0
        numbers = (tests.round[test][known] * len(flows.capacity) + link[known]).astype(np.int64)
        _, which, many = np.unique(numbers, return_inverse=True, return_counts=True)
        self._beside = np.zeros(len(row), np.bool_)
        self._beside[known] = many[which] > 1
        self.met = np.zeros(len(flows.way), np.bool_)
        self.met[row[self._beside]] = True
        # Alone, or as if: a round of its own.
        number = np.where((tests.round[test] >= 0) & ~in_turn, tests.round[test], -1 - test)
        order = np.lexsort((-rate, link, number))
        begins = np.ones(len(order), np.bool_)
        begins[1:] = (np.diff(number[order]) != 0) | (np.diff(link[order]) != 0)
        group = np.cumsum(begins) - 1
        start = np.flatnonzero(begins)
        count = np.diff(np.append(start, len(order)))
        rates = rate[order]
        place = np.arange(len(order)) - start[group]
        sums = np.add.reduceat(rates, start) if len(start) else np.zeros(0)
        total = np.cumsum(rates)
        slower = sums[group] - (total - (total[start] - rates[start])[group])
        proven = (place + 1) * rates
        self.proven = np.zeros(len(flows.capacity))
        np.maximum.at(self.proven, link[order], proven)
        share = proven / flows.capacity[link[order]]
        several = place > 0
        self.most_share = float(np.quantile(share[several], 0.99)) if several.any() else 0.0
        back_order = np.argsort(order)
        self._pairs = count[group][back_order]
        self._rate = rate
        self._most = rates[start][group][back_order]
        self._sum = sums[group][back_order]
        self._passed = ((place + 1) * rates + np.maximum(slower, 0.0))[back_order]

    def meeting(self, row: int, place: int) -> Meeting:
        """The pairs on a link of a flow's way.

        Parameters
        ----------
        row : int
            The flow.
        place : int
            Which link of its way.
        """
        at = self._first[row] + place
        columns = (self._pairs, self._rate, self._most, self._sum, self._passed)
        pairs, *rates = (column[at] for column in columns)
        return Meeting(int(pairs), *map(float, rates))

    def beside(self, row: int, place: int) -> bool:
        """Whether another flow of the round crossed a link of a flow's way.

        Parameters
        ----------
        row : int
            The flow.
        place : int
            Which link of its way.
        """
        return bool(self._beside[self._first[row] + place])

    def one_direction(self, test: int) -> float:
        """The least that a direction carries of a test with messages in turn, if the other is healthy."""
        rate, due = self._tests.bytes_per_s[test], self._due[test]
        return float(rate) if rate >= due else float(1 / (2 / rate - 1 / due))
