"""One change of a live fabric's routes: looked at, planned, sent; or what was killed, ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from netloom.apply.planning import look, plan
from netloom.apply.recovery import recover, rollback
from netloom.apply.sending import apply
from netloom.errors import LiveError
from netloom.findings import Finding, finding, without_entries
from netloom.session.faults import fault_lines

if TYPE_CHECKING:
    from netloom._core import Routes
    from netloom.apply.journal import Journal
    from netloom.apply.planning import Plan, Seen
    from netloom.apply.sending import Applied
    from netloom.live import Access, Manager
    from netloom.session.session import Session

BROKEN = ("port-above-radix", "port-to-nowhere", "conflict")
"""Faults of routes that `--mend` may replace."""


class Attempt:
    """One attempt to change the routes of a fabric.

    Parameters
    ----------
    session : Session
        What it may spend and whom it tells.
    access : Access
        The way to the fabric.
    manager : Manager
        Its OpenSM.
    journal : Journal
        Where its changes are written down.
    wait : float, default 60
        Seconds that OpenSM may take over one stage.
    allow : sequence of str
        Continue despite these: `standby`, `adaptive`, `credit-loop`, `unanswered`.
    tell : callable, optional
        Hears of each step of a change.
    """

    def __init__(
        self,
        session: Session,
        access: Access,
        manager: Manager,
        journal: Journal,
        wait: float = 60.0,
        allow: Sequence[str] = (),
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self.session = session
        self.access = access
        self.manager = manager
        self.journal = journal
        self.wait = wait
        self.allow = allow
        self._heard = tell
        self._failed: Exception | None = None
        self.notes: list[str] = []
        self.seen: Seen | None = None
        self.recovered = False
        self.rolls_back: int | None = None
        self.done: Applied | None = None

    def change(
        self, routes: Routes | str | None, number: int | None, *, yes: bool, stages: int, mend: bool
    ) -> dict[str, Any]:
        """New routes, or without any those before change `number`; the result."""
        odd = self.journal.odd()
        if odd is not None:
            self.notes.append(odd)
        # What is looked at under the lock stays so until it is changed.
        with self.journal.locked() if yes else contextlib.nullcontext():
            refused = self._problems()
            recovered = self._finish_what_was_left() if yes and not refused else None
            planned, self.rolls_back, more = self._plan(routes, number, stages, mend)
            if yes and planned.verified and not refused and not more:
                self.done = self._send(planned)
            else:
                left = self.journal.unfinished()
                if left is not None:
                    self.notes.append(
                        f"change {left.id} was left unfinished: --yes finishes or undoes it first"
                    )
                if not mend and any(one["kind"] in BROKEN for one in [*planned.findings, *more]):
                    self.notes.append("where a cable was cut, --mend leads entries around it")
            result = self._result(planned, refused + more, recovered)
        return self._ended(result)

    def _ended(self, result: dict[str, Any]) -> dict[str, Any]:
        """The result, unless the listener has raised."""
        if self._failed is not None:
            raise self._failed
        return result

    def tell(self, what: str) -> None:
        """Tells a step. What the listener raises waits until the change has ended."""
        if self._heard is not None and self._failed is None:
            try:
                self._heard(what)
            except Exception as error:
                self._failed = error

    def recover(self, *, yes: bool) -> dict[str, Any]:
        """Only finishes or undoes what was killed; the result."""
        with self.journal.locked() if yes else contextlib.nullcontext():
            refused = self._problems()
            left = self.journal.unfinished()
            if left is not None and yes and not refused:
                self._finish_what_was_left()
                left = self.journal.unfinished()
        unfinished = None if left is None else left.id
        return self._ended({"recovered": self.notes, "unfinished": unfinished, "findings": refused})

    def _problems(self) -> list[Finding]:
        """Why OpenSM should not be asked; what is allowed becomes a note."""
        from netloom.live import peers, rivals

        found = [(problem.kind, problem.text) for problem in self.manager.problems()]
        with self.session.timed("look"):
            self.seen = look(self.access, self.manager.routes_file)
            others = peers(self.access, self.seen.fabric)
        rival = rivals(others)
        if rival is not None:
            found.append(rival)
        refused = []
        for kind, text in found:
            if kind in self.allow or kind == "fallback":
                self.notes.append(text)
            else:
                hint = "; --allow adaptive goes on all the same" if kind == "adaptive" else ""
                refused.append(finding(kind, text + hint))
        return refused

    def _plan(
        self, routes: Routes | str | None, number: int | None, stages: int, mend: bool
    ) -> tuple[Plan, int | None, list[Finding]]:
        """The plan, the change that it rolls back, and what is wrong with the routes."""
        seen = self.seen
        if seen is None or self.recovered:
            with self.session.timed("look"):
                seen = self.seen = look(self.access, self.manager.routes_file)
        self.session.note_input("fabric", self.access.what, None)
        if routes is None:
            with self.session.timed("plan"):
                planned, back = rollback(
                    self.journal, seen, number, stages=stages, mend=mend, allow=self.allow
                )
            return planned, back, []
        tables = self.session.routes(routes, seen.fabric, None, strict=False)
        wrong = [fault for fault in tables.faults if fault[1] in BROKEN]
        harmless = [fault for fault in tables.faults if fault[1] not in BROKEN]
        if mend:
            wrong = [fault for fault in wrong if fault[1] == "conflict"]
        source = routes if isinstance(routes, str) else "routes"
        self.notes += [fault["text"] for fault in fault_lines(harmless, source)]
        with self.session.timed("plan"):
            planned = plan(
                seen, tables, stages=stages, mend=mend, allow=self.allow, threads=self.session.threads
            )
        return planned, None, list(fault_lines(wrong, source))

    def _send(self, planned: Plan) -> Applied:
        """Makes the change."""
        self.session.keeps()  # What is begun on a live fabric is finished.
        try:
            return apply(
                planned,
                self.manager,
                self.journal,
                seconds=self.wait,
                rolls_back=self.rolls_back,
                progress=self.tell,
            )
        except KeyboardInterrupt:
            left = self.journal.unfinished()
            if left is not None:
                self.session.note(f"change {left.id} is half done: `netloom apply recover --yes` undoes it")
            raise

    def _finish_what_was_left(self) -> int | None:
        """Finishes or undoes a change that was killed; returns its number."""
        left = self.journal.unfinished()
        if left is None:
            return None
        self.recovered = True
        self.session.keeps()
        with self.session.timed("recover"):
            done = recover(
                self.access,
                self.manager,
                self.journal,
                allow=self.allow,
                seconds=self.wait,
                progress=self.tell,
            )
        if done is not None:
            self.notes += done.notes
            if done.outcome == "not restored":
                raise LiveError(
                    f"change {left.id}, which was killed, can be neither finished nor undone: {done.why}"
                )
        return left.id

    def _result(self, planned: Plan, refused: Sequence[Finding], recovered: int | None) -> dict[str, Any]:
        """What is told."""
        done = self.done
        findings = [*refused, *planned.findings]
        outcome: str = "refused" if findings else "dry run"
        verified = done.verified if done is not None else not findings
        # OpenSM's file engine leaves nodes without entries cut off: told, but no reason to refuse.
        findings += without_entries(planned.seen.fabric.findings)
        if done is not None:
            outcome = done.outcome
        fabric = planned.seen.fabric
        seconds = {**self.session.seconds, **(done.seconds if done is not None else {})}
        return {
            "outcome": outcome,
            "hosts": fabric.hosts,
            "file": str(self.manager.routes_file) if self.manager.routes_file else None,
            "journal": str(self.journal.folder),
            "journal_id": done.journal_id if done is not None else None,
            "changed_entries": planned.changed_entries,
            "changed_blocks": planned.changed_blocks,
            "switches": planned.switches,
            "stages": len(planned.stages),
            "stages_fewest": planned.fewest,
            "verified": verified,
            "why": done.why if done is not None else None,
            "asked": done.asked if done is not None else None,
            "recovered": recovered,
            "rolls_back": self.rolls_back,
            "seconds": {name: round(value, 6) for name, value in seconds.items()},
            "opensm_seconds": round(seconds.get("opensm", 0.0), 6),
            "own_seconds": round(sum(v for name, v in seconds.items() if name != "opensm"), 6),
            "changes": list(planned.changes),
            "findings": findings,
            "notes": [*self.notes, *(done.notes if done is not None else planned.notes)],
        }
