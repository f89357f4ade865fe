"""`netloom.measure_noise`: what neighbours do to a job, message by message, under every routing.

Every routing runs each job alone, and then the scenario with all jobs, on the same hosts and with the same
tables. Random choices go by message, so what differs is the neighbours' doing. Another seed is another draw:
intervals are over these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from netloom.errors import ArgumentError
from netloom.findings import Finding, finding
from netloom.noise.campaign import Campaign
from netloom.noise.draws import over_seeds
from netloom.noise.neighbours import LeaveOut
from netloom.session.arguments import error_allowed
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.session.side_by_side import partitions, side_by_side
from netloom.session.sources import of_run
from netloom.simulating.routings import Opened, opened, overrides
from netloom.simulating.skipping import told_of

if TYPE_CHECKING:
    from netloom._core import Scenario
    from netloom.session.side_by_side import Line


@checked()
def measure_noise(
    scenario: str | os.PathLike[str],
    *,
    job: str | None = None,
    model: Literal["packet", "fluid"] | None = None,
    routings: Sequence[str] | None = None,
    set: Sequence[str] = (),
    seeds: int = 1,
    leave_out: LeaveOut = "likely",
    skip_repeats: float | None = None,
    seed: int | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Measures what neighbours do to a job, message by message, as `netloom noise` does.

    Parameters
    ----------
    scenario : path
        A scenario (.toml), or a folder that `netloom record` made.
    job : str, optional
        Measure this job only. [default: all jobs]
    model : {"packet", "fluid"}, optional
        Every packet, or flows with their fair rates. [default: the scenario's]
    routings : sequence of str, optional
        Simulate these instead of the scenario's; files as seen from its folder.
    set : sequence of str, optional
        Keys of the scenario with other values, `hardware.lanes=2`.
    seeds : int, default 1
        Simulate all with so many seeds, 1 to 10,000: figures then have intervals over these runs.
    leave_out : str, default "likely"
        Which other jobs are left out in turn: `likely`, `all` or `none`.
    skip_repeats : float, optional
        Do not simulate iterations that repeat earlier ones again, with this error allowed; 0: exact repeats
        only, and the result is the same. `skipped` of a routing says what was left out. [default: all is run]
    seed : int, optional
        The first seed. [default: the scenario's]
    threads : int, default 0
        Threads, one a run; 0 is one a core.
    work : int, optional
        Path searches of routings that are optimised.
    time_limit : float, optional
        End after so many seconds with what is complete.
    progress : callable, optional
        Hears of simulated ps, and of all where that is known; called from several threads.

    Returns
    -------
    dict
        As `result` of `netloom noise --format json`: `runs` has a row a routing, each with its `jobs`.

    Raises
    ------
    ArgumentError
        If the scenario has no such job.
    FormatError
        If the scenario is wrong, with file and line.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import examples
    >>> told = nl.measure_noise(examples.path("scenarios/shuffle.toml"), routings=["ftree"])
    >>> [finding["kind"] for finding in told["findings"]]
    ['no-neighbours']
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise ArgumentError(f"seeds: expected 1 to {MOST_SEEDS}, found {seeds}")
    skip_repeats = error_allowed(skip_repeats)
    session = Session(seed=seed, threads=threads, work=work, time_limit=time_limit, progress=progress)
    words = overrides(set, model, routings, False, seed, work)
    given = opened(session, of_run(os.fspath(scenario), "scenario.toml"), words)
    check(given, job, seeds)
    return of_scenario(session, given, job, seeds, leave_out, skip_repeats)


MOST_SEEDS = 10_000
"""So many seeds at most."""


def check(opened: Opened, job: str | None, seeds: int) -> None:
    """Refuses a job that a scenario does not have, and more seeds than there are.

    Raises
    ------
    ArgumentError
    """
    given = opened.scenario
    names = [one.name for one in given.jobs]
    if job is not None and job not in names:
        raise ArgumentError(f'job "{job}": expected a job of {opened.source}: {", ".join(names)}')
    if seeds > 1 and given.seed + seeds > 2**64:
        raise ArgumentError(f"seeds {seeds}: expected seeds below 2^64 from {given.seed} on")


def of_scenario(
    session: Session,
    opened: Opened,
    job: str | None,
    seeds: int,
    leave_out: LeaveOut,
    skip_repeats: float | None = None,
) -> dict[str, Any]:
    """All runs of a scenario; the result."""
    from netloom import _core

    given = opened.scenario
    names = [one.name for one in given.jobs]

    def scene(seed: int, keys: Sequence[str]) -> Scenario:
        return _core.Scenario.read(opened.source, [*opened.overrides, f"seed={seed}", *keys])

    jobs = [job] if job is not None else names
    campaign = Campaign(given, jobs, scene, leave_out, skip_repeats)
    tasks = {
        f"{word}, seed {seed}": (word, seed)
        for word in given.routings
        for seed in range(given.seed, given.seed + seeds)
    }

    def work(task: str, threads: int, left: float | None, progress: Line) -> bool:
        word, seed = tasks[task]
        told = f"seed {seed - given.seed + 1} of {seeds}: " if seeds > 1 else ""
        campaign.measure(word, seed, (threads, partitions(session, threads)), left, progress, told)
        return True

    with session.timed("simulate"):
        lines = {task: word for task, (word, _) in tasks.items()}
        side_by_side(session, list(tasks), work, lambda *_: None, lines=lines, leaves=True)
    result = result_of(given, campaign, jobs, seeds)
    result["stopped"] = _stopped(session, result)
    for one in result["runs"]:
        if not one["complete"]:
            # It was between two runs, or was left behind.
            one["stopped"] = one["stopped"] or result["stopped"]
    result["findings"] = session.note_fallbacks(
        [one["routing"] for one in result["runs"]], given.fabric
    ) + _findings(result["runs"], names)
    return result


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
                **told_of([one.skipped for one in every if one is not None]),
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


def _stopped(session: Session, result: Mapping[str, Any]) -> str | None:
    """What ended it before all was done: a signal, the time limit, or nothing."""
    if session.interrupted:
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
