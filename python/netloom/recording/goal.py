"""Traces as GOAL schedules: tasks of every rank that depend on each other.

GOAL has neither requests nor collectives. A task starts when the rank's last blocking one is complete, and
all that was waited for since; collectives, of all ranks too, are written as their messages (schedules.py).

Source: T. Hoefler, C. Siebert, A. Lumsdaine, *Group Operation Assembly Language*, ICPP 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from netloom import _core, reading
from netloom.recording import threads, ti
from netloom.recording.matching import Matching, match
from netloom.recording.ti import Written
from netloom.recording.trace import Trace

TOOL = "GOAL"
"""What traces that were read from a schedule say of themselves."""
_MOST_WAITED = 4
"""More tasks that one task would depend on are gathered into one that does nothing."""


def write(
    trace: Trace,
    put: Callable[[str], object],
    matching: Matching | None = None,
    *,
    planned: ti.Planned | None = None,
) -> Written:
    """Writes a trace as a schedule; as `netloom.recording.ti.write`.

    Parameters
    ----------
    trace : Trace
        Of all ranks.
    put : callable
        Takes text, some lines at once.
    matching : Matching, optional
        Of this trace. [default: made here]
    planned : Planned, optional
        Of some collectives, what becomes of them instead of `schedules`.

    Returns
    -------
    Written
    """
    written = Written()
    for rank, lines in ti.by_rank(
        trace, written, matching, all_messages=True, planned=planned, by_place=True
    ):
        if rank == 0:
            comment = f"// {written.about_tags}\n" if written.about_tags else ""
            put(f"{comment}num_ranks {trace.ranks * threads.count(trace)}\n")
        put("\n".join([f"rank {rank} {{", *_tasks(rank, lines), "}"]) + "\n")
    return written


def rewritten(trace: Trace, path: Path, *, as_binary: bool) -> tuple[Written, bytes]:
    """A schedule in either form: its tasks and what they require stay as they are.

    Parameters
    ----------
    trace : Trace
        What was read of it, which is counted.
    path : Path
        Its file.
    as_binary : bool
        Whether it becomes binary.

    Returns
    -------
    Written
    bytes
    """
    written = Written(messages=match(trace).messages, collective_tags=trace.meta.get("collective_tags"))
    data = _core.goal_form(reading.whole(path), str(path), as_binary)
    comment = f"// {written.about_tags}\n" if written.about_tags and not as_binary else ""
    return written, comment.encode() + data


def _tasks(rank: int, lines: Iterable[str]) -> Iterator[str]:
    number = 0
    after: list[int] = []
    open_: dict[tuple[bool, int, int], list[int]] = {}

    def task(text: str) -> Iterator[str]:
        nonlocal number
        number += 1
        yield f"l{number}: {text}"
        for one in after:
            yield f"l{number} requires l{one}"

    planned: list[int] = []
    waited: set[int] = set()
    for line in lines:
        verb, *words = line.split()[1:]
        if verb == "task":
            peer, tag, size, *needs = map(int, words[1:])
            # The first of them wait for what came before, the others for each other.
            outside, after = after, [planned[one] for one in needs] if needs else after
            yield from task(f"{words[0]} {size}b {'to' if words[0] == 'send' else 'from'} {peer} tag {tag}")
            after = outside
            planned.append(number)
            waited.update(needs)
            continue
        if verb == "tasks":
            after = [one for at, one in enumerate(planned) if at not in waited] or after
            planned, waited = [], set()
            if len(after) > _MOST_WAITED:
                yield from task("calc 0")
                after = [number]
            continue
        if verb == "compute":
            yield from task(f"calc {words[0]}")
            after = [number]
            continue
        if verb == "wait":
            # Waits of collectives have no place: they wait for the oldest.
            source, destination, tag, *exact = map(int, words)
            place, *of = exact or (0, 1, 0)
            keys = [(True, destination, tag) if sends else (False, source, tag) for sends in of]
            waiting = next(
                (open_[key] for key in keys if _concerns(key, rank, source, destination) and open_.get(key)),
                None,
            )
            if waiting:
                after.append(waiting.pop(place))
            if len(after) > _MOST_WAITED:
                yield from task("calc 0")
                after = [number]
            continue
        peer, tag, size = map(int, words[:3])
        sends = verb.endswith("send")
        yield from task(
            f"{'send' if sends else 'recv'} {max(size, 0)}b {'to' if sends else 'from'} {peer} tag {tag}"
        )
        if verb.startswith("i"):
            open_.setdefault((sends, peer, tag), []).append(number)
        else:
            after = [number]


def _concerns(key: tuple[bool, int, int], rank: int, source: int, destination: int) -> bool:
    return source == rank if key[0] else destination == rank
