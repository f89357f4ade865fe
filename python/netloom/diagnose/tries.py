"""Remedies simulated: the same scenario with other routes, other places or another order of messages."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Attempt:
    """A remedy, and what it does to the job that is held up.

    Attributes
    ----------
    what : str
        In words.
    job : str
        Whose time that is.
    before_ms, after_ms : float
        Its time to completion.
    """

    what: str
    job: str
    before_ms: float
    after_ms: float

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
    times : mapping, optional
        Milliseconds by job that the run took, as `completions` tells them; simulated if not given.
    """

    def __init__(
        self,
        path: Path,
        overrides: Sequence[str],
        routing: str,
        times: Mapping[str, float] | None = None,
    ) -> None:
        from netloom import _core

        self.path, self.overrides, self.routing = path, list(overrides), routing
        self.notes: list[str] = []
        self.scenario = _core.Scenario.read(path, self.overrides)
        self._times = self._run(self.scenario, routing) if times is None else times

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
                after = self._times_with(change, str(scratch.path)).get(job)
                if after is not None:
                    found.append(Attempt(change.what, job, self._times[job], after))
        return sorted(found, key=lambda attempt: attempt.after_ms)

    def others(self, held_up: Sequence[int], *, routes: bool) -> list[Attempt]:
        """What no finding proposes, for the jobs that wait: each alone, and, with `routes`, other ones.

        Alone, a job runs on its hosts while nobody else does: what is left then is not its neighbours'. The
        first are told in the order of the jobs, other routes the best first.
        """
        names = [job.name for job in self.scenario.jobs]
        waiting = [names[job] for job in held_up if job < len(names) and names[job] in self._times]
        found = []
        for name in waiting if len(names) > 1 else []:
            after = self._run(self.scenario.alone(name), self.routing).get(name)
            if after is not None:
                found.append(Attempt("alone on its hosts", name, self._times[name], after))
        changed = []
        for change in self._routes() if routes and waiting else []:
            times = self._times_with(change)
            known = [name for name in waiting if name in times]
            changed += [Attempt(change.what, name, self._times[name], times[name]) for name in known]
        return found + sorted(changed, key=lambda attempt: attempt.after_ms / attempt.before_ms)

    def _judged(self, finding: Finding) -> str | None:
        """The job whose time counts: a victim, else a culprit, that comes to an end."""
        names: list[str] = [job.name for job in self.scenario.jobs]
        # One that starts over until another ends has no time of its own.
        order: list[int] = [*finding.victims, *finding.culprits, *range(len(names))]
        for name in (names[job] for job in order):
            if name in self._times:
                return name
        return None

    def _changes(self, finding: Finding, scratch: Scratch) -> list[_Change]:
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

    def _times_with(self, change: _Change, folder: str = "") -> Mapping[str, float]:
        """Milliseconds by job with that change; nothing, and a note, where it cannot be simulated."""
        try:
            return self._run(self._changed(change), change.routing)
        except NetloomError as error:
            told = _reason(error, folder) if folder else str(error)
            self.notes.append(f"not tried: {change.what}: {told}")
            return {}

    def _run(self, scenario: Scenario, routing: str) -> dict[str, float]:
        from netloom import _core

        run = _core.simulate(scenario, routing)
        if run.stopped == "interrupted":
            raise KeyboardInterrupt
        return completions(run.result())


def _reason(error: NetloomError, folder: str) -> str:
    """In words, without the names of files that are gone."""
    return str(error).replace(f"{folder}/", "").replace(folder, "")


def completions(result: Mapping[str, Any]) -> dict[str, float]:
    """Milliseconds by job of a routing's result; none for those that start over until another ends."""
    jobs = result["jobs"]
    return {job["name"]: job["completion_ms"] for job in jobs if job["completion_ms"] is not None}
