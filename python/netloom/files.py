"""Files in folders that others may write to: opened, replaced, locked and removed by one module.

Idea: a folder is opened once, and everything in it is named relative to its descriptor. So nobody who changes
a path meanwhile, or puts a link where a file was, leads a write, a lock or a removal out of the folder.

Invariants: no link inside of an open folder is followed. A file is replaced whole, by rename, from a
temporary file with a random name that is never opened if it exists; its mode and owner are set on the
descriptor. A lock is a file of its own: regular, with one name, signed or empty, of a user that is trusted or
owns the folder. Nothing is removed recursively. Trusted are this process's user and root; `SECURITY.md` has
the threat model.

The Rust core writes by the same rules (`crates/python/src/io.rs`). No other module opens for writing, renames
or removes; `xtask tidy` has the list.
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

from netloom import reading

_LINKS = 40
"""How many links may lead from one to the next."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SIGNED = b"process "
_LONGEST_LOCK = 4096
_ROOT = 0


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
            If it is none, cannot be opened, or is a link that another user made.
        """
        if make:
            path.mkdir(parents=True, exist_ok=True)
        with _named(path):
            return cls(path, os.open(_behind_links(path), _DIRECTORY))

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
        whole = path.resolve()
        strict = os.geteuid() == _ROOT
        fd = os.open("/", _DIRECTORY)
        try:
            parts = whole.parts[1:]
            for at, name in enumerate(parts, 1):
                there = Path("/", *parts[:at])
                with _named(there):
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
        with _named(self.path / _plain(name)):
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
        with _named(self.path / _plain(name)):
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

    def read(self, name: str, most: int | None = None) -> bytes:
        """Reads a regular file, at most so many bytes.

        Raises
        ------
        OSError
            If there is none, or it is a link, a pipe or a device.
        """
        with _named(self.path / _plain(name)):
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
            with os.fdopen(file, "rb") as opened:
                if most is None:
                    return reading.of_descriptor(file)
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode):
                    raise OSError(errno.EINVAL, "is no regular file")
                # Python takes memory for as much as is asked for.
                return opened.read(min(most, about.st_size))

    def write(self, name: str, data: bytes, *, keeps_owner: bool = False) -> None:
        """Puts a whole file in the place of what has this name, flushed to disk.

        A file of a trusted user keeps its mode; what is no regular file gives none.

        Parameters
        ----------
        name : str
            Its name.
        data : bytes
            All of it.
        keeps_owner : bool, default False
            Whether the new file has the old one's user and group, as far as this process may give it away.

        Raises
        ------
        OSError
            If it cannot be written: then the old one is as it was.
        """
        with _named(self.path / _plain(name)):
            temporary = f".netloom-{os.getpid()}-{os.urandom(8).hex()}.tmp"
            file = os.open(temporary, _NEW, 0o666, dir_fd=self.fd)
            try:
                try:
                    self._as_before(file, name, keeps_owner)
                    _fill(file, data)
                    os.fsync(file)
                finally:
                    os.close(file)
                os.rename(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=self.fd)
                raise

    def append(self, name: str, line: bytes) -> None:
        """Appends a line to a file of one name and a trusted owner (or the folder's), flushed to disk.

        The file is made if need be. What was cut off before stays, as a line of its own.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with _named(self.path / _plain(name)):
            file = os.open(name, flags, 0o666, dir_fd=self.fd)
            try:
                self._refuse_foreign(file)
                end = os.lseek(file, 0, os.SEEK_END)
                if end and os.pread(file, 1, end - 1) != b"\n":
                    line = b"\n" + line
                _fill(file, line)
                os.fsync(file)
            finally:
                os.close(file)

    def take(self, other: Path, name: str) -> None:
        """Moves a file that this process made elsewhere on the file system to a name in this folder."""
        with _named(self.path / _plain(name)):
            os.rename(other, name, dst_dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Removes a file or a link (not its target), if there is one."""
        with _named(self.path / _plain(name)), contextlib.suppress(FileNotFoundError):
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
        path = self.path / _plain(name)
        with _named(path):
            file = os.open(name, flags, 0o600, dir_fd=self.fd)
            try:
                self._refuse_foreign(file)
                said = os.pread(file, _LONGEST_LOCK + 1, 0)
                if said and not (said.startswith(_SIGNED) and len(said) <= _LONGEST_LOCK):
                    raise OSError(errno.EEXIST, "is no lock of netloom: expected it elsewhere, or removed")
                _flock(file, said, path)
                if not self.is_at(name, file):
                    os.close(file)
                    return None
                if os.fstat(file).st_uid == os.geteuid():
                    os.fchmod(file, 0o600)  # Of an earlier version, it may be everybody's.
                os.ftruncate(file, 0)
                _fill(file, f"{text}\n".encode())
            except BaseException:
                os.close(file)
                raise
        return file

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
        if stat.S_ISREG(before.st_mode) and _is_trusted(before.st_uid):
            if keeps_owner:
                with contextlib.suppress(OSError):
                    os.fchown(file, before.st_uid, before.st_gid)
            os.fchmod(file, before.st_mode & 0o777)

    def _refuse_foreign(self, file: int) -> None:
        """Refuses a file to be written in place that may be another one too, or another user's."""
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "is no regular file")
        if about.st_nlink > 1:
            raise OSError(errno.EMLINK, "has other names (hard links), so another file would change too")
        # Whose the folder is, has what is in it.
        if not _is_trusted(about.st_uid) and about.st_uid != os.fstat(self.fd).st_uid:
            raise OSError(errno.EPERM, f"is another user's (user id {about.st_uid})")


def replace_file(path: Path, data: bytes) -> None:
    """Puts a whole file in another's place, with its mode and owner, in a folder that only we can change.

    Raises
    ------
    OSError
        If others can write to the folder, or the file cannot be written.
    """
    path = path.resolve()
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
    if not (os.path.isabs(runtime) and os.access(runtime, os.W_OK)):
        runtime, name = "/tmp", f"{name}-{user}"
    path = Path(runtime, name)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != user or about.st_mode & 0o022:
        raise OSError(errno.EPERM, "is no folder of this user's own", str(path))
    return path


def _behind_links(path: Path) -> Path:
    """What a path names once its last part is no link; a link that another user made is refused."""
    for _ in range(_LINKS):
        link = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            about = os.fstat(link)
            if not stat.S_ISLNK(about.st_mode):
                return path
            if not _is_trusted(about.st_uid):
                raise PermissionError(
                    errno.EACCES, f"is a link that another user made (user id {about.st_uid}): not followed"
                )
            path = path.parent / os.readlink("", dir_fd=link)
        finally:
            os.close(link)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


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


def _is_trusted(user: int) -> bool:
    return user in (_ROOT, os.geteuid())


def _plain(name: str) -> str:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "expected the name of one file", name.replace("\0", "?"))
    return name


def _fill(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _flock(file: int, said: bytes, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Held(said.decode(errors="replace").strip() or "another process", str(path.parent)) from None
    except OSError as error:
        # Some file systems have no locks; without them a folder is as safe as its user is careful.
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of what is done by descriptor name the path."""
    try:
        yield
    except Held:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP and error.strerror == os.strerror(errno.ELOOP):
            error.strerror = "is a link: expected a file or folder that is none"
        error.filename = str(path)
        error.filename2 = None
        raise
