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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from netloom import extras, reading
from netloom.cli.shared import guard, render, streams
from netloom.cli.shared.exits import FINDINGS, INTERRUPTED, STDIO, UsageError
from netloom.cli.shared.inputs import (
    OPTIMISERS,
    fallbacks,
    fault_lines,
    is_file_or_stdin,
    is_recorded,
    nearest_pattern,
    of_ibdiagnet,
    of_run,
    raise_not_an_engine,
    split_plane,
)
from netloom.cli.shared.jobs_file import named_files, raise_in_jobs
from netloom.cli.shared.options import Options
from netloom.cli.shared.outputs import check_writable, ending, same_file, scalars
from netloom.cli.shared.results import stopped_text
from netloom.findings import bad, findings

if TYPE_CHECKING:
    from rich.progress import Progress

    from netloom._core import Fabric, LinkLoads, Optimized, Routes, Traffic
    from netloom.findings import Finding

_Found = TypeVar("_Found")


class Run:
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
    searches : bool
        Whether there is a search that `--work` can stop; if not, giving that gets a note. `--time-limit`
        holds for every verb (`guard`).

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
        searches: bool = False,
    ) -> None:
        self.verb = verb
        self.options = options
        self.seed = options.seed or 0
        self._product = product
        self._inputs: list[dict[str, Any]] = []
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        self._stdin_used = False
        self._names: bytes | None = None
        self._interrupt = streams.DeferredInterrupt()
        self._outputs: list[Path] = []
        self.findings: list[Finding] = []
        """What is odd about the routes that were read, as results tell it."""
        if options.max_input is not None:
            reading.allow(options.max_input)
        self._limit = None if options.time_limit is None else guard.limit(options.time_limit, self._started)
        if options.work is not None and not searches:
            self.note("--work: not used, nothing is searched for here")
        if self.product_to_stdout and options.format != "text":
            raise UsageError(f"-o - and --format {options.format} would both write to standard output")
        if options.output is not None and not folder and not self.product_to_stdout:
            if endings is not None and not str(options.output).endswith(tuple(endings)):
                raise UsageError(f"{options.output}: expected an ending of {', '.join(endings)}")
            if endings is not None and ending(options.output) == ".parquet":
                extras.need("arrow")
            check_writable(options.output)
            self._outputs.append(options.output)

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
        if any(same_file(path, other) for other in self._outputs):
            raise UsageError(f"-o and {option} are the same file, {path}")
        self._outputs.append(path)

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

    def unless_late(self, work: Callable[[], _Found]) -> _Found:
        """Calls what looks at no time limit, on a thread that is left behind where the limit comes first.

        Raises
        ------
        TimeoutError
            If there is no time, or no more.
        """
        if self.left is None:
            return work()
        import threading

        found: list[_Found] = []
        failed: list[BaseException] = []

        def call() -> None:
            try:
                found.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=call, daemon=True)
        if self.left > 0:
            thread.start()
        try:
            while thread.is_alive() and self.left > 0:
                thread.join(min(0.05, self.left))
        finally:
            guard.left_behind |= thread.is_alive()
        if failed:
            raise failed[0]
        if not found:
            raise TimeoutError("the time limit came before")
        return found[0]

    def keeps(self) -> None:
        """From here on there is something to write: the time limit ends what runs, no longer the command."""
        if self._limit is not None:
            self._limit.keeps()

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by step so far."""
        return dict(self._seconds)

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Adds the seconds of the block to `seconds[what]`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[what] = self._seconds.get(what, 0.0) + time.perf_counter() - start

    # Inputs

    def fabric(self, source: str, *, role: str = "fabric", warn: bool = False) -> Fabric:
        """Reads a dump or makes the fabric that a spec names; `warn` tells of findings on standard error."""
        from netloom import _core

        with self.timed("read"):
            if _core.is_generator(source):
                self.note_input(role, source, None)
                return _core.Fabric.generate(source)
            source, plane = split_plane(source)
            if not is_file_or_stdin(source):
                # Says what was expected, better than "no such file" alone.
                return _core.Fabric.read(source)
            data = self.read(role, source)
            with of_ibdiagnet(source):
                fabric = self.parsed(data, source, plane)
        self.note_planes(fabric)
        if warn and fabric.findings:
            number, name = len(fabric.findings), "-" if source == STDIO else source
            what = f"{render.count(number)} finding{'' if number == 1 else 's'} about {name}"
            kind = "warning" if bad(findings(fabric.findings)) else "note"
            self.note(f"{what}; `netloom fabric show` lists them", kind=kind)
        return fabric

    def note_planes(self, fabric: Fabric) -> None:
        """Tells which plane of a file is taken, where nobody said."""
        for one in fabric.findings:
            if one["kind"] == "planes":
                self.note(one["text"])

    def note_fallbacks(self, words: Iterable[str], fabric: Fabric) -> list[Finding]:
        """Tells which of these routings are not ftree's, though they should be; for the result's findings."""
        found = fallbacks(words, fabric)
        for one in found:
            self.note(one["text"])
        return found

    def parsed(self, data: bytes, label: str, plane: str | None = None) -> Fabric:
        """The fabric of a dump, or one plane of it, switches named as `--name-map` says."""
        from netloom import _core

        path = self.options.name_map
        if path is None:
            return _core.Fabric.parse(data, label=label, plane=plane)
        if self._names is None:
            self._names = self.read("name-map", str(path))
        return _core.Fabric.parse(
            data, label=label, name_map=self._names, name_map_label=str(path), plane=plane
        )

    def traffic(
        self,
        source: str,
        fabric: Fabric | None,
        *,
        role: str = "traffic",
        collectives: Literal["all", "none"] = "all",
        tell: bool = True,
    ) -> Traffic:
        """Reads traffic, makes the pattern that a spec names, or places a jobs file.

        `collectives` of traces count or not; `tell` says on standard error what is not known of it.
        """
        traffic = self._traffic(source, fabric, role, collectives)
        for _, text in traffic.notes if tell else ():
            self.note(f"{source}: {text}")
        return traffic

    def _traffic(
        self, source: str, fabric: Fabric | None, role: str, collectives: Literal["all", "none"]
    ) -> Traffic:
        from netloom import _core
        from netloom.errors import FormatError, SpecError

        source = of_run(source, "jobs.toml")
        with self.timed("read"):
            if source == STDIO:
                data = self.read(role, source)
                format = _core.traffic_format(data)
                return _core.Traffic.parse(data, format, label=source, collectives=collectives)
            if _core.is_pattern(source):
                self.note_input(role, source, None)
            elif os.path.isfile(source):
                self.read(role, source)
            if is_recorded(source):
                for path in _core.trace_files(source):
                    self.read(role, path)
            try:
                traffic = _core.Traffic.read(source, fabric, seed=self.options.seed, collectives=collectives)
            except FormatError as error:
                if os.path.exists(source) or not (near := nearest_pattern(source)):
                    raise
                raise SpecError(f"{error}; did you mean {near}?") from None
            except OSError as error:
                raise_in_jobs(Path(source), error)
            if ending(Path(source)) == ".toml" and os.path.isfile(source):
                self.note_jobs(Path(source))
            return traffic

    def routes(
        self,
        source: str,
        fabric: Fabric,
        traffic: Traffic | None,
        *,
        strict: bool = True,
        others: Sequence[str] = (),
    ) -> Routes:
        """Reads a file of routes, or makes those of the engine that `source` names.

        `afar`, `coloured` and `optimize` are engines too where there is traffic; `others` are names that the
        verb takes instead of tables, for the error.
        """
        from netloom import _core

        if source in OPTIMISERS and traffic is not None:
            self.note_input("routes", source, None)
            with self.timed("route"):
                made = self.made_for(source, fabric, traffic)
            # What asks for routes shows them beside others: half a search is no result of theirs.
            if made.stopped == "interrupted":
                raise KeyboardInterrupt
            if made.stopped == "time-limit":
                self.note(f"{source}: {stopped_text(made.stopped, proven=made.proven_optimal)}")
            return made.routes
        if _core.is_engine(source):
            self.note_input("routes", source, None)
            self.findings += self.note_fallbacks([source], fabric)
            with self.timed("route"):
                return _core.route(source, fabric, seed=self.seed, threads=self.options.threads)
        with self.timed("read"):
            if not is_file_or_stdin(source):
                raise_not_an_engine(
                    source, "neither a file nor an engine", with_traffic=traffic is not None, others=others
                )
            data = self.read("routes", source)
            routes = _core.Routes.parse(data, fabric, label=source, strict=strict)
        if strict:
            self.findings = list(fault_lines(routes.faults, source))
            for finding in self.findings:
                self.note(finding["text"])
        return routes

    @contextlib.contextmanager
    def blaming(self, source: str) -> Iterator[None]:
        """Names the file of routes in what is said of them; an engine's own need no name."""
        from netloom import _core
        from netloom.errors import RoutingError

        try:
            yield
        except RoutingError as error:
            if _core.is_engine(source) or source in OPTIMISERS:
                raise
            raise RoutingError(f"{source}: {error}") from None

    def loads(self, fabric: Fabric, routes: Routes, traffic: Traffic) -> LinkLoads:
        """Loads and bounds, within the budgets given."""
        from netloom import _core

        options = self.options
        self.keeps()
        return _core.loads(
            fabric,
            routes,
            traffic,
            threads=options.threads,
            work=options.work,
            time_limit=self.left,
        )

    def made_for(self, name: str, fabric: Fabric, traffic: Traffic) -> Optimized:
        """Routes made for a traffic by AFAR, one colouring or the optimiser, within the budgets given."""
        from netloom import _core

        options = self.options
        self.keeps()
        with self.progress(name) as progress:
            if name == "afar":
                return _core.afar(
                    fabric,
                    traffic,
                    time_limit=self.left,
                    max_iterations=options.work,
                    progress=progress,
                )
            if name == "coloured":
                return _core.coloured(fabric, traffic, seed=self.seed, threads=options.threads)
            return _core.optimize(
                fabric,
                traffic,
                seed=self.seed,
                threads=options.threads,
                work=options.work,
                time_limit=self.left,
                progress=progress,
            )

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
            for output in self._outputs:
                if same_file(output, Path(source)):
                    raise UsageError(f"{output} would be written over: it is the {role} that is read")
            data = reading.whole(source, pipes=True)
        self.note_input(role, source, hashlib.sha256(data).hexdigest())
        return data

    def note_input(self, role: str, source: str, sha256: str | None) -> None:
        """Adds an input to the envelope; generated ones have no sha256."""
        self._inputs.append({"role": role, "source": "-" if source == STDIO else source, "sha256": sha256})

    def note_jobs(self, jobs: Path) -> None:
        """Adds the files that a jobs file names, once it has been read and is known to be right."""
        files = named_files(jobs)
        if files is None:
            self.note(f"{jobs}: this Python cannot read it, so the files it names are not among the inputs")
        for role, path in files or ():
            self.read(role, str(path))

    # Outputs

    def origin(self) -> dict[str, Any]:
        """What a result comes from: version, inputs, seed."""
        from netloom import __version__

        return {"netloom": __version__, "inputs": self._inputs, "seed": self.options.seed}

    def write(
        self, data: bytes | Routes, path: Path | None = None, *, allow_unreachable: bool = False
    ) -> str | None:
        """Writes the product to `path` or where `-o` says: whole or not at all.

        Routes, switch by switch (their text can be larger than memory), only if they cannot deadlock and
        (unless allowed) lose no pairs of hosts. Returns the path; None without one, or for standard output.
        """
        from netloom import _core

        path = self.options.output if path is None else path
        if path is None:
            return None
        self.finishing()
        with self.timed("write"):
            if not isinstance(data, bytes):
                data.check_file(allow_unreachable=allow_unreachable)
            if str(path) == STDIO:
                sys.stdout.buffer.write(data if isinstance(data, bytes) else data.to_bytes())
                sys.stdout.buffer.flush()
                return None
            if isinstance(data, bytes):
                _core.write_atomic(path, data)
                return str(path)
            guard.writing = True
            try:
                data.write(path, allow_unreachable=allow_unreachable)
            finally:
                guard.writing = False
        return str(path)

    def write_in(self, folder: Path, name: str, data: bytes) -> str:
        """Writes a file of a folder that is made if need be; a link there is replaced, not followed."""
        from netloom.files import Folder

        self.finishing()
        with self.timed("write"), Folder.open(folder, make=True) as there:
            there.write(name, data)
        return str(folder / name)

    def finish(
        self,
        result: Mapping[str, Any],
        text: Callable[[], str],
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        findings: bool | None = None,
        interrupted: bool = False,
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
        """
        self.finishing()
        if self.options.name_map is not None and self._names is None:
            self.note("--name-map: not used, no dump of a fabric was read here")
        kind = self.options.format
        self._seconds["total"] = time.perf_counter() - self._started
        if self._limit is not None and (late := self._limit.late):
            self.note(late)
        document = {
            "schema": f"netloom.{self.verb}/1",
            **self.origin(),
            "threads": self.options.threads or os.cpu_count() or 1,
            "seconds": {key: round(value, 6) for key, value in self._seconds.items()},
            "result": result,
        }
        if not self._product and self.options.output is not None:
            self._write_result(document, result, rows, text)
        elif kind == "json":
            print(render.as_json(document))
        elif kind == "csv":
            print(render.as_csv(rows if rows is not None else [scalars(result)]))
        elif not self.options.quiet and not self.product_to_stdout:
            streams.report(text)
        if interrupted or self._interrupt.seen:
            sys.stdout.flush()
            print("netloom: interrupted", file=sys.stderr)
            return INTERRUPTED
        return FINDINGS if (bad(result.get("findings", ())) if findings is None else findings) else 0

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
