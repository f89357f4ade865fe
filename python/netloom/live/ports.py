"""Ports that are down or silent, by name: what a cut cable, a disabled port and a dead switch look like.

A port whose cable was cut still answers what it has counted, so counters alone never tell. `PortInfo` does:
its state (Down, Init, Armed, Active) and what its transceiver does (Polling, Disabled, …).

Source: InfiniBand Architecture Specification, vol. 1, sec. 14.2.5.6 (PortInfo).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.findings import Finding, finding
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric

PORT_INFO = 0x15
_STATE, _PHYSICAL = 32, 33
"""Octets of PortInfo; the state is the lower half of one, what the transceiver does the upper half."""
_ACTIVE = 4
_STATES = {1: "Down", 2: "Init", 3: "Armed", _ACTIVE: "Active"}
_TRANSCEIVER = {1: "Sleep", 2: "Polling", 3: "Disabled", 4: "Training", 5: "LinkUp", 6: "Recovery"}
_NOT_UP = (1, 2, 3, 4)
"""With these a link is as good as down, whatever its state says (in ibsim a disabled port stays Active)."""
_NAMED = 5
"""Ports that a finding names."""


@dataclass(frozen=True)
class PortDown:
    """A port with a cable in the fabric as it was discovered, over which nothing goes now."""

    node: str
    port: int
    why: str
    """`Down/Polling`, `Down/Disabled`, `Init/LinkUp`, …; `gone` where node or cable is not there any more."""


def state_of(data: np.ndarray[Any, np.dtype[np.uint8]]) -> str | None:
    """What a port's PortInfo says, where it is not active; None if it is."""
    state, physical = int(data[_STATE]) & 15, int(data[_PHYSICAL]) >> 4
    if state == _ACTIVE and physical not in _NOT_UP:
        return None
    return f"{_STATES.get(state, 'unknown')}/{_TRANSCEIVER.get(physical, 'unknown')}"


def cables(fabric: Fabric) -> dict[tuple[int, int], tuple[str, int, str, int]]:
    """By the sender's GUID and port: both ends of every link that is alive, by label."""
    table, nodes = fabric.link_table(), Nodes(fabric)
    names, guids = nodes.labels, nodes.guids
    ends = zip(
        *(table[key].tolist() for key in ("source", "source_port", "target", "target_port", "alive")),
        strict=True,
    )
    return {
        (guids[source], port): (names[source], port, names[target], far)
        for source, port, target, far, alive in ends
        if alive
    }


def lost_cables(before: Fabric, now: Fabric) -> list[PortDown]:
    """Cables that were there and are not any more, by both of their ends."""
    left = cables(now)
    return [
        PortDown(node, port, "gone") for key, (node, port, _, _) in cables(before).items() if key not in left
    ]


def changes(before: Fabric, now: Fabric) -> list[str]:
    """What is not there any more, and what is new: switches and hosts, cables between the others, by name."""
    words: list[str] = []
    were, are = cables(before), cables(now)
    for there, here, of, left, word in ((before, now, were, are, "gone"), (now, before, are, were, "new")):
        nodes, others = Nodes(there), set(Nodes(here).guids)
        strange = {name for name, guid in zip(nodes.labels, nodes.guids, strict=True) if guid not in others}
        words += [f"{name} is {word}" for name in nodes.labels if name in strange]
        told = set[tuple[str, int]]()
        for key, (node, port, far, far_port) in of.items():
            if key not in left and (far, far_port) not in told and not strange & {node, far}:
                told.add((node, port))
                words.append(f"the cable {node}[{port}] -> {far}[{far_port}] is {word}")
    return words


def both_ends(fabric: Fabric, down: Iterable[PortDown]) -> set[tuple[str, int]]:
    """The ports, and those at the other ends of their cables, which may have no way to say so themselves."""
    peers = {(node, port): (far, far_port) for node, port, far, far_port in cables(fabric).values()}
    ends = {(one.node, one.port) for one in down}
    return ends | {peers[end] for end in ends if end in peers}


def findings_of(
    fabric: Fabric, down: Iterable[PortDown], silent: Sequence[tuple[str, int]], asked: int
) -> list[Finding]:
    """Cables that carry nothing, one finding each; switches and ports that did not answer."""
    peers = {(node, port): (far, far_port) for node, port, far, far_port in cables(fabric).values()}
    found: list[Finding] = []
    told: set[tuple[str, int]] = set()
    why = {(one.node, one.port): one.why for one in down}
    for end, state in why.items():
        far = peers.get(end)
        if far in told:
            continue
        told.add(end)
        both = "" if far is None else f" -> {far[0]}[{far[1]}]"
        if far in why and why[far] != state:
            state = f"{state}, {why[far]} at the other end"
        found.append(finding("link-down", f"{end[0]}[{end[1]}]{both}: {state}"))
    ports: dict[str, list[int]] = {}
    for node, port in silent:
        ports.setdefault(node, []).append(port)
    cabled: dict[str, int] = {}
    for node, _ in peers:
        cabled[node] = cabled.get(node, 0) + 1
    switches = set(Nodes(fabric).labels[fabric.hosts :])
    whole = [node for node, of in ports.items() if node in switches and len(of) >= cabled.get(node, 0)]
    for node in whole:
        text = f"switch {node}: none of its {len(ports[node])} ports answers"
        cut = sum(far is not None and far[0] == node for far in (peers.get(end) for end in why))
        if cut:
            text += (
                f" (of its cables {cut} {'are' if cut > 1 else 'is'} down: perhaps only the way to it is cut)"
            )
        found.append(finding("silent-switch", text))
    rest = [(node, port) for node, port in silent if node not in whole]
    if rest:
        named = ", ".join(f"{node}[{port}]" for node, port in rest[:_NAMED])
        more = f" and {len(rest) - _NAMED:,} more" if len(rest) > _NAMED else ""
        text = f"{len(rest):,} of {asked:,} ports did not answer: {named}{more}"
        found.append(finding("silent-port", text))
    return found
