"""Path sampling's programs on ports of this machine, by one call: put there, taken off, looked at.

Each function does what the command of that name does, and returns its `result`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.dataplane import attaching, collecting, wiring
from netloom.dataplane import plan as planning
from netloom.dataplane.journal import DEFAULT, Journal
from netloom.dataplane.programs import COUNTS
from netloom.errors import ArgumentError
from netloom.findings import finding
from netloom.session.arguments import real
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.shown import units

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.dataplane.attaching import Seen
    from netloom.dataplane.journal import Attached
    from netloom.dataplane.plan import Port
    from netloom.findings import Finding


@checked(queue_bytes=(0, 2**32 - 2))
def dataplane_up(
    fabric: Fabric | str,
    ports: str | os.PathLike[str] | None = None,
    *,
    interface: Sequence[str] = (),
    yes: bool = False,
    queue_bytes: int | None = None,
    rate: float = 1.0,
    keep: bool = False,
    journal: str | os.PathLike[str] | None = None,
    session: Session | None = None,
) -> dict[str, Any]:
    """Puts the BPF programs of path sampling on ports of this machine; a dry run unless `yes`.

    Parameters
    ----------
    fabric : Fabric or str
        A fabric, a dump of one, or a generator spec.
    ports : path, optional
        Which interface is which port: a table (CSV) with `node`, `port`, `interface`, and if need be
        `namespace` and `address`.
    interface : sequence of str, default ()
        The same in words, `NODE:PORT=INTERFACE` or `NODE:PORT=INTERFACE@NAMESPACE`: one of both.
    yes : bool, default False
        Make the change; without it nothing is changed.
    queue_bytes : int, optional
        The queue length in bytes, 0 to 2^32 - 2, from which a switch's port is congested. [default: never]
    rate : float, default 1.0
        The share of packets that hosts sample, 1/65536 to 1.
    keep : bool, default False
        Leave tags in packets that hosts receive, instead of taking them off.
    journal : path, optional
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    session : Session, optional
        What it may spend and whom it tells.

    Returns
    -------
    dict
        As `result` of `netloom dataplane up --format json`.

    Raises
    ------
    ArgumentError
        If neither or both of `ports` and `interface` are given.
    LiveError
        If this machine cannot run them, or they are up already.

    Examples
    --------
    >>> netloom.dataplane_up("two-level:leaves=2,hosts=2,spines=1", "ports.csv")["done"]  # doctest: +SKIP
    False
    """
    from netloom import _core, critical

    if (ports is None) == (not interface):
        raise ArgumentError("expected a table of ports, or interface: one of them")
    rate = real("rate", rate, "a share of packets, 1/65536 to 1", 1 / 65536, 1.0)
    session = session or Session()
    attaching.need()
    net = session.fabric(fabric, warn=True)
    found, _, _ = planning.ports(net, queue_bytes=queue_bytes)
    if ports is None:
        wires = wiring.of_options(interface, found)
    else:
        wires = wiring.read(session.read("ports", os.fspath(ports)), os.fspath(ports), found)
    book = _book(journal)
    owner = None
    with session.timed("ports"):
        if yes:
            with critical.section():
                now, seen = attaching.up(
                    book, wires, rate=rate, keep=keep, hash_name=_core.sampling_hash("gf")
                )
            owner = f"{now.owner:016x}"
        else:
            seen = attaching.look(wires)
    return {
        "done": yes,
        "journal": str(book.folder),
        "owner": owner,
        "rate": rate,
        "keep": keep,
        "ports": [_port(one.port) for one in seen],
        "findings": _findings(seen, found),
    }


@checked()
def dataplane_down(
    *, yes: bool = False, journal: str | os.PathLike[str] | None = None, session: Session | None = None
) -> dict[str, Any]:
    """Takes the programs off again; a dry run unless `yes`.

    Parameters
    ----------
    yes : bool, default False
        Make the change; without it nothing is changed.
    journal : path, optional
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    session : Session, optional
        What it may spend and whom it tells.

    Returns
    -------
    dict
        As `result` of `netloom dataplane down --format json`; `time` is None if nothing is up.

    Raises
    ------
    LiveError
        If this machine cannot take them off.

    Examples
    --------
    >>> netloom.dataplane_down(yes=True)["filters_removed"]  # doctest: +SKIP
    4
    """
    from netloom import critical

    session = session or Session()
    book = _book(journal)
    now = book.read()
    if now is not None:
        attaching.need()
    left = None
    if yes:
        with session.timed("ports"), critical.section():
            done = attaching.down(book)
        now, left = (None, None) if done is None else done
    result: dict[str, Any] = {
        "done": yes,
        "journal": str(book.folder),
        "time": None if now is None else now.time,
        "ports": [] if now is None else [_port(port) for port in now.ports],
        "filters_removed": 0 if left is None else left.filters,
        "clsact_removed": 0 if left is None else left.clsact,
        "findings": [],
    }
    if left is not None:
        result["findings"] = [
            *(
                finding("port-gone", f"{port}: is not there any more, so nothing was taken off")
                for port in left.gone
            ),
            *(
                finding("clsact-kept", f"{port}: keeps clsact: filters of others are on it")
                for port in left.kept
            ),
        ]
    return result


def dataplane_status(*, journal: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """What is up, and what its programs did to packets so far.

    Parameters
    ----------
    journal : path, optional
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]

    Returns
    -------
    dict
        As `result` of `netloom dataplane status --format json`.

    Raises
    ------
    LiveError
        If this machine cannot ask the programs.

    Examples
    --------
    >>> netloom.dataplane_status(journal="no-such-folder")["up"]
    False
    """
    book = _book(journal)
    now = book.read()
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    if now is not None:
        attaching.need()
        if not now.complete:
            found.append(finding("half-up", "it was left half done: `netloom dataplane down --yes`"))
        for port, name, counts in collecting.states(now) if now.is_of_this_boot else ():
            if counts is None:
                found.append(
                    finding("program-gone", f"{port.node}:{port.port}: {port.place}: the {name} is not there")
                )
            rows.append(
                {
                    "node": port.node,
                    "port": port.port,
                    "interface": port.interface,
                    "namespace": port.namespace,
                    "program": name,
                    "there": counts is not None,
                    **(dict.fromkeys(COUNTS, 0) if counts is None else counts),
                }
            )
    return {
        "journal": str(book.folder),
        "up": now is not None and now.is_of_this_boot,
        "time": None if now is None else now.time,
        "ports": rows,
        "findings": found,
    }


def _book(folder: str | os.PathLike[str] | None) -> Journal:
    """The journal that is meant."""
    return Journal(DEFAULT if folder is None else Path(folder))


def _port(port: Attached) -> dict[str, Any]:
    return {
        "node": port.node,
        "port": port.port,
        "role": port.role,
        "interface": port.interface,
        "namespace": port.namespace,
        "number": port.number,
        "mask": f"0x{port.mask:04x}",
        "queue_bytes": port.queue_bytes,
        "addresses": " ".join(port.addresses),
        "had_clsact": port.had_clsact,
    }


def _findings(seen: Sequence[Seen], plan: Sequence[Port]) -> list[Finding]:
    found = [
        finding(
            "other-filters",
            f"{one.port.node}:{one.port.port}: {one.port.place} has {one.others} filters of others: one that "
            "comes first and ends a packet's way hides it from ours",
        )
        for one in seen
        if one.others
    ]
    here = {(one.port.node, one.port.port) for one in seen}
    absent = [port for port in plan if (port.node, port.port) not in here]
    for role, kind, words in (
        (
            "switch",
            "switch-left-out",
            "packets that pass them are decoded wrongly, unless somebody else runs them",
        ),
        ("host", "host-left-out", "their packets are not sampled here"),
    ):
        ports = [f"{port.node}:{port.port}" for port in absent if port.role == role]
        if ports:
            some = ", ".join(ports[:4]) + (", …" if len(ports) > 4 else "")
            found.append(
                finding(kind, f"{units.count(len(ports))} ports of the plan are not listed ({some}): {words}")
            )
    return found
