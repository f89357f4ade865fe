"""Traces as SimGrid's time-independent format, which `netloom simulate` and `netloom optimize` take.

The format has no communicators: collectives of all ranks stay what they are, those of some ranks are written
as their messages (schedules.py); a nonblocking collective stands where it is waited for. Computation is in
nanoseconds: replayed with `flops_per_s = 1e9` it takes as long as it did. What has no other half (ranks that
were lost, events that were dropped) is left out, so that what is written can be replayed; one-sided
messages and collectives between two groups are left out too. All of that is told (`Written`).

A `wait` names a message and takes the oldest request of that name. A wait for a younger one is written as
waits for all up to it: messages of one name are matched in order. Later waits for these are left out.
"""

from __future__ import annotations

import bisect
import gzip
import io
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from netloom.recording import collectives as called
from netloom.recording import schedules, threads
from netloom.recording.events import Ints
from netloom.recording.matching import Matching, match
from netloom.recording.trace import COMPLETES, RECEIVES, SENDS, Events, Trace, one_sided


class Planned(Protocol):
    """What some collectives become: tasks of every member (`sends`, `peer`, `bytes`, `tag`; `after`: others
    of the same member that must be complete before, by number).
    """

    def algorithm(self, base: str, n: int, sizes: Sequence[int]) -> str | None:
        """Its name; None of a collective that stays as it is."""

    def __call__(self, base: str, n: int, sizes: Sequence[int]) -> Sequence[Sequence[Any]]:
        """The tasks of every member, of bytes of each one's own buffer."""


_END = (-1, -1)
"""What nothing waits for stands at the end."""
BYTE = 6
"""The number of the format's datatype of one byte."""
_NONE = np.empty(0, np.int64)
_LEAST_NS = 1000
"""Shorter computations are left out: they are what calls themselves take."""


@dataclass
class Written:
    """What became of a trace.

    Parameters
    ----------
    messages, collectives : int
        Written: pairs of sends and receives, collectives of all ranks.
    threads : int
        Processes that each rank became, one a thread; 1 where no rank has several.
    neighbourhoods : int
        Collectives of neighbourhoods, written as the messages that they are.
    decomposed : dict
        Collectives of some ranks that became messages, by name.
    left_out : dict
        What was left out, by what it is: how many.
    collective_tags : int, optional
        Messages with this tag or a higher one are those of collectives; None: there are none.
    algorithms : dict
        How collectives that became messages are done, where it is not as `schedules` has it, by name.
    """

    messages: int = 0
    collectives: int = 0
    threads: int = 1
    neighbourhoods: int = 0
    decomposed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    collective_tags: int | None = None
    algorithms: dict[str, str] = field(default_factory=dict)

    @property
    def about_tags(self) -> str | None:
        """The comment in a file's first line, which whoever takes it as traffic without collectives reads."""
        since = self.collective_tags
        return None if since is None else f"tags from {since} on: messages of collectives"


def write(trace: Trace, put: Callable[[str], object], matching: Matching | None = None) -> Written:
    """Writes a trace, rank after rank.

    Parameters
    ----------
    trace : Trace
        Of all ranks.
    put : callable
        Takes text, some lines at once.
    matching : Matching, optional
        Of this trace. [default: made here]

    Returns
    -------
    Written
    """
    written = Written()
    for rank, lines in by_rank(trace, written, matching):
        if rank == 0 and written.about_tags:
            put(f"# {written.about_tags}\n")
        put("\n".join([f"{rank} init", *lines, f"{rank} finalize"]) + "\n")
    return written


def by_rank(
    trace: Trace,
    written: Written,
    matching: Matching | None = None,
    *,
    all_messages: bool = False,
    planned: Planned | None = None,
    by_place: bool = False,
) -> Iterator[tuple[int, Iterator[str]]]:
    """The lines of each rank between `init` and `finalize`; `written` is complete when they have been taken.

    Parameters
    ----------
    trace : Trace
        Of all ranks.
    written : Written
        Filled.
    matching : Matching, optional
        Of this trace. [default: made here]
    all_messages : bool
        Collectives of all ranks become messages too. [default: False]
    planned : Planned, optional
        Of some collectives, what becomes of them instead: lines `task`, which only schedules can say.
    by_place : bool
        A `wait` is one line for the request that was waited for: behind the tag its place among the open
        ones of its name, and 1 for a send, else 0. Only schedules can say that. [default: False]

    Yields
    ------
    tuple
        Rank, and its lines.
    """
    if threads.count(trace) > 1:
        written.threads = threads.count(trace)
        trace, told = threads.apart(trace)
        matching = match(trace)
    else:
        told = matching = matching or match(trace)
    written.messages = matching.messages
    written.left_out.update(trace.meta.get("lacks", {}))
    for _, _, _, _, sent, received in told.unmatched:
        written.left_out["sends without a receive"] += max(0, sent - received)
        written.left_out["receives without a send"] += max(0, received - sent)
    written.left_out["receives without a source"] += told.untold
    tag = max((int(one.max(initial=-1)) for one in matching.tags), default=-1) + 1
    collectives = _Collectives(trace, written, tag, all_messages, planned)
    if written.decomposed or written.neighbourhoods:
        written.collective_tags = tag
    # A file that has such a comment, read and written again.
    if (since := trace.meta.get("collective_tags")) is not None:
        theirs = [
            own[(own >= 0) & (events.tag >= since) & (events.communicator == 0)]
            for own, events in zip(matching.tags, trace.events, strict=True)
        ]
        least = min((int(own.min()) for own in theirs if len(own)), default=tag)
        written.collective_tags = least if least < tag else written.collective_tags
    for rank in range(trace.ranks):
        yield rank, _rank(trace, rank, matching, collectives, written, by_place)
    written.left_out = +written.left_out


def packed(trace: Trace) -> tuple[bytes, Written]:
    """A trace as a packed file (`.ti.gz`), and what became of it; as `write`."""
    data = io.BytesIO()
    with gzip.GzipFile("", "wb", 4, data, mtime=0) as file:
        written = write(trace, lambda text: file.write(text.encode()))
    return data.getvalue(), written


class _Open:
    """Requests of a rank that nothing has waited for, by what a `wait` calls them."""

    def __init__(self, rank: int, by_place: bool) -> None:
        self._rank, self._by_place = rank, by_place
        self._open: dict[tuple[bool, int, int], list[int]] = {}

    def begin(self, name: tuple[bool, int, int], event: int) -> None:
        """A send (else a receive), its peer, its tag."""
        self._open.setdefault(name, []).append(event)

    def wait(self, name: tuple[bool, int, int], event: int) -> list[str]:
        """The lines that wait for what began at an event; none if it was waited for."""
        waiting = self._open.get(name, [])
        if event not in waiting:
            return []
        place, rank = waiting.index(event), self._rank
        sends, peer, tag = name
        text = f"{rank} wait {rank} {peer} {tag}" if sends else f"{rank} wait {peer} {rank} {tag}"
        if self._by_place:
            del waiting[place]
            return [f"{text} {place} {int(sends)}"]
        # To itself a rank sends and receives under one name, of which receives are taken first.
        first = place if sends and peer == rank else 0
        del waiting[first : place + 1]
        return [text] * (place + 1 - first)


def _rank(
    trace: Trace,
    rank: int,
    matching: Matching,
    collectives: _Collectives,
    written: Written,
    by_place: bool,
) -> Iterator[str]:
    """The lines of one rank."""
    events = trace.events[rank]
    bases = trace.bases()
    kinds = ["s" if b in SENDS else "r" if b in RECEIVES else "w" if b in COMPLETES else "c" for b in bases]
    one_sides = one_sided(np.array([*bases, ""]))
    both = [base.startswith("Sendrecv") for base in bases]
    function, peer, size = events.function.tolist(), events.peer.tolist(), events.bytes.tolist()
    start, end, request = events.start_ns.tolist(), events.end_ns.tolist(), events.request.tolist()
    kept, tag = matching.kept[rank].tolist(), matching.tags[rank].tolist()
    got = matching.received[rank].tolist()
    done: dict[int, list[int]] = {}
    for which, begun in zip(events.completes[0].tolist(), events.completes[1].tolist(), strict=True):
        done.setdefault(which, []).append(begun)
    placed, open_ = collectives.places[rank], _Open(rank, by_place)
    least = _LEAST_NS if trace.meta.get("timed", True) else 1
    last, owed = -1 if least > 1 else 0, list[str]()
    for i, name in enumerate(function):
        began = start[i] if start[i] >= 0 else end[i]
        if last >= 0 and began - last >= least:
            yield f"{rank} compute {began - last}"
        last = max(last, end[i])
        kind = kinds[name]
        if kind == "s":
            if kept[i]:
                blocks = not request[i] and not both[name]
                yield f"{rank} {'send' if blocks else 'isend'} {peer[i]} {tag[i]} {size[i]} {BYTE}"
                if not blocks:
                    open_.begin((True, peer[i], tag[i]), i)
                if both[name] and not request[i]:
                    owed = open_.wait((True, peer[i], tag[i]), i)
                    # The other half of the call is the next event, unless it receives from nobody.
                    if i + 1 == len(function) or kinds[function[i + 1]] != "r" or start[i + 1] != start[i]:
                        yield from owed
                        owed = []
        elif kind == "r":
            if kept[i]:
                yield f"{rank} {'irecv' if request[i] else 'recv'} {peer[i]} {tag[i]} {got[i]} {BYTE}"
                if request[i]:
                    open_.begin((False, peer[i], tag[i]), i)
            yield from owed
            owed = []
        elif kind == "w":
            for one in done.get(i, ()):
                what = kinds[function[one]]
                if what == "c":
                    yield from collectives.lines(rank, placed.get((i, one), ()))
                elif kept[one]:
                    yield from open_.wait((what == "s", peer[one], tag[one]), one)
        elif one_sides[name]:
            written.left_out["one-sided messages"] += 1
        else:
            yield from collectives.lines(rank, placed.get((i, i), ()))
    yield from collectives.lines(rank, placed.get(_END, ()))


def _places(events: Events, mine: Ints) -> dict[tuple[int, int], list[int]]:
    """Where collectives stand: which of them, by the event that is waiting and the one that it waits for.

    A nonblocking one stands where it is waited for, in the order in which those of its communicator began.
    """
    communicator, request = events.communicator, events.request
    done: dict[int, list[int]] = {}
    is_mine = np.zeros(len(events), bool)
    is_mine[mine] = True
    for which, one in zip(
        *(column[is_mine[events.completes[1]]].tolist() for column in events.completes), strict=True
    ):
        done.setdefault(which, []).append(one)
    found: dict[tuple[int, int], list[int]] = {}
    begun: dict[int, list[int]] = {}
    for i in np.union1d(mine, np.array([*done], np.int64)).tolist():
        for one in done.get(i, ()):
            waiting = begun.get(int(communicator[one]), [])
            last = bisect.bisect_right(waiting, one)
            found[i, one], waiting[:last] = waiting[:last], []
        if is_mine[i] and request[i]:
            begun.setdefault(int(communicator[i]), []).append(i)
        elif is_mine[i]:
            found[i, i] = [*begun.pop(int(communicator[i]), ()), i]
    found[_END] = [one for waiting in begun.values() for one in waiting]
    return found


class _Collectives:
    """What each rank's collective calls become, by the index of its event.

    Those of all ranks stay what they are on the world, and on its duplicates where all ranks have them in one
    order: the format has one order for all. Else those of duplicates become messages.
    """

    def __init__(
        self, trace: Trace, written: Written, tag: int, all_messages: bool, planned: Planned | None
    ) -> None:
        self._trace, self._planned = trace, planned
        self._texts: list[dict[int, list[str]]] = [{} for _ in range(trace.ranks)]
        self._calls = called.by_rank(trace)
        whole = [np.sort(np.concatenate([_NONE, *calls.values()])) for calls in self._calls]
        self.places = [_places(events, calls) for events, calls in zip(trace.events, whole, strict=True)]
        self._whole = set() if all_messages else self._ordered()
        for number, (members, remote, _) in enumerate(trace.communicators):
            if remote or np.any(members < 0):
                calls = sum(len(one.get(number, ())) for one in self._calls)
                what = "between groups" if remote else "with processes of another world"
                written.left_out[f"calls of collectives {what}"] += calls
            elif len(members):
                self._of(number, members, written, tag + number)

    def lines(self, rank: int, events: Iterable[int]) -> Iterator[str]:
        for event in events:
            yield from self._texts[rank].get(event, ())

    def _ordered(self) -> set[int]:
        """The world, and its duplicates if all ranks have the collectives of all of these in one order."""
        ranks, found = np.arange(self._trace.ranks), {0}
        for number, (members, remote, _) in enumerate(self._trace.communicators):
            if number and not remote and np.array_equal(members, ranks) and number in self._calls[0]:
                found.add(number)
        if len(found) == 1:
            return found
        orders = []
        for events, places in zip(self._trace.events, self.places, strict=True):
            order = events.communicator[[one for placed in places.values() for one in placed]]
            orders.append(order[np.isin(order, [*found])].tolist())
        longest = max(orders, key=len)
        return found if all(order == longest[: len(order)] for order in orders) else {0}

    def _of(self, number: int, members: Ints, written: Written, tag: int) -> None:
        """All collectives of a communicator: the k-th of each member belong together."""
        events = [self._trace.events[rank] for rank in members.tolist()]
        own = called.of_members(self._calls, number, members)
        kinds = called.kinds(self._trace, members, own)
        together = len(kinds)
        written.left_out["collectives that not all members called"] += max(map(len, own)) - together
        if not together:
            return
        sizes = np.stack([one.bytes[calls[:together]] for one, calls in zip(events, own, strict=True)])
        counts = [_rows(one.counts) for one in events]
        every = len(self._trace.communicators)
        place = {rank: position for position, rank in enumerate(members.tolist())}
        for k, base in enumerate(kinds):
            at = [int(calls[k]) for calls in own]
            if base not in schedules.ALGORITHMS and base not in schedules.NEIGHBOURHOODS:
                written.left_out["collectives of other kinds"] += 1
                continue
            root = place.get(int(events[0].peer[at[0]]), 0)
            call = _Call(
                base,
                len(members),
                root,
                sizes[:, k].tolist(),
                [c.get(i, {}) for c, i in zip(counts, at, strict=True)],
            )
            if call.lacks:
                written.left_out["collectives whose counts are not known"] += 1
                continue
            if base in schedules.NEIGHBOURHOODS:
                written.neighbourhoods += 1
                texts = call.to_neighbours(members, tag)
            elif number in self._whole:
                written.collectives += 1
                texts = [[call.line(rank)] for rank in range(len(members))]
            else:
                written.decomposed[base] += 1
                algorithm = self._planned and self._planned.algorithm(base, len(members), call.sizes)
                if self._planned and algorithm:
                    written.algorithms[base] = algorithm
                    texts = _tasks(self._planned(base, len(members), call.sizes), members, tag, every)
                else:
                    texts = call.messages(members, tag)
            for rank, event, text in zip(members.tolist(), at, texts, strict=True):
                self._texts[rank][event] = text


def _rows(counts: tuple[Ints, Ints, Ints]) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for event, member, size in zip(*(one.tolist() for one in counts), strict=True):
        row = found.setdefault(event, {})
        # A grid of two ranks has one of them on both sides.
        row[member] = row.get(member, 0) + size
    return found


def _tasks(tasks: Sequence[Sequence[Any]], members: Ints, tag: int, every: int) -> list[list[str]]:
    """Lines of planned tasks: `task send|recv PEER TAG BYTES AFTER…`, by number among them, then `tasks`.

    Connections of two ranks have tags of their own, `every` apart.
    """
    world = members.tolist()
    found = []
    for rank, mine in zip(world, tasks, strict=True):
        lines = [
            f"{rank} task {'send' if one.sends else 'recv'} {world[one.peer]} {tag + every * one.tag} "
            + " ".join(map(str, (one.bytes, *one.after)))
            for one in mine
        ]
        found.append([*lines, f"{rank} tasks"])
    return found


class _Call:
    """One collective of all members, from what each of them asked for."""

    def __init__(self, base: str, n: int, root: int, sizes: list[int], counts: list[dict[int, int]]) -> None:
        self.base, self.n, self.root = base, n, root
        self.counts: list[dict[int, int]] = []
        self.lacks = False
        rows: list[list[int]] = []
        if base in ("Alltoallv", "Alltoallw"):
            rows = [[one.get(peer, 0) for peer in range(n)] for one in counts]
            self.lacks = any(sum(row) != size for row, size in zip(rows, sizes, strict=True))
        elif base in schedules.NEIGHBOURHOODS:
            self.counts = counts
            self.lacks = any(sum(one.values()) != size for one, size in zip(counts, sizes, strict=True))
        elif base == "Alltoall":
            rows = [[size // n] * n for size in sizes]
        elif base in ("Scatter", "Scatterv"):
            own = counts[root]
            row = [own.get(peer, 0) for peer in range(n)] if base == "Scatterv" else [sizes[root] // n] * n
            rows = [row if member == root else [] for member in range(n)]
            self.lacks = base == "Scatterv" and sum(row) != sizes[root]
        elif base == "Reduce_scatter_block":
            rows = [[max(sizes) // n] * n] * n
        elif base == "Reduce_scatter":
            row = [counts[0].get(peer, 0) for peer in range(n)]
            rows = [row] * n
            self.lacks = sum(row) != sizes[0]
        if base in ("Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Gather", "Allgather"):
            # Who receives only, or in place, says 0.
            sizes = [max(sizes)] * n
        self.rows, self.sizes = rows, sizes

    def line(self, rank: int) -> str:
        """As one of all ranks."""
        types = f"{BYTE} {BYTE}"
        base, root, size = self.base, self.root, self.sizes[rank]
        if base == "Barrier":
            return f"{rank} barrier"
        if base == "Bcast":
            return f"{rank} bcast {size} {root} {BYTE}"
        if base == "Reduce":
            return f"{rank} reduce {size} 0 {root} {BYTE}"
        if base in ("Allreduce", "Scan", "Exscan"):
            return f"{rank} {base.lower()} {size} 0 {BYTE}"
        if base == "Allgather":
            return f"{rank} allgather {size} {size} {types}"
        if base == "Gather":
            return f"{rank} gather {size} {size} {root} {types}"
        if base in ("Gatherv", "Allgatherv"):
            listed = " ".join(map(str, self.sizes))
            place = f"{root} " if base == "Gatherv" else ""
            return f"{rank} {base.lower()} {size} {listed} {place}{types}"
        if base == "Scatter":
            share = self.rows[root][rank]
            return f"{rank} scatter {share} {share} {root} {types}"
        if base == "Scatterv":
            listed = " ".join(map(str, self.rows[root]))
            return f"{rank} scatterv {listed} {self.rows[root][rank]} {root} {types}"
        if base == "Alltoall":
            share = self.rows[rank][0]
            return f"{rank} alltoall {share} {share} {types}"
        if base.startswith("Alltoall"):
            out, into = self.rows[rank], [row[rank] for row in self.rows]
            listed = f"{sum(out)} {' '.join(map(str, out))} {sum(into)} {' '.join(map(str, into))}"
            return f"{rank} alltoallv {listed} {types}"
        return f"{rank} reducescatter {' '.join(map(str, self.rows[rank]))} 0 {BYTE}"

    def to_neighbours(self, members: Ints, tag: int) -> list[list[str]]:
        """As the messages that the members state, all of a call at once."""
        received: list[list[str]] = [[] for _ in range(self.n)]
        sent: list[list[str]] = [[] for _ in range(self.n)]
        waits: list[list[str]] = [[] for _ in range(self.n)]
        world = members.tolist()
        for me, row in enumerate(self.counts):
            source = world[me]
            for member, size in row.items():
                to = world[member]
                sent[me].append(f"{source} isend {to} {tag} {size} {BYTE}")
                received[member].append(f"{to} irecv {source} {tag} {size} {BYTE}")
                waits[me].append(f"{source} wait {source} {to} {tag}")
                waits[member].append(f"{to} wait {source} {to} {tag}")
        return [a + b + c for a, b, c in zip(received, sent, waits, strict=True)]

    def messages(self, members: Ints, tag: int) -> list[list[str]]:
        """As the messages of each member."""
        each = [
            schedules.steps(self.base, me, self.n, self.root, self.sizes, self.rows) for me in range(self.n)
        ]
        sent: dict[tuple[int, int], deque[int]] = {}
        for me, steps in enumerate(each):
            for to, size, _ in steps:
                if to >= 0:
                    sent.setdefault((me, to), deque()).append(size)
        return [self._lines(me, steps, members.tolist(), tag, sent) for me, steps in enumerate(each)]

    @staticmethod
    def _lines(
        me: int,
        steps: list[schedules.Step],
        members: list[int],
        tag: int,
        sent: dict[tuple[int, int], deque[int]],
    ) -> list[str]:
        rank, lines = members[me], []
        for to, size, source in steps:
            got = sent[source, me].popleft() if source >= 0 else 0
            out, into = f"{members[to]} {tag} {size} {BYTE}", f"{members[source]} {tag} {got} {BYTE}"
            if to >= 0 and source >= 0:
                lines += [
                    f"{rank} irecv {into}",
                    f"{rank} isend {out}",
                    f"{rank} wait {members[source]} {rank} {tag}",
                    f"{rank} wait {rank} {members[to]} {tag}",
                ]
            elif to >= 0:
                lines.append(f"{rank} send {out}")
            else:
                lines.append(f"{rank} recv {into}")
        return lines
