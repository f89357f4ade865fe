"""What inputs are called on the command line; the fabric as options state it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netloom.cli.shared.exits import UsageError
from netloom.reading import groups
from netloom.session.faults import fallbacks as fallbacks
from netloom.session.faults import fault_lines as fault_lines
from netloom.session.sources import OPTIMISERS as OPTIMISERS
from netloom.session.sources import is_file_or_stdin as is_file_or_stdin
from netloom.session.sources import is_recorded as is_recorded
from netloom.session.sources import is_stdin as is_stdin
from netloom.session.sources import of_ibdiagnet as of_ibdiagnet
from netloom.session.sources import of_run as of_run
from netloom.session.sources import raise_not_an_engine as raise_not_an_engine
from netloom.session.sources import split_plane as split_plane

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.session.session import Session


def with_roots(run: Session, fabric: Fabric, stated: str | None) -> Fabric:
    """The fabric with the switches that `--roots` puts on top of up*/down* ways.

    These are names or GUIDs with commas, or the lines of OpenSM's `root_guid_file`.
    """
    if stated is None:
        return fabric
    names = stated.split(",")
    if os.path.isfile(stated):
        lines = run.read("roots", stated).decode("utf-8", "replace").splitlines()
        names = [line.partition("#")[0] for line in lines]
    roots = [name.strip() for name in names if name.strip()]
    if not roots:
        raise UsageError(f"--roots {stated}: expected names or GUIDs of switches, found none")
    return fabric.with_roots(roots)


def with_groups(run: Session, fabric: Fabric, stated: str | None) -> Fabric:
    """The fabric as a dragonfly of the groups that `--groups` states, by a file or a rule."""
    if stated is None:
        return fabric
    names = [str(name) for name in fabric.switch_table()["name"]]
    data = run.read("groups", stated) if os.path.isfile(stated) else None
    try:
        return fabric.with_groups(groups.stated(stated, names, data))
    except ValueError as error:
        raise UsageError(f"--groups {stated}: {error}") from None
