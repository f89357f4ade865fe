"""Dask as what runs a sweep: an executor for every thread that its workers have.

Workers need netloom, the same version, and see the scenario's files at the same paths. Dask sends Python
objects, so whoever reaches the scheduler runs code in it and its workers: both are trusted.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

from netloom import extras
from netloom.errors import LiveError

_PATIENCE_SECONDS = 10.0
"""For a scheduler to answer, and for a first worker."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[tuple[Executor, int, Callable[[], None]]]:
    """Connects to a scheduler.

    Parameters
    ----------
    address : str
        Where it is, `tcp://HOST:8786`.

    Yields
    ------
    (Executor, int, callable)
        The executor, how many threads its workers have, and what raises once the scheduler is gone.

    Raises
    ------
    LiveError
        If Dask is not installed, no scheduler answers, or it has no workers.
    """
    try:
        import distributed
    except ImportError:
        raise LiveError(f"--dask: {extras.told('dask')}") from None
    # What it logs is told in one line here.
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        connect: Any = distributed.Client
        client = connect(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        told = " ".join(str(error).split())[:200]
        raise LiveError(f"--dask {address}: no scheduler answers ({told})") from None
    try:
        yield client.get_executor(pure=False), _threads(client, address), lambda: _look(client, address)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def _threads(client: Any, address: str) -> int:
    """How many threads the workers have; waits for the first."""
    end = time.monotonic() + _PATIENCE_SECONDS
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
