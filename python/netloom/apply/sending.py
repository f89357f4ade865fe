"""A planned change, sent: journaled, the file put in place by rename, OpenSM asked, every switch read back.

Invariant: the file that OpenSM reads is at every moment one of the journaled tables, whole. So whatever
OpenSM does by itself (a sweep after a trap, a restart), switches come to hold journaled tables; and what they
hold on the way is a mix of two successive ones, which the plan has proven safe.

Where anything differs from what was sent, or a host is lost, the change is undone: back to the old tables,
or, where a cable was cut meanwhile that these need, to the old tables mended around it.
"""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom import critical, reading
from netloom.apply.journal import Journal, replace_file
from netloom.apply.planning import (
    Plan,
    Seen,
    last_entries,
    look,
    lost_pairs,
    mended,
    read_tables,
    with_foreign_entries,
)
from netloom.errors import LiveError, NetloomError, RoutingError
from netloom.live.tables import read_tables as read_all
from netloom.live.tables import wait_for

if TYPE_CHECKING:
    from netloom._core import Routes
    from netloom.live import Manager

SECONDS = 60.0
"""How long OpenSM may take over one stage unless told."""
INTERRUPTED = "interrupted"
"""Why a change was undone that Ctrl-C ended."""
_SETTLE = 15.0
"""How long after OpenSM says it is done switches may still differ."""
_READS = 3
"""How often they are read at least, however long that takes."""
_SUSPECT = 1.0
"""After how long of that the fabric is looked at again."""


@dataclass
class Applied:
    """What came of a change."""

    outcome: Literal["applied", "unchanged", "rolled back", "not restored"]
    """`not restored`: the file is the old one again, but OpenSM has not loaded it: the next call goes on."""
    journal_id: int | None
    changed_entries: int
    changed_blocks: int
    switches: int
    stages: int
    verified: bool
    """Whether every switch was read back with exactly the new tables, and no host was lost."""
    why: str | None = None
    """Why it was undone."""
    asked: str | None = None
    """How OpenSM was asked: `reroute` or `SIGHUP`."""
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """By step; `opensm` is OpenSM's own."""


class Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.monotonic() - start


def apply(
    plan: Plan,
    manager: Manager,
    journal: Journal,
    *,
    seconds: float = SECONDS,
    rolls_back: int | None = None,
    recovers: int | None = None,
    facts: Mapping[str, Any] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Applied:
    """Makes a planned change.

    Plan under `journal.locked()`, or tables are read again first and must be those that were planned from.

    Parameters
    ----------
    plan : Plan
        What to change.
    manager : Manager
        The OpenSM to ask.
    journal : Journal
        Its journal.
    seconds : float
        How long OpenSM may take over one stage.
    rolls_back, recovers : int, optional
        The earlier change that this one rolls back, or finishes or undoes after a kill.
    facts : mapping, optional
        What else its first line in the journal says.
    progress : callable, optional
        Told what is being done.

    Raises
    ------
    RoutingError
        If something forbids the plan.
    LiveError
        If another change runs or was left unfinished, or tables have changed since: nothing was applied.
    OSError
        If the journal cannot be written: nothing was applied.
    """
    if not plan.verified:
        raise RoutingError(f"nothing was applied: {plan.findings[0]['text']}")
    file = manager.routes_file
    if file is None:
        raise LiveError(f"nothing was applied: {manager.problems()[0].text}")
    planned_under_lock = journal.held
    with journal.locked():
        elsewhere = journal.open_elsewhere()
        if elsewhere is not None:
            folder, change = elsewhere
            raise LiveError(
                f"{folder}: change {change.id} was left unfinished: "
                f"`netloom apply recover --yes --journal {shlex.quote(str(folder))}` first"
            )
        left = journal.unfinished()
        if left is not None and recovers is None:
            raise LiveError(f"change {left.id} was left unfinished: `netloom apply recover --yes` first")
        if not planned_under_lock:
            now = read_tables(read_all(plan.seen.access, plan.seen.fabric), plan.seen.fabric)
            if now.changed_entries(plan.seen.tables):
                raise LiveError(
                    "nothing was applied: tables have changed since the plan was made, plan again"
                )
        with critical.section():
            return _Sending(plan, manager, journal, file, seconds, progress).run(
                rolls_back, recovers, facts or {}
            )


class _Sending:
    def __init__(
        self,
        plan: Plan,
        manager: Manager,
        journal: Journal,
        file: Path,
        seconds: float,
        progress: Callable[[str], object] | None,
    ) -> None:
        self.plan = plan
        self.manager = manager
        self.journal = journal
        self.file = file
        self.limit = seconds
        self.tell = progress or (lambda _text: None)
        self.clock = Clock()
        self.asked: str | None = None
        self.number = 0
        self.old = b""

    def run(self, rolls_back: int | None, recovers: int | None, more: Mapping[str, Any]) -> Applied:
        plan = self.plan
        stages = list(plan.stages)
        with self.clock("journal"):
            old = self.old = plan.file(plan.seen.tables)
            files = [plan.file(stage) for stage in stages]
        if not stages:
            if _read(self.file) == old:
                return self._done("unchanged", verified=True)
            # Switches have the tables, but the file is another: the next sweep would load that.
            stages, files = [plan.routes], [old]
        self.tell("writing the journal")
        facts: dict[str, Any] = {
            "file": str(self.file),
            "changed_entries": plan.changed_entries,
            "changed_blocks": plan.changed_blocks,
            "switches": plan.switches,
            "cabling": plan.seen.fabric.cabling_hash,
            **more,
        }
        if rolls_back is not None:
            facts["rolls_back"] = rolls_back
        if recovers is not None:
            facts["recovers"] = recovers
        before = plan.seen.tables
        try:
            with self.clock("journal"):
                self.number = self.journal.begin(old, files, facts)
            for i, (tables, data) in enumerate(zip(stages, files, strict=True), 1):
                self.tell(f"stage {i} of {len(stages)}")
                with self.clock("journal"):
                    self.journal.add(self.number, "stage", stage=i)
                self._load(data)
                with self.clock("opensm"):
                    # Its log says so when it begins to send.
                    changing = last_entries(plan.seen.fabric, before, tables)
                    wait_for(plan.seen.access, plan.seen.fabric, changing, seconds=_SETTLE)
                before = tables
                last = i == len(stages)
                seen = self._read_back(plan.seen, tables, look_too=last)
                with self.clock("journal"):
                    self.journal.add(self.number, "loaded", stage=i)
            self._no_host_lost(seen)
            with self.clock("journal"):
                self.journal.add(self.number, "applied")
                if recovers is not None:
                    self.journal.close_before(self.number)
        except (NetloomError, OSError) as error:
            if not self.number:
                raise
            return self._undo(old, _words(error))
        except KeyboardInterrupt:
            left = self.journal.unfinished()
            if left is None or left.id == recovers:
                if left is not None and self._is_applied():
                    self.journal.close_before(self.number)
                raise
            self.number = left.id
            return self._undo(old, INTERRUPTED)
        return self._done("applied", verified=True)

    def _load(self, data: bytes) -> None:
        with self.clock("write"):
            replace_file(self.file, data)
        with self.clock("opensm"):
            self.asked, _ = self.manager.reload(seconds=self.limit)

    def _read_back(self, seen: Seen, want: Routes, *, look_too: bool) -> Seen:
        """Waits until all switches hold `want`; returns the fabric as it is then, if looked at too."""
        with self.clock("read back"):
            start, reads = time.monotonic(), 0
            while True:
                reads += 1
                try:
                    now = look(seen.access, known=seen.fabric) if look_too else None
                    raw = read_all(seen.access, seen.fabric) if now is None else now.raw
                    have = read_tables(raw, seen.fabric)
                    wrong = have.changed_entries(want)
                    text = f"{wrong} entries read back differ from what was sent"
                    if not wrong:
                        return now or seen
                except NetloomError as error:
                    text = f"the switches could not be read back: {error}"
                if time.monotonic() - start > _SUSPECT and _changed(seen):
                    raise LiveError(f"the fabric changed while routes were: {text}")
                if time.monotonic() - start > _SETTLE and reads >= _READS:
                    raise LiveError(text)
                time.sleep(0.05)

    def _no_host_lost(self, now: Seen) -> None:
        if now.fabric.cabling_hash == self.plan.seen.fabric.cabling_hash:
            return  # As verified.
        lost = lost_pairs(now.fabric, now.tables)
        if lost:
            raise LiveError(f"cables were cut while routes were changed: {lost} pairs cannot talk")

    def _is_applied(self) -> bool:
        """Whether this change has come to its end, as the journal has it."""
        return any(one.id == self.number and one.state == "applied" for one in self.journal.changes())

    def _undo(self, old: bytes, why: str) -> Applied:
        """Back to the old tables, mended if need be; `not restored` if OpenSM cannot load them now.

        An interruption meanwhile has it begin again: what is half undone is worse than what takes longer.
        """
        try:
            return self._undone(old, why)
        except KeyboardInterrupt:
            return self._undone(old, why)

    def _undone(self, old: bytes, why: str) -> Applied:
        self.tell(f"undoing: {why}")
        notes: list[str] = []
        try:
            with contextlib.suppress(OSError):
                # Even where this cannot be written any more: the old tables are on disk.
                self.journal.add(self.number, "undo", why=why)
            if not self.manager.alive:
                if _read(self.file) != old:
                    replace_file(self.file, old)
                raise LiveError("OpenSM does not run any more: its file holds the old tables again")
            with self.clock("look"):
                now = _look_again(self.plan.seen, self.file)
            # What is hidden now gets its old entries too, never those that were being sent.
            now = replace(now, raw=old, file=now.raw)
            target, data = restored(now, old, notes)
            with self.clock("undo"):
                for tables, step in self._steps_back(now, target, data, notes):
                    if _read(self.file) != step:
                        replace_file(self.file, step)
                    self.manager.reload(seconds=self.limit)
                    self._read_back(now, tables, look_too=False)
            _all_read(self.plan.seen, now)
            self.journal.add(self.number, "rolled-back", why=why)
            self.journal.close_before(self.number)
        except (NetloomError, OSError) as error:
            return self._done("not restored", verified=False, why=f"{why}; {_words(error)}", notes=notes)
        return self._done("rolled back", verified=False, why=why, notes=notes)

    def _steps_back(
        self, now: Seen, target: Routes, data: bytes, notes: list[str]
    ) -> Iterator[tuple[Routes, bytes]]:
        """Tables and files from what switches hold to `target`, safe stage by stage, each journaled."""
        from netloom import _core

        try:
            steps, _ = _core.stages(now.fabric, now.tables, target)
        except RoutingError as error:
            notes.append(f"undone in one step: {error}")
            steps = []
        for i, tables in enumerate(steps[:-1], 1):
            file = with_foreign_entries(tables.to_bytes(), now)
            self.journal.put(self.number, f"undo-{i}", file)
            yield tables, file
        if data != self.old:
            self.journal.put(self.number, "undo", data)
        yield target, data

    def _done(
        self,
        outcome: Literal["applied", "unchanged", "rolled back", "not restored"],
        *,
        verified: bool,
        why: str | None = None,
        notes: list[str] | None = None,
    ) -> Applied:
        plan = self.plan
        return Applied(
            outcome,
            self.number or None,
            plan.changed_entries,
            plan.changed_blocks,
            plan.switches,
            len(plan.stages),
            verified,
            why,
            self.asked,
            [*plan.notes, *(notes or [])],
            self.clock.seconds,
        )


def restored(now: Seen, old: bytes, notes: list[str]) -> tuple[Routes, bytes]:
    """The old tables on the fabric as it is, and their file; mended where a cut cable would lose pairs."""
    tables = read_tables(old, now.fabric, label="the journal")
    lost = lost_pairs(now.fabric, tables)
    if not lost:
        return tables, old
    repaired = mended(now.fabric, tables)
    still = lost_pairs(now.fabric, repaired)
    if still:
        notes.append(f"{still} pairs cannot talk under the old tables either, however these are mended")
    entries = repaired.changed_entries(tables)
    notes.append(f"{entries} entries of the old tables were mended: they led over cables that are cut")
    return repaired, with_foreign_entries(repaired.to_bytes(), now)


def _look_again(seen: Seen, file: Path) -> Seen:
    """The fabric now: a few tries, for one in the middle of a change may not answer at once, or whole."""
    for _ in range(3):
        with contextlib.suppress(NetloomError):
            now = look(seen.access, file)
            if not now.unanswered or now.fabric.cabling_hash == seen.fabric.cabling_hash:
                return now
        time.sleep(0.2)
    return look(seen.access, file)


def _all_read(before: Seen, now: Seen) -> None:
    """Refuses to call a change undone while switches that it may have reached hide from discovery."""
    if not now.unanswered:
        return  # What is gone is gone.
    guids, names = before.fabric.switch_table()["guid"], before.fabric.switch_names
    there = {int(guid) for guid in now.fabric.switch_table()["guid"]}
    unread = [name for guid, name in zip(guids, names, strict=True) if int(guid) not in there]
    if unread:
        raise LiveError(
            f"{len(unread)} switches do not answer and cannot be read back: {', '.join(unread[:3])}"
        )


def _changed(seen: Seen) -> bool:
    """Whether cables or nodes came or went."""
    from netloom import _core

    try:
        now = seen.access.discovery()
        return not now.unanswered and _core.Fabric.parse(now.dump).cabling_hash != seen.fabric.cabling_hash
    except NetloomError:
        return False


def _words(error: Exception) -> str:
    """An error without its number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _read(path: Path) -> bytes | None:
    try:
        return reading.whole(path)
    except OSError:
        return None
