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
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from netloom.cli.shared.run import Run

_Progress = Callable[[int, int], None]
_Result = TypeVar("_Result")
_LOOK_SECONDS = 0.05
"""How often the main thread looks for Ctrl-C."""


def side_by_side(
    run: Run,
    names: Sequence[str],
    work: Callable[[str, int, float | None, _Progress], _Result],
    ended: Callable[[str, _Result], None],
) -> None:
    """Calls `work(name, threads, seconds left, progress)` for every name, several at a time.

    Parameters
    ----------
    run : Run
        Has the number of threads, the time limit, and what to do from Ctrl-C on.
    names : sequence of str
        Routings, begun in this order.
    work : callable
        Simulates one; returns early, with what it has, when `progress` raises KeyboardInterrupt.
    ended : callable
        Takes each result, on the main thread, as they come.

    Raises
    ------
    Exception
        What `work` raised for the first name for which it did.
    """
    threads = run.options.threads or os.cpu_count() or 1
    workers = max(1, min(threads, len(names)))
    left = run.left
    end = None if left is None else time.monotonic() + left
    stops = {name: threading.Event() for name in names}
    failed: dict[str, BaseException] = {}

    with _bars(run, stops) as report_for, ThreadPoolExecutor(workers) as pool:

        def one(name: str) -> _Result | None:
            left = None if end is None else max(0.0, end - time.monotonic())
            if stops[name].is_set() or (left == 0.0 and name != names[0]):
                return None
            with contextlib.suppress(KeyboardInterrupt):
                return work(name, max(1, threads // workers), left, report_for(name))
            return None

        run.finishing()
        waiting: dict[Future[_Result | None], str] = {pool.submit(one, name): name for name in names}
        while waiting:
            done, _ = wait(waiting, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            if run.interrupted:
                for stop in stops.values():
                    stop.set()
            for future in done:
                name = waiting.pop(future)
                error = future.exception()
                if error is not None:
                    failed[name] = error
                    for later in names[names.index(name) + 1 :]:
                        stops[later].set()
                elif (result := future.result()) is not None:
                    ended(name, result)
        for name in names:
            if name in failed:
                raise failed[name]


def partitions(run: Run, threads: int) -> int:
    """Threads that one simulation is cut into partitions for.

    Partitions meet many times a millisecond, which pays only where every thread has a core of its own. So a
    simulation has one thread unless `--threads` asks for more.

    Parameters
    ----------
    run : Run
        Has what `--threads` said.
    threads : int
        Threads that are free for this simulation, at least 1.

    Returns
    -------
    int
        At least 1.
    """
    return threads if run.options.threads else 1


@contextlib.contextmanager
def _bars(run: Run, stops: Mapping[str, threading.Event]) -> Iterator[Callable[[str], _Progress]]:
    """A line a routing on a terminal: simulated time, and how fast it runs. Ends those whose event is set."""

    def check(name: str) -> None:
        if stops[name].is_set():
            raise KeyboardInterrupt

    with run.bars() as bar:

        def report_for(name: str) -> _Progress:
            if bar is None:
                return lambda _done, _total: check(name)
            task = bar.add_task(name, total=None, told="")
            began: tuple[int, float] | None = None

            def report(done_ps: int, total_ps: int) -> None:
                nonlocal began
                check(name)
                # From where the simulation begins, which may be in the middle.
                # A run before it under the same name (a candidate, a job alone) has ended.
                if done_ps > 0 and (began is None or done_ps < began[0]):
                    began = done_ps, time.monotonic()
                told = "" if began is None else rate_text(done_ps, began)
                bar.update(task, completed=done_ps, total=total_ps or None, told=told)

            return report

        yield report_for


def rate_text(done_ps: int, began: tuple[int, float]) -> str:
    """`1.234 ms simulated, 0.41 ms a second` since it began: simulated ps, and a time of `time.monotonic`."""
    from_ps, from_s = began
    seconds = time.monotonic() - from_s
    told = f"{done_ps * 1e-9:.3f} ms simulated"
    if done_ps <= from_ps or seconds <= 0:
        return told
    return f"{told}, {(done_ps - from_ps) * 1e-9 / seconds:.3g} ms a second"
