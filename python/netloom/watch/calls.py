"""A fabric watched by one call: a picture every so often, as `netloom watch` shows them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.counting import reading as counted
from netloom.errors import ArgumentError, CountersError, NetloomError
from netloom.findings import Finding, finding, findings
from netloom.live.exporters import read_again
from netloom.session import placement
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.watch import journals, screen
from netloom.watch.sources import Fetched, Polled, between, spans

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Job
    from netloom.live import Access
    from netloom.live.exporters import Held
    from netloom.watch.journals import Told
    from netloom.watch.picture import Picture
    from netloom.watch.sources import Reading

_FOREIGN = "this looks like another fabric's file"
"""What the reader of counters says of those that do not fit."""


@checked(hottest=(0, 2**31 - 1), every=(0.05, 86400.0))
def watch_fabric(
    fabric: Fabric | str | None = None,
    *,
    counters_from: str | None = None,
    jobs: str | os.PathLike[str] | None = None,
    journal: Sequence[str | os.PathLike[str]] = (),
    every: float = 5.0,
    once: bool = False,
    hosts: bool = False,
    hottest: int = 10,
    access: Access | None = None,
) -> Iterator[dict[str, Any]]:
    """Load by level, hottest links, congestion, jobs and the loop's last decisions, every so often.

    Parameters
    ----------
    fabric : Fabric or str, optional
        A fabric or a dump. [default: discovered now]
    counters_from : str, optional
        Counters that somebody else reads: an exporter's URL, a folder of textfiles or sysfs trees; or a file
        of intervals, which is told interval by interval. [default: polled]
    jobs : path, optional
        A jobs file (.toml), or what `squeue --json` or `sacct` printed.
    journal : sequence of path, default ()
        Folders of a loop's journal, or of an OpenSM's changes. [default: that of the OpenSM that runs here]
    every : float, default 5.0
        Seconds from one picture to the next, 0.05 or more.
    once : bool, default False
        One picture, over one interval (of a file: the last).
    hosts : bool, default False
        Poll adapters too, not only switches.
    hottest : int, default 10
        How many links to list.
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]

    Returns
    -------
    iterator of dict
        Each as `result` of `netloom watch --once --format json`.

    Raises
    ------
    LiveError
        If the fabric does not answer at all; later a picture is left out instead.
    CountersError
        If counters are another fabric's.
    ArgumentError
        If counters from elsewhere come without a fabric, or tell no times.

    Examples
    --------
    >>> next(netloom.watch_fabric("net.txt", counters_from="intervals.csv", once=True))  # doctest: +SKIP
    """
    if counters_from is not None and access is not None:
        raise ArgumentError("counters_from: read instead of polling: expected no access beside it")
    session = Session()
    placing = None if jobs is None else Path(jobs)
    watching = Watching(
        session, fabric, counters_from, placing, [Path(one) for one in journal], hottest, access, hosts
    )
    with contextlib.ExitStack() as stack:
        for picture, told in watching.pictures(stack, every, once):
            if picture is not None:
                yield watching.result(picture, told)
                if once:
                    return


class NoTimes(ArgumentError):
    """Counters tell no times."""


@dataclass
class Watching:
    """What is watched, and the last that was seen."""

    session: Session
    fabric: Fabric | str | None
    counters: str | None
    jobs_file: Path | None
    folders: list[Path]
    most: int
    access: Access | None
    hosts: bool
    adapters: str | None = None
    storage: str | None = None
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
        for folder in self.folders:
            journals.check(folder)
        access: Access | None = None
        if self.counters is None:
            from netloom.live import Access
            from netloom.live.identity import discovered

            access = self.access or Access.local()
            self.net = discovered(self.session, access, self.fabric)
            self.what = access.what
        else:
            if self.fabric is None:
                raise ArgumentError("counters_from: needs a fabric, whose counters they are")
            self.net = self.session.fabric(self.fabric)
            self.what = self.counters
        self._place_jobs()
        if access is not None and not self.folders:
            self.folders, word = journals.beside_manager(access)
            if word is not None:
                self.session.note(word)
        if self.counters is not None:
            first = counted.read(self.session, self.counters, self.net)
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
            return self.session.findings + self.odd + self.port_errors
        found = self.session.findings + self.odd + self.port_errors
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
            page += exporter.links(self.net, reading, self.first)
        return page + exporter.figures(picture, told, own)

    def _place_jobs(self, *, again: bool = False) -> None:
        """Hosts of jobs are numbers of a fabric; `again`, of another discovery, which may lack some."""
        if self.jobs_file is None:
            return
        try:
            self.jobs = placement.placed(
                self.session,
                self.net,
                self.jobs_file,
                again=again,
                adapters=self.adapters,
                storage=self.storage,
            )
        except (NetloomError, OSError) as error:
            if not again:
                raise
            self.jobs = []
            self.session.note(f"jobs are not shown: {error}", kind="warning")

    def _read_again(self) -> tuple[Counters, Held]:
        """The counters as they are now; unlike the first time, they are no input of the run."""
        assert self.counters is not None
        return read_again(self.counters, self.net)

    def _source(self, stack: contextlib.ExitStack, access: Access | None) -> Polled | Fetched:
        if access is None:
            return Fetched(self.net, self._read_again)
        return stack.enter_context(Polled(access, self.net, hosts=self.hosts, parse=self.session.parsed))

    def _played(self, found: Counters, every: float, once: bool) -> Iterator[tuple[Picture | None, Told]]:
        """Intervals that are all there already; once: the last."""
        lengths = spans(found)
        for interval in range(found.intervals - 1 if once else 0, found.intervals):
            if lengths[interval] <= 0:
                raise NoTimes("the counters tell no times: expected intervals with start and end")
            yield self._picture(found, lengths[interval], interval), self._told()
            if not once:
                time.sleep(every)

    def _watched(
        self, source: Polled | Fetched, every: float, once: bool
    ) -> Iterator[tuple[Picture | None, Told]]:
        before: Reading | None = None
        due = time.monotonic()
        while True:
            picture = None
            try:
                now = source.read()
                self.polls += 1
                self.mads += now.mads
                self.error = None
                self.first = self.first or self.net
                if source.fabric is not self.net:
                    self.net, before = source.fabric, None
                    self._place_jobs(again=True)
                self.reading, last, before = now, before, now
                if last is not None:
                    self._look_for_change(last, now)
                    picture = self._picture(*between(last, now))
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
        told = journals.read(self.folders)
        self.odd = [finding("odd-journal", text) for text in told.odd]
        return told
