"""The fewest cables that explain slow tests: minimum covers, all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

_STEPS = 50_000
"""Sets that are looked at before the search is given up."""
_MOST = 6
"""Cables of a cover, at most."""


def fewest(
    tests: Collection[int], cover: Mapping[int, Set[int]], most: int = _MOST
) -> list[frozenset[int]] | None:
    """All smallest sets of cables that together explain all tests.

    Parameters
    ----------
    tests : collection of int
        What is to be explained.
    cover : mapping of int to set of int
        Tests by cable.
    most : int, default 6
        Cables of a set, at most.

    Returns
    -------
    list of frozenset of int, or None
        Empty if no set of so many cables explains them; None if the search took too long.

    Examples
    --------
    >>> fewest([1, 2, 3], {7: {1, 2}, 8: {3}, 9: {2, 3}})
    [frozenset({7, 8}), frozenset({9, 7})]
    """
    by_test = {test: [cable for cable in sorted(cover) if test in cover[cable]] for test in tests}
    if not all(by_test.values()):
        return []
    steps = 0
    for size in range(1, most + 1):
        found: set[frozenset[int]] = set()

        def extend(
            chosen: frozenset[int], left: frozenset[int], spare: int, found: set[frozenset[int]]
        ) -> bool:
            nonlocal steps
            steps += 1
            if steps > _STEPS:
                return False
            if not left:
                found.add(chosen)
                return True
            if spare == 0 or len(left) > spare * max(len(cover[c] & left) for c in cover):
                return True
            test = min(left, key=lambda one: (len(by_test[one]), one))
            return all(extend(chosen | {c}, left - cover[c], spare - 1, found) for c in by_test[test])

        if not extend(frozenset(), frozenset(tests), size, found):
            return None
        if found:
            return sorted(found, key=sorted)
    return []
