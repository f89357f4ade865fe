"""`netloom apply`: new routes on a live fabric: verified, staged, journaled, read back; a dry run first."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from netloom.apply.calls import changes_in, journal_to_read
from netloom.cli.apply import report
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing, Options, Threaded, within
from netloom.cli.shared.outputs import same_file
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run

if TYPE_CHECKING:
    from netloom.apply import Journal
    from netloom.apply.attempt import Attempt
    from netloom.live import Manager

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
    options: Computing | None = None,
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
    options: Computing | None = None,
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
    options: Threaded | None = None,
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


def guard(
    *,
    yes: Yes = False,
    every: Annotated[float, within(0.05, 86400.0)] = 0.5,
    rounds: Annotated[int | None, within(1, 1_000_000)] = None,
    through: Waiting | None = None,
    reach: Reach | None = None,
    options: Threaded | None = None,
) -> int:
    """Lead routes around cables and switches that fail, and back; a dry run unless `--yes`.

    Asks for the state of every port of switches, and at once when OpenSM's log tells of a trap. Where one
    fails, tables that lead around it are verified, journaled and loaded; where it is back, the old ones.
    Runs where the master OpenSM runs, until Ctrl-C. A refusal and a rollback exit 1.

    Parameters
    ----------
    yes
        Change routes; without it what would be done is only told.
    every
        Seconds between two looks at all ports.
    rounds
        End after so many changes of the fabric. [default: until Ctrl-C]
    through
        Which OpenSM.
    reach
        Which fabric.
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    from netloom.apply.calls import guarding

    run, attempt = _begun(through or Waiting(), reach, options, past=False)
    result = guarding(
        attempt,
        yes=yes,
        every=every,
        rounds=rounds,
        told=lambda row: run.note(report.guarded_row(row)),
    )
    bad = any(row["outcome"] in ("refused", "rolled back", "not restored") for row in result["rounds"])
    return run.finish(
        result,
        lambda: report.guarded(result),
        rows=report.flat(result["rounds"]),
        findings=bad,
        interrupted=result["stopped"] == "interrupted",
    )


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
    run, attempt = _begun(through or Waiting(), reach, options, past=True)
    result = attempt.recover(yes=yes)
    findings = bool(result["findings"]) or result["unfinished"] is not None
    return run.finish(result, lambda: report.recovered(result, yes=yes), findings=findings)


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
    access = None if through.journal is not None else (reach or Reach()).access()
    journal = journal_to_read(access, through.opensm, through.journal)
    result = changes_in(journal)
    odd = journal.odd()
    if odd is not None:
        run.note(odd, kind="warning")
    return run.finish(result, lambda: report.history(result), rows=result["history"])


def _begun(
    through: Waiting, reach: Reach | None, options: Options | None, *, past: bool
) -> tuple[Run, Attempt]:
    """The call, and what it may change; `past`: of a journal that must be there."""
    run = Run("apply", options or Options(), product=False, endings=_REPORTS)
    from netloom.apply.calls import begun

    access = (reach or Reach()).access()
    tell = run.note if not run.options.quiet and os.isatty(2) else None
    attempt = begun(
        run,
        access,
        through.opensm,
        through.journal,
        wait=through.wait,
        allow=through.allow,
        tell=tell,
        past=past,
    )
    _not_the_tables(run, attempt.manager, attempt.journal)
    return run, attempt


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
    run, attempt = _begun(through or Waiting(), reach, options, past=routes is None)
    result = attempt.change(routes, number, yes=yes, stages=stages, mend=mend)
    what = f"rollback {result['rolls_back']}" if routes is None else f"send {shlex.quote(routes)}"
    does = f"netloom apply {what}{' --mend' if mend else ''}"
    again = report.again(attempt.access, attempt.journal, attempt.manager)
    assert attempt.seen is not None
    switches = attempt.seen.fabric.switches
    try:
        return run.finish(
            result,
            lambda: report.text(result, attempt.access.what, switches, again, does),
            rows=result["changes"],
            findings=result["outcome"] not in ("dry run", "applied", "unchanged"),
            interrupted=result["why"] == "interrupted",
        )
    except OSError:
        if attempt.done is not None:
            number, outcome = result["journal_id"], result["outcome"]
            what = f"change {number} is {outcome}" if number else outcome
            run.note(f"{what}: only the report could not be written")
        raise


def _not_the_tables(run: Run, manager: Manager, journal: Journal) -> None:
    """A report must not go where OpenSM reads routes, nor among journaled tables."""
    target = run.options.output
    if target is None or run.product_to_stdout:
        return
    if manager.routes_file is not None and same_file(target, manager.routes_file):
        raise UsageError(f"-o {target}: OpenSM reads its routes from there, and -o takes the report")
    if journal.folder.resolve() in target.resolve().parents:
        raise UsageError(f"-o {target}: is in the journal, and -o takes the report")
