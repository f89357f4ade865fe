"""Hands batches of runs to an executor, one at a time a worker, and writes what comes back as parts.

A batch is about a second of work, so that its cost beside the runs is small and what a kill loses is little.
Only what is written counts: a batch whose worker is lost is handed out again, run by run, so that a run that
ends its worker each time becomes a row with its error.

Invariant: at most one batch a worker is not yet written.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from netloom.errors import LiveError
from netloom.sweeps.pool import WorkerLost
from netloom.sweeps.preparation import Prepared
from netloom.sweeps.store import LOST, MOST_PARTS, Store
from netloom.sweeps.work import PROCESS, Batch, run_batch

_BATCH_SECONDS = 1.0
_MOST_IN_A_BATCH = 512
_LOOK_SECONDS = 0.1
"""How often it is looked for what stops a sweep."""
_TRIES = 3
"""How many workers a run may cost."""

Stopped = Literal["interrupted", "time-limit", "incomplete"]
"""`incomplete`: parts were joined, and some are missing."""


class Submits(Protocol):
    """As much of an executor as is needed."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Has a function called elsewhere."""


@dataclass
class Outcome:
    """What became of a sweep.

    Attributes
    ----------
    runs : int
        All runs of the sweep, or of the part of it that was asked for.
    done, reused, failed : int
        How many of them are there; how many were there before; how many of them failed.
    cpu_seconds : float
        Of the workers, and of this process.
    stopped : str, optional
        Why it ended early.
    """

    runs: int
    done: int
    reused: int
    failed: int
    cpu_seconds: float
    stopped: Stopped | None = None


Progress = Callable[[int, int, float | None], None]
"""Hears of runs that are done, of all of them, and of the seconds that are left, if known."""


def run(
    prepared: Prepared,
    store: Store,
    executor: Submits,
    workers: int,
    *,
    numbers: Sequence[int] | None = None,
    engine: str = "the executor",
    stopped: Callable[[], Stopped | None] = lambda: None,
    progress: Progress | None = None,
) -> Outcome:
    """Runs what of a sweep is not there yet; the table is not written.

    Parameters
    ----------
    prepared : Prepared
        The sweep.
    store : Store
        Its folder.
    executor : executor
        Anything with `submit`, as in `concurrent.futures`.
    workers : int
        How many batches may be under way.
    numbers : sequence of int, optional
        Of the runs these only. [default: all]
    engine : str
        What messages call the executor.
    stopped : callable
        Why the sweep is to end now, or None; asked ten times a second.
    progress : callable, optional
        Hears how far it is.

    Raises
    ------
    LiveError
        If the executor fails; what is written is kept.
    """
    began_cpu = time.process_time()
    is_task, written = numbers is not None, 0
    store.join()
    numbers = range(prepared.spec.size) if numbers is None else numbers
    there, failed_before = store.done()
    # Points of a design may be alike: one run is enough.
    alike = Counter(prepared.keys[number] for number in numbers)
    first = {prepared.keys[number]: number for number in reversed(numbers)}
    wanted = sorted(number for key, number in first.items() if key not in there)
    left = sum(alike[prepared.keys[number]] for number in wanted)
    failed = sum(prepared.keys[number] in failed_before for number in numbers)
    outcome = Outcome(len(numbers), len(numbers) - left, len(numbers) - left, failed, 0.0)
    queue = _Queue(wanted, workers)
    under_way: dict[Future[Batch], list[int]] = {}
    clock = _Clock(len(wanted), workers)
    if wanted:
        outcome.stopped = stopped()
    try:
        while (queue or under_way) and outcome.stopped is None:
            while queue and len(under_way) < workers:
                batch = queue.next(clock.seconds_a_run)
                values = [prepared.spec.values(number) for number in batch]
                under_way[executor.submit(run_batch, prepared.plan, values)] = batch
            ended, _ = wait(under_way, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in ended:
                batch = under_way.pop(future)
                found = _result(future, queue, batch, engine)
                if found is None:
                    continue
                store.write_part(
                    (prepared.keys[number], prepared.spec.values(number), ended_run)
                    for number, ended_run in zip(batch, found["runs"], strict=True)
                )
                written += 1
                if written % MOST_PARTS == 0:
                    store.join()
                clock.add(found)
                for number, ended_run in zip(batch, found["runs"], strict=True):
                    outcome.done += alike[prepared.keys[number]]
                    outcome.failed += alike[prepared.keys[number]] * (ended_run["error"] is not None)
                if found["process"] != PROCESS:
                    outcome.cpu_seconds += found["cpu_seconds"]
            if progress is not None:
                progress(outcome.done, outcome.runs, clock.left)
            if queue or under_way:
                outcome.stopped = stopped()
    finally:
        for future in under_way:
            future.cancel()
    if is_task and written:
        store.join(1)  # A task of an array leaves one part, for there may be thousands of tasks.
    outcome.cpu_seconds += time.process_time() - began_cpu
    return outcome


def _result(future: Future[Batch], queue: _Queue, batch: list[int], engine: str) -> Batch | None:
    """What a batch gave; None if it is to be run again."""
    try:
        return future.result()
    except WorkerLost as error:
        if queue.again(batch):
            return None
        lost = f"{LOST}{str(error).removeprefix(LOST)} ({_TRIES} times)"
        return {"runs": [{"rows": [], "error": lost, "seconds": 0.0}], "cpu_seconds": 0.0, "process": ""}
    except (Exception, CancelledError) as error:
        told = " ".join(str(error).split())[:300] or type(error).__name__
        if isinstance(error, CancelledError):
            told = "it went away, and what was under way with it"
        raise LiveError(
            f"{engine} failed: {told} (what is done is kept: the same command goes on)"
        ) from error


class _Queue:
    """Runs that nobody has begun, in order."""

    def __init__(self, numbers: Sequence[int], workers: int) -> None:
        self._numbers = deque(numbers)
        self._alone: deque[int] = deque()
        self._tries: dict[int, int] = {}
        self._workers = workers

    def __bool__(self) -> bool:
        return bool(self._numbers or self._alone)

    def next(self, seconds_a_run: float | None) -> list[int]:
        """A batch: a second's worth, and less where few are left, so that all workers end together."""
        if self._alone:
            return [self._alone.popleft()]
        most = 1
        if seconds_a_run is not None:
            share = math.ceil(len(self._numbers) / (2 * self._workers))
            worth = int(_BATCH_SECONDS / max(seconds_a_run, 1e-6))
            most = max(1, min(worth, share, _MOST_IN_A_BATCH))
        return [self._numbers.popleft() for _ in range(min(most, len(self._numbers)))]

    def again(self, batch: list[int]) -> bool:
        """Takes back the runs of a lost worker; not a run that was alone and has cost enough of them."""
        if len(batch) == 1:
            self._tries[batch[0]] = self._tries.get(batch[0], 0) + 1
            if self._tries[batch[0]] >= _TRIES:
                return False
        self._alone.extend(batch)
        return True


class _Clock:
    """How long a run takes, and how long those that are left."""

    def __init__(self, runs: int, workers: int) -> None:
        self._runs, self._workers = runs, workers
        self._done, self._seconds = 0, 0.0
        self._began = time.perf_counter()

    def add(self, batch: Batch) -> None:
        """A batch has ended."""
        self._done += len(batch["runs"])
        self._seconds += sum(one["seconds"] for one in batch["runs"])

    @property
    def seconds_a_run(self) -> float | None:
        """Seconds of one worker; None before the first."""
        return self._seconds / self._done if self._done else None

    @property
    def left(self) -> float | None:
        """Seconds until all are done."""
        if not self._done:
            return None
        return (time.perf_counter() - self._began) / self._done * (self._runs - self._done)


def default_workers() -> int:
    """As many as cores that this process may use."""
    return len(os.sched_getaffinity(0))
