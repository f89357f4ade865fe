"""`netloom optimize --lmc`: several addresses a host, and which of them every pair uses (`--write-paths`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from netloom.cli.optimize.goals import Goal, Little
from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError

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

    def check(self, goal: Goal, little: Little) -> None:
        """Refuses options that exclude each other.

        Raises
        ------
        UsageError
        """
        if self.write_paths is not None and not self.lmc:
            raise UsageError("--write-paths is about several addresses a host: expected --lmc 1 or more")
        if not self.lmc:
            return
        if little.from_ is not None:
            raise UsageError("--lmc makes tables anew, --from changes those in force: expected one")
        if goal.several or goal.objective in ("sum", "worst"):
            raise UsageError("--lmc is about the largest load of one matrix: expected --objective total")
        if goal.islands is not None or goal.depth is not None:
            option = "--islands" if goal.islands is not None else "--depth"
            raise UsageError(
                f"--lmc and {option}: only the search for one address a host has it; expected one"
            )


def write_paths(run: Run, routes: Routes, addresses: Addresses) -> dict[str, Any]:
    """Writes the file of paths if that was asked for; the result's keys."""
    if not addresses.lmc:
        return {"lmc": routes.lmc, "pairs_off_base": None, "paths": None}
    written = None
    if addresses.write_paths is not None:
        written = run.write(routes.paths_to_bytes(), addresses.write_paths)
    elif run.has_product and routes.pairs_off_base:
        run.note("which address every pair uses is not in the tables: --write-paths FILE writes it")
    return {"lmc": routes.lmc, "pairs_off_base": routes.pairs_off_base, "paths": written}
