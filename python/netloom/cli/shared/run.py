"""What every verb shares: inputs, output files, progress, the result's envelope.

A verb makes one [`Run`], reads its inputs through it, writes its product through it, and ends with
`return run.finish(…)`. So sha256 sums, timings and formats are the same everywhere. `options`, `inputs` and
`outputs` hold what needs no run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import extras, reading
from netloom.cli.shared import guard, render, streams
from netloom.cli.shared.exits import FINDINGS, INTERRUPTED, STDIO, UsageError
from netloom.cli.shared.options import Options, Searching, Seeded, Threaded
from netloom.cli.shared.outputs import check_writable, same_file, scalars
from netloom.findings import bad
from netloom.session.session import Session
from netloom.session.sources import ending

if TYPE_CHECKING:
    from rich.progress import Progress

    from netloom._core import Routes


class Run(Session):
    """One run of one verb.

    Parameters
    ----------
    verb : str
        Names the result's schema (`fabric-show`).
    options : Options
        As given.
    product : bool
        Whether `-o` takes a product; otherwise it takes the result itself.
    endings : sequence of str, optional
        What the product's file name may end in.
    folder : bool
        Whether the product is a folder, made if need be.

    Raises
    ------
    UsageError, OSError
        If the product could not be written: said before anything is computed.
    """

    def __init__(
        self,
        verb: str,
        options: Options,
        *,
        product: bool = True,
        endings: Sequence[str] | None = None,
        folder: bool = False,
    ) -> None:
        super().__init__(
            seed=options.seed if isinstance(options, Seeded) else None,
            threads=options.threads if isinstance(options, Threaded) else 0,
            work=options.work if isinstance(options, Searching) else None,
            time_limit=options.time_limit,
        )
        self.verb = verb
        self.options = options
        self.name_map = options.name_map
        self._product = product
        self._stdin_used = False
        self._interrupt = streams.DeferredInterrupt()
        self._outputs: list[tuple[str, Path]] = []
        if options.max_input is not None:
            reading.allow(options.max_input)
        self._limit = None if options.time_limit is None else guard.limit(options.time_limit, self._started)
        if self.product_to_stdout and options.format != "text":
            raise UsageError(f"-o - and --format {options.format} would both write to standard output")
        if options.output is not None and not folder and not self.product_to_stdout:
            if endings is not None and not str(options.output).endswith(tuple(endings)):
                raise UsageError(f"{options.output}: expected an ending of {', '.join(endings)}")
            if endings is not None and ending(options.output) == ".parquet":
                extras.need("arrow")
            check_writable(options.output)
        if options.output is not None and not self.product_to_stdout:
            self._outputs.append(("-o", options.output))

    def also_writes(self, path: Path, option: str) -> None:
        """Says, before anything is computed, that a second file is written.

        Raises
        ------
        UsageError, OSError
            If that cannot be.
        """
        if str(path) == STDIO:
            if self.product_to_stdout:
                raise UsageError(f"-o - and {option} - would both write to standard output")
            if self.options.format != "text" or not self.options.quiet:
                raise UsageError(f"{option} - needs -q: the report would go there too")
            return
        check_writable(path)
        for other, taken in self._outputs:
            if same_file(path, taken):
                raise UsageError(f"{other} and {option} are the same file, {path}")
        self._outputs.append((option, path))

    def finishing(self) -> None:
        """Says that what remains is to write and to report: Ctrl-C no longer stops it."""
        self.keeps()
        self._interrupt.start()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came since `finishing`."""
        return self._interrupt.seen

    @property
    def product_to_stdout(self) -> bool:
        """Whether `-o -` was given."""
        return self.options.output is not None and str(self.options.output) == STDIO

    @property
    def has_product(self) -> bool:
        """Whether there is a product to write."""
        return self._product and self.options.output is not None

    @property
    def left(self) -> float | None:
        """Seconds of `--time-limit` that are left, of all that the command does; None without a limit."""
        return None if self._limit is None else self._limit.left

    def sets_aside(self, seconds: float) -> None:
        """Keeps seconds of `--time-limit` for checking and writing what is found."""
        if self._limit is not None:
            self._limit.sets_aside(seconds)

    def keeps(self) -> None:
        """From here on there is something to write: the time limit ends what runs, no longer the command."""
        if self._limit is not None:
            self._limit.keeps()

    def too_late(self) -> Exception:
        """The error of a time limit that passed before there was anything to keep."""
        return guard.TooLate(self.time_limit or 0.0)

    @property
    def left_behind(self) -> bool:
        """Whether a thread still computes what nobody waits for."""
        return guard.left_behind

    @left_behind.setter
    def left_behind(self, value: bool) -> None:
        guard.left_behind |= value

    def read(self, role: str, source: str) -> bytes:
        """Reads a whole file (or standard input) and notes its sha256."""
        if source == STDIO:
            if self._stdin_used:
                raise UsageError("only one input can come from standard input (-)")
            self._stdin_used = True
            try:
                data = reading.stream(sys.stdin.buffer)
            except OSError as error:
                raise OSError(error.errno, error.strerror, "standard input") from None
        else:
            for _, output in self._outputs:
                if same_file(output, Path(source)):
                    raise UsageError(f"{output} would be written over: it is the {role} that is read")
            return super().read(role, source)
        self.note_input(role, source, hashlib.sha256(data).hexdigest())
        return data

    # Outputs

    def write(
        self,
        data: bytes | Routes,
        path: Path | None = None,
        *,
        holes: bool = False,
        lanes: bool = False,
        levels: bool = False,
    ) -> str | None:
        """Writes the product to `path` or where `-o` says: whole or not at all.

        Routes, switch by switch (their text can be larger than memory), only if they may be written, if need
        be with `holes`, or if their `lanes` and `levels` are written too. Returns the path; None without one,
        or for standard output.
        """
        from netloom import _core

        path = self.options.output if path is None else path
        if path is None:
            return None
        self.finishing()
        with self.timed("write"):
            if not isinstance(data, bytes):
                data.check_file(allow_unreachable=holes, lanes=lanes, levels=levels)
            if str(path) == STDIO:
                sys.stdout.buffer.write(data if isinstance(data, bytes) else data.to_bytes())
                sys.stdout.buffer.flush()
                return None
            if isinstance(data, bytes):
                _core.write_atomic(path, data)
                return str(path)
            guard.writing = True
            try:
                data.write(path, allow_unreachable=holes, lanes=lanes, levels=levels)
            finally:
                guard.writing = False
        return str(path)

    def finish(
        self,
        result: Mapping[str, Any],
        text: Callable[[], str],
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        findings: bool | None = None,
        interrupted: bool = False,
        stopped: str | None = None,
    ) -> int:
        """Prints the result and returns the exit code.

        Parameters
        ----------
        result : mapping
            The object that JSON holds.
        text : callable
            Makes the text for people, if that is asked for.
        rows : sequence of mappings, optional
            What CSV holds; by default one row with what is not a list in `result`.
        findings : bool, optional
            Whether there is something that exits 1; by default, whether `result["findings"]` has an error or
            a warning.
        interrupted : bool
            For the exit code.
        stopped : str, optional
            Why the result is a part of what was asked for: `time-limit` exits 124, `interrupted` 130.
        """
        self.finishing()
        if self.options.name_map is not None and self._names is None:
            self.note("--name-map: not used, no dump of a fabric was read here")
        kind = self.options.format
        if self._limit is not None and (late := self._limit.late):
            self.note(late)
        document = self.document(result)
        if not self._product and self.options.output is not None:
            self._write_result(document, result, rows, text)
        elif kind == "json":
            print(render.as_json(document))
        elif kind == "csv":
            print(render.as_csv(rows if rows is not None else [scalars(result)]))
        elif not self.options.quiet and not self.product_to_stdout:
            streams.report(text)
        if interrupted or stopped == "interrupted" or self._interrupt.seen:
            sys.stdout.flush()
            print("netloom: interrupted", file=sys.stderr)
            return INTERRUPTED
        if stopped == "time-limit":
            return guard.TOO_LATE
        return FINDINGS if (bad(result.get("findings", ())) if findings is None else findings) else 0

    def document(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result in its envelope, as JSON holds it."""
        self._seconds["total"] = time.perf_counter() - self._started
        return {
            "schema": f"netloom.{self.verb}/1",
            **self.origin(),
            "threads": self.threads or os.cpu_count() or 1,
            "seconds": {key: round(value, 6) for key, value in self._seconds.items()},
            "result": result,
        }

    def _write_result(
        self,
        document: Mapping[str, Any],
        result: Mapping[str, Any],
        rows: Sequence[Mapping[str, Any]] | None,
        text: Callable[[], str],
    ) -> None:
        kind = {".json": "json", ".csv": "csv"}.get(ending(self.options.output), self.options.format)
        if kind == "json":
            whole = render.as_json(document)
        elif kind == "csv":
            whole = render.as_csv(rows if rows is not None else [scalars(result)])
        else:
            whole = render.arrows(text())
        self.write(f"{whole}\n".encode())

    def note(self, text: str, *, kind: str = "note") -> None:
        """A note, or a warning, on standard error, unless quiet."""
        if not self.options.quiet:
            print(render.line(f"netloom: {kind}: {text}"), file=sys.stderr)

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A progress bar on standard error, only on a terminal; yields `report(done, total)` or None."""
        with self.bars() as bars:
            if bars is None:
                yield None
                return
            task = bars.add_task(what, total=None, told="")

            def report(done: int, total: int) -> None:
                told = f"{100 * done // total} %" if total else "running"
                bars.update(task, completed=done, total=total or None, told=told)

            yield report

    @contextlib.contextmanager
    def bars(self) -> Iterator[Progress | None]:
        """Progress bars on standard error, a task each with a text `told`; only on a terminal, else None."""
        if self.options.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        # Names are text as given, not rich's markup.
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[told]}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            yield bars
