"""`netloom noise`: what neighbours do to a job, message by message, under every routing of a scenario.

Every routing runs each job alone, and then the scenario with all jobs, on the same hosts and with the same
tables. Random choices go by message, so what differs is the neighbours' doing. Another seed is another draw:
intervals are over these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom.cli.noise import report
from netloom.cli.noise.campaign import Campaign
from netloom.cli.noise.draws import over_seeds
from netloom.cli.noise.neighbours import LeaveOut
from netloom.cli.shared import inputs
from netloom.cli.shared.exits import INTERRUPTED, UsageError
from netloom.cli.shared.guard import TOO_LATE
from netloom.cli.shared.options import Options, within
from netloom.cli.shared.run import Run
from netloom.cli.simulate.command import overrides_of
from netloom.findings import Finding, finding
from netloom.session.side_by_side import partitions, side_by_side
from netloom.simulating.routings import opened

if TYPE_CHECKING:
    from netloom._core import Scenario
    from netloom.session.side_by_side import Line


def noise(
    scenario: str,
    /,
    *,
    job: str | None = None,
    model: Literal["packet", "fluid"] | None = None,
    routings: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    seeds: Annotated[int, within(1, 10_000)] = 1,
    leave_out: LeaveOut = "likely",
    options: Options | None = None,
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
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom import _core

    options = options or Options()
    scenario = inputs.of_run(scenario, "scenario.toml")
    if inputs.is_stdin(scenario):
        raise UsageError("a scenario cannot come from standard input: it names files beside it")
    overrides = overrides_of(set_ or [], model, routings, False, options)
    run = Run("noise", options, product=False, endings=(".json", ".csv"), searches=True)
    given = opened(run, scenario, overrides, files=False).scenario
    names = [one.name for one in given.jobs]
    if job is not None and job not in names:
        raise UsageError(f'--job "{job}": expected a job of {scenario}: {", ".join(names)}')
    for role, path in given.files:
        run.read(role, str(path))
    if seeds > 1 and given.seed + seeds > 2**64:
        raise UsageError(f"--seeds {seeds}: expected seeds below 2^64 from {given.seed} on")

    def scene(seed: int, keys: Sequence[str]) -> Scenario:
        return _core.Scenario.read(scenario, [*overrides, f"seed={seed}", *keys])

    jobs = [job] if job is not None else names
    campaign = Campaign(given, jobs, scene, leave_out)
    tasks = {
        f"{word}, seed {seed}": (word, seed)
        for word in given.routings
        for seed in range(given.seed, given.seed + seeds)
    }

    def work(task: str, threads: int, left: float | None, progress: Line) -> bool:
        word, seed = tasks[task]
        told = f"seed {seed - given.seed + 1} of {seeds}: " if seeds > 1 else ""
        campaign.measure(word, seed, (threads, partitions(run, threads)), left, progress, told)
        return True

    with run.timed("simulate"):
        lines = {task: word for task, (word, _) in tasks.items()}
        side_by_side(run, list(tasks), work, lambda *_: None, lines=lines, leaves=True)
    result = result_of(given, campaign, jobs, seeds)
    result["stopped"] = _stopped(run, result)
    for one in result["runs"]:
        if not one["complete"]:
            # It was between two runs, or was left behind.
            one["stopped"] = one["stopped"] or result["stopped"]
    result["findings"] = run.note_fallbacks(
        [one["routing"] for one in result["runs"]], given.fabric
    ) + _findings(result["runs"], names)
    if result["stopped"] is not None:
        run.note(f"stopped: {report.left_of(result)}", kind="warning")
    code = run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=any(one["stopped"] == "deadlock" for one in result["runs"]),
    )
    return TOO_LATE if result["stopped"] == "time-limit" and code != INTERRUPTED else code


def result_of(given: Scenario, campaign: Campaign, jobs: Sequence[str], seeds: int) -> dict[str, Any]:
    """What is told of all routings, but for why it ended early and what to know."""
    runs = []
    for word in given.routings:
        every = [campaign.found(word, seed) for seed in range(given.seed, given.seed + seeds)]
        if (first := every[0]) is None:
            continue
        whole = {given.seed + at: one for at, one in enumerate(every) if one is not None and one.complete}
        told = [first.jobs[name] for name in jobs if name in first.jobs]
        for one in told:
            over_seeds(one, {seed: found.jobs[one["name"]] for seed, found in whole.items()}, seeds)
        runs.append(
            {
                "routing": word,
                "stopped": first.stopped,
                "complete": first.complete,
                "seeds": len(whole),
                "recorded": first.recorded,
                "explained": first.explained or len(given.jobs) < 2,
                "jobs": told,
            }
        )
    done = {one["routing"] for one in runs}
    return {
        "scenario": given.name,
        "model": given.model,
        "profile": given.profile,
        "hosts": given.fabric.hosts,
        "switches": given.fabric.switches,
        "seed": given.seed,
        "seeds": seeds,
        "runs": runs,
        "not_run": [word for word in given.routings if word not in done],
        "stopped": None,
        "findings": [],
    }


def _stopped(run: Run, result: Mapping[str, Any]) -> str | None:
    """What ended it before all was done: a signal, the time limit, or nothing."""
    if run.interrupted:
        return "interrupted"
    missing = any(
        not one["complete"] or not one["explained"] or one["seeds"] < result["seeds"]
        for one in result["runs"]
    )
    return "time-limit" if missing or result["not_run"] else None


def _findings(found: Sequence[Mapping[str, Any]], jobs: Sequence[str]) -> list[Finding]:
    """What a reader of the numbers should know."""
    out = []
    if len(jobs) < 2:
        out.append(finding("no-neighbours", "the scenario has one job: nothing can differ"))
    for one in found:
        for job in one["jobs"]:
            who = f"{one['routing']}: {job['name']}"
            if job["cut"]:
                text = (
                    f"{who}: more than 4,000,000 arrivals, and the last are missing (a message is one, "
                    "one that asks first is three)"
                )
                out.append(finding("messages-cut", text))
            if (job["only_alone"] or job["only_beside"]) and not job["repeats"]:
                text = (
                    f"{who}: {job['only_beside']:,} messages came only beside others, "
                    f"{job['only_alone']:,} only alone"
                )
                out.append(finding("messages-unmatched", text))
    return out
