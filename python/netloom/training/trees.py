"""NCCL's two binary trees over machines.

The first is a binary tree over 1, 2, … in order below machine 0: a machine whose number ends in *k* zero bits
is on level *k* from the leaves. The second is its mirror image, or with an odd number of machines the same
tree one machine on. Source: NVIDIA/nccl, `src/graph/trees.cc`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a machine is in a tree.

    Parameters
    ----------
    parent : int or None
        None of the root.
    children : tuple of int
        None, one or two.
    """

    parent: int | None
    children: tuple[int, ...]


def trees(machines: int) -> tuple[list[Place], list[Place]]:
    """Both trees, a place a machine.

    Parameters
    ----------
    machines : int
        How many, 1 or more.

    Examples
    --------
    >>> first, second = trees(4)
    >>> [place.parent for place in first], [place.parent for place in second]
    ([None, 2, 0, 2], [1, 3, 1, None])
    """
    first = [_place(machine, machines) for machine in range(machines)]
    if machines % 2:
        second = [
            _moved(first[machine - 1], lambda other: (other + 1) % machines) for machine in range(machines)
        ]
    else:
        last = machines - 1
        second = [_moved(first[last - machine], lambda other: last - other) for machine in range(machines)]
    return first, second


def _place(machine: int, machines: int) -> Place:
    if machine == 0:
        return Place(None, (1 << (machines - 1).bit_length() - 1,) if machines > 1 else ())
    lowest = machine & -machine
    above = machine - lowest | lowest << 1
    parent = above if above < machines else machine - lowest
    half = lowest >> 1
    children = (machine - half,) if half else ()
    while half and machine + half >= machines:
        half >>= 1
    return Place(parent, (*children, machine + half) if half else children)


def _moved(place: Place, to: Callable[[int], int]) -> Place:
    return Place(None if place.parent is None else to(place.parent), tuple(map(to, place.children)))
