"""Generated runs of known cause: fabrics of random size, jobs in random places, one fault in them, or none.

Nothing here knows how the diagnosis works; it only writes scenarios. That a run has its cause was tried when
this was written, by taking the cause away: other tables, other places, no neighbour.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netloom.diagnose.retrained import retrained

CAUSES = (
    "incast", "bad-mapping", "bad-routes", "noisy-neighbour", "over-subscription", "slow-cable", "none"
)  # fmt: skip

_BYTES_PER_US = 12_500
"""What links of the generated fabrics carry (EDR)."""
_KIB = 1024

_Entries = dict[tuple[int, int], int]


@dataclass(frozen=True)
class Case:
    """A run whose cause is known."""

    cause: str
    scenario: str
    """TOML."""
    expected_us: float
    """About how long it takes, for the length of windows."""
    files: dict[str, str] = field(default_factory=dict)
    """What the scenario names beside it."""


@dataclass(frozen=True)
class _Fabric:
    spec: str
    leaves: int
    hosts: int
    """A leaf."""

    @property
    def total(self) -> int:
        return self.leaves * self.hosts


def generate(cause: str, seed: int) -> Case:
    """A run of this cause; the same seed gives the same run."""
    return _MAKERS[cause](random.Random(f"{cause} {seed}"))


def spread(cases: int, seed: int) -> list[Case]:
    """As many of every cause as of any other, in turn."""
    return [generate(CAUSES[k % len(CAUSES)], seed * 1000 + k // len(CAUSES)) for k in range(cases)]


# What scenarios are made of


def _fabric(rng: random.Random, taper: int) -> _Fabric:
    """Two or three levels; leaves have `taper` times as many hosts as cables up."""
    if rng.random() < 0.3:
        spines = rng.choice([2, 3, 4])
        pods, leaves = rng.choice([2, 3]), rng.choice([3, 4])
        hosts = spines * taper
        above = f"spines={spines},groups={spines},cores={leaves}"
        return _Fabric(f"fattree:pods={pods},leaves={leaves},hosts={hosts},{above}", pods * leaves, hosts)
    spines = rng.randint(3, 10 // taper + 2)
    leaves, hosts = rng.randint(5, 10), spines * taper
    return _Fabric(f"two-level:leaves={leaves},hosts={hosts},spines={spines}", leaves, hosts)


def _toml(value: Any) -> str:
    """A value, tables in one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _job(name: str, allocation: str, program: Mapping[str, Any], **more: Any) -> str:
    lines = {"name": name, "allocation": allocation, **more, "program": program}
    return "\n[[job]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())


def _head(rng: random.Random, fabric: _Fabric, routes: str) -> str:
    lines = {"name": "case", "fabric": fabric.spec, "routes": routes, "seed": rng.randrange(1 << 30)}
    return "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())


def _program(iterations: int) -> dict[str, Any]:
    """What a matrix says, some times."""
    return {"kind": "matrix", "matrix": "matrix.csv", "iterations": iterations}


def _files(entries: _Entries) -> dict[str, str]:
    rows = "".join(f"{s},{d},{size}\n" for (s, d), size in sorted(entries.items()))
    return {"matrix.csv": f"source,destination,bytes\n{rows}"}


def _grid(ranks: int) -> list[int]:
    """The most cubic grid of three sides."""
    best = [1, 1, ranks]
    for a in range(1, ranks + 1):
        for b in range(a, ranks // a + 1):
            c = ranks // (a * b)
            if a * b * c == ranks and c >= b and c - a < best[2] - best[0]:
                best = [a, b, c]
    return best


# The causes


def _incast(rng: random.Random) -> Case:
    fabric = _fabric(rng, rng.choice([1, 1, 2]))
    ranks = rng.randint(fabric.total // 2, fabric.total)
    fan = rng.randint(5, max(6, ranks // 3))
    size = rng.choice([64, 128, 256]) * _KIB
    entries: _Entries = {}
    for target in rng.sample(range(ranks), rng.choice([1, 1, 2])):
        for source in rng.sample([rank for rank in range(ranks) if rank != target], fan):
            entries[source, target] = size
    # Beside it some send a little to somebody.
    shift = rng.randrange(1, ranks)
    for source in range(ranks):
        if rng.random() < 0.5:
            pair = (source, (source + shift) % ranks)
            entries[pair] = entries.get(pair, 0) + size // 8
    iterations = rng.randint(6, 10)
    head = _head(rng, fabric, rng.choice(["adaptive", "d-mod-k", "ftree"]))
    job = _job("gather", rng.choice(["fragmented", "random"]), _program(iterations))
    return Case("incast", head + job, fan * size * iterations / _BYTES_PER_US, _files(entries))


def _bad_mapping(rng: random.Random) -> Case:
    fabric = _fabric(rng, 2)
    size, iterations = rng.choice([64, 128]) * _KIB, rng.randint(3, 6)
    head = _head(rng, fabric, rng.choice(["adaptive", "optimized"]))
    if rng.random() < 0.5:
        # Groups as large as a leaf talk among themselves, and their ranks lie scattered.
        entries = {
            (rank, other): size
            for rank in range(fabric.total)
            for other in range(rank - rank % fabric.hosts, rank - rank % fabric.hosts + fabric.hosts)
            if other != rank
        }
        job = _job("groups", "fragmented", _program(iterations), mapping="random")
        time = fabric.hosts * size * iterations * 2 / _BYTES_PER_US
        return Case("bad-mapping", head + job, time, _files(entries))
    shape = [fabric.hosts // 2, 2, fabric.leaves]
    program = {"kind": "stencil", "shape": shape, "bytes": size, "iterations": iterations * 2}
    job = _job("stencil", "fragmented", program, ranks=fabric.total, mapping="random")
    return Case("bad-mapping", head + job, 6 * size * iterations * 4 / _BYTES_PER_US)


def _bad_routes(rng: random.Random) -> Case:
    fabric = _fabric(rng, 1)
    size, iterations = rng.choice([256, 512]) * _KIB, rng.randint(3, 5)
    partners = list(range(fabric.total))
    while any(k // fabric.hosts == p // fabric.hosts for k, p in enumerate(partners)):
        # Everybody one partner in another leaf: a random one, mended by swaps.
        rng.shuffle(partners)
        for k in range(fabric.total):
            if k // fabric.hosts == partners[k] // fabric.hosts:
                other = rng.randrange(fabric.total)
                partners[k], partners[other] = partners[other], partners[k]
    head = _head(rng, fabric, rng.choice(["random", "d-mod-k", "minhop", "updn"]))
    job = _job("partners", "fragmented", _program(iterations))
    entries = dict.fromkeys(enumerate(partners), size)
    return Case("bad-routes", head + job, 2.5 * size * iterations / _BYTES_PER_US, _files(entries))


def _noisy_neighbour(rng: random.Random) -> Case:
    fabric = _fabric(rng, rng.choice([2, 3]))
    ours = rng.randint(fabric.total // 4, fabric.total // 2)
    theirs = fabric.total - ours
    size, iterations = rng.choice([16, 32]) * _KIB, rng.randint(12, 20)
    program: dict[str, Any] = {"kind": "all-to-all", "bytes": max(_KIB, size // ours)}
    if rng.random() < 0.5:
        program = {"kind": "halo", "shape": _grid(ours), "face_bytes": size}
        iterations *= 2
    program |= {"iterations": iterations, "compute_us": rng.randint(4, 12)}
    noise: dict[str, Any] = {"kind": "all-to-all", "bytes": rng.choice([64, 128]) * _KIB}
    if rng.random() < 0.5:
        noise = {"kind": "incast", "root": rng.randrange(theirs), "bytes": 256 * _KIB}
        noise |= {"messages": 2, "iterations": 50}
    head = _head(rng, fabric, rng.choice(["adaptive", "d-mod-k", "ftree"]))
    solver = _job("solver", "random", program, ranks=ours)
    bully = _job("bully", "random", noise, ranks=theirs, until="solver")
    return Case("noisy-neighbour", head + solver + bully, 1500.0)


def _over_subscription(rng: random.Random) -> Case:
    fabric = _fabric(rng, rng.choice([2, 3]))
    total = partners = fabric.total
    size, iterations = rng.choice([8, 16]) * _KIB, rng.randint(2, 3)
    program: dict[str, Any] = {"kind": "all-to-all", "bytes": size, "iterations": iterations}
    files = {}
    if rng.random() < 0.5:
        # So many partners that no mapping brings them together.
        partners = rng.randint(total // 3, total // 2)
        names = rng.sample(range(total), total)
        shifts = rng.sample(range(1, total), partners)
        files = _files(
            {(names[rank], names[(rank + shift) % total]): size for rank in range(total) for shift in shifts}
        )
        program = _program(iterations)
    head = _head(rng, fabric, rng.choice(["adaptive", "optimized"]))
    job = _job("everybody", "fragmented", program, ranks=total)
    time = partners * size * iterations * 3 / _BYTES_PER_US
    return Case("over-subscription", head + job, time, files)


def _slow_cable(rng: random.Random) -> Case:
    """Everybody to everybody with room for it, but one cable between switches trained down."""
    from netloom import _core

    made = _fabric(rng, 1)
    fabric = _core.Fabric.generate(made.spec)
    table = fabric.link_table()
    ends = zip(table["source"].tolist(), table["target"].tolist(), strict=True)
    interior = [link for link, pair in enumerate(ends) if min(pair) >= fabric.hosts]
    rate = rng.choice(["4xDDR", "4xQDR", "1xEDR", "2xEDR"])
    dump = retrained(fabric, {rng.choice(interior): rate}).decode()
    iterations, size = rng.randint(2, 4), rng.choice([16, 32]) * _KIB
    program = {"kind": "all-to-all", "bytes": size, "iterations": iterations}
    job = _job("everybody", "fragmented", program, ranks=made.total)
    head = _head(rng, _Fabric("net.txt", made.leaves, made.hosts), rng.choice(["d-mod-k", "ftree"]))
    time = 3 * made.total * size * iterations / _BYTES_PER_US
    return Case("slow-cable", head + job, time, {"net.txt": dump})


def _none(rng: random.Random) -> Case:
    kind = rng.choice([_light, _shift, _solver, _two, _local, _even])
    return kind(rng, _fabric(rng, 1 if kind in (_shift, _even) else rng.choice([1, 2])))


def _light(rng: random.Random, fabric: _Fabric) -> Case:
    """Messages now and then."""
    program = {"kind": "uniform", "bytes": rng.choice([4, 8, 16]) * _KIB, "messages": 60}
    program["load"] = rng.choice([0.05, 0.1, 0.15])
    job = _job("light", "random", program, ranks=fabric.total)
    return Case("none", _head(rng, fabric, rng.choice(["adaptive", "ftree"])) + job, 400.0)


def _shift(rng: random.Random, fabric: _Fabric) -> Case:
    """As fast as hosts can, on tables that were made for it."""
    size, messages = 128 * _KIB, rng.randint(6, 10)
    program = {"kind": "stream", "pattern": "bisection", "bytes": size, "messages": messages}
    job = _job("shift", "fragmented", program, ranks=fabric.total - fabric.total % 2)
    return Case("none", _head(rng, fabric, "optimized") + job, size * messages * 1.2 / _BYTES_PER_US)


def _halo(rng: random.Random, shape: list[int]) -> dict[str, Any]:
    """Much to compute, little to send, to ranks next door."""
    program = {"kind": "halo", "shape": shape, "periodic": False, "face_bytes": rng.choice([16, 32]) * _KIB}
    return {**program, "iterations": 15, "compute_us": rng.randint(20, 60)}


def _solver(rng: random.Random, fabric: _Fabric) -> Case:
    program = _halo(rng, [fabric.hosts, fabric.leaves, 1])
    job = _job("solver", "fragmented", program, ranks=fabric.total)
    return Case("none", _head(rng, fabric, rng.choice(["adaptive", "ftree"])) + job, 1200.0)


def _two(rng: random.Random, fabric: _Fabric) -> Case:
    """Two jobs that do each other no harm."""
    leaves = fabric.leaves // 2
    left = _job("left", "fragmented", _halo(rng, [fabric.hosts, leaves, 1]), ranks=leaves * fabric.hosts)
    program = {"kind": "uniform", "bytes": 8 * _KIB, "messages": 50, "load": 0.1}
    right = _job("right", "fragmented", program, ranks=(fabric.leaves - leaves) * fabric.hosts)
    return Case("none", _head(rng, fabric, rng.choice(["adaptive", "ftree"])) + left + right, 1200.0)


def _local(rng: random.Random, fabric: _Fabric) -> Case:
    """As fast as hosts can, but none of it leaves its leaf."""
    size, iterations, shift = (
        rng.choice([64, 128]) * _KIB,
        rng.randint(3, 6),
        rng.randint(1, fabric.hosts - 1),
    )
    entries = {
        (rank, rank - rank % fabric.hosts + (rank + shift) % fabric.hosts): size
        for rank in range(fabric.total)
    }
    job = _job("local", "fragmented", _program(iterations))
    time = size * iterations * 1.2 / _BYTES_PER_US
    return Case("none", _head(rng, fabric, "ftree") + job, time, _files(entries))


def _even(rng: random.Random, fabric: _Fabric) -> Case:
    """Everybody to everybody, a little at a time, with room for all of it."""
    program = {"kind": "all-to-all", "bytes": rng.choice([1, 2]) * _KIB, "iterations": 10}
    program["compute_us"] = rng.randint(20, 40)
    job = _job("even", "fragmented", program, ranks=fabric.total)
    return Case("none", _head(rng, fabric, rng.choice(["adaptive", "ftree"])) + job, 600.0)


_MAKERS: dict[str, Callable[[random.Random], Case]] = {
    "incast": _incast,
    "bad-mapping": _bad_mapping,
    "bad-routes": _bad_routes,
    "noisy-neighbour": _noisy_neighbour,
    "over-subscription": _over_subscription,
    "slow-cable": _slow_cable,
    "none": _none,
}
