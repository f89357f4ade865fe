"""`netloom apply`: new routes on a live fabric: verified, staged, journaled, read back; a dry run first."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.inputs import fault_lines
from netloom.cli.shared.options import Options, within
from netloom.cli.shared.outputs import same_file
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.errors import LiveError
from netloom.findings import Finding, finding, without_entries

if TYPE_CHECKING:
    from netloom.apply import Applied, Journal, Plan, Seen
    from netloom.live import Access, Manager

LAST = "last"
"""What `--rollback` means without a number."""

_REPORTS = (".json", ".csv", ".txt")
"""What `-o` may end in: never what OpenSM reads."""
_BROKEN = ("port-above-radix", "port-to-nowhere", "conflict")
_SHOWN = 10


def apply(
    routes: str | None = None,
    /,
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    stages: Annotated[int, within(1, 1000)] = 8,
    mend: bool = False,
    rollback: str | None = None,
    recover: bool = False,
    history: bool = False,
    allow: Sequence[Literal["standby", "adaptive", "credit-loops", "unanswered"]] = (),
    sim: str | None = None,
    ca: str | None = None,
    port: Annotated[int | None, within(0, 254)] = None,
    opensm: Annotated[int | None, within(1, 2**31 - 1)] = None,
    journal: Path | None = None,
    wait: Annotated[float, within(0.1, 1e6)] = 60.0,
    options: Options | None = None,
) -> int:
    """Put new routes on a live fabric, safely.

    Reads the fabric and its tables as they are now, verifies the new routes against it, and shows what
    differs. That is all unless `--yes` is given: then the old tables are journaled, OpenSM's file of routes
    is replaced and OpenSM asked to load it, stage by stage; every switch is read back; what differs, or loses
    a host, is rolled back. Runs where the master OpenSM runs. A refusal and a rollback exit 1.

    Parameters
    ----------
    routes
        A file of routes, or an engine's name.
    yes
        Do it. Without it nothing is changed.
    stages
        How many stages there may be. The fewest are taken in which no mix of old and new entries has a
        loop or a hole.
    mend
        Replace entries of the new routes that lead to dead ports or nowhere, instead of refusing them.
    rollback
        Return to the tables before an earlier change: its number, or the last one applied.
    recover
        Only finish or undo a change that was killed; any other call with `--yes` does so first.
    history
        List earlier changes.
    allow
        Go on in spite of: `standby` (a second subnet manager), `adaptive` (adaptive routing), `credit-loops`
        (where virtual lanes break them), `unanswered` (links on which discovery gets no answer).
    sim
        A simulated fabric: its ibsim's socket name, and the host from which to look (`SOCKET,HOST`).
    ca
        The channel adapter to ask through.
    port
        Its port.
    opensm
        The process of OpenSM, where several run.
    journal
        The journal's folder. [default: beside OpenSM's file of routes]
    wait
        Seconds that OpenSM may take over one stage.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    asked = {"ROUTES": routes is not None, "--rollback": rollback is not None, "--recover": recover}
    asked["--history"] = history
    given = [name for name, is_given in asked.items() if is_given]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        raise UsageError(f"expected one of ROUTES, --rollback, --recover and --history, found {found}")
    number = _number(rollback)
    run = Run("apply", options or Options(), product=False, endings=_REPORTS)
    if history and journal is not None:
        _is_journal(journal)
        return _history(run, _journal(journal, None))
    from netloom.live import Manager

    access = Reach(sim=sim, ca=ca, port=port).access()
    if history and opensm is None and not Manager.all_running(access):
        return _history(run, _journal_without_opensm(access))
    manager = Manager.running(access, opensm)
    if journal is not None and (recover or rollback is not None):
        _is_journal(journal)
    book = _journal(journal, manager)
    if history:
        return _history(run, book)
    _not_the_tables(run, manager, book)
    names = {"credit-loops": "credit-loop"}
    allowed = [names.get(name, name) for name in allow]
    job = _Job(run, access, manager, book, wait, allowed)
    # What is looked at under the lock stays so until it is changed.
    with book.locked() if yes else contextlib.nullcontext():
        refused = job.problems()
        if recover:
            return job.recover(refused, yes=yes)
        recovered = job.finish_what_was_left() if yes and not refused else None
        plan, rolls_back, more = job.plan(routes, number, stages, mend)
        job.rolls_back = rolls_back
        if yes and plan.verified and not refused and not more:
            return job.finish(plan, job.send(plan, rolls_back), [], recovered)
        left = book.unfinished()
        if left is not None:
            job.notes.append(f"change {left.id} was left unfinished: --yes finishes or undoes it first")
        if not mend and any(one["kind"] in _BROKEN for one in [*plan.findings, *more]):
            job.notes.append("where a cable was cut, --mend leads entries around it")
        return job.finish(plan, None, refused + more, recovered)


class _Job:
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
        wrong = [fault for fault in tables.faults if fault[1] in _BROKEN]
        harmless = [fault for fault in tables.faults if fault[1] not in _BROKEN]
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
                self.run.note(f"change {left.id} is half done: `netloom apply --recover --yes` undoes it")
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
        return self.run.finish(result, lambda: _recovered_text(result, yes=yes), findings=findings)

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
        self.again = _again(self.access, self.journal, self.manager)
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
            lambda: text(result, self.access.what, plan.seen.fabric.switches, self.again),
            rows=plan.changes,
            findings=bad,
            interrupted=result["why"] == "interrupted",
        )

    def _tell(self, what: str) -> None:
        if not self.run.options.quiet and os.isatty(2):
            self.run.note(what)


def _again(access: Access, journal: Journal, manager: Manager) -> str:
    """What another call needs to mean the same fabric and journal."""
    from netloom.apply import Journal

    words = []
    if access.socket_name is not None:
        words.append(f"--sim {access.socket_name}{f',{access.host}' if access.host else ''}")
    if access.ca is not None:
        words.append(f"--ca {access.ca}")
    if access.port is not None:
        words.append(f"--port {access.port}")
    if len(type(manager).all_running(access)) > 1:
        words.append(f"--opensm {manager.pid}")
    file = manager.routes_file
    if file is None or Journal.beside(file).folder != journal.folder:
        words.append(f"--journal {journal.folder}")
    return "".join(f" {word}" for word in words)


def text(result: dict[str, Any], fabric: str, switches: int, again: str = "") -> str:
    """The report; `again` is what another call has to say to mean the same fabric."""
    count = render.count
    rows = [
        ("fabric", f"{count(result['hosts'])} hosts, {count(switches)} switches ({fabric})"),
        ("file of routes", str(result["file"])),
        (
            "change",
            f"{count(result['changed_entries'])} entries in {count(result['changed_blocks'])} blocks of "
            f"{count(result['switches'])} switches",
        ),
    ]
    if result["stages"]:
        few = "" if result["stages_fewest"] else " (fewer may do)"
        rows.append(
            ("stages", f"{result['stages']}{few}: no mix of old and new entries has a loop or a hole")
        )
    verified = "every LID reached from every host, no credit loop, no dead port"
    if result["outcome"] in ("applied", "unchanged"):
        verified += "; every switch read back"
    rows.append(("verified", verified if result["verified"] else "NO"))
    if result["journal_id"] is not None:
        rows.append(("journal", f"change {result['journal_id']} in {result['journal']}"))
    own, opensm = result["own_seconds"], result["opensm_seconds"]
    asked = f" ({result['asked']})" if result["asked"] else ""
    rows.append(("seconds", f"{own:.2f} of netloom's, {opensm:.2f} of OpenSM's{asked}"))
    out = render.pairs(rows)
    changes = sorted(result["changes"], key=lambda row: -row["entries"])[:_SHOWN]
    if changes:
        lines = [[row["switch"], count(row["entries"]), count(row["blocks"])] for row in changes]
        out += "\n\n" + render.table(["switch", "entries", "blocks"], lines, right=[1, 2])
        if len(result["changes"]) > _SHOWN:
            out += f"\nand {count(len(result['changes']) - _SHOWN)} more switches"
    out += render.findings(result["findings"])
    if result["notes"]:
        out += "\n\nnotes\n" + "\n".join(f"  {note}" for note in result["notes"])
    return f"{out}\n\n{_last_line(result, again)}"


def _last_line(result: dict[str, Any], again: str) -> str:
    recover = f"`netloom apply --recover --yes{again}`"
    back = f"`netloom apply --rollback {result['journal_id']} --yes{again}` undoes it"
    if result["rolls_back"] is not None:
        undone = f"change {result['rolls_back']} is taken back"
        back = f"{undone}; {back.removesuffix('undoes it')}makes it again"
    return {
        "dry run": "dry run: nothing was changed (--yes applies it)",
        "refused": "REFUSED: nothing was changed",
        "unchanged": "unchanged: switches and file hold these routes already",
        "applied": f"applied: {back}",
        "rolled back": f"ROLLED BACK: {result['why']}",
        "not restored": f"NOT RESTORED: {result['why']}; when OpenSM runs, {recover}",
    }[result["outcome"]]


def _recovered_text(result: dict[str, Any], *, yes: bool) -> str:
    lines = [f"{f['kind']}: {f['text']}" for f in result["findings"]] + result["recovered"]
    if result["unfinished"] is not None:
        more = "" if yes else " (--yes finishes or undoes it)"
        lines.append(f"change {result['unfinished']} was left unfinished{more}")
    return "\n".join(lines) or "no change was left unfinished"


def _history(run: Run, journal: Journal) -> int:
    """Lists earlier changes."""
    keys = ("id", "time", "state", "changed_entries", "stages", "rolls_back", "recovers", "why")
    rows = [{key: getattr(change, key) for key in keys} for change in journal.changes()]
    result = {"journal": str(journal.folder), "history": rows}
    odd = journal.odd_lines()
    if odd:
        where = ", ".join(str(number) for number in odd)
        run.note(
            f"{journal.folder}: no events in line {where}: cut off by a kill, or damaged", kind="warning"
        )

    def report() -> str:
        if not rows:
            return f"{journal.folder}: no change yet"
        lines = [["" if row[key] is None else str(row[key]) for key in keys] for row in rows]
        return render.table([key.replace("_", " ") for key in keys], lines, right=[0, 3, 4])

    return run.finish(result, report, rows=rows)


def _not_the_tables(run: Run, manager: Manager, journal: Journal) -> None:
    """A report must not go where OpenSM reads routes, nor among journaled tables."""
    target = run.options.output
    if target is None or run.product_to_stdout:
        return
    if manager.routes_file is not None and same_file(target, manager.routes_file):
        raise UsageError(f"-o {target}: OpenSM reads its routes from there, and -o takes the report")
    if journal.folder.resolve() in target.resolve().parents:
        raise UsageError(f"-o {target}: is in the journal, and -o takes the report")


def _journal(folder: Path | None, manager: Manager | None) -> Journal:
    from netloom.apply import Journal

    if folder is not None:
        return Journal(folder, routes=None if manager is None else manager.routes_file)
    file = manager.routes_file if manager is not None else None
    if file is None:
        assert manager is not None
        problem = manager.problems()[0]
        raise LiveError(problem.text)
    return Journal.beside(file)


def _is_journal(folder: Path) -> None:
    """Refuses a folder that is no journal of changes, where one is read."""
    if not (folder / "journal.jsonl").is_file():
        raise LiveError(
            f"--journal {folder}: no journal of changes there (journal.jsonl): expected the folder that "
            "`netloom apply` keeps beside OpenSM's file of routes"
        )


def _journal_without_opensm(access: Access) -> Journal:
    """The journal beside the file that OpenSM's options name, though it does not run."""
    from netloom.apply import Journal
    from netloom.live.manager import configured_routes_file

    file = None if access.socket_name is not None else configured_routes_file()
    if file is None:
        raise LiveError(
            f"no OpenSM of {access.what} runs on this machine, nor do its options name a file of routes: "
            "expected --journal FOLDER"
        )
    return Journal.beside(file)


def _number(rollback: str | None) -> int | None:
    if rollback is None or rollback == LAST:
        return None
    if not rollback.isdigit():
        raise UsageError(f'--rollback: expected the number of a change, found "{rollback}"')
    return int(rollback)
