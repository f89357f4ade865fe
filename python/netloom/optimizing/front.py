"""How low the largest load gets with so many changed entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom._core import LinkLoads, Optimized


def front(
    search: Callable[[int], Optimized], best: Optimized, today: LinkLoads, late: Callable[[], bool]
) -> tuple[list[dict[str, Any]], bool]:
    """Returns the points that no other one beats, fewest changes first, and whether Ctrl-C ended them early.

    Where there is no more time the points so far are all.

    Parameters
    ----------
    search : callable
        Makes the best routes with so many changes at most.
    best : Optimized
        Those with any number of changes.
    today : LinkLoads
        Those of the routes that are in force.
    late : callable
        Whether the time limit has passed.
    """
    most = best.changed_entries or 0
    points = [_point(0, today.max, today)]
    for changes in _steps(most):
        if late():
            break
        try:
            found = search(changes)
        except KeyboardInterrupt:
            return points, True
        _add(points, found)
        if found.stopped == "interrupted":
            return points, True
    _add(points, best)
    return points, False


def _steps(most: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, … below `most`."""
    scale = 1
    while scale < most:
        yield from (step for step in (scale, 2 * scale, 5 * scale) if step < most)
        scale *= 10


def _add(points: list[dict[str, Any]], found: Optimized) -> None:
    """Adds a point that is better than all with fewer changes."""
    load, changed = found.loads.max, found.changed_entries or 0
    if load >= points[-1]["max_load"] * (1 - 1e-9):
        return
    while points and points[-1]["changed_entries"] >= changed:
        points.pop()
    points.append(_point(changed, load, found.loads))


def _point(changed: int, load: float, judged: LinkLoads) -> dict[str, Any]:
    return {
        "changed_entries": changed,
        "max_load": load,
        "lower_bound_gap_percent": judged.lower_bound_gap_percent,
        "bound_class": judged.bound_class,
    }
