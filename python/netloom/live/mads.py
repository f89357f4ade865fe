"""Management datagrams (MADs) to the nodes of a fabric, many under way at a time, and how many that took.

The diagnostics ask one after the other: 14 s for the 9216 ports of quartz1. With sixteen under way a child
(`umad.py`) has their counters in 0.2 s through the same library.

Invariants: nothing is sent but what is asked for, and every datagram is counted, those sent again too. Waits
are bounded: a node that has never answered is given up after its first request.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from netloom import files
from netloom.errors import LiveError
from netloom.live import process, umad
from netloom.live.access import Access

_SUBNET, _PERFORMANCE = 0x01, 0x04
_GET, _SET = 0x01, 0x02
_OCTETS = 256
_ROOM = 64

_ANSWERS = np.dtype([("status", "<u4"), ("data", "u1", 192)])


@dataclass(frozen=True, slots=True)
class Request:
    """One datagram to a node."""

    lid: int
    kind: int
    method: int
    attribute: int
    modifier: int = 0
    data: bytes = b""

    @staticmethod
    def performance(lid: int, attribute: int, port: int = 0) -> Request:
        """Reads counters of a port; nothing is ever set back."""
        return Request(lid, _PERFORMANCE, _GET, attribute, 0, bytes((0, port)))

    @staticmethod
    def subnet(lid: int, attribute: int, modifier: int, data: bytes | None = None) -> Request:
        """Reads an attribute of a node's subnet management, or sets it where there is `data`."""
        return Request(lid, _SUBNET, _GET if data is None else _SET, attribute, modifier, data or b"")


@dataclass(frozen=True)
class Answers:
    """What came back, in the order of the requests."""

    answered: np.ndarray[Any, np.dtype[np.bool_]]
    """By request: whether an answer came, without an error in it."""
    data: np.ndarray[Any, np.dtype[np.uint8]]
    """By request: 192 octets, 0 where nothing came."""
    refused: int
    """Answers that said no."""
    sent: int
    """Datagrams sent, those sent again too."""
    received: int

    @property
    def octets(self) -> int:
        """What that was on the wire: a datagram is 256 octets."""
        return (self.sent + self.received) * _OCTETS


class Mads:
    """A child that sends datagrams; use it as a context manager.

    Parameters
    ----------
    access : Access
        How the fabric is reached.
    window : int
        How many datagrams are under way at a time.
    timeout_ms, retries : int
        How long to wait for an answer, and how often to ask again.
    """

    def __init__(
        self,
        access: Access,
        *,
        window: int = 16,
        timeout_ms: int = 400,
        retries: int = 2,
    ) -> None:
        self._access = access
        self._limits = (window, timeout_ms, retries)
        self._child: subprocess.Popen[bytes] | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Mads:
        program, access = str(Path(umad.__file__).resolve()), self._access
        with contextlib.ExitStack() as stack:
            said = stack.enter_context(files.unnamed())
            self._child = subprocess.Popen(
                # Isolated: neither the folder of the program nor site packages are looked at.
                [sys.executable, "-I", "-S", program, access.ca or "", str(access.port or 0)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=None if access.environment is None else dict(access.environment),
                cwd=None if access.socket_name is None else process.clients_folder(),
                # A terminal's Ctrl-C reaches only Python; this child ends with its input.
                start_new_session=True,
            )
            stack.callback(_end, self._child)
            self._said = said
            (code,) = struct.unpack("<i", self._read(4))
            if code != 0:
                raise LiveError(_why(code, access))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, value, trace)

    def ask(self, requests: Sequence[Request]) -> Answers:
        """Sends all requests and waits for their answers.

        Raises
        ------
        LiveError
            If the child is gone: the simulator or the adapter went away.
        """
        assert self._child is not None, "use Mads as a context manager"
        assert self._child.stdin is not None
        pack = umad.REQUEST.pack
        batch = [umad.HEADER.pack(len(requests), *self._limits)]
        batch += [
            pack(one.lid, one.kind, one.method, one.attribute, 0, one.modifier, one.data) for one in requests
        ]
        try:
            self._child.stdin.write(b"".join(batch))
            self._child.stdin.flush()
        except OSError:
            raise self._gone() from None
        data = self._read(len(requests) * umad.ANSWER.size)
        sent, received = umad.TAIL.unpack(self._read(umad.TAIL.size))
        table = np.frombuffer(data, _ANSWERS)
        status = table["status"]
        nothing = umad.NO_ANSWER | umad.NOT_ASKED
        refused = int(((status != 0) & (status & nothing == 0)).sum())
        octets = np.where((status == 0)[:, None], table["data"], np.uint8(0))
        return Answers(status == 0, octets, refused, sent, received)

    def _read(self, size: int) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        data = self._child.stdout.read(size)
        if len(data) < size:
            raise self._gone()
        return data

    def _gone(self) -> LiveError:
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")
        if "sim_init: connect failed" in said:
            return LiveError(self._access.refused())
        lines = said.strip().splitlines()
        return LiveError(
            f"sending management datagrams: the child ended: {lines[-1] if lines else 'no word'}"
        )


def _end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(OSError):
        child.stdin.close()
    child.stdout.close()
    process.end_client(child)


def _why(code: int, access: Access) -> str:
    """What an error number of the library means, and what to do."""
    if code < 0:
        return "libibumad.so.3 is not installed (Debian: apt-get install infiniband-diags)"
    if code in (errno.EACCES, errno.EPERM):
        return (
            f"{access.what}: no permission on the device /dev/infiniband/umad*: expected root, or a group "
            'that may read and write it (udev: KERNEL=="umad*", GROUP="rdma", MODE="0660")'
        )
    return (
        f"{access.what}: no such InfiniBand port here, or ib_umad is not loaded (modprobe ib_umad): "
        f"{os.strerror(code)}"
    )
