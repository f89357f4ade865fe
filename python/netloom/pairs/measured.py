"""What tests of pairs have measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ALONE = -1
"""The round of a pair that was tested alone."""
UNKNOWN = -2
"""The round of a pair that was tested beside others, which is not known."""


class PairTest(NamedTuple):
    """One measured pair, with hosts by number."""

    source: int
    destination: int
    bytes_per_s: float
    round: int = ALONE
    both_ways: bool = False
    in_turn: bool = False


@dataclass(frozen=True)
class PairTests:
    """Measured pairs: columns with an entry a test.

    Attributes
    ----------
    source, destination : array of int
        Hosts by number.
    bytes_per_s : array of float
        The rate, without headers, greater than 0.
    round : array of int
        Which tests ran at the same time: equal numbers; `ALONE`; `UNKNOWN`.
    both_ways : array of bool
        Both hosts sent, and the rate is that of the slower direction.
    in_turn : array of bool
        Both hosts sent, one after the other (ping-pong): the rate is that of both messages in the time of
        both.
    """

    source: Ints
    destination: Ints
    bytes_per_s: Floats
    round: Ints
    both_ways: Bools
    in_turn: Bools

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(cls, tests: Iterable[PairTest]) -> PairTests:
        """Of rows.

        Parameters
        ----------
        tests : iterable of PairTest
            In any order.

        Examples
        --------
        >>> len(PairTests.of([PairTest(0, 1, 12e9)]))
        1
        """
        rows: Sequence[PairTest] = list(tests)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(PairTest._fields)
        kinds = (np.int64, np.int64, np.float64, np.int64, np.bool_, np.bool_)
        return cls(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))
