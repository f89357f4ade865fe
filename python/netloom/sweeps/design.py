"""Designs of experiments: points that spread over ranges, where a grid would be too large.

`latin-hypercube` has `samples` points, one in each of as many slices of every range. `sobol` is for variance
shares (Saltelli et al., Computer Physics Communications 181, 2010): two sets A and B of `samples` points each
of a scrambled Sobol sequence, and for every key one more set that is A with that key's values from B.

Points come from SciPy's `qmc`. Invariant: the same text of a sweep gives the same points with one SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom import extras

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS = ("latin-hypercube", "sobol")
MOST_KEYS = 100
LOG = "log"


@dataclass(frozen=True)
class Range:
    """What a key's values are between.

    Attributes
    ----------
    low, high : int or float
        Both ends; whole numbers give whole numbers.
    log : bool
        Whether points are spread by their logarithm.
    """

    low: int | float
    high: int | float
    log: bool = False

    @classmethod
    def of(cls, given: Any) -> Range:
        """The range that a list is: `[LOW, HIGH]`, or `[LOW, HIGH, "log"]`.

        Raises
        ------
        ValueError
            Saying what was expected.
        """
        told = f'expected [LOW, HIGH], or [LOW, HIGH, "{LOG}"], found {given!r:.80}'
        if not isinstance(given, list) or len(given) not in (2, 3) or given[2:] not in ([], [LOG]):
            raise ValueError(told)
        low, high = given[:2]
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (low, high)):
            raise ValueError(told)
        if not all(math.isfinite(one) and abs(one) < 2**63 for one in (low, high)) or low >= high:
            raise ValueError(f"expected two finite numbers, the smaller first, found {given!r:.80}")
        if len(given) == 3 and low <= 0:
            raise ValueError(f"a logarithm needs numbers above 0, found {low}")
        return cls(low, high, len(given) == 3)

    def at(self, shares: NDArray[np.float64]) -> list[Any]:
        """The values at shares of the range, from 0 to 1."""
        import numpy as np

        whole = isinstance(self.low, int) and isinstance(self.high, int)
        low, high = float(self.low), float(self.high) + (1.0 if whole else 0.0)
        if self.log:
            found = np.exp(np.log(low) + shares * (np.log(high) - np.log(low)))
        else:
            found = low + shares * (high - low)
        if whole:
            return [min(max(int(one), int(self.low)), int(self.high)) for one in np.floor(found)]
        return [float(one) for one in found]


@dataclass(frozen=True)
class Design:
    """A design of experiments.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    samples : int
        Points; with `sobol` of each set.
    seed : int
        Of the points.
    ranges : mapping
        What each key is between.
    """

    kind: str
    samples: int
    seed: int
    ranges: Mapping[str, Range]

    @property
    def points(self) -> int:
        """How many points there are."""
        return self.samples * (len(self.ranges) + 2 if self.kind == "sobol" else 1)

    def values(self) -> dict[str, list[Any]]:
        """For every key its values at the points, in order: with `sobol` those of A, of B, then of A with
        one key after the other from B.

        Raises
        ------
        NotInstalledError
            If SciPy is missing.
        """
        extras.need("scipy")
        import numpy as np
        from scipy.stats import qmc

        keys, rng = len(self.ranges), np.random.default_rng(self.seed)
        if self.kind == "sobol":
            both = qmc.Sobol(2 * keys, seed=rng).random(self.samples)
            first, second = both[:, :keys], both[:, keys:]
            mixed = [first.copy() for _ in range(keys)]
            for number, points in enumerate(mixed):
                points[:, number] = second[:, number]
            shares = np.concatenate([first, second, *mixed])
        else:
            shares = qmc.LatinHypercube(keys, seed=rng).random(self.samples)
        return {key: one.at(shares[:, number]) for number, (key, one) in enumerate(self.ranges.items())}


def read(given: Mapping[str, Any], ranges: Mapping[str, Any]) -> Design:
    """The design that a sweep's file asks for; `ranges` has its keys with dots.

    Raises
    ------
    ValueError
        With the key at fault and what was expected.
    """
    kind = given.get("design")
    samples: Any = given.get("samples")
    seed: Any = given.get("design_seed", 0)
    if kind is None:
        raise ValueError("design", f'expected design = "{KINDS[0]}" or "{KINDS[1]}" with [ranges]')
    if kind not in KINDS:
        raise ValueError("design", f"expected {' or '.join(KINDS)}, found {kind!r:.80}")
    if not _is_whole(samples, 2):
        raise ValueError("samples", f"expected how many points there are, 2 or more, found {samples!r:.80}")
    if kind == "sobol" and samples & (samples - 1):
        near = 1 << (samples.bit_length() - 1)
        told = f"a Sobol sequence is even at powers of 2 only: expected {near} or {2 * near}, found {samples}"
        raise ValueError("samples", told)
    if not _is_whole(seed, 0):
        raise ValueError("design_seed", f"expected a whole number from 0 on, found {seed!r:.80}")
    if not 1 <= len(ranges) <= MOST_KEYS:
        raise ValueError("ranges", f"expected 1 to {MOST_KEYS} keys, each as KEY = [LOW, HIGH]")
    found = {}
    for key, value in ranges.items():
        try:
            found[key] = Range.of(value)
        except ValueError as error:
            raise ValueError(key, str(error)) from None
    return Design(kind, samples, seed, found)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31


def sets_of(design: Design, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[list[Any]]]:
    """What belongs to the points of `sobol`: to A, to B, and to A with each key from B."""
    n = design.samples
    parts = [list(values[at : at + n]) for at in range(0, len(values), n)]
    return parts[0], parts[1], parts[2:]
