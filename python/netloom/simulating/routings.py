"""Every routing of a scenario, simulated side by side, kept in checkpoints, written as a folder of runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom import extras
from netloom.errors import ArgumentError
from netloom.runs import folder as runs
from netloom.runs import lock
from netloom.runs.folder import Recorded
from netloom.session.arguments import error_allowed, real
from netloom.session.checked import checked
from netloom.session.faults import fallbacks
from netloom.session.session import Session
from netloom.session.side_by_side import partitions, side_by_side
from netloom.session.sources import of_run
from netloom.simulating import results
from netloom.simulating.checkpoint import Checkpoint, check_checkpoint

if TYPE_CHECKING:
    from netloom._core import Scenario, Simulation

Tables = Literal["parquet", "csv"]
_TABLES_S = 1.0
"""Tables have so many seconds, however short the time limit is: even one of 0 keeps what is there."""


@dataclass(frozen=True)
class Opened:
    """A scenario that has been read.

    Attributes
    ----------
    scenario : Scenario
        With what was set.
    source, text : str
        Its file, and what that says.
    overrides : list of str
        What was set, `KEY=VALUE`.
    """

    scenario: Scenario
    source: str
    text: str
    overrides: list[str]


@checked()
def simulate_routings(
    scenario: str | os.PathLike[str],
    *,
    model: Literal["packet", "fluid"] | None = None,
    routings: Sequence[str] | None = None,
    set: Sequence[str] = (),
    allow_credit_loops: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    skip_repeats: float | None = None,
    tables: Tables = "parquet",
    output: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Simulates a scenario under every routing that it names, as `netloom simulate` does.

    Parameters
    ----------
    scenario : path
        A scenario (.toml), or a folder that `netloom record` made.
    model : {"packet", "fluid"}, optional
        Every packet, or flows with their fair rates. [default: the scenario's]
    routings : sequence of str, optional
        Simulate these instead of the scenario's; files as seen from its folder.
    set : sequence of str, optional
        Keys of the scenario with other values, `hardware.lanes=2`.
    allow_credit_loops : bool, default False
        Simulate routes with credit loops too, until packets wait for each other.
    checkpoint : path, optional
        A folder for results of routings that have ended and states of those that run. The same call goes on
        from there.
    checkpoint_every : float, default 60.0
        Seconds from one state to the next; 0: only at an interruption and the end of `time_limit`.
    skip_repeats : float, optional
        Do not simulate iterations that repeat earlier ones. The error that is allowed, a share below 1: with
        0 only exact repeats are left out, and results are the same. `skipped` of a run says what was left
        out, or why nothing was.
    tables : {"parquet", "csv"}, default "parquet"
        What `output` and `checkpoint` hold counters and recordings as.
    output : path, optional
        Write the run as a folder; `read_run` reads it.
    seed : int, optional
        Of all that is random. [default: the scenario's]
    threads : int, default 0
        Threads, one a routing; 0 is one a core. Two and more also cut a single routing into partitions.
    work : int, optional
        Path searches of routings that are optimised.
    time_limit : float, optional
        End after so many seconds with what is known.
    progress : callable, optional
        Hears of simulated ps, and of all where that is known; called from several threads.

    Returns
    -------
    dict
        As `result` of `netloom simulate --format json`: `runs` has a row a routing, `not_run` the others.

    Raises
    ------
    FormatError
        If the scenario is wrong, with file and line; if a checkpoint is another run's, or damaged.
    OSError
        If a file cannot be read, or a folder cannot be written or is in use.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import examples
    >>> result = nl.simulate_routings(examples.path("scenarios/shuffle.toml"), routings=["ftree"])
    >>> [run["routing"] for run in result["runs"]]
    ['ftree']
    """
    skip_repeats = error_allowed(skip_repeats)
    if skip_repeats is not None and checkpoint is not None:
        raise ArgumentError("skip_repeats: expected no checkpoint beside it")
    every = real("checkpoint_every", checkpoint_every, "seconds, 0 to 1e9", most=1e9)
    session = Session(seed=seed, threads=threads, work=work, time_limit=time_limit, progress=progress)
    places = [None if path is None else Path(path) for path in (output, checkpoint)]
    check_places(*places)
    words = overrides(set, model, routings, allow_credit_loops, seed, work)
    given = opened(session, of_run(os.fspath(scenario), "scenario.toml"), words)
    return of_routings(session, given, places[0], places[1], every=every, tables=tables, skip=skip_repeats)[0]


def overrides(
    asked: Sequence[str],
    model: str | None,
    routings: Sequence[str] | None,
    allow_credit_loops: bool,
    seed: int | None,
    work: int | None,
) -> list[str]:
    """What arguments say, as `KEY=VALUE`; they come last, so that they win."""
    found = list(asked)
    if model is not None:
        found.append(f"model={model}")
    if routings is not None:
        found.append(f"routes={json.dumps(list(routings))}")
    if allow_credit_loops:
        found.append("allow_credit_loops=true")
    if seed is not None:
        found.append(f"seed={seed}")
    if work is not None:
        found.append(f"optimize_work={work}")
    return found


def check_places(output: Path | None, checkpoint: Path | None) -> None:
    """Refuses folders that cannot be written, before anything is computed.

    Raises
    ------
    OSError, FormatError
        Naming the folder.
    ArgumentError
        If both are one folder.
    NotInstalledError
        Without what writes tables.
    """
    if output is not None or checkpoint is not None:
        extras.need("arrow")  # A run's tables, as CSV too.
    if output is not None:
        runs.check_folder(output)
    if checkpoint is not None:
        if output is not None and checkpoint.resolve() == output.resolve():
            raise ArgumentError(f"output and checkpoint are both {checkpoint}: expected a folder each")
        check_checkpoint(checkpoint)


def opened(
    session: Session,
    source: str,
    overrides: Sequence[str],
    *,
    files: bool = True,
    more: Callable[[str], list[str]] = lambda _: [],
) -> Opened:
    """Reads a scenario, and `files` that it names as inputs; tells what is to be known of it.

    `more` says what else is set, by the scenario's text.
    """
    from netloom import _core

    text = session.read("scenario", source).decode(errors="replace")
    overrides = [*overrides, *more(text)]
    with session.timed("read"):
        given = _core.Scenario.read(source, overrides)
    session.note_planes(given.fabric)
    note_jobs_file(session, given)
    for role, path in given.files if files else ():
        session.read(role, str(path))
    return Opened(given, source, text, overrides)


def note_jobs_file(session: Session, given: Scenario) -> None:
    """Says that jobs of a jobs file have no programs, and what is run in their place."""
    if given.jobs_of_file is not None:
        session.note(
            f"{given.path}: jobs of a jobs file run as matrix programs: all messages of a phase at once, "
            "and the next phase when they have arrived"
        )


def of_routings(
    session: Session,
    opened: Opened,
    output: Path | None = None,
    checkpoint: Path | None = None,
    *,
    every: float = 60.0,
    tables: Tables = "parquet",
    skip: float | None = None,
) -> tuple[dict[str, Any], list[Recorded]]:
    """Simulates every routing of a scenario; the result, and each by itself."""
    given = opened.scenario
    if session.work is not None and not any(word.startswith("optimized") for word in given.routings):
        session.note("--work: not used, no routing here is optimized")
    wanted = re.search(r"^\s*\[?\s*measure\b", opened.text, re.MULTILINE) is not None
    if given.model == "fluid" and (wanted or any(word.startswith("measure") for word in opened.overrides)):
        session.note("measure: not used, the fluid model records nothing over time")
    kept = None
    with contextlib.ExitStack() as stack:
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, _key(session, opened, tables), every)
            stack.enter_context(lock.alone_in(checkpoint))
            check_checkpoint(checkpoint)  # Of the folder that is locked: it may be another one now.
        found = _simulated(
            session, given, kept, tables if output is not None or kept is not None else None, skip=skip
        )
    result = result_of(given, found)
    for one in result["findings"]:
        session.note(one["text"], kind=one["severity"])
    written(session, opened, output, found, result)
    return result, found


def result_of(given: Scenario, found: Sequence[Recorded]) -> dict[str, Any]:
    """What is told of all routings, with ratios."""
    done = {one.routing for one in found}
    result: dict[str, Any] = {
        "scenario": given.name,
        "model": given.model,
        "profile": given.profile,
        "hosts": given.fabric.hosts,
        "switches": given.fabric.switches,
        "seed": given.seed,
        "runs": [one.result for one in found],
        "not_run": [word for word in given.routings if word not in done],
        "findings": [],
        "output": None,
    }
    results.add_ratios(result["runs"])
    result["findings"] = [
        *fallbacks([word for word in given.routings if word in done], given.fabric),
        *results.findings(result["runs"]),
    ]
    return result


def written(
    session: Session, opened: Opened, output: Path | None, found: Sequence[Recorded], result: dict[str, Any]
) -> None:
    """Writes the folder of a run, if there is one to write, and says in `result` where."""
    session.finishing()
    if output is None or not found:
        return
    given = opened.scenario
    asked = {"source": opened.source, "text": opened.text, "overrides": opened.overrides}
    manifest = {
        "schema": runs.RUN_SCHEMA,
        **session.origin(),
        "scenario": {"name": given.name, **asked},
        "model": given.model,
        "profile": given.profile,
        "hosts": given.fabric.hosts,
        "switches": given.fabric.switches,
        "links": given.fabric.links,
        "not_run": result["not_run"],
    }
    complete = not result["not_run"] and all(one.finished for one in found)
    place = runs.place_for(output, complete=complete)
    with session.timed("write"):
        runs.write_run(place, manifest, found)
    result["output"] = str(place)
    if place != output:
        session.note(f"{output} has a complete run, which stays: this one is in {place}", kind="warning")


def _key(session: Session, opened: Opened, tables: str) -> dict[str, Any]:
    """All that a result depends on, but the routing: sums, not paths, so that folders may be moved."""
    origin = session.origin()
    return {
        "netloom": origin["netloom"],
        "inputs": [[entry["role"], entry["sha256"]] for entry in origin["inputs"]],
        "overrides": [text for text in opened.overrides if not text.startswith("routes=")],
        "model": opened.scenario.model,
        "tables": tables,
    }


def _simulated(
    session: Session, given: Scenario, kept: Checkpoint | None, tables: Any, *, skip: float | None
) -> list[Recorded]:
    """Every routing that ended or was cut, in the scenario's order."""
    from netloom import _core

    done: dict[str, Recorded] = {}
    broken_off: dict[str, Simulation] = {}
    for word in given.routings:
        if kept is not None and (before := kept.load(word)) is not None:
            done[word] = before
    states = {}
    for word in given.routings:
        if kept is not None and word not in done and (state := kept.state(word)) is not None:
            states[word] = state

    # Tables that can't be used are refused before the first routing runs, not after hours of others.
    plain = [word for word in given.routings if word not in done and not word.startswith("optimized")]
    try:
        made = session.unless_late(lambda: {word: given.routes(word) for word in plain}, least=_TABLES_S)
    except TimeoutError:
        raise session.too_late() from None

    def work(word: str, threads: int, left: float | None, progress: Any) -> Recorded:
        told = None
        if word in made:
            routes = made[word]
        else:
            routes, told = given.optimized(word, threads=threads, progress=progress)
        ended = _core.simulate(
            given,
            word,
            routes=routes,
            threads=partitions(session, threads),
            skip_repeats=skip,
            time_limit=left,
            progress=progress,
            state=states.pop(word, None),
            keep=None if kept is None else kept.keep(word),
        )
        files = {} if tables is None else runs.files_of(ended, given.fabric, tables)
        if tables is not None and routes is not None and word.startswith("optimized"):
            files["routes.lfts.gz"] = runs.packed(routes.to_bytes())
        if ended.stopped in ("interrupted", "time-limit"):
            broken_off[word] = ended
        return Recorded({**with_memory(ended.result()), "optimized": told}, files)

    def ended(word: str, one: Recorded) -> None:
        done[word] = one
        if kept is not None and one.finished:
            kept.save(one)

    if done:
        session.note(f"{', '.join(done)}: taken from the checkpoint")
    if states:
        session.note(f"{', '.join(states)}: taken up where the checkpoint has it")
    left = [word for word in given.routings if word not in done]
    with session.timed("simulate"):
        side_by_side(session, left, work, ended)
    for word, one in broken_off.items():
        if one.kept:
            session.note(f"{word}: the same command goes on from here")
        elif one.not_kept is not None:
            session.note(f"{word}: its state could not be kept: {one.not_kept}", kind="warning")
        elif kept is not None:
            reason = "no state is kept in the fluid model and with measure.trace"
            session.note(f"{word}: runs from its start next time: {reason}")
    return [done[word] for word in given.routings if word in done]


def with_memory(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's entry with the process's peak resident set."""
    import resource

    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**result, "optimized": None, "peak_memory_mb": round(kibibytes * 1024 / 1e6, 1)}
