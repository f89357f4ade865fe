"""`netloom noise`: what neighbours do to a job, message by message, under every routing of a scenario.

Every routing runs the scenario once with all jobs, and each job once more alone, on the same hosts and with
the same tables. Random choices go by message, so what differs is the neighbours' doing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom.cli.noise import report
from netloom.cli.shared import inputs
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.simulate.command import overrides_of
from netloom.cli.simulate.several import partitions, side_by_side
from netloom.findings import Finding, finding

if TYPE_CHECKING:
    from netloom._core import Routes, Scenario, Simulation

_WORST = 5
"""Messages that are named."""


def noise(
    scenario: str,
    /,
    *,
    job: str | None = None,
    model: Literal["packet", "fluid"] | None = None,
    routings: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    options: Options | None = None,
) -> int:
    """Measure what neighbours do to a job, message by message.

    Simulates a scenario with all its jobs and with each job alone, under every routing, on the same hosts
    and tables and with the same random choices. Tells how much the times of messages vary, by size, and
    which message took how much longer beside the others: all of that is the neighbours' doing.

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
    run.read("scenario", scenario)
    with run.timed("read"):
        given = _core.Scenario.read(scenario, overrides)
        run.note_planes(given.fabric)
        inputs.note_jobs_file(run, given)
    names = [one.name for one in given.jobs]
    if job is not None and job not in names:
        raise UsageError(f'--job "{job}": expected a job of {scenario}: {", ".join(names)}')
    for role, path in given.files:
        run.read(role, str(path))
    done: dict[str, dict[str, Any]] = {}

    def work(word: str, threads: int, left: float | None, progress: Any) -> dict[str, Any]:
        jobs = [job] if job is not None else names
        return _measured(given, word, jobs, (threads, partitions(run, threads)), left, progress)

    def ended(word: str, one: dict[str, Any]) -> None:
        done[word] = one

    with run.timed("simulate"):
        side_by_side(run, given.routings, work, ended)
    result: dict[str, Any] = {
        "scenario": given.name,
        "model": given.model,
        "profile": given.profile,
        "hosts": given.fabric.hosts,
        "switches": given.fabric.switches,
        "seed": given.seed,
        "runs": [done[word] for word in given.routings if word in done],
        "not_run": [word for word in given.routings if word not in done],
    }
    result["findings"] = run.note_fallbacks(done, given.fabric) + _findings(result["runs"], names)
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=any(one["stopped"] == "deadlock" for one in result["runs"]),
    )


def _measured(
    given: Scenario, word: str, jobs: Sequence[str], cores: tuple[int, int], left: float | None, progress: Any
) -> dict[str, Any]:
    """One routing: the run with all jobs, and each job alone as far as time allows.

    `cores` are the threads of the optimiser, and of one simulation.
    """
    from netloom import _core
    from netloom.noise import Messages

    threads, of_simulation = cores
    end = None if left is None else time.monotonic() + left
    routes: Routes | None
    if word.startswith("optimized"):
        routes, _ = given.optimized(word, threads=threads, progress=progress)
    else:
        routes = given.routes(word, threads=threads, progress=progress)

    def simulated(scene: Scenario, of: Sequence[str]) -> Simulation:
        time_limit = None if end is None else max(0.0, end - time.monotonic())
        return _core.simulate(
            scene,
            word,
            routes=routes,
            threads=of_simulation,
            time_limit=time_limit,
            progress=progress,
            messages=of,
        )

    whole = simulated(given, jobs)
    recorded = whole.messages() or {}
    numbers = {one.name: number for number, one in enumerate(given.jobs)}
    found = []
    cut_short = whole.stopped in ("interrupted", "time-limit")
    for name in jobs:
        beside = Messages.of(recorded, numbers[name])
        apart = None if cut_short else simulated(given.alone(name), [name])
        repeats = name in given.repeating
        found.append(_job(name, beside, _end_ps(whole, numbers[name]), apart, repeats))
        cut_short = cut_short or (apart is not None and apart.stopped in ("interrupted", "time-limit"))
    return {"routing": word, "stopped": whole.stopped, "jobs": found}


def _job(
    name: str, beside: Any, end_ps: int | None, apart: Simulation | None, repeats: bool
) -> dict[str, Any]:
    """A job with its neighbours and without."""
    from netloom import noise as numbers

    alone = None if apart is None else numbers.Messages.of(apart.messages() or {}, 0)
    pairs = None if alone is None else numbers.joined(beside, alone)
    alone_ps = None if apart is None else _end_ps(apart, 0)
    # One that starts over ends with the others, whatever they do to it.
    known = end_ps is not None and alone_ps is not None and not repeats
    return {
        "name": name,
        "repeats": repeats,
        "completion_ps": end_ps,
        "alone_ps": alone_ps,
        "difference_ps": end_ps - alone_ps if known and end_ps is not None and alone_ps is not None else None,
        "slowdown": end_ps / alone_ps if known and end_ps is not None and alone_ps else None,
        "alone_stopped": None if apart is None else apart.stopped,
        "noise": numbers.summary(beside.time_ps),
        "alone": None if alone is None else numbers.summary(alone.time_ps),
        "differences": None if pairs is None else numbers.differences(pairs.difference_ps),
        "only_beside": None if pairs is None else len(beside) - len(pairs.in_beside),
        "only_alone": None if pairs is None or alone is None else len(alone) - len(pairs.in_alone),
        "estimate": numbers.estimate(beside.sent),
        "cut": beside.cut or (alone is not None and alone.cut),
        "sizes": [] if pairs is None else numbers.by_size(pairs),
        "worst": [] if pairs is None else numbers.worst(pairs, _WORST),
    }


def _end_ps(ended: Simulation, number: int) -> int | None:
    """When the last rank of a job ended; None if one did not."""
    ranks = ended.ranks()
    ends = ranks["end_ps"][ranks["job"] == number]
    return None if len(ends) == 0 or (ends < 0).any() else int(ends.max())


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
