"""What should be there and is not: the cables of a fabric beside those of a plan.

The plan is another fabric: an earlier dump, a list of cables by name, or a generator's spec. Nodes are the
same by GUID if the plan's GUIDs are the fabric's; else by name. By GUID a cable is the ports at its ends. By
name, too, if the plan's ports are those in use; a plan that numbers ports its own way says only how many
cables join two nodes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netloom.errors import FabricError
from netloom.findings import Finding, finding
from netloom.nodes import Nodes, guid_text

if TYPE_CHECKING:
    from netloom._core import Fabric

_SAME_FABRIC_SHARE = 0.5
"""The part of the switches that must be the same, or it is another fabric's plan."""
_SHOWN = 3

End = tuple[int, int]
"""A node of the plan and a port."""


@dataclass(frozen=True)
class Missing:
    """A cable of the plan that the fabric does not have."""

    ends: tuple[dict[str, Any], dict[str, Any]]
    """As `Nodes.end` tells a port: by the fabric where it knows the node, else by the plan."""
    bytes_per_s: float
    text: str


@dataclass(frozen=True)
class Slower:
    """A cable that runs slower than in the plan."""

    link: int
    bytes_per_s: float
    expected_bytes_per_s: float


@dataclass
class Differences:
    """How a fabric falls short of its plan."""

    by: str = "guid"
    """What nodes were found by: `guid` or `name`."""
    ports: bool = True
    """Whether the plan's ports are the fabric's."""
    missing: list[Missing] = field(default_factory=list)
    slower: list[Slower] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Nodes that are gone, each with how many cables went with it; cables in other places."""


def compare(fabric: Fabric, plan: Fabric, *, label: str) -> Differences:
    """Compares a fabric with its plan.

    Parameters
    ----------
    fabric, plan : Fabric
        As it is, and as it should be.
    label : str
        What the plan is called in messages.

    Raises
    ------
    FabricError
        If the plan is another fabric's: less than half of its switches are here, by GUID or by name.
    """
    here, there = Nodes(fabric), Nodes(plan)
    same, by = _same_nodes(fabric, plan, here, there, label)
    found = Differences(by=by)
    cables, wanted = _cables(fabric), _cables(plan)
    at = {end: cable for cable in cables for end in cable}
    exact: list[tuple[tuple[End, End], list[End], float]] = []
    astray: list[tuple[tuple[End, End], list[End], float]] = []
    gone = {node for cable in wanted for node, _ in cable if node not in same}
    speeds = plan.link_table()["bandwidth_bytes_per_s"]
    for cable, link in wanted.items():
        speed = float(speeds[link])
        ends = [(same[node], port) for node, port in cable if node in same]
        if len(ends) < 2:
            lost = [node for node, _ in cable if node not in same]
            if len(ends) == 1 and lost[0] < plan.hosts:
                told = tuple(_end(here, there, same, end, port_known=True) for end in cable)
                text = f"{there.label(lost[0])} is not here: its cable, its adapter, or the machine is off"
                found.missing.append(Missing((told[0], told[1]), speed, text))
                gone.discard(lost[0])
            continue
        mine = at.get(ends[0])
        (exact if mine is not None and set(mine) == set(ends) else astray).append((cable, ends, speed))
    found.ports = by == "guid" or len(exact) >= len(astray)
    if not found.ports:
        astray += exact
        exact = []
    table = fabric.link_table()["bandwidth_bytes_per_s"]
    for _, ends, speed in exact:
        link = cables[at[ends[0]]]
        if by == "guid" and table[link] < 0.999 * speed:
            found.slower.append(Slower(link, float(table[link]), speed))
    used = {at[ends[0]] for _, ends, _ in exact}
    # By pair of nodes, how many cables there are that are in no place of the plan.
    spare = Counter(_pair([node for node, _ in cable]) for cable in cables if cable not in used)
    elsewhere = 0
    for cable, ends, speed in astray:
        pair = _pair([node for node, _ in ends])
        if spare[pair]:
            spare[pair] -= 1
            elsewhere += found.ports
            continue
        told = tuple(_end(here, there, same, end, port_known=found.ports) for end in cable)
        why = _why(here, at, ends) if found.ports else f"a cable fewer than {label} has between them"
        found.missing.append(Missing((told[0], told[1]), speed, why))
    if elsewhere:
        text = f"{elsewhere:,} cables join the nodes of {label} by other ports"
        found.findings.append(finding("cable-elsewhere", text))
    found.findings += _gone(plan, there, gone, wanted, label)
    return found


def _why(here: Nodes, at: dict[End, tuple[End, End]], ends: list[End]) -> str:
    """What the ports of a missing cable are used for now."""
    now = []
    for node, port in ends:
        cable = at.get((node, port))
        if cable is not None:
            far = next((end for end in cable if end != (node, port)), (node, port))
            now.append(f"{here.port(node, port)} leads to {here.port(*far)} now")
    return "; ".join(now) or "nothing is cabled there"


def _end(here: Nodes, there: Nodes, same: dict[int, int], end: End, *, port_known: bool) -> dict[str, Any]:
    node, port = end
    told = here.end(same[node], port) if node in same else there.end(node, port)
    return told if port_known else {**told, "port": None}


def _gone(
    plan: Fabric,
    there: Nodes,
    gone: set[int],
    wanted: dict[tuple[End, End], int],
    label: str,
) -> list[Finding]:
    """Nodes of the plan that are not here."""
    cables = Counter(node for cable in wanted for node, _ in cable)
    found = []
    for kind, word, of in (
        ("switch-gone", "switch", [n for n in sorted(gone) if n >= plan.hosts]),
        ("host-gone", "host", [n for n in sorted(gone) if n < plan.hosts]),
    ):
        if of:
            shown = ", ".join(f"{there.label(n)} (cables: {cables[n]})" for n in of[:_SHOWN])
            more = f" and {len(of) - _SHOWN} more" if len(of) > _SHOWN else ""
            many = f"{len(of)} {word}{'' if len(of) == 1 else 'es' if word == 'switch' else 's'}"
            found.append(
                finding(kind, f"{many} of {label} {'is' if len(of) == 1 else 'are'} not here: {shown}{more}")
            )
    return found


def _pair(nodes: list[int]) -> tuple[int, int]:
    return min(nodes), max(nodes)


def _cables(fabric: Fabric) -> dict[tuple[End, End], int]:
    """Cables that are alive by both ends, each with the link from the first."""
    table = fabric.link_table()
    columns = ("source", "source_port", "target", "target_port", "alive")
    found = {}
    for link, (source, out, target, into, alive) in enumerate(
        zip(*(table[c].tolist() for c in columns), strict=True)
    ):
        if alive and (source, out) < (target, into):
            found[(source, out), (target, into)] = link
    return found


def _same_nodes(
    fabric: Fabric, plan: Fabric, here: Nodes, there: Nodes, label: str
) -> tuple[dict[int, int], str]:
    """Nodes of the plan with theirs of the fabric, and what they were found by."""
    of_host = _host_ports(fabric)
    of_plan = _host_ports(plan)
    # Who has no cable is not there.
    present = sorted({node for cable in _cables(fabric) for node, _ in cable})
    guids = {(here.guids[n], of_host.get(n, 0)): n for n in present}
    by_guid = {
        n: guids[there.guids[n], of_plan.get(n, 0)]
        for n in range(len(there))
        if (there.guids[n], of_plan.get(n, 0)) in guids
    }
    own, planned = _called(here, of_host), _called(there, of_plan)
    unique, once = Counter(own), Counter(planned)
    names = {own[n]: n for n in present if unique[own[n]] == 1}
    by_name = {n: names[name] for n, name in enumerate(planned) if name in names and once[name] == 1}

    def of_kind(same: dict[int, int]) -> dict[int, int]:
        return {old: new for old, new in same.items() if (old < plan.hosts) == (new < fabric.hosts)}

    by_guid, by_name = of_kind(by_guid), of_kind(by_name)

    def switches(same: dict[int, int]) -> int:
        return sum(n >= plan.hosts for n in same)

    # A generator makes GUIDs up: those of another fabric can be the same. Names that agree tell.
    agree = sum(there.names[old] == here.names[new] for old, new in by_guid.items())
    # So can those of tables of cables, which number nodes in their order: names find more, and others.
    against = sum(by_name.get(old, new) != new for old, new in by_guid.items())
    numbered = against > 0 and len(by_name) > len(by_guid)
    trusted = len(by_guid) >= len(by_name) or (agree * 2 >= len(by_guid) > 0 and not numbered)
    same, by = (by_guid, "guid") if switches(by_guid) and trusted else (by_name, "name")
    # Of cables between switches that are here, those that still join them: of another fabric few do.
    joined = {_pair([n for n, _ in cable]) for cable in _cables(fabric)}
    both = [
        (same[a], same[b])
        for (a, _), (b, _) in _cables(plan)
        if a in same and b in same and min(a, b) >= plan.hosts
    ]
    kept = sum(_pair([*pair]) in joined for pair in both)
    if switches(same) < max(1, _SAME_FABRIC_SHARE * plan.switches) or kept < _SAME_FABRIC_SHARE * len(both):
        example = there.names[plan.hosts] if plan.switches else "none"
        other = here.names[fabric.hosts] if fabric.switches else "none"
        guid = guid_text(there.guids[plan.hosts]) if plan.switches else ""
        raise FabricError(
            f"--expect {label}: a plan of another fabric: {switches(same)} of its {plan.switches} switches "
            f"are here, by GUID or by name, and {kept} of the {len(both)} cables between these (it "
            f"has {example} {guid}, here is {other}): expected an earlier dump, a plan with the same names, "
            "or the generator's spec of this fabric"
        )
    return same, by


def _called(nodes: Nodes, ports: dict[int, int]) -> list[tuple[str, int]]:
    """What tells nodes apart: names; of an adapter with several ports that are hosts, the port too.

    Of an adapter with one, a plan may number it its own way.
    """
    return [(name, ports.get(node, 0) if nodes.shared(node) else 0) for node, name in enumerate(nodes.names)]


def _host_ports(fabric: Fabric) -> dict[int, int]:
    """The port of every host: the two of an adapter have one GUID."""
    return dict(enumerate(fabric.host_table()["port"].tolist()))
