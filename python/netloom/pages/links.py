"""Links of a page: what joins what, tier by tier, and what each link carried under every routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.nodes import Nodes
from netloom.pages import columns
from netloom.plot.layout import pods_of
from netloom.runs import tiers
from netloom.shown import legend
from netloom.tables import HOST, link_levels

if TYPE_CHECKING:
    from netloom._core import Fabric

HOTTEST = 10
"""So many links with the largest values are listed."""

Numbers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Links:
    """All directed links of a fabric.

    Attributes
    ----------
    names : sequence of str
        Of nodes, no two alike.
    ends : array of int
        `[from, from_port, to, to_port][link]`; nodes by number.
    levels : array of int
        `[from, to][link]`: the level of the ends; -1 is a host, 0 a leaf.
    alive : array of bool
        Which are there.
    groups : array of int, optional
        `[from, to][link]`: groups of a dragonfly or megafly, -1 for hosts.
    """

    names: Sequence[str]
    ends: Numbers
    levels: Numbers
    alive: npt.NDArray[np.bool_]
    groups: Numbers | None = None

    @cached_property
    def tiers(self) -> list[tuple[str, Numbers, bool]]:
        """Name and links of every tier, and whether the switch by which they are ordered receives."""
        there = np.flatnonzero(self.alive)
        first, last = (self.levels if self.groups is None else self.groups)[:, there]
        nothing = np.zeros(len(there))
        if self.groups is not None:
            found = tiers.group_tiers(first, last, nothing)
        else:
            found = tiers.tiers(first, last, nothing.astype(np.int64), nothing)
        told = []
        for tier, members in found:
            a, b = int(first[members[0]]), int(last[members[0]])
            receives = a == HOST or (self.groups is None and a > b != HOST)
            told.append((tier.name, there[members], receives))
        return told

    def by_tier(self, values: Values) -> list[dict[str, Any]]:
        """Links, mean and largest value of every tier."""
        return [
            {
                "tier": name,
                "links": len(members),
                "mean": float(values[members].mean()),
                "max": float(values[members].max()),
            }
            for name, members, _ in self.tiers
        ]

    def largest(self, values: Values) -> tuple[list[int], bool]:
        """The links with the largest values, ties by number; whether only those between switches are meant.

        Where links of hosts that are all alike fill the list, it says nothing: then switches' do.
        """
        of_switches = (self.levels if self.groups is None else self.groups).min(axis=0) > HOST
        order = np.argsort(-values, kind="stable")[:HOTTEST]
        tied = values[order] >= values.max(initial=0.0) * (1 - 1e-9)
        between = len(order) == HOTTEST and tied.all() and not of_switches[order].all()
        if between and values[of_switches].max(initial=0.0) > 0:
            order = np.argsort(-np.where(of_switches, values, 0.0), kind="stable")[:HOTTEST]
        else:
            between = False
        return [link for link in order.tolist() if values[link] > 0], bool(between)

    def end(self, link: int, side: int) -> str:
        """`leaf03[7]`: where a link comes from (0), or goes to (1)."""
        return f"{self.names[self.ends[2 * side, link]]}[{self.ends[2 * side + 1, link]}]"

    def told(self, values: Mapping[str, Values], unit: str) -> dict[str, Any]:
        """What a page draws: columns of all links, and of what each carried by routing."""
        return {
            "count": self.ends.shape[1],
            "unit": unit,
            "names": columns.texts(self.names),
            "pods": columns.whole(self._pods()),
            **{
                name: columns.whole(column)
                for name, column in zip(("from", "from_port", "to", "to_port"), self.ends, strict=True)
            },
            "tiers": [
                {"tier": name, "links": columns.whole(members), "receives": receives}
                for name, members, receives in self.tiers
            ],
            "values": [
                {"routing": name, "name": legend.name(name), "of": columns.numbers(of)}
                for name, of in values.items()
            ],
        }

    def _pods(self) -> Numbers:
        """The pod of every node, with groups its group; -1 for none."""
        source, target = self.ends[0], self.ends[2]
        of = np.full(len(self.names), -1, np.int64)
        if self.groups is not None:
            of[source], of[target] = self.groups
            return of
        of[source], of[target] = self.levels
        first, last = self.levels
        up = self.alive & (first >= 0) & (last > first)
        return pods_of(of, source[up], target[up])


def of_fabric(fabric: Fabric) -> Links:
    """The links of a fabric."""
    table, found = fabric.link_table(), link_levels(fabric)
    ends = np.stack([np.asarray(table[key]) for key in ("source", "source_port", "target", "target_port")])
    groups = None
    if "groups" in fabric.shape:
        of = np.full(fabric.hosts + fabric.switches, -1, np.int64)
        of[fabric.hosts :] = fabric.switch_table()["group"]
        groups = of[ends[[0, 2]].astype(np.int64)]
    return Links(
        Nodes(fabric).labels,
        ends.astype(np.int64),
        np.stack([found["from_level"], found["to_level"]]).astype(np.int64),
        np.asarray(table["alive"], bool),
        groups,
    )


def of_table(table: Mapping[str, npt.NDArray[Any]]) -> Links:
    """The links of a run's table."""
    names, inverse = np.unique(np.concatenate([table["from"], table["to"]]).astype(str), return_inverse=True)
    source, target = np.split(inverse.reshape(-1), 2)
    # Numbered as links come, not by letters: `node2` before `node10`.
    _, first = np.unique(inverse.reshape(-1), return_index=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ends = np.stack([place[source], table["from_port"], place[target], table["to_port"]])
    levels = np.stack([table["from_level"], table["to_level"]])
    groups = np.stack([table["from_group"], table["to_group"]]) if "from_group" in table else None
    return Links(
        names[order].tolist(),
        ends.astype(np.int64),
        levels.astype(np.int64),
        np.asarray(table["alive"], bool),
        None if groups is None else groups.astype(np.int64),
    )
