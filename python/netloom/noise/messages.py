"""A job's messages in two runs, side by side: beside its neighbours and alone, joined by message.

A run can be repeated to the picosecond, so noise is not only described but taken apart. What differs between
messages that both runs have is the neighbours' doing and nothing else; only these are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom.noise.times import Sent, Whole, differences, estimate, impact, summary, us

MOST_SIZES = 16
"""Sizes of messages that are told one by one; of more, a class for every power of two."""


@dataclass(frozen=True)
class Messages:
    """A job's messages in one run, in order of sender, receiver and number.

    Attributes
    ----------
    sender, receiver : array of int
        Ranks.
    collective : array of bool
        Whether a collective sent it.
    number : array of int
        Which of its sender's messages it is, collectives' by themselves.
    size : array of int
        Payload, bytes.
    time_ps : array of int
        On the network: from posting to the last byte, question and answer included.
    cut : bool
        Some are missing, as there were too many.
    sent : Sent or None
        What their adapters have counted; None where packets are not answered.
    posted_ps : array of int
        When they were posted; empty where that is not known.
    """

    sender: Whole
    receiver: Whole
    collective: npt.NDArray[np.bool_]
    number: Whole
    size: Whole
    time_ps: Whole
    cut: bool
    sent: Sent | None = None
    posted_ps: Whole = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, recorded: Mapping[str, Any], job: int) -> Messages:
        """Those of one job from what `Simulation.messages` gives.

        Parameters
        ----------
        recorded : mapping
            The columns.
        job : int
            The job's number in that run.
        """
        mine = np.flatnonzero(recorded["job"] == job)

        def column(name: str) -> Whole:
            return np.asarray(recorded[name][mine], dtype=np.int64)

        return cls(
            sender=column("from"),
            receiver=column("to"),
            collective=np.asarray(recorded["collective"][mine]),
            number=column("number"),
            size=column("bytes"),
            time_ps=column("latency_ps") + column("asking_ps"),
            cut=bool(recorded["cut"]),
            sent=Sent.of(recorded, mine),
            posted_ps=column("posted_ps") if "posted_ps" in recorded else np.zeros(0, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Joined:
    """Messages of two runs of a job, side by side.

    Attributes
    ----------
    beside, alone : Messages
        The two runs.
    in_beside, in_alone : array of int
        Places of the messages that both have, in one order.
    """

    beside: Messages
    alone: Messages
    in_beside: npt.NDArray[np.intp]
    in_alone: npt.NDArray[np.intp]

    @cached_property
    def beside_ps(self) -> Whole:
        """Times beside others of the messages that both have."""
        return self.beside.time_ps[self.in_beside]

    @cached_property
    def alone_ps(self) -> Whole:
        """The same messages' times alone."""
        return self.alone.time_ps[self.in_alone]

    @cached_property
    def difference_ps(self) -> Whole:
        """How much longer each message took beside others."""
        return self.beside_ps - self.alone_ps


def joined(beside: Messages, alone: Messages) -> Joined:
    """Finds the messages that two runs of a job have in common.

    Parameters
    ----------
    beside, alone : Messages
        The job with its neighbours, and without.
    """
    pairs = [one.sender << 32 | one.receiver for one in (beside, alone)]
    known = np.unique(np.concatenate([_without_repeats(pair) for pair in pairs]))
    keys = [
        np.searchsorted(known, pair) << 30 | one.collective.astype(np.int64) << 29 | one.number
        for pair, one in zip(pairs, (beside, alone), strict=True)
    ]
    if all((key[1:] > key[:-1]).all() for key in keys):
        # As runs have them: millions of messages are joined in a second.
        place = np.searchsorted(keys[1], keys[0])
        place[place == keys[1].size] = 0
        both = keys[1][place] == keys[0] if keys[1].size else np.zeros(keys[0].size, dtype=np.bool_)
        return Joined(beside, alone, np.flatnonzero(both), place[both])
    _, in_beside, in_alone = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return Joined(beside, alone, in_beside, in_alone)


def _without_repeats(values: Whole) -> Whole:
    """Values of which each differs from the one before it."""
    return values[np.flatnonzero(np.diff(values, prepend=-1))]


def by_size(pairs: Joined) -> list[dict[str, Any]]:
    """Noise of both runs and their differences, by size of message: of the messages that both runs have.

    Every size by itself, or above 16 sizes all from a power of two to before the next. What only one run has
    is counted: `only_beside`, `only_alone`.
    """
    sizes = np.unique(np.concatenate((np.unique(pairs.beside.size), np.unique(pairs.alone.size))))
    classes = _classes(sizes)
    size = pairs.beside.size[pairs.in_beside]
    found = []
    for low, high in classes:
        whole = len(classes) == 1
        among = slice(None) if whole else (size >= low) & (size <= high)
        rows = pairs.in_beside[among]
        beside, alone = summary(pairs.beside_ps[among]), summary(pairs.alone_ps[among])
        found.append(
            {
                "from_bytes": low,
                "to_bytes": high,
                "noise": beside,
                "alone": alone,
                "impact": impact(beside, alone),
                "differences": differences(pairs.difference_ps[among]),
                "only_beside": _within(pairs.beside.size, low, high) - rows.size,
                "only_alone": _within(pairs.alone.size, low, high) - rows.size,
                "estimate": None if pairs.beside.sent is None else estimate(pairs.beside.sent, rows),
            }
        )
    return found


def _within(size: Whole, low: int, high: int) -> int:
    return int(np.count_nonzero((size >= low) & (size <= high)))


def _classes(sizes: Whole) -> list[tuple[int, int]]:
    if sizes.size <= MOST_SIZES:
        return [(int(size), int(size)) for size in sizes]
    powers = np.array([int(size).bit_length() for size in sizes])
    members = (sizes[powers == power] for power in np.unique(powers))
    return [(int(some[0]), int(some[-1])) for some in members]


def worst(pairs: Joined, most: int) -> list[dict[str, Any]]:
    """The messages that were delayed the most, the worst first.

    Parameters
    ----------
    pairs : Joined
        The two runs.
    most : int
        How many at most.
    """
    late = pairs.difference_ps
    # Of millions, only those that can be among the worst are put in order.
    least = max(1, int(np.partition(late, -most)[-most])) if late.size > most else 1
    some = np.flatnonzero(late >= least)
    found = []
    for at in some[np.argsort(-late[some], kind="stable")][:most]:
        place, other = int(pairs.in_beside[at]), int(pairs.in_alone[at])
        one = pairs.beside
        found.append(
            {
                "from": int(one.sender[place]),
                "to": int(one.receiver[place]),
                "collective": bool(one.collective[place]),
                "number": int(one.number[place]),
                "bytes": int(one.size[place]),
                "time_us": us(one.time_ps[place]),
                "alone_us": us(pairs.alone.time_ps[other]),
                "difference_us": us(late[at]),
            }
        )
    return found
