"""A sweep's table by group: means with their intervals, and medians.

**Draws.** What `by` leaves out is taken as drawn. Runs that agree in all of it but the seed are one draw, a
cluster: forty seeds of each of five patterns say little more of all patterns than five numbers do. A key
along which no value changes draws nothing, and is left aside. Where the seed alone is left, each seed is a
draw. The sweep's `cluster` says otherwise.

Invariant: an interval depends on the seed, its group, its key and the values, not on other groups.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom import intervals
from netloom.sweeps.spec import ROUTES, SEED, Spec

if TYPE_CHECKING:
    import pyarrow as pa


def default_by(spec: Spec) -> tuple[str, ...]:
    """What a summary is grouped by if nothing is said: all that varies but the seed and points, and jobs."""
    points = spec.design.ranges if spec.design is not None else ()
    return (*(key for key in spec.varied if key not in (SEED, ROUTES, *points)), "routing", "job")


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
        `by`, `runs`, `failed`, and `values`: of every key `n` values, `draws` and `cluster` (what a draw is,
        None: a value), `mean`, `median`, `low`, `high` and `no_interval` (why these are None).
    """
    by = spec.by if spec.by is not None else default_by(spec)
    left = tuple(name for name in spec.columns if name not in by and name in table.column_names)
    names = dict.fromkeys((*by, *left, *(spec.cluster or ()), "job", "run", "error"))
    columns = {name: table[name].to_pylist() for name in names}
    kept = numbers(table, spec)
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
    found = []
    for group, rows in members.items():
        told = {}
        for key in kept:
            known = [at for at in rows if values[key][at] is not None]
            cluster = spec.cluster or _cluster(left, columns, known, values[key])
            told[key] = _told(known, columns, values[key], cluster, [seed, _mark(by, group, key)])
        found.append(
            {
                "by": dict(zip(by, group, strict=True)),
                "runs": len({columns["run"][at] for at in rows}),
                "failed": failed.get(_without_job(by, group), 0),
                "values": told,
            }
        )
    return found


def sensitivity(table: pa.Table, spec: Spec, seed: int) -> list[dict[str, Any]]:
    """What matters, by group and kept number: the variance shares of a design's keys.

    Parameters
    ----------
    table : pyarrow.Table
        As `Store.merge` returns it.
    spec : Spec
        The sweep.
    seed : int
        Of the resamples.

    Returns
    -------
    list of dict
        `by`, `key` and `indices` (as `netloom.sweeps.sensitivity.indices`); empty unless the design is
        `sobol`.
    """
    if spec.design is None or spec.design.kind != "sobol":
        return []
    from netloom.sweeps.sensitivity import indices

    by, names = spec.by if spec.by is not None else default_by(spec), list(spec.design.ranges)
    points = list(zip(*(spec.paired[name] for name in names), strict=True))
    columns = {name: table[name].to_pylist() for name in dict.fromkeys((*by, *names, "error"))}
    found = []
    for key in numbers(table, spec):
        cells: dict[tuple[Any, ...], dict[tuple[Any, ...], list[float]]] = {}
        for at, value in enumerate(table[key].to_pylist()):
            if columns["error"][at] is None and value is not None:
                group = tuple(columns[name][at] for name in by)
                point = tuple(columns[name][at] for name in names)
                cells.setdefault(group, {}).setdefault(point, []).append(float(value))
        for group, some in cells.items():
            means = {point: math.fsum(values) / len(values) for point, values in some.items()}
            shares = indices(spec.design, points, means, [seed, _mark(by, group, key)])
            found.append({"by": dict(zip(by, group, strict=True)), "key": key, "indices": shares})
    return found


def numbers(table: pa.Table, spec: Spec) -> list[str]:
    """The kept keys that are numbers."""
    import pyarrow as pa

    kinds = {key: table.schema.field(key).type for key in spec.keep}
    return [key for key, kind in kinds.items() if pa.types.is_integer(kind) or pa.types.is_floating(kind)]


def _cluster(
    left: Sequence[str], columns: Mapping[str, Sequence[Any]], rows: Sequence[int], values: Sequence[Any]
) -> tuple[str, ...]:
    """The keys that make a draw, of those that the groups leave out."""
    moving = list(left)
    for key in sorted(left, key=lambda name: name != SEED):
        others = [name for name in moving if name != key]
        first: dict[tuple[Any, ...], Any] = {}
        if all(
            first.setdefault(tuple(columns[name][at] for name in (*others, "job")), values[at]) == values[at]
            for at in rows
        ):
            moving = others
    return tuple(key for key in moving if key != SEED) or tuple(moving)


def _without_job(by: Sequence[str], group: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in zip(by, group, strict=True) if name != "job")


def _mark(by: Sequence[str], group: Sequence[Any], key: str) -> int:
    return zlib.crc32(repr((by, group, key)).encode())


def _told(
    rows: Sequence[int],
    columns: Mapping[str, Sequence[Any]],
    values: Sequence[Any],
    cluster: Sequence[str],
    seed: Sequence[int],
) -> dict[str, Any]:
    import numpy as np

    known = [float(values[at]) for at in rows]
    # Without a key that changes anything, all runs are one draw.
    draws = intervals.cluster_means(known, [tuple(columns[name][at] for name in cluster) for at in rows])
    if not known:
        mean = median = None
        bounds = intervals.Interval(None, None, "few")
    else:
        ordered = np.sort(np.asarray(known))
        mean, median = float(ordered.mean()), float(np.median(ordered))
        tied = len(known) >= intervals.LEAST and ordered[0] == ordered[-1]
        bounds = intervals.mean(known if tied else draws, seed)
    return {
        "n": len(known),
        "draws": len(draws),
        "cluster": list(cluster) if len(draws) < len(known) else None,
        "mean": mean,
        "median": median,
        "low": bounds.low,
        "high": bounds.high,
        "no_interval": bounds.reason,
    }
