"""The loop on a live fabric: poll, infer, optimise, check, predict, decide, apply through OpenSM, look again.

A round counts what ports carried over an interval under tables that are known, and changes routes only if all
of that can be trusted: whatever is wrong with its inputs (ports that do not answer, counters set back, jobs
that cannot have caused what was counted, tables that changed meanwhile, a subnet manager that is gone or does
not read a file of routes) ends it with a finding, and the routes stay.

In a dry run it ends with the decision, and takes neither lock nor journal.

Invariants: the fabric and its tables are read anew in every round, after the interval, under the journal's
lock; tables are only changed by `netloom.apply`, which verifies, journals, reads back and undoes. Routes that
were found to be worse, over an interval of the same length, are taken back.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netloom import apply as changing
from netloom.apply.sending import INTERRUPTED
from netloom.errors import LiveError, NetloomError, RoutingError
from netloom.findings import finding
from netloom.live import peers, rivals
from netloom.live.polling import Poll, Poller
from netloom.live.ports import findings_of, lost_cables
from netloom.loop.decision import Rule, contradicted, decide
from netloom.loop.inferred_phases import infer_phases
from netloom.loop.journal import Journal, Remembered, remembered, rounds_of
from netloom.loop.lived import Found, Live, kind_of
from netloom.loop.memory import Memory
from netloom.loop.prediction import percent_less
from netloom.loop.propose import NO_CANARY, Evidence, added, draw_canary, jobs_sum, judge, propose
from netloom.loop.round import Round, digest, whole
from netloom.loop.trust import (
    IDLE,
    REPAIR_ADVICE,
    Refused,
    busiest_share,
    explained,
    fabric_changed,
    interval_of,
    lids_differ,
)

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Job, LinkLoads, Traffic
    from netloom.apply import Applied, Plan, Seen
    from netloom.live import Access, Manager

__all__ = ["Live", "LiveLoop"]

_MTU_BYTES = 4096.0
"""What inference takes unless told; bytes do not depend on it."""


@dataclass
class LiveLoop:
    """Rounds on a fabric; use it as a context manager.

    Parameters
    ----------
    access : Access
        How the fabric is reached.
    manager : callable
        The OpenSM to ask; called in every round, since it may have been restarted.
    rule : Rule
        What a change must gain.
    vl_scheme : str, optional
        How pairs were spread over lanes, where ports count by lane and the tables are loaded.
    seed, threads : int
        As everywhere.
    infer_seconds : float, optional
        How long inference may take.
    dry : bool
        Only decide: nothing is changed, locked or journaled.
    allow : collection of str
        What does not keep a change from being made: `standby`, `adaptive`, `credit-loop`, `unanswered`.
    canary_percent : float
        Change this many percent of the destinations first, and the rest only if another interval shows what
        that was to gain; 0 is all at once.
    reader : callable, optional
        Reads what ports have counted, where somebody else polls them.
    """

    access: Access
    manager: Callable[[], Manager]
    rule: Rule = field(default_factory=Rule)
    vl_scheme: str | None = None
    seed: int = 0
    threads: int = 0
    infer_seconds: float | None = None
    dry: bool = False
    allow: Collection[str] = ()
    canary_percent: float = 0.0
    reader: Callable[[Fabric], Poll] | None = None
    history: list[Round] = field(default_factory=list)
    _seen: Seen | None = None
    _poller: Poller | None = None
    _seconds: dict[str, float] = field(default_factory=dict)
    _mads: int = 0

    def __post_init__(self) -> None:
        self._memory = Memory(self.rule.memory_rounds)
        self._earlier: Callable[[Fabric], Iterable[Remembered]] | None = None

    def __enter__(self) -> LiveLoop:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def resume(self, journal: Journal) -> None:
        """Goes on with the rounds of a journal: their decisions and traffic are remembered.

        Parameters
        ----------
        journal : Journal
            Of live rounds. Traffic between other hosts than the fabric's, and files that are gone or are not
            what their round has written, are left out.
        """
        self.history.extend(rounds_of(journal.rows))
        self._earlier = lambda fabric: remembered(journal, fabric, self.rule.memory_rounds)

    def _remember(self, fabric: Fabric) -> None:
        """Reads what a journal remembers, once the fabric is known."""
        if self._earlier is not None:
            for number, jobs, layers in self._earlier(fabric):
                self._memory.keep(number, jobs, layers)
            self._earlier = None

    def round(
        self, jobs: Callable[[Fabric], Sequence[Job]], interval: Callable[[Seen], None], *, phase: str = ""
    ) -> Live:
        """One round.

        Parameters
        ----------
        jobs : callable
            Who runs where, on the fabric as discovered.
        interval : callable
            Returns when the interval is over; hears what is in force.
        phase : str
            What runs, by its name.

        Raises
        ------
        LiveError
            If the fabric cannot even be read.
        """
        self._seconds, self._mads = {}, 0
        found = Found()
        if self._seen is None:
            with self._step("discover"):
                self._seen = changing.look(self.access)
        start, now = self._seen, self._seen
        jobs_now: Sequence[Job] = ()
        try:
            first, second = self._counted(start, interval)
            file = self._routes_file()
            journal = changing.Journal.beside(file)
            with contextlib.nullcontext() if self.dry else journal.locked():
                self._finish_what_was_left(journal)
                with self._step("discover"):
                    now = self._seen = changing.look(self.access, file)
                jobs_now = jobs(now.fabric)
                self._inferred(found, start, now, first, second, jobs_now)
                self._decided(found, now, jobs_now, journal)
            if found.outcome == "applied" and found.part is not None:
                self._found_out(found, interval, journal)
                if found.outcome == "applied":
                    self._completed(found, journal, file)
            if found.outcome == "applied":
                self._found_out(found, interval, journal)
        except KeyboardInterrupt:
            if not found.touched:
                raise
            found.interrupted = True
            found.reason += (
                "; interrupted before its gain was found"
                if found.outcome == "applied"
                else "; interrupted while tables were changed: `netloom apply recover --yes`"
            )
        except Refused as kept:
            if kept.finding["kind"] != IDLE:
                found.findings.append(kept.finding)
            text = kept.finding["text"]
            found.reason = f"{found.reason}; {text}" if found.outcome == "applied" else text
        except (NetloomError, OSError) as error:
            found.findings.append(finding(kind_of(error), str(error)))
            found.reason = str(error)
        layers = () if found.answer is None else found.answer.layers
        if layers:
            with self._step("bound"):
                traffic = added(layers)
                before = self._judged(now, traffic)
                found.gap_before, found.bound_class = before.ar_gap_percent, before.ar_bound_class
                same = self._seen.fabric.cabling_hash == now.fabric.cabling_hash
                found.gap_after = self._judged(self._seen, traffic, before if same else None).ar_gap_percent
        entry = self._entry(found, phase, jobs_now)
        self.history.append(entry)
        return Live(
            entry,
            found.findings,
            now,
            self._seen or now,
            found.counters,
            layers,
            self._mads,
            found.applied,
            found.proposed,
            found.canary,
            found.interrupted,
        )

    # What was seen

    def _counted(
        self, seen: Seen, interval: Callable[[Seen], None], step: str = "counters"
    ) -> tuple[Poll, Poll]:
        """Two readings with the interval in between."""
        first = self._poll(seen.fabric, step)
        with self._step("simulate"):
            interval(seen)
        return first, self._poll(seen.fabric, step)

    def _poll(self, fabric: Fabric, step: str) -> Poll:
        with self._step(step):
            if self.reader is not None:
                return self.reader(fabric)
            if self._poller is None:
                poller = Poller(
                    self.access,
                    fabric,
                    waits=False,
                    lanes=self.vl_scheme is not None,
                    links=True,
                    timeout_ms=1000,
                )
                poller.__enter__()
                self._poller = poller
            try:
                poll = self._poller.poll()
            except LiveError:
                self._close()
                raise
        self._mads += poll.mads
        return poll

    def _inferred(
        self, found: Found, start: Seen, now: Seen, first: Poll, second: Poll, jobs: Sequence[Job]
    ) -> None:
        """The traffic of the interval, if counters, tables and jobs can be trusted."""
        # By name, before what is only counted ends the round: cut cables, ports that are down, dead switches.
        lost = lost_cables(start.fabric, now.fabric)
        ends = {(one.node, one.port) for one in second.down}
        gone = [one for one in lost if (one.node, one.port) not in ends]
        found.findings += findings_of(start.fabric, [*second.down, *gone], [], second.ports)
        unseen = None if "unanswered" in self.allow else changing.hidden(now)
        if unseen is not None:
            raise Refused("unanswered", unseen)
        if now.fabric.cabling_hash != start.fabric.cabling_hash or lids_differ(now.fabric, start.fabric):
            self._close()
            raise Refused("fabric-changed", fabric_changed(start.fabric, now.fabric))
        changed = now.tables.changed_entries(start.tables)
        if changed:
            raise Refused(
                "tables-changed",
                f"{changed} entries of the tables changed during the interval: its counters belong to no "
                "known routes",
            )
        with self._step("counters"):
            counters = interval_of(first, second, found.findings)
        found.counters = counters
        with self._step("infer"):
            try:
                answer = infer_phases(
                    now.fabric,
                    now.tables,
                    counters,
                    jobs,
                    vl_scheme=self.vl_scheme,
                    unit="bytes",
                    mtu_bytes=_MTU_BYTES,
                    seed=self.seed,
                    threads=self.threads,
                    time_limit=self.infer_seconds,
                )
            except RoutingError as error:
                raise Refused("routing", f"{error}: {REPAIR_ADVICE}") from error
        found.answer = answer
        found.load_before = busiest_share(now.fabric, counters)
        for one in answer.answers:
            explained(one)

    # What is done

    def _decided(self, found: Found, now: Seen, jobs: Sequence[Job], journal: changing.Journal) -> None:
        assert found.answer is not None
        answer = found.answer
        if sum(traffic.total_bytes for traffic, _ in answer.layers) <= 0:
            raise Refused(IDLE, "nothing was carried: there is nothing to gain")
        number, who = len(self.history) + 1, jobs_sum(jobs)
        self._remember(now.fabric)
        evidence = found.evidence = Evidence(
            fabric=now.fabric,
            present=now.tables,
            layers=answer.layers,
            others=self._memory.others(number, who, answer.layers),
            error_percent=answer.estimated_error_percent,
            sums=answer.sums,
            seed=self.seed,
            threads=self.threads,
        )
        with self._step("optimize"):
            proposed = propose(evidence)
        self._memory.keep(number, who, answer.layers)
        with self._step("check"):
            plan = changing.plan(now, proposed, allow=self.allow, threads=self.threads)
        found.changed = plan.changed_entries
        found.proposed = plan.routes
        with self._step("predict"):
            proposal = judge(
                evidence,
                plan.routes,
                changed_entries=found.changed,
                unsound=plan.findings[0]["text"] if plan.findings else None,
            )
        found.prediction = proposal.prediction
        decision = decide(proposal, self.history, self.rule)
        found.cost, found.asked, found.reason = (
            decision.cost_percent,
            decision.asked_percent,
            decision.reason,
        )
        if not decision.applies:
            return
        manager = self.manager()
        for kind, text in self._forbidden(manager, now):
            raise Refused(kind, text)
        if self.canary_percent > 0:
            plan = self._canary(found, now) or plan
        if self.dry:
            if found.part is not None:
                part = f"{found.part.percent:g} % of the destinations first"
                found.reason += f"; {part}, predicted to gain {found.part.prediction.gain:.1f} %"
            found.outcome = "proposed"
            return
        self._loaded(found, now, plan, manager, journal)
        found.outcome = "applied"

    def _canary(self, found: Found, now: Seen) -> Plan | None:
        """The plan for part of the destinations that change; every one has its old tables or its new ones.

        None if no part gains by itself.
        """
        assert found.evidence is not None
        assert found.proposed is not None
        with self._step("predict"):
            found.part = draw_canary(
                found.evidence, found.proposed, self.canary_percent, len(self.history) + 1
            )
        if found.part is None:
            found.reason += f"; {NO_CANARY}"
            return None
        with self._step("check"):
            plan = changing.plan(now, found.part.routes, allow=self.allow, threads=self.threads)
        if plan.findings:
            raise Refused("unsound-part", f"part of the change is unsound: {plan.findings[0]['text']}")
        found.canary = plan.routes
        return plan

    def _completed(self, found: Found, journal: changing.Journal, file: Path) -> None:
        """The rest of a change whose canary has shown its gain."""
        assert self._seen is not None
        assert found.proposed is not None
        with journal.locked():
            with self._step("discover"):
                now = changing.look(self.access, file)
            self._as_left(now)
            with self._step("check"):
                plan = changing.plan(now, found.proposed, allow=self.allow, threads=self.threads)
            if plan.findings:
                raise Refused(
                    "unsound-rest", f"the rest of the change is unsound: {plan.findings[0]['text']}"
                )
            found.part = None
            if plan.changed_entries:
                self._loaded(found, now, plan, self.manager(), journal)

    def _loaded(
        self, found: Found, now: Seen, plan: Plan, manager: Manager, journal: changing.Journal
    ) -> None:
        """Makes a change."""
        found.touched = True
        with self._step("apply"):
            done = found.applied = changing.apply(plan, manager, journal)
        self._split_apply(done)
        if done.outcome != "applied":
            found.interrupted = done.why == INTERRUPTED
            raise Refused("not-applied", f"{done.outcome}: {done.why}")
        assert done.journal_id is not None
        found.changes.append(done.journal_id)
        # Read back by `apply`, entry by entry.
        self._seen = replace(now, tables=plan.routes)

    def _as_left(self, now: Seen) -> None:
        """Whether the fabric is as the last change has left it: else somebody else is at work."""
        assert self._seen is not None
        if (
            now.fabric.cabling_hash != self._seen.fabric.cabling_hash
            or lids_differ(now.fabric, self._seen.fabric)
            or now.tables.changed_entries(self._seen.tables)
        ):
            left, self._seen = self._seen, now
            self._close()
            what = "tables changed"
            if now.fabric.cabling_hash != left.fabric.cabling_hash:
                what = fabric_changed(left.fabric, now.fabric)
            raise Refused("tables-changed", f"{what}; the gain was not found, and tables stay as they are")

    def _forbidden(self, manager: Manager, now: Seen) -> Iterator[tuple[str, str]]:
        """Why this OpenSM should not be asked."""
        for problem in manager.problems():
            # As `netloom apply` has it: a fallback is a risk of OpenSM's, not of these tables.
            if problem.kind != "fallback" and problem.kind not in self.allow:
                yield problem.kind, problem.text
        with self._step("check"):
            rival = rivals(peers(self.access, now.fabric))
        if rival is not None and rival[0] not in self.allow:
            yield rival

    def _finish_what_was_left(self, journal: changing.Journal) -> None:
        """A change that was killed is finished or undone before anything else."""
        left = journal.unfinished()
        if left is None:
            return
        if self.dry:
            raise Refused("unfinished", f"change {left.id} was left unfinished: --yes finishes or undoes it")
        with self._step("apply"):
            done = changing.recover(self.access, self.manager(), journal, allow=self.allow)
            self._seen = changing.look(self.access, self._routes_file())
        told = "" if done is None else "; ".join(done.notes)
        if done is not None and done.outcome == "not restored":
            told += f"; {done.why}"
        raise Refused(
            "recovered", f"the counters belong to no known routes: {told or f'change {left.id} ended'}"
        )

    def _found_out(self, found: Found, interval: Callable[[Seen], None], journal: changing.Journal) -> None:
        """What the change has gained, over another interval; undone if that contradicts the prediction."""
        assert self._seen is not None
        assert found.prediction is not None
        seen = self._seen
        load = busiest_share(seen.fabric, self._found_counters(found, seen, interval))
        found.realised = percent_less(found.load_before, load)
        predicted = found.prediction if found.part is None else found.part.prediction
        wrong = contradicted(predicted.least, found.realised, self.rule)
        if wrong is None:
            return
        some = "" if found.part is None else f"with {found.part.percent:g} % of the destinations "
        found.reason = f"{found.reason}; {some}{wrong}"
        with self._step("apply"), journal.locked():
            file = self._routes_file()
            now = changing.look(self.access, file)
            self._as_left(now)
            for number in reversed(found.changes):
                back, _ = changing.rollback(journal, now, number, allow=self.allow)
                done = changing.apply(back, self.manager(), journal, rolls_back=number)
                now = self._seen = changing.look(self.access, file)
                if done.outcome != "applied":
                    found.interrupted = done.why == INTERRUPTED
                    text = f"taking it back: {done.outcome}: {done.why}"
                    raise Refused("not-rolled-back", text)
        found.outcome = "rolled back"

    def _found_counters(self, found: Found, seen: Seen, interval: Callable[[Seen], None]) -> Counters:
        """What an interval under the change counts; the next, where counters were set back in the first."""
        for again in (True, False):
            first, second = self._counted(seen, interval, "find")
            with self._step("find"):
                try:
                    return interval_of(first, second, found.findings)
                except Refused as kept:
                    if kept.finding["kind"] != "reset" or not again:
                        raise
        raise AssertionError("the second interval counts or raises")

    def _judged(self, seen: Seen, traffic: Traffic, bounds: LinkLoads | None = None) -> LinkLoads:
        """Loads and how far above ideal adaptive routing they are, which depends on cables alone."""
        from netloom import _core

        return whole(
            _core.loads(seen.fabric, seen.tables, traffic, bounds=bounds, threads=self.threads, work=0)
        )

    def _routes_file(self) -> Any:
        manager = self.manager()
        file = manager.routes_file
        if file is None:
            problems = manager.problems()
            text = problems[0].text if problems else "OpenSM reads no file of routes"
            raise Refused("no-file-engine", text)
        return file

    def _split_apply(self, applied: Applied) -> None:
        """OpenSM's own time, and that of reading back, are no part of `apply`."""
        opensm = applied.seconds.get("opensm", 0.0)
        read_back = applied.seconds.get("read back", 0.0)
        self._seconds["apply"] -= opensm + read_back
        self._seconds["opensm"] = opensm
        self._seconds["verify"] = self._seconds.get("verify", 0.0) + read_back

    def _entry(self, found: Found, phase: str, jobs: Sequence[Job]) -> Round:
        prediction = found.prediction
        return Round(
            number=len(self.history) + 1,
            phase=phase,
            jobs=jobs_sum(jobs),
            seconds=dict(self._seconds),
            verdict=None if found.answer is None else found.answer.verdict,
            estimated_error_percent=(
                None if found.answer is None else found.answer.estimated_leaf_error_percent
            ),
            gap_before_percent=found.gap_before,
            gap_after_percent=found.gap_after,
            bound_class=found.bound_class,
            predicted_gain=None if prediction is None else prediction.gain,
            sure_gain=None if prediction is None else prediction.least,
            cost_percent=found.cost,
            asked_percent=found.asked,
            realised_gain=found.realised,
            inferred_phases=0 if found.answer is None else len(found.answer.layers),
            changed_entries=found.changed,
            decision=found.outcome,
            reason=found.reason,
            routes="" if self._seen is None else digest(self._seen.tables),
            proposed="" if found.proposed is None else digest(found.proposed),
        )

    def _close(self) -> None:
        if self._poller is not None:
            self._poller.__exit__(None, None, None)
            self._poller = None

    @contextlib.contextmanager
    def _step(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - started
