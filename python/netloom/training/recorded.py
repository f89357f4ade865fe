"""What processes called of NCCL, as the plug-in wrote it (native/nccl/profiler.c): a file a process.

A file has a head of 128 bytes and entries of 128 bytes, little endian; calls that are alike share an entry,
and one without a kind is not used. The communicator that has all processes says which rank of the job each
is; a rank is an endpoint. Which collective sends what to whom is `collective`'s, by the algorithm that NCCL
took.
"""

from __future__ import annotations

import os
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import FormatError
from netloom.training.collective import MOST_RANKS, Collective

if TYPE_CHECKING:
    from netloom._core import Traffic

ENDING = ".nccl"
MOST_PROCESSES = 1 << 17
_MAGIC = b"NLNCCL01"
_HEAD = struct.Struct("<8sIIQQ96s")
_ENTRY = struct.Struct("<IiQQQiiI32s20s16s16s")
_COMMUNICATOR, _COLLECTIVE, _MESSAGE = 1, 2, 3
_BYTES = {
    **dict.fromkeys(("ncclInt8", "ncclUint8", "ncclFloat8e4m3", "ncclFloat8e5m2"), 1),
    **dict.fromkeys(("ncclFloat16", "ncclBfloat16"), 2),
    **dict.fromkeys(("ncclInt32", "ncclUint32", "ncclFloat32"), 4),
    **dict.fromkeys(("ncclInt64", "ncclUint64", "ncclFloat64"), 8),
}
_DONE = {"AllReduce": "all-reduce", "AllGather": "all-gather", "ReduceScatter": "reduce-scatter"}
_OF_A_PIECE = ("AllGather", "ReduceScatter")
"""What counts a rank's piece, not its whole buffer."""


@dataclass(frozen=True)
class Call:
    """Calls of a process that are alike.

    Parameters
    ----------
    function : str
        `AllReduce`, `Send`, ….
    communicator : int
        Its id.
    bytes : int
        Of one call, as the caller gave them.
    calls : int
        How many.
    other : int
        The root, or of a message its peer, ranks of the communicator.
    algorithm : str
        `RING`, `TREE`, …; empty of messages.
    channels : int
        How many NCCL took.
    message : bool
        Whether it is from one rank to one.
    """

    function: str
    communicator: int
    bytes: int
    calls: int
    other: int
    algorithm: str
    channels: int
    message: bool


@dataclass
class Process:
    """What one process called.

    Parameters
    ----------
    label : str
        Its file.
    host : str
        Its machine.
    ranks : dict
        Rank and number of ranks, by communicator; 0 where NCCL did not tell how many (2.26).
    calls : list of Call
        What it called.
    dropped : int
        Calls for which its file had no room.
    unknown : int
        Calls with a datatype without a size.
    """

    label: str
    host: str
    ranks: dict[int, tuple[int, int]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    dropped: int = 0
    unknown: int = 0


def is_recording(path: str) -> bool:
    """Whether a path is a folder with such files.

    Examples
    --------
    >>> is_recording("/proc")
    False
    """
    return os.path.isdir(path) and bool(files(path))


def files(folder: str | Path) -> list[Path]:
    """The files of a folder, by name."""
    with os.scandir(folder) as there:
        return sorted(Path(one.path) for one in there if one.name.endswith(ENDING) and one.is_file())


def parse(data: bytes, label: str) -> Process:
    """What a file says.

    Raises
    ------
    FormatError
        If it is none of the plug-in's, cut short, or an entry of it makes no sense.
    """

    def bad(text: str) -> FormatError:
        return FormatError(f"{label}: {text}", label)

    if len(data) < _HEAD.size or data[:8] != _MAGIC:
        raise bad("expected a file of netloom's plug-in for NCCL, which begins with NLNCCL01")
    _, size, most, _, dropped, host = _HEAD.unpack_from(data)
    if size != _ENTRY.size or len(data) < _HEAD.size + most * size:
        raise bad(f"expected {most:,} entries of {_ENTRY.size} bytes, found {len(data):,} bytes")
    process = Process(label, _text(host), dropped=dropped)
    for number in range(most):
        kind, rank, communicator, calls, count, other, _, channels, *texts = _ENTRY.unpack_from(
            data, _HEAD.size + number * size
        )
        if kind == 0:
            continue
        function, datatype, algorithm, _ = map(_text, texts)
        if kind == _COMMUNICATOR:
            if not 0 <= rank < (other or MOST_RANKS) <= MOST_RANKS:
                raise bad(f"entry {number}: expected a rank below {other or MOST_RANKS}, found {rank}")
            if process.ranks.setdefault(communicator, (rank, other)) != (rank, other):
                raise bad(f"entry {number}: expected one GPU a process, found two ranks of one communicator")
            continue
        if kind not in (_COLLECTIVE, _MESSAGE) or communicator not in process.ranks:
            raise bad(f"entry {number}: expected a call on a communicator that was begun before")
        if not 0 <= other < (process.ranks[communicator][1] or MOST_RANKS):
            raise bad(f"entry {number}: expected a root or peer of the communicator, found {other}")
        if datatype not in _BYTES:
            process.unknown += calls
            continue
        bytes = count * _BYTES[datatype]
        if bytes * calls >= 1 << 62:
            raise bad(
                f"entry {number}: expected less than 2^62 bytes, found {count:,} elements {calls:,} times"
            )
        process.calls.append(
            Call(function, communicator, bytes, calls, other, algorithm, channels, kind == _MESSAGE)
        )
    return process


def traffic(processes: Sequence[Process], label: str) -> tuple[Traffic, list[str]]:
    """What the ranks of a job sent each other outside of their machines, and what to know of it.

    Raises
    ------
    FormatError
        If no communicator has all processes, ranks are missing, or a communicator has not as many on each of
        its machines.
    """
    import numpy as np

    from netloom import _core

    processes = _sized(processes)
    world = _world(processes, label)
    members: dict[int, dict[int, int]] = defaultdict(dict)
    for process in processes:
        for communicator, (rank, _) in process.ranks.items():
            members[communicator][rank] = process.ranks[world][0]
    by_rank = {process.ranks[world][0]: process for process in processes}
    sums: Counter[tuple[int, int]] = Counter()
    left: Counter[str] = Counter()
    for process in processes:
        for call in process.calls:
            group = members[call.communicator]
            rank, ranks = process.ranks[call.communicator]
            if len(group) != ranks:
                raise FormatError(
                    f"{label}: expected files of all {ranks} ranks of a communicator, found {len(group)}"
                )
            if call.other >= ranks:
                raise FormatError(
                    f"{label}: expected a root or peer of a communicator of {ranks} ranks, found {call.other}"
                )
            if not call.message and rank:
                continue
            if not call.message and call.function not in _DONE:
                left[call.function] += call.calls
                continue
            hosts = [by_rank[group[one]].host for one in range(ranks)]
            for source, target, size in _flows(call, rank, hosts, label):
                sums[group[source], group[target]] += size * call.calls
    notes = [f"{times:,} calls of {name} are left out" for name, times in sorted(left.items())]
    if dropped := sum(process.dropped for process in processes):
        notes.append(f"{dropped:,} calls are left out: files had no room for them")
    if unknown := sum(process.unknown for process in processes):
        notes.append(f"{unknown:,} calls are left out: NCCL does not name their datatype")
    ends = np.array([*sums], dtype=np.int64).reshape(-1, 2)
    count = processes[0].ranks[world][1]
    sizes = np.array([*sums.values()], dtype=float)
    return _core.Traffic.from_triples(count, ends[:, 0], ends[:, 1], sizes), notes


def _flows(call: Call, rank: int, hosts: Sequence[str], label: str) -> Iterator[tuple[int, int, int]]:
    """Bytes of one call between ranks of the communicator that are on different machines."""
    if call.message:
        if call.function == "Send" and hosts[rank] != hosts[call.other]:
            yield rank, call.other, call.bytes
        return
    machines = list(dict.fromkeys(hosts))
    places = {machine: [at for at, host in enumerate(hosts) if host == machine] for machine in machines}
    gpus = len(places[machines[0]])
    if any(len(place) != gpus for place in places.values()):
        raise FormatError(f"{label}: expected as many ranks of a communicator on each of its machines")
    order = [at for machine in machines for at in places[machine]]
    whole = call.bytes * (len(hosts) if call.function in _OF_A_PIECE else 1)
    tree = call.algorithm == "TREE" and call.function == "AllReduce"
    channels = max(1, min(call.channels, 64))
    what = Collective(
        "nccl-tree" if tree else "nccl-ring", len(machines), gpus, whole, _DONE[call.function], channels
    )
    yield from ((order[source], order[target], size) for source, target, size in what.flows())


def _sized(processes: Sequence[Process]) -> list[Process]:
    """Communicators whose number of ranks was not told have as many as processes that are on them."""
    on = Counter(communicator for process in processes for communicator in process.ranks)
    return [
        replace(process, ranks={key: (rank, most or on[key]) for key, (rank, most) in process.ranks.items()})
        for process in processes
    ]


def _world(processes: Iterable[Process], label: str) -> int:
    """The communicator that has all processes, each with a rank of its own."""
    processes = list(processes)
    sizes = {
        communicator: ranks for process in processes for communicator, (_, ranks) in process.ranks.items()
    }
    for communicator in sorted(sizes, key=lambda one: (-sizes[one], one)):
        ranks = [process.ranks[communicator] for process in processes if communicator in process.ranks]
        all_of_it = sorted(ranks) == [(rank, len(processes)) for rank in range(len(processes))]
        if all_of_it:
            return communicator
    most = max(sizes.values(), default=0)
    raise FormatError(
        f"{label}: expected files of all ranks of one job, found {len(processes):,} "
        f"and communicators of at most {most:,} ranks"
    )


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode("utf-8", "replace")
