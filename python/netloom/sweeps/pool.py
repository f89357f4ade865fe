"""A local pool: worker processes that stay alive and take one batch at a time.

Each worker is a process of its own, with a thread here that hands it batches as lines of JSON and waits for
its answers. One that dies costs its batch, which fails with `WorkerLost`, and another is started in its
place. Workers die with this process: their standard input ends, and the kernel kills them.
"""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

_ENDS = None
"""What ends a thread."""


class WorkerLost(Exception):
    """A worker ended before it gave an answer; says how."""


class LocalPool:
    """So many worker processes; an executor as far as a sweep needs one.

    Parameters
    ----------
    workers : int
        How many.

    Examples
    --------
    >>> with LocalPool(2) as pool:
    ...     future = pool.submit(run_batch, plan, runs)  # doctest: +SKIP
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._tasks: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._ended = False
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Has a worker call `netloom.sweeps.work.run_batch`: no other function."""
        if function.__name__ != "run_batch":
            raise ValueError("a local pool runs batches of a sweep only")
        future: Future[Any] = Future()
        self._tasks.put((future, json.dumps(arguments).encode() + b"\n"))
        return future

    def shutdown(self) -> None:
        """Ends the workers at once: what they have not told is lost."""
        with self._lock:
            self._ended = True
            for child in self._children:
                child.kill()
        for _ in self._threads:
            self._tasks.put(_ENDS)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """A thread: one worker after the other, as long as they are needed."""
        child: subprocess.Popen[bytes] | None = None
        while (task := self._tasks.get()) is not _ENDS:
            future, line = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                child = child or self._started()
                answer = _asked(child, line)
            except OSError as error:
                future.set_exception(error)
                continue
            if answer is None:
                code = self._left(child)
                child = None
                future.set_exception(WorkerLost(_told(code)))
            elif "error" in answer:
                future.set_exception(RuntimeError(answer["error"]))
            else:
                future.set_result(answer["result"])
        if child is not None:
            self._left(child)

    def _started(self) -> subprocess.Popen[bytes]:
        # Not `-m`: a worker imports from where this process does, never from the folder that it is in.
        code = f"import sys; sys.path[:] = {sys.path!r}; from netloom.sweeps.worker import main; main()"
        with self._lock:
            if self._ended:
                raise OSError("the pool is shut down")
            child = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._children.add(child)
        return child

    def _left(self, child: subprocess.Popen[bytes]) -> int:
        """Waits for a worker that has ended, or is no longer needed; returns its exit status."""
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        code = child.wait()
        with self._lock:
            self._children.discard(child)
        return code


def _asked(child: subprocess.Popen[bytes], line: bytes) -> dict[str, Any] | None:
    """What a worker answers; None if it ended instead."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(line)
        child.stdin.flush()
    except BrokenPipeError:
        return None
    answer = child.stdout.readline()
    return json.loads(answer) if answer.endswith(b"\n") else None


def _told(code: int) -> str:
    if code >= 0:
        return f"its worker ended with exit status {code}"
    with contextlib.suppress(ValueError):
        return f"its worker was ended by {signal.Signals(-code).name}"
    return f"its worker was ended by signal {-code}"
