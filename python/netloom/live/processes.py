"""Which processes of this machine are OpenSM: what is asked to change routes, and says which file it reads.

A name proves nothing: anybody may call a script `opensm`, start it with options of his choice, and so choose
which file root replaces. So a process counts if it belongs to root or to this process's user, and if the
program that it runs (`/proc/PID/exe`) is called `opensm` too. Others of that name are told and left alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

NAME = "opensm"
_ROOT = 0
_DELETED = " (deleted)"
"""What the kernel puts behind the name of a program that was replaced while it runs."""


@dataclass(frozen=True)
class UnverifiedProcess:
    """A process that calls itself OpenSM and is not believed, or may not be looked at."""

    pid: int
    why: str
    """What it is instead."""
    hidden: bool = False
    """Whether it may be one, but only its user and root can tell of which fabric."""


def found(socket_name: str | None) -> list[int]:
    """The OpenSM processes of an ibsim (its socket name), or of real fabrics (None), in rising order."""
    return sorted(pid for pid in _named() if _rejection(pid) is None and _is_of(pid, socket_name))


def unverified() -> list[UnverifiedProcess]:
    """Processes that call themselves OpenSM and do not count."""
    return [doubt for pid in sorted(_named()) if (doubt := _rejection(pid)) is not None]


def _named() -> list[int]:
    """Processes of that name which have not ended."""
    there = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            ended = "\nState:\tZ" in (folder / "status").read_text(errors="replace")
            if (folder / "comm").read_bytes().strip() == NAME.encode() and not ended:
                there.append(int(folder.name))
        except OSError:
            continue
    return there


def _rejection(pid: int) -> UnverifiedProcess | None:
    """Why a process is not believed; None if it is."""
    folder = Path(f"/proc/{pid}")
    try:
        lines = (folder / "status").read_text(errors="replace").splitlines()
        users = next(line.split()[1:] for line in lines if line.startswith("Uid:"))
    except (OSError, StopIteration):
        return UnverifiedProcess(pid, "has ended")
    # Real, effective, saved and of files: all of them.
    other_users = sorted({int(user) for user in users} - {_ROOT, os.geteuid()})
    if other_users:
        return UnverifiedProcess(pid, f"belongs to another user (user id {other_users[0]})")
    try:
        program = os.readlink(folder / "exe").removesuffix(_DELETED)
        (folder / "environ").read_bytes()
    except PermissionError:
        return UnverifiedProcess(pid, "may not be looked at", hidden=True)
    except OSError:
        return UnverifiedProcess(pid, "has ended")
    if os.path.basename(program) != NAME:
        return UnverifiedProcess(pid, f"runs {program}")
    return None


def _is_of(pid: int, socket_name: str | None) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    names = [word.partition(b"=")[2] for word in environment if word.startswith(b"IBSIM_SOCKNAME=")]
    simulated = any(word.startswith(b"LD_PRELOAD=") and b"umad2sim" in word for word in environment)
    return names[:1] == [socket_name.encode()] if socket_name is not None else not simulated
