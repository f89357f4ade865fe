"""`netloom loop run` and `loop table`: the closed loop in the simulator, and chapter 5's tables."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom import extras
from netloom.cli.loop import report
from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.files import check_folder
from netloom.runs import lock
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom.loop.plan import Plan
    from netloom.loop.simulated import SimulatedLoop


def run(
    scenario: Path,
    /,
    *,
    rounds: Annotated[int | None, options.within(1, 1000)] = None,
    canary: Annotated[float | None, options.within(0, 100.0)] = None,
    options: Searching | None = None,
) -> int:
    """The closed loop in the simulator: counters in, better routes out.

    Every round simulates the work under the routes in force, infers its traffic from what ports counted,
    optimises, checks, predicts the gain, and changes the routes only if that surely pays. Then it looks
    whether it did.

    Parameters
    ----------
    scenario
        A loop's scenario (.toml): phases of simulated work, how they are counted, the rule.
    rounds
        Rounds of every phase, instead of the scenario's.
    canary
        Change this many percent of the destinations first, and the rest only if that gains as predicted.
        [default: the scenario's, else all at once]
    options
        Common options; `-o` is a folder for the journal, every round's inputs and outputs, and a summary
        page.
    """
    options = options or Searching()
    if is_stdin(str(scenario)) or (options.output and is_stdin(str(options.output))):
        raise UsageError("a scenario names files beside it and a journal is a folder: neither can be -")
    return _one(options, scenario, rounds, canary)


def _one(options: Searching, scenario: Path, rounds: int | None, canary: float | None) -> int:
    extras.need("scipy", *([] if options.output is None else ["arrow"]))
    run = Run("loop", options, folder=True)
    if options.output is not None:
        _check_folder(options.output)
    plan = _plan(run, scenario, rounds, canary)
    with contextlib.ExitStack() as stack:
        if options.output is not None:
            stack.enter_context(lock.alone_in(options.output))
            _check_folder(options.output)  # Of the folder that is locked: it may be another one now.
        return _rounds(run, plan)


def _rounds(run: Run, plan: Plan) -> int:
    from netloom.loop import journal, summary

    options = run.options
    with _ticking(run) as told:
        ours = _made(run, plan, told)
        written = None if options.output is None else journal.Journal(options.output)
        stopped = None
        run.keeps()
        left = run.left
        end = None if left is None else time.monotonic() + left
        try:
            for entry, output in ours.rounds():
                if written is not None:
                    written.append(entry, journal.files_of(output))
                if end is not None and time.monotonic() >= end and entry.number < report.wanted(plan):
                    stopped = "time-limit"
                    break
        except KeyboardInterrupt:
            stopped = "interrupted"
    run.finishing()
    if not ours.history:
        written = None  # Interrupted before there was anything to write.
    result = report.result(plan, ours, stopped, None if written is None else str(written.folder))
    if written is not None:
        run.write_in(written.folder, journal.SUMMARY, summary.page(result))
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result),
        interrupted=stopped == "interrupted",
    )


def table(*, only: str | None = None, options: Searching | None = None) -> int:
    """The loops of the dissertation's chapter 5: its tables 5.1 to 5.5 beside ours.

    Parameters
    ----------
    only
        Run only these tables, with commas: `5.1,5.5`.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    extras.need("scipy")
    from netloom.loop import tabled

    run = Run("loop-table", options or Searching(), product=False)
    numbers = None if only is None else [word.strip() for word in only.split(",")]
    for number in numbers or ():
        if number not in report.TITLES:
            raise UsageError(f"--only {only}: expected some of {', '.join(report.TITLES)}, found {number!r}")
    found: list[dict[str, Any]] = []
    loops: list[dict[str, Any]] = []
    stopped = None
    run.keeps()
    left = run.left
    end = None if left is None else time.monotonic() + left
    with resources.as_file(resources.files("netloom") / "data" / "demo") as data, _ticking(run) as told:
        try:
            for path in tabled.shipped(data / "loop", numbers):
                plan = _plan(run, path, None, None)
                ours = _made(run, plan, _named(plan.name, told))
                for _ in ours.rounds():
                    pass
                loops.append(report.result(plan, ours, None, None))
                for row in tabled.rows(ours):
                    found.append(row)
                if end is not None and time.monotonic() >= end:
                    stopped = "time-limit"
                    break
        except KeyboardInterrupt:
            stopped = "interrupted"
    result = {"tables": found, "loops": loops, "stopped": stopped}
    return run.finish(
        result, lambda: report.tables_text(result), rows=found, interrupted=stopped == "interrupted"
    )


def _plan(run: Run, scenario: Path, rounds: int | None, canary: float | None) -> Plan:
    from netloom.loop.plan import read_plan

    run.read("loop", str(scenario))
    with run.timed("read"):
        plan = read_plan(scenario, seed=run.given_seed)
    for role, path in plan.files:
        run.read(role, str(path))
    changes: dict[str, Any] = {}
    if rounds is not None:
        changes["phases"] = [dataclasses.replace(phase, rounds=rounds) for phase in plan.phases]
    if canary is not None:
        changes["canary_percent"] = canary
    return dataclasses.replace(plan, **changes)


def _made(run: Run, plan: Plan, told: Callable[[int, int, str], None]) -> SimulatedLoop:
    from netloom.loop.simulated import SimulatedLoop

    return SimulatedLoop(plan, threads=run.threads, work=run.work, told=told)


def _named(name: str, told: Callable[[int, int, str], None]) -> Callable[[int, int, str], None]:
    return lambda number, of, what: told(number, of, f"{name}: {what}")


@contextmanager
def _ticking(run: Run) -> Iterator[Callable[[int, int, str], None]]:
    """A bar of rounds with the step that is done, on a terminal."""
    with run.bars() as bars:
        task = None if bars is None else bars.add_task("loop", total=None, told="")

        def told(number: int, of: int, what: str) -> None:
            if bars is not None and task is not None:
                bars.update(task, completed=max(0, number - 1), total=of, told=what)

        yield told


def _check_folder(path: Path) -> None:
    """Refuses a folder that holds something else than a journal."""
    from netloom.loop import journal

    check_folder(path)
    if not journal.is_journal(path):
        raise OSError(
            errno.ENOTEMPTY, f"is not empty and has no {journal.FILE}: expected a new folder", str(path)
        )
    rows = journal.read(path) if (path / journal.FILE).is_file() else []
    if rows and journal.is_live(rows):
        # It is the rule's memory of a fabric, and of what was done to it.
        raise OSError(errno.EEXIST, "holds the journal of a live loop: expected a new folder", str(path))
