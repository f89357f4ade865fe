"""What the fullest link would carry at best: with other routes, with a job's ranks in other places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom import _core
from netloom.diagnose.remap import better_places

if TYPE_CHECKING:
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


def moved(observed: Observed, job: int, mappings: Mappings, today: float) -> Moved:
    """Hosts' ranks changed about by what receivers know, or all ranks by a mapping that has a name.

    `today` is the `spread` of all that was received, in bytes.
    """
    best = _changed_about(observed, job, today)
    # The program's own traffic is compared with itself, as it is mapped now.
    named = {word: spread(observed.fabric, traffic.to_scipy()) for word, traffic in mappings(job).items()}
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
    if places is None or today <= 0:
        return Moved(1.0)
    to = np.arange(observed.links.hosts)
    to[hosts] = places
    pairs = own.tocoo()
    changed = type(pairs)((pairs.data, (to[pairs.row], to[pairs.col])), shape=pairs.shape).tocsr()
    others = everything - own
    others.data = np.maximum(others.data, 0)
    share = spread(observed.fabric, others + changed) / today
    return Moved(share, dict(zip(hosts.tolist(), places.tolist(), strict=True)))
