"""Collectives of a trace as NCCL does them: what every member sends and receives, and what waits for what.

Each member is a machine of its own here: a trace does not say which ranks share one. What NCCL has no
algorithm for stays with those of MPI libraries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloom.errors import SpecError
from netloom.training.collective import MOST_BYTES, Collective
from netloom.training.schedule import MOST_TASKS, Task, schedule

WORDS = ("nccl-ring", "nccl-tree")
"""How all-reduce is done; the others have one algorithm each."""
_DONE = {
    "Allreduce": "all-reduce",
    "Allgather": "all-gather",
    "Reduce_scatter_block": "reduce-scatter",
    "Alltoall": "all-to-all",
}


@dataclass
class Decomposed:
    """What collectives become.

    Parameters
    ----------
    word : str
        One of `WORDS`.
    chunk : int
        Largest message of a tree.
    tasks : int
        Made so far, of all collectives.
    """

    word: str
    chunk: int = 512 << 10
    tasks: int = 0

    def algorithm(self, base: str, n: int, sizes: Sequence[int]) -> str | None:
        """What a collective of *n* members is done by; None: as MPI libraries do it.

        Examples
        --------
        >>> trees = Decomposed("nccl-tree")
        >>> [trees.algorithm(base, 4, [9] * 4) for base in ("Allreduce", "Alltoall", "Bcast")]
        ['nccl-tree', 'nccl-pairs', None]
        """
        if base not in _DONE or n < 2 or max(sizes) == 0:
            return None
        if base == "Alltoall":
            return "nccl-pairs"
        return self.word if base == "Allreduce" else "nccl-ring"

    def __call__(self, base: str, n: int, sizes: Sequence[int]) -> list[list[Task]]:
        """The tasks of every member, of a collective that `algorithm` knows; sizes are bytes of each member's
        own buffer.

        Raises
        ------
        SpecError
            For more tasks than a schedule should have, or more bytes.

        Examples
        --------
        >>> [task.bytes for task in Decomposed("nccl-ring")("Allreduce", 2, [10, 10])[0] if task.sends]
        [5, 5]
        """
        whole = max(sizes) * (n if base == "Allgather" else 1)
        if whole > MOST_BYTES:
            raise SpecError(f"{base}: expected at most {MOST_BYTES:,} bytes of a collective, found {whole:,}")
        algorithm = self.algorithm(base, n, sizes) or self.word
        found = schedule(Collective(algorithm, n, 1, whole, _DONE[base], 1, self.chunk))
        self.tasks += sum(map(len, found))
        if self.tasks > MOST_TASKS:
            raise SpecError(f"{self.word}: expected a schedule of at most {MOST_TASKS:,} tasks, found more")
        return found
