"""Directed routes from this machine's port to the nodes of a fabric: how subnet management is sent.

A directed route is the list of ports out that a datagram takes, hop by hop. It needs no forwarding tables, so
it reaches a switch whose routes are broken, or that has none yet; and in a planarized (XDR) fabric it is the
only way that subnet management may take. Ways are shortest ones along the cables of the fabric as discovered,
spread so that one cut cable silences few nodes. Where an answer stays away, the cables of that way which no
other answer came over are in doubt, and the node is asked once more around them.

Source: InfiniBand Architecture Specification, vol. 1, sec. 14.2.2 (directed-route SMPs).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom._core import Fabric

LONGEST = 63
"""Hops of a directed route."""

Hop = tuple[int, int]
"""A switch and its port out."""


class Ways:
    """Ways from a switch to all nodes of a fabric.

    Parameters
    ----------
    fabric : Fabric
        As discovered.
    first : int
        The switch at which this machine is, from 0.
    to_first : bytes
        The ports out that lead there: this machine's own, or none on a switch.
    """

    def __init__(self, fabric: Fabric, first: int, to_first: bytes) -> None:
        self._hosts = fabric.hosts
        self._first, self._to_first = first, to_first
        table = fabric.link_table()
        wanted = table["alive"] & (table["source"] >= fabric.hosts)
        self._out: list[list[tuple[int, int]]] = [[] for _ in range(fabric.switches)]
        """By switch: port out and node (hosts first)."""
        columns = (table[key][wanted].tolist() for key in ("source", "source_port", "target"))
        for source, port, target in zip(*columns, strict=True):
            self._out[source - self._hosts].append((port, target))
        hosts, switches = fabric.host_table()["lid"], fabric.switch_table()["lid"]
        lids = np.concatenate([hosts, switches]).tolist()
        self._node = {lid: node for node, lid in enumerate(lids) if lid}
        self._doubted: set[Hop] = set()
        self._proven: set[Hop] = set()
        self._found = self._search()
        self._known: dict[int, tuple[Hop, ...] | None] = {}
        """By LID: the hops that were asked for."""

    def hops(self, lid: int) -> tuple[Hop, ...] | None:
        """The switches and ports out on the way to the node with this LID; None if there is no way."""
        if lid not in self._known:
            node = self._node.get(lid)
            self._known[lid] = None if node is None else self._hops(node)
        return self._known[lid]

    def path(self, lid: int) -> bytes | None:
        """The same as a directed route has it."""
        hops = self.hops(lid)
        if hops is None or len(self._to_first) + len(hops) > LONGEST:
            return None
        return self._to_first + bytes(port for _, port in hops)

    def heard(self, answered: Iterable[int]) -> None:
        """Answers came from these LIDs: their ways hold."""
        for lid in answered:
            self._proven.update(self.hops(lid) or ())
        self._doubted -= self._proven

    def around(self, silent: Iterable[int]) -> list[int]:
        """No answers came from these LIDs: puts their ways in doubt; returns those that have another now."""
        before = {lid: hops for lid in silent if (hops := self.hops(lid)) is not None}
        self._proven -= {hops[-1] for hops in before.values() if hops}
        self._doubted |= {hop for hops in before.values() for hop in hops} - self._proven
        self._found, self._known = self._search(), {}
        return [lid for lid, hops in before.items() if self.hops(lid) not in (None, hops)]

    def _hops(self, node: int) -> tuple[Hop, ...] | None:
        steps: list[Hop] = []
        while node != self._hosts + self._first:
            step = self._found.get(node)
            if step is None:
                return None
            steps.append(step)
            node = self._hosts + step[0]
        return tuple(reversed(steps))

    def _search(self) -> dict[int, Hop]:
        """By node: the switch before it, and its port out. Around what is in doubt, else over it."""
        found = self._grown({}, self._doubted)
        return self._grown(found, set()) if self._doubted else found

    def _grown(self, found: dict[int, Hop], without: set[Hop]) -> dict[int, Hop]:
        """A tree from the first switch, with all nodes that can be reached."""
        known = {self._hosts + self._first, *found}
        level = sorted(node - self._hosts for node in known if node >= self._hosts)
        while level:
            offers: dict[int, list[Hop]] = {}
            for switch in level:
                for port, node in self._out[switch]:
                    if node not in known and (switch, port) not in without:
                        offers.setdefault(node, []).append((switch, port))
            children: dict[int, int] = {}
            for node in sorted(offers):
                # Where several lead there, the one that leads to the fewest so far.
                step = min(offers[node], key=lambda hop: (children.get(hop[0], 0), hop))
                children[step[0]] = children.get(step[0], 0) + 1
                found[node] = step
            known.update(offers)
            level = sorted(node - self._hosts for node in offers if node >= self._hosts)
        return found
