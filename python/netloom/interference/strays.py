"""Bytes of nobody: what hosts send and receive while no run of the list is on them.

A run that accounting does not list is somebody's neighbour too, as is a file system's server. Counters show
its bytes: those of hosts' links, in intervals in no part of which a listed run was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netloom.interference.accounts import Array, Carried, JobRun

_LEAST = 1e-3
"""Of the time on a host's link: below that it is what daemons send."""
_MOST = 512
"""Hosts that are looked at for a run: those with the most bytes."""


@dataclass(frozen=True)
class Strays:
    """By interval and host.

    Attributes
    ----------
    carried : Carried
        Its intervals.
    sent, received : array of float
        Bytes, 0 where a run of the list was there.
    receiving : array of int
        By host, the link to it.
    """

    carried: Carried
    sent: Array
    received: Array
    receiving: np.ndarray

    @classmethod
    def of(cls, runs: Sequence[JobRun], carried: Carried, receiving: np.ndarray) -> Strays:
        """Of all that no run of the list accounts for."""
        free = np.ones((len(carried.bytes), len(receiving)), dtype=bool)
        for run in runs:
            here = np.flatnonzero((carried.start_s < run.end_s) & (carried.end_s > run.start_s))
            free[np.ix_(here, run.hosts)] = False
        # A host's own link has its number.
        sent = np.where(free, carried.bytes[:, : len(receiving)], 0.0)
        return cls(carried, sent, np.where(free, carried.bytes[:, receiving], 0.0), receiving)

    @property
    def percent(self) -> float:
        """How much of all that hosts send it is."""
        whole = float(self.carried.bytes[:, : len(self.receiving)].sum())
        return 100 * float(self.sent.sum()) / whole if whole else 0.0

    def during(self, run: JobRun, rate: float) -> tuple[list[int], Array]:
        """The hosts that sent or received while a run was there, and by link the bytes of theirs."""
        total = np.zeros(self.carried.bytes.shape[1])
        part = self.carried.parts(run.start_s, run.end_s)
        here = np.flatnonzero(part)
        sent, received = (part[here] @ one[here] for one in (self.sent, self.received))
        hosts = np.flatnonzero(np.maximum(sent, received) > _LEAST * rate * run.seconds)
        if len(hosts) > _MOST:
            hosts = np.sort(hosts[np.argsort(-(sent + received)[hosts], kind="stable")[:_MOST]])
        total[hosts] = sent[hosts]
        total[self.receiving[hosts]] = received[hosts]
        return [int(host) for host in hosts], total
