"""A sweep's table by group: means with their intervals, and medians.

**Draws.** What `by` leaves out is taken as drawn. Runs that agree in all of it but the seed are one draw, a
cluster: forty seeds of each of five patterns say little more of all patterns than five numbers do. A key
along which no value changes draws nothing, and is left aside. Where the seed alone is left, each seed is a
draw. Where values change along several keys (patterns and delays), their combinations are not independent,
and nothing says which key is the sample: there is no interval. The sweep's `cluster` says otherwise. Points
of `sobol` share values and depend on each other: of them there is no interval either.

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
        `by`, `runs`, `failed`, and `values`: of every key `n` values, `draws` (None: nobody knows how many)
        and `cluster` (what a draw is, None: a value), `mean`, `median`, `low`, `high` and `no_interval`
        (why these are None).
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
    # A run that failed names no job: where all of a group did, it had those of the others.
    ended = {_without_job(by, group) for group in members}
    jobs = list(dict.fromkeys(job for job in columns["job"] if job is not None)) if "job" in by else []
    for bare in failed:
        for job in (jobs or [None]) if bare not in ended else ():
            rest = iter(bare)
            members[tuple(job if name == "job" else next(rest) for name in by)] = []
    found = []
    for group, rows in members.items():
        told = {}
        for key in kept:
            known = [at for at in rows if values[key][at] is not None]
            reason: intervals.Reason | None = None
            cluster = spec.cluster
            if cluster is None:
                moving = _moving(spec, left, columns, known, values[key])
                cluster = tuple(name for keys in moving for name in keys)
                reason = "several" if len(moving) > 1 else None
                if not cluster and len({values[key][at] for at in known}) > 1:
                    cluster = tuple(name for name in left if name == SEED)
            if spec.design is not None and spec.design.kind == "sobol" and {*cluster} & {*spec.design.ranges}:
                reason = "points"
            told[key] = _told(known, columns, values[key], cluster, reason, [seed, _mark(by, group, key)])
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


def _moving(
    spec: Spec,
    left: Sequence[str],
    columns: Mapping[str, Sequence[Any]],
    rows: Sequence[int],
    values: Sequence[Any],
) -> list[tuple[str, ...]]:
    """What the groups leave out and values change along, but the seed: keys, and what varies together as one.

    Where no two runs differ in a key alone, it is taken to change them.
    """
    moving = []
    for keys in _together(spec, left, columns, rows):
        others = [name for name in left if name not in keys]
        first: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = {}
        alone = changes = False
        for at in rows:
            here = tuple(columns[name][at] for name in keys)
            rest = tuple(columns[name][at] for name in (*others, "job"))
            there, value = first.setdefault(rest, (here, values[at]))
            alone = alone or there != here
            changes = changes or value != values[at]
        if changes or (not alone and len({tuple(columns[name][at] for name in keys) for at in rows}) > 1):
            moving.append(keys)
    return moving


def _together(
    spec: Spec, left: Sequence[str], columns: Mapping[str, Sequence[Any]], rows: Sequence[int]
) -> list[tuple[str, ...]]:
    """Keys but the seed, those of a design's points as one, and those that tell the same runs apart."""
    ranges = spec.design.ranges if spec.design is not None else ()
    points = tuple(key for key in left if key in ranges)
    found: dict[tuple[int, ...], tuple[str, ...]] = {}
    for keys in ([points] if points else []) + [(key,) for key in left if key not in (SEED, *points)]:
        numbers: dict[tuple[Any, ...], int] = {}
        told = (tuple(columns[name][at] for name in keys) for at in rows)
        same = tuple(numbers.setdefault(one, len(numbers)) for one in told)
        found[same] = (*found.get(same, ()), *keys)
    return list(found.values())


def _without_job(by: Sequence[str], group: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in zip(by, group, strict=True) if name != "job")


def _mark(by: Sequence[str], group: Sequence[Any], key: str) -> int:
    return zlib.crc32(repr((by, group, key)).encode())


def _told(
    rows: Sequence[int],
    columns: Mapping[str, Sequence[Any]],
    values: Sequence[Any],
    cluster: Sequence[str],
    reason: intervals.Reason | None,
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
        if reason is not None and len(known) >= intervals.LEAST and not tied:
            bounds = intervals.Interval(None, None, reason)
    return {
        "n": len(known),
        "draws": len(draws) if reason is None else None,
        "cluster": list(cluster) if reason is None and len(draws) < len(known) else None,
        "mean": mean,
        "median": median,
        "low": bounds.low,
        "high": bounds.high,
        "no_interval": bounds.reason,
    }
