"""A sweep's table by group: means with bootstrap intervals, and medians.

The interval is the bootstrap-t (Efron 1979; Hall, Annals of Statistics 16, 1988): of resamples with
replacement, the difference of their mean from the sample's in units of their own standard error; its
quantiles, turned round, bound the mean. Plain percentiles of resampled means are too narrow by
sqrt((n - 1) / n), and off to one side for skewed values. Runs of a group are taken as independent draws.

Invariant: an interval depends on the seed, its group, its key and the values, not on other groups.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netloom.sweeps.spec import ROUTES, SEED, Spec

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

METHOD = "bootstrap-t"
LEVEL = 0.95
RESAMPLES = 2000
LEAST = 5
"""Of fewer values there is no interval."""
_AT_ONCE = 2_000_000
"""Drawn numbers that are held at a time."""


def interval(values: Iterable[float], seed: Sequence[int]) -> tuple[float, float] | None:
    """The 95 % bootstrap-t interval of a mean.

    Parameters
    ----------
    values : iterable of float
        A sample.
    seed : sequence of int
        Of the resamples.

    Returns
    -------
    (float, float) or None
        Low and high; None of fewer than five values.

    Examples
    --------
    >>> interval([3.0, 3.0, 3.0, 3.0, 3.0], [0])
    (3.0, 3.0)
    """
    import numpy as np

    sample = np.sort(np.asarray(list(values), dtype=np.float64))
    n = len(sample)
    if n < LEAST:
        return None
    mean, error = float(sample.mean()), float(sample.std(ddof=1)) / n**0.5
    if sample[0] == sample[-1] or error == 0.0:
        return mean, mean
    studentised = _resampled(sample, mean, np.random.default_rng([*seed]))
    lower, upper = np.quantile(studentised, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean - float(upper) * error, mean - float(lower) * error


def _resampled(sample: NDArray[np.float64], mean: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Studentised means of resamples; those whose values are all alike have none, and are left out."""
    import numpy as np

    n = len(sample)
    found = []
    step = max(1, _AT_ONCE // n)
    for first in range(0, RESAMPLES, step):
        drawn = sample[rng.integers(0, n, (min(step, RESAMPLES - first), n))]
        error = drawn.std(axis=1, ddof=1) / n**0.5
        some = error > 0.0
        found.append((drawn.mean(axis=1)[some] - mean) / error[some])
    return np.concatenate(found)


def default_by(spec: Spec) -> tuple[str, ...]:
    """What a summary is grouped by if nothing is said: all that varies but the seed, and jobs."""
    return (*(key for key in spec.varied if key not in (SEED, ROUTES)), "routing", "job")


def groups(table: pa.Table, spec: Spec, seed: int) -> list[dict[str, Any]]:
    """The groups of a table, in its order (those without a run that ended last), with kept numbers.

    Parameters
    ----------
    table : pyarrow.Table
        As `Store.merge` returns it.
    spec : Spec
        The sweep: what is kept, what is grouped by.
    seed : int
        Of the resamples.

    Returns
    -------
    list of dict
        `by`, `runs`, `failed`, and `values`: of every key `n`, `mean`, `median`, `low` and `high`.
    """
    import pyarrow as pa

    by = spec.by if spec.by is not None else default_by(spec)
    columns = {name: table[name].to_pylist() for name in dict.fromkeys((*by, "run", "error"))}
    kept = [
        key
        for key in spec.keep
        if pa.types.is_integer(kind := table.schema.field(key).type) or pa.types.is_floating(kind)
    ]
    values = {key: table[key].to_pylist() for key in kept}
    members: dict[tuple[Any, ...], list[int]] = {}
    failed: dict[tuple[Any, ...], int] = {}
    for at, error in enumerate(columns["error"]):
        group = tuple(columns[name][at] for name in by)
        if error is None:
            members.setdefault(group, []).append(at)
        else:
            failed[_without_job(by, group)] = failed.get(_without_job(by, group), 0) + 1
    # A run that failed has no jobs; where all did, their group is told all the same.
    ended = {_without_job(by, group) for group in members}
    for bare in failed:
        if bare not in ended:
            rest = iter(bare)
            members[tuple(None if name == "job" else next(rest) for name in by)] = []
    return [
        {
            "by": dict(zip(by, group, strict=True)),
            "runs": len({columns["run"][at] for at in rows}),
            "failed": failed.get(_without_job(by, group), 0),
            "values": {
                key: _told([values[key][at] for at in rows], [seed, _mark(by, group, key)]) for key in kept
            },
        }
        for group, rows in members.items()
    ]


def _without_job(by: Sequence[str], group: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in zip(by, group, strict=True) if name != "job")


def _mark(by: Sequence[str], group: Sequence[Any], key: str) -> int:
    return zlib.crc32(repr((by, group, key)).encode())


def _told(values: Sequence[float | None], seed: Sequence[int]) -> dict[str, Any]:
    import numpy as np

    known = [float(value) for value in values if value is not None]
    if not known:
        return {"n": 0, "mean": None, "median": None, "low": None, "high": None}
    bounds = interval(known, seed)
    low, high = (None, None) if bounds is None else bounds
    ordered = np.sort(np.asarray(known))
    return {
        "n": len(known),
        "mean": float(ordered.mean()),
        "median": float(np.median(ordered)),
        "low": low,
        "high": high,
    }
