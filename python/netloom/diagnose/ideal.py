"""What the fullest link would carry at best: with other routes, with a job's ranks in other places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom import _core
from netloom.diagnose.remap import better_places

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse import csr_array

    from netloom._core import Fabric, Traffic
    from netloom.diagnose.observed import Observed

    Mappings = Callable[[int], Mapping[str, Traffic]]


@dataclass(frozen=True)
class Moved:
    """The best that other places of a job's ranks would do."""

    share: float
    """What the fullest link would carry of what it does with ranks as they are, routes ideal in both."""
    places: dict[int, int] | None = None
    """Which host's ranks had better be on which."""
    mapping: str | None = None
    """Or how they had better be mapped."""


def no_mappings(_job: int) -> dict[str, Traffic]:
    """None to compare with."""
    return {}


def spread(fabric: Fabric, matrix: csr_array) -> float:
    """Bytes of the fullest link if every packet could take any shortest way: the AR bound."""
    traffic = _core.Traffic.from_scipy(matrix, hosts_hash=fabric.hosts_hash)
    return _core.loads(fabric, "minhop", traffic, threads=1).ar_bound


class Bounds:
    """What could be had at best, of what receivers know. It is exact, and asked for once."""

    def __init__(self, observed: Observed, mappings: Mappings) -> None:
        self._observed, self._mappings = observed, mappings
        self._spread: dict[bytes, float] = {}
        self._moved: dict[int, Moved] = {}

    def spread(self, windows: npt.NDArray[np.bool_] | None = None) -> float:
        """Bytes of the fullest link if all ways were used evenly, in some windows or all of them."""
        if windows is None:
            windows = np.ones(len(self._observed.seconds), dtype=bool)
        key = windows.tobytes()
        if key not in self._spread:
            found = spread(self._observed.fabric, self._observed.matrix(windows))
            self._spread[key] = max(found, 1e-9)
        return self._spread[key]

    def moved(self, job: int) -> Moved:
        """Hosts' ranks changed about, or all ranks by a mapping that has a name."""
        if job not in self._moved:
            self._moved[job] = self._best(job)
        return self._moved[job]

    def _best(self, job: int) -> Moved:
        if not len(self._observed.received.window):
            return Moved(1.0)
        best = _changed_about(self._observed, job, self.spread())
        # The program's own traffic is compared with itself, as it is mapped now.
        fabric, sent = self._observed.fabric, self._mappings(job)
        named = {word: spread(fabric, traffic.to_scipy()) for word, traffic in sent.items()}
        as_mapped = named.pop("", 0.0)
        word = min(named, key=lambda word: named[word], default=None)
        if word is not None and as_mapped > 0 and named[word] / as_mapped < best.share:
            return Moved(named[word] / as_mapped, mapping=word)
        return best


def _changed_about(observed: Observed, job: int, today: float) -> Moved:
    always = np.ones(len(observed.seconds), dtype=bool)
    everything, own = observed.matrix(always), observed.matrix(always, job)
    hosts = observed.hosts[job]
    leaf_of = np.asarray(observed.fabric.host_table()["leaf"], dtype=np.int64)
    places = better_places(own, hosts, leaf_of)
    if places is None:
        return Moved(1.0)
    to = np.arange(observed.links.hosts)
    to[hosts] = places
    pairs = own.tocoo()
    changed = type(pairs)((pairs.data, (to[pairs.row], to[pairs.col])), shape=pairs.shape).tocsr()
    others = everything - own
    others.data = np.maximum(others.data, 0)
    share = spread(observed.fabric, others + changed) / today
    return Moved(share, dict(zip(hosts.tolist(), places.tolist(), strict=True)))
