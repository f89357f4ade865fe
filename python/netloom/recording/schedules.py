"""Collectives of some ranks as messages, by published algorithms: what each member does, step by step.

Formats without communicators cannot name such a collective. What a library really sends is its own affair;
the algorithms here are the usual ones (Thakur, Rabenseifner and Gropp, *Optimization of Collective
Communication Operations in MPICH*, 2005), and results name them (`ALGORITHMS`).
"""

from __future__ import annotations

from collections.abc import Sequence

ALGORITHMS = {
    "Barrier": "dissemination",
    "Bcast": "binomial tree",
    "Reduce": "binomial tree",
    "Gather": "linear",
    "Gatherv": "linear",
    "Scatter": "linear",
    "Scatterv": "linear",
    "Allgather": "ring",
    "Allgatherv": "ring",
    "Alltoall": "pairwise",
    "Alltoallv": "pairwise",
    "Alltoallw": "pairwise",
    "Allreduce": "recursive doubling",
    "Reduce_scatter": "pairwise",
    "Reduce_scatter_block": "pairwise",
    "Scan": "chain",
    "Exscan": "chain",
}
"""How each is done."""

NEIGHBOURHOODS = tuple(
    f"Neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
"""Collectives whose callers state their messages: all go at once, one to each neighbour."""

Step = tuple[int, int, int]
"""To whom (-1: nobody), bytes, from whom (-1: nobody): positions in the communicator. Both go on at once."""


def steps(
    kind: str, me: int, n: int, root: int, sizes: Sequence[int], rows: Sequence[Sequence[int]]
) -> list[Step]:
    """What a member does in a collective.

    Parameters
    ----------
    kind : str
        One of `ALGORITHMS`.
    me, n, root : int
        Its position, how many members there are, the position of the root.
    sizes : sequence of int
        Bytes of each member's own block; of broadcasts and reductions all are the whole vector.
    rows : sequence of sequences
        Of `Alltoall…` and `Scatterv`: bytes from each member to each.

    Returns
    -------
    list of Step
    """
    if kind == "Barrier":
        return [((me + d) % n, 0, (me - d) % n) for d in _doubling(n)]
    if kind in ("Bcast", "Reduce"):
        return _tree(me, n, root, sizes[root], upwards=kind == "Reduce")
    if kind in ("Gather", "Gatherv"):
        if me != root:
            return [(root, sizes[me], -1)]
        return [(-1, 0, peer) for peer in range(n) if peer != root]
    if kind in ("Scatter", "Scatterv"):
        if me != root:
            return [(-1, 0, root)]
        return [(peer, rows[root][peer], -1) for peer in range(n) if peer != root]
    if kind in ("Allgather", "Allgatherv"):
        return [((me + 1) % n, sizes[(me - step) % n], (me - 1) % n) for step in range(n - 1)]
    if kind.startswith(("Alltoall", "Reduce_scatter")):
        return [((me + d) % n, rows[me][(me + d) % n], (me - d) % n) for d in range(1, n)]
    if kind == "Allreduce":
        return _recursive_doubling(me, n, sizes[me])
    before = [(-1, 0, me - 1)] if me > 0 else []
    return before + ([(me + 1, sizes[me], -1)] if me + 1 < n else [])


def _doubling(n: int) -> list[int]:
    return [1 << k for k in range(max(0, n - 1).bit_length())]


def _tree(me: int, n: int, root: int, size: int, *, upwards: bool) -> list[Step]:
    """Down a binomial tree from the root, or up to it."""
    place = (me - root) % n
    lowest = place & -place if place else 1 << max(0, n - 1).bit_length()
    children = [(place + d + root) % n for d in reversed(_doubling(n)) if d < lowest and place + d < n]
    parent = (place - lowest + root) % n if place else -1
    if upwards:
        gathered: list[Step] = [(-1, 0, child) for child in reversed(children)]
        return gathered + ([(parent, size, -1)] if place else [])
    got: list[Step] = [(-1, 0, parent)] if place else []
    return got + [(child, size, -1) for child in children]


def _recursive_doubling(me: int, n: int, size: int) -> list[Step]:
    """Those above the largest power of two hand over to a partner, and get the sum back."""
    most = 1 << (n.bit_length() - 1)
    if me >= most:
        return [(me - most, size, -1), (-1, 0, me - most)]
    partner = me + most
    found: list[Step] = [(-1, 0, partner)] if partner < n else []
    found += [(me ^ d, size, me ^ d) for d in _doubling(most)]
    return found + ([(partner, size, -1)] if partner < n else [])
