"""Placements as job launchers take them: a rank file of Open MPI, hosts for Slurm, torchrun's options.

All say the machine of every rank. Open MPI's also says a slot, which is the rank's number on its machine:
ranks are bound to cores in the order in which netloom deals them to adapters. torchrun numbers ranks machine
by machine: rank = node rank x processes a machine + local rank. None of them can say the adapter.

Sources: Open MPI 4.1, `man mpirun`, "Rankfiles" (`rank N=HOST slot=LIST`); Slurm, `man srun`,
`SLURM_HOSTFILE` with `--distribution=arbitrary` (a name a task, a line each); PyTorch 2, *torchrun*,
`--node-rank`, `--nproc-per-node`, `--master-addr`.
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


def torchrun(machines: Sequence[str]) -> bytes:
    """For torchrun: what it is given on every machine.

    Parameters
    ----------
    machines : sequence of str
        The machine of every rank.

    Returns
    -------
    bytes
        A line a machine: its name, a tab, the options.

    Raises
    ------
    PlaceError
        If ranks are not numbered machine by machine, as many on each, or a machine's name is none that can
        be reached.

    Examples
    --------
    >>> print(torchrun(["g1", "g1", "g0", "g0"]).decode().expandtabs(4), end="")
    g1  --nnodes=2 --nproc-per-node=2 --node-rank=0 --master-addr=g1
    g0  --nnodes=2 --nproc-per-node=2 --node-rank=1 --master-addr=g1
    """
    _check(machines, "torchrun")
    nodes = list(dict.fromkeys(machines))
    each = len(machines) // max(1, len(nodes))
    for rank, machine in enumerate(machines):
        if nodes[min(rank // each, len(nodes) - 1)] != machine or len(nodes) * each != len(machines):
            raise PlaceError(
                "torchrun numbers ranks machine by machine, as many on each: "
                f"expected so, found rank {rank} of {len(machines)} on {machine}"
            )
    options = f"--nnodes={len(nodes)} --nproc-per-node={each}"
    lines = (
        f"{node}\t{options} --node-rank={at} --master-addr={nodes[0]}\n" for at, node in enumerate(nodes)
    )
    return "".join(lines).encode()


def _check(machines: Sequence[str], who: str) -> None:
    for machine in dict.fromkeys(machines):
        if not _HOST.fullmatch(machine) or machine.startswith("0x"):
            raise PlaceError(f'expected machines by names that {who} knows, found "{machine}"')
