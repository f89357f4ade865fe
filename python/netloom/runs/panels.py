"""A run's folder as what is drawn of it: tables of links and intervals to tiers and strips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError
from netloom.interop import arrow_csv
from netloom.manifest import content
from netloom.reading import parquet
from netloom.runs.tiers import Panel, Strip, Tier, group_tiers, tiers

_MOST = 600
"""Columns of a strip; of more intervals, neighbours are one."""
_LINKS = ("from_level", "to_level", "switch", "alive", "bandwidth_bytes_per_s", "utilisation")
_GROUPS = ("from_group", "to_group")
"""Columns of links in a dragonfly or megafly, which has groups and no levels."""
_INTERVALS = ("start_ps", "end_ps", "link", "lane", "xmit_bytes")
_WHOLE = 255
"""The lane of a row that is about all lanes of a link."""
_QUEUES = ("time_ps", "level", "max_bytes")

Read: TypeAlias = Callable[[Path], bytes]
"""Reads a whole file."""
_Columns = dict[str, npt.NDArray[Any]]


def panel(
    read: Read, folder: Path, entry: Mapping[str, Any], longest_ms: float, note: Callable[[str], object] = str
) -> tuple[Panel, dict[str, Any]]:
    """Returns what is drawn of a routing, and what is told of it.

    Parameters
    ----------
    read : callable
        Reads a file of the run.
    folder : Path
        The run's.
    entry : mapping
        The routing's in the manifest.
    longest_ms : float
        Simulated time of the longest of the folder's runs: images show for how much of it links are busy.
    note : callable, optional
        Hears of what is not drawn.

    Raises
    ------
    FormatError
        If a table is not what `netloom simulate` wrote.
    """
    result = entry["result"]
    links = columns_of(read, folder, entry, "links", _LINKS, _GROUPS)
    if links is None:
        raise FormatError(f"{folder / entry['folder']}: has no table of links")
    alive = np.flatnonzero(links["alive"])
    below, above, column = (links[name][alive] for name in ("from_level", "to_level", "switch"))
    share = result["simulated_ms"] / longest_ms if longest_ms > 0 else 1.0
    busy = links["utilisation"][alive] * share
    if _GROUPS[0] in links:
        found = group_tiers(links[_GROUPS[0]][alive], links[_GROUPS[1]][alive], busy)
    else:
        found = tiers(below, above, column, busy)
    shown = [tier for tier, _ in found]
    # The tier of every link, for what was recorded over time; -1 for links that are not drawn.
    tier_of = np.full(len(links["alive"]), -1)
    for at, (_, members) in enumerate(found):
        tier_of[alive[members]] = at
    drawn = [alive[members] for _, members in found]
    strips, count = _strips(read, folder, entry, links, tier_of, drawn, note)
    # A job that starts over until another ends has no end of its own.
    completed = [job["completion_ms"] for job in result["jobs"] if job["completion_ms"] is not None]
    complete = max(completed, default=None) if result["stopped"] is None else None
    told = f"{result['simulated_ms']:.4g} ms, cut" if complete is None else f"{complete:.4g} ms"
    busiest = _busiest(shown)
    row = {
        "routing": entry["routing"],
        "completion_ms": complete,
        "max_link_utilisation": result["max_link_utilisation"],
        "busiest": None if busiest is None else busiest.name,
        "intervals": count,
    }
    return Panel(entry["routing"], told, shown, strips), row


def _busiest(shown: list[Tier]) -> Tier | None:
    return max(shown, key=lambda tier: float(np.nanmax(tier.busy, initial=0.0)), default=None)


def _strips(
    read: Read,
    folder: Path,
    entry: Mapping[str, Any],
    links: _Columns,
    tier_of: npt.NDArray[np.int64],
    members: Sequence[npt.NDArray[np.int64]],
    note: Callable[[str], object],
) -> tuple[list[Strip], int]:
    """Strips of what was recorded, and over how many intervals."""
    strips: list[Strip] = []
    count = 0
    intervals = columns_of(read, folder, entry, "intervals", _INTERVALS)
    if intervals is not None and len(intervals["link"]):
        edges, values = _busy(intervals, links, tier_of, [len(tier) for tier in members])
        count = len(edges) - 1
        names = ("busiest link", "mean of links")
        strips += [Strip(name, edges, of_tiers) for name, of_tiers in zip(names, values, strict=True)]
    queues = columns_of(read, folder, entry, "queue_levels", _QUEUES)
    if queues is not None and _GROUPS[0] in links:
        note("queues are recorded by level, and a fabric of groups has none: they are not drawn")
    elif queues is not None and _same_level(links):
        note("queues are recorded by level, and this fabric has none: they are not drawn")
    elif queues is not None and len(queues["time_ps"]):
        strips.append(_longest(queues, _level_rows(links, members), len(members)))
    elif queues is not None:
        # Nothing waited whenever it was looked: that is a strip too, of zeros.
        whole = np.array([0.0, entry["result"]["simulated_ms"]])
        strips.append(Strip("longest queue", whole, np.zeros((len(members), 1)), queue=True))
    return strips, count


def _busy(
    intervals: _Columns, links: _Columns, tier_of: npt.NDArray[np.int64], sizes: list[int]
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float64]]]:
    """Utilisation over time: edges in ms, then by tier and interval the largest and the mean over links."""
    if (intervals["lane"] == _WHOLE).any():
        whole = intervals["lane"] == _WHOLE
        intervals = {name: column[whole] for name, column in intervals.items()}
    start = intervals["start_ps"].astype(np.int64)
    length = int((intervals["end_ps"].astype(np.int64) - start).max())
    joined = -(-(1 + int(start.max()) // length) // _MOST)
    at = start // (length * joined)
    count = int(at.max()) + 1
    end = int(intervals["end_ps"].max())
    edges = (np.arange(count + 1) * length * joined).astype(np.float64)
    edges[-1] = end
    # Intervals that share a column add up.
    key, inverse = np.unique(intervals["link"].astype(np.int64) * count + at, return_inverse=True)
    carried = np.bincount(inverse, weights=intervals["xmit_bytes"])
    link, column = key // count, key % count
    fits = links["bandwidth_bytes_per_s"][link] * (edges[column + 1] - edges[column]) * 1e-12
    share = np.minimum(carried / np.maximum(fits, 1e-300), 1.0)
    most, sums = np.zeros((len(sizes), count)), np.zeros((len(sizes), count))
    drawn = tier_of[link] >= 0
    place = (tier_of[link][drawn], column[drawn])
    np.maximum.at(most, place, share[drawn])
    np.add.at(sums, place, share[drawn])
    return edges * 1e-9, [most, sums / np.maximum(np.array(sizes), 1)[:, None]]


def _longest(queues: _Columns, rows: Mapping[str, int], count: int) -> Strip:
    """The longest queue of every tier over time; a sample stands for the time since the one before it.

    `rows` has the tier of every level as the recording names it (`level 0 up`).
    """
    time = queues["time_ps"].astype(np.int64)
    apart = np.diff(np.unique(time))
    every = int(apart.min()) if len(apart) else max(int(time[0]), 1)
    joined = every * max(1, -(-int(time.max()) // (every * _MOST)))
    column = np.maximum(time - 1, 0) // joined
    tier = np.array([rows.get(str(level), -1) for level in queues["level"]])
    values = np.zeros((count, int(column.max()) + 1))
    np.maximum.at(values, (tier[tier >= 0], column[tier >= 0]), queues["max_bytes"][tier >= 0])
    edges = (np.arange(values.shape[1] + 1) * joined).astype(np.float64)
    return Strip("longest queue", edges * 1e-9, values, queue=True)


def _same_level(links: _Columns) -> bool:
    """Whether all switches are of one level, though cables join some: levels would be a guess."""
    first, last = (np.asarray(links[name]) for name in ("from_level", "to_level"))
    return bool(((first == 0) & (last == 0)).any() and max(first.max(), last.max()) == 0)


def _level_rows(links: _Columns, members: Sequence[npt.NDArray[np.int64]]) -> dict[str, int]:
    """The tier of every level of queues: outputs of a level's switches, up or down."""
    rows = {}
    for at, first in enumerate(int(tier[0]) for tier in members):
        below, above = int(links["from_level"][first]), int(links["to_level"][first])
        rows[f"level {below} {'up' if above > below else 'down'}"] = at
    return rows


def columns_of(
    read: Read,
    folder: Path,
    entry: Mapping[str, Any],
    name: str,
    columns: tuple[str, ...],
    if_there: tuple[str, ...] = (),
) -> _Columns | None:
    """Some columns of a table, and others if they are there; None if it was not written."""
    import pyarrow as pa

    csv = arrow_csv()
    for kind in ("parquet", "csv"):
        file = f"{name}.{kind}"
        if file not in entry["files"]:
            continue
        path = folder / entry["folder"] / file
        data = content(folder, entry, file, read)
        try:
            if kind == "parquet":
                table = parquet.table(data, str(path), columns=[*columns, *if_there])
            else:
                table = csv.read_csv(pa.BufferReader(data), csv.ReadOptions(use_threads=False))
            there = [column for column in if_there if column in table.column_names]
            return {column: table[column].to_numpy() for column in (*columns, *there)}
        except (pa.ArrowException, KeyError, ValueError, OSError):
            expected = ", ".join(columns)
            raise FormatError(f"{path}: expected a table with columns {expected}", str(path)) from None
    return None
