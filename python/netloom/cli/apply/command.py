"""`netloom apply`: new routes on a live fabric: verified, staged, journaled, read back; a dry run first."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from netloom.cli.apply.change import BROKEN, Change
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options, within
from netloom.cli.shared.outputs import same_file
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.errors import LiveError

if TYPE_CHECKING:
    from netloom.apply import Journal
    from netloom.live import Access, Manager

_REPORTS = (".json", ".csv", ".txt")
"""What `-o` may end in: never what OpenSM reads."""

Yes = Annotated[bool, Parameter(name=["--yes", "-y"])]
Stages = Annotated[int, within(1, 1000)]


@Parameter(name="*", group="Live fabric")
@dataclass(frozen=True, kw_only=True)
class Through:
    """The OpenSM through which routes come, and the journal of its changes."""

    opensm: Annotated[int | None, within(1, 2**31 - 1)] = None
    """The process of OpenSM, where several run."""
    journal: Path | None = None
    """The journal's folder. [default: beside OpenSM's file of routes]"""


@Parameter(name="*", group="Live fabric")
@dataclass(frozen=True, kw_only=True)
class Waiting(Through):
    """The same, where OpenSM is asked to load routes."""

    wait: Annotated[float, within(0.1, 1e6)] = 60.0
    """Seconds that OpenSM may take over one stage."""
    allow: Sequence[Literal["standby", "adaptive", "credit-loop", "unanswered"]] = ()
    """Continue despite: `standby` (a second subnet manager), `adaptive` (adaptive routing), `credit-loop`
    (where virtual lanes break them), `unanswered` (links on which discovery gets no answer)."""


def plan(
    routes: str,
    /,
    *,
    stages: Stages = 8,
    mend: bool = False,
    through: Waiting | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """What new routes would change on a live fabric: read, verified, compared; nothing is sent.

    A refusal exits 1.

    Parameters
    ----------
    routes
        A file of routes, or an engine's name.
    stages
        How many stages there may be. The fewest are taken in which no mix of old and new entries has a
        loop or a hole.
    mend
        Replace entries of the new routes that lead to dead ports or nowhere, instead of refusing them.
    through
        Which OpenSM.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    return _change(routes, None, False, stages, mend, through, reach, options)


def send(
    routes: str,
    /,
    *,
    yes: Yes = False,
    stages: Stages = 8,
    mend: bool = False,
    through: Waiting | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """Put new routes on a live fabric, safely; a dry run unless `--yes`.

    Reads the fabric and its tables as they are now, verifies the new routes against it, and shows what
    differs. That is all unless `--yes` is given: then the old tables are journaled, OpenSM's file of routes
    is replaced and OpenSM asked to load it, stage by stage; every switch is read back; what differs, or loses
    a host, is rolled back. Runs where the master OpenSM runs. A refusal and a rollback exit 1.

    Parameters
    ----------
    routes
        A file of routes, or an engine's name.
    yes
        Make the change; without it nothing is changed.
    stages
        How many stages there may be. The fewest are taken in which no mix of old and new entries has a
        loop or a hole.
    mend
        Replace entries of the new routes that lead to dead ports or nowhere, instead of refusing them.
    through
        Which OpenSM.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    return _change(routes, None, yes, stages, mend, through, reach, options)


def rollback(
    number: Annotated[int | None, within(1, 2**31 - 1)] = None,
    /,
    *,
    yes: Yes = False,
    stages: Stages = 8,
    mend: bool = False,
    through: Waiting | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """Return to the tables before an earlier change; a dry run unless `--yes`.

    Parameters
    ----------
    number
        The change's number (`netloom apply history`). [default: the last one applied]
    yes
        Make the change; without it nothing is changed.
    stages
        How many stages there may be.
    mend
        Replace old entries that lead to dead ports or nowhere by now, instead of refusing them.
    through
        Which OpenSM.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    return _change(None, number, yes, stages, mend, through, reach, options)


def recover(
    *,
    yes: Yes = False,
    through: Waiting | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """Finish or undo a change that was killed; any other call with `--yes` does so first.

    Parameters
    ----------
    yes
        Do it. Without it the unfinished change is only reported.
    through
        Which OpenSM.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    run, change = _begun(through or Waiting(), reach, options, past=True)
    _not_the_tables(run, change.manager, change.journal)
    with change.journal.locked() if yes else contextlib.nullcontext():
        return change.recover(change.problems(), yes=yes)


def history(
    *,
    through: Through | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """List earlier changes; OpenSM need not run.

    Parameters
    ----------
    through
        Whose journal.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    through = through or Through()
    run = Run("apply", options or Options(), product=False, endings=_REPORTS)
    if through.journal is not None:
        _is_journal(through.journal)
        return _history(run, _journal(through.journal, None))
    from netloom.live import Manager

    access = (reach or Reach()).access()
    if through.opensm is None and not Manager.all_running(access):
        return _history(run, _journal_without_opensm(access))
    return _history(run, _journal(None, Manager.running(access, through.opensm)))


def _begun(
    through: Waiting, reach: Reach | None, options: Options | None, *, past: bool
) -> tuple[Run, Change]:
    """The call, and what it may change; `past`: of a journal that must be there."""
    run = Run("apply", options or Options(), product=False, endings=_REPORTS)
    from netloom.live import Manager

    access = (reach or Reach()).access()
    manager = Manager.running(access, through.opensm)
    if through.journal is not None and past:
        _is_journal(through.journal)
    journal = _journal(through.journal, manager)
    return run, Change(run, access, manager, journal, through.wait, through.allow)


def _change(
    routes: str | None,
    number: int | None,
    yes: bool,
    stages: int,
    mend: bool,
    through: Waiting | None,
    reach: Reach | None,
    options: Options | None,
) -> int:
    """New routes, or without any those before change `number`."""
    run, change = _begun(through or Waiting(), reach, options, past=routes is None)
    _not_the_tables(run, change.manager, change.journal)
    odd = change.journal.odd()
    if odd is not None:
        change.notes.append(odd)
    # What is looked at under the lock stays so until it is changed.
    with change.journal.locked() if yes else contextlib.nullcontext():
        refused = change.problems()
        recovered = change.finish_what_was_left() if yes and not refused else None
        plan, rolls_back, more = change.plan(routes, number, stages, mend)
        change.rolls_back = rolls_back
        what = f"rollback {rolls_back}" if routes is None else f"send {shlex.quote(routes)}"
        change.does = f"netloom apply {what}{' --mend' if mend else ''}"
        if yes and plan.verified and not refused and not more:
            return change.finish(plan, change.send(plan, rolls_back), [], recovered)
        left = change.journal.unfinished()
        if left is not None:
            change.notes.append(f"change {left.id} was left unfinished: --yes finishes or undoes it first")
        if not mend and any(one["kind"] in BROKEN for one in [*plan.findings, *more]):
            change.notes.append("where a cable was cut, --mend leads entries around it")
        return change.finish(plan, None, refused + more, recovered)


def _history(run: Run, journal: Journal) -> int:
    """Lists earlier changes."""
    keys = ("id", "time", "state", "changed_entries", "stages", "rolls_back", "recovers", "why")
    rows = [{key: getattr(change, key) for key in keys} for change in journal.changes()]
    result = {"journal": str(journal.folder), "history": rows}
    odd = journal.odd()
    if odd is not None:
        run.note(odd, kind="warning")

    def report() -> str:
        if not rows:
            return f"{journal.folder}: no change yet"
        lines = [["" if row[key] is None else str(row[key]) for key in keys] for row in rows]
        return render.table([key.replace("_", " ") for key in keys], lines, right=[0, 3, 4], spare=[4, 3])

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
