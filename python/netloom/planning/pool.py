"""Independent pieces of a judgement, side by side on threads, with progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Key = TypeVar("Key")
Made = TypeVar("Made")


def each(
    keys: Collection[Key],
    run: Callable[[Key], Made],
    *,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> dict[Key, Made]:
    """What `run` makes of each key, in the order of the keys.

    Parameters
    ----------
    keys : collection
        All that is to do, the first first.
    run : callable
        The work of a key; it is called on threads.
    threads : int
        How many; 0 is one a core.
    progress : callable, optional
        Called with the keys that are done and all of them.

    Raises
    ------
    BaseException
        What `run` raises, or Ctrl-C: what has not begun is not begun then.

    Examples
    --------
    >>> each([2, 3], lambda n: n * n, threads=2, progress=None)
    {2: 4, 3: 9}
    """
    done = 0

    def ended(_run: Future[Any]) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(keys))

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            runs = {key: pool.submit(run, key) for key in keys}
            for begun in runs.values():
                begun.add_done_callback(ended)
            return {key: begun.result() for key, begun in runs.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
