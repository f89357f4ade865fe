"""Events of one rank, from its record file: 16 bytes each (native/recorder/format.h), as columns.

What a program could have written itself is not believed: codes, ranks, communicators and functions that
cannot be are left out and counted (`Rank.unread`). A rank that was killed ends where its last whole event
does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError
from netloom.files import Folder
from netloom.recording.records import Record

CLOCK, TIME, SPENT, WIDE, REQUEST, COMPLETES, MATCHED, COUNT, COMMUNICATOR, MEMBER = range(1, 11)
CANCELLED, CANCEL, CONTEXT = 11, 12, 13
FIRST_FUNCTION = 16
COMPLETES_ONE = 0x8000
"""A bit of a function's code: the call completes one request, and has its handle in the second word."""
PEER_NONE, PEER_ANY = 0xFFFFFF, 0xFFFFFE
NO_TAG, WIDE_COMMUNICATOR = 0xFFFF, 0xFF

NONE, ANY = -1, -2
"""A peer that there is none, and that was not told before the end."""

Ints = npt.NDArray[np.int64]
_MOST_LOCAL = 1 << 24
"""Communicators of a rank."""
WORLD = 1
"""What tells MPI_COMM_WORLD from its duplicates in records (native/recorder/contexts.h)."""
_MOST_BYTES = 1_000_000_000_000
"""Of one call: what the formats that are written can say."""


class Communicator(NamedTuple):
    """Who can talk to whom, apart from all others.

    Parameters
    ----------
    members : array of int
        World ranks in the communicator's order; -1: of another world.
    remote : bool
        Whether these are the other side of an intercommunicator.
    context : int, optional
        What tells it from others with the same members: messages of two contexts never meet. In a record what
        all members have in common, in a trace the first row of it. [default: not known]
    """

    members: Ints
    remote: bool
    context: int | None = None


@dataclass
class Rank:
    """What one rank did, in order.

    Parameters
    ----------
    rank : int
        Its rank in MPI_COMM_WORLD.
    function : array of int
        Index into `names`.
    names : list of str
        Functions, each with the letter of its kind first.
    thread : array of int
        Threads, from 0.
    start_ns, end_ns : array of int
        Nanoseconds since 1970; a start of -1 is not known: the call hardly waited.
    peer : array of int
        World rank, `NONE`, or `ANY` for a receive whose source was never told. Of collectives the root, a
        rank of the communicator.
    tag : array of int
        -1: none, or never told.
    communicator : array of int
        Number into `communicators`; 0 is the world.
    bytes : array of int
        As `netloom record` counts them; 0 of receives and completions.
    request : array of bool
        Whether a request began, which is then named by the event's index.
    completes : tuple of arrays
        Indices of events that complete requests, and of the events that began these.
    cancelled : array of bool
        Whether the request that began sends or receives nothing here: it was cancelled, or its message came
        from another world.
    counts : tuple of arrays
        Indices of events, which member of the communicator, bytes to it; members without are 0.
    communicators : dict of Communicator
        By number.
    dropped, unread : int
        Events that found no place, and that make no sense.
    """

    rank: int
    names: list[str]
    function: Ints
    thread: Ints
    start_ns: Ints
    end_ns: Ints
    peer: Ints
    tag: Ints
    communicator: Ints
    bytes: Ints
    request: npt.NDArray[np.bool_]
    completes: tuple[Ints, Ints]
    cancelled: npt.NDArray[np.bool_]
    counts: tuple[Ints, Ints, Ints]
    communicators: dict[int, Communicator] = field(default_factory=dict)
    dropped: int = 0
    unread: int = 0

    def __len__(self) -> int:
        return len(self.function)


def read(record: Record) -> Rank:
    """The events of a rank.

    Parameters
    ----------
    record : Record
        Read from a file of events.

    Returns
    -------
    Rank

    Raises
    ------
    FormatError
        If the file has become shorter.
    OSError
        If it cannot be read.
    """
    streams: dict[int, list[npt.NDArray[np.uint64]]] = {}
    if record.path is not None and record.chunks:
        with Folder.open(record.path.parent) as folder:
            data = folder.read(record.path.name, 1 << 36, own=True)
        for owner, at, length in record.chunks:
            if at + length > len(data):
                raise FormatError(f"{record.path}: the record was cut short", str(record.path))
            chunk = np.frombuffer(data, np.uint64, length // 8, at).reshape(-1, 2)
            ends = np.flatnonzero((chunk[:, 0] >> np.uint64(32)) & np.uint64(0xFFFF) == 0)
            streams.setdefault(owner, []).append(chunk[: ends[0]] if len(ends) else chunk)
    parts = [
        _of_thread(np.concatenate(streams[owner]), number, record)
        for number, owner in enumerate(sorted(streams))
    ]
    return _together(record, parts)


def by_communicator(communicator: Ints, calls: Ints) -> dict[int, Ints]:
    """The calls on each communicator, in order.

    Parameters
    ----------
    communicator : array of int
        Of each event.
    calls : array of int
        Indices of events, in order.

    Returns
    -------
    dict
        Those on a communicator, by its number; only of communicators that have any.
    """
    order = calls[np.argsort(communicator[calls], kind="stable")]
    numbers, starts = np.unique(communicator[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)) if len(order) else {}


def _of_thread(raw: npt.NDArray[np.uint64], thread: int, record: Record) -> dict[str, Any]:
    """Columns of one thread; times in ticks."""
    first, second = raw[:, 0], raw[:, 1].astype(np.int64)
    low = (first & np.uint64(0xFFFFFFFF)).astype(np.int64)
    code = ((first >> np.uint64(32)) & np.uint64(0xFFFF)).astype(np.int64)
    tag = (first >> np.uint64(48)).astype(np.int64)
    one = (code & COMPLETES_ONE) > 0
    code = np.where(one, code - COMPLETES_ONE, code)
    is_main = (code >= FIRST_FUNCTION) & (code < FIRST_FUNCTION + len(record.names))
    main = np.flatnonzero(is_main)
    number = np.cumsum(is_main) - 1  # Of the event at or before each record.
    clocks = np.maximum.accumulate(np.where(code == CLOCK, np.arange(len(code)), -1)) if len(code) else code
    clocked = clocks[main] >= 0
    base = np.where(clocked, second[np.maximum(clocks[main], 0)], 0)
    single = one[main]
    peer = np.where(single, PEER_NONE, second[main] & 0xFFFFFF)
    found: dict[str, Any] = {
        "thread": np.full(len(main), thread),
        "function": code[main] - FIRST_FUNCTION,
        "end": base + low[main],
        "spent": np.where(single & (tag[main] != NO_TAG), tag[main], -1),
        "peer": np.where(peer == PEER_NONE, NONE, np.where(peer == PEER_ANY, ANY, peer)),
        "tag": np.where(single | (tag[main] == NO_TAG), -1, tag[main]),
        "communicator": np.where(single, 0, (second[main] >> 24) & 0xFF),
        "bytes": np.where(single, 1, (second[main] >> 32) & 0xFFFFFFFF),
        "valid": clocked,
        "unread": int(np.count_nonzero((code > CONTEXT) & ~is_main)),
    }
    for kind in (SPENT, WIDE):
        at = np.flatnonzero(code == kind)
        of = number[at] + 1
        at, of = at[of < len(main)], of[of < len(main)]
        if kind == SPENT:
            found["spent"][of] = second[at] & ((1 << 62) - 1)
        else:
            wide = low[at]
            found["tag"][of] = np.where(wide > 0x7FFFFFFF, -1, wide)
            found["communicator"][of] = second[at] & 0xFFFFFFFF
            found["bytes"][of] += ((second[at] >> 32) & 0xFFFFFF) << 32
    after = {
        kind: np.flatnonzero((code == kind) & (number >= 0))
        for kind in (REQUEST, COMPLETES, MATCHED, COUNT, CANCELLED, CANCEL)
    }
    found["requests"] = number[after[REQUEST]], second[after[REQUEST]]
    done = np.union1d(after[COMPLETES], main[single])
    matched = np.zeros(len(done), np.int64) + ANY
    told = np.full(len(done), -1, np.int64)
    which = np.searchsorted(done, after[MATCHED]) - 1
    right = which >= 0
    matched[which[right]] = second[after[MATCHED][right]] & 0xFFFFFFFF
    told[which[right]] = low[after[MATCHED][right]]
    cancelled = np.zeros(len(done), np.int64)
    which = np.searchsorted(done, after[CANCELLED]) - 1
    cancelled[which[which >= 0]] = 1
    found["completions"] = number[done], second[done], matched, told, cancelled
    # A cancel lies behind the event before it: it is of the last request with its handle.
    found["cancels"] = number[after[CANCEL]], second[after[CANCEL]]
    clocks, times = np.flatnonzero(code == CLOCK), np.flatnonzero(code == TIME)
    times = times[np.isin(times - 1, clocks)][-1:]
    found["told"] = second[times - 1].tolist(), second[times].tolist()
    counts = after[COUNT]
    found["counts"] = number[counts], low[counts], np.clip(second[counts], 0, 1 << 50)
    found["communicators"] = _communicators(code, low, second, record.ranks)
    return found


def _communicators(code: Ints, low: Ints, second: Ints, ranks: int) -> dict[int, Communicator]:
    found = {}
    begins = np.flatnonzero(code == COMMUNICATOR)
    members = np.flatnonzero(code == MEMBER)
    lasts: Any = np.searchsorted(members, [*begins[1:], len(code)]) if len(begins) else []
    for at, last in zip(begins.tolist(), lasts, strict=True):
        size, remote = int(second[at]) & 0xFFFFFFFF, bool(int(second[at]) >> 32 & 1)
        own = members[np.searchsorted(members, at) : last]
        # One whose members are not all there was cut short: what it names is left out.
        # It may have more than the world has: spawned processes are members of what is merged.
        if 0 < size == len(own) and np.array_equal(low[own], np.arange(size)):
            world = second[own] & 0xFFFFFFFF
            told = at + 1 < len(code) and code[at + 1] == CONTEXT
            context = int(second[at + 1]) if told else None
            found[int(low[at])] = Communicator(
                np.where(world < ranks, world, NONE).astype(np.int64), remote, context
            )
    return found


def _together(record: Record, parts: list[dict[str, Any]]) -> Rank:
    """The threads of a rank as one, in the order in which things happened."""

    def whole(name: str) -> Ints:
        return np.concatenate([np.empty(0, np.int64), *(part[name] for part in parts)])

    bases = np.cumsum([0, *(len(part["function"]) for part in parts)]).tolist()

    def joined(name: str, column: int) -> Ints:
        empty = np.empty(0, np.int64)
        return np.concatenate(
            [
                empty,
                *(
                    part[name][column] + (base if column == 0 else 0)
                    for part, base in zip(parts, bases, strict=False)
                ),
            ]
        )

    communicators = {0: Communicator(np.arange(record.ranks), False, WORLD)}
    for part in parts:
        communicators.update(part["communicators"])
    function, communicator, peer = whole("function"), whole("communicator"), whole("peer")
    known = np.fromiter((key for key in communicators if 0 <= key < _MOST_LOCAL), np.int64)
    valid = whole("valid").astype(bool) & np.isin(communicator, known) & (peer < record.ranks)
    valid &= whole("bytes") <= _MOST_BYTES
    end, spent = whole("end"), whole("spent")
    began = np.where(spent >= 0, end - spent, -1)
    # Sends and receives lie where they began: the other side may have answered before they were over.
    letters = np.array([name[:1] for name in record.names])
    stems = np.array([base_name(name[1:]) for name in record.names])
    points = np.isin(letters, ["B", "N", "P", "S"]) | np.isin(stems, ["Recv", "Mrecv"])
    begins = points[function] if len(function) else np.empty(0, bool)
    key = np.where(begins & (spent >= 0), began, end) if len(parts) > 1 else np.arange(len(end))
    order = np.argsort(key, kind="stable")
    order = order[valid[order]]
    place = np.full(len(function), -1, np.int64)
    place[order] = np.arange(len(order))
    starts, handles = place[joined("requests", 0)], joined("requests", 1)
    ends, done = place[joined("completions", 0)], joined("completions", 1)
    threads = np.concatenate([np.empty(0, np.int64), *(part["thread"] for part in parts)])
    counted, member, size = place[joined("counts", 0)], joined("counts", 1), joined("counts", 2)
    sizes = np.zeros(int(known.max()) + 1, np.int64)
    sizes[known] = [len(communicators[number].members) for number in known.tolist()]
    kept = (counted >= 0) & (size <= _MOST_BYTES)
    kept[kept] = member[kept] < sizes[communicator[order][counted[kept]]]
    last = max(((*clock, *time) for clock, time in (part["told"] for part in parts) if clock), default=None)
    began_by, ended_by = threads[joined("requests", 0)], threads[joined("completions", 0)]
    pairs = _requests(starts, handles, began_by, ends, done, ended_by)
    rank = Rank(
        rank=record.rank,
        names=record.names,
        function=function[order],
        thread=whole("thread")[order],
        start_ns=_nanoseconds(record, began[order], last),
        end_ns=_nanoseconds(record, end[order], last),
        peer=peer[order],
        tag=whole("tag")[order],
        communicator=communicator[order],
        bytes=whole("bytes")[order],
        request=np.zeros(len(order), bool),
        completes=(ends[pairs[1]], pairs[0]),
        cancelled=np.zeros(len(order), bool),
        counts=(counted[kept], member[kept], size[kept]),
        communicators=communicators,
        dropped=record.dropped,
        unread=int(np.count_nonzero(~valid)) + sum(part["unread"] for part in parts),
    )
    rank.request[starts[starts >= 0]] = True
    _resolve(rank, pairs, joined("completions", 2), joined("completions", 3))
    rank.cancelled[pairs[0][joined("completions", 4)[pairs[1]] > 0]] = True
    _cancel(rank, (starts, handles), (place[joined("cancels", 0)], joined("cancels", 1)))
    return rank


def _cancel(rank: Rank, requests: tuple[Ints, Ints], cancels: tuple[Ints, Ints]) -> None:
    """Receives that were to be cancelled and were freed before they were complete get nothing."""
    if not len(cancels[0]):
        return
    by_handle: dict[int, list[int]] = {}
    for start, handle in sorted(zip(*(one.tolist() for one in requests), strict=True)):
        by_handle.setdefault(handle, []).append(start)
    complete = set(rank.completes[1].tolist())
    for at, handle in zip(*(one.tolist() for one in cancels), strict=True):
        before = [start for start in by_handle.get(handle, ()) if 0 <= start <= at]
        if before and before[-1] not in complete and rank.bytes[before[-1]] == 0:
            name = base_name(rank.names[int(rank.function[before[-1]])][1:])
            rank.cancelled[before[-1]] |= name in ("Recv", "Mrecv")


def _requests(
    starts: Ints, handles: Ints, began_by: Ints, ends: Ints, done: Ints, ended_by: Ints
) -> tuple[Ints, Ints]:
    """As `_matched`, of all threads: a thread completes its own request with that handle, if it has one.

    A handle that one thread has given back may be another's before the first has said so: by the clock alone,
    the second would be complete.
    """
    number_of = np.unique(np.concatenate([began_by, ended_by]), return_inverse=True)[1].reshape(-1)
    if not len(number_of) or not number_of.any():
        return _matched(starts, handles, ends, done)
    begun, by = [], []
    for thread in np.unique(number_of).tolist():
        own_starts = np.flatnonzero(number_of[: len(starts)] == thread)
        own_ends = np.flatnonzero(number_of[len(starts) :] == thread)
        pairs = _matched(starts[own_starts], handles[own_starts], ends[own_ends], done[own_ends])
        begun.append(pairs[0])
        by.append(own_ends[pairs[1]])
    # What is left began in one thread and was complete in another: the first that waits, in order.
    left: dict[int, list[int]] = {}
    taken = np.isin(starts, np.concatenate(begun))
    for start, handle in sorted(zip(starts[~taken].tolist(), handles[~taken].tolist(), strict=True)):
        if start >= 0:
            left.setdefault(handle, []).append(start)
    free = np.ones(len(ends), bool)
    free[np.concatenate(by)] = False
    more = []
    for index in np.flatnonzero(free)[np.argsort(ends[free], kind="stable")].tolist():
        waiting = left.get(int(done[index]))
        if waiting and ends[index] > waiting[0]:
            more.append((waiting.pop(0), index))
    whole = np.array(more, np.int64).reshape(-1, 2)
    all_begun, all_by = np.concatenate([*begun, whole[:, 0]]), np.concatenate([*by, whole[:, 1]])
    kept = np.argsort(all_by, kind="stable")
    return all_begun[kept], all_by[kept]


def _matched(starts: Ints, handles: Ints, ends: Ints, done: Ints) -> tuple[Ints, Ints]:
    """Events that began a request, and which completion each has: of the last one with its handle."""
    place = np.concatenate([starts, ends])
    handle = np.concatenate([handles, done])
    completes = np.concatenate([np.zeros(len(starts), bool), np.ones(len(ends), bool)])
    index = np.concatenate([starts, np.arange(len(ends))])
    order = np.lexsort((completes, place, handle))
    order = order[place[order] >= 0]
    follows = completes[order[1:]] & ~completes[order[:-1]] & (handle[order[1:]] == handle[order[:-1]])
    at = np.flatnonzero(follows)
    begun, by = index[order[at]], index[order[at + 1]]
    kept = np.argsort(by, kind="stable")
    return begun[kept], by[kept]


def _resolve(rank: Rank, pairs: tuple[Ints, Ints], sources: Ints, tags: Ints) -> None:
    """Gives receives from any source, or with any tag, what their completion told."""
    begun, by = pairs
    source, tag = sources[by], tags[by]
    told = source >= 0
    for event, which, tag_told in zip(
        begun[told].tolist(), source[told].tolist(), tag[told].tolist(), strict=True
    ):
        members = rank.communicators[int(rank.communicator[event])].members
        if rank.peer[event] == ANY and which < len(members):
            rank.peer[event] = members[which]
            rank.cancelled[event] |= members[which] < 0
        if rank.tag[event] < 0:
            rank.tag[event] = tag_told


def _nanoseconds(record: Record, ticks: Ints, last: tuple[int, int] | None) -> Ints:
    """Times since 1970; -1 stays.

    The clock's pace is told best by the longest span of which it is known: from the start to the end, or to
    the last time that a rank without an end has told. What the rank measured as it began, over a fifth of a
    millisecond, stands where there is no more, and where somebody has set the clock meanwhile.
    """
    start, end, pace = record.clock
    end_ns = record.end_ns
    if not end_ns and last is not None:
        end, end_ns = last
    if (end - start) * pace > 1e6:
        told = (end_ns - record.start_ns) / (end - start)
        pace = told if abs(told / pace - 1) < 0.01 else pace
    since = ((ticks - start) * pace).astype(np.int64)
    return np.where(ticks < 0, -1, record.start_ns + since)


def base_name(name: str) -> str:
    """What a function is a form of: `Alltoallv` of `Ialltoallv_init_c`."""
    base = name.removesuffix("_c").removesuffix("_init")
    return base[1].upper() + base[2:] if base[:1] == "I" and base[1:2].islower() else base
