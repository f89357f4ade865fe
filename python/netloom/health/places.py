"""What is cabled to another place than its siblings: adapters of another rail, switches that lack an uplink.

A dump tells what is cabled, not what was meant. But pods are built by a rule, and what breaks it alone was
hardly meant:

- An adapter is on the wrong rail (`wrong-rail`) if nearly all adapters of its leaf have one name, and it has
  another. Two of one machine that have each other's place are told together. Where leaves have adapters of
  several names there is no rule, and nothing is told.
- A switch lacks uplinks (`fewer-uplinks`) if nearly all switches beside it have the same cables upwards, and
  it has these but for fewer to one switch above, or to a quarter. One with fewer to most (a storage leaf) is
  meant so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.findings import Finding, finding
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric

_NAMED = 10
"""So many of a kind are told one by one."""
_LIKE_SHARE = 0.75
"""Of a leaf's adapters, or of switches beside each other, the least part that must be alike."""
_AGREEING_SHARE = 0.9
"""Of all adapters, the least part that must be where the rule wants them."""
_FEWEST = 3
"""Of fewer adapters, or switches, nothing is said."""


def findings_of(fabric: Fabric, nodes: Nodes | None = None, *, uplinks: bool = True) -> list[Finding]:
    """What is at another place than its siblings, as findings `wrong-rail` and `fewer-uplinks`.

    Parameters
    ----------
    fabric : Fabric
        As it is cabled.
    nodes : Nodes, optional
        Its names, if they are known already.
    uplinks : bool, default True
        Whether uplinks that are not there are told too.

    Examples
    --------
    >>> import netloom as nl
    >>> findings_of(nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2"))
    []
    """
    found: list[Finding] = []
    lacking = fewer_uplinks(fabric) if uplinks else []
    nodes = nodes or (Nodes(fabric) if lacking else None)
    fewer = [one.text(nodes) for one in lacking] if nodes else []
    for kind, told in (
        ("wrong-rail", _wrong_rails(fabric)),
        ("fewer-uplinks", fewer),
    ):
        found += [finding(kind, text) for text in told[:_NAMED]]
        if len(told) > _NAMED:
            found.append(finding(kind, f"and {len(told) - _NAMED:,} more of this kind"))
    return found


def _wrong_rails(fabric: Fabric) -> list[str]:
    if fabric.rails < 2:
        return []
    table = fabric.host_table()
    names, machines = [str(name) for name in table["adapter"]], [str(name) for name in table["machine"]]
    leaves = table["leaf"].tolist()
    several = {machine for machine, times in Counter(machines).items() if times > 1}
    at: dict[int, Counter[str]] = defaultdict(Counter)
    for name, machine, leaf in zip(names, machines, leaves, strict=True):
        if machine in several and name and leaf < fabric.switches:
            at[leaf][name] += 1
    usual = {}
    for leaf, there in at.items():
        name, times = there.most_common(1)[0]
        if times >= _FEWEST and times >= _LIKE_SHARE * there.total():
            usual[leaf] = name, times
    # A rule that some keep and others do not is none.
    kept = sum(times for _, times in usual.values())
    if not usual or kept < _AGREEING_SHARE * sum(there.total() for there in at.values()):
        return []
    # Adapters that all go to leaves of one name are of no rail: a tree whose machines have one fabric each.
    rails = {name for name, _ in usual.values()}
    strays: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, machine, leaf in zip(names, machines, leaves, strict=True):
        if machine in several and name in rails and leaf in usual and usual[leaf][0] != name:
            strays[machine].append((name, leaf))
    switches = fabric.switch_names
    told = []
    for machine, some in sorted(strays.items()):
        where = " and ".join(
            f"{name} is on {switches[leaf]}, where {usual[leaf][1]} of {at[leaf].total()} adapters are "
            f"{usual[leaf][0]}"
            for name, leaf in some
        )
        names_there = {usual[leaf][0] for _, leaf in some}
        swapped = len(some) > 1 and names_there == {name for name, _ in some}
        each = ": they have each other's place" if swapped else ""
        told.append(f"{machine}: {where}{each}")
    return told


@dataclass(frozen=True)
class FewerUplinks:
    """A switch with fewer cables to one above than the switches beside it have."""

    switch: int
    above: int
    cables: int
    meant: int
    """What those beside it have."""
    alike: int
    """How many of them have the same cables upwards."""
    beside: int

    def text(self, nodes: Nodes) -> str:
        """`leaf1 has 1 cable to spine0: 7 of the 7 switches beside it have 2, and otherwise the same`."""
        number = f"{self.cables or 'no'} {'cable' if self.cables == 1 else 'cables'}"
        return (
            f"{nodes.label(self.switch)} has {number} to {nodes.label(self.above)}: "
            f"{self.alike} of the {self.beside} switches beside it have {self.meant}, and otherwise the same"
        )


def fewer_uplinks(fabric: Fabric) -> list[FewerUplinks]:
    """The switches that lack cables upwards, by what those beside them have; dead cables count as there.

    Nodes are numbered as in `Fabric.link_table`: hosts, then switches.

    Examples
    --------
    >>> import netloom as nl
    >>> fewer_uplinks(nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2"))
    []
    """
    if fabric.regular or fabric.shape["kind"] not in ("tree", "graph"):
        return []
    import numpy as np

    table, switch = fabric.link_table(), fabric.switch_table()
    level = np.concatenate([np.full(fabric.hosts, -1), np.asarray(switch["level"], np.int64)])
    source, target = np.asarray(table["source"], np.int64), np.asarray(table["target"], np.int64)
    up = (level[source] >= 0) & (level[target] == level[source] + 1)
    above: dict[int, dict[int, int]] = defaultdict(dict)
    for (low, high), times in Counter(zip(source[up].tolist(), target[up].tolist(), strict=True)).items():
        above[low][high] = times
    rows = {low: frozenset(to.items()) for low, to in above.items()}
    times_of, to_of = Counter(rows.values()), {row: dict(row) for row in rows.values()}
    found = []
    for low, row in sorted(rows.items()):
        to = to_of[row]
        few = max(1, len(to) // 4)
        # Those beside it have cables to the same switches above, and to a few that it may lack.
        beside = {
            other: times_of[other] - (other == row)
            for other, there in to_of.items()
            if there.keys() >= to.keys() and len(there) <= len(to) + few
        }
        usual, number = max(beside.items(), key=lambda one: (one[1], sorted(one[0])))
        total = sum(beside.values())
        less = [(high, count) for high, count in sorted(usual - row)]
        if (
            total < _FEWEST - 1
            or number < _LIKE_SHARE * total
            or not 0 < len(less) <= max(1, len(usual) // 4)
        ):
            continue
        if all(to.get(high, 0) < count for high, count in less):
            found += [FewerUplinks(low, high, to.get(high, 0), meant, number, total) for high, meant in less]
    return found
