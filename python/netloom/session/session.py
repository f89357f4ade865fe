"""One computation: what it may spend, what it reads, whom it tells.

A verb of the command line makes one (`cli.shared.run.Run`, which keeps sums of inputs, draws progress and
prints notes), a function of the Python API another. What verbs do is written once, for both.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from netloom import reading
from netloom.findings import bad, findings
from netloom.session import STDIO
from netloom.session.arguments import real
from netloom.session.faults import fallbacks, fault_lines
from netloom.session.jobs_file import named_files, raise_in_jobs
from netloom.session.sources import (
    OPTIMISERS,
    ending,
    is_file_or_stdin,
    is_recorded,
    name_of,
    nearest_pattern,
    of_ibdiagnet,
    of_run,
    raise_not_an_engine,
    split_plane,
)
from netloom.shown import units
from netloom.training import collective, models, recorded

if TYPE_CHECKING:
    from rich.progress import Progress

    from netloom._core import Fabric, LinkLoads, Optimized, Routes, Traffic
    from netloom.findings import Finding

_Found = TypeVar("_Found")


class Session:
    """What one computation may spend, what it reads, and whom it tells.

    Parameters
    ----------
    seed : int, optional
        Of everything random, 0 to 2^64 - 1. [default: 0]
    threads : int, default 0
        Threads to use; 0 is one a core.
    work : int, optional
        Stop searching after so many units of work.
    time_limit : float, optional
        Seconds from now on, for all that is computed.
    progress : callable, optional
        Hears of what is done and of all, several times a second.

    Attributes
    ----------
    notes : list of (str, str)
        What was to be told on the way: its kind (`note`, `warning`) and text.
    findings : list of Finding
        What is odd about the routes that were read, as results tell it.
    """

    name_map: Path | None = None
    """A node-name-map, for the switches' names in dumps."""

    def __init__(
        self,
        *,
        seed: int | None = None,
        threads: int = 0,
        work: int | None = None,
        time_limit: float | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        if time_limit is not None:
            time_limit = real("time_limit", time_limit, "seconds, 0 or more")
        self.given_seed, self.seed = seed, seed or 0
        self.threads, self.work, self.time_limit = threads, work, time_limit
        self.notes: list[tuple[str, str]] = []
        self.findings: list[Finding] = []
        self.left_behind = False
        self.heard = progress
        self._inputs: list[dict[str, Any]] = []
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        self._aside = 0.0
        self._names: bytes | None = None

    # What it may spend

    @property
    def left(self) -> float | None:
        """Seconds of the time limit that are left, of all that is computed; None without a limit."""
        if self.time_limit is None:
            return None
        return max(0.0, self._started + self.time_limit - self._aside - time.perf_counter())

    def sets_aside(self, seconds: float) -> None:
        """Keeps seconds of the time limit for checking and writing what is found; at most half."""
        self._aside = min(seconds, (self.left or 0.0) / 2)

    def keeps(self) -> None:
        """From here on there is something to write: the time limit ends what runs, no longer the whole."""

    def finishing(self) -> None:
        """Says that what remains is to write and to report."""

    @property
    def interrupted(self) -> bool:
        """Whether it is to end since `finishing`."""
        return False

    def too_late(self) -> Exception:
        """The error of a time limit that passed before there was anything to keep."""
        return TimeoutError(
            f"the time limit of {self.time_limit:g} s passed before there was anything to keep"
        )

    def unless_late(self, work: Callable[[], _Found], *, least: float = 0.0) -> _Found:
        """Calls what looks at no time limit, on a thread that is left behind where the limit comes first.

        It has `least` seconds whatever the limit is.

        Raises
        ------
        TimeoutError
            If there is no time, or no more.
        """
        if self.left is None:
            return work()
        granted = time.perf_counter() + least
        import threading

        found: list[_Found] = []
        failed: list[BaseException] = []

        def call() -> None:
            try:
                found.append(work())
            except BaseException as error:
                failed.append(error)

        def left() -> float:
            return max(self.left or 0.0, granted - time.perf_counter())

        thread = threading.Thread(target=call, daemon=True)
        if left() > 0:
            thread.start()
        try:
            while thread.is_alive() and (wait := left()) > 0:
                thread.join(min(0.05, wait))
        finally:
            self.left_behind |= thread.is_alive()
        if failed:
            raise failed[0]
        if not found:
            raise TimeoutError("the time limit came before")
        return found[0]

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

    # What it writes

    def write_in(self, folder: Path, name: str, data: bytes) -> str:
        """Writes a file of a folder that is made if need be; a link there is replaced, not followed."""
        from netloom.files import Folder

        self.finishing()
        with self.timed("write"), Folder.open(folder, make=True) as there:
            there.write(name, data)
        return str(folder / name)

    # Whom it tells

    def note(self, text: str, *, kind: str = "note") -> None:
        """Tells a note, or a warning."""
        self.notes.append((kind, text))

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], object] | None]:
        """Yields `report(done, total)` of one step, or None where nobody hears."""
        yield self.heard

    @contextlib.contextmanager
    def bars(self) -> Iterator[Progress | None]:
        """Progress bars, a task each with a text `told`; None where there is no terminal."""
        yield None

    # What it reads

    def fabric(self, source: Fabric | str, *, role: str = "fabric", warn: bool = False) -> Fabric:
        """Reads a dump or makes the fabric that a spec names; `warn` tells of findings."""
        from netloom import _core

        if isinstance(source, _core.Fabric):
            return source
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
            number, name = len(fabric.findings), name_of(source)
            what = f"{units.count(number)} finding{'' if number == 1 else 's'} about {name}"
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
        """The fabric of a dump, or one plane of it, switches named as the node-name-map says."""
        from netloom import _core

        path = self.name_map
        if path is None:
            return _core.Fabric.parse(data, label=label, plane=plane)
        if self._names is None:
            self._names = self.read("name-map", str(path))
        return _core.Fabric.parse(
            data, label=label, name_map=self._names, name_map_label=str(path), plane=plane
        )

    def traffic(
        self,
        source: Traffic | str,
        fabric: Fabric | None,
        *,
        role: str = "traffic",
        collectives: Literal["all", "none"] = "all",
        tell: bool = True,
    ) -> Traffic:
        """Reads traffic, makes the pattern that a spec names, or places a jobs file.

        `collectives` of traces count or not; `tell` says what is not known of it.
        """
        if not isinstance(source, str):
            return source
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
            if collective.named(source) or models.named(source):
                self.note_input(role, source, None)
                kind = models.Step if models.named(source) else collective.Collective
                return kind.parse(source, fabric).traffic(fabric)
            if recorded.is_recording(source):
                return self._nccl(source, role)
            if _core.is_pattern(source):
                self.note_input(role, source, None)
            elif os.path.isfile(source):
                self.read(role, source)
            if is_recorded(source):
                for path in _core.trace_files(source):
                    self.read(role, path)
            try:
                traffic = _core.Traffic.read(source, fabric, seed=self.given_seed, collectives=collectives)
            except FormatError as error:
                if os.path.exists(source) or not (near := nearest_pattern(source)):
                    raise
                raise SpecError(f"{error}; did you mean {near}?") from None
            except OSError as error:
                raise_in_jobs(Path(source), error)
            if ending(Path(source)) == ".toml" and os.path.isfile(source):
                self.note_jobs(Path(source))
            return traffic

    def _nccl(self, folder: str, role: str) -> Traffic:
        """What ranks sent between machines, of a folder that the plug-in for NCCL wrote."""
        from netloom.errors import FormatError

        found = recorded.files(folder)
        if len(found) > recorded.MOST_PROCESSES:
            raise FormatError(f"{folder}: expected at most {recorded.MOST_PROCESSES:,} files of processes")
        processes = [recorded.parse(self.read(role, str(path)), str(path)) for path in found]
        traffic, notes = recorded.traffic(processes, folder)
        for text in notes:
            self.note(f"{folder}: {text}")
        return traffic

    def routes(
        self,
        source: Routes | str,
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

        if isinstance(source, _core.Routes):
            return source
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
                return _core.route(source, fabric, seed=self.seed, threads=self.threads)
        with self.timed("read"):
            if not is_file_or_stdin(source):
                raise_not_an_engine(
                    source, "neither a file nor an engine", with_traffic=traffic is not None, others=others
                )
            data = self.read("routes", source)
            routes = _core.Routes.parse(data, fabric, label=source, strict=strict)
        if strict:
            faults = list(fault_lines(routes.faults, source))
            self.findings += faults
            for fault in faults:
                self.note(fault["text"])
        return routes

    def with_paths(self, tables: Routes, file: Path | None) -> Routes:
        """The same tables with the paths of a file, if one is given: which address every pair uses."""
        if file is None:
            return tables
        data = self.read("paths", str(file))
        with self.timed("read"):
            return tables.with_paths(data, label=str(file))

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

        self.keeps()
        return _core.loads(
            fabric,
            routes,
            traffic,
            threads=self.threads,
            work=self.work,
            time_limit=self.left,
        )

    def scheme_loads(self, fabric: Fabric, traffic: Traffic, scheme: str) -> LinkLoads:
        """What a scheme carries, within the budgets given."""
        from netloom import _core

        self.keeps()
        with self.progress("loads") as progress:
            return _core.scheme_loads(
                fabric,
                traffic,
                scheme,  # type: ignore[arg-type] # one of `SCHEMES`
                threads=self.threads,
                work=self.work,
                time_limit=self.left,
                progress=progress,
            )

    def ecmp_loads(
        self, fabric: Fabric, traffic: Traffic, *, pairs: int, draws: int
    ) -> tuple[LinkLoads, list[float]]:
        """Loads of flows that choose by a hash: the median draw's, and the largest load of every draw."""
        from netloom import _core

        self.keeps()
        return _core.ecmp_loads(
            fabric,
            traffic,
            pairs=pairs,
            draws=draws,
            seed=self.seed,
            threads=self.threads,
            work=self.work,
            time_limit=self.left,
        )

    def made_for(self, name: str, fabric: Fabric, traffic: Traffic) -> Optimized:
        """Routes made for a traffic by AFAR, one colouring or the optimiser, within the budgets given."""
        from netloom import _core

        self.keeps()
        with self.progress(name) as progress:
            if name == "afar":
                return _core.afar(
                    fabric,
                    traffic,
                    time_limit=self.left,
                    max_iterations=self.work,
                    progress=progress,
                )
            if name == "coloured":
                return _core.coloured(fabric, traffic, seed=self.seed, threads=self.threads)
            return _core.optimize(
                fabric,
                traffic,
                seed=self.seed,
                threads=self.threads,
                work=self.work,
                time_limit=self.left,
                progress=progress,
            )

    def read(self, role: str, source: str) -> bytes:
        """Reads a whole file, an input in the `role` of `fabric`, `traffic`, …, and notes its sha256."""
        data = reading.whole(source, pipes=True)
        self.note_input(role, source, hashlib.sha256(data).hexdigest())
        return data

    def note_input(self, role: str, source: str, sha256: str | None) -> None:
        """Adds an input to what a result comes from; generated ones have no sha256."""
        self._inputs.append({"role": role, "source": name_of(source), "sha256": sha256})

    def origin(self) -> dict[str, Any]:
        """What a result comes from: version, inputs, seed."""
        from netloom import __version__

        return {"netloom": __version__, "inputs": self._inputs, "seed": self.given_seed}

    def note_jobs(self, jobs: Path) -> None:
        """Adds the files that a jobs file names, once it has been read and is known to be right."""
        files = named_files(jobs)
        if files is None:
            self.note(f"{jobs}: this Python cannot read it, so the files it names are not among the inputs")
        for role, path in files or ():
            self.read(role, str(path))


def stopped_text(reason: str, *, proven: bool = False) -> str:
    """Why a search ended early, and what its result is worth."""
    if reason == "lanes":
        return (
            "ways with less load on the fullest link were found, and need more lanes than --max-lanes allows"
        )
    why = {"time-limit": "time limit", "work": "the work budget is spent"}.get(reason, reason)
    if proven:
        return f"{why}, after the best was found and proven"
    more = " (--work N searches longer)" if reason == "work" else ""
    return f"{why}: the best so far{more}"
