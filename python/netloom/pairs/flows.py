"""Which links tested pairs crossed, in which direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes
    from netloom.pairs.measured import Floats, Ints, PairTests


@dataclass(frozen=True)
class Flows:
    """A row for every direction in which a test sent, and the links that it crossed.

    Attributes
    ----------
    test : array of int
        Which test, by row.
    way : list of array of int
        Links from source to destination, by row.
    capacity : array of float
        Of every link, bytes per second.
    back : array of int
        The other direction of every link's cable.
    """

    test: Ints
    way: list[Ints]
    capacity: Floats
    back: Ints

    @classmethod
    def of(cls, fabric: Fabric, routes: Routes, tests: PairTests) -> Flows:
        """The flows of tests.

        Parameters
        ----------
        fabric, routes : Fabric, Routes
            The routes that were in force.
        tests : PairTests
            What was measured.

        Raises
        ------
        RoutingError
            If the tables do not join a pair.
        """
        returning = np.flatnonzero(tests.both_ways | tests.in_turn)
        test = np.concatenate([np.arange(len(tests)), returning])
        source = np.concatenate([tests.source, tests.destination[returning]])
        destination = np.concatenate([tests.destination, tests.source[returning]])
        table = fabric.link_table()
        return cls(test, ways(fabric, routes, source, destination), _rates(table), back(table))


def ways(fabric: Fabric, routes: Routes, source: Ints, destination: Ints) -> list[Ints]:
    """The links of each pair, from source to destination; pairs may repeat."""
    known: dict[tuple[int, int], Ints] = {}
    found = []
    for pair in zip(source.tolist(), destination.tolist(), strict=True):
        if pair not in known:
            known[pair] = np.array(routes.path(*pair), np.int64)
        found.append(known[pair])
    return found


def back(table: dict[str, np.ndarray]) -> Ints:
    """The link of the same cable in the other direction, by link."""
    ports = int(max(table["source_port"].max(), table["target_port"].max())) + 1
    out = table["source"].astype(np.int64) * ports + table["source_port"]
    into = table["target"].astype(np.int64) * ports + table["target_port"]
    order = np.argsort(out)
    found: Ints = order[np.searchsorted(out[order], into)]
    return found


def _rates(table: dict[str, np.ndarray]) -> Floats:
    return np.asarray(table["bandwidth_bytes_per_s"], np.float64)


__all__ = ["Flows", "back", "ways"]
