"""`netloom.diagnose_pairs`, `netloom.pair_rounds`: what `netloom diagnose pairs` and `traffic pairs` do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Set
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.nodes import Nodes
from netloom.pairs import formats, separating, speeds
from netloom.pairs.explain import Explained, Suspect, explain
from netloom.pairs.flows import Flows
from netloom.pairs.measured import ALONE, UNKNOWN, PairTests
from netloom.pairs.rounds import Rounds, rounds
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes


@checked(healthy_percent=(1.0, 100.0))
def diagnose_pairs(
    fabric: Fabric | str,
    routes: Routes | str,
    tests: str | os.PathLike[str],
    *,
    healthy_percent: float | None = None,
    threads: int = 0,
    session: Session | None = None,
) -> dict[str, Any]:
    """Why pairs of hosts are slow: a cable, a host, or other pairs that met them on a link.

    Parameters
    ----------
    fabric : Fabric or str
        A fabric, a dump of one, or a generator spec, with the speeds that its cables should have.
    routes : Routes or str
        The routes in force: tables, a file of them, or an engine's name.
    tests : path
        Rates of pairs: a table (CSV) with the columns from, to, bytes_per_s and, if pairs ran at the same
        time, round; or what LinkTest, hp2p or nccl-tests wrote.
    healthy_percent : float, optional
        What a healthy test measures, in % of the cables' nominal rate, 1 to 100. [default: from the tests]
    threads : int, default 0
        0 is one a core.
    session : Session, optional
        What it may spend and whom it tells; `threads` is then its own.

    Returns
    -------
    dict
        As `result` of `netloom diagnose pairs --format json`.

    Raises
    ------
    FormatError
        If the file is none of these, or has no pair of hosts of the fabric.
    RoutingError
        If the tables do not join a pair.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> netloom.diagnose_pairs("net.txt", "routes.lfts", "pairs.csv")["findings"]  # doctest: +SKIP
    """
    session = session or Session(threads=threads)
    net = session.fabric(fabric)
    tables = session.routes(routes, net, None)
    label = os.fspath(tests)
    read = formats.read(session.read("pairs", label), label, _hosts(net))
    with session.timed("explain"):
        flows = Flows.of(net, tables, read.tests)
        healthy = None if healthy_percent is None else healthy_percent / 100
        if healthy is None and read.fastest is not None:
            healthy = min(1.0, read.fastest / float(flows.capacity[flows.way[0]].min()))
        found = explain(flows, read.tests, healthy=healthy, partial=read.partial)
    with session.timed("tell"):
        return _Telling(net, tables, read, flows, found).result(session.threads)


@checked()
def pair_rounds(
    fabric: Fabric | str,
    routes: Routes | str,
    *,
    seed: int = 0,
    threads: int = 0,
    session: Session | None = None,
) -> Rounds:
    """Few rounds of tests of pairs that cross every cable in both directions and tell all cables apart.

    Pairs of a round share no link, so that each measures its own way. The rounds are chosen greedily: there
    may be fewer. What is told of them is counted anew from the tables.

    Parameters
    ----------
    fabric : Fabric or str
        A fabric, a dump of one, or a generator spec.
    routes : Routes or str
        The routes in force: tables, a file of them, or an engine's name.
    seed : int, default 0
        Of the order of equally good pairs.
    threads : int, default 0
        0 is one a core.
    session : Session, optional
        What it may spend and whom it tells; `threads` is then its own.

    Returns
    -------
    Rounds
        `pairs` by round, and what they do not tell.

    Raises
    ------
    ArgumentError
        If the fabric has too many hosts.
    RoutingError
        If the tables do not join a pair.
    TimeoutError
        If the session's time limit comes first.

    Examples
    --------
    >>> import netloom as nl
    >>> found = nl.pair_rounds("two-level:leaves=4,hosts=4,spines=4", "d-mod-k")
    >>> len(found.pairs), found.alike
    (2, [])
    """
    session = session or Session(threads=threads)
    net = session.fabric(fabric)
    tables = session.routes(routes, net, None)
    with session.timed("choose"):
        try:
            return session.unless_late(lambda: rounds(net, tables, seed=seed))
        except TimeoutError:
            raise session.too_late() from None


def _hosts(net: Fabric) -> dict[str, int]:
    """Hosts by name, and by their machine's; -1 for machines with several adapters."""
    table = net.host_table()
    machines = Counter(table["machine"])
    found = {
        machine: number if machines[machine] == 1 else -1 for number, machine in enumerate(table["machine"])
    }
    found.update((name, number) for number, name in enumerate(net.host_names))
    return found


_LOW, _HIGH = 0.6, 1.05
"""A healthy level outside is odd, of the cables' nominal rate."""


def _doubt(efficiency: float) -> str | None:
    """What is odd about the healthy level."""
    return "low" if efficiency < _LOW else "high" if efficiency > _HIGH else None


class _Telling:
    """A result in the making."""

    def __init__(
        self, net: Fabric, tables: Routes, read: formats.Read, flows: Flows, found: Explained
    ) -> None:
        self.net, self.tables, self.read, self.flows, self.found = net, tables, read, flows, found
        self.tests: PairTests = read.tests
        self.nodes = Nodes(net)
        self.table = net.link_table()

    def result(self, threads: int) -> dict[str, Any]:
        """As `result` tells it."""
        found, tests = self.found, self.tests
        cables = np.unique(np.minimum(np.arange(len(self.flows.back)), self.flows.back)[self.table["alive"]])
        other = self.flows.back[cables]
        findings = [self._finding(suspect) for suspect in found.suspects]
        return {
            "tool": self.read.tool,
            "tests": len(tests),
            "alone": int((tests.round == ALONE).sum()),
            "beside_unknown": int((tests.round == UNKNOWN).sum()),
            "rounds": len(self.read.rounds),
            "left_out": [{"why": why, "rows": many} for why, many in self.read.left_out.items()],
            "efficiency_percent": 100 * found.efficiency,
            "noise_percent": 100 * found.noise,
            "doubt": _doubt(found.efficiency),
            "slow": len(found.slow),
            "cables": len(cables),
            "cables_crossed": int((found.crossed[cables] | found.crossed[other]).sum()),
            "cables_cleared": int((found.cleared[cables] & found.cleared[other]).sum()),
            "findings": findings,
            "collisions": self._collisions(),
            "worst_round": self._worst_round(threads),
            "slow_pairs": self._slow_pairs(),
        }

    def _finding(self, suspect: Suspect) -> dict[str, Any]:
        seen = self._seen(suspect)
        cables = [self._cable(link, seen) for link in suspect.cables]
        cause = self._cause(suspect)
        host = self._host(suspect.cables[0]) if cause == "host" else None
        nominal = float(min(self.flows.capacity[link] for link in suspect.cables))
        rate = suspect.bytes_per_s / self.found.efficiency
        next_test, separable = None, True
        if len(cables) > 1:
            pair = separating.pair(self.net, self.tables, self.flows.back, suspect.cables, self.found.cleared)
            separable = pair is not None
            if pair is not None:
                next_test = {"from": self.net.host_names[pair[0]], "to": self.net.host_names[pair[1]]}
        return {
            "cause": cause,
            "cables": cables,
            "host": None if host is None else self.net.host_names[host],
            "bytes_per_s": suspect.bytes_per_s,
            "share_percent": 100 * rate / nominal,
            "seems": speeds.name(rate),
            "should_be": speeds.name(nominal),
            "tests": len(suspect.tests),
            "measure_next": next_test,
            "separable": separable,
        }

    def _cause(self, suspect: Suspect) -> str:
        if len(suspect.cables) > 1:
            return "one-of"
        return "cable" if self._host(suspect.cables[0]) is None else "host"

    def _seen(self, suspect: Suspect) -> set[int]:
        """Links that its tests crossed."""
        of = set(suspect.tests)
        rows = [row for row, test in enumerate(self.flows.test.tolist()) if test in of]
        return {link for row in rows for link in self.flows.way[row].tolist()}

    def _cable(self, link: int, seen: Set[int]) -> dict[str, Any]:
        """Both ports of a cable, and in which directions it was slow: slow tests crossed `seen`."""
        table, found = self.table, self.found

        def direction(one: int) -> str:
            if found.cleared[one]:
                return "cleared"
            return "slow" if one in seen else "not cleared" if found.crossed[one] else "not tested"

        return {
            "from": self.nodes.end(int(table["source"][link]), int(table["source_port"][link])),
            "to": self.nodes.end(int(table["target"][link]), int(table["target_port"][link])),
            "text": self.nodes.link(link),
            "out": direction(link),
            "back": direction(int(self.flows.back[link])),
        }

    def _host(self, link: int) -> int | None:
        """The host that a cable joins; None between switches."""
        ends = (int(self.table["source"][link]), int(self.table["target"][link]))
        return next((end for end in ends if end < self.net.hosts), None)

    def _collisions(self) -> list[dict[str, Any]]:
        """Links on which pairs met, those with most slow tests first."""
        found = self.found
        rows: list[dict[str, Any]] = []
        for number, link in sorted({*found.collisions, *found.behind}):
            met = found.collisions.get((number, link), [])
            waited = found.behind.get((number, link), [])
            rows.append(
                {
                    "round": self.read.rounds[number],
                    "link": self.nodes.link(link),
                    "pairs": [self._pair(test) for test in self._on(number, link)],
                    "slow": len(met),
                    "behind": [self._pair(test) for test in sorted(waited)],
                }
            )
        rows.sort(key=lambda row: (-row["slow"] - len(row["behind"]), row["link"], row["round"]))
        return rows

    def _on(self, number: int, link: int) -> list[int]:
        """The tests of a round that cross a link."""
        rows = np.flatnonzero(self.tests.round[self.flows.test] == number)
        return sorted({int(self.flows.test[row]) for row in rows.tolist() if link in self.flows.way[row]})

    def _worst_round(self, threads: int) -> dict[str, Any] | None:
        """The round with most collisions: what its fullest link carries, and the least that routes can do."""
        from netloom import _core

        slow: Counter[int] = Counter()
        for kind in (self.found.collisions, self.found.behind):
            for (number, _), tests in kind.items():
                slow[number] += len(tests)
        if not slow:
            return None
        number = min(slow, key=lambda one: (-slow[one], one))
        rows = np.flatnonzero(self.tests.round == number)
        ends = (self.tests.source[rows], self.tests.destination[rows])
        both = self.tests.both_ways[rows]
        sources = np.concatenate([ends[0], ends[1][both]])
        to = np.concatenate([ends[1], ends[0][both]])
        traffic = _core.Traffic.from_triples(self.net, sources, to, np.ones(len(sources)))
        loads = _core.loads(self.net, self.tables, traffic, threads=threads)
        return {
            "round": self.read.rounds[number],
            "slow": slow[number],
            "pairs_on_fullest_link": loads.max,
            "least_by_other_routes": loads.lower_bound,
        }

    def _slow_pairs(self) -> list[dict[str, Any]]:
        """Every slow test with its cause."""
        found = self.found
        cause: dict[int, tuple[str, int | None, str | None]] = {}
        for place, suspect in enumerate(found.suspects):
            name = self.nodes.link(suspect.cables[0])
            kind = self._cause(suspect)
            told = None if kind == "one-of" else name
            cause.update((test, (kind, place, told)) for test in suspect.tests)
        for word, several in (("collision", found.collisions), ("behind-collision", found.behind)):
            for (_, link), tests in several.items():
                cause.update((test, (word, None, self.nodes.link(link))) for test in tests)
        cause.update((test, ("contradicted", None, None)) for test in found.contradicted)
        cause.update((test, ("measure-alone", None, None)) for test in found.untold)
        return [
            {
                **self._pair(test),
                "bytes_per_s": float(self.tests.bytes_per_s[test]),
                "round": self._round(test),
                "cause": cause[test][0],
                "finding": cause[test][1],
                "link": cause[test][2],
            }
            for test in found.slow.tolist()
        ]

    def _pair(self, test: int) -> dict[str, str]:
        names = self.net.host_names
        return {"from": names[int(self.tests.source[test])], "to": names[int(self.tests.destination[test])]}

    def _round(self, test: int) -> str | None:
        number = int(self.tests.round[test])
        return None if number == ALONE else "?" if number == UNKNOWN else self.read.rounds[number]


__all__ = ["diagnose_pairs", "pair_rounds"]
