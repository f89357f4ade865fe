"""Record files, as the preloaded library writes them (native/recorder/format.h), one a rank.

They come from programs that may have been killed, from machines that may be another kind, and lie in a folder
that a program could have written to: nothing in them is believed. Every size is checked against the file's
own before anything is read, and what is read is bounded by what is there.
"""

from __future__ import annotations

import errno
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError
from netloom.files import Folder

MAGIC = b"NLRECORD"
VERSION = 3
"""Files of version 1 have no calls that complete one request in one record, those of version 2 no contexts of
communicators; they are read as well."""
SUMS, EVENTS = 1, 2
"""The kinds of files: sums and nothing else; sums and events."""
ABIS = {1: "mpich", 2: "open-mpi", 3: "standard"}
STATES = {1: "killed", 2: "finalized", 3: "exited", 4: "aborted", 5: "no-space"}
"""How far a rank came, by the number in its file; one that is open when all is over was killed."""
TWO_LIBRARIES, SPAWNED, LIMIT, EVENTS_NO_SPACE = 1, 2, 4, 8
"""Bits of `Record.flags`; the last two: why events were dropped."""
KINDS = {
    "B": "blocking",
    "N": "nonblocking",
    "P": "persistent",
    "S": "sendrecv",
    "C": "collective",
    "H": "neighbourhood",
    "O": "one_sided",
}
"""What a function is, by the first byte of its name in a file."""

_HEAD = struct.Struct("=8sIIIIIIIIIIIiQQQQd256s1024s512s")
_CLOCK = struct.Struct("=QQd")
_PROCESSORS_AT, _PROCESSORS_BYTES = _HEAD.size + _CLOCK.size + 8, 128
_HEAD_BYTES, _NAME_BYTES, _PAGE = 4096, 32, 4096
_BLOCK = struct.Struct("=IIQQQQQQQ")
_BLOCK_MAGIC = 0x4B4C424E
_ORDER = 0x01020304
_MOST_BYTES = 1 << 36
_MOST_RANKS = 10_000_000
_MOST_FUNCTIONS = 4096

Sums = npt.NDArray[np.uint64]
"""Two columns: times, bytes."""


@dataclass
class Record:
    """What one rank recorded.

    Parameters
    ----------
    rank, ranks : int
        Its rank in MPI_COMM_WORLD, and how many there are.
    state : str
        One of `STATES`.
    abi : str
        One of `ABIS`.
    flags : int
        `TWO_LIBRARIES`, `SPAWNED`, `LIMIT`, `EVENTS_NO_SPACE`.
    host, program, library : str
        Where it ran, what, and what its MPI calls itself.
    start_ns, end_ns : int
        Nanoseconds since 1970; the end is 0 if the rank did not reach it.
    ns_per_call : float
        What counting one call took there, in nanoseconds, by the rank's own measurement.
    exit_code : int
        Of MPI_Abort.
    functions : dict
        Kind, calls and bytes by name of the MPI function; only those that were called.
    peers, sums : arrays
        World ranks that messages went to, and their times and bytes.
    put, got : tuples of arrays
        The same for what was put there and got from there.
    outside, outside_bytes : int
        Messages to processes that are not of this world, and their bytes.
    unknown : int
        Calls that could not be counted.
    names : list of str
        All functions, by number, with the letter of `KINDS` first; of files of events.
    chunks : list of tuple
        Thread, place in the file and bytes of its blocks of events.
    clock : tuple
        Of events: what it showed at `start_ns` and at `end_ns`, and nanoseconds a tick.
    dropped : int
        Events that found no place.
    processors : int
        Those that the rank could run on, a bit each; 0: not known.
    """

    rank: int
    ranks: int
    state: str
    abi: str
    flags: int
    host: str
    program: str
    library: str
    start_ns: int
    end_ns: int
    ns_per_call: float
    exit_code: int
    functions: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    peers: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sums: Sums = field(default_factory=lambda: np.empty((0, 2), np.uint64))
    put: tuple[npt.NDArray[np.int64], Sums] | None = None
    got: tuple[npt.NDArray[np.int64], Sums] | None = None
    outside: int = 0
    outside_bytes: int = 0
    unknown: int = 0
    path: Path | None = None
    names: list[str] = field(default_factory=list)
    chunks: list[tuple[int, int, int]] = field(default_factory=list)
    clock: tuple[int, int, float] = (0, 0, 1.0)
    dropped: int = 0
    processors: int = 0

    @property
    def has_events(self) -> bool:
        """Whether its file is one of events."""
        return bool(self.names)


def read(path: Path) -> Record:
    """Reads one rank's file.

    Parameters
    ----------
    path : Path
        The file; a link or a device is refused.

    Returns
    -------
    Record

    Raises
    ------
    FormatError
        Naming the file: it is none of ours, of another version or byte order, cut short, or contradicts
        itself.
    OSError
        If it cannot be read.
    """
    record = parse(_bytes_of(path), str(path))
    record.path = path
    return record


def _bytes_of(path: Path) -> bytes:
    try:
        with Folder.open(path.parent) as folder:
            data = folder.read(path.name, _MOST_BYTES + 1, own=True)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise FormatError(f"{path}: expected a record file, found no file", str(path)) from None
        raise
    if len(data) > _MOST_BYTES:
        raise FormatError(f"{path}: expected a record file, found more than {_MOST_BYTES} bytes", str(path))
    return data


def parse(data: bytes, label: str) -> Record:
    """A record from its bytes; as `read`."""

    def wrong(text: str) -> FormatError:
        return FormatError(f"{label}: {text}", label)

    if not data:
        raise wrong("the record is empty: is the disk full?")
    if len(data) < _HEAD_BYTES:
        raise wrong(f"expected a head of {_HEAD_BYTES} bytes, found {len(data)}: the record is cut short")
    (
        magic,
        order,
        version,
        kind,
        head_bytes,
        state,
        flags,
        abi,
        rank,
        ranks,
        functions,
        _threads,
        exit_code,
        size,
        _pid,
        start_ns,
        end_ns,
        ns_per_call,
        host,
        program,
        library,
    ) = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise wrong("expected a record file, found something else")
    if order != _ORDER:
        raise wrong("expected numbers in this machine's byte order, found another")
    if version not in (1, 2, VERSION) or kind not in (SUMS, EVENTS):
        raise wrong(f"expected sums or events of version {VERSION}, found kind {kind} of version {version}")
    if head_bytes != _HEAD_BYTES or state not in STATES or abi not in ABIS:
        raise wrong("expected a head of ours, found numbers that it cannot have")
    if not 0 <= rank < ranks <= _MOST_RANKS:
        raise wrong(f"expected a rank below the number of ranks, found {rank} of {ranks}")
    if not 0 < functions <= _MOST_FUNCTIONS:
        raise wrong(f"expected 1 to {_MOST_FUNCTIONS} functions, found {functions}")
    if not ns_per_call >= 0 or ns_per_call > 1e9:
        raise wrong("expected a time a call, found none")
    if size > len(data):
        raise wrong(f"expected {size} bytes, found {len(data)}: the record is cut short")
    record = Record(
        rank,
        ranks,
        STATES[state],
        ABIS[abi],
        flags,
        _text(host),
        _text(program),
        _text(library),
        start_ns,
        end_ns,
        ns_per_call,
        exit_code,
    )
    mask = data[_PROCESSORS_AT : _PROCESSORS_AT + _PROCESSORS_BYTES]
    record.processors = int.from_bytes(mask, sys.byteorder)
    at = _HEAD_BYTES + -(-functions * _NAME_BYTES // _PAGE) * _PAGE
    if at > size:
        raise wrong("expected the names of functions, found the end: the record is cut short")
    if kind == EVENTS:
        record.names = [_text(data[i : i + _NAME_BYTES]) for i in range(_HEAD_BYTES, at, _NAME_BYTES)][
            :functions
        ]
        record.clock = _CLOCK.unpack_from(data, _HEAD.size)
        if not 1e-6 < record.clock[2] < 1e6:
            raise wrong("expected nanoseconds a tick, found none")
    calls, pairs = np.zeros((functions, 2), np.uint64), np.zeros((0, 2), np.uint64)
    one_sided = pairs
    while at < size:
        if at + _BLOCK.size > size:
            raise wrong(f"expected a block at byte {at}, found the end")
        block_magic, block, length, outside, outside_bytes, unknown, dropped, owner, _ = _BLOCK.unpack_from(
            data, at
        )
        sums = {1: functions + ranks, 2: 2 * ranks, 3: 0 if kind == EVENTS else None}.get(block)
        if block_magic != _BLOCK_MAGIC or sums is None or length % _PAGE or length > size - at:
            raise wrong(f"expected a block at byte {at}, found something else")
        if _BLOCK.size + sums * 16 > length:
            raise wrong(f"expected {sums} sums in the block at byte {at}, found fewer")
        found = np.frombuffer(data, np.uint64, 2 * sums, at + _BLOCK.size).reshape(-1, 2)
        if block == 3:
            record.chunks.append((owner, at + _BLOCK.size, length - _BLOCK.size))
        elif block == 1:
            calls = calls + found[:functions]
            pairs = found[functions:] if len(pairs) == 0 else pairs + found[functions:]
        else:
            one_sided = found if len(one_sided) == 0 else one_sided + found
        record.outside += outside
        record.outside_bytes += outside_bytes
        record.unknown += unknown
        record.dropped += dropped
        at += length
    for index in np.flatnonzero(calls[:, 0]).tolist():
        start = _HEAD_BYTES + index * _NAME_BYTES
        name = _text(data[start : start + _NAME_BYTES])
        if not name or name[0] not in KINDS:
            raise wrong(f"expected the name of function {index}, found none")
        record.functions[name[1:]] = (KINDS[name[0]], int(calls[index, 0]), int(calls[index, 1]))
    record.peers, record.sums = _sparse(pairs)
    if len(one_sided):
        record.put, record.got = _sparse(one_sided[:ranks]), _sparse(one_sided[ranks:])
    return record


def _sparse(sums: Sums) -> tuple[npt.NDArray[np.int64], Sums]:
    peers = np.flatnonzero(sums[:, 0]).astype(np.int64)
    return peers, sums[peers].astype(np.uint64)


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode(errors="replace")
