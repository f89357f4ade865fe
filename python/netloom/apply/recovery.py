"""Changes that were killed, finished or undone; earlier ones, rolled back.

A change that was killed has an open end in the journal. Switches then hold one of its journaled tables, or
soon will: OpenSM was only ever given whole files. What it wanted is finished if it is still sound on the
fabric as it is now, else undone. Both are changes of their own, journaled, staged and read back like any
other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from netloom.apply.journal import Change, Journal
from netloom.apply.planning import STAGES, Plan, Seen, hidden, look, lost_pairs, plan, read_tables
from netloom.apply.sending import SECONDS, Applied, apply, restored
from netloom.errors import LiveError, NetloomError

if TYPE_CHECKING:
    from netloom.live import Access, Manager


def recover(
    access: Access,
    manager: Manager,
    journal: Journal,
    *,
    allow: Collection[str] = (),
    seconds: float = SECONDS,
    progress: Callable[[str], object] | None = None,
) -> Applied | None:
    """Finishes or undoes a change that was killed; None if there is none.

    Raises
    ------
    LiveError
        If another process changes routes now, or the fabric or OpenSM does not answer, or not whole (but if
        `unanswered` is allowed).
    """
    with journal.locked():
        left = journal.unfinished()
        if left is None:
            return None
        if left.state == "begun":
            # Nothing was sent: the file of routes is as it was.
            journal.add(left.id, "superseded", why="it was killed before anything was sent")
            return recover(access, manager, journal, allow=allow, seconds=seconds, progress=progress)
        seen = look(access, manager.routes_file)
        unseen = None if "unanswered" in allow else hidden(seen)
        if unseen is not None:
            raise LiveError(f"change {left.id} stays unfinished for now: {unseen}")
        notes: list[str] = []
        found: Plan | None = None
        if left.state == "sending":
            found = _planned(seen, journal.tables(left.id), allow)
            how = "finished"
        if found is None or not found.verified:
            how = "undone"
            tables, _ = restored(seen, journal.tables(left.id, 0), notes)
            found = plan(seen, tables, allow=allow)
            if not found.verified:
                # No worse than now is all that can be had.
                better = lost_pairs(seen.fabric, tables) < lost_pairs(seen.fabric, seen.tables)
                chosen = tables if better else seen.tables
                found = replace(found, routes=chosen, stages=[tables] if better else [], findings=[])
        # What a guard had begun stays a guard's.
        facts = {"guard": True} if left.facts.get("guard") is True else None
        done = apply(
            found, manager, journal, seconds=seconds, recovers=left.id, facts=facts, progress=progress
        )
        if done.outcome == "unchanged":
            journal.close_before(left.id + 1, why=f"{how}: switches held its tables already")
            done.journal_id = left.id
        done.notes += [f"change {left.id} had been killed and was {how}", *notes]
        return done


def rollback(
    journal: Journal,
    seen: Seen,
    number: int | None = None,
    *,
    stages: int = STAGES,
    mend: bool = False,
    allow: Collection[str] = (),
) -> tuple[Plan, int]:
    """Plans the return to the tables before an earlier change (the last one in force unless told).

    Returns
    -------
    tuple
        The plan, and the number of the change.

    Raises
    ------
    LiveError
        If there is no such change.
    """
    number = last_applied(journal).id if number is None else number
    routes = read_tables(journal.tables(number, 0), seen.fabric, label=f"change {number}")
    return plan(seen, routes, stages=stages, mend=mend, allow=allow), number


def last_applied(journal: Journal) -> Change:
    """The last change that is in force: applied, no rollback itself, and not rolled back.

    Raises
    ------
    LiveError
        If there is none.
    """
    changes = journal.changes()
    undone = {change.rolls_back for change in changes if change.state == "applied"}
    for change in reversed(changes):
        if change.state == "applied" and change.rolls_back is None and change.id not in undone:
            return change
    raise LiveError(f"{journal.folder}: no change to roll back")


def _planned(seen: Seen, file: bytes, allow: Collection[str]) -> Plan | None:
    """The plan to these tables on the fabric as it is; None if they do not fit it any more."""
    try:
        return plan(seen, read_tables(file, seen.fabric, label="the journal"), allow=allow)
    except NetloomError:
        return None
