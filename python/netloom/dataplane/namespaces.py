"""Network namespaces: a socket or a command in one, while this process stays where it is.

What is opened in a namespace stays in it, so only the opening happens there. A namespace is named as `ip
netns` does (`/run/netns`), or by a path (`/proc/1234/ns/net` is that of a container's process); which one
it is says its inode, as another one may get the same name later. One that was made here (`made`) has no
name: it goes with the process, however that ends, and everything in it too.

Source: setns(2), network_namespaces(7), ip-netns(8).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path

from netloom.errors import LiveError

FOLDER = Path("/run/netns")
"""Where `ip netns` keeps them."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}")
_CLONE_NEWNET = 0x40000000
_OWN = Path("/proc/thread-self/ns/net")


def is_name(name: str) -> bool:
    """Whether a namespace may have this name, or path."""
    return _NAME.fullmatch(name) is not None or (name.startswith("/") and "\0" not in name)


def identity(name: str | None) -> int | None:
    """The inode of a namespace, or of this process's; None if there is none of this name."""
    try:
        return os.stat(_path(name)).st_ino
    except OSError:
        return None


def made() -> int:
    """Makes a namespace that has no name.

    Returns
    -------
    int
        A descriptor; the namespace goes when it is closed and nothing is in it. Its path is
        `/proc/PID/fd/DESCRIPTOR`.

    Raises
    ------
    LiveError
        If this process may not.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    with open(_OWN, "rb") as home:
        if libc.unshare(_CLONE_NEWNET):
            raise LiveError(f"cannot make a network namespace: {os.strerror(ctypes.get_errno())}")
        try:
            with open(_OWN, "rb") as there:
                return os.dup(there.fileno())
        finally:
            _back(libc, home.fileno())


@contextlib.contextmanager
def inside(name: str | None) -> Iterator[None]:
    """This thread is in a namespace for the time of a `with` block; None: where it is.

    Raises
    ------
    LiveError
        If there is no such namespace, or this process may not enter it.
    """
    if name is None:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    with open(_OWN, "rb") as home:
        try:
            there = open(_path(name), "rb")  # noqa: SIM115
        except OSError as error:
            raise LiveError(f"namespace {name}: {error.strerror}") from None
        with there:
            if libc.setns(there.fileno(), _CLONE_NEWNET):
                raise LiveError(f"namespace {name}: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            _back(libc, home.fileno())


def _back(libc: ctypes.CDLL, home: int) -> None:
    if libc.setns(home, _CLONE_NEWNET):
        raise LiveError(f"cannot leave a network namespace: {os.strerror(ctypes.get_errno())}")


def _path(name: str | None) -> Path:
    if name is None:
        return _OWN
    if not is_name(name):
        raise LiveError(f"namespace {name}: expected a name of `ip netns`, or a path")
    return FOLDER / name  # A path stays itself.
