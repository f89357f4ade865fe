"""Other mappings of a scenario's job: what would be sent between hosts if its ranks were laid down otherwise.

Beside the usual words there are tiles for programs on a grid, in two levels where the job fills leaves: a
host's ranks a block of the grid, a leaf's hosts a block of those (Taffet, dissertation, sec. 2.4.2).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Scenario, Traffic

_WORDS = ("block", "cyclic", "cyclic-in-leaf")


def other_mappings(path: Path, overrides: Sequence[str], scenario: Scenario, job: int) -> dict[str, Traffic]:
    """Returns what all jobs send by mapping of one of them; as it is now is the empty word.

    Parameters
    ----------
    path, overrides
        The scenario.
    scenario : Scenario
        The same, read.
    job : int
        Whose mapping changes. A job that has its places from a file has no other words.
    """
    from netloom import _core, reading
    from netloom.errors import NetloomError

    found = {"": scenario.traffic()}
    table = tomllib.loads(reading.whole(path).decode())["job"][job]
    name = scenario.jobs[job].name
    for word in (*_WORDS, *_tiles(scenario, job, table)):
        if word == table.get("mapping", "block"):
            continue
        try:
            changed = _core.Scenario.read(path, [*overrides, f'job.{name}.mapping="{word}"'])
        except NetloomError:
            continue
        found[word] = changed.traffic()
    return found


def _tiles(scenario: Scenario, job: int, table: Mapping[str, Any]) -> Iterator[str]:
    """The tiles with the least surface, of hosts and of leaves."""
    program = table.get("program")
    shape = table.get("grid") or (program.get("shape") if isinstance(program, Mapping) else None)
    placed = scenario.jobs[job]
    if not shape or len(shape) != 3 or prod(shape) != len(placed.host_of_rank):
        return
    leaves = leaves_of_machines(scenario.fabric, placed)
    ranks = len(placed.host_of_rank) // len(leaves)
    host = _block(shape, ranks)
    if host is None or ranks * len(leaves) != len(placed.host_of_rank):
        return
    yield f"tiled:{_text(host)}"
    _, sizes = np.unique(leaves, return_counts=True)
    leaf = _block([side // part for side, part in zip(shape, host, strict=True)], int(sizes.max()))
    if leaf is not None and (sizes == sizes.max()).all():
        yield f"tiled:{_text(host)}/{_text(leaf)}"


def leaves_of_machines(fabric: Fabric, job: Job) -> list[int]:
    """The leaf of every machine of a job: that of the first adapter, as mappings count leaves."""
    table = fabric.host_table()
    first: dict[str, int] = {}
    for host in job.hosts.tolist():
        first.setdefault(table["machine"][host], int(table["leaf"][host]))
    return list(first.values())


def _block(shape: Sequence[int], volume: int) -> list[int] | None:
    """The sides of a block of this volume that tiles the shape, with the least surface; None if none does."""
    sides = [[part for part in range(1, side + 1) if side % part == 0] for side in shape]
    blocks = [list(block) for block in product(*sides) if prod(block) == volume]
    return min(blocks, key=lambda block: sum(volume // side for side in block), default=None)


def _text(sides: Sequence[int]) -> str:
    return "x".join(str(side) for side in sides)
