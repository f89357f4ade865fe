"""Irregular fabrics, by seed: graphs, damaged meshes, megaflies with few hosts, trees with cross cables."""

from __future__ import annotations

import random

import numpy as np

import netloom as nl

ENGINES = ("minhop", "updn", "ftree", "d-mod-k", "random", "dla", "dor", "layers")
BEATEN = (5, 25, 91, 145, 168, 208)
"""Seeds on which `layers` beat what `optimize` returned, before that searched shortest ways there."""


class _Cables(list[tuple[str, str]]):
    hosts = 0

    def cable(self, a: int, b: int) -> None:
        if a != b:
            self.append((f"s{a}", f"s{b}"))

    def host(self, switch: int, count: int) -> None:
        for _ in range(count):
            self.append((f"h{self.hosts}", f"s{switch}"))
            self.hosts += 1


def fabric(seed: int) -> nl.Fabric:
    """One of six kinds in turn."""
    rng, made = random.Random(seed), _Cables()
    (_graph, _mesh, _megafly, _crossed, _ring, _damaged)[seed % 6](rng, made)
    while made.hosts < 3:
        made.host(0, 1)
    return nl.Fabric.from_edges(made)


def _graph(rng: random.Random, made: _Cables) -> None:
    switches = rng.randint(6, 20)
    for switch in range(1, switches):
        made.cable(switch, rng.randrange(switch))
    for _ in range(rng.randint(0, 2 * switches)):
        made.cable(rng.randrange(switches), rng.randrange(switches))
    for switch in range(switches):
        made.host(switch, rng.randint(0, 3))


def _mesh(rng: random.Random, made: _Cables) -> None:
    rows, columns = rng.randint(3, 5), rng.randint(3, 5)
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            up, left = row and rng.random() < 0.85, column and rng.random() < 0.85
            if up or (row and not left):
                made.cable(here, here - columns)
            if left or (column and not row):
                made.cable(here, here - 1)
            made.host(here, rng.randint(0, 2))


def _megafly(rng: random.Random, made: _Cables) -> None:
    groups = rng.randint(3, 6)
    for group in range(groups):
        for leaf in (0, 1):
            for spine in (2, 3):
                made.cable(4 * group + leaf, 4 * group + spine)
            made.host(4 * group + leaf, rng.choice((0, 2, 2)))
    pairs = [(a, b) for a in range(groups) for b in range(a)]
    for k, (a, b) in enumerate(pairs):
        made.cable(4 * a + 2 + k % 2, 4 * b + 2 + k // 2 % 2)


def _crossed(rng: random.Random, made: _Cables) -> None:
    leaves, spines = rng.randint(3, 8), rng.randint(2, 4)
    for leaf in range(leaves):
        for spine in range(spines):
            if spine == 0 or rng.random() < 0.9:
                made.cable(leaf, leaves + spine)
        made.host(leaf, rng.randint(1, 4))
    for _ in range(rng.randint(1, 3)):
        made.cable(rng.randrange(leaves), rng.randrange(leaves))
    if rng.random() < 0.5:
        made.cable(leaves, leaves + 1)
    made.host(leaves, rng.choice((0, 0, 1)))


def _ring(rng: random.Random, made: _Cables) -> None:
    switches = rng.randint(5, 14)
    for switch in range(switches):
        made.cable(switch, (switch + 1) % switches)
        made.host(switch, rng.randint(0, 2))
    for _ in range(rng.randint(0, 4)):
        made.cable(rng.randrange(switches), rng.randrange(switches))


def _damaged(rng: random.Random, made: _Cables) -> None:
    for pod in range(3):
        for leaf in range(3):
            for spine in (5, 6):
                if spine == 5 or rng.random() < 0.9:
                    made.cable(10 * pod + leaf, 10 * pod + spine)
            made.host(10 * pod + leaf, 2)
        for spine in (5, 6):
            for core in (100, 102):
                if core == 100 or rng.random() < 0.9:
                    made.cable(10 * pod + spine, core + spine - 5)
    for _ in range(rng.randint(0, 2)):
        made.cable(10 * rng.randrange(3), 10 * rng.randrange(3) + 5)


def traffics(fabric: nl.Fabric, seed: int) -> list[nl.Traffic]:
    """A permutation, a third of the pairs at random, and all of them."""
    hosts, rng = fabric.hosts, np.random.default_rng(seed)
    permuted = np.zeros((hosts, hosts))
    permuted[np.arange(hosts), rng.permutation(hosts)] = 9
    some = rng.integers(1, 10, (hosts, hosts)) * (rng.random((hosts, hosts)) < 0.3)
    matrices = [permuted, some.astype(float), np.ones((hosts, hosts))]
    found = []
    for matrix in matrices:
        np.fill_diagonal(matrix, 0)
        at = np.nonzero(matrix)
        if len(at[0]):
            found.append(nl.Traffic.from_triples(fabric, *at, matrix[at]))
    return found
