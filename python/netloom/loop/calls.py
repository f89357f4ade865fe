"""The closed loop on a live fabric by one call, as `netloom loop live` runs it.

A round is one of [`netloom.loop.live`]: it counts over an interval, infers, optimises, checks, predicts and
decides. Only with `yes` it changes tables, under the lock and with the journal of `netloom.apply`, and takes
them back if the next interval contradicts what was predicted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.apply.calls import Allowed
from netloom.errors import ArgumentError, LiveError
from netloom.loop import journal, summary
from netloom.loop.live import LiveLoop
from netloom.runs import lock
from netloom.session import placement
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.apply import Seen
    from netloom.live import Access, Manager
    from netloom.live.polling import Poll
    from netloom.loop.lived import Live

_DECISIONS = ("applied", "kept", "rolled back", "proposed")
_INFER_SECONDS = 30.0
"""How long inference may take in a round, where that is longer than a round counts."""


@checked(rounds=(1, 1_000_000), opensm=(1, 2**31 - 1), every=(0.01, 86400.0), canary=(0, 100))
def loop_live(
    *,
    yes: bool = False,
    jobs: str | os.PathLike[str] | None = None,
    every: float = 60.0,
    rounds: int | None = None,
    canary: float = 0.0,
    counters_from: str | None = None,
    vl_scheme: str | None = None,
    allow: Sequence[Allowed] = (),
    access: Access | None = None,
    opensm: int | None = None,
    output: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    told: Callable[[dict[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """The closed loop on a live fabric: counters in, better routes out through OpenSM, if that surely pays.

    Parameters
    ----------
    yes : bool, default False
        Change routes. Without it nothing is changed, and rounds only report what they would change.
    jobs : path, optional
        A jobs file (.toml): who runs where; read again in every round. [default: unknown]
    every : float, default 60.0
        Seconds that a round counts over.
    rounds : int, optional
        End after so many. [default: until Ctrl-C or `time_limit`]
    canary : float, default 0.0
        Change this many percent of the destinations first, 0 to 100, and the rest only if another interval
        shows the predicted gain; 0 is all at once.
    counters_from : str, optional
        Counters that somebody else polls: an exporter's URL, or a folder of textfiles or of sysfs trees.
        [default: polled here]
    vl_scheme : str, optional
        How pairs are spread over virtual lanes, where such tables are loaded.
    allow : sequence of str, default ()
        Continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    output : path, optional
        A folder for the journal, gone on with if it is there.
    seed : int, optional
        Of inference and search, 0 to 2^64 - 1. [default: 0]
    threads : int, default 0
        0 is one a core.
    time_limit : float, optional
        End after the round in which so many seconds are over.
    told : callable, optional
        Hears of every round, as a row of `rounds`.

    Returns
    -------
    dict
        As `result` of `netloom loop live --format json`.

    Raises
    ------
    LiveError
        If no OpenSM runs here, or what it is set to no round could mend.
    OSError
        If `output` cannot be a journal.

    Examples
    --------
    >>> netloom.loop_live(rounds=3, every=60)["rounds"]  # doctest: +SKIP
    """
    if vl_scheme is not None and counters_from is not None:
        raise ArgumentError("vl_scheme: needs counters by lane, which counters_from does not have")
    session = Session(seed=seed, threads=threads, time_limit=time_limit)
    if jobs is not None:
        reading.whole(jobs)  # It is read again in every round.

    def placed(fabric: Fabric) -> Sequence[Job]:
        return () if jobs is None else placement.placed(session, fabric, Path(jobs), again=True)

    with loop_of(
        session,
        access,
        opensm,
        yes=yes,
        every=every,
        canary=canary,
        counters_from=counters_from,
        vl_scheme=vl_scheme,
        allow=allow,
        output=None if output is None else Path(output),
    ) as found:
        found.told = told or found.told
        found.rounds(placed, rounds)
        return found.result(None if jobs is None else str(jobs))


@contextlib.contextmanager
def loop_of(
    session: Session,
    access: Access | None,
    opensm: int | None,
    *,
    yes: bool,
    every: float,
    canary: float,
    counters_from: str | None,
    vl_scheme: str | None,
    allow: Sequence[str],
    output: Path | None,
) -> Iterator[Rounds]:
    """Rounds that have not begun, with the journal that they are written to."""
    from netloom import extras
    from netloom.live import Access, Manager

    extras.need("scipy", *([] if output is None else ["arrow"]))
    access = access or Access.local()
    manager = Manager.running(access, opensm)
    _check_manager(manager, allow)
    with contextlib.ExitStack() as stack:
        written = None if output is None else stack.enter_context(_journal(output))
        loop = stack.enter_context(
            LiveLoop(
                access,
                lambda: Manager.running(access, opensm),
                vl_scheme=vl_scheme,
                seed=session.seed,
                threads=session.threads,
                dry=not yes,
                infer_seconds=max(every, _INFER_SECONDS),
                allow=list(allow),
                canary_percent=canary,
                reader=None if counters_from is None else reader(counters_from),
            )
        )
        if written is not None:
            loop.resume(written)
        yield Rounds(session, loop, manager, every, counters_from, written)


class Rounds:
    """Rounds of one call.

    Attributes
    ----------
    told : callable
        Hears of every round.
    done : list of dict
        Rounds so far, as results have them.
    stopped : str or None
        Why they ended early: `interrupted`, `time-limit`.
    """

    def __init__(
        self,
        session: Session,
        loop: LiveLoop,
        manager: Manager,
        every: float,
        counters: str | None,
        written: journal.Journal | None,
    ) -> None:
        self.session = session
        self.loop = loop
        self.manager = manager
        self.every = every
        self.counters = counters
        self.written = written
        self.told: Callable[[dict[str, Any]], object] = lambda _row: None
        self.done: list[dict[str, Any]] = []
        self.last: Seen | None = None
        self.stopped: str | None = None

    def rounds(self, who: Callable[[Fabric], Sequence[Job]], most: int | None) -> None:
        """Round after round, until there are `most`, the time is over, or an interruption."""
        self.session.keeps()
        left = self.session.left
        end = None if left is None else time.monotonic() + left
        try:
            while most is None or len(self.done) < most:
                began = time.monotonic()
                live = self.loop.round(who, lambda _seen: time.sleep(self.every))
                self._add(live)
                if live.interrupted:
                    self.stopped = "interrupted"
                    return
                if end is not None and time.monotonic() >= end:
                    self.stopped = "time-limit"
                    return
                if live.findings and most != len(self.done):
                    # One that could not even begin: no faster than others.
                    time.sleep(max(0.0, began + self.every - time.monotonic()))
        except KeyboardInterrupt:
            self.stopped = "interrupted"

    def _add(self, live: Live) -> None:
        """A round, told at once and written down."""
        if self.written is not None:
            self.written.append(*journal.of_live(live))
        self.last = live.after
        row = live.row()
        self.done.append(row)
        self.told(row)

    def result(self, jobs: str | None) -> dict[str, Any]:
        """The result; the journal's page is written."""
        decisions = [row["decision"] for row in self.done]
        fabric = None if self.last is None else self.last.fabric
        result = {
            "fabric": self.loop.access.what,
            "hosts": None if fabric is None else fabric.hosts,
            "switches": None if fabric is None else fabric.switches,
            "routes_file": str(self.manager.routes_file),
            "jobs": jobs,
            "counters": self.counters or "polled",
            "vl_scheme": self.loop.vl_scheme,
            "every_seconds": self.every,
            "dry_run": self.loop.dry,
            "rounds": self.done,
            **{word.replace(" ", "_"): decisions.count(word) for word in _DECISIONS},
            "stopped": self.stopped,
            "output": None if self.written is None else str(self.written.folder),
        }
        if self.written is not None:
            self.session.write_in(self.written.folder, journal.SUMMARY, summary.page(self._page(result)))
        return result

    def _page(self, result: dict[str, Any]) -> dict[str, Any]:
        """What the summary page is made of: all rounds of the journal."""
        entries = [one.result() for one in self.loop.history]
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


def _check_manager(manager: Manager, allow: Sequence[str]) -> None:
    """What no round could mend is said before the first one."""
    for problem in manager.problems():
        if problem.kind != "fallback" and problem.kind not in allow:
            hint = "; --allow adaptive goes on all the same" if problem.kind == "adaptive" else ""
            raise LiveError(problem.text + hint)


@contextlib.contextmanager
def _journal(folder: Path) -> Iterator[journal.Journal]:
    """The journal of live rounds, new or to go on with, kept to this process."""
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


def reader(source: str) -> Callable[[Fabric], Poll]:
    """Reads what others have polled, as a poll that costs no datagrams."""
    from netloom.live.exporters import read_again
    from netloom.live.polling import Poll

    def read(fabric: Fabric) -> Poll:
        start = time.monotonic()
        found, _ = read_again(source, fabric)
        ports = int(fabric.link_table()["alive"].sum())
        return Poll(found, b"", ports, [], 0, 0, start, time.time(), time.monotonic() - start)

    return read
