"""Collectives of NCCL as GOAL schedules: which message waits for which, by adapter.

A rank of the schedule is an adapter with its GPU. It sends what it received in the step before, or so many
steps before as the machine has GPUs: a piece crosses these on scale-up links, which take no time here.
Messages of a connection use 8 slots: the ninth waits for the first. `simulate` reads GOAL as a job's `trace`.

- Ring: a message a step; step *t* sends on what came in step *t - gpus*.
- Tree: chunks; up when both children's have come, down when the parent's has.
- Pairs: 8 peers at a time, in NCCL's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netloom.errors import SpecError
from netloom.training.collective import Collective, order_of_peers, part
from netloom.training.trees import trees

SLOTS = 8
MOST_TASKS = 4_000_000
"""Most tasks of one schedule: a file of some 200 MB."""


@dataclass(frozen=True)
class Task:
    """A message that a rank sends or receives.

    Parameters
    ----------
    sends : bool
        Or receives.
    peer : int
        The other rank.
    bytes : int
        How many.
    tag : int
        The connection, of two ranks with several.
    after : tuple of int
        Tasks of this rank that must be complete before, by number from 0.
    """

    sends: bool
    peer: int
    bytes: int
    tag: int
    after: tuple[int, ...] = ()


class _Rank:
    """The tasks of one rank so far, and the last eight of every connection."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self._slots: dict[tuple[object, ...], list[int]] = {}

    def add(
        self, sends: bool, peer: int, bytes: int, tag: int, after: Iterable[int] = (), *, slot: str = ""
    ) -> int:
        """Adds a task; `slot` names what shares eight slots, unless it is its connection."""
        key = (sends, slot) if slot else (sends, peer, tag)
        used = self._slots.setdefault(key, [])
        waits = {*after, *(used[-SLOTS : -SLOTS + 1] if len(used) >= SLOTS else ())}
        self.tasks.append(Task(sends, peer, bytes, tag, tuple(sorted(waits))))
        used.append(len(self.tasks) - 1)
        return used[-1]


def schedule(what: Collective) -> list[list[Task]]:
    """The tasks of every rank; ranks of a single machine have none.

    Raises
    ------
    SpecError
        For more tasks than a file should have.

    Examples
    --------
    >>> two = Collective.parse("nccl-ring:ranks=2,bytes=10")
    >>> [(task.sends, task.bytes, task.after) for task in schedule(two)[0]]
    [(True, 5, ()), (False, 5, ()), (True, 5, (1,)), (False, 5, ())]
    """
    count = _count(what)
    if count > MOST_TASKS:
        raise SpecError(
            f"{what.algorithm}: expected a schedule of at most {MOST_TASKS:,} tasks, found {count:,}"
        )
    ranks = [_Rank() for _ in range(what.ranks)]
    if what.machines > 1:
        {"nccl-ring": _rings, "nccl-tree": _trees, "nccl-pairs": _pairs}[what.algorithm](what, ranks)
    return [rank.tasks for rank in ranks]


def goal(what: Collective) -> str:
    """The schedule as GOAL's text.

    Examples
    --------
    >>> print(goal(Collective.parse("nccl-pairs:ranks=2,bytes=10")), end="")
    num_ranks 2
    rank 0 {
    l1: send 5b to 1 tag 0
    l2: recv 5b from 1 tag 0
    }
    rank 1 {
    l1: send 5b to 0 tag 0
    l2: recv 5b from 0 tag 0
    }
    """
    lines = [f"num_ranks {what.ranks}"]
    for rank, tasks in enumerate(schedule(what)):
        lines += [f"rank {rank} {{", *_lines(tasks), "}"]
    return "\n".join(lines) + "\n"


def _lines(tasks: Sequence[Task]) -> Iterator[str]:
    for number, task in enumerate(tasks, 1):
        verb, side = ("send", "to") if task.sends else ("recv", "from")
        yield f"l{number}: {verb} {task.bytes}b {side} {task.peer} tag {task.tag}"
        yield from (f"l{number} requires l{before + 1}" for before in task.after)


def _count(what: Collective) -> int:
    if what.machines == 1:
        return 0
    if what.algorithm == "nccl-pairs":
        return 2 * what.pairs
    if what.algorithm == "nccl-ring":
        return 2 * what.machines * what.channels * what.steps
    halves = [
        part(tree, 2, part(c, what.channels, what.bytes)) for c in range(what.channels) for tree in (0, 1)
    ]
    return 4 * (what.machines - 1) * sum(-(-half // what.chunk) for half in halves)


def _rings(what: Collective, ranks: Sequence[_Rank]) -> None:
    for channel in range(what.channels):
        whole = part(channel, what.channels, what.bytes)
        for machine in range(what.machines):
            here = ranks[what.adapter(machine, channel)]
            to, source = what.adapter(machine + 1, channel), what.adapter(machine - 1, channel)
            last = (machine + 1) * what.gpus - 1
            came: list[int] = []
            for step in range(what.steps):
                before = came[step - what.gpus : step - what.gpus + 1] if step >= what.gpus else []
                here.add(True, to, part((last - step) % what.ranks, what.ranks, whole), channel, before)
                gone = part((last - what.gpus - step) % what.ranks, what.ranks, whole)
                came.append(here.add(False, source, gone, channel))


def _trees(what: Collective, ranks: Sequence[_Rank]) -> None:
    for channel in range(what.channels):
        whole = part(channel, what.channels, what.bytes)
        for tree, places in enumerate(trees(what.machines)):
            half, tag = part(tree, 2, whole), 2 * channel + tree
            chunks = [min(what.chunk, half - at) for at in range(0, half, what.chunk)]
            for machine, place in enumerate(places):
                here = ranks[what.adapter(machine, channel)]
                children = [what.adapter(child, channel) for child in place.children]
                parent = None if place.parent is None else what.adapter(place.parent, channel)
                for size in chunks:
                    ready = [here.add(False, child, size, tag) for child in children]
                    if parent is not None:
                        here.add(True, parent, size, tag, ready)
                        ready = [here.add(False, parent, size, tag)]
                    for child in children:
                        here.add(True, child, size, tag, ready)


def _pairs(what: Collective, ranks: Sequence[_Rank]) -> None:
    gpus = what.gpus
    for rank, here in enumerate(ranks):
        machine, gpu = divmod(rank, gpus)
        for delta in order_of_peers(what.machines)[1:]:
            # With PXN what all GPUs of the machine have for this rail goes at once.
            for turn in (0,) if what.pxn else range(gpus):
                to = (machine + delta) % what.machines * gpus + (gpu + turn) % gpus
                source = (machine - delta) % what.machines * gpus + (gpu - turn) % gpus
                times = gpus if what.pxn else 1
                here.add(True, to, times * part(to, what.ranks, what.bytes), 0, slot="peers")
                here.add(False, source, times * part(rank, what.ranks, what.bytes), 0, slot="peers")
