"""A job in one run: its messages, and how long it took from its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.noise import Messages

if TYPE_CHECKING:
    from netloom._core import Simulation


@dataclass(frozen=True)
class Ran:
    """A job in one run: its messages, how long it took from its start, and why the run was ended."""

    messages: Messages
    took_ps: int | None
    stopped: str | None

    @classmethod
    def of(cls, ended: Simulation, recorded: Mapping[str, Any], number: int) -> Ran:
        return cls(Messages.of(recorded, number), took_ps(ended, number), ended.stopped)


def took_ps(ended: Simulation, number: int) -> int | None:
    """From a job's start until its last rank ended; None if one did not."""
    ranks = ended.ranks()
    ends = ranks["end_ps"][ranks["job"] == number]
    if len(ends) == 0 or (ends < 0).any():
        return None
    start_ms = float(ended.result()["jobs"][number]["start_ms"])
    return int(ends.max()) - round(start_ms * 1e9)
