"""What `netloom dataplane up` is about to change, on disk before anything is changed, until `down` took it
back.

The journal is a folder with one file, replaced whole: which ports, where, whether each had `clsact` before,
and the number by which programs are known as those of this `up`. So whatever is killed whenever, `down`
knows what to look for. By default it lies in `/run`, which a reboot empties, as it does the kernel. The
lock is the kernel's and dies with its process. For root the folder must be one that nobody else can change
(`netloom.files`).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from netloom.errors import LiveError
from netloom.files import Folder, Held

DEFAULT = Path("/run/netloom-dataplane")
_FILE, _LOCK = "up.json", "lock"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MOST_BYTES = 1 << 26
_VERSION = 1


@dataclass(frozen=True)
class Attached:
    """A port with programs, or one that is about to get them."""

    node: str
    port: int
    role: str
    number: int
    mask: int
    queue_bytes: int | None
    namespace: str | None
    namespace_id: int
    """The namespace's inode: another one may get its name."""
    interface: str
    index: int
    """The interface's number."""
    had_clsact: bool
    addresses: tuple[str, ...]
    """Of a host."""

    @property
    def place(self) -> str:
        """In words."""
        return self.interface if self.namespace is None else f"{self.interface} in {self.namespace}"


@dataclass(frozen=True)
class Up:
    """What is up, or was about to be."""

    owner: int
    """The number by which programs are known."""
    boot: str
    time: str
    """When it began (UTC)."""
    started_ns: int
    """The same by the clock of events."""
    rate: float
    hash: str
    complete: bool
    """Whether all ports have their programs: else `up` was killed."""
    ports: tuple[Attached, ...]

    @property
    def is_of_this_boot(self) -> bool:
        """Whether anything of it can be in the kernel still."""
        return self.boot == boot()


def boot() -> str:
    """Which boot of the machine this is."""
    return _BOOT.read_text().strip()


class Journal:
    """The journal of one set of ports.

    Parameters
    ----------
    folder : path
        Its folder; made when something is put up, gone when that is down.
    """

    def __init__(self, folder: Path = DEFAULT) -> None:
        self.folder = folder

    def read(self) -> Up | None:
        """What is up; None if nothing is.

        Raises
        ------
        LiveError
            If the journal is none.
        """
        try:
            with Folder.trusted(self.folder) as there:
                data = there.read(_FILE, _MOST_BYTES)
        except FileNotFoundError:
            return None
        try:
            return _up(json.loads(data.decode()))
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            path = self.folder / _FILE
            raise LiveError(f"{path}: is no journal of netloom dataplane ({error})") from None

    @contextlib.contextmanager
    def locked(self, *, make: bool) -> Iterator[None]:
        """Keeps other commands out; takes the folder away at the end if nothing is up.

        Raises
        ------
        LiveError
            If another process has it: says which.
        FileNotFoundError
            If there is no folder, and none is to be made.
        """
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        with Folder.trusted(self.folder.parent) as parent:
            if make:
                parent.make(self.folder.name)
            with Folder.trusted(self.folder) as there:
                try:
                    lock = there.lock(_LOCK, f"process {os.getpid()} on {socket.gethostname()} since {now}")
                except Held as held:
                    raise LiveError(f"{self.folder}: {held.who} uses these ports now") from None
                if lock is None:
                    raise LiveError(f"{self.folder}: its lock was taken away: expected one command at a time")
                try:
                    yield
                finally:
                    # Before the lock goes: who has opened it meanwhile sees that it is another one.
                    if there.kind(_FILE) is None and there.is_at(_LOCK, lock):
                        there.remove(_LOCK)
                        parent.remove_folder(self.folder.name)
                    os.ftruncate(lock, 0)
                    os.close(lock)

    def write(self, up: Up) -> None:
        """Puts it on disk, under the lock."""
        said = {"version": _VERSION, **asdict(up)}
        with Folder.trusted(self.folder) as there:
            there.write(_FILE, json.dumps(said, indent=1).encode() + b"\n")
            there.sync()

    def clear(self) -> None:
        """Nothing is up any more."""
        with Folder.trusted(self.folder) as there:
            there.remove(_FILE)
            there.sync()


def _up(said: Any) -> Up:
    """What a journal says, if it says what it must."""
    if not isinstance(said, dict) or said.pop("version", None) != _VERSION:
        raise ValueError(f"expected version {_VERSION}")
    ports = said.pop("ports")
    if not isinstance(ports, list):
        raise ValueError("expected a list of ports")
    up = Up(ports=tuple(_attached(port) for port in ports), **said)
    _typed(
        up,
        {
            "owner": int,
            "boot": str,
            "time": str,
            "started_ns": int,
            "rate": float,
            "hash": str,
            "complete": bool,
        },
    )
    return up


def _attached(said: Any) -> Attached:
    if not isinstance(said, dict):
        raise ValueError("expected ports")
    found = Attached(**{**said, "addresses": tuple(said["addresses"])})
    kinds: dict[str, Any] = {field.name: int for field in fields(Attached)}
    for name in ("node", "role", "interface"):
        kinds[name] = str
    kinds.update(had_clsact=bool, addresses=tuple)
    kinds.update(queue_bytes=(int, type(None)), namespace=(str, type(None)))
    _typed(found, kinds)
    if not all(isinstance(address, str) for address in found.addresses):
        raise ValueError("expected addresses")
    return found


def _typed(found: object, kinds: dict[str, Any]) -> None:
    for name, kind in kinds.items():
        value = getattr(found, name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"{name} {value!r}")


def names(ports: Sequence[Attached]) -> dict[str, str]:
    """The host of every address."""
    return {address: port.node for port in ports for address in port.addresses}
