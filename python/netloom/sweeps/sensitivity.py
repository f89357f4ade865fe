"""What matters: which share of a kept number's variance is each key's, in a sweep of design `sobol`.

The first-order index of a key is the share of the variance that goes if the key is known; the total index is
what stays if all others are (I. M. Sobol', Mathematics and Computers in Simulation 55, 2001). Estimators are
those of Saltelli et al. 2010, by SciPy's `sobol_indices`; intervals are of points drawn again with
replacement, 2.5 and 97.5 % of them cut off. What is run several times at a point (seeds) counts by its mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.sweeps.design import Design, sets_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 500
LEVEL = 0.95


def indices(
    design: Design,
    points: Sequence[Hashable],
    found: Mapping[Any, float],
    seed: Sequence[int],
) -> list[dict[str, Any]]:
    """The indices of every key of a design.

    Parameters
    ----------
    design : Design
        Of kind `sobol`.
    points : sequence
        Its points, in its order.
    found : mapping
        What was found at each.
    seed : sequence of int
        Of the resamples.

    Returns
    -------
    list of dict
        Of each key `name`, `first`, `first_low`, `first_high`, `total`, `total_low`, `total_high`; empty
        where a point is missing, or nothing varies.
    """
    import numpy as np

    if any(point not in found for point in points):
        return []
    values = [found[point] for point in points]
    first, second, mixed = (np.asarray(one, dtype=np.float64) for one in sets_of(design, values))
    if np.ptp(np.concatenate([first, second])) == 0.0:
        return []
    told = _indices(first, second, mixed)
    rng = np.random.default_rng([*seed])
    again = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(0, design.samples, design.samples)
        if np.ptp(np.concatenate([first[drawn], second[drawn]])) > 0.0:
            again.append(_indices(first[drawn], second[drawn], mixed[:, drawn]))
    low, high = np.quantile(np.asarray(again), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [
        {
            "name": name,
            **{
                f"{word}{end}": float(one[kind, number])
                for kind, word in enumerate(("first", "total"))
                for end, one in (("", told), ("_low", low), ("_high", high))
            },
        }
        for number, name in enumerate(design.ranges)
    ]


def _indices(
    first: NDArray[np.float64], second: NDArray[np.float64], mixed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """First-order indices, and total ones."""
    import numpy as np
    from scipy.stats import sobol_indices

    func = {"f_A": first[None, :], "f_B": second[None, :], "f_AB": mixed[:, None, :]}
    told = sobol_indices(func=func, n=len(first))
    return np.asarray([told.first_order.ravel(), told.total_order.ravel()])
