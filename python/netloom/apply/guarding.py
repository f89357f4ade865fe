"""A fabric guarded: where a cable or switch fails, tables lead around it; where it is back, the old ones do.

OpenSM's `file` engine is blind: after a cut it loads the same file again, dead entries and all. The guard
asks for the state of every cable between switches again and again, and at once when OpenSM's log tells of a
trap. When one differs it looks at the whole fabric and plans the change from what is in force to the tables
that it guards, with what leads nowhere led around it: the change that `apply send --mend` would make. Where
all is back, the change is the one to exactly these tables.

Invariants: what is sent is a verified plan, journaled, read back, and undone where it does not hold, as any
other change. Where the fabric, the manager or the file is not the one that was guarded, nothing is sent.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.apply.planning import Plan, Seen, look, lost_pairs, plan, read_tables
from netloom.apply.recovery import recover
from netloom.apply.sending import INTERRUPTED, SECONDS, Applied, apply
from netloom.errors import LiveError
from netloom.findings import Finding, finding
from netloom.live.mads import Mads, Request, keeping
from netloom.live.manager import Manager
from netloom.live.ports import PORT_INFO, changes, state_of
from netloom.live.subnet_managers import peers, rivals

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes
    from netloom.apply.journal import Journal
    from netloom.live import Access

EVERY = 0.5
"""Seconds between two looks at all cables, unless the log tells of something sooner."""
_STEP = 0.02
_AGAIN = 1.0
"""Seconds until what was refused is tried again."""
_TRAPS = (b"Received Generic Notice type:", b"SUBNET UP")
"""What OpenSM's log says when ports change."""
_TIMEOUT_MS, _RETRIES = 200, 1


@dataclass
class Guarded:
    """One change of the fabric, and what was done."""

    seen: list[str]
    """What is gone, and what is new, since the last one."""
    outcome: Literal["dry run", "refused", "unchanged", "applied", "rolled back", "not restored"]
    whole: bool
    """Whether the tables are exactly those that are guarded."""
    lost_before: int
    """Pairs that could not talk under the tables in force."""
    changed_entries: int
    journal_id: int | None
    seconds: float
    """From when it was noticed to when all switches were read back."""
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Guard:
    """Keeps the tables of a fabric whole; use it as a context manager.

    Parameters
    ----------
    access : Access
        The way to the fabric.
    manager : Manager
        Its OpenSM.
    journal : Journal
        Where changes are written down.
    yes : bool
        Whether to change routes; without it what would be done is only told.
    wait : float
        Seconds that OpenSM may take over one stage.
    allow : collection of str
        Findings that are notes instead: `standby`, `adaptive`, `credit-loop`, `unanswered`.
    every : float
        Seconds between two looks at all cables.
    threads : int
        Threads that verify; 0 is one a core.
    tell : callable, optional
        Hears of each step, in words.

    Raises
    ------
    LiveError
        If the manager should not be asked, or the tables in force are not sound: these would be guarded.
    """

    def __init__(
        self,
        access: Access,
        manager: Manager,
        journal: Journal,
        *,
        yes: bool,
        wait: float = SECONDS,
        allow: Collection[str] = (),
        every: float = EVERY,
        threads: int = 0,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self.access, self.manager, self.journal = access, manager, journal
        self._yes, self._wait, self._allow, self._every = yes, wait, allow, every
        self._threads, self._tell = threads, tell or (lambda _text: None)
        self._stack, self._watching = contextlib.ExitStack(), contextlib.ExitStack()
        self._since: int | None = None
        """The first change since the guarded tables were in force as a whole."""
        self._states: list[str | None] = []
        self._refused = False
        self.loaded = 0.0
        """When the last change was read back from all switches, on the clock that never goes back."""

    def __enter__(self) -> Guard:
        with contextlib.ExitStack() as stack:
            stack.enter_context(keeping(self.access))
            stack.enter_context(self._watching)
            self._begin()
            self._stack = stack.pop_all()
        return self

    def _begin(self) -> None:
        self._check_manager()
        seen = look(self.access, self.manager.routes_file)
        if finding := self._rival(seen):
            raise LiveError(finding["text"])
        now = plan(seen, seen.tables, allow=self._allow, threads=self._threads)
        if not now.verified:
            raise LiveError(f"the tables in force cannot be guarded: {now.findings[0]['text']}")
        self._first = self._fabric = seen.fabric
        self._tables = seen.tables.to_bytes()
        self._change = self._last_change()
        self._log = self.manager.log_size() or 0
        self._watch(seen.fabric)
        self._states = self._ask()
        self._asked = time.monotonic()
        self._tell(f"guarding {len(self._requests)} cables between {seen.fabric.switches} switches")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def wait(self, until: float | None = None) -> bool:
        """Waits until a cable's state differs from what it was; False if it does not before `until`.

        `until` is on the clock that never goes back.

        Raises
        ------
        LiveError
            If OpenSM has ended, or is not the one that it was.
        """
        while until is None or time.monotonic() < until:
            due = time.monotonic() - self._asked >= (_AGAIN if self._refused else self._every)
            if due or self._log_tells():
                self._check_manager()
                self._asked = time.monotonic()
                try:
                    states = self._ask()
                except LiveError as error:
                    self._tell(str(error))
                    self._watch(self._fabric)
                    continue
                if states != self._states or (due and self._refused):
                    return True
            time.sleep(_STEP)
        return False

    def mend(self) -> Guarded:
        """Plans the change that the fabric needs now, and makes it if it may.

        What forbids it, or a fabric that does not answer, is a finding; it is tried again.

        Raises
        ------
        KeyboardInterrupt
            If the change was undone because of one.
        """
        start = time.monotonic()
        try:
            return self._mend(start)
        except LiveError as error:
            self._refused = True
            wrong = finding("unanswered", str(error))
            return Guarded([], "refused", False, 0, 0, None, time.monotonic() - start, [wrong])

    def _mend(self, start: float) -> Guarded:
        with self.journal.locked() if self._yes else contextlib.nullcontext():
            if self._yes:
                recover(self.access, self.manager, self.journal, allow=self._allow, seconds=self._wait)
            seen = look(self.access, self.manager.routes_file)
            told = changes(self._fabric, seen.fabric)
            wrong = self._another(seen) or self._rival(seen)
            if wrong is not None:
                self._refused = True
                return Guarded(told, "refused", False, 0, 0, None, time.monotonic() - start, [wrong])
            self._take_over()
            wanted = read_tables(self._tables, seen.fabric, label="the tables that are guarded")
            self._tell(f"{', '.join(told[:3]) or 'a cable has changed'}: planning")
            whole = seen.fabric.cabling_hash == self._first.cabling_hash
            planned = self._plan(seen, wanted, mend=not whole)
            if whole and not planned.verified:
                whole, planned = False, self._plan(seen, wanted, mend=True)
            done = self._send(planned, whole) if self._yes and planned.verified else None
        if done is not None and done.outcome == "applied":
            self.loaded = time.monotonic()
        if done is not None and done.why == INTERRUPTED:
            raise KeyboardInterrupt
        outcome = done.outcome if done is not None else "dry run" if planned.verified else "refused"
        self._refused = outcome in ("refused", "rolled back", "not restored")
        self._fabric = seen.fabric
        self._watch(seen.fabric)
        with contextlib.suppress(LiveError):
            self._states = self._ask()
        number = None if done is None else done.journal_id
        seconds = time.monotonic() - start
        return Guarded(
            told,
            outcome,
            whole,
            lost_pairs(seen.fabric, seen.tables),
            planned.changed_entries,
            number,
            seconds,
            list(planned.findings),
            [*(planned.notes if done is None else done.notes), *([done.why] if done and done.why else [])],
        )

    def _plan(self, seen: Seen, wanted: Routes, *, mend: bool) -> Plan:
        return plan(seen, wanted, mend=mend, keep=False, allow=self._allow, threads=self._threads)

    def _send(self, planned: Plan, whole: bool) -> Applied:
        back = self._since if whole else None
        done = apply(
            planned, self.manager, self.journal, seconds=self._wait, rolls_back=back, progress=self._tell
        )
        if done.outcome == "applied":
            self._change = done.journal_id
            self._since = None if whole else self._since or done.journal_id
        return done

    def _take_over(self) -> None:
        """Where somebody else has changed routes since, these are guarded from now on."""
        last = self._last_change()
        if last is not None and last != self._change:
            self._tables = self.journal.tables(last)
            self._change, self._since = last, None
            self._tell(f"change {last} is guarded from now on")

    def _last_change(self) -> int | None:
        applied = [change.id for change in self.journal.changes() if change.state == "applied"]
        return applied[-1] if applied else None

    def _check_manager(self) -> None:
        """Refuses an OpenSM that has ended, or has other options than it had."""
        if not self.manager.alive:
            found = Manager.running(self.access)
            if found.routes_file != self.manager.routes_file or found.lmc != self.manager.lmc:
                raise LiveError(
                    f"OpenSM was restarted with other options (process {found.pid}): nothing was sent"
                )
            self.manager = found
        refused = [one for one in self.manager.problems() if one.kind not in (*self._allow, "fallback")]
        if refused:
            raise LiveError(refused[0].text)

    def _rival(self, seen: Seen) -> Finding | None:
        rival = rivals(peers(self.access, seen.fabric))
        return None if rival is None or rival[0] in self._allow else finding(*rival)

    def _another(self, seen: Seen) -> Finding | None:
        """Says so where less than half of the switches are there: another fabric, or this one cut in two."""
        guids = set(self._first.switch_table()["guid"].tolist())
        left = len(guids & set(seen.fabric.switch_table()["guid"].tolist()))
        if 2 * left >= len(guids):
            return None
        text = f"only {left} of the {len(guids)} switches that are guarded answer"
        return finding("unanswered", f"{text}: another fabric, or less than half of this one")

    def _watch(self, fabric: Fabric) -> None:
        """From now on asks the switches of this fabric for their ports to other switches."""
        self._watching.close()
        self._mads = self._watching.enter_context(
            Mads(self.access, fabric, window=64, timeout_ms=_TIMEOUT_MS, retries=_RETRIES)
        )
        there = dict(
            zip(fabric.switch_table()["guid"].tolist(), fabric.switch_table()["lid"].tolist(), strict=True)
        )
        first, link = self._first, self._first.link_table()
        between = np.flatnonzero((link["source"] >= first.hosts) & (link["target"] >= first.hosts))
        guids = first.switch_table()["guid"].tolist()
        sources, ports = link["source"][between] - first.hosts, link["source_port"][between]
        targets = link["target"][between] - first.hosts
        asked: list[Request] = []
        for source, port, target in zip(sources.tolist(), ports.tolist(), targets.tolist(), strict=True):
            # One end of a cable tells, the other one where that is gone.
            near, far = guids[source], guids[target]
            if near in there and (source < target or far not in there):
                asked.append(Request.subnet(there[near], PORT_INFO, port))
        self._requests = asked

    def _ask(self) -> list[str | None]:
        """The state of every cable: None if it is up."""
        answers = self._mads.ask(self._requests)
        return [
            state_of(data) if answered else "silent"
            for answered, data in zip(answers.answered.tolist(), answers.data, strict=True)
        ]

    def _log_tells(self) -> bool:
        """Whether OpenSM's log has something new of ports."""
        end = self.manager.log_size() or 0
        if end == self._log:
            return False
        new = self.manager.log_from(self._log)
        self._log = end
        return any(word in new for word in _TRAPS)


def guarded(
    guard: Guard,
    rounds: int | None,
    left: float | None,
    told: Callable[[dict[str, Any] | None], object],
) -> tuple[list[dict[str, Any]], str | None]:
    """Guards until there were so many changes, the time is over or an interruption; what was done, and why
    it ended early. What is refused again and again is told once; `told` hears None when all is watched."""
    end = None if left is None else time.monotonic() + left
    done: list[dict[str, Any]] = []
    try:
        with guard:
            told(None)
            while rounds is None or len(done) < rounds:
                if not guard.wait(end):
                    return done, "time-limit"
                row = _row(guard.mend())
                if not done or row["outcome"] != "refused" or row["findings"] != done[-1]["findings"]:
                    done.append(row)
                    told(row)
    except KeyboardInterrupt:
        return done, "interrupted"
    return done, None


def _row(one: Guarded) -> dict[str, Any]:
    """A change, as results have it."""
    return {**dataclasses.asdict(one), "seconds": round(one.seconds, 6)}
