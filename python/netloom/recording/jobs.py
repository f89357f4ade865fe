"""What a recorded run becomes for the other verbs: a jobs file and a scenario, with the hosts of its ranks.

Ranks of one host send nothing over a network: where all ran on one (a laptop, a login node), hosts are left
out, and a rank is put on each host from the fabric's first on.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST_NAME = 60

MATRIX, MESSAGES, JOBS, SCENARIO, RANKS = (
    "matrix.mtx.gz",
    "messages.mtx.gz",
    "jobs.toml",
    "scenario.toml",
    "ranks.txt",
)
TRACE = "trace.ti.gz"
"""Names of the files of a recorded run."""


@dataclass(frozen=True)
class Placement:
    """Where ranks were, as jobs files say it.

    Parameters
    ----------
    lines : tuple of str
        Keys of a job.
    hosts : tuple of str
        All hosts, in the order of their first ranks; empty if they are left out.
    by_rank : tuple of str
        A host a rank, where a file must say it; else empty.
    """

    lines: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    by_rank: tuple[str, ...] = ()


def short_names(hosts: Sequence[str | None]) -> list[str | None]:
    """Hosts without their domain, as fabrics and Slurm name them, where that leaves them different."""
    cut = {host: host.split(".")[0] for host in hosts if host}
    if len(set(cut.values())) < len(cut) or any(not _PLAIN.fullmatch(name) for name in cut.values()):
        return list(hosts)
    return [cut[host] if host else None for host in hosts]


def place(hosts: Sequence[str | None], threads: int = 1) -> Placement:
    """Where ranks were, in the keys of a jobs file.

    Parameters
    ----------
    hosts : sequence of str or None
        By rank.
    threads : int
        Processes that each rank is in the trace, one a thread. [default: 1]

    Returns
    -------
    Placement
    """
    hosts = [host for host in hosts for _ in range(threads)]
    named = [host for host in short_names(hosts) if host and _PLAIN.fullmatch(host)]
    order = list(dict.fromkeys(named))
    if len(named) < len(hosts) or len(order) < 2:
        shared = (f"ranks_per_host = {threads}",) if threads > 1 else ()
        return Placement(('allocation = "contiguous:0"', *shared))
    most = max(Counter(named).values())
    listed = ", ".join(json.dumps(host) for host in order)
    lines = [f"hosts = [{listed}]", f"ranks_per_host = {most}"]
    if all(host == order[rank // most] for rank, host in enumerate(named)):
        return Placement((*lines, 'mapping = "block"'), tuple(order))
    return Placement((*lines, f'mapping = "file:{RANKS}"'), tuple(order), tuple(named))


def jobs_file(name: str, remark: str, placement: Placement, traced: bool = False) -> bytes:
    """A jobs file of one job, for `netloom optimize`, `loads` and all that take traffic."""
    return _file(name, remark, f'trace = "{TRACE}"' if traced else f'matrix = "{MATRIX}"', placement)


def scenario(name: str, remark: str, placement: Placement, traced: bool = False) -> bytes:
    """A scenario of one job for `netloom simulate`; its fabric is given there (`--set fabric=…`)."""
    traffic = f'program = {{ kind = "matrix", matrix = "{MATRIX}" }}'
    if traced:
        # The trace computes in nanoseconds.
        traffic = f'trace = "{TRACE}"\nflops_per_s = 1e9'
    return _file(name, remark, traffic, placement)


def _file(name: str, remark: str, traffic: str, placement: Placement) -> bytes:
    head = "".join(f"# {line}\n" for line in remark.splitlines())
    shown = re.sub(r"[^ -~]", "?", name)[:_MOST_NAME] or "job"
    keys = [f"name = {json.dumps(shown)}", traffic, *placement.lines]
    return (f"{head}[[job]]\n" + "\n".join(keys) + "\n").encode()
