"""Traffic of earlier rounds that may come again.

Routes made for what runs now are good for what comes back only if that counts too. Remembered is what every
round has shown, each kind once. It counts if the same jobs ran then, or if jobs that had gone have come back:
then what alternates is expected to go on alternating. Where nobody says who runs where, the jobs are taken to
be the same. Traffic between other hosts than the present round's is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloom.loop.prediction import Layers

SAME_KIND_DISTANCE = 0.05
"""Two traffics are of a kind if their difference is less than this share of their norm."""


@dataclass
class Memory:
    """What the last rounds have shown."""

    rounds: int
    """How many rounds back it goes."""
    _seen: list[tuple[int, str, Layers, Any]] = field(default_factory=list)
    _jobs: list[str] = field(default_factory=list)

    def others(self, number: int, jobs: str, layers: Layers) -> list[Layers]:
        """Remembered traffic that may come again and is of another kind than the present round's."""
        came_back = _came_back([*self._jobs, jobs])
        self._forget_other_hosts(layers)
        now = _sum(layers)
        return [
            other
            for seen, of, other, total in self._seen
            if number - seen <= self.rounds and (of == jobs or came_back) and not _alike(now, total)
        ]

    def keep(self, number: int, jobs: str, layers: Layers) -> None:
        """Remembers a round, in place of what was of its kind."""
        self._forget_other_hosts(layers)
        now = _sum(layers)
        self._seen = [one for one in self._seen if number - one[0] < self.rounds and not _alike(now, one[3])]
        self._seen.append((number, jobs, layers, now))
        self._jobs = [*self._jobs, jobs][-max(1, self.rounds) :]

    def _forget_other_hosts(self, layers: Layers) -> None:
        """Traffic of a fabric with other hosts cannot come again, and its rows are not theirs."""
        hosts = layers[0][0].hosts_hash
        if any(one[2][0][0].hosts_hash != hosts for one in self._seen):
            self._seen = []
            self._jobs = []


def _came_back(jobs: Sequence[str]) -> bool:
    """Whether the last ones ran before with others in between."""
    gone = False
    for other in reversed(jobs[:-1]):
        if other != jobs[-1]:
            gone = True
        elif gone:
            return True
    return False


def _sum(layers: Layers) -> Any:
    return sum(weight * traffic.to_scipy() for traffic, weight in layers)


def _alike(one: Any, other: Any) -> bool:
    """Whether two traffics are the same but for their amount."""
    from scipy.sparse.linalg import norm

    size, its = norm(one), norm(other)
    if size == 0 or its == 0:
        return bool(size == its)
    return bool(norm(one / size - other / its) < SAME_KIND_DISTANCE)
