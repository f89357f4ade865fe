"""`netloom noise`: what neighbours do to a job, message by message, under every routing of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from netloom.cli.noise import report
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import SKIP_REPEATS, Searching, within
from netloom.cli.shared.run import Run
from netloom.cli.simulate.command import overrides_of
from netloom.errors import ArgumentError
from netloom.noise.api import MOST_SEEDS, check, of_scenario
from netloom.noise.neighbours import LeaveOut
from netloom.session.sources import is_stdin, of_run
from netloom.simulating.routings import opened


def noise(
    scenario: str,
    /,
    *,
    job: str | None = None,
    model: Literal["packet", "fluid"] | None = None,
    routings: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    seeds: Annotated[int, within(1, MOST_SEEDS)] = 1,
    leave_out: LeaveOut = "likely",
    skip_repeats: Annotated[float | None, SKIP_REPEATS] = None,
    options: Searching | None = None,
) -> int:
    """Measure what neighbours do to a job, message by message.

    Simulates a scenario with each job alone and with all its jobs, under every routing, on the same hosts
    and tables and with the same random choices. Tells how much the times of messages vary, by size, and
    which message took how much longer beside the others: all of that is the neighbours' doing. With
    `--seeds` every run is done with several seeds, and figures have intervals. Ctrl-C, SIGTERM and
    `--time-limit` keep every job whose runs have ended.

    Parameters
    ----------
    scenario
        A scenario (.toml): fabric, jobs, routings, hardware.
    job
        Measure this job only. [default: all jobs]
    model
        `packet` follows every packet; `fluid` gives flows their fair rates. [default: the scenario's]
    routings
        Simulate these routings instead of the scenario's, separated by commas: `ftree,adaptive,mine.lfts`;
        files as seen from the scenario's folder.
    set_
        Give a key of the scenario another value, `hardware.lanes=2`; can be given several times.
    seeds
        Simulate all that with so many seeds, side by side, from the scenario's on: slowdowns, medians and
        differences then have intervals over these runs. From one run there is none.
    leave_out
        Which other jobs are left out in turn, to see what a job gains without each: `likely` (the three
        behind whose bytes it waits longest, or all if there are no more), `all` or `none`.
    skip_repeats
        Do not simulate iterations that repeat earlier ones again. The value is the error that is allowed, a
        share; 0: exact repeats only, and the result is the same.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    options = options or Searching()
    scenario = of_run(scenario, "scenario.toml")
    if is_stdin(scenario):
        raise UsageError("a scenario cannot come from standard input: it names files beside it")
    overrides = overrides_of(set_ or [], model, routings, False, options)
    run = Run("noise", options, product=False, endings=(".json", ".csv"))
    given = opened(run, scenario, overrides)
    try:
        check(given, job, seeds)
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None
    result = of_scenario(run, given, job, seeds, leave_out, skip_repeats)
    if result["stopped"] is not None:
        run.note(f"stopped: {report.left_of(result)}", kind="warning")
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=any(one["stopped"] == "deadlock" for one in result["runs"]),
        stopped=result["stopped"],
    )
