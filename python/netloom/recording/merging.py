"""The records of all ranks as one: pairs, sums by kind of call, who is missing.

Memory goes by pairs, never by ranks squared. A rank that was killed has what it counted up to then; a rank
without a file, or with one that is cut short, is lost and named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from netloom.errors import FormatError, NetloomError
from netloom.recording import records
from netloom.recording.records import Record

POINT_TO_POINT = ("blocking", "nonblocking", "persistent", "sendrecv")
"""Kinds of calls that send a message to one rank."""
MOST_FILES = 4_000_000
"""More record files than that are no folder of ours."""


@dataclass
class Lost:
    """A rank whose record ends early, or is not there.

    Parameters
    ----------
    rank : int
        Its rank in MPI_COMM_WORLD.
    host : str, optional
        Where it ran, if it said so.
    why : str
        `missing`: there is no record; `unreadable`: there is one that cannot be read; `killed`, `exited`
        (without MPI_Finalize) and `aborted` (MPI_Abort): it is whole up to there; `no-space`: the disk was
        full.
    text : str
        What is wrong with an unreadable one.
    """

    rank: int
    host: str | None
    why: str
    text: str = ""


@dataclass
class Function:
    """Calls and bytes of one MPI function, over all ranks."""

    name: str
    kind: str
    calls: int = 0
    bytes: int = 0


@dataclass
class Merged:
    """What a program sent.

    Parameters
    ----------
    ranks : int
        In MPI_COMM_WORLD.
    program, mpi, abi : str
        What ran, what its MPI calls itself, its binary interface.
    hosts : list of str or None
        By rank; None for a rank that is lost without a word.
    sources, destinations : arrays of int
        Pairs of ranks, in order.
    messages, bytes : arrays of int
        Of each pair: messages, puts and gets that went this way.
    functions : list of Function
        In the order of their names.
    lost : list of Lost
        In the order of ranks.
    ns_per_call : float
        Median over ranks of what counting one call took, in nanoseconds.
    outside, outside_bytes : int
        Messages to processes outside of MPI_COMM_WORLD, and their bytes.
    unknown : int
        Calls that could not be counted.
    processors : dict
        How many the ranks of a host could run on, by host; only where they said so.
    spawned : int
        Records of spawned processes, which are in no sum.
    """

    ranks: int
    program: str
    mpi: str
    abi: str
    hosts: list[str | None]
    sources: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int64]
    messages: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]
    functions: list[Function]
    lost: list[Lost]
    ns_per_call: float
    outside: int = 0
    outside_bytes: int = 0
    unknown: int = 0
    spawned: int = 0
    processors: dict[str, int] = field(default_factory=dict)
    no_space: bool = False
    """Whether events were dropped because the disk was full."""
    seconds: float = 0.0
    """From the first rank's MPI_Init to the last one's MPI_Finalize."""
    kinds: dict[str, Function] = field(default_factory=dict)
    """Calls and bytes by kind of call."""


def read_folder(folder: Path) -> tuple[list[Record], list[Lost]]:
    """All records of a folder, and those that cannot be read.

    Parameters
    ----------
    folder : Path
        Where ranks wrote their files.

    Returns
    -------
    tuple
        Records, spawned processes' too, and a `Lost` for each file that is none.
    """
    found, bad = [], []
    names = sorted(name for name in os.listdir(folder) if name.startswith("rank."))
    if len(names) > MOST_FILES:
        raise FormatError(f"{folder}: expected at most {MOST_FILES} records, found {len(names)}", str(folder))
    for name in names:
        parts = name.split(".", 3)
        try:
            found.append(records.read(folder / name))
        except (FormatError, OSError) as error:
            if len(parts) == 4 and parts[1].isdecimal() and len(parts[1]) < 9:
                bad.append(Lost(int(parts[1]), parts[3] or None, "unreadable", str(error)))
    return found, bad


def merge(found: Iterable[Record], bad: Iterable[Lost] = ()) -> Merged:
    """One whole of all ranks' records.

    Parameters
    ----------
    found : iterable of Record
        In any order.
    bad : iterable of Lost
        Ranks whose files could not be read.

    Returns
    -------
    Merged

    Raises
    ------
    NetloomError
        If they are not of one program: two worlds, two numbers of ranks, two MPI libraries in one process.
    """
    world = [one for one in found if not one.flags & records.SPAWNED]
    spawned = sum(1 for one in found if one.flags & records.SPAWNED)
    if not world:
        raise NetloomError("no rank's record can be read")
    by_rank: dict[int, Record] = {}
    ranks = world[0].ranks
    for one in world:
        if one.flags & records.TWO_LIBRARIES:
            raise NetloomError(
                f"rank {one.rank} has two MPI libraries in one process: expected a program linked with one"
            )
        if one.rank in by_rank:
            what = "a command that starts one MPI program, once"
            if one.ranks == 1:
                what = "the launcher of the program's own MPI, or one program"
            raise NetloomError(f"rank {one.rank} of {one.ranks} reported twice: expected {what}")
        if one.ranks != ranks:
            raise NetloomError(f"expected {ranks} ranks, found {one.ranks}: two MPI programs were recorded")
        by_rank[one.rank] = one
    lost = {one.rank: one for one in bad if one.rank < ranks and one.rank not in by_rank}
    for rank in range(ranks):
        if rank not in by_rank:
            lost.setdefault(rank, Lost(rank, None, "missing"))
        elif by_rank[rank].state != "finalized":
            lost[rank] = Lost(rank, by_rank[rank].host, by_rank[rank].state)
    sources, destinations, messages, bytes_ = _pairs(by_rank.values(), ranks)
    functions: dict[str, Function] = {}
    kinds = {name: Function(name, name) for name in records.KINDS.values()}
    for one in by_rank.values():
        for name, (kind, calls, size) in one.functions.items():
            for total in (functions.setdefault(name, Function(name, kind)), kinds[kind]):
                total.calls += calls
                total.bytes += size
    masks: dict[str, int] = {}
    for one in by_rank.values():
        masks[one.host] = masks.get(one.host, 0) | one.processors
    first = by_rank[min(by_rank)]
    hosts = [by_rank[rank].host if rank in by_rank else None for rank in range(ranks)]
    for rank, one_lost in lost.items():
        hosts[rank] = hosts[rank] or one_lost.host
    ends = [one.end_ns for one in by_rank.values() if one.end_ns]
    starts = min(one.start_ns for one in by_rank.values())
    return Merged(
        ranks=ranks,
        program=first.program,
        mpi=" ".join(first.library.split())[:200] or "unknown",
        abi=first.abi,
        hosts=hosts,
        sources=sources,
        destinations=destinations,
        messages=messages,
        bytes=bytes_,
        functions=sorted(functions.values(), key=lambda one: one.name),
        lost=[lost[rank] for rank in sorted(lost)],
        ns_per_call=float(np.median([one.ns_per_call for one in by_rank.values()])),
        outside=sum(one.outside for one in by_rank.values()),
        outside_bytes=sum(one.outside_bytes for one in by_rank.values()),
        unknown=sum(one.unknown for one in by_rank.values()),
        processors={host: mask.bit_count() for host, mask in masks.items() if mask},
        spawned=spawned,
        no_space=any(one.flags & records.EVENTS_NO_SPACE for one in by_rank.values()),
        seconds=max(0.0, (max(ends) - starts) / 1e9) if ends else 0.0,
        kinds=kinds,
    )


def _pairs(found: Iterable[Record], ranks: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Sources, destinations, messages and bytes of all pairs, in the order of pairs."""
    keys, sums = [np.empty(0, np.int64)], [np.empty((0, 2), np.uint64)]
    for one in found:
        keys.append(one.rank * ranks + one.peers)
        sums.append(one.sums)
        if one.put is not None:
            keys.append(one.rank * ranks + one.put[0])
            sums.append(one.put[1])
        if one.got is not None:
            keys.append(one.got[0] * ranks + one.rank)
            sums.append(one.got[1])
    all_keys, all_sums = np.concatenate(keys), np.concatenate(sums).astype(np.int64)
    pairs, which = np.unique(all_keys, return_inverse=True)
    totals = np.zeros((len(pairs), 2), np.int64)
    np.add.at(totals, which.reshape(-1), all_sums)
    return pairs // ranks, pairs % ranks, totals[:, 0], totals[:, 1]
