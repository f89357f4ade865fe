"""Cables that run slower than their siblings and hold a run up: `slow-cable`.

Which cables are slow the fabric tells (`netloom.health.siblings`). One is to blame if it is full, or packets
wait for it, and the fullest links, of all windows or of all of the run, would be done earlier with all cables
as fast as their siblings. Other routes may lead around such a cable; they are not the cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.evidence import LEAST_ROOT_SHARE
from netloom.diagnose.findings import Finding
from netloom.health.siblings import SlowCable, slow_cables
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.diagnose.evidence import Evidence

LEAST_GAIN = 0.1
"""Share of their time that the fullest links must win with all cables as fast as their siblings."""

SATURATED = 0.7
"""Utilisation of a slow cable from which on it is full."""

DELAYED_HOPS = 0.002
"""Congested hops a packet of some job from which on a slow cable that most of them wait for holds it up."""

FULLEST_SHARE = 0.9
"""Share of a window's fullest link from which on a cable is as full."""

_MOST_TOLD = 5
"""Cables that evidence names."""


class SlowLinks:
    """The slow cables of a fabric, by link of both directions.

    Parameters
    ----------
    fabric : Fabric
        As it runs.
    """

    def __init__(self, fabric: Fabric) -> None:
        nodes = Nodes(fabric)
        self.speed = np.asarray(fabric.link_table()["bandwidth_bytes_per_s"], dtype=np.float64)
        self.expected = self.speed.copy()
        self.cable: dict[int, SlowCable] = {}
        for one in slow_cables(fabric):
            for link in (one.link, nodes.back(one.link)):
                self.cable[link] = one
                self.expected[link] = one.expected_bytes_per_s
        self.links = np.array(sorted(self.cable), dtype=np.int64)
        self._labels = nodes

    def text(self, link: int) -> str:
        """`leaf1[5] -> spine1[5] runs at 2.00 GB/s, the other 17 cables of its stage at 12.50`."""
        cable = self.cable[link]
        older = " (its adapter may be an older one)" if cable.of_host else ""
        return f"{self._labels.link(link)} {cable.text}{older}"


def slow_cable(evidence: Evidence, slow: SlowLinks) -> Finding | None:
    """The slow cables that hold the run up, the one for which most waits first; None if none does."""
    if not len(slow.links):
        return None
    observed = evidence.observed
    # All of the run is a window too: where they differ by chance alone, it tells more.
    sent = np.vstack([observed.bytes, observed.bytes.sum(axis=0)])
    seconds = np.append(observed.seconds, observed.seconds.sum())[:, None]
    busy = sent / slow.speed / seconds
    fullest, restored = busy.max(axis=1), (sent / slow.expected / seconds).max(axis=1)
    share = evidence.weight[slow.links] / max(float(evidence.weight.sum()), 1e-9)
    full = (busy[:, slow.links] >= SATURATED).any(axis=0)
    waited = (share >= LEAST_ROOT_SHARE) & (evidence.harm.max(initial=0.0) >= DELAYED_HOPS)
    # Windows in which next to nothing is sent do not count.
    worth = fullest >= 0.5 * fullest.max(initial=0.0)
    first = (busy[:, slow.links] >= FULLEST_SHARE * fullest[:, None])[worth].any(axis=0)
    roots = slow.links[first & (full | waited)]
    by_windows = float(restored[:-1] @ observed.seconds) / max(float(fullest[:-1] @ observed.seconds), 1e-30)
    gain = 1.0 - min(by_windows, float(restored[-1]) / max(float(fullest[-1]), 1e-30))
    if not len(roots) or gain < LEAST_GAIN:
        return None
    roots = roots[np.lexsort((-busy[-1, roots], -evidence.weight[roots]))]
    return Finding(
        cause="slow-cable",
        confidence=min(1.0, 0.5 + gain),
        root_links=roots.tolist(),
        culprits=[],
        victims=evidence.victims(roots),
        remedy="replace the cable; until then lead around it (netloom optimize weighs it, --avoid drains it)",
        predicted_gain_percent=100 * gain,
        evidence=_told(roots.tolist(), slow),
    )


def _told(roots: list[int], slow: SlowLinks) -> list[str]:
    """Every cable once, by the direction for which most waits."""
    once: dict[int, str] = {}
    for link in roots:
        once.setdefault(slow.cable[link].link, slow.text(link))
    return list(once.values())[:_MOST_TOLD]
