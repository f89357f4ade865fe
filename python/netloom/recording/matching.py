"""Which message each receive gets: sends and receives of a trace in pairs, as MPI orders them.

Messages from one rank to another on one communicator with one tag are received in the order in which they
were sent. What was cancelled is no message's. What is left over is unmatched: a rank was lost, events were
dropped, or the program is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom.recording.events import Ints
from netloom.recording.trace import RECEIVES, SENDS, Events, Trace


@dataclass
class Matching:
    """Pairs of sends and receives.

    Parameters
    ----------
    kept : list of arrays of bool
        By rank, of each event: whether it is a send or a receive that has its other half.
    tags : list of arrays of int
        By rank: one number for each communicator and tag, from 0; -1 of other events.
    received : list of arrays of int
        By rank: bytes of the message that a receive gets; 0 of other events.
    partners : list of arrays of int
        By rank: the thread of its rank that has the other half; 0 of other events.
    unmatched : list of tuple
        Source, destination, communicator, tag, messages sent and received, where these differ.
    untold : int
        Receives whose source or tag was never told.
    messages : int
        Pairs.
    ambiguous : int
        Pairs whose order only the clock tells: with one source, destination, communicator and tag, several
        threads of a rank sent, or several received. MPI says nothing of which came first.
    late : int
        Messages whose receive was over before their send began, where both times and the order are known:
        clocks differ.
    """

    kept: list[npt.NDArray[np.bool_]]
    tags: list[Ints]
    received: list[Ints]
    partners: list[Ints]
    unmatched: list[tuple[int, int, int, int, int, int]]
    untold: int
    messages: int
    ambiguous: int
    late: int


def match(trace: Trace, of: Sequence[Events] | None = None) -> Matching:
    """Pairs the sends and receives of a trace.

    Parameters
    ----------
    trace : Trace
        Of all ranks.
    of : sequence of Events, optional
        By rank, instead of the trace's.

    Returns
    -------
    Matching
    """
    bases = np.array([*trace.bases(), ""])
    is_send, is_receive = np.isin(bases, SENDS), np.isin(bases, RECEIVES)
    columns: list[list[Ints]] = [[] for _ in range(10)]
    of = trace.events if of is None else of
    kept = [np.zeros(len(events), bool) for events in of]
    tags = [np.full(len(events), -1, np.int64) for events in of]
    # Each side of an intercommunicator knows it by the other's members: its context is what both have.
    # Where that is not known, all intercommunicators are one.
    between = np.array(
        [
            (-1 if one.remote else number) if one.context is None else one.context
            for number, one in enumerate(trace.communicators)
        ]
    )
    each = [np.zeros(len(events), np.int64) for events in of]
    partners = [np.zeros(len(events), np.int64) for events in of]
    untold = 0
    for rank, events in enumerate(of):
        sends = is_send[events.function] & ~events.cancelled
        receives = is_receive[events.function] & ~events.cancelled
        told = (events.peer >= 0) & (events.tag >= 0)
        untold += int(np.count_nonzero(receives & ~told))
        at = np.flatnonzero((sends | receives) & told)
        # A request's receive is over when that is complete.
        over = np.where(events.request, -1, events.end_ns)
        over[events.completes[1]] = events.end_ns[events.completes[0]]
        peer, me, sending = events.peer[at], np.full(len(at), rank), sends[at]
        values = (
            np.where(sending, me, peer),
            np.where(sending, peer, me),
            between[events.communicator[at]],
            events.tag[at],
            (~sending).astype(np.int64),
            me,
            at,
            np.where(sending, events.start_ns[at], over[at]),
            events.bytes[at],
            events.thread[at],
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    source, destination, communicator, tag, side, owner, place, when, size, thread = (
        np.concatenate(column) if column else np.empty(0, np.int64) for column in columns
    )
    names = np.unique((communicator + 1) << 32 | tag, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((side, names, destination, source))
    new = np.ones(len(order), bool)
    same = [one[order][1:] == one[order][:-1] for one in (names, destination, source)]
    new[1:] = ~np.logical_and.reduce(same) if len(order) else new[1:]
    group = np.cumsum(new) - 1
    groups = int(group[-1]) + 1 if len(group) else 0
    sends = np.bincount(group, side[order] == 0, groups).astype(np.int64)
    receives = np.bincount(group, side[order] == 1, groups).astype(np.int64)
    starts = np.flatnonzero(new)
    within = np.arange(len(order)) - starts[group] if groups else np.empty(0, np.int64)
    within -= np.where(side[order] == 1, sends[group], 0)
    paired = within < np.minimum(sends, receives)[group]
    flags = np.zeros(len(order), bool)
    flags[order] = paired
    halves = order[paired]
    sent, received = halves[side[halves] == 0], halves[side[halves] == 1]
    # Of each half: whether another thread has a half on the same side. The first of a side stands for it.
    sides = starts[group] + np.where(side[order] == 1, sends[group], 0) if groups else order
    unsure = np.zeros(groups, bool)
    unsure[group[thread[order] != thread[order[sides]]]] = True
    ambiguous = int(np.minimum(sends, receives)[unsure].sum())
    got = np.zeros(len(order), np.int64)
    got[received] = size[sent]
    other = np.zeros(len(order), np.int64)
    other[received], other[sent] = thread[sent], thread[received]
    bounds = np.searchsorted(owner, np.arange(trace.ranks + 1))
    for rank in range(trace.ranks):
        part = slice(int(bounds[rank]), int(bounds[rank + 1]))
        kept[rank][place[part]] = flags[part]
        tags[rank][place[part]] = names[part]
        each[rank][place[part]] = got[part]
        partners[rank][place[part]] = other[part]
    wrong = np.flatnonzero(sends != receives)
    first = order[starts[wrong]] if groups else np.empty(0, np.int64)
    unmatched = list(
        zip(
            *(one[first].tolist() for one in (source, destination, communicator, tag)),
            sends[wrong].tolist(),
            receives[wrong].tolist(),
            strict=True,
        )
    )
    sure = np.ones(len(order), bool)
    sure[order] = ~unsure[group]
    known = (when[sent] >= 0) & (when[received] >= 0) & sure[sent]
    late = int(np.count_nonzero(known & (when[received] < when[sent])))
    return Matching(kept, tags, each, partners, unmatched, untold, len(sent), ambiguous, late)
