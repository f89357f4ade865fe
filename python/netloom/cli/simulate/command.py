"""`netloom simulate`: what a run takes under every routing of a scenario, packet by packet or as flows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.cli.simulate import report, varied
from netloom.findings import bad
from netloom.session.sources import is_stdin, of_run
from netloom.simulating.routings import check_places, of_routings, opened
from netloom.simulating.routings import overrides as overridden

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
    *exclude(
        "--skip-repeats",
        ("--checkpoint", "--loads", "--mappings"),
        "--skip-repeats simulates one scenario in one go: not with --checkpoint, --loads, --mappings",
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
    cc: str | None = None,
    write_cc: Annotated[Path | None, options.OUTPUT_PATH] = None,
    checkpoint: Annotated[Path | None, options.OUTPUT_PATH] = None,
    checkpoint_every: Annotated[float | None, options.within(0, 1e9)] = None,
    skip_repeats: Annotated[float | None, options.within(0, 1.0)] = None,
    tables: Literal["parquet", "csv"] = "parquet",
    options: Searching | None = None,
) -> int:
    """Simulate a scenario under every routing that it names.

    Ctrl-C, SIGTERM and `--time-limit` end what still runs and keep what is known so far. Results are the
    same for any number of threads: several routings run side by side, a thread each. `--threads 2` and more
    also cut a single one into partitions, which is seldom faster.

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
        Groups of a dragonfly: a file of switches and their groups, as seen from the scenario's folder, or a
        rule by names such as `g([0-9]+)r`.
    cc
        Take InfiniBand's congestion control from an options file of OpenSM, `opensm.conf`; its settings take
        the place of the scenario's.
    write_cc
        Write the scenario's congestion control as options for OpenSM here (`control = "ib-cc"`).
    checkpoint
        A folder for the results of finished routings and the state of running ones. The same command
        continues from there.
    checkpoint_every
        Seconds from one state to the next; 0: only at Ctrl-C and the end of `--time-limit`. [default: 60]
    skip_repeats
        Do not simulate iterations that repeat earlier ones. The value is the error that is allowed, a share:
        with 0 only exact repeats are left out, and results are the same. `skipped` says what was left out.
    tables
        What `-o` writes counters and recordings as.
    options
        Common options; `-o` writes the run as a folder, which `netloom plot run` draws.
    """
    options = options or Searching()
    scenario = of_run(scenario, "scenario.toml")
    if is_stdin(scenario) or (options.output is not None and is_stdin(str(options.output))):
        raise UsageError("a scenario names files beside it and a run is a folder: neither can be -")
    asked = named(
        loads=loads,
        mappings=mappings,
        alone=alone,
        cc=cc,
        write_cc=write_cc,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        skip_repeats=skip_repeats,
    )
    refuse(_UNFIT, asked)
    if skip_repeats == 1:
        raise UsageError("--skip-repeats 1: expected a share below 1")
    overrides = overrides_of(set_ or [], model, routings, allow_credit_loops, options)
    overrides += [] if groups is None else [f"groups={json.dumps(groups)}"]
    if loads is not None or mappings is not None:
        return varied.varied(
            scenario, overrides, loads=loads, mappings=mappings, alone=alone, options=options
        )
    run = Run("simulate", options, folder=True)
    places = [path.resolve() for path in (options.output, checkpoint) if path is not None]
    if len(set(places)) < len(places):
        raise UsageError(f"-o and --checkpoint are both {checkpoint}: expected a folder each")
    check_places(options.output, checkpoint)
    if write_cc is not None:
        run.also_writes(write_cc, "--write-cc")
    if cc is not None:
        overrides = [*of_opensm(run.read("congestion-control", cc), cc), *overrides]
    given = opened(run, scenario, overrides)
    settings = None if write_cc is None else given.scenario.opensm_options()
    if write_cc is not None and settings is None:
        raise UsageError(
            '--write-cc: expected a scenario with [congestion] control = "ib-cc" and limit = true'
        )
    every = 60.0 if checkpoint_every is None else checkpoint_every
    result, _ = of_routings(
        run, given, options.output, checkpoint, every=every, tables=tables, skip=skip_repeats
    )
    if settings is not None:
        run.write(settings, write_cc)
    if options.format == "csv":
        for what, told in report.skipped(result):
            run.note(f"{what}: {told}")
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=bad(result["findings"]) or any(one["stopped"] == "deadlock" for one in result["runs"]),
    )


def of_opensm(data: bytes, source: str) -> list[str]:
    """What an options file of OpenSM sets, as `--set` would."""
    from netloom import _core

    return _core.Scenario.opensm_overrides(data, label=source)


def overrides_of(
    asked: Sequence[str], model: str | None, routings: str | None, credit_loops: bool, options: Searching
) -> list[str]:
    """What other options say, as `--set` would; those come last, so that they win."""
    for text in asked:
        if "=" not in text.strip("="):
            raise UsageError(f'--set {text}: expected KEY=VALUE, as in "hardware.lanes=2"')
    words = None
    if routings is not None:
        words = [word.strip() for word in routings.split(",")]
        if not all(words):
            raise UsageError(f'--routings "{routings}": expected routings separated by commas')
    return overridden(asked, model, words, credit_loops, options.seed, options.work)
