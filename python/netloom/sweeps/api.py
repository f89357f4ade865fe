"""`netloom.sweep`: a sweep from Python, on any executor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.runs.lock import alone_in
from netloom.session.arguments import error_allowed
from netloom.session.checked import checked
from netloom.sweeps import engine, hopeless, summary
from netloom.sweeps.pool import LocalPool
from netloom.sweeps.preparation import prepare
from netloom.sweeps.spec import Spec
from netloom.sweeps.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

    from netloom.sweeps.engine import Progress, Submits


@dataclass(frozen=True)
class Swept:
    """A sweep that has ended.

    Attributes
    ----------
    runs, done, reused, failed : int
        Runs; how many of them are there; how many were there before; how many of them failed.
    table : pyarrow.Table
        A row a run and job, in the order of the sweep; also in the folder, as `table.parquet`.
    """

    runs: int
    done: int
    reused: int
    failed: int
    table: pa.Table
    spec: Spec

    def groups(self, seed: int = 0) -> list[dict[str, Any]]:
        """The summary by group: means with 95 % bootstrap intervals, and medians.

        Parameters
        ----------
        seed : int, default 0
            Of the resamples.

        Returns
        -------
        list of dict
            As `result.groups` of `netloom sweep run --format json`.
        """
        return summary.groups(self.table, self.spec, seed)

    def sensitivity(self, seed: int = 0) -> list[dict[str, Any]]:
        """What matters: the variance shares of the keys in `[ranges]`, of a sweep with `design = "sobol"`.

        Parameters
        ----------
        seed : int, default 0
            Of the resamples.

        Returns
        -------
        list of dict
            As `result.sensitivity` of `netloom sweep run --format json`.
        """
        return summary.sensitivity(self.table, self.spec, seed)


@checked(workers=(1, 4096))
def sweep(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    executor: Submits | None = None,
    workers: int | None = None,
    skip_repeats: float | None = None,
    progress: Progress | None = None,
) -> Swept:
    """Runs a scenario again and again with keys varied; what is in the folder already is not run again.

    Parameters
    ----------
    path : path
        A sweep (.toml): a scenario, what varies, which result keys are kept.
    folder : path
        The sweep's folder; made if need be.
    executor : concurrent.futures.Executor, optional
        What runs batches: threads, processes, MPI or a cluster. [default: a pool of processes of its own]
    workers : int, optional
        How many batches may be under way. [default: as many as the executor has workers, else one a core]
    skip_repeats : float, optional
        Do not simulate iterations that repeat earlier ones again, with this error allowed; 0: exact repeats
        only, and results are the same. The table has columns `skipped` and `skipped_error`. [default: all is
        run]
    progress : callable, optional
        Hears, several times a second, of runs that are done, of all, and of the seconds left or None.

    Returns
    -------
    Swept
        The table, and how many runs there are.

    Raises
    ------
    FormatError
        If the sweep or its scenario is wrong, or the folder another sweep's; with file and line.
    LiveError
        If the executor fails. What is done is kept: the same call goes on.
    OSError
        If a file cannot be read, or the folder cannot be written or is in use.

    Examples
    --------
    >>> import netloom as nl
    >>> from concurrent.futures import ProcessPoolExecutor
    >>> with ProcessPoolExecutor() as pool:  # doctest: +SKIP
    ...     swept = nl.sweep("sweep.toml", "swept", executor=pool)
    >>> swept.table.to_pandas().groupby("routing").completion_ms.mean()  # doctest: +SKIP
    """
    source, place = Path(path), Path(folder)
    text = reading.whole(source).decode(errors="replace")
    prepared = prepare(text, source, skip_repeats=error_allowed(skip_repeats))
    hopeless.refuse(prepared)
    store = Store(place, prepared.spec, prepared.about)
    count = workers or getattr(executor, "_max_workers", None) or engine.default_workers()
    with alone_in(place):
        store.prepare()
        if executor is None:
            with LocalPool(count) as pool:
                found = engine.run(prepared, store, pool, count, progress=progress)
        else:
            found = engine.run(prepared, store, executor, count, progress=progress)
        table = store.merge(prepared.keys)
    return Swept(found.runs, found.done, found.reused, found.failed, table, prepared.spec)
