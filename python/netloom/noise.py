"""Network noise: how much messages vary, and what of it other jobs cause, message by message.

A run can be repeated to the picosecond, so noise is not only described but taken apart: the same job beside
its neighbours and alone, joined by message. What differs is the neighbours' doing and nothing else.

Sources: quartile coefficient of dispersion and nonparametric intervals as T. Hoefler, R. Belli, *Scientific
benchmarking of parallel computing systems*, SC 2015, sec. 3.1; the interval of a median by order statistics
is of `netloom.intervals`.

Invariant: times and differences are whole picoseconds until they are told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom.intervals import median_ranks

_Whole = npt.NDArray[np.int64]

MOST_SIZES = 16
"""Sizes of messages that are told one by one; of more, a class for every power of two."""


def summary(times_ps: _Whole) -> dict[str, Any] | None:
    """How times vary.

    Parameters
    ----------
    times_ps : array of int
        Times, ps.

    Returns
    -------
    dict, or None
        In microseconds `q1_us`, `median_us` and `q3_us` (linear between values), `ci95_us` (the interval of
        the median, null below 6 values), `mean_us`, `p99_us` (the least value that 99 % do not exceed),
        `min_us`, `max_us`; and `qcd`, (q3 - q1) / (q3 + q1). None of no times.
    """
    if not times_ps.size:
        return None
    ordered = np.sort(times_ps)
    q1, median, q3 = (float(value) for value in np.quantile(ordered, (0.25, 0.5, 0.75)))
    ranks = median_ranks(ordered.size)
    interval = None if ranks is None else [_us(ordered[rank - 1]) for rank in ranks]
    return {
        "median_us": _us(median),
        "q1_us": _us(q1),
        "q3_us": _us(q3),
        "qcd": (q3 - q1) / (q3 + q1) if q3 + q1 > 0 else 0.0,
        "ci95_us": interval,
        "mean_us": _us(ordered.mean()),
        "p99_us": _us(ordered[math.ceil(0.99 * ordered.size) - 1]),
        "min_us": _us(ordered[0]),
        "max_us": _us(ordered[-1]),
    }


@dataclass(frozen=True)
class Sent:
    """Times of messages on the network beside the transmission model, which has flits, stalls and latencies.

    Attributes
    ----------
    network_ps : array of int
        From when a message's first packet was ready to leave until its last byte came; 0 of one whose last
        response the run did not see.
    eq2_ps, window_ps : array of float
        By eq. 2 of D. De Sensi et al., SC 2019, and with a window that slides.
    """

    network_ps: _Whole
    eq2_ps: npt.NDArray[np.float64]
    window_ps: npt.NDArray[np.float64]

    @classmethod
    def of(cls, recorded: Mapping[str, Any], rows: npt.NDArray[np.intp]) -> Sent | None:
        """Those of some rows of what `Simulation.messages` gives; None where packets are not answered.

        Parameters
        ----------
        recorded : mapping
            The columns.
        rows : array of int
            Which rows.
        """
        if "network_ps" not in recorded:
            return None
        return cls(
            network_ps=np.asarray(recorded["network_ps"][rows], dtype=np.int64),
            eq2_ps=np.asarray(recorded["eq2_ps"][rows]),
            window_ps=np.asarray(recorded["window_ps"][rows]),
        )


def estimate(sent: Sent | None, among: npt.NDArray[np.bool_] | None = None) -> dict[str, Any] | None:
    """How well the transmission model tells the times of messages on the network.

    Parameters
    ----------
    sent : Sent or None
        The messages.
    among : array of bool, optional
        Only these of them.

    Returns
    -------
    dict, or None
        How many `messages` were answered whole; medians, in microseconds, of their time (`network_us`) and of
        both estimates (`eq2_us`, `window_us`); medians of what these are off, as a share of the time
        (`eq2_error`, `window_error`); and Pearson's correlation of each with the time (`eq2_correlation`,
        `window_correlation`), null below 3 messages or where nothing varies. None without any.
    """
    if sent is None:
        return None
    whole = sent.network_ps > 0
    if among is not None:
        whole &= among
    time = sent.network_ps[whole].astype(np.float64)
    if not time.size:
        return None
    told: dict[str, Any] = {"messages": int(time.size), "network_us": _us(np.median(time))}
    for name, of in (("eq2", sent.eq2_ps[whole]), ("window", sent.window_ps[whole])):
        varies = time.size >= 3 and np.ptp(time) > 0 and np.ptp(of) > 0
        told[f"{name}_us"] = _us(np.median(of))
        told[f"{name}_error"] = float(np.median(np.abs(of / time - 1)))
        told[f"{name}_correlation"] = float(np.corrcoef(of, time)[0, 1]) if varies else None
    return told


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
    """

    sender: _Whole
    receiver: _Whole
    collective: npt.NDArray[np.bool_]
    number: _Whole
    size: _Whole
    time_ps: _Whole
    cut: bool
    sent: Sent | None = None

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

        def column(name: str) -> _Whole:
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

    @property
    def difference_ps(self) -> _Whole:
        """How much longer each message took beside others."""
        return self.beside.time_ps[self.in_beside] - self.alone.time_ps[self.in_alone]


def joined(beside: Messages, alone: Messages) -> Joined:
    """Finds the messages that two runs of a job have in common.

    Parameters
    ----------
    beside, alone : Messages
        The job with its neighbours, and without.
    """
    pair = [one.sender << 32 | one.receiver for one in (beside, alone)]
    _, numbers = np.unique(np.concatenate(pair), return_inverse=True)
    of_pair = (numbers[: len(beside)], numbers[len(beside) :])
    key_beside, key_alone = (
        of << 30 | one.collective.astype(np.int64) << 29 | one.number
        for of, one in zip(of_pair, (beside, alone), strict=True)
    )
    _, in_beside, in_alone = np.intersect1d(key_beside, key_alone, assume_unique=True, return_indices=True)
    return Joined(beside, alone, in_beside, in_alone)


def differences(difference_ps: _Whole) -> dict[str, Any]:
    """What messages took longer in one run than in the other.

    Parameters
    ----------
    difference_ps : array of int
        By message.

    Returns
    -------
    dict
        How many `messages` there are and how many differ (`changed`), their exact sum (`sum_ps`), and
        `median_us`, `mean_us`, `p99_us`, `min_us`, `max_us`, null of no messages.
    """
    told = summary(difference_ps) or {}
    names = ("median_us", "mean_us", "p99_us", "min_us", "max_us")
    return {
        "messages": int(difference_ps.size),
        "changed": int(np.count_nonzero(difference_ps)),
        "sum_ps": int(difference_ps.sum()),
    } | {name: told.get(name) for name in names}


def by_size(pairs: Joined) -> list[dict[str, Any]]:
    """Noise of both runs and their differences, by size of message.

    Every size by itself, or above 16 sizes all from a power of two to before the next.
    """
    sizes = np.unique(np.concatenate((pairs.beside.size, pairs.alone.size)))
    found = []
    for low, high in _classes(sizes):
        of_beside = (pairs.beside.size >= low) & (pairs.beside.size <= high)
        of_alone = (pairs.alone.size >= low) & (pairs.alone.size <= high)
        found.append(
            {
                "from_bytes": low,
                "to_bytes": high,
                "noise": summary(pairs.beside.time_ps[of_beside]),
                "alone": summary(pairs.alone.time_ps[of_alone]),
                "differences": differences(pairs.difference_ps[of_beside[pairs.in_beside]]),
                "estimate": estimate(pairs.beside.sent, of_beside),
            }
        )
    return found


def _classes(sizes: _Whole) -> list[tuple[int, int]]:
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
    order = np.argsort(-late, kind="stable")[:most]
    found = []
    for at in order[late[order] > 0]:
        place, other = int(pairs.in_beside[at]), int(pairs.in_alone[at])
        one = pairs.beside
        found.append(
            {
                "from": int(one.sender[place]),
                "to": int(one.receiver[place]),
                "collective": bool(one.collective[place]),
                "number": int(one.number[place]),
                "bytes": int(one.size[place]),
                "time_us": _us(one.time_ps[place]),
                "alone_us": _us(pairs.alone.time_ps[other]),
                "difference_us": _us(late[at]),
            }
        )
    return found


def _us(ps: Any) -> float:
    return float(ps) / 1e6
