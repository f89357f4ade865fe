"""`netloom watch`: a fabric while it runs, on a terminal or for Prometheus."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.jobs import Adapters
from netloom.cli.shared.options import Options
from netloom.cli.shared.reach import Reach, discovered
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.counting import reading as counted
from netloom.errors import CountersError, LiveError, NetloomError
from netloom.findings import Finding, finding, findings
from netloom.watch import screen

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Job
    from netloom.live import Access
    from netloom.watch.journals import Told
    from netloom.watch.picture import Picture
    from netloom.watch.sources import Fetched, Held, Polled, Reading

_FOREIGN = "this looks like another fabric's file"
"""What the reader of counters says of those that do not fit."""

_UNFIT = (
    *need(("--output",), ("--once",), "-o needs --once: one picture to write"),
    *exclude("--once", ("--prometheus",), "--once ends, --prometheus stays: expected one of them"),
    *exclude(
        "--counters-from",
        ("--sim", "--ca", "--port"),
        "--counters-from are read instead of polling: expected no --sim, --ca or --port beside it",
    ),
)


def watch(
    fabric: str | None = None,
    /,
    *,
    counters_from: str | None = None,
    jobs: Path | None = None,
    journal: list[Path] | None = None,
    every: Annotated[float, options.within(0.05, 86400.0)] = 5.0,
    once: bool = False,
    prometheus: str | None = None,
    hosts: bool = False,
    hottest: Annotated[int, options.COUNT] = 10,
    adapters: Adapters | None = None,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """A fabric while it runs: load by level, hottest links, congestion, jobs, the loop's last decisions.

    Polls the counters of all ports, never sets any back, and shows what was carried since the last time.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`. [default: discovered now]
    counters_from
        Counters that somebody else reads, instead of polling: an exporter's URL, a folder of textfiles or
        sysfs trees; or a file of intervals, such as a simulation's, which is shown interval by interval.
    jobs
        A jobs file (.toml), or what `squeue --json` or `sacct` printed: shows what every job's hosts send and
        receive.
    journal
        The folder of a loop's journal, or of an OpenSM's changes; several may be given. [default: that of the
        OpenSM that runs here]
    every
        Seconds from one picture to the next.
    once
        One picture, over one interval, then ends.
    prometheus
        Also serve these metrics on this address, with the names and units of the usual exporters: `:9900` for
        this machine alone, `0.0.0.0:9900` or `[::]:9900` for others too.
    hosts
        Polls adapters too, not only switches.
    hottest
        How many links to list.
    options
        Common options; `-o` writes the last picture (.json, .csv), with `--once`.
    """
    options = options or Options()
    given = named(
        reach or Reach(),
        output=options.output,
        once=once,
        prometheus=prometheus,
        counters_from=counters_from,
    )
    refuse(_UNFIT, given)
    if options.format != "text" and not once:
        raise UsageError(f"--format {options.format} needs --once")
    if prometheus is not None:
        from netloom.watch.exporter import place

        try:
            place(prometheus)
        except LiveError as error:
            raise UsageError(str(error)) from None
    run = Run("watch", options, product=False)
    adapters = adapters or Adapters()
    adapters.check(jobs)
    watching = _Watch(
        run, fabric, counters_from, jobs, adapters, journal or [], hottest, reach or Reach(), hosts
    )
    with contextlib.ExitStack() as stack:
        page = None
        if prometheus is not None:
            from netloom.watch.exporter import serving

            page, url = stack.enter_context(serving(prometheus))
            run.note(f"serving {url}")
        pictures = watching.pictures(stack, every, once)
        if once:
            picture, told = next(pictures)
            if picture is None:
                raise watching.error or LiveError("nothing was seen")
            result, drawn = watching.result(picture, told), watching.drawn(picture, told)
            return run.finish(result, lambda: text(*drawn), rows=result["levels"])
        show = stack.enter_context(_shown(quiet=options.quiet))
        for picture, told in pictures:
            if page is not None:
                page.put(watching.metrics(picture, told))
            if picture is not None:
                show(*watching.drawn(picture, told))
            elif watching.error is not None:
                show([f"trouble: {watching.error}"], [])
    return 0


@dataclass
class _Watch:
    """What is watched, and the last that was seen."""

    run: Run
    fabric: str | None
    counters: str | None
    jobs_file: Path | None
    adapters: Adapters
    folders: list[Path]
    most: int
    reach: Reach
    hosts: bool
    what: str = ""
    error: NetloomError | OSError | MemoryError | None = None
    reading: Reading | None = None
    polls: int = 0
    failures: int = 0
    mads: int = 0
    stale_s: float = 0.0
    """For how long no counter has changed, of counters that somebody else reads."""
    first: Fabric | None = None
    """The fabric as it was at first."""
    net: Fabric = field(init=False)
    jobs: list[Job] = field(default_factory=list)
    port_errors: list[Finding] = field(default_factory=list)
    """What the error counters of the last interval say."""
    odd: list[Finding] = field(default_factory=list)
    """What of the journals is damaged."""

    def pictures(
        self, stack: contextlib.ExitStack, every: float, once: bool
    ) -> Iterator[tuple[Picture | None, Told]]:
        """A picture every so often, None where none could be had; what cannot work at all is an error."""
        from netloom.watch import journals

        for folder in self.folders:
            journals.check(folder)
        access: Access | None = None
        if self.counters is None:
            access = self.reach.access()
            self.net = discovered(self.run, access, self.fabric)
            self.what = access.what
        else:
            if self.fabric is None:
                raise UsageError("--counters-from needs FABRIC: whose counters they are")
            self.net = self.run.fabric(self.fabric)
            self.what = self.counters
        self._place_jobs()
        own = access is not None and not self.folders
        if own and access is not None:
            self.folders, word = journals.beside_manager(access)
            if word is not None:
                self.run.note(word)
        if self.counters is not None:
            first = counted.read(self.run, self.counters, self.net)
            foreign = next((note for note in first.notes if _FOREIGN in note), None)
            if foreign is not None:
                raise CountersError(f"{foreign}: expected counters of {self.fabric}")
            if first.readings == 0:
                yield from self._played(first, every, once)
                return
        source = self._source(stack, access)
        yield from self._watched(source, every, once)

    def drawn(self, picture: Picture, told: Told) -> tuple[list[str], list[screen.Section]]:
        """Lines and tables of a picture."""
        cost = ""
        if self.reading is not None and self.reading.mads:
            cost = f"{self.reading.mads:,} datagrams in {self.reading.seconds:.2f} s"
            if self.reading.missing:
                cost += f", {len(self.reading.missing):,} ports silent"
        trouble = None if self.error is None else str(self.error)
        lines = screen.head(self.what, picture, cost, trouble, self.findings(picture))
        return lines, screen.sections(picture, told)

    def findings(self, picture: Picture) -> list[Finding]:
        """Cut cables and silent ports by name; samples that are stale, links that nobody reads."""
        from netloom.live.ports import findings_of

        reading = self.reading
        if reading is None:
            return self.run.findings + self.odd + self.port_errors
        found = self.run.findings + self.odd + self.port_errors
        found += findings_of(self.first or self.net, reading.down, reading.missing, reading.ports)
        if not reading.fetched:
            return found
        if self.stale_s > 0:
            text = (
                f"no counter of {self.what} has changed for {self.stale_s:.3g} s: whoever reads the ports "
                "has not done so since, or nothing at all was sent"
            )
            found.append(finding("stale", text))
        if picture.links_unknown:
            named = ", ".join(picture.unread[:5]) + (", …" if len(picture.unread) > 5 else "")
            text = f"{picture.links_unknown:,} links have no samples in {self.what}: {named}"
            found.append(finding("unread-links", text))
        return found

    def result(self, picture: Picture, told: Told) -> dict[str, Any]:
        """A picture as a result."""
        reading = self.reading
        return {
            "source": self.what,
            **{key: value for key, value in picture.result().items() if key != "unread"},
            "rounds": told.rounds,
            "changes": told.changes,
            "missing_ports": 0 if reading is None else len(reading.missing),
            "mads": self.mads,
            "findings": self.findings(picture),
        }

    def metrics(self, picture: Picture | None, told: Told) -> str:
        """A picture for Prometheus."""
        from netloom.watch import exporter

        reading = self.reading
        own = {
            "up": float(reading is not None),
            "polls_total": float(self.polls),
            "poll_failures_total": float(self.failures),
            "poll_datagrams_total": float(self.mads),
        }
        if reading is None:
            return exporter.figures(None, told, own)
        own |= {"poll_seconds": reading.seconds, "poll_missing_ports": float(len(reading.missing))}
        page = exporter.ports(self.net, reading.counters, reading.errors(self.net)) + exporter.cables(
            self.net
        )
        if reading.fetched:
            own["counters_stale_seconds"] = self.stale_s
        else:
            page += exporter.links(self.net, reading)
        return page + exporter.figures(picture, told, own)

    def _place_jobs(self) -> None:
        if self.jobs_file is None:
            return
        from netloom.cli.shared import jobs

        self.jobs = jobs.placed(self.run, self.net, self.jobs_file, adapters=self.adapters)

    def _read_again(self) -> tuple[Counters, Held]:
        """The counters as they are now; unlike the first time, they are no input of the run."""
        from netloom.watch.sources import read_again

        assert self.counters is not None
        return read_again(self.counters, self.net)

    def _source(self, stack: contextlib.ExitStack, access: Access | None) -> Polled | Fetched:
        from netloom.watch.sources import Fetched, Polled

        if access is None:
            return Fetched(self.net, self._read_again)
        return stack.enter_context(Polled(access, self.net, hosts=self.hosts, parse=self.run.parsed))

    def _played(self, found: Counters, every: float, once: bool) -> Iterator[tuple[Picture | None, Told]]:
        """Intervals that are all there already; once: the last."""
        from netloom.watch.sources import spans

        lengths = spans(found)
        for interval in range(found.intervals - 1 if once else 0, found.intervals):
            if lengths[interval] <= 0:
                raise UsageError("the counters tell no times: expected intervals with start and end")
            yield self._picture(found, lengths[interval], interval), self._told()
            if not once:
                time.sleep(every)

    def _watched(
        self, source: Polled | Fetched, every: float, once: bool
    ) -> Iterator[tuple[Picture | None, Told]]:
        from netloom.watch.sources import between

        before: Reading | None = None
        due = time.monotonic()
        while True:
            picture = None
            try:
                now = source.read()
                self.polls += 1
                self.mads += now.mads
                self.error = None
                if source.fabric is not self.net:
                    self.net, before = source.fabric, None
                self.reading = now
                self.first = self.first or self.net
                if before is not None:
                    self._look_for_change(before, now)
                    picture = self._picture(*between(before, now))
                before = now
            except (NetloomError, OSError, MemoryError) as error:
                if once or self.polls == 0:
                    raise
                self.error, self.reading = error, None
                self.failures += 1
            if picture is not None or not once:
                yield picture, self._told()
            due = max(due + every, time.monotonic())
            time.sleep(due - time.monotonic() if due > time.monotonic() else 0.0)

    def _look_for_change(self, before: Reading, now: Reading) -> None:
        _, changed = now.counters.fallen_since(before.counters)
        self.stale_s = 0.0 if changed else self.stale_s + now.at_s - before.at_s

    def _picture(self, counters: Counters, seconds: float, interval: int = 0) -> Picture:
        from netloom.watch.picture import picture

        self.port_errors = findings(counters.port_errors)
        return picture(self.net, counters, seconds, interval=interval, jobs=self.jobs, most=self.most)

    def _told(self) -> Told:
        from netloom.watch import journals

        told = journals.read(self.folders)
        self.odd = [finding("odd-journal", text) for text in told.odd]
        return told


def text(lines: list[str], tables: list[screen.Section]) -> str:
    """All of a picture as plain text."""
    parts = ["\n".join(lines)]
    for section in tables:
        rows = [
            [screen.bar(float(cell)) if column == section.bar else cell for column, cell in enumerate(row)]
            for row in section.rows
        ]
        parts.append(f"{section.title}\n{render.table(section.header, rows, right=section.right)}")
    return "\n\n".join(parts)


@contextlib.contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[list[str], list[screen.Section]], None]]:
    """Where pictures go: the whole terminal; text, one after another, elsewhere."""
    if quiet:
        yield lambda lines, tables: None
        return
    if not sys.stdout.isatty():
        yield lambda lines, tables: print(f"{render.printable(text(lines, tables))}\n", flush=True)
        return
    from rich.live import Live

    view = screen.View()
    live = Live(get_renderable=view.now, screen=True, auto_refresh=True, refresh_per_second=1)
    view.console = live.console
    try:
        with live:

            def show(lines: list[str], tables: list[screen.Section]) -> None:
                view.put(lines, tables)
                live.refresh()

            yield show
    finally:
        # The screen of its own is gone, and with it what was seen last.
        if view.lines:
            live.console.print(screen.screen(view.lines, view.tables))
