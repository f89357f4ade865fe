"""A temporary file beside the one that it becomes: known by its folder's descriptor and its inode.

Invariants: its name is random, and never opened if it exists. It is renamed and removed only while it is what
has its name: others who write to the folder may have put something else there.
"""

from __future__ import annotations

import contextlib
import errno
import os

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_all: dict[int, Temporary] = {}
"""Those that are being written, by the identity of the object."""


class Temporary:
    """A new file in an open folder, open for writing; it goes at the end of its `with` block.

    Attributes
    ----------
    file : int
        Its descriptor.
    """

    def __init__(self, folder: int) -> None:
        self._folder, self._name = folder, f"{prefix()}{os.urandom(8).hex()}.tmp"

    def __enter__(self) -> Temporary:
        self.file = os.open(self._name, _NEW, 0o666, dir_fd=self._folder)
        _all[id(self)] = self
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.remove()
        finally:
            _all.pop(id(self), None)
            os.close(self.file)

    def becomes(self, name: str) -> None:
        """Gives it its name.

        Raises
        ------
        OSError
            If it cannot be, or somebody else's file took its place.
        """
        if not is_at(self._folder, self._name, self.file):
            raise OSError(
                errno.ESTALE, "another user moved it away while it was written: expected a folder of yours"
            )
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def remove(self) -> None:
        """Removes it, unless it has its name or another file has taken its place."""
        with contextlib.suppress(OSError):
            if is_at(self._folder, self._name, self.file):
                os.unlink(self._name, dir_fd=self._folder)


def prefix() -> str:
    """How names of temporary files and folders of this process begin."""
    return f".netloom-{os.getpid()}-"


def is_at(folder: int, name: str, fd: int) -> bool:
    """Whether a name in a folder is that of an open file or folder."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(fd))
    except FileNotFoundError:
        return False


def fill(file: int, data: bytes) -> None:
    """Writes all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def remove_all() -> None:
    """Removes what is half written: the process is ended by force."""
    for temporary in list(_all.values()):
        temporary.remove()
