"""One change of a live fabric's routes: looked at, planned, sent, reported; or what was killed, ended."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli.apply import report
from netloom.cli.shared.run import Run
from netloom.errors import LiveError
from netloom.findings import Finding, finding, without_entries
from netloom.session.faults import fault_lines

if TYPE_CHECKING:
    from netloom.apply import Applied, Journal, Plan, Seen
    from netloom.live import Access, Manager

BROKEN = ("port-above-radix", "port-to-nowhere", "conflict")
"""Faults of routes that `--mend` may replace."""


class Change:
    """One call."""

    def __init__(
        self,
        run: Run,
        access: Access,
        manager: Manager,
        journal: Journal,
        wait: float,
        allow: Sequence[str],
    ) -> None:
        self.run = run
        self.access = access
        self.manager = manager
        self.journal = journal
        self.wait = wait
        self.allow = allow
        self.notes: list[str] = []
        self.managers = 0
        self.seen: Seen | None = None
        self.recovered = False
        self.again = ""
        self.does = ""
        self.rolls_back: int | None = None

    def problems(self) -> list[Finding]:
        """Why OpenSM should not be asked; what is allowed becomes a note."""
        from netloom import apply as applying
        from netloom.live import peers, rivals

        found = [(problem.kind, problem.text) for problem in self.manager.problems()]
        with self.run.timed("look"):
            self.seen = applying.look(self.access, self.manager.routes_file)
            others = peers(self.access, self.seen.fabric)
        self.managers = len(others)
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

    def plan(
        self, routes: str | None, number: int | None, stages: int, mend: bool
    ) -> tuple[Plan, int | None, list[Finding]]:
        """The plan, the change that it rolls back, and what is wrong with the file of routes."""
        from netloom import apply as applying

        seen = self.seen
        if seen is None or self.recovered:
            with self.run.timed("look"):
                seen = self.seen = applying.look(self.access, self.manager.routes_file)
        self.run.note_input("fabric", self.access.what, None)
        if routes is None:
            with self.run.timed("plan"):
                plan, back = applying.rollback(
                    self.journal, seen, number, stages=stages, mend=mend, allow=self.allow
                )
            return plan, back, []
        tables = self.run.routes(routes, seen.fabric, None, strict=False)
        wrong = [fault for fault in tables.faults if fault[1] in BROKEN]
        harmless = [fault for fault in tables.faults if fault[1] not in BROKEN]
        if mend:
            wrong = [fault for fault in wrong if fault[1] == "conflict"]
        self.notes += [fault["text"] for fault in fault_lines(harmless, routes)]
        with self.run.timed("plan"):
            plan = applying.plan(
                seen, tables, stages=stages, mend=mend, allow=self.allow, threads=self.run.options.threads
            )
        return plan, None, list(fault_lines(wrong, routes))

    def send(self, plan: Plan, rolls_back: int | None) -> Applied:
        """Makes the change."""
        from netloom import apply as applying

        self.run.keeps()  # What is begun on a live fabric is finished.
        try:
            return applying.apply(
                plan,
                self.manager,
                self.journal,
                seconds=self.wait,
                rolls_back=rolls_back,
                progress=self._tell,
            )
        except KeyboardInterrupt:
            left = self.journal.unfinished()
            if left is not None:
                self.run.note(f"change {left.id} is half done: `netloom apply recover --yes` undoes it")
            raise

    def finish_what_was_left(self) -> int | None:
        """Finishes or undoes a change that was killed; returns its number."""
        from netloom import apply as applying

        left = self.journal.unfinished()
        if left is None:
            return None
        self.recovered = True
        self.run.keeps()
        with self.run.timed("recover"):
            done = applying.recover(
                self.access,
                self.manager,
                self.journal,
                allow=self.allow,
                seconds=self.wait,
                progress=self._tell,
            )
        if done is not None:
            self.notes += done.notes
            if done.outcome == "not restored":
                raise LiveError(
                    f"change {left.id}, which was killed, can be neither finished nor undone: {done.why}"
                )
        return left.id

    def recover(self, refused: list[Finding], *, yes: bool) -> int:
        """Only finishes or undoes what was killed."""
        left = self.journal.unfinished()
        if left is not None and yes and not refused:
            with self.journal.locked():
                self.finish_what_was_left()
            left = self.journal.unfinished()
        result: dict[str, Any] = {
            "recovered": self.notes,
            "unfinished": None if left is None else left.id,
            "findings": refused,
        }
        findings = bool(refused) or left is not None
        return self.run.finish(result, lambda: report.recovered(result, yes=yes), findings=findings)

    def finish(
        self, plan: Plan, done: Applied | None, refused: Sequence[Finding], recovered: int | None
    ) -> int:
        """Reports."""
        findings = [*refused, *plan.findings]
        outcome: str = "refused" if findings else "dry run"
        verified = done.verified if done is not None else not findings
        # OpenSM's file engine leaves nodes without entries cut off: told, but no reason to refuse.
        findings += without_entries(plan.seen.fabric.findings)
        if done is not None:
            outcome = done.outcome
        fabric = plan.seen.fabric
        seconds = {**self.run.seconds, **(done.seconds if done is not None else {})}
        result = {
            "outcome": outcome,
            "hosts": fabric.hosts,
            "file": str(self.manager.routes_file) if self.manager.routes_file else None,
            "journal": str(self.journal.folder),
            "journal_id": done.journal_id if done is not None else None,
            "changed_entries": plan.changed_entries,
            "changed_blocks": plan.changed_blocks,
            "switches": plan.switches,
            "stages": len(plan.stages),
            "stages_fewest": plan.fewest,
            "verified": verified,
            "why": done.why if done is not None else None,
            "asked": done.asked if done is not None else None,
            "recovered": recovered,
            "rolls_back": self.rolls_back,
            "seconds": {name: round(value, 6) for name, value in seconds.items()},
            "opensm_seconds": round(seconds.get("opensm", 0.0), 6),
            "own_seconds": round(sum(v for name, v in seconds.items() if name != "opensm"), 6),
            "changes": list(plan.changes),
            "findings": findings,
            "notes": [*self.notes, *(done.notes if done is not None else plan.notes)],
        }
        self.again = report.again(self.access, self.journal, self.manager)
        bad = outcome not in ("dry run", "applied", "unchanged")
        try:
            return self._report(plan, result, bad=bad)
        except OSError:
            if done is not None:
                what = f"change {done.journal_id} is {outcome}" if done.journal_id else outcome
                self.run.note(f"{what}: only the report could not be written")
            raise

    def _report(self, plan: Plan, result: dict[str, Any], *, bad: bool) -> int:
        return self.run.finish(
            result,
            lambda: report.text(result, self.access.what, plan.seen.fabric.switches, self.again, self.does),
            rows=plan.changes,
            findings=bad,
            interrupted=result["why"] == "interrupted",
        )

    def _tell(self, what: str) -> None:
        if not self.run.options.quiet and os.isatty(2):
            self.run.note(what)
