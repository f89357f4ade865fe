"""A fabric guarded: where a cable or switch fails, tables lead around it; where it is back, the old ones do.

OpenSM's `file` engine is blind: after a cut it loads the same file again, dead entries and all. The guard
asks for the state of every port of switches again and again, and at once when OpenSM's log tells of a trap;
and for a part of the tables each time, so that all are read in turn. When something differs it looks at the
whole fabric and plans the change from what is in force to the tables that it guards, with what leads nowhere
led around it: the change that `apply send --mend` would make. Where all is back, the change is the one to
exactly these tables.

Invariants: what is sent is a verified plan, journaled, read back, and undone where it does not hold, as any
other change. Where the fabric, the manager or the file is not the one that was guarded, nothing is sent.
What ports are compared with was asked before the fabric was discovered that the tables in force were planned
for, and agrees with it: so nothing that happens during a change is taken for known. The guarded tables are on
disk, and changes of a guard say so: one that was killed begins with the same tables.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from netloom.apply.held import Held
from netloom.apply.planning import Plan, Seen, look, lost_pairs, plan, read_tables
from netloom.apply.recovery import recover
from netloom.apply.sending import INTERRUPTED, SECONDS, Applied, apply
from netloom.errors import LiveError, NetloomError
from netloom.findings import Finding, finding
from netloom.foreign_entries import blocks
from netloom.live.mads import Mads, Request, keeping
from netloom.live.manager import Manager
from netloom.live.ports import PORT_INFO, cables, changes, state_of
from netloom.live.subnet_managers import peers, rivals
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes
    from netloom.apply.journal import Change, Journal
    from netloom.live import Access

EVERY = 0.5
"""Seconds between two looks at all cables, unless the log tells of something sooner."""
READ_ALL = 15.0
"""Seconds in which all entries are read once, a part at each look, while nothing seems to change."""
_STEP = 0.02
_AGAIN = 1.0
"""Seconds until what was refused is tried again."""
_TRAPS = (b"Received Generic Notice type:", b"SUBNET UP")
"""What OpenSM's log says when ports change."""
_TIMEOUT_MS, _RETRIES = 200, 1
_AGREES = 3
"""How often the fabric is discovered at the start until it agrees with its ports."""
_WRONG = ("refused", "rolled back", "not restored")
"""Outcomes after which it is tried again."""
_LAST = 4
"""How many changes of a guard before it are looked into."""
_DOWN, _UNKNOWN = "down", "unknown"

Port = tuple[int, int]
"""A node's GUID and the number of its port."""


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
        self._states: dict[Port, str | None] = {}
        """What ports were when the fabric was discovered that the tables in force are for."""
        self._heard: dict[Port, str | None] | None = None
        """What ports said at the last look, if no change was made since."""
        self._odd: dict[Port, str | None] = {}
        """Ports that said something else than discovery did."""
        self._refused = False
        self._held: Held | None = None
        """What switches should hold; None where that is not known."""
        self._astray: list[str] = []
        """Switches that held something else."""
        self._told = ""
        self.said: Callable[[str], object] = self._tell
        """Hears what keeps the guard from its work, and whose tables are guarded."""
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
        with self.journal.locked() if self._yes else contextlib.nullcontext():
            if self._yes:
                recover(self.access, self.manager, self.journal, allow=self._allow, seconds=self._wait)
            for _ in range(_AGREES):
                seen = look(self.access, self.manager.routes_file)
                self._watch(seen.fabric)
                now = self._ask()
                self._states = self._agreed(now, now, seen.fabric)
                if not self._odd:
                    break
            self._states = now
            if finding := self._rival(seen):
                raise LiveError(finding["text"])
            self._choose(seen)
            self._held = Held(seen.fabric, seen.tables)
        self._guids = {guid for guid, _, _ in blocks(self._tables)}
        self._log = self.manager.log_size() or 0
        self._asked = time.monotonic()
        self._tell(f"guarding {len(self._requests)} ports of {seen.fabric.switches} switches")

    def _choose(self, seen: Seen) -> None:
        """The tables that are guarded: those of a guard before this one, if nobody has sent others since."""
        now = plan(seen, seen.tables, allow=self._allow, threads=self._threads)
        self._change = self._last_change()
        kept = self.journal.guarded()
        left = None if kept is None or kept[0].get("after") != self._change else kept
        if left is not None and not self._in_force(seen, left[1]):
            left = None  # Somebody has loaded others, without a journal.
        if left is None and not now.verified:
            raise LiveError(f"the tables in force cannot be guarded: {now.findings[0]['text']}")
        self._fabric = seen.fabric
        if left is None:
            self._tables, self._cabling = seen.tables.to_bytes(), seen.fabric.cabling_hash
            self._keep()
            return
        self._tables, self._cabling = left[1], str(left[0].get("cabling"))
        for change in reversed(self.journal.changes()):
            if change.state == "applied" and (not _of_a_guard(change) or change.rolls_back is not None):
                break
            if change.state == "applied":
                self._since = change.id
        wanted = read_tables(self._tables, seen.fabric, label="the tables that are guarded")
        self._refused = not now.verified or bool(seen.tables.changed_entries(wanted))
        if self._refused:
            self.said("the tables that were guarded before are not in force as a whole")

    def _in_force(self, seen: Seen, kept: bytes) -> bool:
        """Whether switches hold tables that were guarded, or some that a guard's last changes loaded.

        These may have been killed, and finished or undone since.
        """
        last = [change.id for change in self.journal.changes() if _of_a_guard(change)][-_LAST:]
        for data in itertools.chain([kept], *(self.journal.all_tables(number) for number in reversed(last))):
            tables = read_tables(data, seen.fabric, label="the journal")
            if not seen.tables.changed_entries(tables):
                return True
        return False

    def _keep(self) -> None:
        """Writes down what is guarded, for a guard after this one."""
        if self._yes:
            self.journal.guard(self._tables, after=self._change, cabling=self._cabling)

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
            If OpenSM is not the one that it was. One that has ended is waited for.
        """
        while until is None or time.monotonic() < until:
            due = time.monotonic() - self._asked >= (_AGAIN if self._refused else self._every)
            if (due or self._log_tells()) and self._is_there():
                self._asked = time.monotonic()
                try:
                    self._heard = self._ask()
                    differs = self._heard != self._states or self._is_astray()
                except LiveError as error:
                    self._say(str(error))
                    with contextlib.suppress(LiveError):
                        self._watch(self._fabric)
                    continue
                self._told = ""
                if differs or (due and self._refused):
                    return True
            time.sleep(_STEP)
        return False

    def _say(self, what: str) -> None:
        """Tells what keeps the guard from its work, once."""
        if what != self._told:
            self._told = what
            self.said(what)

    def _is_there(self) -> bool:
        """Whether OpenSM runs; where it does not for a while, that is told once."""
        if self.manager.alive or Manager.all_running(self.access):
            self._check_manager()
            return True
        self._asked = time.monotonic()
        self._say("OpenSM does not run: waiting for it")
        return False

    def mend(self) -> Guarded:
        """Plans the change that the fabric needs now, and makes it if it may.

        What forbids it, a fabric that does not answer, or a journal that cannot be written, is a finding; it
        is tried again.

        Raises
        ------
        KeyboardInterrupt
            If the change was undone because of one.
        """
        start = time.monotonic()
        try:
            return self._mend(start)
        except (NetloomError, OSError) as error:
            self._refused = True
            where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
            text = f"{where}{error.strerror}" if isinstance(error, OSError) else str(error)
            wrong = finding("unanswered", text)
            return Guarded([], "refused", False, 0, 0, None, time.monotonic() - start, [wrong])

    def _mend(self, start: float) -> Guarded:
        with self.journal.locked() if self._yes else contextlib.nullcontext():
            ended = None
            if self._yes:
                ended = recover(
                    self.access, self.manager, self.journal, allow=self._allow, seconds=self._wait
                )
            before = self._ask() if self._heard is None else self._heard
            self._heard = None
            seen = look(self.access, self.manager.routes_file)
            told = changes(self._fabric, seen.fabric)
            if self._astray:
                told.append(f"entries that nobody was to change are others: {', '.join(self._astray[:3])}")
            self._astray = []
            wrong = self._another(seen) or self._rival(seen)
            if wrong is not None:
                self._refused = True
                return Guarded(told, "refused", False, 0, 0, None, time.monotonic() - start, [wrong])
            self._take_over(seen)
            wanted = read_tables(self._tables, seen.fabric, label="the tables that are guarded")
            self._tell(f"{', '.join(told[:3]) or 'a cable has changed'}: planning")
            whole = seen.fabric.cabling_hash == self._cabling
            planned = self._plan(seen, wanted, mend=not whole)
            if whole and not planned.verified:
                whole, planned = False, self._plan(seen, wanted, mend=True)
            if not planned.verified:
                planned = self._anew(seen, planned)
            done = self._send(planned, whole) if self._yes and planned.verified else None
        if done is not None and done.outcome == "applied":
            self.loaded = time.monotonic()
        if done is not None and done.why == INTERRUPTED:
            raise KeyboardInterrupt
        outcome = done.outcome if done is not None else "dry run" if planned.verified else "refused"
        self._refused = outcome in _WRONG
        self._fabric = seen.fabric
        sent = done is not None and outcome == "applied"
        self._held = None if outcome in _WRONG else Held(seen.fabric, planned.routes if sent else seen.tables)
        self._watch(seen.fabric)
        self._states = self._agreed(before, self._ask(), seen.fabric)
        if not self._refused:
            self._asked = -self._every  # What has happened meanwhile is seen at once.
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
            [
                *(ended.notes if ended else []),
                *(planned.notes if done is None else done.notes),
                *([done.why] if done and done.why else []),
            ],
        )

    def _plan(self, seen: Seen, wanted: Routes, *, mend: bool) -> Plan:
        return plan(seen, wanted, mend=mend, keep=False, allow=self._allow, threads=self._threads)

    def _anew(self, seen: Seen, planned: Plan) -> Plan:
        """Where mended entries close a credit loop: all of them by up*/down*, which has none."""
        from netloom import _core

        if {one["kind"] for one in planned.findings} != {"credit-loop"}:
            return planned
        for mend in (True, False):  # Without, hosts have no way to some switches' own LIDs at worst.
            try:
                routes = _core.route("updn", seen.fabric, lmc=seen.fabric.lmc)
                found = self._plan(seen, routes, mend=mend)
            except NetloomError:
                continue
            if found.verified:
                note = "the guarded tables, led around, would close a credit loop: updn routes instead"
                return dataclasses.replace(found, notes=[*found.notes, note])
        return planned

    def _send(self, planned: Plan, whole: bool) -> Applied:
        back = self._since if whole else None
        done = apply(
            planned,
            self.manager,
            self.journal,
            seconds=self._wait,
            rolls_back=back,
            facts={"guard": True},
            progress=self._tell,
        )
        if done.outcome in ("applied", "unchanged"):
            self._since = None if whole else self._since or done.journal_id
        return done

    def _take_over(self, seen: Seen) -> None:
        """Where somebody else has changed routes since, these are guarded from now on."""
        last = self._last_change()
        if last is None or last == self._change:
            return
        made = next(change for change in self.journal.changes() if change.id == last)
        self._tables = self.journal.tables(last)
        self._guids = {guid for guid, _, _ in blocks(self._tables)}
        self._cabling = str(made.facts.get("cabling", seen.fabric.cabling_hash))
        self._change, self._since = last, None
        self._keep()
        self.said(f"change {last} is guarded from now on")

    def _last_change(self) -> int | None:
        """The last change in force that no guard has made."""
        changes = self.journal.changes()
        made = [change.id for change in changes if change.state == "applied" and not _of_a_guard(change)]
        return made[-1] if made else None

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
        guids = self._guids
        left = len(guids & set(seen.fabric.switch_table()["guid"].tolist()))
        if 2 * left >= len(guids):
            return None
        text = f"only {left} of the {len(guids)} switches that are guarded answer"
        return finding("unanswered", f"{text}: another fabric, or less than half of this one")

    def _watch(self, fabric: Fabric) -> None:
        """From now on asks the switches of this fabric for their ports: of a cable between two one end."""
        self._watching.close()
        self._mads = self._watching.enter_context(
            Mads(self.access, fabric, window=64, timeout_ms=_TIMEOUT_MS, retries=_RETRIES)
        )
        switch, far = fabric.switch_table(), _far_ends(fabric)
        self._ports: list[tuple[Port, Port | None]] = []
        self._requests: list[Request] = []
        lids, radix = switch["lid"].tolist(), switch["radix"].tolist()
        for guid, lid, ports in zip(switch["guid"].tolist(), lids, radix, strict=True):
            for number in range(1, ports + 1):
                other = far.get((guid, number))
                if other is None or (guid, number) < other or other not in far:
                    self._ports.append(((guid, number), other))
                    self._requests.append(Request.subnet(lid, PORT_INFO, number))

    def _ask(self) -> dict[Port, str | None]:
        """The state of every port, and of the one at the other end of its cable: None if it is up."""
        answers = self._mads.ask(self._requests)
        found: dict[Port, str | None] = {}
        for (port, other), answered, data in zip(
            self._ports, answers.answered.tolist(), answers.data, strict=True
        ):
            state = state_of(data) if answered else _DOWN
            if state is not None and (state.startswith("Down/") or not state.endswith("/LinkUp")):
                state = _DOWN
            found[port] = state
            if other is not None:
                found[other] = state
        return found

    def _is_astray(self) -> bool:
        """Whether a part of the tables, the next at each look, is not what it should be."""
        if self._held is None:
            return False
        self._astray = self._held.others(self._mads, self._every / READ_ALL)
        return bool(self._astray)

    def _agreed(
        self, before: dict[Port, str | None], now: dict[Port, str | None], fabric: Fabric
    ) -> dict[Port, str | None]:
        """What is to be compared with: ports as they were before the fabric was discovered.

        A port that discovery saw otherwise is unknown, so that the fabric is looked at again; what it says
        stands where that is so once more. One that was coming up and is up now has been planned for, if both
        nodes had their LIDs by then.
        """
        nodes = Nodes(fabric)
        without = {guid for guid, lid in zip(nodes.guids, nodes.lids, strict=True) if not lid}
        cabled = _far_ends(fabric)
        agreed: dict[Port, str | None] = {}
        odd: dict[Port, str | None] = {}
        for port in now:
            seen = None if port in cabled else _DOWN
            state = before.get(port, seen)
            agreed[port] = state
            if _DOWN not in (state, now[port], seen) and not without & {port[0], cabled[port][0]}:
                agreed[port] = now[port]
            if (state == _DOWN) != (seen == _DOWN):
                odd[port] = state
        for port, state in odd.items():
            if self._odd.get(port, _UNKNOWN) != state:
                agreed[port] = _UNKNOWN
        self._odd = odd
        return agreed

    def _log_tells(self) -> bool:
        """Whether OpenSM's log has something new of ports."""
        end = self.manager.log_size() or 0
        if end == self._log:
            return False
        new = self.manager.log_from(self._log)
        self._log = end
        return any(word in new for word in _TRAPS)


def _far_ends(fabric: Fabric) -> dict[Port, Port]:
    """By GUID and port: the other end of every cable that is alive."""
    nodes = {port: end[2:] for port, end in cables(fabric).items()}
    names = Nodes(fabric)
    guids = dict(zip(names.labels, names.guids, strict=True))
    return {port: (guids[name], number) for port, (name, number) in nodes.items()}


def _of_a_guard(change: Change) -> bool:
    """Whether a guard made it, or what a guard had begun was finished or undone by it."""
    return change.facts.get("guard") is True


def guarded(
    guard: Guard,
    rounds: int | None,
    left: float | None,
    told: Callable[[dict[str, Any] | str | None], object],
) -> tuple[list[dict[str, Any]], str | None]:
    """Guards until there were so many changes, the time is over or an interruption; what was done, and why
    it ended early. What is refused again and again is told once; `told` hears None when all is watched,
    and words of what keeps the guard from its work."""
    end = None if left is None else time.monotonic() + left
    done: list[dict[str, Any]] = []
    guard.said = told
    try:
        with guard:
            told(None)
            while rounds is None or len(done) < rounds:
                if not guard.wait(end):
                    return done, "time-limit"
                row = _row(guard.mend())
                before = done[-1]["outcome"] if done else "unchanged"
                if row["outcome"] in ("unchanged", "dry run") and not row["seen"] and before not in _WRONG:
                    continue  # Only a port has come up fully.
                if not done or row["outcome"] != "refused" or row["findings"] != done[-1]["findings"]:
                    done.append(row)
                    told(row)
    except KeyboardInterrupt:
        return done, "interrupted"
    return done, None


def _row(one: Guarded) -> dict[str, Any]:
    """A change, as results have it."""
    return {**dataclasses.asdict(one), "seconds": round(one.seconds, 6)}
