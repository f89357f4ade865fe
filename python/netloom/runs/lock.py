"""A folder for one command at a time, by a lock that dies with its process.

The lock is the kernel's (`flock`) on a file in the folder, which says who holds it. What is killed leaves the
file, and no lock. At the end the file goes, and so do folders that were made for it and hold nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from netloom import files

NAME = "in-use"
"""The file."""

_TRIES = 100
"""How often a folder that another command has just taken away is made again."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes a folder and keeps it to this process; its path opens the one that is locked meanwhile.

    Raises
    ------
    OSError
        If another process has it: naming the folder and who. If the file is no lock, or not ours.
    """
    with contextlib.ExitStack() as made:
        there, file = _locked(folder, made)
        with there, there.kept():
            try:
                yield
            finally:
                # Before the lock goes: whoever has opened the file meanwhile sees that it is another one.
                if there.is_at(NAME, file):
                    there.remove(NAME)
                os.close(file)


def _locked(folder: Path, made: contextlib.ExitStack) -> tuple[files.Folder, int]:
    """The folder and its file, locked and signed; folders that were made for it go with `made`."""
    for _ in range(_TRIES):
        missing = [there for there in (folder, *folder.parents) if not there.exists()]
        for path in reversed(missing):
            parent = made.enter_context(files.Folder.open(path.parent))
            if parent.make(path.name):
                with contextlib.suppress(FileNotFoundError):  # Another command took it away at once.
                    made.callback(_remove, parent, made.enter_context(parent.folder(path.name)))
        try:
            there = files.Folder.open(folder)
        except FileNotFoundError:
            continue
        try:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            file = there.lock(NAME, f"process {os.getpid()} on {socket.gethostname()} since {now}")
        except FileNotFoundError:
            file = None
        except BaseException:
            there.__exit__()
            raise
        if file is not None:
            return there, file
        there.__exit__()
    raise OSError(errno.EAGAIN, "other commands take it away again and again", str(folder))


def _remove(parent: files.Folder, folder: files.Folder) -> None:
    """Removes a folder that was made, if it is empty and still has its name."""
    if parent.is_at(folder.path.name, folder.fd):
        parent.remove_folder(folder.path.name)
