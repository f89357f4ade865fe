"""Slurm's `topology.conf` (topology/tree) and `topology.yaml` of a fabric.

Slurm wants a tree in which each switch has one parent, a fat tree has many. What matters for placing jobs
is which nodes are close: those of one leaf, then those of one pod. So a leaf is a switch with its nodes, a
pod one made-up switch over its leaves, and `fabric` one over all of them. Nodes are machines: one with
adapters at several leaves is listed at the leaf of its first, of those that count (`chosen`).

Source: Slurm documentation, *topology.conf* and *topology.yaml* (Slurm 25.05).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import FabricError, FormatError, PlaceError
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric

_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>[0-9]{1,9})")
_TOP = "fabric"


@dataclass(frozen=True)
class Switch:
    """A switch of Slurm's tree: over nodes, or over switches."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


def chosen(fabric: Fabric, nodes: Sequence[str], adapters: str | None, storage: str | None) -> list[int]:
    """The adapters that count, as numbers of hosts.

    Parameters
    ----------
    nodes : sequence of str
        The machines; none: all.
    adapters, storage : str, optional
        The adapters that jobs use, and those that they do not, as in jobs files: `mlx5_[0-3]`, `rail:0`.

    Raises
    ------
    PlaceError
        If the fabric has no such machine, or one of them no such adapter.
    """
    from netloom import _core
    from netloom.files import Scratch

    names = nodes or sorted(set(fabric.host_table()["machine"]))
    listed = ", ".join(json.dumps(name) for name in names)
    with Scratch.private() as scratch:
        scratch.write("jobs.toml", f'[[job]]\nname = "nodes"\nhosts = [{listed}]\n'.encode())
        file = scratch.path / "jobs.toml"
        try:
            _, (job,) = _core.place_jobs(fabric, file, adapters=adapters, storage=storage)
        except PlaceError as error:
            text = str(error).split('job "nodes": ')[-1]
            more = "" if nodes else " (--nodes says which machines are Slurm's)"
            raise PlaceError(f"{text}{more}") from None
    found: list[int] = job.hosts.tolist()
    return found


def read_nodes(text: str) -> list[str]:
    """Machines of a hostlist (`n[00-07],gpu1`), or of the `NodeName` lines of a slurm.conf.

    Raises
    ------
    FormatError
        If a file that is named so has no such line.
    """
    from netloom import _core, reading

    if not text.endswith(".conf"):
        return _core.expand_hostlist(text)
    lines = reading.whole(Path(text)).decode(errors="replace").splitlines()
    found = [re.match(r"(?i)\s*NodeName=(\S+)", line) for line in lines]
    lists = [match[1] for match in found if match is not None and match[1].upper() != "DEFAULT"]
    if not lists:
        raise FormatError(f"{text}: expected lines with NodeName=, as in slurm.conf", text)
    return list(dict.fromkeys(name for one in lists for name in _core.expand_hostlist(one)))


def apart(fabric: Fabric) -> list[str]:
    """The machines whose adapters are at several leaves."""
    host = fabric.host_table()
    at: dict[str, set[int]] = {}
    for machine, leaf in zip(host["machine"], host["leaf"].tolist(), strict=True):
        at.setdefault(machine, set()).add(leaf)
    return [machine for machine, leaves in at.items() if len(leaves) > 1]


def tree(fabric: Fabric, hosts: Sequence[int] | None = None) -> list[Switch]:
    """The switches of Slurm's tree, leaves first; of all hosts, or of some.

    Raises
    ------
    FabricError
        If a machine's name is none that Slurm could take.
    """
    nodes, host, switch = Nodes(fabric), fabric.host_table(), fabric.switch_table()
    leaf_of: dict[str, int] = {}
    rails, leaves = host["rail"].tolist(), host["leaf"].tolist()
    counted = range(fabric.hosts) if hosts is None else hosts
    for number in sorted(counted, key=lambda number: (rails[number], number)):
        leaf_of.setdefault(host["machine"][number], leaves[number])
    bad = next((name for name in leaf_of if not re.fullmatch(r"[A-Za-z0-9_.-]+", name)), None)
    if bad is not None:
        raise FabricError(
            f'the machine "{bad}" has no name that Slurm could take: '
            'expected letters, digits, "_", "." and "-"'
        )
    names = _names(nodes)
    of_leaf: dict[int, list[str]] = {}
    for machine, leaf in leaf_of.items():
        of_leaf.setdefault(leaf, []).append(machine)
    found = [Switch(names[leaf], nodes=tuple(of)) for leaf, of in sorted(of_leaf.items())]
    pods = (
        switch["pod"].tolist()
        if fabric.shape["kind"] == "tree" and fabric.levels > 2 and fabric.pods > 1
        else [0] * fabric.switches
    )
    if "groups" in fabric.shape:
        pods = switch["group"].tolist()
    of_pod: dict[int, list[str]] = {}
    for leaf in sorted(of_leaf):
        of_pod.setdefault(pods[leaf], []).append(names[leaf])
    tops = [names[leaf] for leaf in sorted(of_leaf)]
    if len(of_pod) > 1:
        taken = {one.name for one in found}
        above = [Switch(_free(f"pod{pod}", taken), switches=tuple(of)) for pod, of in sorted(of_pod.items())]
        found += above
        tops = [one.name for one in above]
    if len(tops) > 1:
        found.append(Switch(_free(_TOP, {one.name for one in found}), switches=tuple(tops)))
    return found


def topology_conf(fabric: Fabric, hosts: Sequence[int] | None = None) -> bytes:
    """The fabric as `topology.conf`; of all hosts, or of some.

    Examples
    --------
    >>> import netloom as nl
    >>> print(topology_conf(nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")).decode())
    # Made by netloom: leaves with their nodes; what joins them is one made-up switch a pod, and one over all.
    SwitchName=leaf00 Nodes=host[0000-0001]
    SwitchName=leaf01 Nodes=host[0002-0003]
    SwitchName=fabric Switches=leaf[00-01]
    <BLANKLINE>
    """
    lines = [f"# {_HEAD}"]
    for one in tree(fabric, hosts):
        what = f"Nodes={hostlist(one.nodes)}" if one.nodes else f"Switches={hostlist(one.switches)}"
        lines.append(f"SwitchName={one.name} {what}")
    return "\n".join([*lines, ""]).encode()


def topology_yaml(fabric: Fabric, hosts: Sequence[int] | None = None) -> bytes:
    """The fabric as `topology.yaml`, for Slurm from 25.05 on; of all hosts, or of some."""
    lines = [
        f"# {_HEAD}",
        "---",
        "- topology: default",
        "  cluster_default: true",
        "  tree:",
        "    switches:",
    ]
    for one in tree(fabric, hosts):
        key, names = ("nodes", one.nodes) if one.nodes else ("children", one.switches)
        lines += [f'      - switch: "{one.name}"', f'        {key}: "{hostlist(names)}"']
    return "\n".join([*lines, ""]).encode()


_HEAD = (
    "Made by netloom: leaves with their nodes; what joins them is one made-up switch a pod, and one over all."
)


def hostlist(names: Iterable[str]) -> str:
    """Names as Slurm lists them: `node[01-03,07],login`.

    Examples
    --------
    >>> hostlist(["n1", "n2", "n3", "n7", "login"])
    'n[1-3,7],login'
    """
    groups: dict[tuple[str, int], list[int]] = {}
    parts: dict[tuple[str, int] | str, None] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            parts[name] = None
            continue
        digits = match["number"]
        # As wide as they are written: 7 and 07 are two names.
        key = (match["stem"], len(digits))
        groups.setdefault(key, []).append(int(digits))
        parts[key] = None
    return ",".join(part if isinstance(part, str) else _group(part, groups[part]) for part in parts)


def _group(key: tuple[str, int], numbers: Sequence[int]) -> str:
    stem, width = key
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    told = ",".join("-".join(f"{number:0{width}}" for number in run) for run in runs)
    return f"{stem}{told}" if len(runs) == 1 and len(runs[0]) == 1 else f"{stem}[{told}]"


def _names(nodes: Nodes) -> list[str]:
    """Names of switches that Slurm can take, no two alike."""
    found: list[str] = []
    taken: set[str] = set()
    for node in range(nodes.hosts, len(nodes)):
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", nodes.names[node]) or "switch"
        if nodes.shared(node):
            name = f"{name}-{nodes.guids[node]:x}"
        found.append(_free(name, taken))
        taken.add(found[-1])
    return found


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
