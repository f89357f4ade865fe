"""`netloom sweep`: a scenario again and again with keys varied, on local processes, as one table."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import inputs, options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import ProductOptions
from netloom.cli.shared.run import Run
from netloom.cli.sweep import report

if TYPE_CHECKING:
    from netloom.sweeps.engine import Outcome, Progress, Stopped
    from netloom.sweeps.preparation import Prepared


def run(
    sweep: Path,
    /,
    *,
    workers: Annotated[int, options.within(0, 4096)] = 0,
    options: ProductOptions | None = None,
) -> int:
    """Run a scenario again and again with keys varied, and write all as one table.

    What is in the folder already is not run again: the same command goes on where it was stopped or killed,
    and a larger sweep only adds. Ctrl-C, SIGTERM and `--time-limit` end it; what is done is kept.

    Parameters
    ----------
    sweep
        A sweep (.toml): a scenario, what varies, which result keys are kept.
    workers
        Worker processes; 0 is one a core.
    options
        Common options; `-o` is the sweep's folder, with `table.parquet`.
    """
    options = options or ProductOptions()
    if inputs.is_stdin(str(sweep)) or options.output is None or inputs.is_stdin(str(options.output)):
        raise UsageError("a sweep names files beside it and its folder is one: neither can be -")
    run = Run("sweep", options, folder=True)
    _check_folder(options.output)
    prepared = _prepared(run, sweep)
    return _local(run, prepared, options.output, workers)


def _local(run: Run, prepared: Prepared, output: Path, workers: int) -> int:
    from netloom.runs.lock import alone_in
    from netloom.sweeps import engine
    from netloom.sweeps.pool import LocalPool
    from netloom.sweeps.store import Store

    workers = workers or engine.default_workers()
    store = Store(output, prepared.spec, prepared.about)
    with alone_in(output):
        store.prepare()
        run.finishing()
        with LocalPool(workers) as pool, _Bar(run) as bar, run.timed("simulate"):
            outcome = engine.run(
                prepared,
                store,
                pool,
                workers,
                engine="the local pool",
                stopped=lambda: _stopped(run),
                progress=bar.report,
            )
        return finished(run, prepared, store, outcome, {"engine": "local", "workers": workers})


def finished(run: Run, prepared: Prepared, store: Any, outcome: Outcome, by: dict[str, Any]) -> int:
    """Writes the table and tells of all."""
    with run.timed("write"):
        table = store.merge(prepared.keys)
    for name in sorted(set(store.damaged)):
        run.note(f"{store.path / 'parts' / name}: damaged, or altered: not read", kind="warning")
    result = report.result(
        prepared, outcome, table, str(store.path / "table.parquet"), by, run.seconds, run.seed
    )
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result),
        findings=outcome.failed > 0,
        interrupted=outcome.stopped == "interrupted",
    )


def _prepared(run: Run, sweep: Path) -> Prepared:
    from netloom.sweeps.preparation import prepare

    text = run.read("sweep", str(sweep)).decode(errors="replace")
    with run.timed("read"):
        prepared = prepare(text, sweep)
    run.read("scenario", str(prepared.spec.scenario))
    for role, path in prepared.files:
        run.read(role, str(path))
    return prepared


def _stopped(run: Run) -> Stopped | None:
    if run.interrupted:
        return "interrupted"
    left = run.left
    return "time-limit" if left is not None and left <= 0 else None


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


def _check_folder(path: Path) -> None:
    """Refuses what cannot be a sweep's folder, before anything is read."""
    if path.is_dir():
        if not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, "not writable", str(path))
    elif path.exists():
        raise OSError(errno.ENOTDIR, "is a file, expected a folder", str(path))
    elif not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"there is no folder {path.parent}", str(path))
    elif not os.access(path.parent, os.W_OK):
        raise OSError(errno.EACCES, "not writable", str(path.parent))
