"""A recorded run on more ranks: programs on regular grids whose ranks exchange with their neighbours.

The grid is told by the messages: one on which every message goes to a neighbour (at most one step in each
dimension, diagonals too, round the end where any does). A rank of the larger grid does what the one does that
stands for it: in each dimension the first stands for the first, the last for the last, the second for all
between them. Its messages go to the same neighbours. Collectives of all ranks stay, with as many bytes for
each rank.

That is the weak scaling of a program that gives every rank the same part of the work. Which is assumed, and
told (`Scaled.assumed`): a program that splits one problem among its ranks sends less from each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError
from netloom.recording import collectives, matching, progress, threads
from netloom.recording.events import Communicator, Ints
from netloom.recording.trace import COMPLETES, RECEIVES, SENDS, Events, Trace, one_sided

_MOST_DIMENSIONS = 4
_MOST_EVENTS = 20_000_000
_MOST_RANKS = 1_000_000
_OF_ALL = ("Alltoall", "Scatter", "Reduce_scatter_block")
"""Collectives whose bytes are those for all members together."""
_SAME = ("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Allgather", "Scan", "Exscan")


@dataclass
class Scaled:
    """A run on another grid.

    Parameters
    ----------
    trace : Trace
        On the larger grid.
    before, after : tuple of int
        Ranks in each dimension; the first one's neighbours have numbers that differ by 1, as in patterns.
    periodic : tuple of bool
        By dimension: whether messages go round its ends.
    unlike : int
        Ranks of the recording that do otherwise than the one that stands for their place.
    assumed : list of str
        What the larger run rests on.
    """

    trace: Trace
    before: tuple[int, ...]
    after: tuple[int, ...]
    periodic: tuple[bool, ...]
    unlike: int
    assumed: list[str]


def scaled(trace: Trace, ranks: int | Sequence[int], path: str) -> Scaled:
    """The run on more ranks.

    Parameters
    ----------
    trace : Trace
        Of a program on a regular grid.
    ranks : int or sequence of int
        How many, or how many in each dimension; along the first one numbers differ by 1.
    path : str
        What messages name.

    Returns
    -------
    Scaled

    Raises
    ------
    FormatError
        Naming what is no regular grid's: a message between ranks that are no neighbours on any, a
        communicator of some ranks, a collective with counts, a number of ranks that does not fit; or the
        larger run would wait for ever where the recorded one does not.
    """
    _refuse(trace, path)
    pairs = _pairs(trace)
    wanted = ranks if isinstance(ranks, int) else math.prod(ranks)
    if wanted <= trace.ranks:
        raise FormatError(f"{path}: expected more than its {trace.ranks} ranks, found {wanted}", path)
    if wanted > _MOST_RANKS:
        raise FormatError(f"{path}: expected at most {_MOST_RANKS:,} ranks, found {wanted:,}", path)
    before, steps = _grid(trace.ranks, pairs, path)
    periodic = tuple(any(abs(step[d]) == n - 1 > 1 for step in steps) for d, n in enumerate(before))

    def trial(dims: Sequence[int]) -> None:
        larger = _larger(trace, before, dims, path)
        if larger is None:
            text = "expected messages between neighbours of a regular grid, found ranks"
            raise FormatError(f"{path}: {text} that send and receive otherwise than those beside them", path)
        _ends(trace, larger, f"{path}: on {text_of(dims)} ranks")

    after = _grown(before, periodic, ranks, path, trial)
    larger = _larger(trace, before, after, path)
    if larger is None:
        text = "expected ranks inside of the grid that send and receive alike, found unmatched ones"
        raise FormatError(f"{path}: {text} on {text_of(after)} ranks", path)
    _ends(trace, larger, f"{path}: on {text_of(after)} ranks")
    bases = np.array([*trace.bases(), ""])
    return Scaled(larger, before, after, periodic, _unlike(trace, before), _assumed(trace, bases))


def _larger(trace: Trace, before: tuple[int, ...], after: Sequence[int], path: str) -> Trace | None:
    """The run on a larger grid; none if sends and receives there do not match."""
    wanted = math.prod(after)
    # What stands for a place of the larger grid.
    places = np.stack(np.unravel_index(np.arange(wanted), after, order="F"), axis=1)
    stands = _stand_ins(places, before, after)
    template = np.ravel_multi_index(tuple(stands.T), before, order="F")
    events = sum(len(one) * int(n) for one, n in zip(trace.events, np.bincount(template), strict=False))
    if events > _MOST_EVENTS:
        text = f"expected at most {_MOST_EVENTS:,} events in all, found {events:,}"
        raise FormatError(f"{path}: {text} on {text_of(after)} ranks", path)
    bases = np.array([*trace.bases(), ""])
    pointed = np.isin(bases, [*SENDS, *RECEIVES])
    of_all = np.isin(bases, _OF_ALL)
    moves: dict[int, tuple[npt.NDArray[np.bool_], Ints, Events]] = {}
    made = []
    for place, of in zip(places, template.tolist(), strict=True):
        if of not in moves:
            moves[of] = _template(trace, of, (before, tuple(after)), pointed, of_all)
        mine, offsets, own = moves[of]
        peer = own.peer.copy()
        at = (place + offsets) % after
        peer[mine] = np.ravel_multi_index(tuple(at.T), after, order="F") if len(at) else peer[mine]
        made.append(replace(own, peer=peer))
    # Those of some ranks have no calls.
    members = [
        Communicator(np.arange(wanted if len(one.members) == trace.ranks else 0), False, one.context)
        for one in trace.communicators
    ]
    meta = {**trace.meta, "hosts": [None] * wanted, "dropped": {}, "lost": []}
    larger = Trace(wanted, trace.functions, made, members, meta)
    return None if matching.match(larger).unmatched else larger


def _ends(trace: Trace, larger: Trace, label: str) -> None:
    """Refuses a larger run that waits for ever where the recorded one does not.

    The inner ranks of a larger grid do what one of the recorded does. Where neighbours take turns in who
    sends first, two that send first may meet.
    """
    before, after = progress.progress(trace), progress.progress(larger)
    for circle, is_new, how in (
        (after.stuck, not before.stuck, "though all sends are buffered"),
        (after.unsafe, not (before.unsafe or before.stuck), "if no send is buffered"),
    ):
        if circle and is_new:
            held = ", ".join(f"rank {w.rank} in MPI_{w.function} for rank {w.waits_for}" for w in circle[:4])
            more = ", …" if len(circle) > 4 else ""
            raise FormatError(
                f"{label}: expected a run that ends, as the recorded one does, found ranks that wait for "
                f"each other for ever {how}: {held}{more}",
                label.split(": ", maxsplit=1)[0],
            )


def _refuse(trace: Trace, path: str) -> None:
    """What a grid's program does not have."""
    if threads.count(trace) > 1:
        raise FormatError(f"{path}: expected ranks of one thread each, found several", path)
    if matching.match(trace).unmatched or collectives.incomplete(trace) or collectives.different_roots(trace):
        text = "expected a whole trace (`netloom trace check`), found one that is not"
        raise FormatError(f"{path}: {text}", path)
    bases = np.array([*trace.bases(), ""])
    called = np.zeros(len(bases), bool)
    used = np.zeros(len(trace.communicators), bool)
    ends = np.isin(bases, COMPLETES)
    for events in trace.events:
        called[events.function] = True
        used[events.communicator[~ends[events.function]]] = True
    known = np.isin(bases, [*SENDS, *RECEIVES, *_OF_ALL, *_SAME, ""]) | ends
    if one_sided(bases[called]).any() or not known[called].all():
        name = next(
            trace.functions[i]
            for i in np.flatnonzero(called).tolist()
            if not known[i] or one_sided(bases[i : i + 1]).any()
        )
        text = "expected sends, receives and collectives of equal parts"
        raise FormatError(f"{path}: {text}, found MPI_{name}", path)
    for number in np.flatnonzero(used).tolist():
        if not np.array_equal(trace.communicators[number].members, np.arange(trace.ranks)):
            text = f"expected communicators of all ranks, found number {number} of some"
            raise FormatError(f"{path}: {text}", path)
    collective = collectives.which(trace)
    for events in trace.events:
        roots = events.peer[collective[events.function] & (events.peer >= 0)]
        if np.any((roots > 0) & (roots < trace.ranks - 1)):
            text = "expected the first or the last rank as root of collectives, found another"
            raise FormatError(f"{path}: {text}", path)


def _pairs(trace: Trace) -> Ints:
    """Which ranks send to which: a row a pair."""
    sends = np.isin(np.array([*trace.bases(), ""]), SENDS)
    found = [
        np.stack([np.full(len(peers), rank), peers], axis=1)
        for rank, events in enumerate(trace.events)
        if len(peers := np.unique(events.peer[sends[events.function] & (events.peer >= 0)]))
    ]
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def _factors(n: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of 2 and more, in any order."""
    yield (n,)
    if most > 1:
        for first in range(2, n // 2 + 1):
            if n % first == 0:
                yield from ((first, *rest) for rest in _factors(n // first, most - 1))


def _grid(ranks: int, pairs: Ints, path: str) -> tuple[tuple[int, ...], set[tuple[int, ...]]]:
    """The grid on which all messages go to neighbours in the fewest directions, and the steps they take."""
    best: tuple[tuple[int, int, int], tuple[int, ...], set[tuple[int, ...]]] | None = None
    if not len(pairs):
        raise FormatError(f"{path}: expected messages from rank to rank, found none", path)
    for dims in _factors(ranks, _MOST_DIMENSIONS):
        steps = np.unique(_steps(pairs, dims), axis=0)
        far = (np.abs(steps) > 1) & (np.abs(steps) != np.array(dims) - 1)
        if far.any():
            continue
        short = {tuple(one) for one in np.unique(_short(steps, dims), axis=0).tolist()}
        key = len(short), len(dims), max(dims) - min(dims)
        if best is None or key < best[0]:
            best = key, dims, {tuple(one) for one in steps.tolist()}
    if best is None:
        text = "expected messages between neighbours of a regular grid"
        raise FormatError(f"{path}: {text}, found none of {ranks} ranks on which all are", path)
    return best[1], best[2]


def _steps(pairs: Ints, dims: tuple[int, ...]) -> Ints:
    """Steps from sender to receiver in each dimension."""
    ends = [np.stack(np.unravel_index(pairs[:, side], dims, order="F"), axis=1) for side in (0, 1)]
    return ends[1] - ends[0]


def _short(steps: Ints, dims: tuple[int, ...]) -> Ints:
    """Steps round the end as the one step that they are."""
    size = np.array(dims)
    round_ = (np.abs(steps) > 1) & (np.abs(steps) == size - 1)
    return np.where(round_, -np.sign(steps), steps)


def _grown(
    before: tuple[int, ...],
    periodic: Sequence[bool],
    ranks: int | Sequence[int],
    path: str,
    trial: Callable[[Sequence[int]], None],
) -> tuple[int, ...]:
    """The larger grid: that one, or every dimension by the same factor; `trial` refuses a bad one."""
    # Below these a dimension cannot grow: it has no inside, or all its ranks are neighbours of each other.
    least = [4 if round_ else 3 for round_ in periodic]
    short = [old < n for old, n in zip(before, least, strict=True)]
    if isinstance(ranks, int) and not any(short):
        factor = round((ranks / math.prod(before)) ** (1 / len(before)))
        after = (ranks,) if len(before) == 1 else tuple(factor * n for n in before)
        if math.prod(after) != ranks:
            sizes = ", ".join(map(str, _sizes(before))) or "no number of"
            text = f"expected {sizes} ranks (each dimension of {text_of(before)} by one factor), or a grid"
            hint = _such_as(before, least, trial)
            raise FormatError(f"{path}: {text}{hint}, found {ranks}", path)
    elif isinstance(ranks, int):
        after = tuple(2 * n for n in before)
    else:
        after = tuple(ranks)
        if len(after) != len(before):
            text = f"expected a grid of {len(before)} dimensions, as {text_of(before)} is"
            raise FormatError(f"{path}: {text}, found {text_of(after)}", path)
    grows = [new != old for old, new in zip(before, after, strict=True)]
    if any(new < old for old, new in zip(before, after, strict=True)):
        text = f"expected as many ranks as {text_of(before)} or more in each dimension"
        raise FormatError(f"{path}: {text}, found {text_of(after)}", path)
    if any(new and old for new, old in zip(grows, short, strict=True)):
        ends = [one and old for one, old in zip(periodic, short, strict=True)]
        why = (
            "with periodic ends at least 4 (of 3, each is a neighbour of each, as in a transpose)"
            if any(new and one for new, one in zip(grows, ends, strict=True))
            else "two ends and an inside"
        )
        text = f"expected dimensions that grow to have 3 ranks or more ({why}), found {text_of(before)}"
        hint = _such_as(before, least, trial)
        what = f"give a grid{hint}, or record" if hint else "if its ranks are a grid's, record"
        raise FormatError(f"{path}: {text}: {what} it on {text_of(_recorded(before, periodic))} ranks", path)
    return after


def _sizes(before: Sequence[int]) -> list[int]:
    """Numbers of ranks on which each dimension is a few times as long."""
    sizes = [math.prod(before) * k ** len(before) for k in (2, 3, 4)]
    return [size for size in sizes if size <= _MOST_RANKS]


def _such_as(before: Sequence[int], least: Sequence[int], trial: Callable[[Sequence[int]], None]) -> str:
    """A larger grid, if there is one: those dimensions twice as long that can grow. `trial` refuses it."""
    larger = [2 * n if n >= most else n for n, most in zip(before, least, strict=True)]
    if list(before) == larger or math.prod(larger) > _MOST_RANKS:
        return ""
    trial(larger)
    return f" such as {text_of(larger)}"


def _recorded(before: Sequence[int], periodic: Sequence[bool]) -> list[int]:
    """The smallest grid like this one of which all dimensions can grow; two ranks may have periodic ends."""
    return [max(n, 4 if round_ or n == 2 else 3) for n, round_ in zip(before, periodic, strict=True)]


def _stand_ins(places: Ints, before: Sequence[int], after: Sequence[int]) -> Ints:
    """The place in the smaller grid that stands for each of the larger one."""
    old, new = np.array(before), np.array(after)
    inside = np.where(places == 0, 0, np.where(places == new - 1, old - 1, 1))
    return np.where(old == new, places, inside)


def _template(
    trace: Trace,
    rank: int,
    grids: tuple[tuple[int, ...], tuple[int, ...]],
    pointed: npt.NDArray[np.bool_],
    of_all: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.bool_], Ints, Events]:
    """Which events of a rank have a neighbour, the steps, and its events with the larger run's bytes."""
    before, after = grids
    events = trace.events[rank]
    mine = pointed[events.function] & (events.peer >= 0)
    pairs = np.stack([np.full(int(mine.sum()), rank), events.peer[mine]], axis=1)
    ranks = math.prod(after)
    size = np.where(of_all[events.function], events.bytes // trace.ranks * ranks, events.bytes)
    last = ~mine & (events.peer == trace.ranks - 1) & (events.peer > 0)
    peer = np.where(last, ranks - 1, events.peer)
    return mine, _short(_steps(pairs, before), before), replace(events, bytes=size, peer=peer)


def _unlike(trace: Trace, before: tuple[int, ...]) -> int:
    """Ranks that do otherwise than the one that stands for their place."""
    places = np.stack(np.unravel_index(np.arange(trace.ranks), before, order="F"), axis=1)
    # As on a grid of twice as many in each dimension that can grow.
    doubled = [2 * n if n > 2 else n for n in before]
    end = np.array(before) - 1
    stands = _stand_ins(np.where(places == end, np.array(doubled) - 1, places), before, doubled)
    template = np.ravel_multi_index(tuple(stands.T), before, order="F").tolist()
    pointed = np.isin(np.array([*trace.bases(), ""]), [*SENDS, *RECEIVES])

    def does(rank: int) -> tuple[bytes, ...]:
        events = trace.events[rank]
        mine = pointed[events.function] & (events.peer >= 0)
        pairs = np.stack([np.full(int(mine.sum()), rank), events.peer[mine]], axis=1)
        to = _short(_steps(pairs, before), before)
        return tuple(one.tobytes() for one in (events.function, events.tag, events.bytes, to))

    known = {of: does(of) for of in set(template)}
    return sum(does(rank) != known[of] for rank, of in enumerate(template) if rank != of)


def _assumed(trace: Trace, bases: npt.NDArray[np.str_]) -> list[str]:
    called = {bases[i] for events in trace.events for i in np.unique(events.function).tolist()}
    found = [
        "every rank has as much work as before: messages are as long, and computation takes as long",
        "as many steps and iterations as were recorded",
    ]
    together = sorted(called.intersection([*_SAME, *_OF_ALL]))
    if together:
        found.append(f"collectives of all ranks, with as many bytes for each: {', '.join(together)}")
    return found


def parse_ranks(text: str) -> int | list[int] | None:
    """`512` or `8x8x8`; None if it is neither."""
    words = text.lower().split("x")
    if not all(word.isascii() and word.isdigit() and 0 < len(word) < 9 and int(word) for word in words):
        return None
    found = [int(word) for word in words]
    return found[0] if len(found) == 1 else found


def text_of(dims: Sequence[int]) -> str:
    """A grid as people write it: `8x8x8`."""
    return "x".join(map(str, dims))
