"""Bytes of nobody: what hosts send and receive while no run of the list is on them.

A run that accounting does not list is somebody's neighbour too, as is a file system's server. Counters show
its bytes: those of hosts' links, in intervals in no part of which a run of the list was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom.interference.accounts import Array, Carried, JobRun

_LEAST = 1e-3
"""Of the time on a host's link: below that it is what daemons send."""
_MOST = 512
"""Hosts of no run that are looked at for a run: those with the most bytes."""


@dataclass(frozen=True)
class Presence:
    """By interval and host.

    Attributes
    ----------
    carried : Carried
        Its intervals.
    runs : array of int
        How many of the list were there, at least for a part of it.
    receiving : array of int
        By host, the link to it.
    """

    carried: Carried
    runs: npt.NDArray[np.uint16]
    receiving: npt.NDArray[np.int64]

    @classmethod
    def of(cls, runs: Sequence[JobRun], carried: Carried, receiving: npt.NDArray[np.int64]) -> Presence:
        """Of all runs of a list."""
        there = np.zeros((len(carried.bytes), len(receiving)), dtype=np.uint16)
        for run in runs:
            here = np.flatnonzero((carried.start_s < run.end_s) & (carried.end_s > run.start_s))
            there[np.ix_(here, np.array(run.hosts))] += 1
        return cls(carried, there, receiving)

    def unlisted_percent(self) -> float:
        """How much of all that hosts sent was sent while no run of the list was on them."""
        # A host's own link has its number.
        sent = self.carried.bytes[:, : len(self.receiving)]
        whole = float(sent.sum())
        return 100 * float(sent[self.runs == 0].sum()) / whole if whole else 0.0

    def unlisted(self, run: JobRun, rate: float) -> tuple[list[int], Array]:
        """Hosts without runs that sent or received in a run's time, and the bytes of their links.

        `rate` is a link's, bytes/s.
        """
        part = self.carried.parts(run.start_s, run.end_s)
        here = np.flatnonzero(part)
        free = part[here, None] * (self.runs[here] == 0)
        sent = (free * self.carried.bytes[here, : len(self.receiving)]).sum(axis=0)
        received = (free * self.carried.bytes[np.ix_(here, self.receiving)]).sum(axis=0)
        hosts = np.flatnonzero(np.maximum(sent, received) > _LEAST * rate * run.seconds)
        if len(hosts) > _MOST:
            hosts = np.sort(hosts[np.argsort(-(sent + received)[hosts], kind="stable")[:_MOST]])
        total = np.zeros(self.carried.bytes.shape[1])
        total[hosts] = sent[hosts]
        total[self.receiving[hosts]] = received[hosts]
        return hosts.tolist(), total
