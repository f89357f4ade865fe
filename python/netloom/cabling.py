"""What changed from one dump of a fabric to another: nodes by GUID, cables by the ports at their ends.

Names may change, GUIDs and ports do not: a switch with another name is the same switch, and a cable whose end
was put into another port was moved.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.findings import Finding, finding

if TYPE_CHECKING:
    from netloom._core import Fabric

_SHOWN = 5
"""So many of a kind are named."""

Port = tuple[int, int]
"""GUID of the node (an adapter, a switch) and number of the port."""
Cable = tuple[Port, Port]
"""Both ends, the smaller first."""


@dataclass(frozen=True)
class _Dump:
    """A fabric by what does not change with names and numbers: what a cable leads to."""

    nodes: dict[Port, str]
    """Names: of hosts by their ports, of switches by port 0."""
    lids: dict[Port, int]
    cables: dict[Cable, float]
    """Bytes a second each way."""
    names: dict[int, str]
    """By GUID."""

    @classmethod
    def of(cls, fabric: Fabric) -> _Dump:
        host, switch, link = fabric.host_table(), fabric.switch_table(), fabric.link_table()
        guids = [*host["guid"].tolist(), *switch["guid"].tolist()]
        names = [*host["name"], *switch["name"]]
        places = list(zip(guids, [*host["port"].tolist(), *[0] * fabric.switches], strict=True))
        cables: dict[Cable, float] = {}
        there = set()
        columns = ("source", "source_port", "target", "target_port", "bandwidth_bytes_per_s", "alive")
        for source, out, target, into, speed, alive in zip(*(link[c].tolist() for c in columns), strict=True):
            if alive:
                one, other = sorted([(guids[source], out), (guids[target], into)])
                cables[one, other] = speed
                there |= {source, target}
        lids = [*host["lid"].tolist(), *switch["lid"].tolist()]
        return cls(
            {places[node]: names[node] for node in there},
            {places[node]: lids[node] for node in there},
            cables,
            dict(zip(guids, names, strict=True)),
        )


def changes(before: Fabric, after: Fabric) -> list[Finding]:
    """Returns what is different in `after`, a finding a kind of change, each with its number and some names.

    Losses (`host-gone`, `switch-gone`, `cable-gone`, `cable-moved`, `slower-cable`) are warnings; what is new
    or faster, was renamed, or has another LID is a note. Who has no cable is not there.
    """
    old, new = _Dump.of(before), _Dump.of(after)
    names = old.names | new.names
    found: list[Finding] = []

    def tell(kind: str, what: tuple[str, str], some: Collection[str]) -> None:
        if some:
            shown = sorted(some)
            more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
            named = ", ".join(shown[:_SHOWN])
            found.append(finding(kind, f"{len(shown)} {what[len(shown) != 1]}: {named}{more}"))

    lost, come = old.nodes.keys() - new.nodes.keys(), new.nodes.keys() - old.nodes.keys()

    def ends(cable: Cable) -> str:
        return "-".join(f"{names[guid]}[{port}]" for guid, port in cable)

    def of_nobody(cable: Cable, nodes: Collection[Port]) -> bool:
        """Whether none of its ends is at these: cables of a node that is gone are gone with it."""
        return not any(end in nodes or (end[0], 0) in nodes for end in cable)

    def tell_nodes(word: str, some: Collection[Port], of: _Dump) -> None:
        switches, hosts = (
            [of.nodes[n] for n in some if (n[1] == 0) is is_switch] for is_switch in (True, False)
        )
        tell(f"switch-{word}", (f"switch is {word}", f"switches are {word}"), switches)
        tell(f"host-{word}", (f"host is {word}", f"hosts are {word}"), hosts)

    tell_nodes("gone", lost, old)
    gone = {cable for cable in old.cables.keys() - new.cables.keys() if of_nobody(cable, lost)}
    fresh = {cable for cable in new.cables.keys() - old.cables.keys() if of_nobody(cable, come)}
    at = {end: cable for cable in fresh for end in cable}
    moved = {cable: at[end] for cable in sorted(gone) for end in cable if end in at}
    told = [f"{ends(cable)} is now {ends(moved[cable])}" for cable in moved]
    tell("cable-moved", ("cable was moved", "cables were moved"), told)
    tell("cable-gone", ("cable is gone", "cables are gone"), [ends(cable) for cable in gone - moved.keys()])
    both = old.cables.keys() & new.cables.keys()
    for kind, word, sign in (("slower-cable", "slower", -1), ("faster-cable", "faster", 1)):
        which = [cable for cable in both if sign * (new.cables[cable] - old.cables[cable]) > 0]
        told = [f"{ends(c)} {old.cables[c] / 1e9:.4g} to {new.cables[c] / 1e9:.4g} GB/s" for c in which]
        tell(kind, (f"cable is {word}", f"cables are {word}"), told)
    tell_nodes("new", come, new)
    fresh -= set(moved.values())
    tell("cable-new", ("cable is new", "cables are new"), [ends(cable) for cable in fresh])
    same = old.nodes.keys() & new.nodes.keys()
    told = [f"{old.nodes[n]} is now {new.nodes[n]}" for n in same if old.nodes[n] != new.nodes[n]]
    tell("renamed", ("node was renamed", "nodes were renamed"), told)
    other = [n for n in same if old.lids[n] and new.lids[n] and old.lids[n] != new.lids[n]]
    told = [f"{new.nodes[n]} {old.lids[n]} to {new.lids[n]}" for n in other]
    tell("lid-changed", ("node has another LID", "nodes have other LIDs"), told)
    return found
