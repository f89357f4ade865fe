"""Management datagrams (MADs) to the nodes of a fabric, many under way at a time, and how many that took.

The diagnostics ask one after the other: 14 s for the 9216 ports of quartz1. With sixteen under way a child
(`umad.py`) has their counters in 0.2 s through the same library.

Counters are asked for by LID; subnet management goes by directed routes only (`ways`), along the cables of
the fabric as discovered, and through a device of its own where the adapter has one for it.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import files
from netloom.errors import LiveError
from netloom.live import process, umad
from netloom.live.access import Access
from netloom.live.ways import Ways

if TYPE_CHECKING:
    from netloom._core import Fabric

_SUBNET, _PERFORMANCE = umad.DIRECTED, 0x04
_NODE_INFO = 0x11
_SWITCH = 2
_GET, _SET = 0x01, 0x02
_OCTETS = 256
_ROOM = 64

_NOTHING = umad.NO_ANSWER | umad.NOT_ASKED
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
    path: bytes | None = None
    """Of subnet management: the ports out on the way there; found by the LID where None."""

    @staticmethod
    def performance(lid: int, attribute: int, port: int = 0) -> Request:
        """Reads counters of a port; nothing is ever set back."""
        return Request(lid, _PERFORMANCE, _GET, attribute, 0, bytes((0, port)))

    @staticmethod
    def subnet(lid: int, attribute: int, modifier: int, data: bytes | None = None) -> Request:
        """Reads an attribute of a node's subnet management, or sets it where there is `data`."""
        return Request(lid, _SUBNET, _GET if data is None else _SET, attribute, modifier, data or b"")

    @staticmethod
    def along(path: bytes, attribute: int, modifier: int = 0) -> Request:
        """Reads an attribute of the node that the ports out lead to; without any, of this machine's."""
        return Request(0, _SUBNET, _GET, attribute, modifier, b"", path)


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
    silent: np.ndarray[Any, np.dtype[np.bool_]]
    """By request: whether nothing came back, or no way leads there."""

    def with_others(self, places: Sequence[int], others: Answers) -> Answers:
        """These, with others in some places; what both have cost."""
        answered, data, silent = self.answered.copy(), self.data.copy(), self.silent.copy()
        answered[places], data[places], silent[places] = others.answered, others.data, others.silent
        refused, sent = self.refused + others.refused, self.sent + others.sent
        return Answers(answered, data, refused, sent, self.received + others.received, silent)

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
    fabric : Fabric, optional
        As discovered: the ways to its nodes. Without it no subnet management goes anywhere by LID.
    window : int
        How many datagrams are under way at a time.
    timeout_ms, retries : int
        How long to wait for an answer, and how often to ask again.
    """

    def __init__(
        self,
        access: Access,
        fabric: Fabric | None = None,
        *,
        window: int = 16,
        timeout_ms: int = 400,
        retries: int = 2,
    ) -> None:
        self._access = access
        self._fabric = fabric
        self._ways: Ways | None = None
        self._limits = (window, timeout_ms, retries)
        self._child: _Child | None = None

    def __enter__(self) -> Mads:
        kept = _kept.get(_key(self._access))
        self._child = kept.children.pop() if kept and kept.children else _Child(self._access)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child is not None
        kept = _kept.get(_key(self._access))
        if kept is not None and value is None and self._child.whole:
            kept.children.append(self._child)
        else:
            self._child.end()
        self._child = None

    def ask(self, requests: Sequence[Request]) -> Answers:
        """Sends all requests and waits for their answers.

        A node that does not answer subnet management is asked once more by another way, if there is one.

        Raises
        ------
        LiveError
            If the child is gone: the simulator or the adapter went away; if this machine is not at a switch
            of the fabric.
        """
        found = self._ask(requests)
        ways = self._ways
        if ways is None:
            return found
        by_way = [one.kind == _SUBNET and one.path is None for one in requests]
        heard = {one.lid for one, own, of in zip(requests, by_way, found.answered, strict=True) if own and of}
        silent = [index for index in np.flatnonzero(found.silent).tolist() if by_way[index]]
        ways.heard(heard)
        others = set(ways.around({requests[index].lid for index in silent} - heard)) if silent else set()
        again = [index for index in silent if requests[index].lid in others]
        if not again:
            return found
        more = self._ask([requests[index] for index in again])
        ways.heard({requests[index].lid for index, of in zip(again, more.answered, strict=True) if of})
        return found.with_others(again, more)

    def _ask(self, requests: Sequence[Request]) -> Answers:
        assert self._child is not None, "use Mads as a context manager"
        pack = umad.REQUEST.pack
        paths = [self._path(one) for one in requests]
        sent_index = [index for index, path in enumerate(paths) if path is not None]
        batch = [umad.HEADER.pack(len(sent_index), *self._limits)]
        for index in sent_index:
            one, path = requests[index], paths[index] or b""
            batch.append(
                pack(one.lid, one.kind, one.method, one.attribute, len(path), one.modifier, one.data, path)
            )
        self._child.write(b"".join(batch))
        data = self._child.read(len(sent_index) * umad.ANSWER.size)
        sent, received = umad.TAIL.unpack(self._child.read(umad.TAIL.size))
        table = np.zeros(len(requests), _ANSWERS)
        table["status"] = umad.NOT_ASKED
        table[sent_index] = np.frombuffer(data, _ANSWERS)
        status = table["status"]
        silent = status & _NOTHING != 0
        refused = int(((status != 0) & ~silent).sum())
        octets = np.where((status == 0)[:, None], table["data"], np.uint8(0))
        return Answers(status == 0, octets, refused, sent, received, silent)

    def _path(self, one: Request) -> bytes | None:
        """The directed route of a request, b"" where it goes by LID, None where no way leads there."""
        if one.kind != _SUBNET:
            return b""
        if one.path is not None:
            return one.path
        if self._ways is None:
            self._ways = self._found_ways()
        return self._ways.path(one.lid)

    def _found_ways(self) -> Ways:
        """The ways from where this machine is."""
        assert self._fabric is not None, "subnet management needs the fabric: its ways"
        kept = _kept.get(_key(self._access))
        if kept is not None and kept.ways is not None and kept.fabric is self._fabric:
            return kept.ways
        own = self._ask([Request.along(b"", _NODE_INFO)])
        if not own.answered[0]:
            raise LiveError(f"{self._access.what}: this machine's own port does not answer (NodeInfo)")
        out, at = b"", own.data[0]
        if int(at[2]) != _SWITCH:
            out = bytes((int(at[36]),))
            next_to_it = self._ask([Request.along(out, _NODE_INFO)])
            if not next_to_it.answered[0]:
                what = self._access.what
                raise LiveError(f"{what}: nothing answers at the other end of this machine's cable")
            at = next_to_it.data[0]
        guid = int.from_bytes(at[12:20].tobytes(), "big")
        guids = self._fabric.switch_table()["guid"].tolist()
        if int(at[2]) != _SWITCH or guid not in guids:
            raise LiveError(
                f"{self._access.what}: this machine is at switch 0x{guid:016x}, which is not in the dump: "
                "a dump of another fabric or plane, or of before that switch came"
            )
        ways = Ways(self._fabric, guids.index(guid), out)
        if kept is not None:
            kept.fabric, kept.ways = self._fabric, ways
        return ways


class _Child:
    """The process that sends, and what it says."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.whole = True
        """Whether it has answered all that it was asked."""
        program = str(Path(umad.__file__).resolve())
        with contextlib.ExitStack() as stack:
            self._said = stack.enter_context(files.unnamed())
            self._process = subprocess.Popen(
                # Isolated: neither the folder of the program nor site packages are looked at.
                [sys.executable, "-I", "-S", program, *map(str, access.gsi), *map(str, access.smi)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env=None if access.environment is None else dict(access.environment),
                cwd=None if access.socket_name is None else process.clients_folder(),
                # A terminal's Ctrl-C reaches only Python; this child ends with its input.
                start_new_session=True,
            )
            stack.callback(self._close)
            (code,) = struct.unpack("<i", self.read(4))
            if code != 0:
                raise LiveError(_why(code, access))
            self._stack = stack.pop_all()

    def end(self) -> None:
        """Ends it."""
        self._stack.close()

    def write(self, data: bytes) -> None:
        """Hands it requests."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def read(self, size: int) -> bytes:
        """Takes so much of its answers."""
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise self._gone()
        return data

    def _gone(self) -> LiveError:
        self.whole = False
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")
        if "sim_init: connect failed" in said:
            return LiveError(self._access.refused())
        lines = said.strip().splitlines()
        return LiveError(
            f"sending management datagrams: the child ended: {lines[-1] if lines else 'no word'}"
        )

    def _close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        process.end_client(self._process)


@dataclass
class _Kept:
    """What waits for the next who asks."""

    children: list[_Child] = field(default_factory=list)
    fabric: Fabric | None = None
    ways: Ways | None = None
    """Those of the fabric."""


_kept: dict[tuple[object, ...], _Kept] = {}
"""By access, while somebody keeps it."""


def _key(access: Access) -> tuple[object, ...]:
    return access.socket_name, access.host, access.gsi, access.smi


@contextlib.contextmanager
def keeping(access: Access) -> Iterator[None]:
    """Until this block ends, children of an access stay for who asks next: starting one takes 50 ms.

    So do the ways of the fabric that was asked last.

    One block an access at a time.
    """
    kept = _kept.setdefault(_key(access), _Kept())
    try:
        yield
    finally:
        _kept.pop(_key(access), None)
        for child in kept.children:
            child.end()


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
