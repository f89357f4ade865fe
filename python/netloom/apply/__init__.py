"""A change of routes on a live fabric that never makes it worse: planned, proven, journaled, read back.

| module | idea |
|---|---|
| `planning` | the change against the fabric as it is now: what differs, is it sound, in which stages |
| `journal` | what was in force and what will be, on disk before anything is sent; one change at a time |
| `sending` | the file by rename, OpenSM asked, switches read back; else undone |
| `recovery` | what a change that was killed left behind: finished or undone; rollback |
"""

from netloom.apply.journal import Change, Journal
from netloom.apply.planning import Plan, Seen, hidden, look, plan
from netloom.apply.recovery import recover, rollback
from netloom.apply.sending import Applied, apply

__all__ = [
    "Applied",
    "Change",
    "Journal",
    "Plan",
    "Seen",
    "apply",
    "hidden",
    "look",
    "plan",
    "recover",
    "rollback",
]
