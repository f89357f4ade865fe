"""Congestion followed downstream, switch by switch, to the links that are full: the roots of the trees.

A packet that finds no credits at the end of a link says that the switch there is backed up. What backs it up
is one of its outputs: one that is congested itself, and then the blame goes on downstream, or one that is
full, and then it is a root ("severe congestion before, lighter congestion but high utilisation after",
sec. 2.3.4). Up*/down* ways have no circles, so a charge ends after as many steps as a way has links.

Source: Taffet, dissertation, sec. 2.3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom.diagnose.observed import Floats, Ints, Links, Observed

CONGESTED_SHARE = 0.25
"""Share of a link's packets from which on it passes the blame on."""

ROOT_UTILISATION = 0.55
"""Share of the fullest link's utilisation from which on a link can be a root: inputs that wait in line leave
outputs idle."""

STANDARD_ERRORS = 2.0
"""Standard errors that a link's traffic must have to pass blame on."""

ROOT_SHARE = 0.85
"""A root is that near to the fullest of the switch's outputs."""


@dataclass(frozen=True)
class Blame:
    """Congested packets by the link that is to blame for them. W windows, J jobs, L links."""

    roots: Floats
    """[W, J, L] whose packets were held up, by root."""
    lost: Floats
    """[W, J] those for which no output is full: passing collisions."""


def blame(observed: Observed) -> Blame:
    """Follows every congested packet to a root, window by window."""
    links = observed.links
    traffic, congested = observed.by_job(observed.traffic), observed.by_job(observed.congested)
    job_errors = np.sqrt(observed.by_job(observed.traffic_error**2))
    errors = np.sqrt((job_errors**2).sum(axis=1))
    roots = np.zeros_like(traffic)
    lost = np.zeros(traffic.shape[:2])
    depth = 2 * int(links.level.max(initial=0)) + 3
    for window in range(len(observed.seconds)):
        carried, held = traffic[window].sum(axis=0), np.maximum(congested[window].sum(axis=0), 0.0)
        known = carried > STANDARD_ERRORS * errors[window]
        fraction = np.divide(held, carried, out=np.zeros_like(held), where=known)
        # Of the fullest link of all: where there is congestion, that was full at some time of the window.
        used = observed.utilisation[window]
        used = used / max(float(used.max()), 1e-9)
        fullest = np.zeros(links.nodes)
        np.maximum.at(fullest, links.source, used)
        passes = (fraction >= CONGESTED_SHARE) & ~links.to_host
        busy = (used >= ROOT_UTILISATION) & ~links.from_host
        full = ~passes & (used >= ROOT_UTILISATION) & (used >= ROOT_SHARE * fullest[links.source])
        # By what ports counted: others than the jobs that were sampled may have filled it.
        weight = observed.bytes[window] * np.where(passes, fraction, np.where(full, used, 0.0))
        # What came down goes on down; what came up goes anywhere.
        ways = [
            _Outputs.of(weight * down, traffic[window] > STANDARD_ERRORS * job_errors[window], links)
            for down in (links.down, 1.0)
        ]
        # Estimates below zero are charged too: noise of both signs cancels.
        charge = congested[window].copy()
        for _ in range(depth):
            given = np.zeros_like(charge)
            for outputs, came in zip(ways, (links.down, ~links.down), strict=True):
                arrived = charge * came
                # Nothing beyond is to blame: then it is the link itself, if it is full.
                ends = arrived * ~outputs.any[links.target]
                roots[window] += ends * busy
                lost[window] += (ends * ~busy).sum(axis=1)
                at_switch = np.stack([_sums(of_job, links.target, links.nodes) for of_job in arrived])
                given += at_switch[:, links.source] * outputs.share
            roots[window] += given * full
            charge = given * passes
            if not charge.any():
                break
    return Blame(roots, lost)


@dataclass(frozen=True)
class _Outputs:
    """How what waits at a switch is shared among its outputs."""

    any: npt.NDArray[np.bool_]
    """[N] whether some output is to blame."""
    share: Floats
    """[J, L] of what waits at a link's source. A job waits for outputs that it uses itself, if there are
    such; else behind others' packets."""

    @staticmethod
    def of(weight: Floats, used: npt.NDArray[np.bool_], links: Links) -> _Outputs:
        own = weight[None, :] * used
        anybody = _sums(weight, links.source, links.nodes)
        totals = np.stack([_sums(of_job, links.source, links.nodes) for of_job in own])
        weights = np.where((totals > 0)[:, links.source], own, weight[None, :])
        totals = np.where(totals > 0, totals, anybody[None, :])[:, links.source]
        return _Outputs(anybody > 0, np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0))


def _sums(values: Floats, at: Ints, nodes: int) -> Floats:
    """[N] values added up by node."""
    return np.asarray(np.bincount(at, weights=values, minlength=nodes))
