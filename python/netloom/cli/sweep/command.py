"""`netloom sweep`: a scenario again and again with keys varied, as one table."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom import extras
from netloom.cli.shared import guard, options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.guard import TooLate
from netloom.cli.shared.options import SKIP_REPEATS, Options, Seeded, SeededProduct
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, refuse
from netloom.cli.sweep import report
from netloom.errors import LiveError
from netloom.files import check_folder
from netloom.runs.lock import alone_in
from netloom.session.sources import is_stdin
from netloom.sweeps import results
from netloom.sweeps.store import PARTS, TABLE, Store

if TYPE_CHECKING:
    from netloom.sweeps.engine import Outcome, Progress, Stopped
    from netloom.sweeps.preparation import Prepared


def run(
    sweep: Path,
    /,
    *,
    workers: Annotated[int, options.within(0, 4096)] = 0,
    dask: str | None = None,
    slurm: Annotated[Path | None, options.OUTPUT_PATH] = None,
    skip_repeats: Annotated[float | None, SKIP_REPEATS] = None,
    options: SeededProduct | None = None,
) -> int:
    """Run a scenario again and again with keys varied, and write all as one table.

    What is in the folder already is not run again: the same command goes on where it was stopped or killed,
    and a larger sweep only adds. Ctrl-C, SIGTERM and `--time-limit` end it; what is done is kept.

    Parameters
    ----------
    sweep
        A sweep (.toml): a scenario, what varies, which result keys are kept.
    workers
        Worker processes; with `--dask` batches under way, with `--slurm` tasks of the array. 0 is one a core,
        all threads of Dask's workers, or 16 tasks.
    dask
        Run on the workers of this Dask scheduler, `tcp://HOST:8786`.
    slurm
        Run nothing; write a job array for `sbatch` here. `netloom sweep merge` joins its results.
    skip_repeats
        Do not simulate iterations that repeat earlier ones again. The value is the error that is allowed, a
        share; 0: exact repeats only, and results are the same. The table has columns `skipped` and
        `skipped_error`.
    options
        Common options; `-o` is the sweep's folder, with `table.parquet`.
    """
    options = options or SeededProduct()
    extras.need("arrow")
    from netloom.sweeps import hopeless

    if is_stdin(str(sweep)) or options.output is None or is_stdin(str(options.output)):
        raise UsageError("a sweep names files beside it and its folder is one: neither can be -")
    refuse(_UNFIT, named(dask=dask, slurm=slurm))
    run = Run("sweep", options, folder=True)
    if slurm is not None:
        run.also_writes(slurm, "--slurm")
    check_folder(options.output)
    text = run.read("sweep", str(sweep)).decode(errors="replace")
    prepared = _prepared(run, text, sweep, skip_repeats=skip_repeats)
    with run.timed("read"):
        hopeless.refuse(prepared)
    store = Store(options.output, prepared.spec, prepared.about)
    if slurm is not None:
        return _script(run, prepared, store, slurm, workers or _TASKS)
    with alone_in(options.output):
        store.prepare()
        run.finishing()
        with _executor(run, dask, workers) as (executor, under_way, look):
            outcome = _outcome(run, prepared, store, executor, under_way, look=look, dask=dask)
        by = {"engine": "local" if dask is None else "dask", "workers": under_way}
        return _finished(run, prepared, store, outcome, by)


def part(
    sweep: Path,
    folder: Path,
    number: Annotated[int, options.within(0, 2**31 - 1)],
    count: Annotated[int, options.within(1, 2**31 - 1)],
    /,
    *,
    workers: Annotated[int, options.within(0, 4096)] = 1,
    sum_: str | None = None,
    skip_repeats: Annotated[float | None, SKIP_REPEATS] = None,
    options: Options | None = None,
) -> int:
    """Run one part of a sweep, as a task of a job array.

    `netloom sweep run --slurm` has made the folder. Parts may run at once, on machines that share it. What
    the folder says of itself is compared with the sweep, and never followed.

    Parameters
    ----------
    sweep
        The sweep (.toml).
    folder
        The sweep's folder.
    number
        The number of this part, from 0.
    count
        How many parts there are: this one has every COUNT-th run.
    workers
        Worker processes; 0 is one a core.
    sum_
        What the sweep, its scenario and all files that they name sum up to, as the job script has it: if one
        has changed since, nothing is run.
    skip_repeats
        As in `netloom sweep run` that wrote the script.
    options
        Common options.
    """
    extras.need("arrow")
    if number >= count:
        raise UsageError(f"part {number} of {count}: expected a number from 0 to {count - 1}")
    run = Run("sweep-part", options or Options(), product=False)
    prepared, store = _of_folder(run, sweep, folder, sum_, task=(number, count), skip_repeats=skip_repeats)
    numbers = range(number, prepared.spec.size, count)
    run.finishing()
    with _executor(run, None, workers) as (executor, under_way, look):
        outcome = _outcome(run, prepared, store, executor, under_way, look=look, numbers=numbers)
    _tell_damaged(run, store)
    result = results.part_result(prepared, outcome, number, count, run.seconds)
    return run.finish(
        result,
        lambda: report.part_text(result),
        findings=outcome.failed > 0 or outcome.done < outcome.runs,
        interrupted=outcome.stopped == "interrupted",
    )


def merge(
    sweep: Path,
    folder: Path,
    /,
    *,
    skip_repeats: Annotated[float | None, SKIP_REPEATS] = None,
    options: Seeded | None = None,
) -> int:
    """Join the results of a sweep's parts to one table.

    Parameters
    ----------
    sweep
        The sweep (.toml).
    folder
        The sweep's folder.
    skip_repeats
        As the parts were run.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    extras.need("arrow")
    from netloom.sweeps.engine import Outcome

    run = Run("sweep", options or Seeded(), product=False)
    prepared, store = _of_folder(run, sweep, folder, skip_repeats=skip_repeats)
    with alone_in(folder):
        store.prepare()
        run.keeps()
        store.join()
        done, failed = store.done()
        there = sum(key in done for key in prepared.keys)
        lost = sum(key in failed for key in prepared.keys)
        whole = there == len(prepared.keys)
        outcome = Outcome(len(prepared.keys), there, there, lost, 0.0, None if whole else "incomplete")
        return _finished(run, prepared, store, outcome, {"engine": "merge", "workers": 0})


_UNFIT = exclude("--dask", ("--slurm",), "--dask and --slurm: expected one of them")
_TASKS = 16
"""Of a job array, if nothing is said."""


def _script(run: Run, prepared: Prepared, store: Store, script: Path, tasks: int) -> int:
    """Makes the folder and writes the script of an array."""
    from netloom.sweeps import slurm

    tasks = max(1, min(tasks, prepared.spec.size))
    with alone_in(store.path):
        store.prepare()
        store.join()
        done, failed = store.done()
    more = slurm.options_of(prepared.spec)
    made = slurm.script(prepared.name, prepared.spec.path, prepared.sum, store.path, tasks, more)
    written = run.write(made.encode(errors="surrogateescape"), script)
    there = sum(key in done for key in prepared.keys)
    by = {"engine": "slurm", "workers": tasks}
    told = (len(prepared.keys), there, there, sum(key in failed for key in prepared.keys))
    result = results.script_result(prepared, told, by, written, run.seed)
    return run.finish(
        result,
        lambda: report.script_text(result, str(prepared.spec.path), str(store.path), more),
        findings=False,
    )


@contextlib.contextmanager
def _executor(run: Run, dask: str | None, workers: int) -> Iterator[tuple[Any, int, Callable[[], None]]]:
    """What runs batches, how many at a time, and what raises if it is gone."""
    if dask is None:
        from netloom.sweeps import engine
        from netloom.sweeps.pool import LocalPool

        workers = workers or engine.default_workers()
        with LocalPool(workers) as pool:
            yield pool, workers, lambda: None
        return
    from netloom.sweeps.dask_client import PATIENCE_SECONDS, connected

    left = run.left
    seconds = PATIENCE_SECONDS if left is None else max(0.0, min(left, PATIENCE_SECONDS))
    # Where no scheduler answers, what waits for it is left behind.
    guard.left_behind = True
    try:
        with connected(dask, seconds, lambda: run.interrupted) as (executor, threads, look):
            guard.left_behind = False
            yield executor, workers or threads, look
    except LiveError:
        if guard.left_behind and run.left is not None and run.left <= 0:
            raise TooLate(run.options.time_limit or 0.0) from None
        raise


def _outcome(
    run: Run,
    prepared: Prepared,
    store: Store,
    executor: Any,
    under_way: int,
    *,
    look: Callable[[], None],
    dask: str | None = None,
    numbers: Sequence[int] | None = None,
) -> Outcome:
    """Runs what is not there yet, with a bar."""
    from netloom.sweeps import engine

    def stopped() -> Stopped | None:
        if run.interrupted:
            return "interrupted"
        look()
        left = run.left
        return "time-limit" if left is not None and left <= 0 else None

    with _Bar(run) as bar, run.timed("simulate"):
        outcome = engine.run(
            prepared,
            store,
            executor,
            under_way,
            numbers=numbers,
            engine="the local pool" if dask is None else f"--dask {dask}",
            stopped=stopped,
            progress=bar.report,
        )
    if outcome.stopped == "time-limit" and outcome.done == 0:
        raise TooLate(run.options.time_limit or 0.0)
    return outcome


def _finished(run: Run, prepared: Prepared, store: Store, outcome: Outcome, by: dict[str, Any]) -> int:
    """Writes the table and tells of all."""
    with run.timed("write"):
        table = store.merge(prepared.keys)
    _tell_damaged(run, store)
    _tell_missing(run, outcome)
    path = str(store.path / TABLE)
    result = results.result(prepared, outcome, table, path, by, run.seconds, run.seed)
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result),
        findings=outcome.failed > 0 or outcome.done < outcome.runs,
        interrupted=outcome.stopped == "interrupted",
    )


def _tell_missing(run: Run, outcome: Outcome) -> None:
    if outcome.done < outcome.runs:
        run.note(f"the table has {outcome.done:,} of {outcome.runs:,} runs", kind="warning")


def _tell_damaged(run: Run, store: Store) -> None:
    for name in sorted(set(store.damaged)):
        run.note(f"{store.path / PARTS / name}: damaged, or altered: not read", kind="warning")
    for name in sorted(set(store.strange)):
        told = "its columns or their types are not this sweep's: not read"
        run.note(f"{store.path / PARTS / name}: {told}", kind="warning")


def _prepared(
    run: Run, text: str, sweep: Path, expected: str | None = None, *, skip_repeats: float | None
) -> Prepared:
    from netloom.sweeps.preparation import prepare

    with run.timed("read"):
        prepared = prepare(text, sweep, expected, skip_repeats=skip_repeats)
    run.read("scenario", str(prepared.spec.scenario))
    for role, path in prepared.files:
        run.read(role, str(path))
    return prepared


def _of_folder(
    run: Run,
    sweep: Path,
    path: Path,
    expected: str | None = None,
    task: tuple[int, int] | None = None,
    *,
    skip_repeats: float | None,
) -> tuple[Prepared, Store]:
    """A sweep, and its folder that was made already."""
    if is_stdin(str(sweep)):
        raise UsageError("a sweep names files beside it: it cannot be -")
    text = run.read("sweep", str(sweep)).decode(errors="replace")
    prepared = _prepared(run, text, sweep, expected, skip_repeats=skip_repeats)
    store = Store(path, prepared.spec, prepared.about, task)
    store.join_in(same_text=expected is not None)
    return prepared, store


class _Bar:
    """A bar of runs on a terminal, with the time that is left."""

    def __init__(self, run: Run) -> None:
        self._bars = run.bars()
        self.report: Progress | None = None

    def __enter__(self) -> _Bar:
        bars = self._bars.__enter__()
        if bars is not None:
            task = bars.add_task("sweep", total=None, told="")

            def report_(done: int, total: int, left: float | None) -> None:
                told = f"{done:,} of {total:,} runs" + (
                    "" if left is None else f", {report.clock(left)} left"
                )
                bars.update(task, completed=done, total=total, told=told)

            self.report = report_
        return self

    def __exit__(self, *error: Any) -> None:
        self._bars.__exit__(*error)
