"""The loop in the simulator: simulate, count, infer, optimise, check, predict, decide, apply, and look again.

Invariants: the traffic is never looked at but to say afterwards how good an answer was; a run is simulated
once for every pair of work and routes; the same plan and seed give the same decisions and figures, for any
number of threads.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import SimulationError
from netloom.loop.decision import Decision, contradicted, decide
from netloom.loop.demand import held_up, wanted, weighted
from netloom.loop.inferred_phases import infer_phases
from netloom.loop.memory import Memory
from netloom.loop.plan import Phase, Plan, start_routes
from netloom.loop.prediction import Layers, Prediction, percent_less
from netloom.loop.propose import NO_CANARY, Evidence, draw_canary, jobs_sum, judge, propose
from netloom.loop.round import Outcome, Round, digest, whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric, Routes, Simulation, Traffic

Told = Callable[[int, int, str], None]
"""Hears of the step: round, rounds in all, what is done."""

KNOWN = 5.0
"""Pairs are known if their estimated error is no more than this (percent)."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Work that has been simulated under some routes.

    Attributes
    ----------
    result : dict
        As `simulate` has it.
    counters : Counters
        What ports counted.
    sent : Traffic
        The truth, in the unit that is inferred.
    by_interval : dict
        The truth of every interval; None is the sum.
    times_ms : dict
        When every job that ends by itself has ended.
    gap_percent : float, optional
        AR gap of the routes for the truth; None where the bound is not of such routes.
    bound_class : str
        What that bound is a bound of.
    held_up : array
        By host, how many times what it sent it would have sent (`demand`).
    """

    result: dict[str, Any]
    counters: Counters
    sent: Traffic
    by_interval: dict[int | None, Traffic]
    times_ms: dict[str, float]
    gap_percent: float | None
    bound_class: str
    held_up: npt.NDArray[np.float64]

    @property
    def time_ms(self) -> float | None:
        """When the last of them has ended."""
        return max(self.times_ms.values(), default=None)


@dataclass(kw_only=True)
class Output:
    """What a round leaves besides its figures.

    Attributes
    ----------
    counters : Counters
        What ports counted.
    layers : sequence of (Traffic, float)
        What was inferred.
    routes : Routes
        In force at its end.
    proposed : Routes
        Those proposed.
    canary : Routes, optional
        The mix of both that came first.
    """

    counters: Counters
    layers: Layers
    routes: Routes
    proposed: Routes
    canary: Routes | None = None


@dataclass
class SimulatedLoop:
    """The state from round to round.

    Parameters
    ----------
    plan : Plan
        What runs.
    threads, work : int
        Threads (0: one a core) and path searches of the optimiser (None: as the traffic's size says).
    told : callable, optional
        Hears of every step.
    """

    plan: Plan
    threads: int = 0
    work: int | None = None
    told: Told | None = None
    history: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        first = self.plan.phases[0].scenario
        self.fabric: Fabric = first.fabric
        self.routes: Routes = start_routes(first, self.plan.routes)
        self.start: Routes = self.routes
        self._memory = Memory(self.plan.rule.memory_rounds)
        self._ran: dict[tuple[int, str], Ran] = {}
        self._seconds: dict[str, float] = {}
        self._number = 0
        self._rounds = sum(phase.rounds for phase in self.plan.phases)

    def rounds(self) -> Iterator[tuple[Round, Output]]:
        """Runs every round of every phase."""
        for at, phase in enumerate(self.plan.phases):
            for _ in range(phase.rounds):
                yield self._round(at, phase)

    def ran(self, at: int, routes: Routes) -> Ran:
        """Work of a phase under some routes, simulated unless it has been."""
        key = (at, digest(routes))
        if key not in self._ran:
            with self._step("simulate"):
                self._ran[key] = self._simulated(self.plan.phases[at], routes)
        return self._ran[key]

    def _round(self, at: int, phase: Phase) -> tuple[Round, Output]:
        plan, fabric = self.plan, self.fabric
        self._number += 1
        self._seconds = {}
        before, routes = self.ran(at, self.routes), self.routes
        jobs = jobs_sum(phase.scenario.jobs)
        with self._step("infer"):
            seen = infer_phases(
                fabric,
                routes,
                before.counters,
                phase.scenario.jobs,
                vl_scheme=plan.vl_scheme,
                unit=plan.weight,
                mtu_bytes=plan.mtu_bytes,
                seed=plan.seed,
                truth=before.by_interval,
                threads=self.threads,
            )
        # The answer is what was carried; routes are for what is wanted.
        layers = wanted(seen.layers, before.held_up)
        known = seen.estimated_error_percent <= KNOWN
        layers = weighted(fabric, layers, phase.scenario, phase.job_weights, pairs_are_known=known)
        evidence = Evidence(
            fabric=fabric,
            present=routes,
            layers=layers,
            others=self._memory.others(self._number, jobs, layers),
            error_percent=seen.estimated_error_percent,
            sums=seen.sums,
            scenario=phase.scenario,
            seed=plan.seed,
            threads=self.threads,
            work=self.work,
        )
        with self._step("optimize"):
            proposed = propose(evidence)
        with self._step("check"):
            unsound = why_unsound(fabric, proposed)
        changed = routes.changed_entries(proposed)
        with self._step("predict"):
            proposal = judge(evidence, proposed, changed_entries=changed, unsound=unsound)
        prediction = proposal.prediction
        decision = decide(proposal, self.history, plan.rule)
        self._memory.keep(self._number, jobs, layers)
        output = Output(counters=before.counters, layers=seen.layers, routes=routes, proposed=proposed)
        outcome, reason, realised, after = self._applied(at, before, evidence, output, prediction, decision)
        entry = Round(
            number=self._number,
            phase=phase.name,
            jobs=jobs,
            seconds=dict(self._seconds),
            verdict=seen.verdict,
            estimated_error_percent=seen.estimated_leaf_error_percent,
            gap_before_percent=before.gap_percent,
            gap_after_percent=after.gap_percent,
            bound_class=after.bound_class,
            predicted_gain=prediction.gain,
            sure_gain=prediction.least,
            cost_percent=decision.cost_percent,
            asked_percent=decision.asked_percent,
            realised_gain=realised,
            time_before_ms=before.time_ms,
            time_after_ms=after.time_ms,
            true_error_percent=seen.true_leaf_error_percent,
            inferred_phases=len(seen.layers),
            changed_entries=changed,
            decision=outcome,
            reason=reason,
            routes=digest(self.routes),
            proposed=proposal.tables,
        )
        self.history.append(entry)
        output.routes = self.routes
        return entry, output

    def _applied(
        self,
        at: int,
        before: Ran,
        evidence: Evidence,
        output: Output,
        prediction: Prediction,
        decision: Decision,
    ) -> tuple[Outcome, str, float | None, Ran]:
        """Does what was decided: what became of it, why, what it gained, the work under what is in force."""
        if not decision.applies:
            return "kept", decision.reason, None, before
        proposed = output.proposed
        reason, drawn = decision.reason, None
        if self.plan.canary_percent > 0:
            drawn = draw_canary(evidence, proposed, self.plan.canary_percent, self._number)
            if drawn is None:
                reason = f"{reason}; {NO_CANARY}"
        if drawn is not None:
            output.canary = drawn.routes
            unsound = why_unsound(self.fabric, drawn.routes)
            if unsound is not None:
                return "kept", f"part of the change is unsound: {unsound}", None, before
            found = gained(before, self.ran(at, drawn.routes))
            wrong = contradicted(drawn.prediction.sure_gain, found, self.plan.rule)
            if wrong is not None:
                some = f"{drawn.percent:g} % of the destinations"
                return "rolled back", f"{reason}; with {some} {wrong}", found, before
        after = self.ran(at, proposed)
        found = gained(before, after)
        wrong = contradicted(prediction.least, found, self.plan.rule)
        if wrong is not None:
            return "rolled back", f"{reason}; {wrong}", found, before
        self.routes = proposed
        return "applied", reason, found, after

    def _simulated(self, phase: Phase, routes: Routes) -> Ran:
        from netloom import _core

        plan = self.plan
        ended = _core.simulate(
            phase.scenario,
            plan.routes,
            routes=routes,
            model="packet",
            threads=max(1, self.threads),
            counted=True,
            counted_every_us=phase.counters_every_us,
        )
        whole(ended)
        with self._step("counters"):
            every = phase.counters_every_us is not None
            counters = _counted(ended, plan, lanes=plan.vl_scheme)
            unit, mtu = plan.weight, plan.mtu_bytes
            sent = _some(ended.sent(unit=unit, mtu_bytes=mtu))
            truth: dict[int | None, Traffic] = {None: sent}
            for number in range(counters.intervals if every else 0):
                truth[number] = _some(ended.sent(number, unit=unit, mtu_bytes=mtu))
        result = ended.result()
        # A job that starts over until another ends has no completion.
        times = {
            job["name"]: job["completion_ms"] for job in result["jobs"] if job["completion_ms"] is not None
        }
        if not times:
            raise SimulationError(
                f"{phase.file}: no job ends by itself: expected one, whose time says what routes are worth"
            )
        judged = whole(_core.loads(self.fabric, routes, sent, threads=self.threads))
        return Ran(
            result=result,
            counters=counters,
            sent=sent,
            by_interval=truth,
            times_ms=times,
            gap_percent=judged.ar_gap_percent,
            bound_class=judged.ar_bound_class,
            held_up=held_up(self.fabric, phase.scenario, ended),
        )

    @contextlib.contextmanager
    def _step(self, name: str) -> Iterator[None]:
        if self.told is not None:
            self.told(self._number, self._rounds, name)
        started = time.perf_counter()
        inner = sum(self._seconds.values())
        try:
            yield
        finally:
            nested = sum(self._seconds.values()) - inner
            spent = time.perf_counter() - started - nested
            self._seconds[name] = self._seconds.get(name, 0.0) + spent


def gained(before: Ran, after: Ran) -> float:
    """How much less time jobs take, in percent: the mean over those that end by themselves."""
    gains = [
        percent_less(time, after.times_ms[name])
        for name, time in before.times_ms.items()
        if name in after.times_ms
    ]
    return sum(gains) / len(gains) if gains else 0.0


def why_unsound(fabric: Fabric, routes: Routes) -> str | None:
    """What the independent checker finds in routes; None if they may be loaded."""
    from netloom import _core

    report = _core.check(fabric, routes)
    found = {
        "missing entries": report.missing_entries,
        "invalid entries": report.invalid_entries,
        "unreachable pairs": report.unreachable_pairs - report.no_way_to_switch,
        "credit loops": report.credit_loops,
    }
    wrong = [f"{count} {what}" for what, count in found.items() if count]
    return ", ".join(wrong) or None


def _counted(ended: Simulation, plan: Plan, *, lanes: str | None) -> Counters:
    found: Counters = _some(
        ended.counted(lanes, noise=plan.noise, skew=plan.skew, missing=plan.missing, seed=plan.seed)
    )
    return found


def _some(value: Any) -> Any:
    assert value is not None, "it was asked for"
    return value
