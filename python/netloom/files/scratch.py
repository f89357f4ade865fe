"""A folder of this process's own, for as long as it needs one: the only way to temporary files.

Invariants: mode 0700, opened once, everything in it by its descriptor. At the end what is in it goes, by
descriptors and through no link, and then its name, if that is still this folder's. Nothing is removed by
path: where another user renames it away and puts a folder of yours in its place, nothing of yours is touched.

Two kinds. `Scratch(folder)` lies where a product will, on its file system, so that it can be moved there;
others may write to that folder, so it is used by its descriptor only. `Scratch.private()` nobody else can
exchange, nor a folder above it, so its path can be given to what opens by path, as other programs do.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from netloom.files import temporary
from netloom.files.folder import Folder
from netloom.files.ways import is_fixed, named, true_path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OURS = 0o1700
"""The mode that it is made with; no other folder has it, so it is the one that was made. It becomes 0700."""
_ROUNDS = 20
"""How often it is emptied while something still writes into it."""

_all: dict[int, Scratch] = {}
"""Those that are there, by descriptor."""


class Scratch(Folder):
    """A new folder of mode 0700 that goes, with all that is in it, at the end of its `with` block.

    Parameters
    ----------
    parent : Folder
        The open folder that it lies in.

    Attributes
    ----------
    process : int
        Whose it is: a forked child does not remove it.

    Raises
    ------
    OSError
        If it cannot be made, or was exchanged at once.

    Examples
    --------
    >>> with Scratch.private() as scratch:
    ...     scratch.write("scenario.toml", b"")
    ...     scratch.names()
    ['scenario.toml']
    """

    def __init__(self, parent: Folder) -> None:
        self.process = os.getpid()
        self._name = f"{temporary.prefix()}{os.urandom(8).hex()}.tmp"
        path = parent.path / self._name
        with named(path):
            os.mkdir(self._name, _OURS, dir_fd=parent.fd)
            super().__init__(path, os.open(self._name, _DIRECTORY, dir_fd=parent.fd))
            try:
                about = os.fstat(self.fd)
                made = about.st_uid == os.geteuid() and about.st_mode & 0o1777 == _OURS
                if not made or os.listdir(self.fd):
                    raise OSError(errno.EPERM, "was exchanged as soon as it was made: another user did it")
                # In a group's folder what is made in it gets the group, as in the folder itself.
                os.fchmod(self.fd, stat.S_IRWXU | (about.st_mode & stat.S_ISGID))
                self._parent = os.dup(parent.fd)
            except BaseException:
                os.close(self.fd)
                raise
        _all[self.fd] = self

    @classmethod
    def private(cls, near: Iterable[Path] = ()) -> Scratch:
        """Where nobody else can exchange it: in the first such folder of `near`, `TMPDIR`, `/tmp` and so on.

        Raises
        ------
        OSError
            If there is none.
        """
        given = os.environ.get("TMPDIR")
        for path in (*near, *([Path(given)] if given else []), Path("/tmp"), Path("/var/tmp"), Path.cwd()):
            with contextlib.suppress(OSError), Folder.open(true_path(path)) as folder:
                # By its true name: links on the way may be changed, by their owner.
                if is_fixed(folder.fd):
                    return cls(folder)
        raise OSError(
            errno.EACCES,
            "no folder for temporary files that nobody else can exchange: expected TMPDIR to name one",
        )

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.clear()
        finally:
            _all.pop(self.fd, None)
            os.close(self._parent)
            super().__exit__(*error)

    def clear(self) -> None:
        """Removes all that is in it, and then itself, wherever in its folder it has been moved to."""
        with contextlib.suppress(OSError):
            _empty(self.fd)
            for name in (self._name, *os.listdir(self._parent)):
                if temporary.is_at(self._parent, name, self.fd):
                    os.rmdir(name, dir_fd=self._parent)
                    return


def remove_whole(folder: Folder, name: str) -> None:
    """Removes a folder with all that is in it, in a private one: what another program left there.

    Raises
    ------
    OSError
        If the folder that it is in is not this user's alone, or there is none.
    """
    about = os.fstat(folder.fd)
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise OSError(errno.EPERM, "is no folder of this user's own", str(folder.path))
    with folder.folder(name) as whole:
        _empty(whole.fd)
        folder.remove_folder(name)


def remove_all() -> None:
    """Removes everything temporary: the process is ended by force."""
    temporary.remove_all()
    _clear_all()


@atexit.register
def _clear_all() -> None:
    """Also at the end, as an interrupt may come before a `with` block begins; not in a forked child."""
    for scratch in list(_all.values()):
        if scratch.process == os.getpid():
            scratch.clear()


def unnamed() -> IO[bytes]:
    """A temporary file without a name, in memory."""
    return os.fdopen(os.memfd_create("netloom", os.MFD_CLOEXEC), "w+b", buffering=0)


def _empty(folder: int) -> None:
    device = os.fstat(folder).st_dev
    for _ in range(_ROUNDS):
        names = os.listdir(folder)
        if not names:
            return
        for name in names:
            with contextlib.suppress(OSError):
                about = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISDIR(about.st_mode):
                    os.unlink(name, dir_fd=folder)
                elif about.st_dev == device:
                    below = os.open(name, _DIRECTORY, dir_fd=folder)
                    try:
                        _empty(below)
                    finally:
                        os.close(below)
                    os.rmdir(name, dir_fd=folder)
