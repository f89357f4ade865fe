"""On which link, and behind whose bytes, a job waits: from a recording of every packet at every hop.

A packet waits at an output from when it is queued there until it leaves. Packets leave one after the other:
a packet's turn lasts from the end of the one before it to its own, and so does it hold up what waits behind
it, be it for the wire or for room beyond it. A job waits behind another for as long as packets of the one
wait at a link in turns of the other. It is counted once, however many packets wait, so at a link it adds up
to no more than the time that passes. What waits within a host is not seen.

Source: recordings of `measure.trace` (docs/verbs/simulate.md), a line a packet and hop.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom.noise.times import Whole

MOST_HOPS = 250_000
"""What a recording holds: packets on links, in order of time."""

_LINK = re.compile(
    rb'"ph":"M","name":"thread_sort_index","pid":(\d+),"tid":(\d+),"args":\{"sort_index":(\d+)\}'
)
_HOP = re.compile(
    rb'"ph":"X","name":("(?:[^"\\]|\\.)*"),"pid":\d+,"tid":(\d+),.*"start_ps":(\d+),"end_ps":(\d+),.*"waited_ps":(\d+)'
)


@dataclass(frozen=True)
class Hops:
    """Packets on links, in order of link and of when they leave.

    Attributes
    ----------
    job : array of int
        Whose packet it is.
    link : array of int
        The link's number.
    queued_ps, start_ps, end_ps : array of int
        When it was queued at the link, when its head leaves, when its tail has left.
    """

    job: npt.NDArray[np.intp]
    link: npt.NDArray[np.intp]
    queued_ps: Whole
    start_ps: Whole
    end_ps: Whole

    @classmethod
    def of(cls, trace: bytes, jobs: Sequence[str]) -> Hops:
        """Those of a recording.

        Parameters
        ----------
        trace : bytes
            What `Simulation.trace` gives.
        jobs : sequence of str
            Names of all jobs, by number.
        """
        numbers = {name: number for number, name in enumerate(jobs)}
        named: dict[bytes, int] = {}
        links: dict[bytes, int] = {}
        rows = []
        for line in trace.split(b"\n"):
            if hop := _HOP.search(line):
                text, track, start, end, waited = hop.groups()
                if text not in named:
                    # `NAME 3 to 5`: ranks are the last words.
                    named[text] = numbers[str(json.loads(text)).rsplit(" ", 3)[0]]
                rows.append((named[text], links[track], int(start) - int(waited), int(start), int(end)))
            elif place := _LINK.search(line):
                links[place[2]] = int(place[3])
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        table = table[np.lexsort((table[:, 3], table[:, 1]))]
        job, link, queued_ps, start_ps, end_ps = table.T
        return cls(job.astype(np.intp), link.astype(np.intp), queued_ps, start_ps, end_ps)

    def __len__(self) -> int:
        return len(self.job)

    def links(self) -> Iterator[tuple[int, Hops]]:
        """Those of each link."""
        edges = np.flatnonzero(np.diff(self.link, prepend=-1, append=-1))
        for low, high in itertools.pairwise(edges):
            of = slice(int(low), int(high))
            parts = (self.job[of], self.link[of], self.queued_ps[of], self.start_ps[of], self.end_ps[of])
            yield int(self.link[low]), Hops(*parts)


def behind(hops: Hops, jobs: int) -> dict[tuple[int, int, int], int]:
    """How long each job waited at each link in turns of each other job.

    Parameters
    ----------
    hops : Hops
        Packets on links.
    jobs : int
        How many jobs there are.

    Returns
    -------
    dict
        By job that waited, link and job that sent: ps, where there are any.

    Examples
    --------
    One packet waits while two of another job leave, 5 ps and 3 ps of them.

    >>> import numpy as np
    >>> times = [np.array(row) for row in ([0, 0, 2], [0, 5, 8], [5, 8, 12])]
    >>> behind(Hops(np.array([1, 1, 0]), np.array([7, 7, 7]), *times), 2)
    {(0, 7, 1): 6}
    """
    found = {}
    for link, some in hops.links():
        present = np.unique(some.job)
        if present.size < 2:
            continue
        waits = {int(job): _together(some, int(job)) for job in present}
        # Of the first one it is not known since when.
        turn_ps = np.concatenate((some.start_ps[:1], some.end_ps[:-1]))
        for sender in present:
            mine = some.job == sender
            turns = _Turns(turn_ps[mine], some.end_ps[mine])
            for job, (low, high) in waits.items():
                if job == sender or not low.size:
                    continue
                if ps := int((turns.until(high) - turns.until(low)).sum()):
                    found[job, link, int(sender)] = ps
    return found


def _together(hops: Hops, job: int) -> tuple[Whole, Whole]:
    """From when to when packets of a job waited, overlapping times as one."""
    mine = (hops.job == job) & (hops.start_ps > hops.queued_ps)
    low, high = hops.queued_ps[mine], hops.start_ps[mine]
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order]) if high.size else high
    first = (
        np.flatnonzero(np.concatenate(([True], low[1:] > high[:-1]))) if low.size else np.array([], np.intp)
    )
    return low[first], high[np.append(first[1:], low.size) - 1] if low.size else high


class _Turns:
    """How long a job's turns at a link had lasted by a time."""

    def __init__(self, start_ps: Whole, end_ps: Whole) -> None:
        self._start_ps, self._end_ps = start_ps, end_ps
        self._before_ps = np.concatenate(([0], np.cumsum(end_ps - start_ps)))

    def until(self, time_ps: Whole) -> Whole:
        """All turns, ps, up to each of these times."""
        begun = np.searchsorted(self._start_ps, time_ps)
        last = np.maximum(begun - 1, 0)
        over = np.where(begun > 0, np.maximum(self._end_ps[last] - time_ps, 0), 0)
        return np.asarray(self._before_ps[begun] - over, dtype=np.int64)


def window_us(posted_ps: Whole, late_ps: Whole, start_ps: int, end_ps: int, hops: int) -> tuple[float, float]:
    """Where to look: all of a run if its hops can be recorded, else where messages are delayed the most.

    Parameters
    ----------
    posted_ps, late_ps : array of int
        When messages were posted, and how much longer each took than alone.
    start_ps, end_ps : int
        From when to when the run lasts.
    hops : int
        How many packets cross how many links in it.

    Returns
    -------
    tuple of float
        From when to when, microseconds.
    """
    length = end_ps - start_ps
    if hops > 0.8 * MOST_HOPS:
        length = max(1, int(length * 0.8 * MOST_HOPS / hops))
    low = start_ps
    if length < end_ps - start_ps and posted_ps.size:
        order = np.argsort(posted_ps, kind="stable")
        begins = posted_ps[order]
        sums = np.concatenate(([0], np.cumsum(np.maximum(late_ps[order], 0))))
        gains = sums[np.searchsorted(begins, begins + length)] - sums[:-1]
        low = max(start_ps, min(int(begins[int(np.argmax(gains))]), end_ps - length))
    return low / 1e6, (low + length) / 1e6 + 1e-3


def told(found: Mapping[tuple[int, int, int], int], job: int) -> list[dict[str, Any]]:
    """A job's links, the one at which it waited longest first.

    Parameters
    ----------
    found : mapping
        What `behind` gives.
    job : int
        The job that waited.

    Returns
    -------
    list of dict
        `link`, `behind_ps` in all, and `jobs`: pairs of sender and ps, the longest first.
    """
    by_link: dict[int, list[tuple[int, int]]] = {}
    for (waited, link, sender), ps in found.items():
        if waited == job:
            by_link.setdefault(link, []).append((sender, ps))
    rows = [
        {
            "link": link,
            "behind_ps": sum(ps for _, ps in senders),
            "jobs": sorted(senders, key=lambda one: (-one[1], one[0])),
        }
        for link, senders in by_link.items()
    ]
    return sorted(rows, key=lambda row: (-int(str(row["behind_ps"])), row["link"]))
