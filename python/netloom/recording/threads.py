"""A trace by thread: every thread of a rank as a process, for formats whose processes have one order each.

Threads of a rank wait for different things at once: as one sequence, a wait of one would hold back what
another sends, and the replay would wait for ever. Here each keeps its own order. Rank r's thread k is process
r * threads + k; all ranks get as many. A receive belongs to the thread that completes it; which threads send
and receive a message is known, for its halves are paired first. A collective is one of the threads that call
it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError
from netloom.recording.events import Communicator, by_communicator
from netloom.recording.matching import Matching, match
from netloom.recording.trace import (
    COMPLETES,
    RECEIVES,
    SENDS,
    Events,
    Trace,
    one_sided,
)

Bools = npt.NDArray[np.bool_]
_FEW = 100_000
"""Threads of all ranks that any trace may have."""


def numbered(trace: Trace, path: str) -> Trace:
    """A trace whose threads are numbered from 0, without gaps, in the order of the numbers that they had.

    Parameters
    ----------
    trace : Trace
        Of all ranks; any number of a thread is as good as another.
    path : str
        What messages name.

    Returns
    -------
    Trace

    Raises
    ------
    FormatError
        If some rank has so many threads that, with as many for each rank, processes outnumber the events.
    """
    for events in trace.events:
        if len(events) and (events.thread.any() or events.thread.min() < 0):
            events.thread = np.unique(events.thread, return_inverse=True)[1].reshape(-1)
    processes, most = trace.ranks * count(trace), max(_FEW, trace.ranks + len(trace))
    if processes > most:
        rank = max(range(trace.ranks), key=lambda one: int(trace.events[one].thread.max(initial=0)))
        text = f"rank {rank} has {count(trace)} threads and there are {trace.ranks} ranks"
        raise FormatError(f"{path}: expected at most {most} threads of all ranks, found that {text}", path)
    return trace


def count(trace: Trace) -> int:
    """Threads that a rank has at most.

    Parameters
    ----------
    trace : Trace
        Of all ranks.

    Returns
    -------
    int
        1 or more.
    """
    return max((int(events.thread.max(initial=0)) + 1 for events in trace.events), default=1)


def apart(trace: Trace) -> tuple[Trace, Matching]:
    """A trace of processes that have one thread each.

    Parameters
    ----------
    trace : Trace
        Of ranks with any number of threads.

    Returns
    -------
    Trace
        Of `trace.ranks * count(trace)` ranks. What had no other half is marked as cancelled there.
    Matching
        Of the trace as it was given.
    """
    threads = count(trace)
    bases = np.array([*trace.bases(), ""])
    sends, receives = np.isin(bases, SENDS), np.isin(bases, RECEIVES)
    completing, sided = np.isin(bases, COMPLETES), one_sided(bases)
    owned = [_owned(events, sends) for events in trace.events]
    pairs = match(trace, owned)
    moved: list[Events] = []
    for rank, events in enumerate(owned):
        messages = (sends | receives)[events.function]
        lone = messages & ~pairs.kept[rank]
        other = np.where(messages & pairs.kept[rank], pairs.partners[rank], 0)
        peer = np.where(events.peer >= 0, events.peer * threads + other, events.peer)
        moved.append(replace(events, peer=peer, cancelled=events.cancelled | lone))
    communicators = [Communicator(np.arange(trace.ranks * threads), False, 0)] + [
        one._replace(members=np.where(one.members >= 0, one.members * threads, one.members))
        for one in trace.communicators[1:]
    ]
    collective = ~(sends | receives | completing | sided)
    moved = _collectives(trace, moved, collective, threads, communicators)
    parts = [_of_thread(one, thread) for one in moved for thread in range(threads)]
    hosts = [host for host in trace.meta.get("hosts", []) for _ in range(threads)]
    meta = {**trace.meta, "hosts": hosts}
    return Trace(trace.ranks * threads, trace.functions, parts, communicators, meta), pairs


def _owned(events: Events, sends: Bools) -> Events:
    """Where another thread completes a request: receives and collectives become that one's.

    Of sends the wait, which nothing follows from, is left out.
    """
    by, begun = events.completes
    thread = events.thread.copy()
    theirs = events.thread[by] != events.thread[begun]
    sent = sends[events.function[begun]]
    thread[begun[theirs & ~sent]] = events.thread[by[theirs & ~sent]]
    kept = ~(theirs & sent)
    return replace(events, thread=thread, completes=(by[kept], begun[kept]))


def _collectives(
    trace: Trace,
    owned: list[Events],
    collective: Bools,
    threads: int,
    communicators: list[Communicator],
) -> list[Events]:
    """Gives collectives a communicator of the threads that call them; roots are processes then."""
    found = [replace(events, communicator=events.communicator.copy()) for events in owned]
    all_calls = [
        by_communicator(events.communicator, np.flatnonzero(collective[events.function])) for events in owned
    ]
    none = np.empty(0, np.int64)
    column_of = np.full(trace.ranks, -1, np.int64)
    for number, (members, remote, _) in enumerate(trace.communicators):
        if remote or np.any(members < 0):
            continue
        calls = [all_calls[rank].get(number, none) for rank in members.tolist()]
        # The k-th call of each member is of one collective: a row has the threads that call it.
        who = np.zeros((max(map(len, calls), default=0), len(members)), np.int64)
        for column, (rank, own) in enumerate(zip(members.tolist(), calls, strict=True)):
            who[: len(own), column] = found[rank].thread[own]
        if not len(who):
            continue
        _, first, kind = np.unique(who, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        name = np.empty(len(order), np.int64)
        name[order] = len(communicators) + np.arange(len(order))
        communicators += [Communicator(members * threads + who[row], False) for row in first[order].tolist()]
        column_of[members] = np.arange(len(members))
        for rank, own in zip(members.tolist(), calls, strict=True):
            found[rank].communicator[own] = name[kind.reshape(-1)[: len(own)]]
            root = found[rank].peer[own]
            at = np.where(root >= 0, column_of[root // threads], -1)
            found[rank].peer[own] = root + np.where(at >= 0, who[np.arange(len(own)), at], 0)
        column_of[members] = -1
    return found


def _of_thread(events: Events, thread: int) -> Events:
    """What one thread did."""
    mine = events.thread == thread
    place = np.cumsum(mine) - 1
    by, begun = events.completes
    kept = mine[by] & mine[begun] if len(by) else np.empty(0, bool)
    of, member, size = events.counts
    counted = mine[of] if len(of) else np.empty(0, bool)
    return Events(
        events.function[mine],
        np.zeros(int(mine.sum()), np.int64),
        events.start_ns[mine],
        events.end_ns[mine],
        events.peer[mine],
        events.tag[mine],
        events.communicator[mine],
        events.bytes[mine],
        events.request[mine],
        (place[by[kept]], place[begun[kept]]),
        events.cancelled[mine],
        (place[of[counted]], member[counted], size[counted]),
    )
