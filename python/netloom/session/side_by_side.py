"""Several routings of a scenario, side by side on the cores, with their progress.

Every simulation is called from a thread of its own. Ctrl-C is only noted, on the main thread, and passed on
through the simulations' progress, which ends each with what is known so far.

Invariant: of several that fail, the first in order is told, whichever was faster: one that has failed ends
those after it, and those before it come to their own end.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from netloom.session.interruption import Interruption

if TYPE_CHECKING:
    from rich.progress import Progress

    from netloom.session.session import Session

_Result = TypeVar("_Result")
_LOOK_SECONDS = 0.05
"""How often the main thread looks for Ctrl-C."""
_EXIT_TIMEOUT_SECONDS = 1.0
"""How long it waits from then on for what is left behind otherwise: two thirds of what a signal allows."""


def side_by_side(
    run: Session,
    names: Sequence[str],
    work: Callable[[str, int, float | None, Line], _Result],
    ended: Callable[[str, _Result], None],
    *,
    lines: Mapping[str, str] | None = None,
    leaves: bool = False,
) -> None:
    """Calls `work(name, threads, seconds left, progress)` for every name, several at a time.

    Parameters
    ----------
    run : Session
        Has the number of threads, the time limit, and what to do from Ctrl-C on.
    names : sequence of str
        Routings, begun in this order.
    work : callable
        Simulates one; returns early, with what it has, when `progress` raises `Interruption`.
    ended : callable
        Takes each result, on the main thread, as they come.
    lines : mapping, optional
        On which line of progress each name is told. [default: one of its own]
    leaves : bool
        From Ctrl-C on, work that goes on is left behind after a while: what it ends up with is not asked for.

    Raises
    ------
    Exception
        What `work` raised for the first name for which it did.
    """
    threads = run.threads or os.cpu_count() or 1
    workers = max(1, min(threads, len(names)))
    left = run.left
    end = None if left is None else time.monotonic() + left
    stops = {name: threading.Event() for name in names}
    failed: dict[str, BaseException] = {}

    with _bars(run, stops, lines or {}) as report_for, _pool(run, workers) as pool:

        def one(name: str) -> _Result | None:
            left = None if end is None else max(0.0, end - time.monotonic())
            if stops[name].is_set() or (left == 0.0 and name != names[0]):
                return None
            with contextlib.suppress(KeyboardInterrupt):
                return work(name, max(1, threads // workers), left, report_for(name))
            return None

        run.finishing()
        waiting: dict[Future[_Result | None], str] = {pool.submit(one, name): name for name in names}
        time_left = _EXIT_TIMEOUT_SECONDS
        try:
            while waiting:
                done, _ = wait(waiting, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                if run.interrupted:
                    for stop in stops.values():
                        stop.set()
                    time_left -= 0.0 if done else _LOOK_SECONDS
                    if leaves and time_left <= 0:
                        run.left_behind = True
                        break
                for future in done:
                    name = waiting.pop(future)
                    error = future.exception()
                    if error is not None:
                        failed[name] = error
                        for later in names[names.index(name) + 1 :]:
                            stops[later].set()
                    elif (result := future.result()) is not None:
                        ended(name, result)
        except KeyboardInterrupt:
            # Of a caller whose Ctrl-C is not only noted: what runs keeps its state and ends.
            for stop in stops.values():
                stop.set()
            raise
        for name in names:
            if name in failed:
                raise failed[name]


@contextlib.contextmanager
def _pool(run: Session, workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that are waited for at the end, but for those that are left behind."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=not run.left_behind, cancel_futures=run.left_behind)


def partitions(run: Session, threads: int) -> int:
    """Threads that one simulation is cut into partitions for.

    Partitions meet many times a millisecond, which pays only where every thread has a core of its own. So a
    simulation has one thread unless somebody asks for more.

    Parameters
    ----------
    run : Session
        Has the number that was asked for.
    threads : int
        Threads that are free for this simulation, at least 1.

    Returns
    -------
    int
        At least 1.
    """
    return threads if run.threads else 1


class Line:
    """The progress of one of the names: called with simulated ps, and all of them if that is known.

    Parameters
    ----------
    stop : threading.Event
        Ends the work whose progress this is.
    bar : Progress or None
        The lines on a terminal.
    task : int
        Which of them.
    heard : callable, optional
        Hears of it too.
    """

    def __init__(
        self,
        stop: threading.Event,
        bar: Progress | None,
        task: Any,
        heard: Callable[[int, int], object] | None = None,
    ) -> None:
        self._stop, self._bar, self._task, self._heard = stop, bar, task, heard
        self._what = ""
        self._began: tuple[int, float] | None = None

    def says(self, what: str) -> None:
        """Names the run that is simulated, and what is left."""
        self.check()
        self._what, self._began = f"{what}, ", None
        if self._bar is not None:
            self._bar.update(self._task, completed=0, total=None, told=what)

    def check(self) -> None:
        """Raises what lets a simulation return once it is to end."""
        if self._stop.is_set():
            raise Interruption

    def __call__(self, done_ps: int, total_ps: int) -> None:
        self.check()
        if self._heard is not None:
            self._heard(done_ps, total_ps)
        if self._bar is None:
            return
        # From where the simulation begins, which may be in the middle.
        # A run before it under the same name (a candidate, a job alone) has ended.
        if done_ps > 0 and (self._began is None or done_ps < self._began[0]):
            self._began = done_ps, time.monotonic()
        told = self._what + ("" if self._began is None else rate_text(done_ps, self._began))
        self._bar.update(self._task, completed=done_ps, total=total_ps or None, told=told)


@contextlib.contextmanager
def _bars(
    run: Session, stops: Mapping[str, threading.Event], lines: Mapping[str, str]
) -> Iterator[Callable[[str], Line]]:
    """Lines on a terminal: simulated time, and how fast it runs. Ends those whose event is set."""
    with run.bars() as bar:
        tasks: dict[str, Any] = {}

        def report_for(name: str) -> Line:
            line = lines.get(name, name)
            if bar is not None and line not in tasks:
                tasks[line] = bar.add_task(line, total=None, told="")
            return Line(stops[name], bar, tasks.get(line), run.heard)

        yield report_for


def rate_text(done_ps: int, began: tuple[int, float]) -> str:
    """`1.234 ms simulated, 0.41 ms a second` since it began: simulated ps, and a time of `time.monotonic`."""
    from_ps, from_s = began
    seconds = time.monotonic() - from_s
    told = f"{done_ps * 1e-9:.3f} ms simulated"
    if done_ps <= from_ps or seconds <= 0:
        return told
    return f"{told}, {(done_ps - from_ps) * 1e-9 / seconds:.3g} ms a second"
