"""How often the intervals of `netloom noise --seeds` hold: the table in docs/methods/noise.md.

A script, not a test: `.venv/bin/python tests/noise_coverage.py 2400` simulates so many seeds of a scene, in
some minutes, and takes ten at a time for an interval.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

import netloom as nl
from netloom.noise import joined, over_runs
from netloom.noise.ran import Ran

SEED = 70_000
DRAWS = 10
_LOADED = """
fabric = "two-level:leaves=2,hosts=4,spines=1"
routes = ["ROUTING"]
profile = "codes"
[[job]]
name = "a"
hosts = "host[0000,0004]"
program = { kind = "uniform", bytes = 4096, load = MINE, messages = 150 }
[[job]]
name = "b"
hosts = "host[0001,0005]"
program = { kind = "uniform", bytes = 4096, load = THEIRS, messages = 150 }
"""
_PING_PONG = """
fabric = "two-level:leaves=4,hosts=4,spines=2"
routes = ["ROUTING"]
[[job]]
name = "a"
hosts = "host[0000,0012]"
program = { kind = "ping-pong", bytes = "16KiB", iterations = 10 }
[[job]]
name = "b"
hosts = "host[0001-0010]"
program = { kind = "pairs", pairing = "random", rounds = 4, messages = 8, bytes = 60000 }
until = "a"
"""
_HALO = """
fabric = "two-level:leaves=4,hosts=4,spines=2"
routes = ["ROUTING"]
[[job]]
name = "a"
ranks = 8
allocation = "random"
program = { kind = "halo", shape = [2, 2, 2], face_bytes = "16KiB", iterations = 3, compute_us = 5 }
[[job]]
name = "b"
ranks = 8
allocation = "random"
program = { kind = "pairs", rounds = 4, messages = 8, bytes = 60000 }
until = "a"
"""
SCENES = {
    "M/D/1, load 0.5": (_LOADED.replace("MINE", "0.5").replace("THEIRS", "0.3"), "ftree"),
    "M/D/1, load 0.8": (_LOADED.replace("MINE", "0.4").replace("THEIRS", "0.4"), "ftree"),
    "ping-pong, `adaptive`": (_PING_PONG, "adaptive"),
    "ping-pong, `random-per-packet`": (_PING_PONG, "random-per-packet"),
    "halo, `adaptive`": (_HALO, "adaptive"),
    "halo, `random-per-packet`": (_HALO, "random-per-packet"),
}


def figures(text: str, routing: str, seeds: int) -> Iterator[tuple[float | None, float, float]]:
    """Slowdown, median and mean difference with each seed."""
    for seed in range(SEED, SEED + seeds):
        scene = nl.Scenario.parse(text.replace("ROUTING", routing).encode(), overrides=[f"seed={seed}"])
        both = []
        for one in (scene, scene.alone("a")):
            ended = nl.simulate(one, routing, messages=["a"])
            both.append(Ran.of(ended, ended.messages() or {}, 0))
        beside, alone = both
        pairs = joined(beside.messages, alone.messages)
        slowdown = beside.took_ps / alone.took_ps if beside.took_ps and alone.took_ps else None
        median = statistics.median(pairs.beside_ps.tolist()) / 1e6
        yield slowdown, median, float(pairs.difference_ps.mean()) / 1e6


def coverage(values: list[float]) -> float:
    """Percent of intervals of `DRAWS` values each that hold the mean of all, of those that are given."""
    mean, held = statistics.fmean(values), []
    for first in range(0, len(values) - DRAWS + 1, DRAWS):
        told = over_runs(values[first : first + DRAWS], SEED + first)
        if told is not None and told["low"] is not None:
            held.append(told["low"] <= mean <= told["high"])
    return 100 * sum(held) / len(held)


if __name__ == "__main__":
    print("| scene | slowdown | median | difference of a message |\n|---|---|---|---|")
    for name, (text, routing) in SCENES.items():
        rows = list(figures(text, routing, int(sys.argv[1])))
        columns = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
        print(f"| {name} | {' | '.join(f'{coverage(column):.1f}' for column in columns)} |", flush=True)
