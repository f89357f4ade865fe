"""What other routes would gain, by the answer of `infer` and by what else it may be.

The measure is the worst link load (bytes over speed), summed over phases where traffic has several: what a
program pays that waits between them. `sure_gain` is the least gain over the answer and over samples of its
error; where the verdict is *not identifiable*, that of the worst traffic with the same sums by host.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Routes, Traffic

SAMPLES = 4
"""How many traffics near the answer are tried."""
MOST_ERROR = 1.0
"""The largest relative error that is sampled: what is less known is not known at all."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Gains in percent of what the routes in force would show.

    Attributes
    ----------
    gain : float
        By the answer.
    sure_gain : float
        At least, over all that was tried.
    mean_gain : float
        Mean over the answer and what is remembered of earlier rounds.
    others : tuple of float
        Gains of what is remembered, one by one.
    how : str
        What was compared, in words.
    """

    gain: float
    sure_gain: float
    mean_gain: float
    others: tuple[float, ...] = ()
    how: str = ""


Layers: TypeAlias = "Sequence[tuple[Traffic, float]]"
"""Traffic of phases, each with how often it comes."""


def predict(
    fabric: Fabric,
    present: Routes,
    proposed: Routes,
    layers: Layers,
    *,
    error_percent: float = 0.0,
    hose: Hose | None = None,
    others: Sequence[Layers] = (),
    seed: int = 0,
    samples: int = SAMPLES,
    threads: int = 0,
) -> Prediction:
    """What `proposed` routes gain over those in force.

    Parameters
    ----------
    fabric : Fabric
        The fabric.
    present, proposed : Routes
        Routes in force, and others.
    layers : sequence of (Traffic, float)
        The answer: one traffic, or those of phases with their weights.
    error_percent : float
        How far its pairs may be off.
    hose : Hose, optional
        Sums by host, if they are all that is known: then the worst traffic within them counts too.
    others : sequence
        Layers of earlier rounds that may come again.
    seed, samples : int
        Of the traffics near the answer.
    threads : int
        0 is one a core.
    """

    def gain(of: Layers) -> float:
        return percent_less(
            worst(fabric, present, of, threads=threads), worst(fabric, proposed, of, threads=threads)
        )

    by_answer = gain(layers)
    tried = [by_answer]
    if error_percent > 0:
        error = min(MOST_ERROR, error_percent / 100.0)
        tried += [
            gain([(traffic.perturbed(error, seed=seed + k), weight) for traffic, weight in layers])
            for k in range(samples)
        ]
    how = "worst link load" if len(layers) == 1 else f"worst link loads of {len(layers)} phases"
    if hose is not None:
        from netloom import _core

        before, after = (
            _core.hose_loads(fabric, routes, hose, threads=threads).max for routes in (present, proposed)
        )
        tried.append(percent_less(before, after))
        how += ", and of the worst traffic with the same sums"
    known = tuple(gain(other) for other in others)
    return Prediction(
        gain=by_answer,
        sure_gain=min(tried),
        mean_gain=sum((by_answer, *known)) / (1 + len(known)),
        others=known,
        how=how,
    )


def worst(fabric: Fabric, routes: Routes, layers: Layers, *, threads: int = 0) -> float:
    """The worst link load of routes, summed over phases with their weights."""
    from netloom import _core

    # Bounds are not asked for: no work is spent on them.
    return sum(
        weight * _core.loads(fabric, routes, traffic, threads=threads, work=0).max
        for traffic, weight in layers
    )


def percent_less(before: float, after: float) -> float:
    """By how many percent `after` is less than `before`; 0 where there was nothing."""
    return 100.0 * (before - after) / before if before > 0 else 0.0
