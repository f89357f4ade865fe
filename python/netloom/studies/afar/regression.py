"""Times of a job's steps told from what the links of its switches counted: the paper's regression.

**Features** of a step: by virtual lane the sum, the mean and the maximum of what the ports of the job's
switches have sent, and of how long they have waited.

**L + S.** The samples' matrix of features, each with mean 0 and variance 1, is taken apart into a low-rank
part and a sparse one (principal component pursuit: least |L|_* + |S|_1 / sqrt(samples), by augmented Lagrange
multipliers). The paper does it before its folds, and so is it here: no time is used for it.

**Folds** are of whole runs: no run is in what a model learns and in what it is judged by.

Gradient-boosted trees with Huber's loss are scikit-learn's, as they come. Numbers of threads change nothing:
the linear algebra has one, and so have the trees.

Sources: Smith et al., SC 2018, sec. IV-D; Candes, Li, Ma, Wright, *Robust principal component analysis?*,
J. ACM 58 (2011), and Lin, Chen, Ma, arXiv:1009.5055, algorithm 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from netloom import extras
from netloom.errors import ArgumentError

if TYPE_CHECKING:
    pass

Array = npt.NDArray[np.float64]
Kind = Literal["X", "L", "S"]
KINDS: tuple[Kind, ...] = ("X", "L", "S")
"""The features, their low-rank part, their sparse part."""
FOLDS = 10
_WHOLE_LINK = 255
"""The lane of rows that are of all lanes together."""
_TOLERANCE, _ITERATIONS = 1e-7, 1000
"""Of |X - L - S| / |X|; no decomposition here took a tenth as many."""


@dataclass(frozen=True)
class Samples:
    """Steps of several runs of a job.

    Attributes
    ----------
    run : array of int
        Which run each of them is of.
    seconds : array of float
        How long it took.
    features : array of float
        By sample and feature.
    """

    run: npt.NDArray[np.int64]
    seconds: Array
    features: Array

    @classmethod
    def together(cls, some: Sequence[Samples]) -> Samples:
        """Those of several runs."""
        return cls(
            np.concatenate([one.run for one in some]),
            np.concatenate([one.seconds for one in some]),
            np.concatenate([one.features for one in some]),
        )


def of_intervals(intervals: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """`Simulation.intervals` as columns: start_s, end_s, link, lane, xmit_bytes, wait_s.

    Where lanes are counted, those of the whole link are left out; where they are not, the lane is 0.

    Parameters
    ----------
    intervals : mapping
    """
    lane = np.asarray(intervals["lane"]).astype(np.int64)
    used = lane != _WHOLE_LINK if (lane != _WHOLE_LINK).any() else np.ones(len(lane), dtype=bool)
    return {
        "start_s": np.asarray(intervals["start_ps"])[used] / 1e12,
        "end_s": np.asarray(intervals["end_ps"])[used] / 1e12,
        "link": np.asarray(intervals["link"])[used].astype(np.int64),
        "lane": lane[used] % _WHOLE_LINK,
        "xmit_bytes": np.asarray(intervals["xmit_bytes"])[used].astype(np.float64),
        "wait_s": np.asarray(intervals["wait_ticks"])[used] / 1e9,
    }


def features(
    counted: Mapping[str, npt.NDArray[Any]], links: npt.NDArray[np.int64], ends_s: Array, lanes: int
) -> Array:
    """The paper's features of every step of a run.

    Parameters
    ----------
    counted : mapping
        Columns, of `of_intervals`. Rows of links that counted nothing may be missing.
    links : array of int
        The directed links that leave the switches to which the job's hosts are cabled.
    ends_s : array of float
        When the steps ended; the first began at 0, each other one with the end of the one before. An
        interval that is partly in a step counts there with as large a part.
    lanes : int
        How many virtual lanes there are.

    Returns
    -------
    array of float
        By step; for bytes, then for seconds of waiting, for every lane sum, mean and maximum over the links.
    """
    place = np.full(int(max(links.max(initial=-1), counted["link"].max(initial=-1))) + 1, -1)
    place[links] = np.arange(len(links))
    used = (place[counted["link"]] >= 0) & (counted["lane"] < lanes)
    cell = place[counted["link"][used]] * lanes + counted["lane"][used]
    start, end = counted["start_s"][used], counted["end_s"][used]
    found = np.empty((len(ends_s), 2 * 3 * lanes))
    begins = np.concatenate([[0.0], ends_s[:-1]])
    for step, (low, high) in enumerate(zip(begins, ends_s, strict=True)):
        inside = np.flatnonzero((end > low) & (start < high))
        part = np.minimum(end[inside], high) - np.maximum(start[inside], low)
        part = part / (end[inside] - start[inside])
        columns = []
        for name in ("xmit_bytes", "wait_s"):
            weights = counted[name][used][inside] * part
            by = np.bincount(cell[inside], weights=weights, minlength=len(links) * lanes)
            by = by.reshape(len(links), lanes)
            columns.append(np.stack([by.sum(axis=0), by.mean(axis=0), by.max(axis=0)], axis=1).ravel())
        found[step] = np.concatenate(columns)
    return found


def split(matrix: Array) -> tuple[Array, Array]:
    """A matrix as a low-rank part and a sparse one.

    Parameters
    ----------
    matrix : array of float

    Returns
    -------
    tuple of array of float
        Low-rank and sparse; their sum is the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> ones = np.ones((20, 20))
    >>> odd = ones.copy()
    >>> odd[3, 5] = 9
    >>> low, sparse = split(odd)
    >>> bool(np.abs(low - ones).max() < 1e-4), round(float(sparse[3, 5]), 3)
    (True, 8.0)
    """
    norm = float(np.linalg.norm(matrix))
    if norm == 0:
        return matrix.copy(), np.zeros_like(matrix)
    weight = 1 / np.sqrt(max(matrix.shape))
    largest = float(np.linalg.norm(matrix, 2))
    dual = matrix / max(largest, float(np.abs(matrix).max()) / weight)
    sparse = np.zeros_like(matrix)
    penalty, most = 1.25 / largest, 1.25e7 / largest
    for _ in range(_ITERATIONS):
        left, values, right = np.linalg.svd(matrix - sparse + dual / penalty, full_matrices=False)
        low = (left * np.maximum(values - 1 / penalty, 0)) @ right
        rest = matrix - low + dual / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - weight / penalty, 0)
        missing = matrix - low - sparse
        dual = dual + penalty * missing
        penalty = min(1.5 * penalty, most)
        if np.linalg.norm(missing) <= _TOLERANCE * norm:
            break
    return low, matrix - low


def folds(runs: npt.NDArray[np.int64], count: int, seed: int) -> npt.NDArray[np.int64]:
    """Which fold tests each sample: runs are dealt out at random, and stay whole.

    Parameters
    ----------
    runs : array of int
        The run of every sample.
    count : int
        Of folds.
    seed : int

    Raises
    ------
    ArgumentError
        If there are fewer runs than folds.
    """
    names, index = np.unique(runs, return_inverse=True)
    if len(names) < count:
        raise ArgumentError(f"{len(names)} runs: expected at least {count}, one for each fold")
    dealt = np.empty(len(names), dtype=np.int64)
    dealt[np.random.default_rng([seed]).permutation(len(names))] = np.arange(len(names)) % count
    return dealt[index]


@dataclass(frozen=True)
class Predicted:
    """What the folds told.

    Attributes
    ----------
    relative : array of float
        By sample: its time over the least of all.
    fold : array of int
        Which of them tested it.
    by : dict
        By kind of features: what the fold's model, which has not seen its run, says of every sample.
    mean : array of float
        The same of a model that knows no counters: the mean of what is learnt from.
    rank, filled : int, float
        Of the low-rank part its rank, of the sparse one the share of entries that are not 0.
    """

    relative: Array
    fold: npt.NDArray[np.int64]
    by: dict[Kind, Array]
    mean: Array
    rank: int
    filled: float

    def errors(self, predicted: Array) -> Array:
        """The mean squared error of every fold."""
        squares = (predicted - self.relative) ** 2
        return np.bincount(self.fold, weights=squares) / np.bincount(self.fold)


def predict(samples: Samples, *, seed: int = 0, count: int = FOLDS) -> Predicted:
    """Tells every step's time by models that have not seen its run.

    Parameters
    ----------
    samples : Samples
    seed : int, default 0
        Of the folds and of the trees.
    count : int, default 10
        Of folds.

    Raises
    ------
    ArgumentError
        If there are fewer runs than folds.
    NotInstalledError
        Without scikit-learn.
    """
    extras.need("learn")
    from sklearn.ensemble import GradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    fold = folds(samples.run, count, seed)
    relative = samples.seconds / samples.seconds.min()
    spread = samples.features.std(axis=0)
    # A lane that nobody uses has no spread, and tells nothing.
    used = spread > 1e-12 * np.abs(samples.features).max(axis=0, initial=0.0)
    x = (samples.features[:, used] - samples.features[:, used].mean(axis=0)) / spread[used]
    # One thread: sums in another order could turn a tree's tie.
    with threadpool_limits(limits=1):
        low, sparse = split(x)
        by: dict[Kind, Array] = {}
        for kind, matrix in zip(KINDS, (x, low, sparse), strict=True):
            by[kind] = np.empty(len(relative))
            for test in range(count):
                model = GradientBoostingRegressor(loss="huber", random_state=seed)
                model.fit(matrix[fold != test], relative[fold != test])
                by[kind][fold == test] = model.predict(matrix[fold == test])
        rank = int(np.linalg.matrix_rank(low, tol=1e-6 * np.linalg.norm(x, 2)))
    mean = np.array([relative[fold != test].mean() for test in range(count)])[fold]
    filled = float((np.abs(sparse) > 1e-6).mean())
    return Predicted(relative, fold, by, mean, rank, filled)
