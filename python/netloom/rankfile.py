"""Placements as job launchers take them: a rank file of Open MPI, a list of hosts for Slurm.

Both say the machine of every rank. Open MPI's also says a slot, which is the rank's number on its machine:
ranks are bound to cores in the order in which netloom deals them to adapters. Neither can say the adapter.

Sources: Open MPI 4.1, `man mpirun`, "Rankfiles" (`rank N=HOST slot=LIST`); Slurm, `man srun`,
`SLURM_HOSTFILE` with `--distribution=arbitrary` (a name a task, a line each).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from netloom.errors import PlaceError

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def rankfile(machines: Sequence[str]) -> bytes:
    """For `mpirun --rankfile`.

    Parameters
    ----------
    machines : sequence of str
        The machine of every rank.

    Returns
    -------
    bytes
        A line a rank.

    Raises
    ------
    PlaceError
        If a machine's name is none that Open MPI could reach.

    Examples
    --------
    >>> print(rankfile(["g0", "g0", "g1"]).decode(), end="")
    rank 0=g0 slot=0
    rank 1=g0 slot=1
    rank 2=g1 slot=0
    """
    _check(machines, "Open MPI")
    given: Counter[str] = Counter()
    lines = []
    for rank, machine in enumerate(machines):
        lines.append(f"rank {rank}={machine} slot={given[machine]}\n")
        given[machine] += 1
    return "".join(lines).encode()


def hostfile(machines: Sequence[str]) -> bytes:
    """For Slurm: `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`.

    Parameters
    ----------
    machines : sequence of str
        The machine of every rank.

    Returns
    -------
    bytes
        A name a line, in rank order.

    Raises
    ------
    PlaceError
        If a machine's name is none that Slurm could know.

    Examples
    --------
    >>> print(hostfile(["g0", "g0", "g1"]).decode(), end="")
    g0
    g0
    g1
    """
    _check(machines, "Slurm")
    return "".join(f"{machine}\n" for machine in machines).encode()


def _check(machines: Sequence[str], who: str) -> None:
    for machine in dict.fromkeys(machines):
        if not _HOST.fullmatch(machine) or machine.startswith("0x"):
            raise PlaceError(f'expected machines by names that {who} knows, found "{machine}"')
