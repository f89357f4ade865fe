"""`netloom simulate`: what a run takes under every routing of a scenario, packet by packet or as flows."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom import extras
from netloom.cli.shared import inputs, options, runs
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.shared.runs import Recorded
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.cli.simulate import report, varied
from netloom.cli.simulate.checkpoint import Checkpoint, check_checkpoint
from netloom.cli.simulate.several import partitions, side_by_side
from netloom.findings import bad
from netloom.runs import lock

if TYPE_CHECKING:
    from netloom._core import Scenario, Simulation

_UNFIT = (
    *exclude("--loads", ("--mappings",), "--loads and --mappings are a table each: expected one of them"),
    *exclude(
        "--checkpoint",
        ("--loads", "--mappings"),
        "--checkpoint keeps the routings of one scenario: not with --loads, --mappings",
    ),
    *need(
        ("--alone",),
        ("--mappings",),
        "--alone goes with --mappings: netloom simulate SCENARIO --mappings block --alone",
    ),
    *need(("--checkpoint-every",), ("--checkpoint",), "--checkpoint-every needs --checkpoint DIR"),
)


def simulate(
    scenario: str,
    /,
    *,
    model: Literal["packet", "fluid"] | None = None,
    routings: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    loads: str | None = None,
    mappings: str | None = None,
    alone: bool = False,
    allow_credit_loops: bool = False,
    groups: str | None = None,
    checkpoint: Annotated[Path | None, options.OUTPUT_PATH] = None,
    checkpoint_every: Annotated[float | None, options.within(0, 1e9)] = None,
    tables: Literal["parquet", "csv"] = "parquet",
    options: Options | None = None,
) -> int:
    """Simulate a scenario under every routing that it names.

    Ctrl-C, SIGTERM and `--time-limit` end what still runs and keep what is known so far. Results are the
    same for any number of threads: several routings run side by side, a thread each. `--threads 2` and more
    cut a single one into partitions, which is faster only if each thread has a core of its own.

    Parameters
    ----------
    scenario
        A scenario (.toml): fabric, jobs, routings, hardware, what to record.
    model
        `packet` follows every packet; `fluid` gives flows their fair rates. [default: the scenario's]
    routings
        Simulate these routings instead of the scenario's, separated by commas: `ftree,adaptive,mine.lfts`;
        files as seen from the scenario's folder.
    set_
        Give a key of the scenario another value, `hardware.lanes=2`; can be given several times.
    loads
        Offer each of these loads in turn, `0.1,0.5,0.9`, and print one table of latency and accepted
        throughput. `netloom plot load` draws what `-o FILE.json` takes.
    mappings
        Map all jobs' ranks in each of these ways in turn, `block,cyclic,random`, and print one table.
    alone
        With `--mappings`: also run every job by itself on the same hosts, and print how much slower it is
        beside the others.
    allow_credit_loops
        Simulate routes with credit loops too, until packets wait for each other.
    groups
        Groups of a dragonfly: a file of switches and their groups (from the scenario's folder), or a rule
        by names such as `g([0-9]+)r`.
    checkpoint
        A folder for the results of finished routings and the state of running ones. The same command
        continues from there.
    checkpoint_every
        Seconds from one state to the next; 0: only at Ctrl-C and the end of `--time-limit`. [default: 60]
    tables
        What `-o` writes counters and recordings as.
    options
        Common options; `-o` writes the run as a folder, which `netloom plot run` draws.
    """
    from netloom import _core

    options = options or Options()
    scenario = inputs.of_run(scenario, "scenario.toml")
    if inputs.is_stdin(scenario) or (options.output is not None and inputs.is_stdin(str(options.output))):
        raise UsageError("a scenario names files beside it and a run is a folder: neither can be -")
    asked = named(
        loads=loads,
        mappings=mappings,
        alone=alone,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
    )
    refuse(_UNFIT, asked)
    overrides = overrides_of(set_ or [], model, routings, allow_credit_loops, options)
    overrides += [] if groups is None else [f"groups={json.dumps(groups)}"]
    if loads is not None or mappings is not None:
        return varied.varied(
            scenario, overrides, loads=loads, mappings=mappings, alone=alone, options=options
        )
    run = Run("simulate", options, folder=True, searches=True)
    if options.output is not None or checkpoint is not None:
        extras.need("arrow")  # A run's tables, as CSV too.
    if options.output is not None:
        runs.check_folder(options.output)
    if checkpoint is not None:
        if options.output is not None and checkpoint.resolve() == options.output.resolve():
            raise UsageError(f"-o and --checkpoint are both {checkpoint}: expected a folder each")
        check_checkpoint(checkpoint)
    text = run.read("scenario", scenario).decode(errors="replace")
    with run.timed("read"):
        given = _core.Scenario.read(scenario, overrides)
    run.note_planes(given.fabric)
    inputs.note_jobs_file(run, given)
    if options.work is not None and not any(word.startswith("optimized") for word in given.routings):
        run.note("--work: not used, no routing here is optimized")
    wanted = re.search(r"^\s*\[?\s*measure\b", text, re.MULTILINE) is not None
    if given.model == "fluid" and (wanted or any(word.startswith("measure") for word in overrides)):
        run.note("measure: not used, the fluid model records nothing over time")
    for role, path in given.files:
        run.read(role, str(path))
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(
            checkpoint,
            _key(run, given, text, overrides, tables),
            60.0 if checkpoint_every is None else checkpoint_every,
        )
    with contextlib.ExitStack() as stack:
        if checkpoint is not None:
            stack.enter_context(lock.alone_in(checkpoint))
            check_checkpoint(checkpoint)  # Of the folder that is locked: it may be another one now.
        wanted_tables = tables if options.output is not None or kept is not None else None
        found = _simulated(run, given, kept, wanted_tables)
    result = result_of(given, found)
    for finding in result["findings"]:
        run.note(finding["text"], kind=finding["severity"])
    written(run, given, {"source": scenario, "text": text, "overrides": overrides}, found, result)
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=bad(result["findings"]) or any(one.result["stopped"] == "deadlock" for one in found),
    )


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
    report.add_ratios(result["runs"])
    result["findings"] = [
        *inputs.fallbacks([word for word in given.routings if word in done], given.fabric),
        *report.findings(result["runs"]),
    ]
    return result


def written(
    run: Run, given: Scenario, asked: Mapping[str, Any], found: Sequence[Recorded], result: dict[str, Any]
) -> None:
    """Writes the folder of a run, if there is one to write, and says in `result` where.

    `asked` is the scenario's `source`, `text` and `overrides`.
    """
    run.finishing()
    if run.options.output is None or not found:
        return
    manifest = {
        "schema": runs.RUN_SCHEMA,
        **run.origin(),
        "scenario": {"name": given.name, **asked},
        "model": given.model,
        "profile": given.profile,
        "hosts": given.fabric.hosts,
        "switches": given.fabric.switches,
        "links": given.fabric.links,
        "not_run": result["not_run"],
    }
    complete = not result["not_run"] and all(one.finished for one in found)
    place = runs.place_for(run.options.output, complete=complete)
    with run.timed("write"):
        runs.write_run(place, manifest, found)
    result["output"] = str(place)
    if place != run.options.output:
        run.note(
            f"{run.options.output} has a complete run, which stays: this one is in {place}", kind="warning"
        )


def overrides_of(
    asked: Sequence[str], model: str | None, routings: str | None, credit_loops: bool, options: Options
) -> list[str]:
    """What other options say, as `--set` would; those come last, so that they win."""
    for text in asked:
        if "=" not in text.strip("="):
            raise UsageError(f'--set {text}: expected KEY=VALUE, as in "hardware.lanes=2"')
    found = list(asked)
    if model is not None:
        found.append(f"model={model}")
    if routings is not None:
        words = [word.strip() for word in routings.split(",")]
        if not all(words):
            raise UsageError(f'--routings "{routings}": expected routings separated by commas')
        found.append(f"routes={json.dumps(words)}")
    if credit_loops:
        found.append("allow_credit_loops=true")
    if options.seed is not None:
        found.append(f"seed={options.seed}")
    if options.work is not None:
        found.append(f"optimize_work={options.work}")
    return found


def _key(run: Run, given: Scenario, text: str, overrides: Sequence[str], tables: str) -> dict[str, Any]:
    """All that a result depends on, but the routing: sums, not paths, so that folders may be moved."""
    origin = run.origin()
    return {
        "netloom": origin["netloom"],
        "inputs": [[entry["role"], entry["sha256"]] for entry in origin["inputs"]],
        "overrides": [text for text in overrides if not text.startswith("routes=")],
        "model": given.model,
        "tables": tables,
    }


def _simulated(run: Run, given: Scenario, kept: Checkpoint | None, tables: Any) -> list[Recorded]:
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
    made = {
        word: given.routes(word)
        for word in given.routings
        if word not in done and not word.startswith("optimized")
    }

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
            threads=partitions(run, threads),
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
        run.note(f"{', '.join(done)}: taken from the checkpoint")
    if states:
        run.note(f"{', '.join(states)}: taken up where the checkpoint has it")
    left = [word for word in given.routings if word not in done]
    with run.timed("simulate"):
        side_by_side(run, left, work, ended)
    for word, one in broken_off.items():
        if one.kept:
            run.note(f"{word}: the same command goes on from here")
        elif one.not_kept is not None:
            run.note(f"{word}: its state could not be kept: {one.not_kept}", kind="warning")
        elif kept is not None:
            reason = "no state is kept in the fluid model and with measure.trace"
            run.note(f"{word}: runs from its start next time: {reason}")
    return [done[word] for word in given.routings if word in done]


def with_memory(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's entry with the process's peak resident set."""
    import resource

    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**result, "optimized": None, "peak_memory_mb": round(kibibytes * 1024 / 1e6, 1)}
