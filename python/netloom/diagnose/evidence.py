"""A run's evidence, as causes ask for it: what waits for which root, and what of each link is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom.diagnose.findings import Finding
    from netloom.diagnose.ideal import Bounds
    from netloom.diagnose.observed import Floats, Ints, Observed

    Windows = npt.NDArray[np.bool_]

DELAYED_HOPS = 0.05
"""Congested hops a packet from which on a job is held up."""

LEAST_ROOT_SHARE = 0.25
"""Share of what holds a job, or all of them, up that roots must have to be worth a word."""


class Evidence:
    """[W, J, L] packets held up by root, and what of each link is whose."""

    def __init__(self, observed: Observed, harm: Floats, held: Floats, bounds: Bounds) -> None:
        self.observed, self.links, self.bounds = observed, observed.links, bounds
        self.harm, self.held = harm, held
        self.weight = np.maximum(held.sum(axis=(0, 1)), 0.0)
        #: [W, J, L] bytes
        self.of_job = observed.by_job(observed.traffic * observed.packet_bytes[None, :, None])
        self.relative = self.links.bytes_per_s / self.links.bytes_per_s.max()
        self._below: dict[int, Ints] = {}

    def windows_of(self, group: Ints) -> Windows:
        """Windows in which these roots held most up; all, where the trouble does not come and go."""
        held = np.maximum(self.held[:, :, group].sum(axis=(1, 2)), 0.0)
        windows = np.zeros(len(held), dtype=bool)
        windows[most(held, 0.7)] = True
        return windows if windows.mean() < 0.5 else np.ones_like(windows)

    def phases(self, finding: Finding) -> list[str]:
        """Phases of the culprit with a fifth or more of its congested packets there, the most first."""
        if not finding.culprits:
            return []
        own = np.flatnonzero(self.observed.job_of == finding.culprits[0])
        switches = np.unique(self.links.source[finding.root_links])
        tree = np.isin(self.links.target, switches)
        tree[finding.root_links] = True
        sums = np.maximum(self.observed.congested[:, own][:, :, tree].sum(axis=(0, 2)), 0)
        if len(own) < 2 or sums.sum() <= 0:
            return []
        order = [k for k in np.argsort(-sums, kind="stable") if sums[k] >= 0.2 * sums.sum()]
        return [self.observed.contexts[own[k]].phase for k in order]

    def error(self, group: Ints, windows: Windows, everybody: Floats) -> Floats:
        """[G] standard errors of what all jobs together have of each root, in bytes.

        Few packets sampled say too little of their own error: it is at least what it would be if the jobs
        had sent all that ports counted.
        """
        observed = self.observed
        squares = (observed.traffic_error[windows] * observed.packet_bytes[None, :, None]) ** 2
        of_byte = squares.sum() / max(self.of_job[windows].sum(), 1e-9)
        own = squares[:, :, group].sum(axis=(0, 1))
        return np.asarray(np.sqrt(np.maximum(own, of_byte * everybody)), dtype=np.float64)

    def at_hosts(self, job: int, windows: Windows) -> tuple[Floats, float]:
        """[H] bytes that came to each host, and what each would get if those that take part got the same."""
        observed, links = self.observed, self.links
        if len(observed.received.window):
            matrix = observed.matrix(windows, job)
            sent, came = (np.asarray(matrix.sum(axis=axis), dtype=np.float64).ravel() for axis in (1, 0))
        else:
            carried = self.of_job[windows].sum(axis=0)[job]
            sent, came = np.zeros(links.hosts), np.zeros(links.hosts)
            sent[links.source[links.from_host]] = carried[links.from_host]
            came[links.target[links.to_host]] = carried[links.to_host]
        return came, float(came.sum() / max((sent > 0).sum(), (came > 0).sum(), 1))

    def whose(self, group: Ints, windows: Windows) -> Ints:
        """[G] the job that has most of each root."""
        return np.asarray(self.of_job[windows][:, :, group].sum(axis=0).argmax(axis=0))

    def below(self, switch: int) -> Ints:
        """Hosts that are reached from a switch by links that lead down."""
        if switch in self._below:
            return self._below[switch]
        links = self.links
        reached = np.zeros(links.nodes, dtype=bool)
        reached[switch] = True
        for _ in range(int(links.level.max(initial=0)) + 1):
            reached[links.target[links.down & reached[links.source]]] = True
        self._below[switch] = np.flatnonzero(reached[: links.hosts])
        return self._below[switch]

    def hosts_of(self, job: int) -> str:
        """In words."""
        alone = len(self.observed.jobs) == 1
        return "the job's hosts" if alone else f"the hosts of {self.observed.jobs[job]}"

    def victims(self, roots: Ints) -> list[int]:
        """Jobs that are held up, and by these roots to a good part."""
        held = np.maximum(self.held.sum(axis=0), 0.0)
        here = held[:, roots].sum(axis=1) >= LEAST_ROOT_SHARE * held.sum(axis=1)
        return [int(job) for job in np.flatnonzero((self.harm >= DELAYED_HOPS) & here)]


def most(values: Floats, share: float) -> Ints:
    """The fewest places that have this share of all, the largest first."""
    order = np.argsort(-values, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(values[order]), share * values.sum())) + 1]
