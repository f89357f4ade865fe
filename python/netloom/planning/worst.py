"""Which failures of a tree may be the worst: those that are alike once, the most costly first.

Two numbers bound what a failure costs, the bytes of the fullest link, added up over phases. **At least**:
what leaves, or a pod, send or receive, over the cables that they have left. **At most**, on trees with equal
bundles: one way to spread the bytes. Let a leaf have u cables and lose one. What it sends and receives goes
evenly over the other u - 1, all else evenly over all. So links of its own carry b/(u - 1), b its bytes, and
those of another leaf with c bytes, of which at most min(b, c) are to or from it,
(c + min(b, c)/(u - 1))/u. The same holds of a pod whose U cables to the cores lose one, and of one of its S
spines, where the pod's bytes go over the other S - 1. Cables of a leaf are alike then, as are those of a pod
to the cores, spines of a pod, and cores.

Where bundles differ (two levels), cables are alike that join a leaf with spines which have equal bundles to
every leaf, and a pair of leaves has only the smaller of both bundles at each spine.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.planning.placed import busiest_host

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic

_HUGE = math.inf


@dataclass(frozen=True)
class Failure:
    """One of those that are alike.

    Attributes
    ----------
    lost : mapping
        Arguments of `Fabric.damage`.
    least_bytes, most_bytes : float
        Between these is the sum over phases of the fullest link's bytes, at the best split of ways.
    drawn : bool
        Whether chance took it, so that it is looked at whatever it costs.
    """

    lost: Mapping[str, Any]
    least_bytes: float = 0.0
    most_bytes: float = _HUGE
    drawn: bool = False


def failures(
    fabric: Fabric, placed: Sequence[tuple[float, Traffic]], kind: str | None, seed: int
) -> list[Failure]:
    """Failures of a kind, one of each that are alike, the most costly first; none where nothing can fail.

    Parameters
    ----------
    fabric : Fabric
        A generated tree of one switch, two levels or three, all of whose cables have one speed.
    placed : sequence of (float, Traffic)
        How often each phase happens, and its bytes from host to host.
    kind : {"cable", "spine", "core", "one_percent"} or None
        What fails; None is nothing.
    seed : int
        Of the cables that are drawn.

    Examples
    --------
    >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    >>> placed = [(1.0, netloom.Traffic.pattern("shift:4,ranks=16"))]
    >>> [one.lost for one in failures(fabric, placed, "spine", 1)]
    [{'switches': ['spine0']}]
    """
    if kind is None:
        return [Failure({})]
    tree = _Tree(fabric)
    if not tree.cables:
        return []
    drawn = max(1, round(tree.cables / 100))
    by_chance = Failure({"random_links": drawn, "seed": seed}, drawn=True)
    if kind == "one_percent":
        return [by_chance]
    if kind == "core":
        # All are alike.
        return [Failure({"switches": [tree.names[core]]}) for core in tree.of_level(2)[:1]]
    phases = [_Phase(tree, often, traffic) for often, traffic in placed if often > 0]
    if tree.cores:
        found = _spines(tree, phases) if kind == "spine" else _cables(tree, phases)
    elif kind == "spine":
        found = _spines_of_two_levels(tree, phases)
    else:
        found = _cables(tree, phases) if tree.equal else _unequal_cables(tree, phases)
    found.sort(key=lambda one: -one.least_bytes)
    # A single cable that is drawn is one of them: it is never told to be worse than the worst.
    return [*found, by_chance] if kind == "cable" and drawn == 1 else found


class _Tree:
    """The switches of a tree and the cables up."""

    def __init__(self, fabric: Fabric) -> None:
        import numpy as np

        table, links = fabric.switch_table(), fabric.link_table()
        self.names = [str(name) for name in table["name"]]
        self.level, self.pod = np.asarray(table["level"]), np.asarray(table["pod"])
        self.leaf_of_host = np.asarray(fabric.host_table()["leaf"], np.int64)
        between = np.flatnonzero(links["between_switches"])
        lower, upper = (
            np.asarray(links[key], np.int64)[between] - fabric.hosts for key in ("source", "target")
        )
        climbs = self.level[lower] < self.level[upper]
        self.lower, self.upper = lower[climbs], upper[climbs]
        self.port = np.asarray(links["source_port"])[between][climbs]
        self.cables = len(self.lower)
        self.up = np.bincount(self.lower, minlength=len(self.names))
        """Cables up, by switch."""
        self.leaves, self.cores = self.of_level(0), len(self.of_level(2))

    def of_level(self, level: int) -> Any:
        """The switches of a level."""
        import numpy as np

        return np.flatnonzero(self.level == level)

    @functools.cached_property
    def bundles(self) -> Any:
        """Cables from every leaf (row) to every spine of two levels."""
        import numpy as np

        spines = self.of_level(1)
        row, column = np.searchsorted(self.leaves, self.lower), np.searchsorted(spines, self.upper)
        counts = np.bincount(row * len(spines) + column, minlength=len(self.leaves) * len(spines))
        return counts.reshape(len(self.leaves), len(spines))

    @property
    def equal(self) -> bool:
        """Whether every leaf of two levels has as many cables to every spine."""
        return bool((self.bundles == self.bundles[0, 0]).all())

    def cable(self, lower: int, upper: int | None = None) -> dict[str, Any]:
        """The first cable up from a switch, to anywhere or to one above it."""
        import numpy as np

        of = self.lower == lower if upper is None else (self.lower == lower) & (self.upper == upper)
        return {"links": [f"{self.names[lower]}[{self.port[np.flatnonzero(of)[0]]}]"]}


class _Phase:
    """Of a phase: how often it happens, its busiest host, what leaves and pods send or receive at most."""

    def __init__(self, tree: _Tree, often: float, traffic: Traffic) -> None:
        import numpy as np

        self.often, self.host = often, busiest_host(traffic)
        hosts = np.repeat(np.arange(traffic.endpoints), np.diff(traffic.indptr))
        ends = [tree.leaf_of_host[of] for of in (hosts, np.asarray(traffic.indices))]
        sent = np.asarray(traffic.data)
        self.leaves = _crossing(ends, sent, len(tree.names))[tree.leaves]
        self.pods = _crossing([tree.pod[of] for of in ends], sent, int(tree.pod.max()) + 1)
        self._ends, self._sent, self._tree = ends, sent, tree

    @functools.cached_property
    def pairs(self) -> tuple[Any, Any, Any]:
        """From which leaf to which other (numbers of leaves) go how many bytes."""
        import numpy as np

        source, target = (np.searchsorted(self._tree.leaves, of) for of in self._ends)
        away = source != target
        key, at = np.unique(source[away] * len(self._tree.leaves) + target[away], return_inverse=True)
        sent = np.bincount(at, weights=self._sent[away], minlength=len(key))
        return *divmod(key, len(self._tree.leaves)), sent


def _crossing(ends: Sequence[Any], sent: Any, groups: int) -> Any:
    """The larger of what goes out of each group and into it."""
    import numpy as np

    out = ends[0] != ends[1]
    return np.maximum(*(np.bincount(side[out], weights=sent[out], minlength=groups) for side in ends))


def _over(of: Any, cables: Any) -> float:
    """The most bytes a cable: infinite where bytes have none."""
    import numpy as np

    of, cables = np.broadcast_arrays(np.asarray(of, float), np.asarray(cables, float))
    if not of.size or not of.any():
        return 0.0
    return _HUGE if (of[cables <= 0] > 0).any() else float((of[cables > 0] / cables[cables > 0]).max())


def _bounds(
    tree: _Tree, phases: Sequence[_Phase], less_leaf: Any, less_pod: Any, moved: tuple[str, Any, float]
) -> tuple[float, float]:
    """Least and most bytes where leaves and pods have fewer cables, and some of them bytes that move.

    `moved` are those that move: "leaves" or "pods", which of them, and what goes elsewhere of its bytes, over
    these: the rest carry so much more each.
    """
    import numpy as np

    up = tree.up[tree.leaves]
    pods = np.bincount(tree.pod[tree.lower], weights=tree.level[tree.lower] == 1)
    least = most = 0.0
    for one in phases:
        about, number, more = moved
        bytes_moved = float(getattr(one, about)[number])
        low = max(one.host, _over(one.leaves, up - less_leaf))
        high = max(
            low, _over(one.leaves + np.where(less_leaf > 0, 0.0, _some(one.leaves, bytes_moved, more)), up)
        )
        if tree.cores:
            low = max(low, _over(one.pods, pods - less_pod))
            more_bytes = np.where(less_pod > 0, 0.0, _some(one.pods, bytes_moved, more))
            high = max(high, low, _over(one.pods + more_bytes, pods))
        least += one.often * low
        most += one.often * high
    return least, most


def _some(of: Any, moved: float, more: float) -> Any:
    """What is added to each at most."""
    import numpy as np

    least = np.minimum(of, moved)
    return np.where(least > 0, least * more if more < _HUGE else _HUGE, 0.0)


def _cables(tree: _Tree, phases: Sequence[_Phase]) -> list[Failure]:
    """A cable of every leaf, and one to the cores of every pod."""
    import numpy as np

    found = []
    none = np.zeros(max(1, int(tree.pod.max()) + 1))
    for n, leaf in enumerate(tree.leaves):
        less = np.arange(len(tree.leaves)) == n
        left = tree.up[leaf] - 1
        moved = ("leaves", n, 1 / left if left else _HUGE)
        found.append(Failure(tree.cable(leaf), *_bounds(tree, phases, less.astype(float), none, moved)))
    unharmed = np.zeros(len(tree.leaves))
    for spine in _first_of_pods(tree):
        pod = int(tree.pod[spine])
        left = int(tree.up[(tree.level == 1) & (tree.pod == pod)].sum()) - 1
        less = (np.arange(len(none)) == pod).astype(float)
        moved = ("pods", pod, 1 / left if left else _HUGE)
        found.append(Failure(tree.cable(spine), *_bounds(tree, phases, unharmed, less, moved)))
    return found


def _spines(tree: _Tree, phases: Sequence[_Phase]) -> list[Failure]:
    """A spine of every pod of three levels."""
    import numpy as np

    found = []
    for spine in _first_of_pods(tree):
        pod = int(tree.pod[spine])
        left = int(((tree.level == 1) & (tree.pod == pod)).sum()) - 1
        here = tree.upper == spine
        less_leaf = np.bincount(tree.lower[here], minlength=len(tree.names))[tree.leaves].astype(float)
        less_pod = np.zeros(int(tree.pod.max()) + 1)
        less_pod[pod] = tree.up[spine]
        moved = ("pods", pod, 1 / left if left else _HUGE)
        found.append(
            Failure({"switches": [tree.names[spine]]}, *_bounds(tree, phases, less_leaf, less_pod, moved))
        )
    return found


def _first_of_pods(tree: _Tree) -> list[int]:
    """A spine of every pod that has cores above."""
    spines = tree.of_level(1) if tree.cores else []
    return list({int(tree.pod[one]): int(one) for one in reversed(spines)}.values())[::-1]


def _spines_of_two_levels(tree: _Tree, phases: Sequence[_Phase]) -> list[Failure]:
    """A spine of each that have equal bundles to every leaf."""
    found = []
    for column in _unlike(tree.bundles):
        left = tree.up[tree.leaves] - tree.bundles[:, column]
        least = sum(one.often * max(one.host, _over(one.leaves, left)) for one in phases)
        found.append(Failure({"switches": [tree.names[tree.of_level(1)[column]]]}, least))
    return found


def _unlike(bundles: Any) -> list[int]:
    """One of each column, the first."""
    import numpy as np

    return sorted(int(one) for one in np.unique(bundles, axis=1, return_index=True)[1])


def _unequal_cables(tree: _Tree, phases: Sequence[_Phase]) -> list[Failure]:
    """A cable of every leaf to each spine that is not like another one."""
    import numpy as np

    bundles, spines = tree.bundles, tree.of_level(1)
    columns = _unlike(bundles)
    least = np.zeros((len(tree.leaves), len(columns)))
    for one in phases:
        source, target, sent = one.pairs
        whole = max(one.host, _over(one.leaves, tree.up[tree.leaves]))
        for n, leaf in enumerate(tree.leaves):
            own = max(whole, _over(one.leaves[n], tree.up[leaf] - 1))
            there = (source == n) | (target == n)
            other = bundles[np.where(source[there] == n, target[there], source[there])]
            shared = np.minimum(bundles[n], other).sum(axis=1)
            for k, column in enumerate(columns):
                lost = bundles[n, column] <= other[:, column]
                least[n, k] += one.often * max(own, _over(sent[there], shared - lost))
    return [
        Failure(tree.cable(leaf, spines[column]), float(least[n, k]))
        for n, leaf in enumerate(tree.leaves)
        for k, column in enumerate(columns)
        if bundles[n, column]
    ]
