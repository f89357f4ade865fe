"""What was in force and what will be: on disk before anything is sent, and one change at a time.

The journal is a folder beside the file of routes that OpenSM reads, so that whoever can change that file
finds it. In it `journal.jsonl` has one line an event, only ever appended to and flushed to disk; every change
has a folder with the tables before it and after each of its stages, as OpenSM's `file` engine reads them. A
line that was cut off by a kill or a full disk is no event. The lock is the kernel's and dies with its
process.

Events of a change: `begin` (tables are on disk), `stage` (now the file is replaced and OpenSM asked),
`loaded` (read back), `undo` (why); it ends with `applied`, `rolled-back`, `superseded` (another one finished
or undid it).
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import fcntl
import gzip
import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from netloom.errors import LiveError

State = Literal["begun", "sending", "undoing", "applied", "rolled-back", "superseded"]
_ELSEWHERE = "elsewhere"
"""File of a journal's folder: others that changes of the same file of routes were written to."""
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
            with (self.folder / _ELSEWHERE).open("a") as file:
                file.write(f"{other.folder.absolute()}\n")

    def _elsewhere(self) -> list[Path]:
        """Other journals of the same file."""
        try:
            return [Path(line) for line in (self.folder / _ELSEWHERE).read_text().splitlines() if line]
        except FileNotFoundError:
            return []

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
        self.folder.mkdir(exist_ok=True)
        file = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                who = os.read(file, 200).decode(errors="replace").strip() or "another process"
                raise LiveError(f"{self.folder}: {who} changes routes now: one change at a time") from None
            os.truncate(file, 0)
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            os.write(file, f"process {os.getpid()} on {socket.gethostname()} since {now}\n".encode())
            self._held = 1
            try:
                yield
            finally:
                self._held = 0
                os.truncate(file, 0)
        finally:
            os.close(file)

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
        folder = self.folder / str(number)
        try:
            folder.mkdir(exist_ok=True)
            with concurrent.futures.ThreadPoolExecutor() as pool:
                packed = list(pool.map(_packed, [old, *stages]))
            for i, (data, _) in enumerate(packed):
                _write(folder / (f"stage-{i}.lfts.gz" if i else "old.lfts.gz"), data)
            _sync_folder(folder)
            _sync_folder(self.folder)
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
        _write(self.folder / str(number) / f"{name}.lfts.gz", _packed(tables)[0])
        _sync_folder(self.folder / str(number))

    def close_before(self, number: int, why: str | None = None) -> None:
        """Ends all earlier changes that have not ended: `number`, or what it found, took their place."""
        for change in self.changes():
            if change.open and change.id < number:
                self.add(change.id, "superseded", why=why or f"change {number} took its place")

    def add(self, number: int, event: str, **facts: Any) -> None:
        """Appends an event and flushes it to disk."""
        line = json.dumps({"id": number, "event": event, **facts}).encode() + b"\n"
        path = self.folder / "journal.jsonl"
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            end = os.lseek(file, 0, os.SEEK_END)
            if end and os.pread(file, 1, end - 1) != b"\n":
                line = b"\n" + line  # What was cut off stays, as a line that is no event.
            while line:
                line = line[os.write(file, line) :]
            os.fsync(file)
        finally:
            os.close(file)
        _sync_folder(self.folder)

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
        path = self.folder / str(number) / (f"stage-{stage}.lfts.gz" if stage else "old.lfts.gz")
        try:
            data = gzip.decompress(path.read_bytes())
        except (OSError, EOFError) as error:
            raise LiveError(f"{path}: {error}") from None
        expected = {0: "old_sha256", change.stages: "new_sha256"}.get(stage)
        if expected is not None and hashlib.sha256(data).hexdigest() != change.facts.get(expected):
            raise LiveError(f"{path}: not what the journal says was put there")
        return data

    def _events(self) -> Iterator[dict[str, Any]]:
        try:
            lines = (self.folder / "journal.jsonl").read_bytes().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in lines:
            event = _event(line)
            if event is not None:
                yield event

    def odd_lines(self) -> list[int]:
        """Lines, from 1, that are no events: cut off by a kill, or damaged since."""
        try:
            lines = (self.folder / "journal.jsonl").read_bytes().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [number for number, line in enumerate(lines, 1) if _event(line) is None]


def _event(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("id"), int) and "event" in event:
            return event
    return None


def replace_file(path: Path, data: bytes) -> None:
    """Puts a whole file in another's place: by rename, flushed to disk, with its mode and owner."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.netloom")
    _write(temporary, data)
    with contextlib.suppress(OSError):
        before = path.stat()
        os.chmod(temporary, before.st_mode & 0o7777)
        os.chown(temporary, before.st_uid, before.st_gid)
    os.replace(temporary, path)
    _sync_folder(path.parent)


def _packed(tables: bytes) -> tuple[bytes, str]:
    """Tables as they are put on disk, and the sum of what was packed."""
    return gzip.compress(tables, 1, mtime=0), hashlib.sha256(tables).hexdigest()


def _write(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(file)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
