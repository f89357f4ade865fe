"""Spoilt counters: a generator of jobs, counters and what goes wrong with them, and a judge of `infer`.

A case is a random tree, one to four jobs on it, their counters under one of the engines, and one kind of
damage (`KINDS`). The judge compares leaf sums of the answer with those of *all* traffic, that of jobs that
nobody listed included. Everything follows from the seed and the kind.

    python tests/spoilt.py 1000 [--first SEED] [--kinds none,missing] [-v]
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from netloom import _core
from netloom.errors import NetloomError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = (
    *("none", "skew", "noise", "holes", "missing", "merged", "split", "swapped", "wrap", "order", "routes"),
    *("small", "damage", "lanes"),
)
"""Nothing; ports read up to 2 s apart; 2 to 5 % of noise; 15 % of the values not read; a job that nobody
listed; two jobs as one; one as two; ranks of two jobs exchanged; counters of 32 bits that wrapped; ranks in
another order; other routes than those in force; nothing, but irregular jobs on a small tree; dead cables;
several lanes, with 15 % of the values missing, noise, or nothing."""
SPOILT = tuple(kind for kind in KINDS if kind not in ("none", "small"))
MATRICES = (
    *("faces", "stencil", "periodic", "rows", "shuffle", "sparse", "dense"),
    *("powers", "geometric", "waves", "bits"),
)
ENGINES = ("ftree", "d-mod-k", "updn", "random", "minhop")
IRREGULAR = ("sparse", "dense", "powers", "geometric", "shuffle")
SMALL = (*IRREGULAR, "heavy", "heavy")
"""Of small jobs; `heavy` are amounts over five orders of magnitude between few partners."""
MOST_WRONG = 0.02
"""Leaf sums of an answer that is called identified are off by no more than this part of all traffic."""
NOTHING = 0.01
"""Errors below this are nothing, whatever was told below it."""


@dataclass(frozen=True)
class Case:
    """Counters, what `infer` is told of them, and the truth."""

    fabric: Any
    routes: Any
    told: Any
    counters: Any
    truth: Any
    jobs: list[Any]
    text: str
    vl_scheme: str | None = None


@dataclass(frozen=True)
class Judged:
    """What came of a case; errors are parts of all that was sent."""

    kind: str
    seed: int
    text: str
    verdict: str
    told: float = 0.0
    true: float = 0.0
    distinct: bool = True
    reason: str = ""

    @property
    def is_lie(self) -> bool:
        """Whether it was called identified and is not."""
        return self.verdict == "identified" and self.true > MOST_WRONG

    @property
    def is_told(self) -> bool:
        """Whether the error was told within a factor of two."""
        small = self.told < NOTHING and self.true < NOTHING
        return small or 0.5 <= self.told / max(self.true, 1e-12) <= 2.0


def matrix(rng: np.random.Generator, ranks: int, what: str | None = None) -> tuple[np.ndarray, str]:
    """Bytes between ranks: of applications on grids, or irregular."""
    what = what or MATRICES[rng.integers(len(MATRICES))]
    scale = 10.0 ** rng.uniform(5, 8)
    found = np.zeros((ranks, ranks))
    rank = np.arange(ranks)
    if what in ("faces", "stencil", "periodic"):
        found = _stencil(rng, ranks, what) * scale
    elif what == "rows":
        width = max(side for side in (2, 3, 4, 6, 8, 16) if ranks % side == 0 or side == 2)
        row, column = rank // width, rank % width
        found = scale * ((row[:, None] == row) + 0.37 * (column[:, None] == column))
    elif what == "shuffle":
        order = rng.permutation(ranks)
        for a, b in zip(order[::2], order[1::2], strict=False):
            found[a, b] = found[b, a] = scale
    elif what == "sparse":
        for one in rank:
            others = rng.choice(ranks, min(ranks - 1, int(rng.integers(2, 7))), replace=False)
            found[one, others] += scale * rng.exponential(size=others.size)
    elif what == "heavy":
        among = rng.random((ranks, ranks)) < rng.uniform(0.1, 0.5)
        found = np.where(among, scale * np.exp(2 * rng.standard_normal((ranks, ranks))), 0)
    elif what == "dense":
        found = scale * np.exp(rng.uniform(0.2, 1.5) * rng.standard_normal((ranks, ranks)))
    elif what == "powers":
        share = (1.0 + rng.permutation(ranks)) ** -rng.uniform(0.3, 1)
        found = scale * np.outer(share, share[rng.permutation(ranks)]) * rng.exponential(size=(ranks, ranks))
    elif what == "geometric":
        place = rng.random((ranks, 3))
        away = np.linalg.norm(place[:, None] - place[None], axis=2)
        found = np.where(away < rng.uniform(0.25, 0.5), scale * np.exp(-3 * away), 0.0)
    elif what == "waves":
        near, far = rng.integers(1, max(2, ranks), 2)
        np.add.at(found, (rank, (rank + near) % ranks), scale)
        np.add.at(found, (rank, (rank + far) % ranks), 0.2 * scale)
    else:
        for bit in range(int(ranks - 1).bit_length()):
            inside = (rank ^ 1 << bit) < ranks
            found[rank[inside], rank[inside] ^ 1 << bit] = scale
    np.fill_diagonal(found, 0)
    return np.round(found), what


def _stencil(rng: np.random.Generator, ranks: int, what: str) -> np.ndarray:
    sides, left, factor = [1, 1, 1], ranks, 2
    while left > 1:
        if left % factor == 0:
            sides[rng.integers(3)] *= factor
            left //= factor
        else:
            factor += 1
    curve = all(side & (side - 1) == 0 for side in sides) and rng.random() < 0.3
    place = [_morton(sides, r) if curve else _in_rows(sides, r) for r in range(ranks)]
    rank = {one: r for r, one in enumerate(place)}
    weight = np.array([1.0, 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-2, 0)])
    axis = np.ones(3) if what == "periodic" else 10 ** rng.uniform(-1, 0, 3)
    found = np.zeros((ranks, ranks))
    for step in np.ndindex(3, 3, 3):
        offset = np.array(step) - 1
        distance = int(abs(offset).sum())
        if distance == 0 or (what == "faces" and distance > 1):
            continue
        for r, here in enumerate(place):
            there = [here[i] + int(offset[i]) for i in range(3)]
            if what == "periodic":
                there = [there[i] % sides[i] for i in range(3)]
            other = rank.get((there[0], there[1], there[2]))
            if other is not None and other != r:
                found[r, other] += weight[distance - 1] * axis[int(np.argmax(abs(offset)))]
    return found


def _in_rows(sides: Sequence[int], rank: int) -> tuple[int, int, int]:
    return rank % sides[0], rank // sides[0] % sides[1], rank // (sides[0] * sides[1])


def _morton(sides: Sequence[int], rank: int) -> tuple[int, int, int]:
    at, bit = [0, 0, 0], 0
    while any((1 << bit) < side for side in sides):
        for i in range(3):
            if (1 << bit) < sides[i]:
                at[i] |= (rank & 1) << bit
                rank >>= 1
        bit += 1
    return at[0], at[1], at[2]


def traffic(fabric: Any, jobs: Sequence[tuple[list[int], np.ndarray]]) -> Any:
    """Bytes of all jobs over hosts."""
    rows, columns, values = [], [], []
    for hosts, bytes_ in jobs:
        at = np.nonzero(bytes_)
        rows.append(np.array(hosts)[at[0]])
        columns.append(np.array(hosts)[at[1]])
        values.append(bytes_[at])
    return _core.Traffic.from_triples(fabric.hosts, *map(np.concatenate, (rows, columns, values)))


def listed(fabric: Any, jobs: Sequence[tuple[str, Sequence[int]]]) -> list[Any]:
    """Jobs of one rank a host, in this order."""
    names = fabric.host_names
    body = "".join(
        f'[[job]]\nname = "{name}"\nranks = {len(hosts)}\nhosts = "{",".join(names[h] for h in hosts)}"\n'
        for name, hosts in jobs
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.toml")
        path.write_text(body)
        return _core.place_jobs(fabric, path)[1]


def build(seed: int, kind: str, spec: str | None = None, what: str | None = None) -> Case:
    """The case of a seed; on this fabric, of these matrices, if given."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    if spec is None:
        spec = _small(rng) if kind == "small" else _spec(rng)
    fabric = _core.Fabric.generate(spec)
    if kind == "damage":
        dead = int(rng.integers(1, 5))
        fabric = _damaged(fabric, dead, seed)
        spec = f"{spec} less {dead} cables"
    several = kind in ("missing", "merged", "swapped")
    free = list(range(fabric.hosts))
    if rng.random() < 0.4:
        free = rng.permutation(fabric.hosts).tolist()
    elif rng.random() < 0.7:
        first = int(rng.integers(fabric.hosts))
        free = free[first:] + free[:first]
    placed, said, number = [], [], int(rng.integers(2 if several else 1, 5))
    sizes: Sequence[int] = (8, 16, 24, 27, 32, 48, 64, 96, 100, 128, 160, 216)
    if kind == "small":
        number, sizes = 1 + seed % 3, range(6, 21)
    for size in rng.choice(sizes, number).tolist():
        size = min(size, len(free) // (1 if number == 1 else 2))
        if size >= 4:
            irregular = SMALL[rng.integers(len(SMALL))] if kind == "small" else None
            bytes_, word = matrix(rng, size, what or irregular)
            while not bytes_.any():
                bytes_, word = matrix(rng, size, what or irregular)
            placed.append((free[:size], bytes_))
            free = free[size:]
            said.append(f"{word} {size}")
    if len(placed) == 1 and several:
        kind = "none"
    engine = ENGINES[rng.integers(5)]
    routes = told = _core.route(engine, fabric, seed=int(rng.integers(99)))
    # The busiest link is loaded by 5 to 90 % over an interval as people take it.
    worst = float(_core.loads(fabric, routes, traffic(fabric, placed)).max)
    fastest = float(np.max(np.asarray(fabric.link_table()["bandwidth_bytes_per_s"], float)))
    seconds = float(rng.choice([10, 60, 300]))
    scale = seconds * rng.uniform(0.05, 0.9) * fastest / worst
    placed = [(hosts, np.round(bytes_ * scale)) for hosts, bytes_ in placed]
    truth = traffic(fabric, placed)
    odd: dict[str, float] = {}
    if kind == "skew":
        odd["skew"] = float(rng.uniform(0, 2)) / seconds
    elif kind == "noise":
        odd["noise"] = float(rng.uniform(0.02, 0.05))
    elif kind == "holes":
        odd["missing"] = 0.15
    scheme = None
    if kind == "lanes":
        scheme = f"{('2sl2vl', '4sl2vl', '4sl4vl', '5sl5vl')[rng.integers(4)]}:seed={seed}"
        odd = ({}, {"missing": 0.15}, {"missing": 0.15, "noise": 0.005})[rng.integers(3)]
    counters = _core.synth_counters(
        fabric, routes, truth, seconds=seconds, seed=seed, vl_scheme=scheme, **odd
    )
    jobs = [(f"job{k}", hosts) for k, (hosts, _) in enumerate(placed)]
    if kind == "routes":
        others = [e for e in ENGINES if e != engine or e == "random"]
        told = _core.route(others[rng.integers(len(others))], fabric, seed=100 + int(rng.integers(99)))
    elif kind == "wrap":
        counters = _wrapped(fabric, counters, 2**32 if rng.random() < 0.5 else 2**34)
    else:
        jobs = _misread(rng, kind, jobs)
    text = f"{spec} {engine} {'; '.join(said)} {scheme or ''} {odd or ''}".strip()
    return Case(fabric, routes, told, counters, truth, listed(fabric, jobs), text, scheme)


def _small(rng: np.random.Generator) -> str:
    leaves, hosts, spines = rng.integers(3, 7), rng.integers(3, 9), rng.integers(1, 5)
    return f"two-level:leaves={leaves},hosts={hosts},spines={spines}"


def _damaged(fabric: Any, dead: int, seed: int) -> Any:
    """The fabric without so many cables that all engines can do without."""
    everybody = _core.Traffic.read("all-to-all", fabric)
    for draw in range(seed, seed + 1000):
        damaged, _ = fabric.damage(random_links=dead, seed=draw)
        try:
            for engine in ENGINES:
                _core.loads(damaged, _core.route(engine, damaged, seed=0), everybody)
        except NetloomError:
            continue
        return damaged
    raise ValueError(f"no {dead} cables that can be done without")


def _spec(rng: np.random.Generator) -> str:
    if rng.random() < 0.7:
        leaves, hosts, spines = rng.integers(4, 17), rng.choice([4, 8, 12, 16, 18]), rng.integers(2, 9)
        return f"two-level:leaves={leaves},hosts={hosts},spines={spines}"
    pods, leaves, hosts = rng.integers(2, 5), rng.integers(2, 5), rng.choice([4, 8, 9])
    return f"fattree:pods={pods},leaves={leaves},hosts={hosts},spines=4,groups=2,cores=4"


def _misread(
    rng: np.random.Generator, kind: str, jobs: list[tuple[str, list[int]]]
) -> list[tuple[str, list[int]]]:
    """What a list of jobs may say instead."""
    if kind == "missing":
        del jobs[int(rng.integers(len(jobs)))]
    elif kind == "merged":
        last = jobs.pop()
        jobs[-1] = (jobs[-1][0], jobs[-1][1] + last[1])
    elif kind == "split":
        at = int(rng.integers(len(jobs)))
        name, hosts = jobs[at]
        jobs[at : at + 1] = [(name, hosts[: len(hosts) // 2]), (f"{name}b", hosts[len(hosts) // 2 :])]
    elif kind == "swapped":
        (one, a), (other, b) = jobs[:2]
        half = max(1, min(len(a), len(b)) // 2)
        jobs[:2] = [(one, b[:half] + a[half:]), (other, a[:half] + b[half:])]
    elif kind == "order":
        jobs = [(name, rng.permutation(hosts).tolist()) for name, hosts in jobs]
    return jobs


def _wrapped(fabric: Any, counters: Any, at: int) -> Any:
    """All counters of bytes start again from 0 at `at`; packets were not counted."""
    rows = list(csv.reader(io.StringIO(counters.to_bytes().decode())))
    names = rows[0]
    for row in rows[1:]:
        for name in ("xmit_bytes", "rcv_bytes"):
            if row[names.index(name)]:
                row[names.index(name)] = str(int(row[names.index(name)]) % at)
        row[names.index("xmit_packets")] = row[names.index("rcv_packets")] = ""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return _core.Counters.parse(out.getvalue().encode(), fabric)


def leaf_sums(fabric: Any, matrix_: Any) -> np.ndarray:
    """Bytes by source leaf and destination."""
    leaf = np.unique(np.asarray(fabric.host_table()["leaf"]), return_inverse=True)[1]
    entries = matrix_.to_scipy().tocoo()
    others = entries.row != entries.col
    sums = np.zeros((leaf.max() + 1, fabric.hosts))
    np.add.at(sums, (leaf[entries.row[others]], entries.col[others]), entries.data[others])
    return sums


def judge(seed: int, kind: str, **limits: Any) -> Judged:
    """What `infer` makes of a case."""
    case = build(seed, kind, **limits)
    distinct = True
    if kind == "routes":
        first, other = (
            np.asarray(_core.loads(case.fabric, routes, case.truth).per_link)
            for routes in (case.routes, case.told)
        )
        distinct = bool(np.abs(first - other).sum() > 0.01 * first.sum())
    try:
        found = _core.infer(
            case.fabric, case.told, case.counters, case.jobs, vl_scheme=case.vl_scheme, threads=1
        )
    except NetloomError as error:
        return Judged(kind, seed, case.text, "refused", distinct=distinct, reason=str(error))
    truth, answer = leaf_sums(case.fabric, case.truth), leaf_sums(case.fabric, found.traffic)
    true = float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))
    told = found.summary()["estimated_leaf_error_percent"] / 100
    return Judged(kind, seed, case.text, found.verdict, told, true, distinct)


def held_out(name: str) -> tuple[int, int, tuple[str, ...]]:
    """How many cases, from which seed on, of which kinds: of those that nothing was fitted to."""
    text = Path(__file__).with_name("held_out.toml").read_text()
    one = tomllib.loads(text)[name]
    return one["count"], one["first"], SPOILT if one["kinds"] == "spoilt" else (one["kinds"],)


def judged(count: int, first: int = 0, kinds: Sequence[str] = KINDS, workers: int = 2) -> list[Judged]:
    """So many cases, kinds in turn."""
    todo = [(first + k // len(kinds), kinds[k % len(kinds)]) for k in range(count)]
    # Not forked: the core's threads would be gone in the child, and their locks held for ever.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(judge, *zip(*todo, strict=True)))


def table(all_: Sequence[Judged]) -> str:
    """A line a kind."""
    lines = ["kind      cases  refused  identified  partly  not identifiable  lies  told within two"]
    for kind in [*dict.fromkeys(one.kind for one in all_), "all"]:
        of = [one for one in all_ if kind in (one.kind, "all")]
        answers = [one for one in of if one.verdict != "refused"]
        words = ("refused", "identified", "partly", "not identifiable")
        counts = [sum(one.verdict == word for one in of) for word in words]
        lies, right = sum(one.is_lie for one in of), sum(one.is_told for one in answers)
        share = f"{100 * right / len(answers):.0f} % of {len(answers)}" if answers else "-"
        lines.append(
            f"{kind:8}  {len(of):5}  {counts[0]:7}  {counts[1]:10}  {counts[2]:6}  {counts[3]:16}  "
            f"{lies:4}  {share}"
        )
    other = [one for one in all_ if one.kind == "routes" and one.distinct]
    if other:
        refused = sum(one.verdict == "refused" for one in other)
        lines.append(f"other routes that load links otherwise: {refused} of {len(other)} refused")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many cases")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("-v", action="store_true", help="what lies, or is told wrong")
    options = parser.parse_args()
    all_ = judged(options.count, options.first, options.kinds.split(","))
    print(table(all_))
    if options.v:
        for one in all_:
            if one.is_lie or (one.verdict != "refused" and not one.is_told):
                errors = f"told {one.told:.4f}, true {one.true:.4f}"
                print(f"{one.kind} {one.seed} {one.verdict}, {errors}: {one.text}")


if __name__ == "__main__":
    main()
