"""Benchmarks of fig. 9: a job on 64 hosts of 33 switches in five groups, beside neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from netloom.studies.modes import published
from netloom.studies.modes.published import AWARE, DEFAULT, HIGH, ROUTINGS, STEADY

if TYPE_CHECKING:
    from netloom import Fabric

NEIGHBOURS = 128
"""Hosts of the neighbours."""
LOAD = 0.3
"""Of their links."""
ITERATIONS = {
    "ping-pong": (40, 20, 6),
    "allreduce": (20, 20, 10),
    "alltoall": (20, 10, 5),
    "barrier": (20, 20, 20),
    "broadcast": (20, 10, 5),
    "halo3d": (20, 10, 5),
    "sweep3d": (2, 2, 1),
}
"""Of each size."""
WITHIN = 1.05
"""Of the better fixed mode."""


@dataclass
class Row:
    """A benchmark at a size.

    Attributes
    ----------
    benchmark, size : str
    times_us : dict of str to list of float
        By routing, a seed each.
    shares : dict of str to float
        By routing: the share of the bytes that went without a high bias, over all seeds.
    scenario : str
        What was run, with the first seed; others differ in `seed` only.
    """

    benchmark: str
    size: str
    times_us: dict[str, list[float]] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    scenario: str = ""

    def ratio(self, routing: str, other: str = DEFAULT) -> float:
        """The median over seeds of a routing's time over another's with the same seed."""
        pairs = zip(self.times_us[routing], self.times_us[other], strict=True)
        return median(one / two for one, two in pairs)

    def over_better(self, routing: str) -> float:
        """Over the better of the two fixed modes."""
        return max(self.ratio(routing, DEFAULT), self.ratio(routing, HIGH))

    def over_worse(self, routing: str) -> float:
        """Over the worse of the two."""
        return min(self.ratio(routing, DEFAULT), self.ratio(routing, HIGH))

    def result(self) -> dict[str, Any]:
        """As results have it."""
        return {
            "benchmark": self.benchmark,
            "size": self.size,
            "times_us": self.times_us,
            "ratio": {routing: self.ratio(routing) for routing in ROUTINGS},
            "default_share": self.shares,
            "aware_over_better": self.over_better(AWARE),
            "steady_over_worse": self.over_worse(STEADY),
            "within": self.over_better(AWARE) <= WITHIN,
            "paper": _paper(self.benchmark, self.size),
            "scenario": self.scenario,
        }


def _paper(benchmark: str, size: str) -> str:
    if (benchmark, size) in published.FAILS:
        return "fails"
    return "slower" if (benchmark, size) in published.SLOWER else "takes the better"


def hosts() -> list[int]:
    """64 hosts on 33 switches in five groups: 31 switches with two, two with one.

    Groups have 7, 7, 7, 6 and 6 of the switches, spread over each.

    >>> len(hosts()), len({host // 4 for host in hosts()}), len({host // 384 for host in hosts()})
    (64, 33, 5)
    """
    switches = [
        group * 96 + at * (96 // count) for group, count in enumerate((7, 7, 7, 6, 6)) for at in range(count)
    ]
    found = [4 * switch + place for switch in switches for place in (0, 1)]
    return sorted(set(found) - {4 * switches[-1] + 1, 4 * switches[-2] + 1})


def program(benchmark: str, size: str, rounds: int | None = None) -> str:
    """A benchmark as a program of a scenario, with so many rounds; None: `ITERATIONS`."""
    iterations = rounds or ITERATIONS[benchmark][published.BENCHMARKS[benchmark].index(size)]
    of = f'bytes = "{size}", iterations = {iterations}'
    match benchmark:
        case "ping-pong":
            return f'{{ kind = "ping-pong", {of} }}'
        case "barrier":
            return f'{{ kind = "collective", collective = "barrier", iterations = {iterations} }}'
        case "halo3d":
            return (
                f'{{ kind = "halo", shape = [4, 4, 4], periodic = false, face_bytes = "{size}", '
                f"iterations = {iterations} }}"
            )
        case "sweep3d":
            return f'{{ kind = "sweep", columns = 8, rows = 8, blocks = 4, {of} }}'
        case _:
            kind = {"broadcast": "bcast"}.get(benchmark, benchmark)
            return f'{{ kind = "collective", collective = "{kind}", {of} }}'


def scenario(
    benchmark: str,
    size: str,
    seed: int,
    names: list[str],
    *,
    links: int = published.LINKS,
    rounds: int | None = None,
) -> str:
    """A row's scenario; `names` are those of the job's hosts, `links` cables between two groups."""
    ranks = {"ping-pong": 2, "barrier": int(size.split()[0]) if benchmark == "barrier" else 0}
    count = ranks.get(benchmark, published.HOSTS)
    if benchmark == "ping-pong":
        names = [names[0], names[len(names) // 2]]
    placed = ",".join(names[: len(names) // count * count : len(names) // count])
    return f"""\
name = "{benchmark}"
fabric = "{published.FABRIC.format(links)}"
profile = "aries"
routes = {list(ROUTINGS)}
seed = {seed}

[hardware]
packet_bytes = 2048
header_bytes = 512
window_packets = 32

[[job]]
name = "{benchmark}"
hosts = "{placed}"
program = {program(benchmark, size, rounds)}

[[job]]
name = "neighbours"
allocation = "random"
ranks = {NEIGHBOURS}
program = {{ kind = "uniform", bytes = "2KiB", load = {LOAD}, messages = 5000 }}
until = "{benchmark}"
"""


class Study:
    """Runs of figs. 8 and 9.

    Parameters
    ----------
    fabric : Fabric
        `published.FABRIC` with so many cables, read.
    seeds : range
        Of the neighbours' places and messages, and of the routings' draws.
    links : int
        Cables between two groups.
    rounds : int, optional
        Of each benchmark. [default: `ITERATIONS`]
    left : callable
        Seconds that are left; None: no limit.
    """

    def __init__(
        self,
        fabric: Fabric,
        seeds: range,
        *,
        links: int = published.LINKS,
        rounds: int | None = None,
        left: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._fabric, self._seeds, self._left = fabric, seeds, left
        self._links, self._rounds = links, rounds
        names = list(fabric.host_table()["name"])
        self._names = [str(names[host]) for host in hosts()]

    def row(self, benchmark: str, size: str, told: Callable[[str], None] = lambda _: None) -> Row:
        """A row, with all routings and seeds.

        Raises
        ------
        TimeoutError
            If there is no time left.
        """
        from netloom import _core

        found = Row(benchmark, size, {routing: [] for routing in ROUTINGS})
        sent = {routing: [0, 0] for routing in ROUTINGS}
        for seed in self._seeds:
            text = scenario(benchmark, size, seed, self._names, links=self._links, rounds=self._rounds)
            found.scenario = found.scenario or text
            scene = _core.Scenario.on(self._fabric, text, f"{benchmark}.toml", Path())
            for routing in ROUTINGS:
                told(f"{benchmark} {size}: {routing}, seed {seed}")
                left = self._left()
                if left is not None and left <= 0:
                    raise TimeoutError("time-limit")
                ran = _core.simulate(scene, routing, time_limit=left)
                if ran.stopped is not None:
                    raise TimeoutError(ran.stopped)
                job = ran.result()["jobs"][0]
                found.times_us[routing].append(1e3 * job["completion_ms"])
                for mode in job["modes"]:
                    sent[routing][mode["mode"] != HIGH] += mode["bytes"]
        found.shares = {routing: sent[routing][1] / max(sum(sent[routing]), 1) for routing in ROUTINGS}
        return found
