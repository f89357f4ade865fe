"""`netloom loop live`: the closed loop on a live fabric, through OpenSM; a dry run unless told.

A round is one of [`netloom.loop.live`]: it counts over an interval, infers, optimises, checks, predicts and
decides. Only with `--yes` it changes tables, by what `netloom apply` does, under the same lock, with the same
journal, and takes them back if the next interval contradicts what was predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom import extras, reading
from netloom.cli.demo.live import rows_of
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.jobs import Adapters
from netloom.cli.shared.options import Computing
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.findings import bad
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom._core import Fabric, Job


def live(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    jobs: Path | None = None,
    every: Annotated[float, options.within(0.01, 86400.0)] = 60.0,
    rounds: Annotated[int | None, options.within(1, 1_000_000)] = None,
    canary: Annotated[float | None, options.within(0, 100.0)] = None,
    counters_from: str | None = None,
    vl_scheme: str | None = None,
    allow: Sequence[Literal["standby", "adaptive", "credit-loop", "unanswered"]] = (),
    opensm: Annotated[int | None, options.within(1, 2**31 - 1)] = None,
    adapters: Adapters | None = None,
    reach: Reach | None = None,
    options: Computing | None = None,
) -> int:
    """The closed loop on a live fabric: counters in, better routes out through OpenSM, if that surely pays.

    Every round counts over an interval what all ports carry, infers the traffic, optimises, checks, predicts
    the gain, and decides. That is all unless `--yes` is given: then routes are changed as `netloom apply`
    does it, and taken back if another interval does not show the gain. Runs where the master OpenSM runs,
    until Ctrl-C. Rounds with findings exit 1.

    Parameters
    ----------
    yes
        Change routes. Without it nothing is changed, and rounds only report what they would change.
    jobs
        A jobs file (.toml): who runs where; read again in every round, as a scheduler writes it. [default:
        unknown]
    every
        Seconds that a round counts over. Where routes were changed, another such interval shows the gain.
    rounds
        End after so many. [default: until Ctrl-C]
    canary
        Change this many percent of the destinations first, and the rest only if another interval shows the
        predicted gain. [default: all at once]
    counters_from
        Counters that somebody else polls: an exporter's URL, or a folder of textfiles or of sysfs trees.
        [default: polled here]
    vl_scheme
        How pairs are spread over virtual lanes, where such tables are loaded: counters by lane tell more.
    allow
        As for `netloom apply`: continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    opensm
        The process of OpenSM, where several run.
    reach
        Which fabric.
    options
        Common options; `-o` is a folder for the journal, gone on with if it is there. `--time-limit` ends
        after the round in which it is over.
    """
    options = options or Computing()
    if options.output is not None and is_stdin(str(options.output)):
        raise UsageError("a journal is a folder: it cannot be -")
    if vl_scheme is not None and counters_from is not None:
        raise UsageError("--vl-scheme needs counters by lane, which --counters-from does not have")
    extras.need("scipy", *([] if options.output is None else ["arrow"]))
    from netloom.loop.calls import loop_of

    run = Run("loop-live", options, folder=True)
    with loop_of(
        run,
        (reach or Reach()).access(),
        opensm,
        yes=yes,
        every=every,
        canary=canary or 0.0,
        counters_from=counters_from,
        vl_scheme=vl_scheme,
        allow=allow,
        output=options.output,
    ) as found:
        found.told = lambda row: run.note(f"round {row['number']}: {row['decision']}: {row['reason']}")
        found.rounds(_who(run, jobs, adapters or Adapters()), rounds)
        run.finishing()
        result = found.result(None if jobs is None else str(jobs))
    return run.finish(
        result,
        lambda: text(result),
        rows=rows_of(result["rounds"]),
        findings=any(bad(row["findings"]) for row in result["rounds"]),
        interrupted=found.stopped == "interrupted",
    )


def text(result: dict[str, Any]) -> str:
    """The report."""
    count, percent = render.count, render.percent
    size = (
        ""
        if result["hosts"] is None
        else f"{count(result['hosts'])} hosts, {count(result['switches'])} switches"
    )
    head = [
        ("fabric", f"{size} ({result['fabric']})".strip()),
        ("routes", result["routes_file"]),
        ("counters", f"{result['counters']}, over {result['every_seconds']:g} s a round"),
    ]
    if result["dry_run"]:
        head.append(("dry run", "nothing was changed (--yes changes routes)"))
    header = ["round", "verdict", "AR gap", "after", "at least", "found", "entries", "decision", "own s"]

    def or_none(value: float | None) -> str:
        return "-" if value is None else percent(value)

    lines = [
        [
            str(row["number"]),
            row["verdict"] or "-",
            or_none(row["gap_before_percent"]),
            or_none(row["gap_after_percent"]),
            or_none(row["sure_gain"]),
            or_none(row["realised_gain"]),
            count(row["changed_entries"]),
            row["decision"],
            f"{row['own_seconds']:.2f}",
            f"{row['opensm_seconds']:.2f}",
        ]
        for row in result["rounds"]
    ]
    parts = [render.pairs(head)]
    if lines:
        parts.append(render.table([*header, "OpenSM s"], lines, right=(0, 2, 3, 4, 5, 6, 8, 9), spare=(9, 8)))
        parts.append(
            "\n".join(f"{row['number']}  {row['decision']}: {row['reason']}" for row in result["rounds"])
        )
    tail = []
    if result["stopped"] is not None:
        tail.append(("stopped", f"{result['stopped'].replace('-', ' ')}: the rounds so far"))
    if result["output"] is not None:
        tail.append(("written", result["output"]))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts)


def _who(run: Run, jobs: Path | None, adapters: Adapters) -> Callable[[Fabric], Sequence[Job]]:
    """Who runs where, from the jobs file as it is in each round."""
    adapters.check(jobs)
    if jobs is None:
        return lambda _fabric: ()
    if is_stdin(str(jobs)):
        raise UsageError("a jobs file cannot come from standard input: it is read again in every round")
    reading.whole(jobs)  # No pipe: it is read again.
    run.read("jobs", str(jobs))
    run.note_jobs(jobs)

    def placed(fabric: Fabric) -> Sequence[Job]:
        from netloom.cli.shared import jobs as who

        return who.placed(run, fabric, jobs, again=True, adapters=adapters)

    return placed
