"""Counters with one defect each: a generator of cases, and a judge of the error that `infer` tells.

A case is a tree of two or three levels with up to six cables cut, one to three jobs on it, and one kind of
defect (`KINDS`): what counters have at worst, or traffic of which they say little. Under `adaptive`
they are those of the packet simulator. The judge compares leaf sums of the answer with those of *all*
traffic.
Everything follows from the seed and the kind; `held_out.toml` names the seeds that nothing is fitted to.

    python tests/defects.py 320 [--first SEED] [--kinds exact,adaptive] [--held-out] [-o FILE] [-v]
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import spoilt
from netloom import _core
from netloom.errors import NetloomError

KINDS = (
    *("exact", "permutation", "beside", "resent", "late", "later", "management", "missing"),
    *("silent", "saturated", "wrapped", "reset", "stranger", "hidden", "stale", "adaptive"),
)
"""Nothing; partners at random with equal bytes; a small job beside a large one; packets sent twice here and
there; ports read 1 % and 5 % of the interval late; 0.1 to 0.4 % of other bytes; ports, or whole switches,
that were not read; counters of 32 bits that stop, or start again; ports set back; a job that names a wrong
host; a job that nobody listed; older routes than those in force; switches that choose packet by packet."""
RIGHT = ("exact", "permutation", "beside", "resent")
"""Nothing is wrong with what `infer` is given."""
MATRICES = (
    *("faces", "stencil", "periodic", "rows", "shuffle", "sparse", "dense", "waves", "bits"),
    *("permutation", "ring", "pipe", "tree", "servers", "blocks", "halves", "transpose"),
)
MOST = 4 * (2**32 - 1)
"""Octets at which a counter of 32 bits stops: it counts words."""
MOST_WRONG = spoilt.MOST_WRONG
NOTHING = spoilt.NOTHING
REASON = 300


@dataclass(frozen=True)
class Case:
    """What `infer` is given, and the truth."""

    fabric: Any
    routes: Any
    counters: Any
    truth: Any
    jobs: list[Any]
    text: str


@dataclass(frozen=True)
class Judged:
    """What came of a case; errors are parts of all that was sent."""

    kind: str
    seed: int
    text: str
    verdict: str
    told: float = 0.0
    true: float = 0.0
    findings: str = ""
    reason: str = ""

    @property
    def is_lie(self) -> bool:
        """Whether it was called identified and is not."""
        return self.verdict == "identified" and self.true > MOST_WRONG

    @property
    def is_small(self) -> bool:
        """Whether what was told and what is true are both next to nothing."""
        return self.told < NOTHING and self.true < NOTHING

    @property
    def is_low(self) -> bool:
        """Whether the error told is below half of the true one."""
        return not self.is_small and self.told < 0.5 * self.true

    @property
    def is_high(self) -> bool:
        """Whether it is above twice the true one."""
        return not self.is_small and self.told > 2.0 * self.true


def matrix(rng: np.random.Generator, ranks: int, what: str) -> np.ndarray:
    """Bytes between ranks."""
    if what in spoilt.MATRICES:
        return spoilt.matrix(rng, ranks, what)[0]
    found = np.zeros((ranks, ranks))
    rank, bytes_ = np.arange(ranks), 10.0 ** rng.uniform(5, 8)
    if what == "permutation":
        found[rank, rng.permutation(ranks)] = bytes_
    elif what == "ring":
        order = rng.permutation(ranks) if rng.random() < 0.5 else rank
        found[order, np.roll(order, -1)] = bytes_
    elif what == "pipe":
        step = int(rng.integers(1, 4))
        found[rank[:-step], rank[step:]] = bytes_ * (1 + 0.1 * (rank[:-step] % 3))
    elif what == "tree":
        parent = (rank[1:] - 1) // int(rng.integers(2, 5))
        found[rank[1:], parent] = found[parent, rank[1:]] = bytes_
    elif what == "servers":
        servers = int(rng.choice([1, 2, 4]))
        found[servers:, :servers] = found[:servers, servers:] = bytes_
    elif what == "blocks":
        order = rng.permutation(ranks) if rng.random() < 0.5 else rank
        size = int(rng.choice([4, 5, 6, 8, 10]))
        for first in range(0, ranks, size):
            among = order[first : first + size]
            found[np.ix_(among, among)] = bytes_
    elif what == "halves":
        half = ranks // 2
        found[rank[:half], half + rng.permutation(half)] = bytes_
    else:
        side = int(np.sqrt(ranks))
        row, column = np.divmod(np.arange(side * side), side)
        found[row * side + column, column * side + row] = bytes_
    np.fill_diagonal(found, 0)
    return np.round(found)


def build(seed: int, kind: str) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 73])
    fabric, spec = _fabric(rng, seed, cut=int(rng.integers(7)) if kind == "adaptive" else None)
    placed, said = _placed(rng, kind, fabric.hosts)
    jobs = [(f"job{k}", hosts) for k, (hosts, _) in enumerate(placed)]
    if kind == "hidden":
        jobs.pop(int(rng.integers(len(jobs))))
    elif kind == "stranger":
        jobs = _with_stranger(rng, jobs, fabric.hosts)
    listed = spoilt.listed(fabric, jobs)
    if kind == "adaptive":
        packets = rng.uniform(4_000, 16_000)
        octets = sum(bytes_.sum() for _, bytes_ in placed)
        placed = [(hosts, np.ceil(bytes_ * packets * 4096 / octets)) for hosts, bytes_ in placed]
        scenario = _core.Scenario.of_traffic(fabric, spoilt.traffic(fabric, placed))
        ended = _core.simulate(scenario, "adaptive", model="packet", counted=True)
        return Case(fabric, "adaptive", ended.counted(), ended.sent(), listed, f"{spec} adaptive {said}")
    engine = spoilt.ENGINES[rng.integers(len(spoilt.ENGINES))]
    routes = told = _core.route(engine, fabric, seed=int(rng.integers(99)))
    seconds = float(rng.choice([10, 60, 300]))
    loads = _core.loads(fabric, routes, spoilt.traffic(fabric, placed))
    per_link = np.asarray(loads.per_link, float)
    fastest = float(np.max(np.asarray(fabric.link_table()["bandwidth_bytes_per_s"], float)))
    scale = seconds * rng.uniform(0.05, 0.9) * fastest / float(loads.max)
    if kind in ("saturated", "wrapped"):
        scale = rng.choice([1.3, 2.7, 5.5]) * MOST / float(per_link.max())
        seconds = max(seconds, 2 * scale * float(loads.max) / fastest)
    placed = [(hosts, np.round(bytes_ * scale)) for hosts, bytes_ in placed]
    truth = spoilt.traffic(fabric, placed)
    skew = {"late": 0.01, "later": 0.05}.get(kind, 0.0)
    counters = _core.synth_counters(fabric, routes, truth, seconds=seconds, seed=seed, skew=skew)
    if kind in SPOILS:
        counters = _spoilt(rng, kind, fabric, counters)
    if kind == "stale":
        others = [one for one in spoilt.ENGINES if one != engine] if rng.random() < 0.5 else ["random"]
        other = _core.route(others[rng.integers(len(others))], fabric, seed=100)
        hosts = rng.choice(fabric.hosts, max(1, fabric.hosts // 5), replace=False)
        told = routes.mixed(other, sorted(int(host) for host in hosts))
    return Case(fabric, told, counters, truth, listed, f"{spec} {engine} {said}")


def _fabric(rng: np.random.Generator, seed: int, cut: int | None) -> tuple[Any, str]:
    """A tree of up to 144 hosts, with cables cut that every engine can do without."""
    spec = (
        *("two-level:leaves=8,hosts=4,spines=4", "two-level:leaves=5,hosts=6,spines=3"),
        *("two-level:leaves=6,hosts=6,spines=4", "two-level:leaves=7,hosts=8,spines=5"),
        *("two-level:leaves=10,hosts=9,spines=5", "two-level:leaves=12,hosts=12,spines=6"),
        "fattree:pods=3,leaves=3,hosts=5,spines=3,groups=1,cores=3",
        "fattree:pods=4,leaves=4,hosts=6,spines=4,groups=2,cores=2",
    )[rng.integers(8)]
    fabric = _core.Fabric.generate(spec)
    dead = int(rng.choice([0, 0, 1, 2, 3])) if cut is None else cut
    if dead == 0:
        return fabric, spec
    return spoilt._damaged(fabric, dead, seed), f"{spec} less {dead} cables"


def _placed(
    rng: np.random.Generator, kind: str, hosts: int
) -> tuple[list[tuple[list[int], np.ndarray]], str]:
    """Jobs on hosts of their own."""
    count = int(rng.choice([1, 1, 1, 2, 3]))
    count = max(count, 2) if kind in ("hidden", "beside") else count
    free = list(range(hosts))
    if rng.random() < 0.4:
        free = rng.permutation(hosts).tolist()
    if kind == "beside":
        small = int(rng.integers(4, 11))
        sizes = [int(rng.integers((hosts - small) // 2, hosts - small + 1)), small]
    else:
        most = hosts // count
        sizes = [int(rng.integers(max(4, most // 2), most + 1)) for _ in range(count)]
    placed, said = [], []
    for number, size in enumerate(sizes):
        what = str(rng.choice(MATRICES))
        if kind == "permutation":
            what = str(rng.choice(["permutation", "permutation", "ring", "halves", "shuffle"]))
        bytes_ = matrix(rng, size, what)
        while not bytes_.any():
            what = str(rng.choice(MATRICES))
            bytes_ = matrix(rng, size, what)
        if kind == "beside" and number == 1:
            bytes_ = bytes_ * rng.uniform(0.02, 0.5) * placed[0][1].max() / bytes_.max()
        placed.append((free[:size], bytes_))
        free = free[size:]
        said.append(f"{what} {size}")
    return placed, "; ".join(said)


def _with_stranger(
    rng: np.random.Generator, jobs: list[tuple[str, list[int]]], hosts: int
) -> list[tuple[str, list[int]]]:
    """The first job with a host of nobody's in place of one of its own, or with two exchanged."""
    busy = {host for _, of in jobs for host in of}
    name, own = jobs[0]
    at, own = int(rng.integers(len(own))), list(own)
    idle = [host for host in range(hosts) if host not in busy]
    if idle:
        own[at] = int(rng.choice(idle))
    else:
        other = (at + 1) % len(own)
        own[at], own[other] = own[other], own[at]
    return [(name, own), *jobs[1:]]


SPOILS = ("resent", "management", "missing", "silent", "saturated", "wrapped", "reset")
"""What is done to counters themselves."""
COUNTED = ("xmit_bytes", "rcv_bytes", "xmit_packets", "rcv_packets")


def _spoilt(rng: np.random.Generator, kind: str, fabric: Any, counters: Any) -> Any:
    """The counters with a defect."""
    rows = list(csv.DictReader(io.StringIO(counters.to_bytes().decode())))
    ports = _Ports(rows)
    between = [port for port in ports if not port[0].startswith("host")]
    drawn = [between[i] for i in rng.choice(len(between), min(3, len(between)), replace=False)]
    if kind == "resent":
        for row in rows:
            sent = int(float(row["xmit_bytes"]) * 1e-6 * rng.poisson(1))
            ports.add(row, sent, 0)
    elif kind == "management":
        # Of every link alike: what polls them walks all.
        whole = sum(float(row["xmit_bytes"]) for row in rows)
        each = rng.uniform(0.1, 0.38) / 100 * whole / len(rows)
        for row in rows:
            packets = max(1, int(rng.uniform(0.5, 1.5) * each / 288))
            ports.add(row, 288 * packets, packets)
    elif kind == "missing":
        for port in drawn[: int(rng.integers(1, 4))]:
            ports.unread(port)
    elif kind == "silent":
        switches = sorted({port[0] for port in between})
        silent = {switches[i] for i in rng.choice(len(switches), 2, replace=False)}
        for port in between:
            if port[0] in silent:
                ports.unread(port)
    elif kind == "reset":
        for port in drawn[:2]:
            ports.set_back(port, float(rng.uniform(0.1, 0.9)), seen=bool(rng.random() < 0.5))
    else:
        for row in rows:
            ports.limit(row, wraps=kind == "wrapped")
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return _core.Counters.parse(out.getvalue().encode(), fabric)


class _Ports:
    """Rows of counters by port: a port sends on one and receives on another."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.sends = {(row["from"], row["from_port"]): row for row in rows}
        self.receives = {(row["to"], row["to_port"]): row for row in rows}

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.sends)

    def _counters(self, port: tuple[str, str]) -> Iterator[tuple[dict[str, str], str]]:
        for name in COUNTED:
            yield (self.receives if name.startswith("rcv") else self.sends)[port], name

    @staticmethod
    def add(row: dict[str, str], octets: int, packets: int) -> None:
        """That much more at both ends."""
        for name in COUNTED:
            row[name] = str(int(row[name]) + (octets if name.endswith("bytes") else packets))

    def unread(self, port: tuple[str, str]) -> None:
        """None of its counters was read."""
        for row, name in self._counters(port):
            row[name] = ""

    def set_back(self, port: tuple[str, str], part: float, *, seen: bool) -> None:
        """All counters of a port hold this part of the interval; `seen`: they have fallen."""
        for row, name in self._counters(port):
            row[name] = str(int(part * int(row[name])))
            if seen:
                row["quality"] = f"{row['quality']} {name}=reset".strip()

    @staticmethod
    def limit(row: dict[str, str], *, wraps: bool) -> None:
        """Counters of 32 bits."""
        for name in COUNTED:
            most = MOST if name.endswith("bytes") else 2**32 - 1
            counted = int(row[name])
            row[name] = str(counted % (most + 4) if wraps else min(counted, most))
            if counted >= most and not wraps:
                row["quality"] = f"{row['quality']} {name}=saturated".strip()


def judge(seed: int, kind: str) -> Judged:
    """What `infer` makes of a case."""
    case = build(seed, kind)
    try:
        found = _core.infer(case.fabric, case.routes, case.counters, case.jobs, threads=1)
    except NetloomError as error:
        return Judged(kind, seed, case.text, "refused", reason=str(error)[:REASON])
    truth, answer = (spoilt.leaf_sums(case.fabric, one) for one in (case.truth, found.traffic))
    true = float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))
    told = found.summary()["estimated_leaf_error_percent"] / 100
    findings = ",".join(sorted({finding["kind"] for finding in found.findings}))
    return Judged(kind, seed, case.text, found.verdict, told, true, findings)


def judged(count: int, first: int = 0, kinds: Sequence[str] = KINDS, workers: int = 2) -> list[Judged]:
    """So many cases, kinds in turn."""
    todo = [(first + k // len(kinds), kinds[k % len(kinds)]) for k in range(count)]
    if workers == 1:
        return [judge(*one) for one in todo]
    # Not forked: the core's threads would be gone in the child, and their locks held for ever.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(judge, *zip(*todo, strict=True)))


def table(all_: Sequence[Judged]) -> str:
    """A line a kind."""
    lines = ["kind         cases  refused  identified  partly  not identifiable  lies  low        high"]
    for kind in [*dict.fromkeys(one.kind for one in all_), "all"]:
        of = [one for one in all_ if kind in (one.kind, "all")]
        answers = [one for one in of if one.verdict != "refused"]
        words = ("refused", "identified", "partly", "not identifiable")
        counts = [sum(one.verdict == word for one in of) for word in words]
        lies = sum(one.is_lie for one in of)
        low, high = sum(one.is_low for one in answers), sum(one.is_high for one in answers)
        shares = [f"{n} ({100 * n / max(1, len(answers)):.0f} %)" for n in (low, high)]
        lines.append(
            f"{kind:11}  {len(of):5}  {counts[0]:7}  {counts[1]:10}  {counts[2]:6}  {counts[3]:16}  "
            f"{lies:4}  {shares[0]:9}  {shares[1]}"
        )
    right = [one for one in all_ if one.kind in RIGHT]
    known = sum(one.verdict == "identified" for one in right)
    lines.append(f"right input: {known} of {len(right)} identified")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=320, help="how many cases")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--held-out", action="store_true", help="the cases that nothing is fitted to")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("-o", metavar="FILE", help="a line of JSON a case")
    parser.add_argument("-v", action="store_true", help="what lies, or is told too small")
    options = parser.parse_args()
    first, count, kinds = options.first, options.count, options.kinds.split(",")
    if options.held_out:
        count, first, _ = spoilt.held_out("defects")
    all_ = judged(count, first, kinds, options.workers)
    print(table(all_))
    if options.o:
        Path(options.o).write_text("".join(json.dumps(asdict(one)) + "\n" for one in all_))
    for one in all_ if options.v else []:
        if one.is_lie or (one.verdict != "refused" and one.is_low):
            errors = f"told {one.told:.4f}, true {one.true:.4f}"
            print(f"{one.kind} {one.seed} {one.verdict}, {errors}: {one.text}")


if __name__ == "__main__":
    sys.exit(main())
