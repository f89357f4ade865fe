"""A folder for one command at a time, by a lock that dies with its process.

The lock is the kernel's (`flock`) on a file in the folder, which says who holds it. What is killed leaves the
file, and no lock. At the end the file goes, and so do folders that were made for it and hold nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

NAME = "in-use"
"""The file."""

_SIGNED = b"process "
_TRIES = 100
"""How often a folder that another command has just taken away is made again."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes a folder and keeps it to this process.

    Raises
    ------
    OSError
        If another process has it: naming the folder and who.
    """
    made: list[Path] = []
    try:
        file = _locked(folder, made)
        try:
            yield
        finally:
            # Before the lock goes: whoever has opened the file meanwhile sees that it is another one.
            (folder / NAME).unlink(missing_ok=True)
            os.close(file)
    finally:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir()


def is_ours(path: Path) -> bool:
    """Whether a file is such a lock, held or not: signed, or made and not signed yet."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SIGNED)) in (b"", _SIGNED)


def _locked(folder: Path, made: list[Path]) -> int:
    """The file, locked and signed; what was made for it is added to `made`, outermost first."""
    path = folder / NAME
    for _ in range(_TRIES):
        missing = [there for there in (folder, *folder.parents) if not there.exists()]
        for there in reversed(missing):
            there.mkdir(exist_ok=True)
            made.append(there)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            continue
        try:
            _lock(file, folder)
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                os.truncate(file, 0)
                now = time.strftime("%Y-%m-%d %H:%M:%S")
                os.write(
                    file, f"{_SIGNED.decode()}{os.getpid()} on {socket.gethostname()} since {now}\n".encode()
                )
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
    raise OSError(errno.EAGAIN, "other commands take it away again and again", str(folder))


def _lock(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = os.read(file, 200).decode(errors="replace").strip() or "another process"
        raise OSError(
            errno.EBUSY, f"is in use by {who}: expected one command at a time", str(folder)
        ) from None
    except OSError as error:
        # Some file systems have no locks; without them a folder is as safe as its user is careful.
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise
