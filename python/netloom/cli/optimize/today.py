"""`netloom optimize --from`: the routes in force, which of their entries cannot stay, and which must."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.cli.shared import render
from netloom.cli.shared.inputs import fault_lines, is_stdin
from netloom.cli.shared.run import Run
from netloom.errors import FormatError, TrafficError
from netloom.findings import finding

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netloom._core import Fabric, Routes, Traffic

_TOLD = 3
"""How many entries are told by name."""
_NONE = 65535
"""No entry."""
_BREAKING = ("port-above-radix", "port-to-nowhere", "conflict")
"""Faults of a file of routes with which packets are lost."""


@dataclass(frozen=True)
class Today:
    """The routes that a search begins with.

    Attributes
    ----------
    routes : Routes
        Today's, with what cannot stay replaced.
    name : str
        As given.
    repaired_entries : int
        How many entries were replaced.
    """

    routes: Routes
    name: str
    repaired_entries: int


def read_today(run: Run, source: str, fabric: Fabric, *, repair: bool) -> Today:
    """Reads today's routes.

    Entries that lead nowhere, or are missing though there is a way, are refused; with `repair` they are
    replaced and told. Entries on no shortest up*/down* way work today, but together with others they could
    make loops: they are replaced in any case, with a note. Of switches' own LIDs only what is not sound is
    replaced, missing entries are added, and what no up*/down* way leads to may stay empty.

    Raises
    ------
    FormatError
        Naming the first entries, by line of the file where that is known.
    """
    from netloom import _core

    routes = run.routes(source, fabric, None, strict=False)
    with run.timed("read"):
        whole = _core.repaired(fabric, routes)
        before, after = routes.table(), whole.table()
        differs = before != after
        missing = differs & (before == _NONE)
        left_out = differs & (after == _NONE)
        detours = differs & ~missing & ~left_out
    name = "-" if is_stdin(source) else source
    broken = [fault for fault in routes.faults if fault[1] in _BREAKING]
    lines = [f["text"] for f in fault_lines(broken, source)]
    # What the file's faults say is missing for that reason: told by line, not again.
    to_hosts = missing[:, : fabric.hosts << routes.lmc]
    number = max(int(to_hosts.sum()), len(broken))
    if not lines:
        # Files without switches' own LIDs are ordinary: these entries are only added.
        lines = _entries(fabric, name, to_hosts if to_hosts.any() else missing, routes.lmc, "has no entry")
    if number and not repair:
        more = "" if number <= 1 else f" (the first of {render.count(number)} such entries)"
        raise FormatError(f"{lines[0]}{more}; --repair replaces them")
    if lines:
        run.findings += [finding("repaired", line) for line in lines]
    if missing.any():
        run.note(f"{name}: replaced what leads nowhere or is missing: {_number(int(missing.sum()))}")
    empty = max(len(broken) - int(missing.sum()), 0) + int(left_out.sum())
    if empty:
        told = f"{name}: taken out what leads nowhere, where no up*/down* way leads: {_number(empty)}"
        run.findings.append(finding("left-out", told))
        run.note(told)
    if detours.any():
        run.findings += [
            finding("not-shortest", text)
            for text in _entries(fabric, name, detours, routes.lmc, "is on no shortest up*/down* way")
        ]
        run.note(f"{name}: replaced what is on no shortest up*/down* way: {_number(int(detours.sum()))}")
    return Today(whole, source, int(differs.sum()))


def unchanged_hosts(old: Traffic, new: Traffic) -> list[int]:
    """Hosts that are sent the same in both traffics: from the same hosts the same bytes.

    Raises
    ------
    TrafficError
        If the two are of different sizes.
    """
    import numpy as np

    n = new.endpoints
    if old.endpoints != n:
        raise TrafficError(
            f"the traffic of --keep-jobs has {old.endpoints} endpoints, today's {n}: expected one size"
        )
    (keys, data), (others, theirs) = _entries_of(old), _entries_of(new)
    same, i, j = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    changed = np.zeros(n, dtype=bool)
    changed[np.setdiff1d(keys, same, assume_unique=True) % n] = True
    changed[np.setdiff1d(others, same, assume_unique=True) % n] = True
    changed[same[data[i] != theirs[j]] % n] = True
    return [int(host) for host in np.flatnonzero(~changed)]


def _entries_of(traffic: Traffic) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    import numpy as np

    n = traffic.endpoints
    source = np.repeat(np.arange(n, dtype=np.int64), np.diff(traffic.indptr))
    return source * n + traffic.indices, traffic.data


def _entries(fabric: Fabric, name: str, which: npt.NDArray[np.bool_], lmc: int, what: str) -> list[str]:
    """`today.lfts: switch "leaf0", host "node3": has no entry`, the first few; or `…, switch "spine1": …`."""
    import numpy as np

    hosts, switches = fabric.host_names, fabric.switch_names
    texts = []
    for switch, address in np.argwhere(which)[:_TOLD]:
        # Addresses of switches follow those of hosts.
        other = int(address) - (len(hosts) << lmc)
        to = f'switch "{switches[other]}"' if other >= 0 else f'host "{hosts[int(address) >> lmc]}"'
        texts.append(f'{name}: switch "{switches[switch]}", {to}: {what}')
    more = int(which.sum()) - len(texts)
    return [*texts, f"{name}: and {render.count(more)} more"] if more > 0 else texts


def _number(entries: int) -> str:
    return f"{render.count(entries)} {'entry' if entries == 1 else 'entries'}"
