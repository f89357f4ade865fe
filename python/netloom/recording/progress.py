"""Whether a trace comes to its end: its calls taken one after another, without times.

A call that waits for another rank's holds its own rank back. Two extremes tell what any library may do. With
every send buffered, a send waits for nobody: a trace that stops even then waits for ever. With none buffered,
a send waits until its receive is posted, and a collective until all members have come: a trace that stops
only then is *unsafe*, in MPI's word (MPI 4.1, section 3.5): whether it runs depends on sizes and libraries.

A collective of the first kind holds back those who need others' data: all of a barrier or an allreduce, the
root of a reduction, all but the root of a broadcast. Calls without their other half hold nobody back, as they
are findings of their own; nor do puts, gets and collectives of neighbourhoods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netloom.recording import collectives, threads
from netloom.recording.events import Ints
from netloom.recording.matching import match
from netloom.recording.trace import RECEIVES, SENDS, Trace

_OF_ALL = ("Barrier", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw")
_ALL = (*_OF_ALL, "Reduce_scatter", "Reduce_scatter_block")
_FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
_TO_ROOT = ("Reduce", "Gather", "Gatherv")
_FROM_BELOW = ("Scan", "Exscan")
_KNOWN = (*_ALL, *_FROM_ROOT, *_TO_ROOT, *_FROM_BELOW)


class Waiting(NamedTuple):
    """A call that another rank's call holds back.

    Parameters
    ----------
    rank : int
        Whose call it is.
    event : int
        Its number among the rank's, from 0; of a rank with several threads among the thread's.
    function : str
        Without `MPI_`.
    waits_for : int
        The rank that does not come to the call that this one needs.
    """

    rank: int
    event: int
    function: str
    waits_for: int


@dataclass
class Progress:
    """How far a trace comes.

    Parameters
    ----------
    stuck : list of Waiting
        Ranks that wait for each other in a circle though every send is buffered; empty: the trace ends.
    unsafe : list of Waiting
        The same where no send is buffered; empty too where `stuck` is not.
    """

    stuck: list[Waiting]
    unsafe: list[Waiting]


def progress(trace: Trace) -> Progress:
    """Whether a trace comes to its end, with all sends buffered and with none.

    Parameters
    ----------
    trace : Trace
        Of all ranks.

    Returns
    -------
    Progress

    Examples
    --------
    Two ranks that send to each other before they receive:

    >>> from netloom.recording import opening
    >>> from netloom.recording.progress import progress
    >>> path = getfixture("tmp_path") / "x.ti"
    >>> lines = ["0 send 1 0 8 6", "0 recv 1 0 8 6", "1 send 0 0 8 6", "1 recv 0 0 8 6"]
    >>> _ = path.write_text("\\n".join(lines) + "\\n")
    >>> found = progress(opening.read(path)[0])
    >>> found.stuck, [(one.rank, one.function, one.waits_for) for one in found.unsafe]
    ([], [(0, 'Send', 1), (1, 'Send', 0)])
    """
    each = threads.count(trace)
    if each > 1:
        trace, _ = threads.apart(trace)
    play = _Play(trace)
    circle = play.circle(buffered=False)
    stuck = play.circle(buffered=True) if circle else []
    found = Progress(stuck, [] if stuck else circle)
    for one in (found.stuck, found.unsafe):
        one[:] = [w._replace(rank=w.rank // each, waits_for=w.waits_for // each) for w in one]
    return found


class _Play:
    """What each call begins and needs: numbers of what must have happened."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        bases = [*trace.bases(), ""]
        self.sends = [base in SENDS for base in bases]
        self.receives = [base in RECEIVES for base in bases]
        self.both = [base.startswith("Sendrecv") for base in bases]
        # Always until the receive is there; never.
        self.synchronous = [name.lower().removeprefix("i").startswith("ssend") for name in trace.functions]
        self.never = [base == "Bsend" for base in bases]
        self.message, self.messages = self._messages()
        self.calls = self._collectives(bases)

    def _messages(self) -> tuple[list[Ints], int]:
        """By rank and event: the number of its message, the same of both halves; -1: none."""
        matching = match(self.trace)
        halves: list[list[Ints]] = [[], []]
        is_send = np.array(self.sends)
        for rank, events in enumerate(self.trace.events):
            at = np.flatnonzero(matching.kept[rank])
            side = is_send[events.function[at]]
            me = np.full(len(at), rank)
            tag, peer = matching.tags[rank][at], events.peer[at]
            source, destination = np.where(side, me, peer), np.where(side, peer, me)
            columns = np.stack([source, destination, tag, me, at])
            halves[0].append(columns[:, side])
            halves[1].append(columns[:, ~side])
        number = [np.full(len(events), -1, np.int64) for events in self.trace.events]
        count = 0
        for half in halves:
            source, destination, tag, me, at = np.concatenate(half, axis=1)
            # Stable: equal ones in the order of their rank. As many are sent as received.
            order = np.lexsort((tag, destination, source))
            named = np.empty(len(order), np.int64)
            named[order] = np.arange(len(order))
            bounds = np.searchsorted(me, np.arange(self.trace.ranks + 1))
            for rank in range(self.trace.ranks):
                part = slice(int(bounds[rank]), int(bounds[rank + 1]))
                number[rank][at[part]] = named[part]
            count = len(order)
        return number, count

    def _collectives(self, bases: list[str]) -> list[dict[int, tuple[int, int, int, int, str]]]:
        """By rank and event: which member of how many, the first member's number, the root, what it is."""
        found: list[dict[int, tuple[int, int, int, int, str]]] = [{} for _ in range(self.trace.ranks)]
        calls, base = collectives.by_rank(self.trace), 2 * self.messages
        # Behind the members of a call: that all of them have come, as -1 less the number of members.
        self.owner: list[int] = []
        for number, (members, remote, _) in enumerate(self.trace.communicators):
            if remote or not len(members) or np.any(members < 0):
                continue
            own = collectives.of_members(calls, number, members)
            world = members.tolist()
            for k, kind in enumerate(collectives.kinds(self.trace, members, own)):
                if kind not in _KNOWN:
                    continue
                for place, (rank, of) in enumerate(zip(world, own, strict=True)):
                    at = int(of[k])
                    root = int(self.trace.events[rank].peer[at])
                    where = world.index(root) if root in world else 0
                    found[rank][at] = place, len(world), base, where, kind
                self.owner += [*world, -1 - len(world)]
                base += len(world) + 1
        self.ends = base
        return found

    def needs(self, call: tuple[int, int, int, int, str], *, buffered: bool) -> range | list[int]:
        """What a member of a collective needs: those who must have come."""
        place, n, base, root, kind = call
        if not buffered or kind in _ALL or (kind in _TO_ROOT and place == root):
            return [base + n]
        if kind in _FROM_ROOT and place != root:
            return [base + root]
        return range(base, base + place) if kind in _FROM_BELOW else []

    def circle(self, *, buffered: bool) -> list[Waiting]:
        """Plays the trace; ranks that wait for each other, if it stops."""
        happened = bytearray(self.ends)
        self.come: dict[int, int] = {}
        waiting: dict[int, list[int]] = {}
        ranks = [_Rank(self, rank, buffered) for rank in range(self.trace.ranks)]
        ready = list(range(self.trace.ranks))[::-1]
        while ready:
            rank = ready.pop()
            begun, missing = ranks[rank].go(happened)
            for one in begun:
                ready += waiting.pop(one, ())
            if missing >= 0:
                # What it began itself may be what it needs.
                if happened[missing]:
                    ready.append(rank)
                else:
                    waiting.setdefault(missing, []).append(rank)
        held = {rank: code for code, those in waiting.items() for rank in those}
        if not held:
            return []
        path: list[Waiting] = []
        at = min(held)
        seen: dict[int, int] = {}
        while at not in seen and at in held:
            seen[at] = len(path)
            events, place = self.trace.events[at], ranks[at].at
            who = self._who(held[at], happened)
            path.append(Waiting(at, place, self.trace.functions[int(events.function[place])], who))
            at = who
        return path[seen.get(at, 0) :]

    def _who(self, code: int, happened: bytearray) -> int:
        """The rank that has not come to this."""
        if (place := code - 2 * self.messages) >= 0:
            if self.owner[place] >= 0:
                return self.owner[place]
            first = code + 1 + self.owner[place]
            return self.owner[happened.index(0, first) - 2 * self.messages]
        if not hasattr(self, "_ends_of"):
            self._ends_of = np.full((self.messages, 2), -1, np.int64)
            for owner, (numbers, events) in enumerate(zip(self.message, self.trace.events, strict=True)):
                at = np.flatnonzero(numbers >= 0)
                side = np.array(self.receives)[events.function[at]].astype(np.int64)
                self._ends_of[numbers[at], side] = owner
        return int(self._ends_of[code // 2, code % 2])


class _Rank:
    """One rank on its way. Of message *m* the send is number 2 *m*, the receive 2 *m* + 1."""

    def __init__(self, play: _Play, rank: int, buffered: bool) -> None:
        events = play.trace.events[rank]
        self.play, self.calls, self.buffered = play, play.calls[rank], buffered
        self.function, self.request = events.function.tolist(), events.request.tolist()
        self.message = play.message[rank].tolist()
        self.done: dict[int, list[int]] = {}
        for which, begun in zip(events.completes[0].tolist(), events.completes[1].tolist(), strict=True):
            self.done.setdefault(which, []).append(begun)
        self.start = events.start_ns.tolist()
        self.come: dict[int, int] = play.come
        self.at, self.needs = -1, list[int]()

    def go(self, happened: bytearray) -> tuple[list[int], int]:
        """On to where it must wait: what it began, and what it waits for; -1: it is at its end."""
        begun: list[int] = []
        needs, last = self.needs, len(self.function) - 1
        while True:
            while needs:
                if not happened[needs[-1]]:
                    return begun, needs[-1]
                needs.pop()
            if self.at >= last:
                return begun, -1
            self.at += 1
            at = self.at
            self._begin(at, happened, begun)
            if not self.request[at]:
                # The receive of a sendrecv is the next event, of the same call.
                if self.play.both[self.function[at]] and self._goes_on(at, last):
                    self.at += 1
                    self._begin(self.at, happened, begun)
                    self._need(self.at)
                self._need(at)
            for one in self.done.get(at, ()):
                self._need(one)

    def _goes_on(self, at: int, last: int) -> bool:
        return (
            at < last
            and self.play.receives[self.function[at + 1]]
            and not self.request[at + 1]
            and self.start[at] == self.start[at + 1]
        )

    def _begin(self, at: int, happened: bytearray, begun: list[int]) -> None:
        if (number := self.message[at]) >= 0:
            code = 2 * number + self.play.receives[self.function[at]]
        elif (call := self.calls.get(at)) is not None:
            place, n, base = call[:3]
            code = base + place
            self.come[base] = self.come.get(base, 0) + 1
            if self.come[base] == n:
                happened[base + n] = 1
                begun.append(base + n)
        else:
            return
        happened[code] = 1
        begun.append(code)

    def _need(self, at: int) -> None:
        name = self.function[at]
        if (number := self.message[at]) >= 0:
            if self.play.receives[name]:
                self.needs.append(2 * number)
            elif self.play.synchronous[name] or not (self.buffered or self.play.never[name]):
                self.needs.append(2 * number + 1)
        elif (call := self.calls.get(at)) is not None:
            self.needs.extend(self.play.needs(call, buffered=self.buffered))
