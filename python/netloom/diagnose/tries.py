"""Remedies simulated: the same scenario with other routes, a control, other places or another order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.diagnose.mappings import leaves_of_machines
from netloom.diagnose.retrained import retrained
from netloom.diagnose.slow import SlowLinks
from netloom.errors import NetloomError
from netloom.files import Scratch

if TYPE_CHECKING:
    from netloom._core import Scenario
    from netloom.diagnose.findings import Finding

_ROUTES = ("optimized", "adaptive", "ftree")
_ORDERS = ("svafp", "svaf")
"""Strategies that send less at once, for programs that have some."""
_CONTROL = 'congestion={control="ib-cc",settings="tuned"}'
_SETPOINT_BYTES = 12_000
"""Where switches that snoop notice a queue: three packets of 4 KiB, which one packet an input can exceed."""
_SNOOPED = f'congestion={{control="qcn",setpoint_bytes={_SETPOINT_BYTES},limit=false}}'
_WORSE_PERCENT = 1.0
"""Jobs that lose less are not named."""


@dataclass(frozen=True)
class Pace:
    """How fast a job was.

    Attributes
    ----------
    completion_ms : float or None
        Its time to completion; None of one that starts over until another ends, or did not come to its end.
    bytes_per_s : float
        Of its messages that arrived, over the run's time.
    """

    completion_ms: float | None
    bytes_per_s: float


@dataclass(frozen=True)
class Slower:
    """A job that a remedy makes slower, though it is not the one for which it is tried.

    Attributes
    ----------
    job : str
        Its name.
    measure : str
        `completion_ms`, or `bytes_per_s` of a job that has no end.
    before, after : float
        That, without and with the remedy; `after` is None if the job did not come to its end.
    """

    job: str
    measure: str
    before: float
    after: float | None

    @property
    def worse_percent(self) -> float | None:
        """More time, or less data a second, of what it was."""
        if self.after is None:
            return None
        change = 100.0 * (self.after / self.before - 1)
        return change if self.measure == "completion_ms" else -change


@dataclass(frozen=True)
class Attempt:
    """A remedy, what it does to the job that is held up, and which other jobs pay for it.

    Attributes
    ----------
    what : str
        In words.
    job : str
        Whose time that is.
    before_ms, after_ms : float
        Its time to completion.
    slower : tuple of Slower
        Other jobs that lose 1 % or more, those that lose most first.
    """

    what: str
    job: str
    before_ms: float
    after_ms: float
    slower: tuple[Slower, ...] = ()

    @property
    def gain_percent(self) -> float:
        """Of the time before."""
        return 100.0 * (1 - self.after_ms / self.before_ms)


@dataclass(frozen=True)
class _Change:
    what: str
    overrides: tuple[str, ...]
    routing: str


class Trials:
    """Tries what findings propose. `notes` says what could not be tried, and why.

    Parameters
    ----------
    path : Path
        The scenario.
    overrides : sequence of str
        With which it ran.
    routing : str
        The routing that was diagnosed.
    result : mapping, optional
        What the run showed, a routing's result; simulated if not given.
    """

    def __init__(
        self,
        path: Path,
        overrides: Sequence[str],
        routing: str,
        result: Mapping[str, Any] | None = None,
    ) -> None:
        from netloom import _core

        self.path, self.overrides, self.routing = path, list(overrides), routing
        self.notes: list[str] = []
        self.scenario = _core.Scenario.read(path, self.overrides)
        result = self._run(self.scenario, routing) if result is None else result
        self._before = paces(result)
        self._controlled = "congestion" in result
        self._done: dict[_Change, Mapping[str, Any] | None] = {}

    def of(self, finding: Finding, jobs_known: bool = True) -> list[Attempt]:
        """What was tried for a finding, the best first; nothing where the simulator knows no remedy.

        Counters do not know whose packets they count (not `jobs_known`): then all jobs are asked.
        """
        if not jobs_known:
            everybody = list(range(len(self.scenario.jobs)))
            finding = replace(finding, culprits=everybody, victims=everybody)
        job = self._judged(finding)
        if job is None:
            return []
        found = []
        with Scratch.private() as scratch:
            for change in self._changes(finding, scratch):
                found += self._attempts(change, [job], str(scratch.path))
        return sorted(found, key=lambda attempt: attempt.after_ms)

    def others(self, held_up: Sequence[int], *, routes: bool) -> list[Attempt]:
        """What no finding proposes, for the jobs that wait: each alone, and, with `routes`, other ones.

        Alone, a job runs on its hosts while nobody else does: what is left then is not its neighbours'. The
        first are told in the order of the jobs, other routes the best first.
        """
        names = [job.name for job in self.scenario.jobs]
        waiting = [names[job] for job in held_up if job < len(names) and self._ends(names[job])]
        found = []
        for name in waiting if len(names) > 1 else []:
            after = paces(self._run(self.scenario.alone(name), self.routing))[name].completion_ms
            if after is not None:
                found.append(Attempt("alone on its hosts", name, self._time(name), after))
        changed = []
        for change in [*self._routes(), *self._control()] if routes and waiting else []:
            changed += self._attempts(change, waiting)
        return found + sorted(changed, key=lambda attempt: attempt.after_ms / attempt.before_ms)

    def _judged(self, finding: Finding) -> str | None:
        """The job whose time counts: a victim, else a culprit, that comes to an end."""
        names: list[str] = [job.name for job in self.scenario.jobs]
        # One that starts over until another ends has no time of its own.
        order: list[int] = [*finding.victims, *finding.culprits, *range(len(names))]
        for name in (names[job] for job in order):
            if self._ends(name):
                return name
        return None

    def _ends(self, name: str) -> bool:
        return name in self._before and self._before[name].completion_ms is not None

    def _time(self, name: str) -> float:
        """Milliseconds that a job took which comes to its end."""
        time = self._before[name].completion_ms
        assert time is not None
        return time

    def _changes(self, finding: Finding, scratch: Scratch) -> list[_Change]:
        """What the finding's cause proposes, and a congestion control, whatever the cause."""
        return [*self._proposed(finding, scratch), *self._control()]

    def _proposed(self, finding: Finding, scratch: Scratch) -> list[_Change]:
        names = [job.name for job in self.scenario.jobs]
        routes = self._routes()
        if finding.cause in ("bad-routes", "interior"):
            return routes
        if finding.cause == "slow-cable":
            return [*self._replaced(finding, scratch), *routes]
        if finding.cause == "bad-mapping" and finding.mapping is not None:
            name = names[finding.culprits[0]]
            change = f'job.{name}.mapping="{finding.mapping}"'
            return [_Change(f"{name}: mapping {finding.mapping}", (change,), self.routing)]
        if finding.cause == "bad-mapping" and finding.places is not None:
            job = self.scenario.jobs[finding.culprits[0]]
            hosts = self.scenario.fabric.host_names
            moved = [hosts[finding.places.get(int(host), int(host))] for host in job.host_of_rank]
            scratch.write("places.txt", "".join(f"{host}\n" for host in moved).encode())
            change = f'job.{job.name}.mapping="file:{scratch.path / "places.txt"}"'
            return [_Change(f"{job.name}: ranks moved among its hosts", (change,), self.routing)]
        if finding.cause == "incast":
            orders = [(names[job], order) for job in finding.culprits for order in _ORDERS]
            changes = [f'job.{name}.program.strategy="{order}"' for name, order in orders]
            return [
                _Change(f"{name}: messages in the order {order}", (change,), self.routing)
                for (name, order), change in zip(orders, changes, strict=True)
                if self._takes(change)
            ]
        if finding.cause == "noisy-neighbour":
            return [*self._apart(finding, names), *routes]
        return []

    def _replaced(self, finding: Finding, scratch: Scratch) -> list[_Change]:
        """The cables as fast as their siblings."""
        fabric = self.scenario.fabric
        slow = SlowLinks(fabric)
        rates = {link: float(slow.expected[link]) for link in finding.root_links}
        scratch.write("replaced.txt", retrained(fabric, rates))
        word = "cable" if len({slow.cable[link].link for link in rates}) == 1 else "cables"
        change = f'fabric="{scratch.path / "replaced.txt"}"'
        return [_Change(f"{word} as fast as the others of the stage", (change,), self.routing)]

    def _routes(self) -> list[_Change]:
        return [_Change(f"routes: {word}", (), word) for word in _ROUTES if word != self.routing]

    def _control(self) -> list[_Change]:
        """A congestion control on, or off where the run has one; switches that snoop, where no host obeys."""
        if self._controlled:
            return [_Change("congestion control off", ('congestion.control="none"',), self.routing)]
        return [
            _Change("congestion control on (ib-cc, tuned)", (_CONTROL,), self.routing),
            _Change("routes: snooping", (_SNOOPED,), "snooping"),
        ]

    def _apart(self, finding: Finding, names: list[str]) -> list[_Change]:
        """Leaves at the roots filled first: ranks that talk to each other, mostly, lie side by side there."""
        link_table = self.scenario.fabric.link_table()
        hosts = self.scenario.fabric.hosts
        sides = ("source", "target")
        ends = {int(link_table[side][link]) - hosts for link in finding.root_links for side in sides}
        changes = []
        for victim in finding.victims:
            job = self.scenario.jobs[victim]
            own = list(dict.fromkeys(leaves_of_machines(self.scenario.fabric, job)))
            hot = [at for at, leaf in enumerate(own) if leaf in ends]
            if not hot or len(hot) == len(own):
                continue
            order = ",".join(str(at) for at in hot)
            change = f'job.{names[victim]}.mapping="fill-leaves:{order}"'
            if self._takes(change):
                what = f"{names[victim]}: leaves under the full links filled with neighbouring ranks first"
                changes.append(_Change(what, (change,), self.routing))
        return changes

    def _takes(self, override: str) -> bool:
        """Whether the scenario has such a key."""
        from netloom import _core

        try:
            _core.Scenario.read(self.path, [*self.overrides, override])
        except NetloomError:
            return False
        return True

    def _changed(self, change: _Change) -> Scenario:
        from netloom import _core

        routes = f'routes=["{change.routing}"]'
        return _core.Scenario.read(self.path, [*self.overrides, routes, *change.overrides])

    def _attempts(self, change: _Change, judged: Sequence[str], folder: str = "") -> list[Attempt]:
        """A change as an attempt for every judged job; nothing, and a note, where it cannot be simulated."""
        if change not in self._done:
            try:
                self._done[change] = self._run(self._changed(change), change.routing)
            except NetloomError as error:
                told = _reason(error, folder) if folder else str(error)
                self.notes.append(f"not tried: {change.what}: {told}")
                self._done[change] = None
        result = self._done[change]
        if result is None:
            return []
        what, after = change.what, paces(result)
        if "congestion" in result and result["congestion"]["notices"] == 0:
            what += ", which marked no packet"
        found = []
        for job in judged:
            time = after[job].completion_ms
            if time is None:
                self.notes.append(f"{what}: {job} did not come to its end ({result['stopped']})")
            else:
                found.append(Attempt(what, job, self._time(job), time, self._slower(job, after)))
        return found

    def _slower(self, judged: str, after: Mapping[str, Pace]) -> tuple[Slower, ...]:
        """Other jobs that lose."""
        found = []
        for name, pace in self._before.items():
            if name == judged:
                continue
            if pace.completion_ms is not None:
                found.append(Slower(name, "completion_ms", pace.completion_ms, after[name].completion_ms))
            elif pace.bytes_per_s > 0:
                found.append(Slower(name, "bytes_per_s", pace.bytes_per_s, after[name].bytes_per_s))
        worse = {job.job: math.inf if job.after is None else job.worse_percent or 0.0 for job in found}
        losers = [job for job in found if worse[job.job] >= _WORSE_PERCENT]
        return tuple(sorted(losers, key=lambda job: -worse[job.job]))

    def _run(self, scenario: Scenario, routing: str) -> Mapping[str, Any]:
        from netloom import _core

        run = _core.simulate(scenario, routing)
        if run.stopped == "interrupted":
            raise KeyboardInterrupt
        result: Mapping[str, Any] = run.result()
        return result


def _reason(error: NetloomError, folder: str) -> str:
    """In words, without the names of files that are gone."""
    return str(error).replace(f"{folder}/", "").replace(folder, "")


def paces(result: Mapping[str, Any]) -> dict[str, Pace]:
    """How fast the jobs of a routing's result were."""
    seconds = result["simulated_ms"] * 1e-3
    return {
        job["name"]: Pace(job["completion_ms"], job["bytes"] / seconds if seconds else 0.0)
        for job in result["jobs"]
    }
