"""Which calls are one collective: the k-th of each member of a communicator, where these are of one kind.

Where a member has no k-th call, or one of another kind, that collective and those behind it on the
communicator have not all their members: a rank was lost, events were dropped, or the program is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netloom.recording.events import Ints, by_communicator
from netloom.recording.trace import COMPLETES, RECEIVES, SENDS, Trace, one_sided

_NONE = np.empty(0, np.int64)


class Incomplete(NamedTuple):
    """Collectives of a communicator that not all of its members called.

    Parameters
    ----------
    communicator : int
        Its number.
    function : str
        The first of them, as the first member that called it names it.
    calls : int
        How many there are.
    ranks : list of int
        Ranks of the world that did not call the first of them.
    """

    communicator: int
    function: str
    calls: int
    ranks: list[int]


class DifferentRoots(NamedTuple):
    """Collectives of a communicator whose members name different roots.

    Parameters
    ----------
    communicator : int
        Its number.
    function : str
        The first of them, as the first member names it.
    calls : int
        How many there are.
    roots : list of int
        Roots of the first of them, in order: ranks of the world.
    """

    communicator: int
    function: str
    calls: int
    roots: list[int]


def which(trace: Trace) -> npt.NDArray[np.bool_]:
    """Which functions are collectives, by their index; one entry more, false."""
    bases = np.array([*trace.bases(), ""])
    others = np.isin(bases, [*SENDS, *RECEIVES, *COMPLETES, ""])
    return ~others & ~one_sided(bases)


def by_rank(trace: Trace) -> list[dict[int, Ints]]:
    """Each rank's calls of collectives, by communicator, as indices of its events."""
    collective = which(trace)
    return [
        by_communicator(events.communicator, np.flatnonzero(collective[events.function]))
        for events in trace.events
    ]


def of_members(calls: Sequence[dict[int, Ints]], number: int, members: Ints) -> list[Ints]:
    """The calls on a communicator, of each of its members."""
    return [calls[rank].get(number, _NONE) for rank in members.tolist()]


def kinds(trace: Trace, members: Ints, own: Sequence[Ints]) -> list[str]:
    """What the collectives are that all members called in one order.

    Parameters
    ----------
    trace : Trace
        Of all ranks.
    members : array of int
        Of the communicator.
    own : list of arrays
        Of `of_members`.

    Returns
    -------
    list of str
        Names without `MPI_`, of their blocking forms.
    """
    bases = trace.bases()
    names = {base: index for index, base in enumerate(dict.fromkeys(bases))}
    base_of = np.array([names[base] for base in bases] + [-1])
    most = min(map(len, own), default=0)
    found = np.stack(
        [
            base_of[trace.events[rank].function[calls[:most]]]
            for rank, calls in zip(members.tolist(), own, strict=True)
        ]
    )
    differ = np.flatnonzero((found != found[0]).any(axis=0))
    every = list(names)
    return [every[kind] for kind in found[0][: int(differ[0]) if len(differ) else most].tolist()]


def incomplete(trace: Trace) -> list[Incomplete]:
    """Collectives that not all members called, by communicator.

    Parameters
    ----------
    trace : Trace
        Of all ranks.

    Returns
    -------
    list of Incomplete
        Of communicators whose members are known.
    """
    calls, bases, found = by_rank(trace), trace.bases(), []
    for number, (members, remote, _) in enumerate(trace.communicators):
        if remote or not len(members) or np.any(members < 0):
            continue
        own = of_members(calls, number, members)
        agreed, most = len(kinds(trace, members, own)), max(map(len, own))
        if agreed == most:
            continue
        functions = [
            int(trace.events[rank].function[called[agreed]]) if agreed < len(called) else -1
            for rank, called in zip(members.tolist(), own, strict=True)
        ]
        first = next(one for one in functions if one >= 0)
        ranks = [
            rank
            for rank, one in zip(members.tolist(), functions, strict=True)
            if one < 0 or bases[one] != bases[first]
        ]
        found.append(Incomplete(number, trace.functions[first], most - agreed, ranks))
    return found


def different_roots(trace: Trace) -> list[DifferentRoots]:
    """Collectives that all members called, with different roots, by communicator.

    Parameters
    ----------
    trace : Trace
        Of all ranks.

    Returns
    -------
    list of DifferentRoots
        Of communicators whose members are known.
    """
    calls, found = by_rank(trace), []
    for number, (members, remote, _) in enumerate(trace.communicators):
        if remote or not len(members) or np.any(members < 0):
            continue
        own = of_members(calls, number, members)
        agreed = len(kinds(trace, members, own))
        events = [trace.events[rank] for rank in members.tolist()]
        roots = np.stack([one.peer[at[:agreed]] for one, at in zip(events, own, strict=True)])
        # Where a member does not say its root, the others' counts.
        least = np.where(roots >= 0, roots, np.iinfo(np.int64).max).min(axis=0)
        differ = np.flatnonzero((roots.max(axis=0) >= 0) & (least != roots.max(axis=0)))
        if len(differ):
            k = int(differ[0])
            name = trace.functions[int(events[0].function[own[0][k]])]
            named = np.unique(roots[:, k][roots[:, k] >= 0])
            found.append(DifferentRoots(number, name, len(differ), named.tolist()))
    return found
