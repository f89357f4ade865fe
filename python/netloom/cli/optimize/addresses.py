"""`netloom optimize --lmc`: several addresses a host, and which of them every pair uses (`--write-paths`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from netloom.cli.shared import options

if TYPE_CHECKING:
    from netloom._core import Routes
    from netloom.cli.shared.run import Run


@Parameter(name="*", group=Group("Several addresses a host", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class Addresses:
    """How many addresses a host has, and which of them a sender uses."""

    lmc: Annotated[int, options.within(0, 7)] = 0
    """LID mask control: 2^lmc addresses a host, and every pair of hosts chooses one."""
    write_paths: Annotated[Path | None, options.OUTPUT_PATH] = None
    """With `--lmc`: write here which address every pair uses (.csv), for the senders. Pairs that are not in
    the file use the first."""


def write_paths(run: Run, routes: Routes, addresses: Addresses) -> str | None:
    """Writes the file of paths if that was asked for; its name."""
    if addresses.write_paths is not None:
        return run.write(routes.paths_to_bytes(), addresses.write_paths)
    if addresses.lmc and run.has_product and routes.pairs_off_base:
        run.note("which address every pair uses is not in the tables: --write-paths FILE writes it")
    return None
