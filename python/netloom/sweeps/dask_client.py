"""Dask as what runs a sweep: an executor for every thread that its workers have.

Workers need netloom, the same version, and see the scenario's files at the same paths. Dask sends Python
objects, so whoever reaches the scheduler runs code in it and its workers: both are trusted.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

from netloom import extras
from netloom.errors import LiveError

PATIENCE_SECONDS = 10.0
"""For a scheduler to answer and to have a worker, in all."""
_WAKE_SECONDS = 0.05


@contextlib.contextmanager
def connected(
    address: str, seconds: float = PATIENCE_SECONDS, interrupted: Callable[[], bool] = lambda: False
) -> Iterator[tuple[Executor, int, Callable[[], None]]]:
    """Connects to a scheduler.

    Parameters
    ----------
    address : str
        Where it is, `tcp://HOST:8786`.
    seconds : float, default 10
        How long to wait for it, in all.
    interrupted : callable, optional
        Whether to wait no longer.

    Yields
    ------
    (Executor, int, callable)
        The executor, how many threads its workers have, and what raises once the scheduler is gone.

    Raises
    ------
    LiveError
        If Dask is not installed, no scheduler answers, or it has no workers.
    KeyboardInterrupt
        If it was interrupted before.
    """
    try:
        import distributed
    except ImportError:
        raise LiveError(f"--dask: {extras.told('dask')}") from None
    # What it logs is told in one line here.
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    end = time.monotonic() + seconds
    connect: Any = distributed.Client
    try:
        client = _in_time(lambda: connect(address, timeout=seconds, set_as_default=False), end, interrupted)
    except (OSError, ValueError, TypeError) as error:
        told = " ".join(str(error).split())[:200] or f"within {seconds:g} s"
        raise LiveError(f"--dask {address}: no scheduler answers ({told})") from None
    try:
        threads = _in_time(lambda: _threads(client, address, end), end + 1.0, interrupted)
        yield client.get_executor(pure=False), threads, lambda: _look(client, address)
    except TimeoutError:
        raise LiveError(f"--dask {address}: the scheduler does not answer any more") from None
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def _in_time(work: Callable[[], Any], end: float, interrupted: Callable[[], bool]) -> Any:
    """Calls what keeps to no deadline of its own, on a thread that is left behind where ours comes first.

    What is no scheduler may take the connection and say nothing: Dask then waits for ever, whatever its own
    time-out.
    """
    ended: list[Any] = []
    failed: list[BaseException] = []

    def call() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive() and time.monotonic() < end:
        thread.join(_WAKE_SECONDS)
        if interrupted():
            raise KeyboardInterrupt
    if failed:
        raise failed[0]
    if not ended:
        raise TimeoutError
    return ended[0]


def _threads(client: Any, address: str, end: float) -> int:
    """How many threads the workers have; waits for the first."""
    while True:
        threads = sum(client.nthreads().values())
        if threads:
            return int(threads)
        if time.monotonic() > end:
            raise LiveError(f"--dask {address}: the scheduler has no workers: expected one or more")
        time.sleep(0.1)


def _look(client: Any, address: str) -> None:
    if client.status != "running":
        kept = "what is done is kept: the same command goes on"
        raise LiveError(f"--dask {address}: the scheduler went away ({kept})")
