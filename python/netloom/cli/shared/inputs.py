"""The fabric as options state it: its roots, its groups."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netloom.cli.shared.exits import UsageError
from netloom.errors import FabricError
from netloom.reading import groups

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
    except (ValueError, FabricError) as error:
        raise UsageError(f"--groups {stated}: {error}") from None
