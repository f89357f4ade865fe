"""Readings of a fabric, one after another, wherever they come from.

Invariant: an interval lies between two readings of one source; what could not be read is missing, never 0.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

from netloom.errors import CountersError, LiveError, NetloomError

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric
    from netloom.health.error_counters import Errors
    from netloom.live import Access
    from netloom.live.exporters import Held
    from netloom.live.polling import Poller
    from netloom.live.ports import PortDown


@dataclass(frozen=True)
class Reading:
    """What ports had counted at one moment."""

    counters: Counters
    at_s: float
    """On the clock that never goes back."""
    missing: list[tuple[str, int]]
    """Ports that did not answer: node and number."""
    mads: int
    """Datagrams that it took."""
    seconds: float
    ports: int = 0
    """How many were asked."""
    down: list[PortDown] = field(default_factory=list)
    """Ports over which nothing goes."""
    fetched: bool = False
    """Whether somebody else read the ports, at some time before."""
    held: Held | None = None
    """What it was read from."""

    def errors(self, fabric: Fabric) -> Errors | None:
        """Error counters, port by port; None where nobody tells them.

        `fabric` may have been discovered since: ports are found in it by LID or GUID.
        """
        from netloom.health import error_counters

        if self.held is None:
            return None
        if self.counters.fabric.cabling_hash == fabric.cabling_hash:
            return error_counters.of(self.counters)
        try:
            return error_counters.read(self.held, fabric)
        except NetloomError:
            # Nothing in it is of this fabric any more.
            return None


class Polled:
    """A fabric that is polled. Use it as a context manager.

    Where ports don't answer, or cables of the first discovery are gone, the fabric is discovered again before
    the next reading. Every reading is of the fabric that `fabric` is after it.

    Parameters
    ----------
    access : Access
        How the fabric is reached.
    fabric : Fabric
        As discovered.
    hosts : bool
        Whether adapters are asked too.
    parse : callable, optional
        Makes the fabric of a dump and its label, where names are not the dump's own.
    """

    REST_SECONDS = 60.0
    """Between two discoveries, at least."""

    def __init__(
        self,
        access: Access,
        fabric: Fabric,
        *,
        hosts: bool = False,
        parse: Callable[[bytes, str], Fabric] | None = None,
    ) -> None:
        self.fabric = fabric
        self._first = fabric
        self._access = access
        self._hosts = hosts
        self._parse = parse
        self._poller: Poller | None = None
        self._lost: list[PortDown] = []
        self._changed = False
        self._discovered = time.monotonic()

    def __enter__(self) -> Polled:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def read(self) -> Reading:
        """Reads every port.

        Raises
        ------
        LiveError
            If the fabric does not answer.
        """
        try:
            if self._changed:
                self._rediscover()
            if self._poller is None:
                self._open()
            assert self._poller is not None
            poll = self._poller.poll()
        except LiveError:
            self._close()
            self._changed = True
            raise
        # What was there at first and is not discovered any more is not polled, but not forgotten.
        self._changed = bool(poll.missing or self._lost)
        down = [*self._lost, *poll.down]
        return Reading(
            counters=poll.counters,
            at_s=poll.started_s,
            missing=poll.missing,
            mads=poll.mads,
            seconds=poll.seconds,
            ports=poll.ports,
            down=down,
            held=poll.text,
        )

    def _open(self) -> None:
        from netloom.live.polling import Poller

        poller = Poller(self._access, self.fabric, hosts=self._hosts, links=True)
        poller.__enter__()
        self._poller = poller

    def _close(self) -> None:
        if self._poller is not None:
            self._poller.__exit__(None, None, None)
            self._poller = None

    def _rediscover(self) -> None:
        """LIDs may be others after a manager's restart, cables gone."""
        from netloom import _core
        from netloom.live.ports import lost_cables

        now = time.monotonic()
        if now - self._discovered < self.REST_SECONDS:
            return
        self._discovered = now
        try:
            dump, what = self._access.discover(), self._access.what
            found = _core.Fabric.parse(dump, label=what) if self._parse is None else self._parse(dump, what)
        except NetloomError:
            return
        if found == self.fabric:
            return
        self._close()
        self.fabric = found
        self._lost = lost_cables(self._first, found)


class Fetched:
    """Samples that an exporter serves or files hold, read again and again."""

    def __init__(self, fabric: Fabric, read: Callable[[], tuple[Counters, Held]]) -> None:
        self.fabric = fabric
        self._read = read

    def read(self) -> Reading:
        """Fetches the samples.

        Raises
        ------
        NetloomError
            If they cannot be had or read.
        """
        start = time.monotonic()
        counters, held = self._read()
        return Reading(counters, start, [], 0, time.monotonic() - start, fetched=True, held=held)


def spans(counters: Counters) -> list[float]:
    """How long each interval is, in seconds; 0 where the counters do not tell times.

    Intervals differ in length: the last one of a run ends with it.
    """
    table = counters.to_bytes()
    ends = dict.fromkeys((int(row[1]), int(row[2])) for row in re.finditer(rb"\n(\d+),(\d+),", table))
    lengths = [(end - start) * 1e-9 for start, end in ends]
    return lengths if len(lengths) == counters.intervals else [0.0] * counters.intervals


def between(before: Reading, after: Reading) -> tuple[Counters, float]:
    """What was counted from one reading to the next, and how long that took.

    Raises
    ------
    CountersError
        If no time has passed.
    """
    seconds = after.at_s - before.at_s
    if seconds <= 0:
        raise CountersError("no time has passed between two readings")
    counters = after.counters.since(before.counters, seconds=seconds)
    told = counters.summary(busiest=0)["seconds"]
    return counters, told or seconds
