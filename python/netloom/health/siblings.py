"""Which cables are slower than they should be, by what their siblings run at.

A dump tells the speed at which a cable runs, not the one it could. But a cable that trained down (to fewer
lanes, or slower ones) has siblings that did not: the other cables of its ends to the same level. The rule:

- A cable between switches is slow if it is slower than most cables of **each** of its ends to the other's
  level. Cables of an older switch are slow at that end too, and so meant; a cable that trained down is alone.
- Parallel cables of one pair of switches are meant to be equal: those below the fastest are slow.
- An end without another cable of its kind says nothing; if that is a switch, most cables of the stage
  stand for it. An adapter says nothing either, so that a host's cable is compared with those of its leaf: its
  adapter may be an older one, which makes it a note.

A stage is all cables between two levels (of a dragonfly: within groups, and between them). Speeds are bytes
per second, whatever lanes and rate make them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.findings import Finding, finding
from netloom.nodes import Nodes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netloom._core import Fabric

_NAMED = 10
"""So many cables of a kind are told one by one."""
_EQUAL_SPEED = 0.999
"""Speeds closer than this are the same."""


@dataclass(frozen=True)
class SlowCable:
    """A cable that runs slower than its siblings."""

    link: int
    """Its link upwards (from a host, or from the lower switch)."""
    bytes_per_s: float
    expected_bytes_per_s: float
    """What its siblings run at."""
    others: int
    """Other cables of its stage."""
    equal: int
    """Those of them that run at what was expected, or faster."""
    of_host: bool
    faster: bool = False
    """Whether some of them run faster than that."""

    @property
    def kind(self) -> str:
        """The finding's kind."""
        return "slow-host-cable" if self.of_host else "slow-cable"

    @property
    def text(self) -> str:
        """`runs at 2.00 GB/s, the other 17 cables of its stage at 12.50`."""
        which = f"{self.equal} of the other {self.others}" if self.equal < self.others else "the other"
        number = "" if self.equal < self.others else f" {self.others}"
        told = f"{which}{number} {'cable' if self.others == 1 else 'cables'} of its stage"
        more = " or more" if self.faster else ""
        return f"runs at {_speed(self.bytes_per_s)} GB/s, {told} at {_speed(self.expected_bytes_per_s)}{more}"


def _speed(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.2f}"


def slow_cables(fabric: Fabric) -> list[SlowCable]:
    """The cables that are slower than their siblings, those that lack most first.

    Parameters
    ----------
    fabric : Fabric
        As it runs: of a generator all cables have one speed, so that there are none.

    Examples
    --------
    >>> import netloom as nl
    >>> slow_cables(nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2"))
    []
    """
    known = [speed for speed, _ in fabric.link_speeds()]
    if not known or known[-1] >= _EQUAL_SPEED * known[0]:
        return []
    import numpy as np  # Most fabrics have one speed, and do without.

    table = fabric.link_table()
    source, target = np.asarray(table["source"], np.int64), np.asarray(table["target"], np.int64)
    speed = np.asarray(table["bandwidth_bytes_per_s"], float)
    level, group = _levels(fabric)
    up = (level[source] < level[target]) | ((level[source] == level[target]) & (source < target))
    links = np.flatnonzero(np.asarray(table["alive"], bool) & up & (source != target))
    speeds = speed[links]
    if len(links) == 0 or speeds.min() >= _EQUAL_SPEED * speeds.max():
        return []
    low, high = source[links], target[links]
    stage = _stages(level, group, low, high)
    at_low, low_size = map(np.array, _usual(low, stage, speeds))
    at_high, high_size = map(np.array, _usual(high, stage, speeds))
    of_stage, stage_size = map(np.array, _usual(np.zeros_like(low), stage, speeds))
    hosts = low < fabric.hosts
    # Who has one cable of a kind says nothing: of a switch the stage does, of an adapter its leaf.
    at_low = np.where(low_size > 1, at_low, np.where(hosts, at_high, of_stage))
    at_high = np.where(high_size > 1, at_high, np.where(hosts & (low_size > 1), at_low, of_stage))
    expected = np.maximum(np.minimum(at_low, at_high), np.array(_fastest(low, high, speeds)))
    found = []
    for place in np.flatnonzero(speeds < _EQUAL_SPEED * expected).tolist():
        of = stage == stage[place]
        found.append(
            SlowCable(
                link=int(links[place]),
                bytes_per_s=float(speeds[place]),
                expected_bytes_per_s=float(expected[place]),
                others=int(stage_size[place]) - 1,
                equal=int((of & (speeds >= _EQUAL_SPEED * expected[place])).sum()),
                of_host=bool(hosts[place]),
                faster=bool((speeds[of] * _EQUAL_SPEED > expected[place]).any()),
            )
        )
    return sorted(found, key=lambda one: (one.of_host, one.bytes_per_s / one.expected_bytes_per_s, one.link))


def findings_of(fabric: Fabric, nodes: Nodes | None = None) -> list[Finding]:
    """The same as findings, `slow-cable` and `slow-host-cable`: the first one by one, then their number."""
    found: list[Finding] = []
    slow = slow_cables(fabric)
    if not slow:
        return []
    nodes = nodes or Nodes(fabric)
    for kind in ("slow-cable", "slow-host-cable"):
        of_kind = [one for one in slow if one.kind == kind]
        found += [finding(kind, f"{nodes.link(one.link)} {one.text}") for one in of_kind[:_NAMED]]
        if len(of_kind) > _NAMED:
            more = f"and {len(of_kind) - _NAMED:,} more cables (`netloom health` lists all)"
            found.append(finding(kind, more))
    return found


def _levels(fabric: Fabric) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Level and group of every node: hosts below all, in no group; without levels all switches are equal."""
    import numpy as np

    switch = fabric.switch_table()
    below = np.full(fabric.hosts, -1)
    level, group = np.asarray(switch["level"], np.int64), np.asarray(switch["group"], np.int64)
    if fabric.shape["kind"] != "tree":
        level = np.zeros_like(level)
    return np.concatenate([below, level]), np.concatenate([below, group])


def _stages(
    level: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """The stage of every cable: its two levels, and whether it joins groups of a dragonfly."""
    between = (group[low] != group[high]) & (level[low] >= 0)
    top = int(level.max(initial=0)) + 2
    stage: npt.NDArray[np.int64] = ((level[low] + 1) * top + level[high] + 1) * 2 + between
    return stage


def _usual(
    node: npt.NDArray[np.int64], stage: npt.NDArray[np.int64], speeds: npt.NDArray[np.float64]
) -> tuple[list[float], list[int]]:
    """By cable: the speed that most cables of this node and stage have, and how many there are.

    Of speeds that equally many have, it is the faster.
    """
    rows = list(zip(node.tolist(), stage.tolist(), strict=True))
    times: dict[tuple[int, int], Counter[float]] = {}
    for row, value in zip(rows, speeds.tolist(), strict=True):
        times.setdefault(row, Counter())[value] += 1
    most = {row: max(of.items(), key=lambda one: (one[1], one[0]))[0] for row, of in times.items()}
    size = {row: sum(of.values()) for row, of in times.items()}
    return [most[row] for row in rows], [size[row] for row in rows]


def _fastest(
    low: npt.NDArray[np.int64], high: npt.NDArray[np.int64], speeds: npt.NDArray[np.float64]
) -> list[float]:
    """By cable: the fastest of those that join the same two nodes."""
    rows = list(zip(low.tolist(), high.tolist(), strict=True))
    most: dict[tuple[int, int], float] = {}
    for row, value in zip(rows, speeds.tolist(), strict=True):
        most[row] = max(value, most.get(row, 0.0))
    return [most[row] for row in rows]
