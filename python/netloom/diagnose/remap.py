"""Which host of a job would better lie where: the same hosts, ranks moved, less traffic between leaves.

A host's ranks move together. From three orders (as it is, as ranks are numbered, along the Fiedler vector of
the traffic) pairs of hosts change places as long as traffic between leaves falls (Kernighan and Lin).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from netloom.diagnose.observed import Floats, Ints

MOST_HOSTS = 1024
"""Larger jobs are not tried: the matrix of their hosts is dense here."""


def better_places(matrix: csr_array, hosts: Ints, leaf_of: Ints) -> Ints | None:
    """Where the ranks of each of `hosts` had better be, among the same hosts; None if nothing is better.

    `hosts` in the order of their ranks, which is one to try; `leaf_of` by host.
    """
    if not 4 <= len(hosts) <= MOST_HOSTS:
        return None
    block = matrix[hosts][:, hosts].toarray()
    block = block + block.T
    np.fill_diagonal(block, 0.0)
    leaves = leaf_of[hosts]
    today = crossing(block, leaves)
    # Places leaf by leaf, in which an order of hosts is laid down.
    places = np.argsort(leaves, kind="stable")
    best, best_value = leaves, today
    for order in (np.argsort(places), np.arange(len(hosts)), _fiedler(block)):
        start = np.empty_like(leaves)
        start[order] = leaves[places]
        laid = _swapped(block, start)
        value = crossing(block, laid)
        if value < best_value * (1 - 1e-9):
            best, best_value = laid, value
    if best is leaves:
        return None
    # Within a leaf any order will do: the k-th host that goes to a leaf takes its k-th place.
    result = np.empty_like(hosts)
    result[np.argsort(best, kind="stable")] = hosts[places]
    return result


def crossing(block: Floats, leaves: Ints) -> float:
    """Bytes between hosts of different leaves, twice."""
    return float(block[leaves[:, None] != leaves[None, :]].sum())


def _fiedler(block: Floats) -> Ints:
    """Hosts along the second eigenvector of the Laplacian: neighbours come near."""
    laplacian = np.diag(block.sum(axis=1)) - block
    _, vectors = np.linalg.eigh(laplacian)
    return np.argsort(vectors[:, 1], kind="stable")


def _swapped(block: Floats, leaves: Ints) -> Ints:
    """Pairs of hosts change leaves, the best pair first, until no pair gains."""
    leaves = leaves.copy()
    names, at = np.unique(leaves, return_inverse=True)
    hosts = np.arange(len(leaves))
    # [host, leaf]: traffic with the leaf's hosts.
    towards = np.zeros((len(leaves), len(names)))
    np.add.at(towards.T, at, block)
    least = block.sum() * 1e-9
    for _ in range(4 * len(leaves)):
        own = towards[hosts, at]
        there = towards[:, at]
        gain = there + there.T - own[:, None] - own[None, :] - 2 * block
        gain[at[:, None] == at[None, :]] = -np.inf
        a, b = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if gain[a, b] <= least:
            break
        for host, leaf in ((a, at[b]), (b, at[a])):
            towards[:, at[host]] -= block[:, host]
            towards[:, leaf] += block[:, host]
        at[a], at[b] = at[b], at[a]
    return names[at]
