"""Whether packets can wait for each other in a circle, given tables and the lanes that switches have.

Idea: a packet that holds a buffer of one lane of a link waits for one of the next link. Every place that
packets from hosts can come to is followed, by link, lane and destination: to hosts, and to switches' own
LIDs, which `check` does not judge with lanes. Where tables are mixed, either entry may be taken.

Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks",
IEEE Transactions on Computers C-36(5), 1987.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, LaneTables, Routes

_LANES = 16
_DROPPED = 15
"""Lane 15 is for management: a packet that is mapped to it is discarded."""
_NONE = -1
_AT_ONCE = 256
"""Destinations that are followed at a time."""


def waits_in_a_circle(fabric: Fabric, tables: Sequence[Routes], lanes: LaneTables) -> bool:
    """Whether packets can wait for each other in a circle.

    Parameters
    ----------
    fabric : Fabric
        The fabric.
    tables : sequence of Routes
        Tables of which every switch has either entry.
    lanes : LaneTables
        The rows of all switches and hosts; packets have any service level.

    Returns
    -------
    bool
        Whether there is such a circle of lanes of links.

    Examples
    --------
    >>> waits_in_a_circle(fabric, [old, new], lanes)  # doctest: +SKIP
    False
    """
    link, rows = fabric.link_table(), lanes.rows()
    alive = np.flatnonzero(link["alive"])
    source, target = link["source"][alive].astype(np.int64), link["target"][alive].astype(np.int64)
    out, into = link["source_port"][alive].astype(np.int64), link["target_port"][alive].astype(np.int64)
    hosts, ports = fabric.hosts, int(max(out.max(initial=0), into.max(initial=0))) + 1
    ahead = np.full((fabric.switches, ports), _NONE, np.int64)
    """The link that leaves a switch by a port."""
    leaves = source >= hosts
    ahead[source[leaves] - hosts, out[leaves]] = np.flatnonzero(leaves)
    mapped = np.full((fabric.switches, ports, ports), _NONE, np.int64)
    mapped[rows["switch"], rows["in_port"], rows["out_port"]] = np.arange(len(rows["switch"]))
    first = np.flatnonzero(~leaves)
    entries = [one.table().astype(np.int64) for one in tables]
    waits: list[npt.NDArray[np.int64]] = []
    levels = np.unique(np.concatenate([rows["lanes"], rows["host_lanes"]]), axis=1).T
    held = rows["lanes"].shape[0]
    for level in levels.astype(np.int64):
        for start in range(0, entries[0].shape[1], _AT_ONCE):
            addresses = np.arange(start, min(start + _AT_ONCE, entries[0].shape[1]))
            links = np.repeat(first, len(addresses))
            begun = level[held + source[links]]
            reached = _Reached(links, begun, np.tile(addresses, len(first)))
            while len(reached.new):
                at, lane, address = reached.parts()
                switch = np.maximum(target[at] - hosts, 0)
                inside = target[at] >= hosts
                found = []
                for table in entries:
                    port = table[switch, address]
                    there = inside & (port > 0) & (port < ports)
                    port = np.where(there, port, 0)
                    onto = np.where(there, ahead[switch, port], _NONE)
                    row = np.where(onto >= 0, mapped[switch, into[at], port], _NONE)
                    lane_on = np.where(row >= 0, level[row], _DROPPED)
                    goes = (onto >= 0) & (lane_on != _DROPPED)
                    before, after = at[goes] * _LANES + lane[goes], onto[goes] * _LANES + lane_on[goes]
                    waits.append(np.unique(before * len(alive) * _LANES + after))
                    found.append((onto[goes], lane_on[goes], address[goes]))
                reached.add(*(np.concatenate(column) for column in zip(*found, strict=True)))
            waits = [np.unique(np.concatenate(waits))] if waits else []
    pairs = waits[0] if waits else np.zeros(0, np.int64)
    return _has_circle(*np.divmod(pairs, max(len(alive) * _LANES, 1)))


class _Reached:
    """Places by link, lane and destination, each followed once."""

    def __init__(self, *parts: npt.NDArray[np.int64]) -> None:
        self.all = self.new = np.zeros(0, np.int64)
        self._width = int(parts[2].max(initial=0)) + 1
        self.add(*parts)

    def add(self, link: npt.NDArray[Any], lane: npt.NDArray[Any], address: npt.NDArray[Any]) -> None:
        keys = np.unique((link * _LANES + lane) * self._width + address)
        self.new = np.setdiff1d(keys, self.all, assume_unique=True)
        self.all = np.union1d(self.all, self.new)

    def parts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        place, address = np.divmod(self.new, self._width)
        link, lane = np.divmod(place, _LANES)
        return link, lane, address


def _has_circle(before: npt.NDArray[np.int64], after: npt.NDArray[np.int64]) -> bool:
    """Whether a directed graph has a cycle: what nothing leads to is taken away until nothing is left."""
    onward: dict[int, list[int]] = defaultdict(list)
    waiting: dict[int, int] = defaultdict(int)
    for one, other in zip(before.tolist(), after.tolist(), strict=True):
        onward[one].append(other)
        waiting[other] += 1
    free = [one for one in onward if not waiting.get(one)]
    gone = 0
    left = len(onward.keys() | waiting.keys())
    while free:
        gone += 1
        for other in onward.get(free.pop(), ()):
            waiting[other] -= 1
            if not waiting[other]:
                free.append(other)
    return gone < left
