"""Checkpoints: a folder that keeps routings of a scenario that have ended, and states of those that run.

Invariants: a routing's folder has its `run.json` last, with the sum of every file and of itself: without one
the routing has not ended, and what was altered is not believed. A state goes when its routing is kept. Where
nothing is kept but files of others lie, nothing is begun.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netloom import reading
from netloom.errors import FormatError
from netloom.files import Folder
from netloom.runs import lock
from netloom.runs.folder import Recorded, as_json, damaged, digest, folder_names, is_whole, sealed

RECORD, STATE = "run.json", "state"
RECORD_SCHEMA = "netloom.routing-run/2"
_UNSEALED = "netloom.routing-run/1"
_TEMPORARY = re.compile(r"\.netloom-[0-9]+-[0-9a-f]+\.tmp")
"""What a command that was killed left of a file."""
STATE_MAGIC = "netloom.state/2"
"""The first word of a state's file; netloom's version and the sum of all that the run was given follow."""


def check_checkpoint(path: Path) -> None:
    """Refuses a folder that can keep nothing: one that is a file, cannot be written, or is somebody else's.

    Raises
    ------
    OSError
        Naming the folder.
    """
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise OSError(errno.ENOTDIR, "is a file, expected a folder", str(there))
    if not os.access(there, os.W_OK):
        raise OSError(errno.EACCES, "not writable", str(there))
    if not path.is_dir():
        return
    with Folder.open(path) as opened:
        names = opened.names()
        if names and not any(_is_kept(opened, name) for name in names):
            raise OSError(
                errno.ENOTEMPTY,
                "is not empty and keeps no routing: expected a new folder, or a checkpoint",
                str(path),
            )


def _is_kept(checkpoint: Folder, name: str) -> bool:
    """Whether a checkpoint left this: a routing, or the lock of a command that was killed."""
    if name == lock.NAME:
        return checkpoint.is_lock(name)
    if re.fullmatch(r".+-[0-9a-f]{8}", name) is None or checkpoint.kind(name) != "folder":
        return False
    with checkpoint.folder(name) as routing:
        return any(routing.kind(file) is not None for file in (RECORD, STATE))


class Checkpoint:
    """Routings of a scenario that have ended and need not be run again, and states of those that run.

    Parameters
    ----------
    path : Path
        The folder; made by the first routing that ends, or whose state is kept.
    key : mapping
        Everything that results depend on but the routing, netloom's version (`netloom`) among it: a run is
        only taken up if all of it is the same.
    every : float
        Seconds from one state to the next; 0: only when a run is ended early.
    """

    def __init__(self, path: Path, key: Mapping[str, Any], every: float) -> None:
        self._path = path
        self._digest = digest(as_json(key))
        self._head = f"{STATE_MAGIC} {key['netloom']} {self._digest}\n".encode()
        self._every = every

    def load(self, routing: str) -> Recorded | None:
        """What is there of a routing; None if it has not ended yet.

        Raises
        ------
        FormatError
            If what is there is damaged, or belongs to something else.
        """
        folder = self._path / self._name(routing)
        file = folder / RECORD
        data = self._read(routing, RECORD)
        if data is None:
            return None
        try:
            record = json.loads(data)
            schema = record["schema"]
            known = schema == RECORD_SCHEMA and is_whole(record) and record["result"]["routing"] == routing
            of_this = known and record["key"] == self._digest
            sums = {Path(name).name: str(of_file) for name, of_file in dict(record["files"]).items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            schema, known = None, False
        if schema == _UNSEALED or (known and not of_this):
            raise self._of_another(file)
        if not known:
            raise _damaged(file, folder)
        files = {}
        for name, of_file in sums.items():
            found = self._read(routing, name)
            if found is None or digest(found) != of_file:
                raise _damaged(folder / name, folder)
            files[name] = found
        return Recorded(record["result"], files)

    def state(self, routing: str) -> bytes | None:
        """The state of a routing that has begun; None if there is none.

        Raises
        ------
        FormatError
            If what is there is damaged, or belongs to something else.
        """
        file = self._path / self._name(routing) / STATE
        data = self._read(routing, STATE)
        if data is None:
            return None
        head, end, packed_state = data.partition(b"\n")
        if head.startswith(STATE_MAGIC.encode()) and end and head + end != self._head:
            raise self._of_another(file)
        if head + end != self._head or not packed_state.startswith(b"\x1f\x8b"):
            raise _damaged(file, file)
        try:
            return reading.gunzip(packed_state, str(file))
        except FormatError as error:
            if reading.RAISE in str(error):
                raise
            raise _damaged(file, file) from None

    def keep(self, routing: str) -> tuple[Path, bytes, float]:
        """Where a routing's state goes, and when: the file, its first line, seconds from one to the next."""
        return self._path / self._name(routing) / STATE, self._head, self._every

    def save(self, run: Recorded) -> None:
        """Keeps a routing that has ended; its state goes."""
        record = {
            "schema": RECORD_SCHEMA,
            "key": self._digest,
            "files": {name: digest(data) for name, data in sorted(run.files.items())},
            "result": run.result,
        }
        with (
            Folder.open(self._path, make=True) as checkpoint,
            checkpoint.folder(self._name(run.routing), make=True) as folder,
        ):
            for name, data in run.files.items():
                folder.write(name, data)
            folder.write(RECORD, sealed(record))
            # Only now: what is killed before goes on from its state. What it does not know stays.
            for left in folder.names():
                if left == STATE or _TEMPORARY.fullmatch(left):
                    folder.remove(left)

    def _read(self, routing: str, name: str) -> bytes | None:
        """A file of a routing; None if there is none.

        Raises
        ------
        OSError
            If it is a link, or the routing's folder is something else.
        """
        try:
            with Folder.open(self._path) as checkpoint, checkpoint.folder(self._name(routing)) as folder:
                return folder.read(name) if folder.kind(name) in ("file", "link") else None
        except FileNotFoundError:
            return None

    def _of_another(self, file: Path) -> FormatError:
        return FormatError(
            f"{file.parent}: is of another scenario, other inputs, options or another version: expected a "
            "folder of this one, or a new one",
            str(file),
        )

    def _name(self, routing: str) -> str:
        mark = digest(routing.encode())[:8]
        return f"{folder_names([routing])[0][2:]}-{mark}"


def _damaged(file: Path, without: Path) -> FormatError:
    return damaged(file, "--checkpoint", f"without {without} the routing runs from its start")
