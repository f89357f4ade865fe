"""The random graphs of `tests/data/random-graphs`, as ibsim net files.

A `regular` graph has the same number of cables at every switch: ends of cables are joined at random, and
those that would join a switch to itself or two switches twice are exchanged with others. A `tree+` graph is a
random tree, each switch joined to an earlier one, with cables between random pairs that have none yet.
"""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path

SEEDS = Path(__file__).parent / "data" / "random-graphs" / "seeds.csv"


@dataclass(frozen=True)
class Graph:
    """One line of the table."""

    name: str
    kind: str
    switches: int
    cables: int
    hosts: int
    seed: int

    def joined(self) -> list[tuple[int, int]]:
        """Its cables between switches; all switches are connected."""
        number = self.seed
        while True:
            draw = random.Random(number)
            pairs = _regular(self, draw) if self.kind == "regular" else _tree(self, draw)
            if pairs is not None and _connected(self.switches, pairs):
                return sorted(pairs)
            number += 1_000_003

    def net(self) -> str:
        """What ibsim reads."""
        ports: list[list[str]] = [[f'"h{s}-{h}"[1]' for h in range(self.hosts)] for s in range(self.switches)]
        for s, t in self.joined():
            here, there = len(ports[s]) + 1, len(ports[t]) + 1
            ports[s].append(f'"s{t}"[{there}]')
            ports[t].append(f'"s{s}"[{here}]')
        lines = []
        for s, behind in enumerate(ports):
            lines += [
                f'Switch {len(behind)} "s{s}"',
                *(f"[{n}] {end}" for n, end in enumerate(behind, 1)),
                "",
            ]
        for s in range(self.switches):
            for h in range(self.hosts):
                lines += [f'Hca 1 "h{s}-{h}"', f'[1] "s{s}"[{h + 1}]', ""]
        return "\n".join(lines)


def graphs() -> list[Graph]:
    """All of the table."""
    with SEEDS.open() as file:
        return [
            Graph(
                row["graph"], row["kind"], *(int(row[key]) for key in ("switches", "cables", "hosts", "seed"))
            )
            for row in csv.DictReader(file)
        ]


def _regular(graph: Graph, draw: random.Random) -> set[tuple[int, int]] | None:
    degree = 2 * graph.cables // graph.switches
    ends = [s for s in range(graph.switches) for _ in range(degree)]
    for at in range(len(ends) - 1, 0, -1):
        other = int(draw.random() * (at + 1))
        ends[at], ends[other] = ends[other], ends[at]
    for _ in range(1000 * graph.cables):
        pairs = [(min(pair), max(pair)) for pair in zip(ends[::2], ends[1::2], strict=True)]
        seen: set[tuple[int, int]] = set()
        wrong = []
        for at, pair in enumerate(pairs):
            if pair[0] == pair[1] or pair in seen:
                wrong.append(at)
            seen.add(pair)
        if not wrong:
            return seen
        a, b = 2 * wrong[0], int(draw.random() * len(ends))
        ends[a], ends[b] = ends[b], ends[a]
    return None


def _tree(graph: Graph, draw: random.Random) -> set[tuple[int, int]]:
    pairs = {(int(draw.random() * s), s) for s in range(1, graph.switches)}
    while len(pairs) < graph.cables:
        a, b = (int(draw.random() * graph.switches) for _ in range(2))
        if a != b:
            pairs.add((min(a, b), max(a, b)))
    return pairs


def _connected(switches: int, pairs: set[tuple[int, int]]) -> bool:
    near: list[list[int]] = [[] for _ in range(switches)]
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    seen, todo = {0}, [0]
    while todo:
        for other in near[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return len(seen) == switches
