"""`netloom loop live`: the closed loop on a live fabric, through OpenSM; a dry run unless told.

A round is one of [`netloom.loop.live`]: it counts over an interval, infers, optimises, checks, predicts and
decides. Only with `--yes` it changes tables, by what `netloom apply` does, under the same lock, with the same
journal, and takes them back if the next interval contradicts what was predicted.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from netloom import extras, reading
from netloom.cli.demo.live import rows_of
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.jobs import Adapters
from netloom.cli.shared.options import Options
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.errors import LiveError
from netloom.findings import bad
from netloom.runs import lock
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.apply import Seen
    from netloom.live import Access, Manager
    from netloom.live.polling import Poll
    from netloom.loop.journal import Journal
    from netloom.loop.live import Live, LiveLoop

_OWN = ("counters", "infer", "optimize", "check", "predict", "apply", "verify")
"""Steps from counters to loaded tables."""

_INFER_SECONDS = 30.0
"""How long inference may take in a round, where that is longer than a round counts."""


def live(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    jobs: Path | None = None,
    every: Annotated[float, options.within(0.01, 86400.0)] = 60.0,
    rounds: Annotated[int | None, options.within(1, 1_000_000)] = None,
    canary: Annotated[float, options.within(0, 100.0)] = 0.0,
    counters_from: str | None = None,
    vl_scheme: str | None = None,
    allow: Sequence[Literal["standby", "adaptive", "credit-loop", "unanswered"]] = (),
    opensm: Annotated[int | None, options.within(1, 2**31 - 1)] = None,
    adapters: Adapters | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
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
    from netloom.live import Manager
    from netloom.loop.live import LiveLoop

    options = options or Options()
    if options.output is not None and is_stdin(str(options.output)):
        raise UsageError("a journal is a folder: it cannot be -")
    if vl_scheme is not None and counters_from is not None:
        raise UsageError("--vl-scheme needs counters by lane, which --counters-from does not have")
    extras.need("scipy", *([] if options.output is None else ["arrow"]))
    run = Run("loop-live", options, folder=True, searches=True)
    access = (reach or Reach()).access()
    manager = Manager.running(access, opensm)
    _check_manager(manager, list(allow))
    with contextlib.ExitStack() as stack:
        written = None if options.output is None else stack.enter_context(_journal(options.output))
        loop = stack.enter_context(
            LiveLoop(
                access,
                lambda: Manager.running(access, opensm),
                vl_scheme=vl_scheme,
                seed=run.seed,
                threads=options.threads,
                dry=not yes,
                infer_seconds=max(every, _INFER_SECONDS),
                allow=list(allow),
                canary_percent=canary,
                reader=None if counters_from is None else _reader(counters_from),
            )
        )
        told = _Told(run, access, manager, every, counters_from, written)
        if written is not None:
            loop.resume(written)
        told.stopped = _rounds(loop, told, _who(run, jobs, adapters or Adapters()), rounds)
        run.finishing()
        result = told.result(loop, vl_scheme, jobs)
        if written is not None:
            from netloom.loop import journal, summary

            run.write_in(written.folder, journal.SUMMARY, summary.page(told.page(loop, result)))
    return run.finish(
        result,
        lambda: text(result),
        rows=rows_of(result["rounds"]),
        findings=any(bad(row["findings"]) for row in result["rounds"]),
        interrupted=told.stopped == "interrupted",
    )


def _rounds(
    loop: LiveLoop, told: _Told, who: Callable[[Fabric], Sequence[Job]], most: int | None
) -> str | None:
    """Round after round; why they ended early."""
    told.run.keeps()
    left = told.run.left
    end = None if left is None else time.monotonic() + left
    try:
        while most is None or len(told.done) < most:
            began = time.monotonic()
            live = loop.round(who, lambda _seen: time.sleep(told.every))
            told.add(live)
            if live.interrupted:
                return "interrupted"
            if end is not None and time.monotonic() >= end:
                return "time-limit"
            if live.findings and most != len(told.done):
                # One that could not even begin: no faster than others.
                time.sleep(max(0.0, began + told.every - time.monotonic()))
    except KeyboardInterrupt:
        return "interrupted"
    return None


class _Told:
    """What rounds have told so far."""

    def __init__(
        self,
        run: Run,
        access: Access,
        manager: Manager,
        every: float,
        counters: str | None,
        written: Journal | None,
    ) -> None:
        self.run = run
        self.access = access
        self.manager = manager
        self.every = every
        self.counters = counters
        self.written = written
        self.done: list[dict[str, Any]] = []
        self.last: Seen | None = None
        self.stopped: str | None = None

    def add(self, live: Live) -> None:
        """A round, told at once and written down."""
        from netloom.loop import journal

        if self.written is not None:
            self.written.append(*journal.of_live(live))
        self.last = live.after
        seconds = live.round.seconds
        self.done.append(
            {
                **live.round.result(),
                "own_seconds": round(sum(seconds.get(step, 0.0) for step in _OWN), 6),
                "opensm_seconds": round(seconds.get("opensm", 0.0), 6),
                "mads": live.mads,
                "journal_id": None if live.applied is None else live.applied.journal_id,
                "findings": live.findings,
            }
        )
        self.run.note(f"round {live.round.number}: {live.round.decision}: {live.round.reason}")

    def result(self, loop: LiveLoop, vl_scheme: str | None, jobs: Path | None) -> dict[str, Any]:
        """The result object."""
        decisions = [row["decision"] for row in self.done]
        fabric = None if self.last is None else self.last.fabric
        return {
            "fabric": self.access.what,
            "hosts": None if fabric is None else fabric.hosts,
            "switches": None if fabric is None else fabric.switches,
            "routes_file": str(self.manager.routes_file),
            "jobs": None if jobs is None else str(jobs),
            "counters": self.counters or "polled",
            "vl_scheme": vl_scheme,
            "every_seconds": self.every,
            "dry_run": loop.dry,
            "rounds": self.done,
            **{word.replace(" ", "_"): decisions.count(word) for word in _DECISIONS},
            "stopped": self.stopped,
            "output": None if self.written is None else str(self.written.folder),
        }

    def page(self, loop: LiveLoop, result: dict[str, Any]) -> dict[str, Any]:
        """What the summary page is made of: all rounds of the journal."""
        entries = [one.result() for one in loop.history]
        decisions = [one["decision"] for one in entries]
        return {
            "loop": "live",
            "scenario": result["fabric"],
            "hosts": result["hosts"] or 0,
            "switches": result["switches"] or 0,
            "routes": result["routes_file"],
            "counters": result["counters"],
            "weight": "bytes",
            "rounds": entries,
            **{word.replace(" ", "_"): decisions.count(word) for word in _DECISIONS},
        }


_DECISIONS = ("applied", "kept", "rolled back", "proposed")


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


def _check_manager(manager: Manager, allow: Sequence[str]) -> None:
    """What no round could mend is said before the first one."""
    for problem in manager.problems():
        if problem.kind != "fallback" and problem.kind not in allow:
            hint = "; --allow adaptive goes on all the same" if problem.kind == "adaptive" else ""
            raise LiveError(problem.text + hint)


@contextlib.contextmanager
def _journal(folder: Path) -> Any:
    """The journal of live rounds, new or to go on with, kept to this process."""
    from netloom.loop import journal

    if folder.exists() and not folder.is_dir():
        raise OSError(errno.ENOTDIR, "is a file, expected a folder", str(folder))
    with lock.alone_in(folder):
        if not journal.is_journal(folder):
            raise OSError(
                errno.ENOTEMPTY, f"is not empty and has no {journal.FILE}: expected a new folder", str(folder)
            )
        found = journal.Journal(folder, append=True)
        if not journal.is_live(found.rows):
            raise OSError(
                errno.EEXIST,
                "holds the journal of a loop in the simulator: expected a new folder",
                str(folder),
            )
        yield found


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


def _reader(source: str) -> Callable[[Fabric], Poll]:
    """Reads what others have polled, as a poll that costs no datagrams."""
    from netloom.live.polling import Poll
    from netloom.watch.sources import read_again

    def read(fabric: Fabric) -> Poll:
        start = time.monotonic()
        found, _ = read_again(source, fabric)
        ports = int(fabric.link_table()["alive"].sum())
        return Poll(found, b"", ports, [], 0, 0, start, time.monotonic() - start)

    return read
