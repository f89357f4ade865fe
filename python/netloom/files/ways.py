"""Where a path leads, part by part: what is looked at is what is used.

No path is handed to the system as a whole: every part is opened relative to the one before, and no link is
followed by the system. A link is read and gone on with only if nobody else could have put it there: it
belongs to this process's user or to root, and lies where only they can exchange it. Its twin for what the
core opens is `crates/python/src/io/place.rs`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LINKS = 40
"""How many links may lead from one to the next."""
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ANYTHING = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_ROOT = 0


@dataclass
class Place:
    """What a path names: a name in an open folder, and what is there.

    Attributes
    ----------
    folder : int
        The folder's descriptor.
    name : str
        The name in it; `.` for the folder itself.
    there : int or None
        A descriptor (`O_PATH`) of what is there.
    given : bool
        Whether it is one of this process's own descriptors (`/dev/stdout`), whose it may be.
    """

    folder: int
    name: str
    there: int | None
    given: bool = False

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)
        if self.there is not None:
            os.close(self.there)

    @property
    def mode(self) -> int | None:
        """The mode of what is there."""
        return None if self.there is None else os.fstat(self.there).st_mode

    def open_folder(self) -> int:
        """Opens the folder that was found.

        Raises
        ------
        OSError
            If it is none, or may not be read.
        """
        if self.there is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.there)


def find(path: Path, *, make: bool = False) -> Place:
    """Goes along a path; its last part need not be there.

    Parameters
    ----------
    path : Path
        As the user named it.
    make : bool, default False
        Make the folders that are missing, the last one too.

    Returns
    -------
    Place

    Raises
    ------
    OSError
        If a part is missing, or is a link that others made or can exchange.
    """
    with contextlib.ExitStack() as opened:
        folder = _Held(opened, _start(str(path)))
        parts = _parts(str(path))
        links = 0
        while parts:
            name, last = parts.pop(), not parts
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder.fd)
            there = _look(folder.fd, name, missing_ok=last)
            if there is None:
                return Place(folder.keep(), name, None)
            found = _Held(opened, there)
            about = os.fstat(there)
            if stat.S_ISLNK(about.st_mode):
                refuse_foreign("a link", "not followed", about, folder.fd)
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, "leads from link to link: expected a file or folder")
                text = os.readlink("", dir_fd=there)
                meant = _descriptor(folder.fd, name)
                if meant is not None:
                    found = _Held(opened, meant)
                    mode = os.fstat(meant).st_mode
                    if last and not stat.S_ISREG(mode):
                        return Place(folder.keep(), name, found.keep(), given=True)
                    if stat.S_ISDIR(mode):
                        folder = found
                        continue
                if text.startswith("/"):
                    folder = _Held(opened, _start(text))
                parts += _parts(text)
            elif last:
                return Place(folder.keep(), name, found.keep())
            elif stat.S_ISDIR(about.st_mode):
                folder = found
            else:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return Place(folder.keep(), ".", os.open(".", _FOLDER, dir_fd=folder.fd))


def true_path(path: Path) -> Path:
    """What a path names, without links; its last part need not be there.

    Raises
    ------
    OSError
        As `find`.
    """
    with named(path), find(path) as place:
        if place.mode is not None and stat.S_ISDIR(place.mode):
            return Path(os.readlink(f"/proc/self/fd/{place.there}"))
        return Path(os.readlink(f"/proc/self/fd/{place.folder}"), place.name)


def check_file(path: Path) -> None:
    """Refuses a path that no file can be written to.

    Raises
    ------
    OSError
        Naming the path: a folder, a link or a pipe of others, a place that is not writable.
    """
    with named(path), find(path) as place:
        if place.mode is None or stat.S_ISREG(place.mode):
            target = place.folder
        elif stat.S_ISDIR(place.mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder, expected a file")
        else:
            assert place.there is not None
            if not place.given:
                refuse_foreign("a pipe or a device", "not written to", os.fstat(place.there), place.folder)
            target = place.there
        if not os.access(f"/proc/self/fd/{target}", os.W_OK):
            raise PermissionError(errno.EACCES, "not writable")


def check_folder(path: Path) -> bool:
    """Refuses a path that is no folder that can be written to, and cannot become one; whether it is there.

    Raises
    ------
    OSError
        Naming the path.
    """
    try:
        place = find(path)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}", str(path)) from None
    except OSError as error:
        error.filename = str(path)
        raise
    with named(path), place:
        if place.mode is not None and not stat.S_ISDIR(place.mode):
            raise NotADirectoryError(errno.ENOTDIR, "is a file, expected a folder")
        target = place.folder if place.there is None else place.there
        if not os.access(f"/proc/self/fd/{target}", os.W_OK):
            raise PermissionError(errno.EACCES, "not writable")
        return place.there is not None


def is_trusted(user: int) -> bool:
    """Whether a user is this process's, or root."""
    return user in (_ROOT, os.geteuid())


def refuse_foreign(what: str, so: str, about: os.stat_result, folder: int) -> None:
    """Refuses what another user made, or could have put into the folder where it is.

    Raises
    ------
    PermissionError
        Saying whose it is.
    """
    if not is_trusted(about.st_uid):
        raise PermissionError(
            errno.EACCES, f"is {what} that another user made (user id {about.st_uid}): {so}"
        )
    around = os.fstat(folder)
    if others_exchange(around) and not is_out_of_reach(folder):
        mode = stat.S_IMODE(around.st_mode)
        raise PermissionError(
            errno.EACCES, f"is {what} in a folder that others can write to (mode {mode:04o}): {so}"
        )


def others_exchange(folder: os.stat_result) -> bool:
    """Whether others can put something else under a name in a folder, as far as its mode says."""
    group = stat.S_IWGRP if folder.st_gid != _ROOT else 0
    written = folder.st_mode & (stat.S_IWOTH | group) and not folder.st_mode & stat.S_ISVTX
    return not is_trusted(folder.st_uid) or bool(written)


def is_out_of_reach(folder: int) -> bool:
    """Whether a folder, or one above it, is ours and lets nobody else in."""
    with contextlib.suppress(OSError):
        return any(is_trusted(above.st_uid) and not above.st_mode & 0o011 for above in _above(folder))
    return False


def is_fixed(folder: int) -> bool:
    """Whether nobody else can exchange a folder, or one above it, for another: its path can be passed on."""
    try:
        return is_out_of_reach(folder) or not any(map(others_exchange, _above(folder)))
    except OSError:
        return False


def _above(folder: int) -> Iterator[os.stat_result]:
    """A folder and all above it, up to the root or to where it cannot be looked."""
    here = os.open(".", _FOLDER, dir_fd=folder)
    try:
        while True:
            about = os.fstat(here)
            yield about
            above = os.open("..", _FOLDER, dir_fd=here)
            os.close(here)
            here = above
            if os.path.samestat(about, os.fstat(here)):
                return
    finally:
        os.close(here)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of what is done by descriptor name the path."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP and error.strerror == os.strerror(errno.ELOOP):
            error.strerror = "is a link: expected a file or folder that is none"
        error.filename = str(path)
        error.filename2 = None
        raise


class _Held:
    """A descriptor that closes with a stack, unless it is kept."""

    def __init__(self, opened: contextlib.ExitStack, fd: int) -> None:
        self.fd = fd
        self._kept = False
        opened.callback(self._close)

    def keep(self) -> int:
        self._kept = True
        return self.fd

    def _close(self) -> None:
        if not self._kept:
            os.close(self.fd)


def _start(text: str) -> int:
    return os.open("/" if text.startswith("/") else ".", _FOLDER)


def _parts(text: str) -> list[str]:
    """The last part first."""
    return [part for part in reversed(text.split("/")) if part not in ("", ".")]


def _look(folder: int, name: str, *, missing_ok: bool) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if missing_ok:
            return None
        raise
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
    return os.open(name, _ANYTHING, dir_fd=folder)


def _descriptor(folder: int, name: str) -> int | None:
    """What a link of `/proc` stands for: its text is no path where it is a descriptor (`pipe:[1]`)."""
    try:
        proc = os.stat("/proc/self")
    except OSError:
        return None
    if os.fstat(folder).st_dev != proc.st_dev:
        return None
    return os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=folder)
