"""Loops with canaries in the simulator: a seed decides fabric, work, canary and start.

Two kinds of irregular work take turns, so that changes are proposed and what was good for one is not for the
other. Of every canary that was loaded its gain is computed again, by the loads of its tables alone.

    python tests/canary_bed.py 60 [--first SEED]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import netloom as nl
import spoilt
from netloom.loop import simulated
from netloom.loop.plan import read_plan
from netloom.loop.propose import Canary, Evidence, draw_canary

TREES = (
    *("two-level:leaves=8,hosts=4,spines=4", "two-level:leaves=6,hosts=6,spines=4"),
    "fattree:pods=3,leaves=3,hosts=5,spines=3,groups=1,cores=3",
)
WORK = ("sparse", "shuffle", "powers", "geometric", "dense")
ROUNDS = 4


@dataclass
class Told:
    """What came of some loops."""

    loops: int = 0
    rounds: int = 0
    canaries: int = 0
    none: int = 0
    """Changes of which no part gains."""
    decisions: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        decided = ", ".join(f"{count} {word}" for word, count in sorted(self.decisions.items()))
        lines = [
            f"{self.loops} loops, {self.rounds} rounds ({decided})",
            f"{self.canaries} canaries loaded, {self.none} changes without one",
            f"{len(self.faults)} against their own prediction",
        ]
        return "\n".join([*lines, *self.faults])


def written(folder: Path, seed: int) -> Path:
    """The plan of a seed, with its files."""
    rng = np.random.default_rng([seed, 60])
    fabric = nl.Fabric.generate(str(rng.choice(TREES)))
    if dead := int(rng.integers(3)):
        fabric = spoilt._damaged(fabric, dead, seed)
    fabric.write(folder / "net.txt")
    names = fabric.host_names
    for phase in ("one", "other"):
        ranks = int(rng.integers(fabric.hosts // 2, fabric.hosts + 1))
        bytes_, _ = spoilt.matrix(rng, ranks, str(rng.choice(WORK)))
        bytes_ = np.ceil(bytes_ * 4e5 / bytes_.sum(axis=1).max())
        # A file of pairs knows no ranks behind the last that talks.
        ranks = int(np.argwhere(bytes_).max()) + 1
        hosts = [names[host] for host in rng.permutation(fabric.hosts)[:ranks].tolist()]
        lines = [f"{a},{b},{int(bytes_[a, b])}" for a, b in np.argwhere(bytes_).tolist()]
        (folder / f"{phase}.csv").write_text("\n".join(["source,destination,bytes", *lines]) + "\n")
        program = f'{{ kind = "matrix", matrix = "{phase}.csv" }}'
        job = (
            f'[[job]]\nname = "{phase}"\nhosts = {json.dumps(hosts)}\nranks = {ranks}\nprogram = {program}\n'
        )
        (folder / f"{phase}.toml").write_text(f'fabric = "net.txt"\nname = "{phase}"\n{job}')
    start = str(rng.choice(["updn", "minhop", "random"]))
    text = f'routes = "{start}"\ncanary_percent = {rng.choice([10, 25, 40])}\nseed = {seed}\n'
    if rng.random() < 0.7:
        text += 'vl_scheme = "5sl5vl:seed=1"\n'
    for number in range(ROUNDS):
        phase = ("one", "other")[number % 2]
        text += f'[[phase]]\nname = "{phase}"\nscenario = "{phase}.toml"\n'
    (folder / "loop.toml").write_text(text)
    return folder / "loop.toml"


def worst(fabric: nl.Fabric, routes: nl.Routes, evidence: Evidence) -> float:
    """The loads of the busiest links, phase by phase."""
    return sum(weight * nl.loads(fabric, routes, traffic).max for traffic, weight in evidence.layers)


def run(seed: int, told: Told) -> None:
    """One loop."""
    drawn: list[Canary] = []

    def draw(evidence: Evidence, proposed: nl.Routes, percent: float, number: int) -> Canary | None:
        canary = draw_canary(evidence, proposed, percent, number)
        if canary is None:
            told.none += 1
            return None
        drawn.append(canary)
        before, after = (
            worst(evidence.fabric, routes, evidence) for routes in (evidence.present, canary.routes)
        )
        if after >= before or canary.prediction.sure_gain <= 0:
            told.faults.append(f"seed {seed}, round {number}: {before:g} to {after:g}, {canary.prediction}")
        return canary

    with tempfile.TemporaryDirectory() as folder:
        plan = read_plan(written(Path(folder), seed))
        kept, simulated.draw_canary = simulated.draw_canary, draw
        try:
            rounds = list(simulated.SimulatedLoop(plan, threads=1, work=20_000).rounds())
        finally:
            simulated.draw_canary = kept
    told.loops += 1
    told.rounds += len(rounds)
    told.canaries += len(drawn)
    for one, _ in rounds:
        told.decisions[one.decision] = told.decisions.get(one.decision, 0) + 1


def main() -> None:
    """Prints what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    told = Told()
    for seed in range(options.first, options.first + options.count):
        run(seed, told)
        print(f"{seed}: {told.loops} loops, {told.canaries} canaries", file=sys.stderr)
    print(told)


if __name__ == "__main__":
    main()
