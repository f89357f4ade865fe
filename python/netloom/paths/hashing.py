"""`ecmp:pairs=4,draws=20`: routes that are a hash of the flow at every switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netloom.errors import SpecError

WORD = "ecmp"
MOST = {"pairs": 1 << 16, "draws": 10_000}
"""The most of each."""


@dataclass(frozen=True)
class Hashing:
    """Which flows there are, and how often their ways are drawn.

    Parameters
    ----------
    pairs : int, default 1
        Queue pairs of two hosts, each with an equal part of their bytes; 1 to 65,536.
    draws : int, default 20
        Seeds of the hash that are tried, 1 to 10,000.
    """

    pairs: int = 1
    draws: int = 20

    @classmethod
    def parse(cls, text: str) -> Hashing | None:
        """What a word says; None if it is about something else.

        Raises
        ------
        SpecError
            For keys and numbers that are none of its own.

        Examples
        --------
        >>> Hashing.parse("ecmp:pairs=16")
        Hashing(pairs=16, draws=20)
        """
        word, colon, rest = text.partition(":")
        if word != WORD:
            return None
        given: dict[str, int] = {}
        for part in rest.split(",") if colon else []:
            key, _, value = part.partition("=")
            if key not in MOST or key in given:
                raise SpecError(f'{text}: expected pairs=N and draws=N, each once, found "{part}"')
            if not (value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= MOST[key]):
                raise SpecError(f'{text}: {key}: expected a whole number, 1 to {MOST[key]}, found "{value}"')
            given[key] = int(value)
        return cls(**given)


def spread(most: Sequence[float]) -> dict[str, Any]:
    """The largest loads of some draws: how many, and what 5, 50 and 95 % do not exceed (nearest rank)."""
    rising = sorted(most)

    def rank(percent: int) -> float:
        return rising[max(0, -(-percent * len(rising) // 100) - 1)]

    return {"draws": len(rising), "p5": rank(5), "p50": rank(50), "p95": rank(95)}
