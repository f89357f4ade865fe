"""Tests of bandwidth between pairs of hosts: which cable is slow, and which pairs met on a link.

| module | what |
|---|---|
| `measured` | what was measured: a rate a pair, and which pairs ran at the same time |
| `formats` | files of LinkTest, hp2p and nccl-tests, and tables |
| `flows` | which links the pairs crossed |
| `explain` | collisions, slow cables, slow hosts, and what the tests do not tell |
| `rounds` | few rounds of tests that tell all cables apart |
| `answer` | `netloom.diagnose_pairs`, `netloom.pair_rounds` |

A round is a set of pairs that are tested at the same time.
"""

from __future__ import annotations

from netloom.pairs.explain import Explained, Suspect, explain
from netloom.pairs.flows import Flows
from netloom.pairs.measured import ALONE, UNKNOWN, PairTests
from netloom.pairs.rounds import Rounds, rounds

__all__ = [
    "ALONE",
    "UNKNOWN",
    "Explained",
    "Flows",
    "PairTests",
    "Rounds",
    "Suspect",
    "explain",
    "rounds",
]
