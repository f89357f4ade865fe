"""Tests of pairs measured by packets, on fabrics with slow cables or unlucky routes.

The held-out cases are 60 fabrics with one to three slow cables, 60 with random routes, 60 healthy ones and 30
with both. `SEEDS` were committed before they were run; what was chosen while the method was made used others.
Knobs of the method and where they are from: `netloom.pairs.explain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import netloom as nl
from netloom.pairs import ALONE, Explained, Flows, PairTests, explain
from netloom.pairs.flows import back
from netloom.pairs.measured import PairTest

SEEDS = {
    "cable": range(990_000, 990_060),
    "routes": range(991_000, 991_060),
    "healthy": range(992_000, 992_060),
    "both": range(993_000, 993_030),
}
"""Held out: committed on 2026-11-28, before any of them was run.

Of a first set (970,000 to 973,029) 208 of 210 were right; it was looked at. Of a second (980,000 to 983,029)
all 210; then a stranger's cases changed the method.
"""
FABRICS = (
    "two-level:leaves=8,hosts=4,spines=4",
    "two-level:leaves=6,hosts=6,spines=3",
    "two-level:leaves=4,hosts=8,spines=8",
    "two-level:leaves=5,hosts=6,spines=4",
    "fattree:pods=2,leaves=3,hosts=4,spines=3,groups=1,cores=4",
    "fattree:pods=4,leaves=2,hosts=3,spines=2,groups=1,cores=4",
)
SPEEDS = ("4xSDR", "4xQDR", "4xFDR10", "4xFDR", "2xEDR", "1xEDR")
"""Of slow cables, where 4xEDR should be: 8 to 55 % of it."""
NOISE = 0.03
SCENARIO = """name = "pairs"
fabric = "{fabric}"
routes = ["ftree"]
[[job]]
name = "pairs"
program = {{ kind = "all-to-all", bytes = 1 }}
"""


@dataclass
class Case:
    """A case and what was found in it."""

    fabric: nl.Fabric
    routes: nl.Routes
    tests: PairTests
    slow: set[int]
    """Slow cables, each by its smaller link."""
    found: Explained
    back: np.ndarray

    def wrong(self) -> list[str]:
        """What is not as it should be; empty if all is right.

        A slow cable must be told, be among alternatives, or be one that no test has cleared: nothing can be
        said of a cable that no pair crosses, or only pairs that others slow down more. No other cable may be
        told, and alternatives have a slow cable among them.
        """
        told = {
            min(c, int(self.back[c])) for s in self.found.suspects if len(s.cables) == 1 for c in s.cables
        }
        groups = [
            {min(c, int(self.back[c])) for c in s.cables} for s in self.found.suspects if len(s.cables) > 1
        ]
        cleared = self.found.cleared
        found = [f"cable {cable} told, is not slow" for cable in told - self.slow]
        found += [f"none of {sorted(group)} is slow" for group in groups if not group & self.slow]
        for cable in self.slow - told - set().union(*groups):
            if cleared[cable] and cleared[self.back[cable]]:
                found.append(f"cable {cable} is slow, was cleared")
            elif self._alone_on(cable):
                found.append(f"cable {cable} is slow, was missed")
        return found

    def _alone_on(self, cable: int) -> bool:
        """Whether two tests cross a cable that met nobody on their ways."""
        flows = Flows.of(self.fabric, self.routes, self.tests)
        rounds = self.tests.round[flows.test]
        crossing = [
            row for row, way in enumerate(flows.way) if {cable, int(self.back[cable])} & set(way.tolist())
        ]
        alone = 0
        for row in crossing:
            others = np.flatnonzero((rounds == rounds[row]) & (np.arange(len(rounds)) != row))
            met = rounds[row] != ALONE and any(
                set(flows.way[row]) & set(flows.way[o]) for o in others.tolist()
            )
            alone += not met
        return alone > 1


def case(kind: str, seed: int, folder: Path, *, rounds: int | None = None, alone: bool = False) -> Case:
    """A case of a kind: all pairs once, in rounds of a tournament, one way at random."""
    rng = np.random.default_rng(seed)
    should = nl.Fabric.generate(str(rng.choice(FABRICS)))
    other = back(should.link_table())
    cables = [link for link in range(should.links) if link < other[link]]
    many = int(rng.integers(1, 4)) if kind in ("cable", "both") else 0
    slow = {int(cable): str(rng.choice(SPEEDS)) for cable in rng.choice(cables, many, replace=False)}
    fabric = with_speeds(should, slow)
    routes = nl.route("random" if kind in ("routes", "both") else "ftree", should, seed=seed)
    pairs = [
        [(a, b) if rng.random() < 0.5 else (b, a) for a, b in one] for one in tournament(should.hosts, rng)
    ][:rounds]
    if alone:
        pairs = [[pair] for one in pairs for pair in one]
    tests = measured(fabric, routes, pairs, folder, rng)
    if alone:
        tests = PairTests.of(
            PairTest(a, b, rate)
            for a, b, rate in zip(tests.source, tests.destination, tests.bytes_per_s, strict=True)
        )
    found = explain(Flows.of(should, routes, tests), tests)
    return Case(should, routes, tests, set(slow), found, other)


def tournament(hosts: int, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Every pair once, in rounds in which every host has at most one partner."""
    ring = [*rng.permutation(hosts).tolist(), *([-1] * (hosts % 2))]
    found = []
    for _ in range(len(ring) - 1):
        both = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
        found.append([pair for pair in both if -1 not in pair])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return found


def with_speeds(fabric: nl.Fabric, speeds: dict[int, str]) -> nl.Fabric:
    """The fabric with other speeds of some cables, each by a link."""
    table, names = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
    ends = {}
    for link, speed in speeds.items():
        for side, far in (("source", "target"), ("target", "source")):
            near = (names[table[side][link]], str(table[f"{side}_port"][link]))
            ends[(*near, names[table[far][link]], str(table[f"{far}_port"][link]))] = speed
    lines = []
    for line in fabric.to_bytes("cables").decode().splitlines():
        cells = line.split(",")
        cells[4] = ends.get((cells[0], cells[1], cells[2], cells[3]), cells[4])
        lines.append(",".join(cells))
    return nl.Fabric.parse(("\n".join(lines) + "\n").encode(), label="slow.csv")


def measured(
    fabric: nl.Fabric,
    routes: nl.Routes,
    pairs: list[list[tuple[int, int]]],
    folder: Path,
    rng: np.random.Generator,
    *,
    size: int = 1 << 20,
    noise: float = NOISE,
) -> PairTests:
    """What pairs measure in packets, round by round, each one message, with noise."""
    cables = folder / "slow.csv"
    cables.write_bytes(fabric.to_bytes("cables"))
    (folder / "pairs.toml").write_text(SCENARIO.format(fabric=cables))
    scenario = nl.Scenario.read(folder / "pairs.toml")
    tests = []
    for number, one in enumerate(pairs):
        sources, to = zip(*one, strict=True)
        traffic = nl.Traffic.from_triples(fabric, sources, to, [float(size)] * len(one))
        run = nl.simulate(scenario.with_traffic(traffic), routes=routes, messages=["traffic"])
        messages = run.messages()
        assert messages is not None
        for a, b, latency in zip(messages["from"], messages["to"], messages["latency_ps"], strict=True):
            rate = size / (int(latency) * 1e-12) * float(np.exp(rng.normal(0.0, noise)))
            tests.append(PairTest(int(a), int(b), rate, number))
    return PairTests.of(tests)
