"""What was in force and what will be: on disk before anything is sent, and one change at a time.

The journal is a folder beside the file of routes that OpenSM reads, so that whoever can change that file
finds it. In it `journal.jsonl` has one line an event, only ever appended to and flushed to disk; every change
has a folder with the tables before it and after each of its stages, as OpenSM's `file` engine reads them. A
line that was cut off by a kill or a full disk is no event, nor is one that says what no change says. The
lock is the kernel's and dies with its process. Under the lock the folder is opened once and must be one that
nobody else can change (`netloom.files`); what only reads it opens it as it is.

Events of a change: `begin` (tables are on disk), `stage` (now the file is replaced and OpenSM asked),
`loaded` (read back), `undo` (why); it ends with `applied`, `rolled-back`, `superseded` (another one finished
or undid it).
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import gzip
import hashlib
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from netloom import reading
from netloom.errors import FormatError, LiveError
from netloom.files import Folder, Held, replace_file

__all__ = ["Change", "Journal", "State", "replace_file"]

State = Literal["begun", "sending", "undoing", "applied", "rolled-back", "superseded"]
_ELSEWHERE = "elsewhere"
"""File of a journal's folder: others that changes of the same file of routes were written to."""
_EVENTS, _LOCK = "journal.jsonl", "lock"
_GUARDED = "guarded.gz"
"""What `apply guard` guards: a line of facts, then the tables."""
_CHANGE = re.compile(r"[1-9][0-9]{0,9}")
_TABLES = re.compile(r"(old|undo|stage-[0-9]+|undo-[0-9]+)\.lfts\.gz")
_LAST = 2**31 - 1
"""The largest number that a journal is believed."""
_LISTED = 10
_ENDS: tuple[State, ...] = ("applied", "rolled-back", "superseded")


@dataclass
class Change:
    """One change, as the journal tells it."""

    id: int
    time: str
    """When it began (UTC)."""
    changed_entries: int
    stages: int
    state: State = "begun"
    why: str | None = None
    """Why it was undone."""
    sent: int = 0
    """The last stage whose tables may have been sent."""
    rolls_back: int | None = None
    """The change that it rolls back."""
    recovers: int | None = None
    """The change that it finishes or undoes after a kill."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The rest of its first line."""

    @property
    def open(self) -> bool:
        """Whether it has not ended: it runs, or was killed."""
        return self.state not in _ENDS


class Journal:
    """The journal of one OpenSM.

    Parameters
    ----------
    folder : path
        Its folder; made when the first change begins.
    routes : path, optional
        The file of routes that its changes replace. Where the journal does not lie beside that, the one that
        does is locked too, and told of this one: changes of a file keep each other out, wherever they are
        journaled.
    """

    def __init__(self, folder: str | os.PathLike[str], *, routes: Path | None = None) -> None:
        self.folder = Path(folder)
        self._held = 0
        self._there: Folder | None = None
        beside = None if routes is None else Journal.beside(routes)
        same = beside is None or beside.folder.absolute() == self.folder.absolute()
        self._beside = None if same else beside

    @classmethod
    def beside(cls, file: Path) -> Journal:
        """The journal of the OpenSM that reads this file of routes."""
        return cls(file.with_name(file.name + ".journal"))

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._held > 0

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other changes out; may be nested.

        Raises
        ------
        LiveError
            If another process changes routes now: says which.
        OSError
            If the folder cannot be made.
        """
        if self._held:
            self._held += 1
            try:
                yield
            finally:
                self._held -= 1
            return
        outer = contextlib.nullcontext() if self._beside is None else self._beside.locked()
        with outer, self._alone():
            if self._beside is not None:
                self._beside.knows(self)
            yield

    def knows(self, other: Journal) -> None:
        """Notes that changes of this journal's file are written down elsewhere too.

        Raises
        ------
        LiveError
            If a change is open here, which has to end first.
        """
        left = self.unfinished()
        if left is not None:
            raise LiveError(
                f"{self.folder}: change {left.id} was left unfinished: `netloom apply recover --yes` first"
            )
        if other.folder.absolute() not in self._elsewhere():
            with self._opened() as folder:
                folder.append(_ELSEWHERE, f"{other.folder.absolute()}\n".encode())

    def _elsewhere(self) -> list[Path]:
        """Other journals of the same file."""
        try:
            with self._opened() as folder:
                lines = folder.read(_ELSEWHERE).decode(errors="surrogateescape").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [Path(line) for line in lines if line]

    def open_elsewhere(self) -> tuple[Path, Change] | None:
        """A change of the same file that another journal has, and that has not ended."""
        for folder in self._elsewhere():
            left = Journal(folder).unfinished()
            if left is not None:
                return folder, left
        return None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """The lock of this folder."""
        if self.folder.exists() and not self.folder.is_dir():
            raise LiveError(f"{self.folder}: is a file: expected the folder of a journal")
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        signed = f"process {os.getpid()} on {socket.gethostname()} since {now}"
        with contextlib.ExitStack() as stack:
            if not self.folder.exists():
                with Folder.trusted(self.folder.parent) as parent:
                    parent.make(self.folder.name)
            there = stack.enter_context(Folder.trusted(self.folder))
            try:
                file = there.lock(_LOCK, signed)
            except Held as held:
                raise LiveError(
                    f"{self.folder}: {held.who} changes routes now: one change at a time"
                ) from None
            if file is None:
                raise LiveError(f"{self.folder}: its lock was taken away: expected one change at a time")
            stack.callback(os.close, file)
            self._held, self._there = 1, there
            try:
                yield
            finally:
                self._held, self._there = 0, None
                os.ftruncate(file, 0)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Folder]:
        """Its folder: the one that is locked, else as it is now."""
        if self._there is not None:
            yield self._there
        else:
            with Folder.open(self.folder) as there:
                yield there

    def changes(self) -> list[Change]:
        """All changes, the first one first."""
        found: dict[int, Change] = {}
        for event in self._events():
            number, what = event.pop("id"), event.pop("event")
            if what == "begin":
                found[number] = Change(
                    number,
                    event.pop("time"),
                    event.pop("changed_entries"),
                    event.pop("stages"),
                    rolls_back=event.pop("rolls_back", None),
                    recovers=event.pop("recovers", None),
                    facts=event,
                )
                continue
            change = found.get(number)
            if change is None:
                continue
            change.why = event.get("why", change.why)
            if what == "stage":
                change.state, change.sent = "sending", event["stage"]
            elif what == "undo":
                change.state = "undoing"
            elif what in _ENDS:
                change.state = what
        return list(found.values())

    def unfinished(self) -> Change | None:
        """The last change that has not ended."""
        return next((change for change in reversed(self.changes()) if change.open), None)

    def begin(self, old: bytes, stages: Sequence[bytes], facts: dict[str, Any]) -> int:
        """Puts tables on disk, then the first event of a change; returns its number.

        Raises
        ------
        OSError
            If the disk is full or fails: nothing has begun then.
        """
        assert self._held, "a change begins under the lock"
        number = max((change.id for change in self.changes()), default=0) + 1
        try:
            if number > _LAST:
                raise OSError(errno.EOVERFLOW, f"it has a change {number - 1}")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                packed = list(pool.map(_packed, [old, *stages]))
            with self._opened() as journal:
                with journal.folder(str(number), make=True) as folder:
                    for i, (data, _) in enumerate(packed):
                        folder.write(f"stage-{i}.lfts.gz" if i else "old.lfts.gz", data)
                    folder.sync()
                journal.sync()
            self.add(
                number,
                "begin",
                time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                stages=len(stages),
                old_sha256=packed[0][1],
                new_sha256=packed[-1][1],
                **facts,
            )
        except OSError as error:
            raise OSError(
                error.errno or errno.EIO,
                f"{error.strerror}: no journal can be written, so nothing was applied",
                str(self.folder),
            ) from None
        return number

    def put(self, number: int, name: str, tables: bytes) -> None:
        """Puts more tables of a change on disk: those that it is undone by."""
        with self._opened() as journal, journal.folder(str(number)) as folder:
            folder.write(f"{name}.lfts.gz", _packed(tables)[0])
            folder.sync()

    def guard(self, tables: bytes, **facts: Any) -> None:
        """Puts the tables that are guarded on disk, with what is to be known of them.

        Raises
        ------
        OSError
            If the disk is full or fails.
        """
        with self._opened() as folder:
            folder.write(_GUARDED, _packed(json.dumps(facts).encode() + b"\n" + tables)[0])
            folder.sync()

    def guarded(self) -> tuple[dict[str, Any], bytes] | None:
        """What was put there by `guard`; None if there is nothing, or nothing that can be read."""
        try:
            with self._opened() as folder:
                data = reading.gunzip(folder.read(_GUARDED), str(self.folder / _GUARDED))
            line, _, tables = data.partition(b"\n")
            facts = json.loads(line)
        except (OSError, ValueError, FormatError):
            return None
        return (facts, tables) if isinstance(facts, dict) else None

    def close_before(self, number: int, why: str | None = None) -> None:
        """Ends all earlier changes that have not ended: `number`, or what it found, took their place."""
        for change in self.changes():
            if change.open and change.id < number:
                self.add(change.id, "superseded", why=why or f"change {number} took its place")

    def add(self, number: int, event: str, **facts: Any) -> None:
        """Appends an event and flushes it to disk."""
        line = json.dumps({"id": number, "event": event, **facts}).encode() + b"\n"
        with self._opened() as folder:
            folder.append(_EVENTS, line)
            folder.sync()

    def clear(self) -> None:
        """Takes away what a journal wrote; files of others stay."""
        try:
            opened = Folder.open(self.folder)
        except FileNotFoundError:
            return
        with opened as journal:
            for name in (_EVENTS, _ELSEWHERE, _GUARDED, _LOCK):
                journal.remove(name)
            journal.remove_own(_CHANGE, _TABLES)

    def tables(self, number: int, stage: int | None = None) -> bytes:
        """The tables before a change (stage 0), after a stage, or (None) after all, as they were put on disk.

        Raises
        ------
        LiveError
            If there is no such change, or its tables are not what was put there.
        """
        change = next((change for change in self.changes() if change.id == number), None)
        if change is None:
            raise LiveError(f"{self.folder}: no change {number}: `netloom apply history` lists them")
        stage = change.stages if stage is None else stage
        name = f"stage-{stage}.lfts.gz" if stage else "old.lfts.gz"
        path = self.folder / str(number) / name
        try:
            with self._opened() as journal, journal.folder(str(number)) as folder:
                data = reading.gunzip(folder.read(name), str(path))
        except OSError as error:
            raise LiveError(f"{path}: {error.strerror or error}") from None
        except FormatError as error:
            raise LiveError(str(error)) from None
        expected = {0: "old_sha256", change.stages: "new_sha256"}.get(stage)
        if expected is not None and hashlib.sha256(data).hexdigest() != change.facts.get(expected):
            raise LiveError(f"{path}: not what the journal says was put there")
        return data

    def all_tables(self, number: int) -> Iterator[bytes]:
        """All tables of a change that can be read: the old ones, those of its stages and its undoing."""
        with contextlib.suppress(OSError), self._opened() as journal, journal.folder(str(number)) as folder:
            for name in filter(_TABLES.fullmatch, sorted(folder.names())):
                with contextlib.suppress(OSError, FormatError):
                    yield reading.gunzip(folder.read(name), name)

    def _events(self) -> Iterator[dict[str, Any]]:
        begun: set[int] = set()
        for line in self._lines():
            event = _event(line, begun)
            if event is not None:
                yield event

    def odd_lines(self) -> list[int]:
        """Lines, from 1, that are no events: cut off by a kill, or damaged since."""
        begun: set[int] = set()
        return [number for number, line in enumerate(self._lines(), 1) if _event(line, begun) is None]

    def odd(self) -> str | None:
        """What to say of lines that are no events; None if there are none."""
        lines = self.odd_lines()
        if not lines:
            return None
        listed = ", ".join(map(str, lines[:_LISTED])) + (" and more" if len(lines) > _LISTED else "")
        return f"{self.folder}: no events in line {listed}: cut off by a kill, or damaged"

    def _lines(self) -> list[bytes]:
        try:
            with self._opened() as folder:
                # Not `splitlines`: a damaged line may hold any byte.
                lines = folder.read(_EVENTS).split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return []
        return lines if lines[-1] else lines[:-1]


def _event(line: bytes, begun: set[int]) -> dict[str, Any] | None:
    """The event of a line, if it says what an event must say; `begun` are the changes before it."""
    try:
        event = json.loads(line.decode())
        # What cannot be printed or written again was not written by us.
        if "\\u0000" in json.dumps(event, ensure_ascii=False).encode().decode():
            return None
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not _is_count(event.get("id"), 1):
        return None
    number, what = event["id"], event.get("event")
    if what == "begin":
        sound = (
            number not in begun
            and isinstance(event.get("time"), str)
            and _is_count(event.get("changed_entries"), 0)
            and _is_count(event.get("stages"), 0)
            and all(event.get(key) is None or _is_count(event[key], 1) for key in ("rolls_back", "recovers"))
        )
        if sound:
            begun.add(number)
        return event if sound else None
    if number not in begun or not (event.get("why") is None or isinstance(event["why"], str)):
        return None
    if what == "stage":
        return event if _is_count(event.get("stage"), 1) else None
    return event if what in ("loaded", "undo", *_ENDS) else None


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LAST


def _packed(tables: bytes) -> tuple[bytes, str]:
    """Tables as they are put on disk, and the sum of what was packed."""
    return gzip.compress(tables, 1, mtime=0), hashlib.sha256(tables).hexdigest()
