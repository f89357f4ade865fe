"""An open folder: what is in it is read, replaced, locked and removed relative to its descriptor.

Invariants: no link inside of an open folder is followed. A file is replaced whole, by rename; its mode and
owner are set on the descriptor. A lock is a file of its own: regular, with one name, signed or empty, of a
user that is trusted or owns the folder. Nothing is removed recursively.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from netloom import reading
from netloom.files.temporary import Temporary, fill
from netloom.files.ways import find, is_trusted, named, true_path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_kept: dict[str, int] = {}
"""Descriptors of folders that stay the ones that their paths open."""
_SIGNED = b"process "
_LONGEST_LOCK = 4096
_ROOT = 0
_OTHER_NAMES = 100
"""Of a private folder, where others have taken its own."""


class Held(OSError):
    """A lock that another process holds; `who` is what it signed with."""

    def __init__(self, who: str, path: str) -> None:
        super().__init__(errno.EBUSY, f"is in use by {who}: expected one command at a time", path)
        self.who = who


class Folder:
    """An open folder; what is in it is named by one name each, without `/`.

    Use `Folder.open`; a folder closes with its `with` block.

    Attributes
    ----------
    path : Path
        As it was named, for messages.
    fd : int
        Its descriptor.

    Examples
    --------
    >>> with Folder.open(Path(".")) as here:
    ...     here.write("answer.txt", b"42\\n")
    ...     here.read("answer.txt")
    b'42\\n'
    """

    def __init__(self, path: Path, fd: int) -> None:
        self.path, self.fd = path, fd

    @classmethod
    def open(cls, path: Path, *, make: bool = False) -> Folder:
        """Opens a folder that the user named; `make`: with its parents, if it is not there.

        Raises
        ------
        OSError
            If it is none, cannot be opened, or a part of its path is a link that others made or can exchange.
        """
        kept = _kept.get(os.path.abspath(path))
        if kept is not None:
            return cls(path, os.dup(kept))
        with named(path), find(path, make=make) as place:
            return cls(path, place.open_folder())

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """While the block lasts, its path opens this folder, whatever has its name: it may be exchanged."""
        path = os.path.abspath(self.path)
        before = _kept.get(path)
        _kept[path] = self.fd
        try:
            yield
        finally:
            if before is None:
                del _kept[path]
            else:
                _kept[path] = before

    @classmethod
    def trusted(cls, path: Path) -> Folder:
        """Opens a folder into which what counts is written; one that others can write to is refused.

        For root, neither the folder nor those above it may be another user's or be written to by others
        (above it, sticky ones such as `/tmp` may); for other users the folder itself may not be everybody's.

        Raises
        ------
        OSError
            Saying what others can change.
        """
        whole = true_path(path)
        strict = os.geteuid() == _ROOT
        fd = os.open("/", _DIRECTORY)
        try:
            parts = whole.parts[1:]
            for at, name in enumerate(parts, 1):
                there = Path("/", *parts[:at])
                with named(there):
                    below = os.open(name, _DIRECTORY, dir_fd=fd)
                os.close(fd)
                fd = below
                if strict or at == len(parts):
                    _refuse_shared(os.fstat(fd), there, strict=strict, last=at == len(parts))
        except BaseException:
            os.close(fd)
            raise
        return cls(path, fd)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def folder(self, name: str, *, make: bool = False) -> Folder:
        """Opens a folder in this one; a link to one is refused.

        Raises
        ------
        OSError
            If there is none, or something else has its name.
        """
        with named(self.path / _plain(name)):
            if make:
                self.make(name)
            try:
                return Folder(self.path / name, os.open(name, _DIRECTORY, dir_fd=self.fd))
            except OSError as error:
                if error.errno == errno.ENOTDIR and self.kind(name) == "link":
                    raise OSError(errno.ELOOP, "is a link: expected a folder") from None
                raise

    def make(self, name: str) -> bool:
        """Makes a folder in this one; whether it was not there before."""
        with named(self.path / _plain(name)):
            try:
                os.mkdir(name, dir_fd=self.fd)
            except FileExistsError:
                return False
            return True

    def names(self) -> list[str]:
        """What is in it, sorted."""
        return sorted(os.listdir(self.fd))

    def kind(self, name: str) -> str | None:
        """`file`, `folder`, `link` or `other`; None if nothing has this name."""
        try:
            mode = os.stat(_plain(name), dir_fd=self.fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None
        kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"))
        return next((word for is_it, word in kinds if is_it(mode)), "other")

    def read(self, name: str, most: int | None = None, *, own: bool = False) -> bytes:
        """Reads a regular file, at most so many bytes; `own`: one of this process's user or root only.

        Raises
        ------
        OSError
            If there is none, or it is a link, a pipe, a device, or another user's though it must not be.
        """
        with named(self.path / _plain(name)):
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
            with os.fdopen(file, "rb") as opened:
                about = os.fstat(file)
                if own and not is_trusted(about.st_uid):
                    raise OSError(errno.EPERM, f"is another user's (user id {about.st_uid})")
                if most is None:
                    return reading.of_descriptor(file)
                if not stat.S_ISREG(about.st_mode):
                    raise OSError(errno.EINVAL, "is no regular file")
                # Python takes memory for as much as is asked for.
                return opened.read(min(most, about.st_size))

    def write(self, name: str, data: bytes, *, keeps_owner: bool = False) -> None:
        """Puts a whole file in the place of what has this name, flushed to disk.

        A file of a trusted user keeps its mode as far as the umask lets it; nothing else gives one.

        Parameters
        ----------
        name : str
            Its name.
        data : bytes
            All of it.
        keeps_owner : bool, default False
            Whether the new file has the old one's user, group and whole mode, as far as this process may give
            them away.

        Raises
        ------
        OSError
            If it cannot be written: then the old one is as it was.
        """
        with named(self.path / _plain(name)), Temporary(self.fd) as temporary:
            self._as_before(temporary.file, name, keeps_owner)
            fill(temporary.file, data)
            os.fsync(temporary.file)
            temporary.becomes(name)

    def create(self, name: str) -> IO[bytes]:
        """Opens a new file for another process to write to, in a folder that is ours alone."""
        with named(self.path / _plain(name)):
            return os.fdopen(os.open(name, _NEW, 0o666, dir_fd=self.fd), "wb")

    def pipe(self, name: str) -> int:
        """Makes a pipe and opens it both ways, so that neither end ever sees an end of file.

        Returns
        -------
        int
            Its descriptor.
        """
        with named(self.path / _plain(name)):
            os.mkfifo(name, 0o600, dir_fd=self.fd)
            return os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.fd)

    def append(self, name: str, line: bytes) -> None:
        """Appends a line to a file of one name and a trusted owner (or the folder's), flushed to disk.

        The file is made if need be. What was cut off before stays, as a line of its own.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with named(self.path / _plain(name)):
            file = os.open(name, flags, 0o666, dir_fd=self.fd)
            try:
                self._refuse_foreign(file)
                end = os.lseek(file, 0, os.SEEK_END)
                if end and os.pread(file, 1, end - 1) != b"\n":
                    line = b"\n" + line
                fill(file, line)
                os.fsync(file)
            finally:
                os.close(file)

    def take(self, other: Folder, theirs: str, name: str) -> None:
        """Moves a file or folder of another open folder on the file system to a name in this one."""
        with named(self.path / _plain(name)):
            os.rename(_plain(theirs), name, src_dir_fd=other.fd, dst_dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Removes a file or a link (not its target), if there is one."""
        with named(self.path / _plain(name)), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)

    def remove_folder(self, name: str) -> None:
        """Removes a folder if it is empty."""
        with contextlib.suppress(OSError):
            os.rmdir(_plain(name), dir_fd=self.fd)

    def remove_own(self, folders: re.Pattern[str], files: re.Pattern[str]) -> None:
        """Removes what a program keeps in folders of this one, by its names for both; the rest stays.

        Parameters
        ----------
        folders : compiled pattern
            Of the whole names of the folders; one that is empty then goes too.
        files : compiled pattern
            Of the whole names of the files in them.
        """
        for name in filter(folders.fullmatch, self.names()):
            if self.kind(name) != "folder":
                continue
            with self.folder(name) as folder:
                for file in filter(files.fullmatch, folder.names()):
                    folder.remove(file)
            self.remove_folder(name)

    def sync(self) -> None:
        """Flushes its names to disk."""
        os.fsync(self.fd)

    def lock(self, name: str, text: str) -> int | None:
        """Takes a lock: the kernel's, on a file in this folder, which dies with its process.

        Parameters
        ----------
        name : str
            The file; made if need be, for its owner only: who may open a file can hold its lock.
        text : str
            Who has it from now on, for others' messages: a line that begins with `process `.

        Returns
        -------
        int or None
            The file's descriptor; closing it gives the lock back. None if the file was just taken away.

        Raises
        ------
        Held
            If another process has it.
        OSError
            If what is there is no lock that this process may use.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with named(self.path / _plain(name)):
            file = os.open(name, flags, 0o600, dir_fd=self.fd)
            try:
                self._refuse_foreign(file)
                said = os.pread(file, _LONGEST_LOCK + 1, 0)
                if said and not (said.startswith(_SIGNED) and len(said) <= _LONGEST_LOCK):
                    raise OSError(errno.EEXIST, "is no lock of netloom: expected it elsewhere, or removed")
                ours = _flock(file)
                if ours and self.is_at(name, file):
                    if os.fstat(file).st_uid == os.geteuid():
                        os.fchmod(file, 0o600)  # Of an earlier version, it may be everybody's.
                    os.ftruncate(file, 0)
                    fill(file, f"{text}\n".encode())
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)
        if not ours:
            raise Held(said.decode(errors="replace").strip() or "another process", str(self.path))
        return None

    def is_at(self, name: str, file: int) -> bool:
        """Whether a name is that of an open file."""
        try:
            there = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(file))

    def is_lock(self, name: str) -> bool:
        """Whether a file is such a lock, held or not: signed, or made and not signed yet."""
        if self.kind(name) != "file":
            return False
        try:
            return self.read(name, len(_SIGNED)) in (b"", _SIGNED)
        except PermissionError:
            return True  # For its owner only, as locks are.

    def _as_before(self, file: int, name: str, keeps_owner: bool) -> None:
        try:
            before = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISREG(before.st_mode) and is_trusted(before.st_uid):
            mode = before.st_mode & 0o777
            if keeps_owner:
                with contextlib.suppress(OSError):
                    os.fchown(file, before.st_uid, before.st_gid)
            else:
                new = os.fstat(file).st_mode & 0o666
                mode &= new | (new & 0o444) >> 2
            os.fchmod(file, mode)

    def _refuse_foreign(self, file: int) -> None:
        """Refuses a file to be written in place that may be another one too, or another user's."""
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "is no regular file")
        if about.st_nlink > 1:
            raise OSError(errno.EMLINK, "has other names (hard links), so another file would change too")
        # Whose the folder is, has what is in it.
        if not is_trusted(about.st_uid) and about.st_uid != os.fstat(self.fd).st_uid:
            raise OSError(errno.EPERM, f"is another user's (user id {about.st_uid})")


def replace_file(path: Path, data: bytes) -> None:
    """Puts a whole file in another's place, with its mode and owner, in a folder that only we can change.

    Raises
    ------
    OSError
        If others can write to the folder, or the file cannot be written.
    """
    path = true_path(path)
    with Folder.trusted(path.parent) as folder:
        folder.write(path.name, data, keeps_owner=True)
        folder.sync()


def private_folder(name: str) -> Path:
    """A folder of this user on this machine, for locks: made if need be, and nobody else's.

    Parameters
    ----------
    name : str
        Its name.

    Raises
    ------
    OSError
        If somebody else made it.
    """
    user = os.geteuid()
    runtime = os.environ.get("XDG_RUNTIME_DIR", "") if user != _ROOT else "/run"
    if os.path.isabs(runtime) and os.access(runtime, os.W_OK):
        names = [name]
    else:
        # Who takes a name in `/tmp` before us keeps us from that name only.
        runtime, names = "/tmp", [f"{name}-{user}", *(f"{name}-{user}-{n}" for n in range(1, _OTHER_NAMES))]
    for one in names:
        path = Path(runtime, one)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, mode=0o700)
        about = path.lstat()
        if stat.S_ISDIR(about.st_mode) and about.st_uid == user and not about.st_mode & 0o022:
            return path
    raise OSError(errno.EPERM, "is no folder of this user's own", str(Path(runtime, names[0])))


def _refuse_shared(about: os.stat_result, path: Path, *, strict: bool, last: bool) -> None:
    """Refuses a folder in which others decide what is where."""
    expected = "expected one that only its owner can change"
    if strict and about.st_uid != _ROOT:
        raise OSError(
            errno.EPERM, f"is a folder of another user (user id {about.st_uid}): {expected}", str(path)
        )
    sticky = about.st_mode & stat.S_ISVTX and not (strict and last)
    group = stat.S_IWGRP if strict and about.st_gid != _ROOT else 0
    if about.st_mode & (stat.S_IWOTH | group) and not sticky:
        mode = stat.S_IMODE(about.st_mode)
        raise OSError(
            errno.EPERM, f"is a folder that others can write to (mode {mode:04o}): {expected}", str(path)
        )


def _plain(name: str) -> str:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "expected the name of one file", name.replace("\0", "?"))
    return name


def _flock(file: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        # Some file systems have no locks; without them a folder is as safe as its user is careful.
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise
    return True
