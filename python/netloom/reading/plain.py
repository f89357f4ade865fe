"""Whole files, looked at before they are read.

Invariants: what is read is a regular file (or, where a user names it, a pipe, as `<(…)` of a shell is): no
device, no folder. Its size is known before memory is taken, and holes of a sparse file count as what expands.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from netloom.reading import limits

_PIECE = 1 << 20
_LINKS = 40
"""How many links may lead from one to the next."""


def whole(path: str | os.PathLike[str], *, pipes: bool = False, most: int | None = None) -> bytes:
    """Reads a file.

    Parameters
    ----------
    path : path
        The file; links are followed.
    pipes : bool, default False
        Whether it may be a pipe.
    most : int, optional
        How many bytes it may hold, if not `most_bytes`.

    Raises
    ------
    OSError
        Naming the file, if it cannot be read, is no regular file, or is too large.
    """
    name = os.fspath(path)
    try:
        # Before it is opened: opening a device may do anything.
        seen = os.stat(path).st_mode
        _refuse_odd(seen, pipes=pipes)
        pipes = stat.S_ISFIFO(seen)
        with open(path, "rb", buffering=0, opener=None if pipes else _at_once) as file:
            return of_descriptor(file.fileno(), pipes=pipes, most=most)
    except OSError as error:
        error.filename, error.filename2 = name, None
        raise


def refuse_links_of_others(path: str | os.PathLike[str]) -> None:
    """Refuses a path that another user leads elsewhere: a link on it is neither ours nor root's.

    Raises
    ------
    OSError
        Naming the link.
    """
    left = os.path.join(os.getcwd(), os.fspath(path)).split(os.sep)[::-1]
    at, links = os.sep, 0
    while left:
        part = left.pop()
        if part in ("", os.curdir):
            continue
        here = os.path.dirname(at) if part == os.pardir else os.path.join(at, part)
        try:
            about = os.lstat(here)
        except OSError:
            return  # Whoever opens it says so, by the name that the user gave.
        if not stat.S_ISLNK(about.st_mode):
            at = here
            continue
        if about.st_uid not in (0, os.geteuid()):
            raise OSError(errno.ELOOP, "is a link of another user: expected none", here)
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
        target = os.readlink(here)
        at = os.sep if target.startswith(os.sep) else at
        left += target.split(os.sep)[::-1]


def of_descriptor(file: int, *, pipes: bool = False, most: int | None = None) -> bytes:
    """Reads what an open file holds from where it stands.

    Raises
    ------
    OSError
        Without a name, as `whole`.
    """
    about = os.fstat(file)
    _refuse_odd(about.st_mode, pipes=pipes)
    most = limits.most_bytes() if most is None else most
    if not stat.S_ISREG(about.st_mode):
        with open(file, "rb", closefd=False) as pipe:
            return stream(pipe, most)
    size = about.st_size
    if size > most:
        raise _too_large(size, most)
    if size > limits.most_expanded(0):
        held = _held(file, size)
        if size > limits.most_expanded(held):
            raise OSError(
                errno.EFBIG,
                f"holds {held} bytes and claims {size} (a sparse file): expected less ({limits.RAISE})",
            )
    with open(file, "rb", closefd=False) as opened:
        # One call takes memory once; what has grown meanwhile comes after.
        data = opened.read(size)
        # Of /proc and /sys no size is known.
        if len(data) == size and (more := opened.read(_PIECE)):
            data = b"".join((data, more, stream(opened, most - len(data) - len(more))))
        return data


def stream(file: BinaryIO, most: int | None = None) -> bytes:
    """Reads a pipe, or standard input, until it ends.

    Raises
    ------
    OSError
        If there is more than an input may hold.
    """
    most = limits.most_bytes() if most is None else most
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(size, most)
    return b"".join(pieces)


def head(path: str | os.PathLike[str], most: int, *, unpack: bool = True) -> bytes:
    """The first bytes of a regular file, unpacked if they are gzip; for a look at what it is.

    Raises
    ------
    OSError
        If it cannot be read, or is no regular file.
    """
    import zlib

    _refuse_odd(os.stat(path).st_mode, pipes=False)
    with open(path, "rb", opener=_at_once) as file:
        _refuse_odd(os.fstat(file.fileno()).st_mode, pipes=False)
        data = file.read(most)
    if not unpack or not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, most)
    except zlib.error:
        return b""  # Reading it says what is wrong.


def gunzip(data: bytes, label: str) -> bytes:
    """What gzip packed, all members; data that are not gzip stay as they are.

    Raises
    ------
    FormatError
        Naming `label`, if they are cut short, damaged, or expand beyond `most_expanded`.

    Examples
    --------
    >>> gunzip(b"plain", "x")
    b'plain'
    """
    from netloom import _core

    return _core.gunzip(data, label)


def _at_once(path: str, flags: int) -> int:
    """Opens what was a file when it was looked at: for a pipe that is there by now it does not wait."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _refuse_odd(mode: int, *, pipes: bool) -> None:
    if stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.ENXIO, "is no regular file: expected one")


def _too_large(size: int, most: int) -> OSError:
    return OSError(errno.EFBIG, f"has {size} bytes or more: expected at most {most} ({limits.RAISE})")


def _held(file: int, size: int) -> int:
    """How many bytes are there, not holes; counted until they are enough for its size."""
    at = held = 0
    try:
        while limits.most_expanded(held) < size:
            start = os.lseek(file, at, os.SEEK_DATA)
            at = os.lseek(file, start, os.SEEK_HOLE)
            held += at - start
    except OSError:
        pass  # No data after this.
    os.lseek(file, 0, os.SEEK_SET)
    return held
