"""The links at which packets wait most, whether or not anything is to blame for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom.diagnose.observed import Observed

LEAST_WAITING_SHARE = 0.1
"""Links of which a smaller share waits, or that are less full, are not told."""
STANDARD_ERRORS = 3.0
"""A share that is no more than so many of its standard errors is none."""
LEAST_UTILISATION = 0.8
"""Where waiting is not known: how full a link is that is told."""


@dataclass(frozen=True)
class HotLink:
    """A link at which packets wait.

    Attributes
    ----------
    link : int
        Its number.
    waiting : float or None
        Share of its packets that found a queue longer than its credits, over all windows; None where that is
        not known.
    utilisation : float
        Its bytes over what fits through it.
    """

    link: int
    waiting: float | None
    utilisation: float


def hot_links(observed: Observed, most: int = 5) -> list[HotLink]:
    """Returns the links at which the largest share of the packets waits, the worst first; at most `most`."""
    capacity = observed.links.bytes_per_s * observed.seconds.sum()
    utilisation = observed.bytes.sum(axis=0) / capacity
    if not observed.waiting_known:
        order = np.argsort(-utilisation, kind="stable")[:most]
        full = [int(link) for link in order if utilisation[link] >= LEAST_UTILISATION]
        return [HotLink(link, None, float(utilisation[link])) for link in full]
    packets = observed.traffic.sum(axis=(0, 1))
    waited = observed.congested.sum(axis=(0, 1))
    error = np.sqrt((observed.congested_error**2).sum(axis=(0, 1)))
    known = (packets > 0) & (waited > STANDARD_ERRORS * error)
    share = np.where(known, np.clip(waited / np.where(known, packets, 1.0), 0.0, 1.0), 0.0)
    # Of a link that next to nobody uses a large share says nothing.
    weight = np.where(share >= LEAST_WAITING_SHARE, share * packets, 0.0)
    used = weight >= weight.max(initial=0.0) / 20
    waits = sorted(
        np.flatnonzero((share >= LEAST_WAITING_SHARE) & used), key=lambda link: (-share[link], link)
    )
    return [HotLink(int(link), float(share[link]), float(utilisation[link])) for link in waits[:most]]
