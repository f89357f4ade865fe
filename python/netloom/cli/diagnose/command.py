"""`netloom diagnose`: what congests a run or a fabric, whose fault it is, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from netloom import extras
from netloom.cli.diagnose import report as diagnosed
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing, Seeded
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.counting.waiting import devices_of
from netloom.diagnose.answer.api import of_counters, of_run
from netloom.errors import ArgumentError

_UNFIT = (
    *exclude(
        "--counters",
        ("--try", "--routing"),
        "--try and --routing are of a simulated run, not of --counters",
    ),
    *need(("--before", "--seconds", "--tick-ns", "--traffic"), ("--counters",), "{option} needs --counters"),
)


def diagnose(
    run_or_fabric: str,
    /,
    *,
    routing: str | None = None,
    counters_: Annotated[Path | None, Parameter(name="--counters")] = None,
    before: Path | None = None,
    seconds: Annotated[float | None, options.within(1e-12, 1e9)] = None,
    tick_ns: Annotated[float | None, options.within(1e-6, 1e9)] = None,
    traffic: str | None = None,
    try_: Annotated[bool, Parameter(name="--try")] = False,
    options: Seeded | None = None,
) -> int:
    """Find what is congested, whose fault it is, and what would help.

    Exit code 1 says that something was found.

    Parameters
    ----------
    run_or_fabric
        A folder that `netloom sample run -o` or `netloom simulate -o` wrote; with `--counters` a fabric.
    routing
        The run's routing to diagnose. [default: its first]
    counters_
        Counters of the fabric, in any format that `netloom counters show` reads. They allow fewer findings
        than a sampled run.
    before
        An earlier reading: what was counted since then.
    seconds
        The length of the interval, if the files do not have it.
    tick_ns
        The length of the device's tick of waiting. [default: as the switches' generation has it, where the
        fabric is a dump that says which; else waiting is not used]
    traffic
        The traffic, as `netloom infer -o` writes it: needed to distinguish bad routes, bad mapping and
        over-subscription.
    try_
        Simulate the proposed remedies with the run's scenario, and each waiting job alone. Without findings,
        simulate other routes.
    options
        Common options; `-o` writes the result.
    """
    options = options or Seeded()
    asked = named(
        counters=counters_,
        try_=try_,
        routing=routing,
        before=before,
        seconds=seconds,
        tick_ns=tick_ns,
        traffic=traffic,
    )
    refuse(_UNFIT, asked)
    extras.need("scipy", *([] if counters_ is not None else ["arrow"]))
    run = Run("diagnose", options, product=False)
    if counters_ is not None:
        net = run.fabric(run_or_fabric, warn=True)
        devices = devices_of(run_or_fabric)
        result = of_counters(run, net, counters_, before, (seconds, tick_ns), traffic, devices)
        return _finish(run, result)
    from netloom import _core

    if not Path(run_or_fabric).exists() and _core.is_generator(run_or_fabric):
        raise UsageError(f"{run_or_fabric}: is a fabric: expected --counters with it, or a run's folder")
    try:
        result = of_run(run, run_or_fabric, routing, try_=try_)
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None
    return _finish(run, result)


def _finish(run: Run, result: Mapping[str, Any]) -> int:
    rows = [
        {
            **{key: value for key, value in finding.items() if not isinstance(value, list)},
            **{key: " ".join(finding[key]) for key in ("root_links", "culprits", "victims")},
        }
        for finding in result["findings"]
    ]
    # What could not be told is no all-clear.
    found = bool(result["findings"]) or not result["enough"]
    return run.finish(result, lambda: diagnosed.text(result), rows=rows, findings=found)


def self_test(
    *, cases: Annotated[int, options.within(1, 1_000_000)] = 60, options: Computing | None = None
) -> int:
    """Diagnose generated runs of known cause (`--seed`): how often the right one is named.

    Parameters
    ----------
    cases
        How many of them.
    options
        Common options; `-o` writes the result.
    """
    extras.need("scipy", "arrow")
    from netloom.diagnose import selftest

    run = Run("diagnose-self-test", options or Computing(), product=False)
    with run.timed("self_test"), run.progress("cases") as progress:
        ended = (lambda _: None) if progress is None else (lambda done: progress(done, cases))
        tested = selftest.self_test(cases, run.seed, threads=run.threads, ended=ended)
    result = {
        "cases": cases,
        "correct": tested.correct,
        "false_alarms": tested.false_alarms,
        "confusion": tested.confusion(),
    }

    def report() -> str:
        header, rows = selftest.table(tested)
        told = [
            ("cases", str(cases)),
            ("right", str(tested.correct)),
            ("false alarms", str(tested.false_alarms)),
        ]
        return f"{render.pairs(told)}\n\n{render.table(header, rows, right=range(1, len(header)))}"

    return run.finish(result, report)
