"""What inputs are called on the command line; the fabric as options state it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netloom.cli.shared.exits import UsageError
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
    """The fabric as a dragonfly of the groups that `--groups` states.

    A file has a switch a line, its name and then its group (any word). Anything else is a rule by names: a
    regular expression whose part in parentheses is the group.
    """
    if stated is None:
        return fabric
    names = [str(name) for name in fabric.switch_table()["name"]]
    if os.path.isfile(stated):
        group_of = _groups_file(stated, run.read("groups", stated), names)
    else:
        group_of = _groups_by_names(stated, names)
    numbers = {group: i for i, group in enumerate(dict.fromkeys(group_of.values()))}
    if len(numbers) < 2:
        raise UsageError(f"--groups {stated}: expected at least two groups, found {len(numbers)}")
    return fabric.with_groups([numbers[group_of[name]] for name in names])


def _groups_file(path: str, data: bytes, names: Sequence[str]) -> dict[str, str]:
    from netloom.errors import FormatError

    known, group_of = set(names), dict[str, str]()
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        name, _, group = line.partition("#")[0].strip().replace(",", " ").rpartition(" ")
        name, group = name.strip(), group.strip()
        if not group:
            continue
        if name not in known or name in group_of:
            fault = "a switch of the fabric" if name not in known else "every switch once"
            raise FormatError(
                f"{path}:{number}: expected {fault} and its group, found {line.strip()!r}", path, number
            )
        group_of[name] = group
    missing = [name for name in names if name not in group_of]
    if missing:
        raise FormatError(
            f"{path}: expected a group for every switch, found none for {len(missing)}, such as {missing[0]}",
            path,
        )
    return group_of


def _groups_by_names(rule: str, names: Sequence[str]) -> dict[str, str]:
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise UsageError(f"--groups {rule}: expected a file or a regular expression: {error}") from None
    if pattern.groups != 1:
        raise UsageError(
            f"--groups {rule}: expected a file, or a rule by names with a part in parentheses, as g([0-9]+)r"
        )
    found = {name: pattern.match(name) for name in names}
    odd = next((name for name, match in found.items() if match is None or match[1] is None), None)
    if odd is not None:
        raise UsageError(f"--groups {rule}: expected a rule for the names of all switches, found {odd}")
    return {name: match[1] for name, match in found.items() if match is not None}
