"""`netloom optimize --from`: the routes in force, which of their entries cannot stay, and which must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom import foreign_entries
from netloom.errors import FormatError, TrafficError
from netloom.findings import finding
from netloom.session.faults import fault_lines
from netloom.session.session import Session
from netloom.session.sources import is_file_or_stdin, name_of
from netloom.shown import units

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from netloom._core import Fabric, Routes, Traffic

_TOLD = 3
"""How many entries are told by name."""
_NONE = 65535
"""No entry."""
_NO_DESTINATIONS = (b"Router portguid", b"Aggregation Node")
"""What a file of routes says of LIDs that are left out without a fault."""
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
    given : Routes
        Towards hosts as given, to measure what was there.
    safe : bool
        Whether `given` may stay: hosts lose nothing with them, and nothing can deadlock.
    repaired_in_given : int
        How many of the entries that were replaced are so in `given` too: of switches' own LIDs.
    text : bytes
        The file, for entries of LIDs that no port of the fabric has.
    read : Routes
        Today's as they were read: what *before* is measured with.
    still : bool
        Whether nothing else may change: what was dead is replaced, and nobody asked for more.
    """

    routes: Routes
    name: str
    repaired_entries: int
    given: Routes
    safe: bool
    repaired_in_given: int
    text: bytes
    read: Routes
    still: bool = False

    def with_foreign_entries(self, file: bytes, fabric: Fabric) -> bytes:
        """What is written, with today's entries of LIDs that no port of the fabric has."""
        if not self.text:
            return file
        is_foreign = foreign_entries.of_fabric(fabric)
        taken = set(foreign_entries.lids(file, lambda lid, rest: True))
        guids = fabric.switch_table()["guid"]
        links = fabric.link_table()
        of_switches = links["alive"] & (links["source"] >= fabric.hosts)
        owners = guids[links["source"][of_switches] - fabric.hosts]
        cabled = set(zip(owners.tolist(), links["source_port"][of_switches].tolist(), strict=True))
        return foreign_entries.with_entries(
            file,
            [self.text],
            set(guids.tolist()),
            lambda lid, rest: lid not in taken and is_foreign(lid, rest),
            cabled,
        )


def read_today(
    session: Session, source: Routes | str, fabric: Fabric, *, repair: bool, asks_for_more: bool = True
) -> Today:
    """Reads today's routes.

    Entries that lead nowhere, or are missing though there is a way, are refused; with `repair` they are
    replaced and told, and unless somebody `asks_for_more` nothing else is.
    Entries on no shortest up*/down* way work today, but together with others they could
    make loops: the search replaces them; what is given stays where it is safe and nothing better is found.
    Of switches' own LIDs only what is not sound is replaced, missing entries are added, and what no up*/down*
    way leads to may stay empty. Entries of LIDs that no port of the fabric has are kept, and told.

    Raises
    ------
    FormatError
        Naming the first entries, by line of the file where that is known.
    """
    from netloom import _core

    routes, text = _read(session, source, fabric)
    with session.timed("read"):
        whole = _core.repaired(fabric, routes)
        before, after = routes.table(), whole.table()
        differs = before != after
        missing = differs & (before == _NONE)
        left_out = differs & (after == _NONE)
        detours = differs & ~missing & ~left_out
    name = _name(source)
    _tell_foreign_entries(session, name, fabric, text)
    broken = [fault for fault in routes.faults if fault[1] in _BREAKING]
    lines = [f["text"] for f in fault_lines(broken, name)]
    # What the file's faults say is missing for that reason: told by line, not again.
    to_hosts = missing[:, : fabric.hosts << routes.lmc]
    number = max(int(to_hosts.sum()), len(broken))
    if not lines:
        # Files without switches' own LIDs are ordinary: these entries are only added.
        lines = _entries(fabric, name, to_hosts if to_hosts.any() else missing, routes.lmc, "has no entry")
    if number and not repair:
        more = "" if number <= 1 else f" (the first of {units.count(number)} such entries)"
        raise FormatError(f"{lines[0]}{more}; --repair replaces them")
    if lines:
        session.findings += [finding("repaired", line) for line in lines]
    if missing.any():
        session.note(f"{name}: replaced what leads nowhere or is missing: {_number(int(missing.sum()))}")
    if repair and not asks_for_more:
        return _revived(session, name, fabric, (routes, text), whole)
    given = whole.mixed(routes, list(range(fabric.hosts)))
    safe, loops = False, 0
    if detours[:, : fabric.hosts << routes.lmc].any():
        with session.timed("check"):
            least = _core.check(fabric, whole, threads=session.threads).unreachable_hosts
            # As they are if whole: beside entries of other ways for the switches they could make loops.
            for tables in (given,) if missing.any() else (routes, given):
                report = _core.check(fabric, tables, threads=session.threads)
                loops = report.credit_loops
                safe = not loops and not report.invalid_entries and report.unreachable_hosts <= least
                if safe:
                    given = tables
                    break
    empty = max(len(broken) - int(missing.sum()), 0) + int(left_out.sum())
    if empty and given is not routes:
        told = f"{name}: taken out what leads nowhere, where no up*/down* way leads: {_number(empty)}"
        session.findings.append(finding("left-out", told))
        session.note(told)
    if detours.any():
        session.findings += [
            finding("not-shortest", text)
            for text in _entries(fabric, name, detours, routes.lmc, "is on no shortest up*/down* way")
        ]
        said = f"on no shortest up*/down* way: {_number(int(detours.sum()))}"
        if loops:
            said += ", which can deadlock on one lane: these come first, whatever the loads are then"
        # Tables that are safe may yet stay as they are: see `tell_kept`.
        session.note(f"{name}: {'the search begins without' if safe else 'replaced'} what is {said}")
    in_given = int(differs.sum()) - int(differs[:, : fabric.hosts << routes.lmc].sum())
    if given is routes:
        in_given = 0
    return Today(whole, _name(source), int(differs.sum()), given, safe, in_given, text, routes)


def _revived(
    session: Session, name: str, fabric: Fabric, given: tuple[Routes, bytes], whole: Routes
) -> Today:
    """Today's routes with what is dead replaced; `whole` where what is left of them can deadlock."""
    from netloom import _core

    routes, text = given
    with session.timed("repair"):
        alive = _core.repaired(fabric, routes, dead=True)
        changed = alive.changed_entries(routes)
        lost = changed if alive != whole else min(_core.dead_entries(fabric, routes), changed)
        cut_off = _core.check(fabric, alive, threads=session.threads).no_way_to_switch
    if cut_off:
        pairs = f"{units.count(cut_off)} pairs of a host and a switch's own LID"
        session.note(f"{name}: {pairs} have no up*/down* way left")
    more = "--max-changes N or --penalty-per-change 0 asks for more"
    if not changed:
        session.note(f"{name}: nothing is dead, and --repair changes nothing else: {more}")
    elif changed > lost:
        # What is left of these tables could wait in a circle.
        first = f"{_number(lost)} replaced from which packets do not arrive" if lost else "nothing is dead"
        others = f"{_number(changed - lost)} on no shortest up*/down* way replaced too"
        told = f"{name}: {first}; what is left can deadlock: {others}"
        session.findings.append(finding("repaired", told))
        session.note(f"{told}; nothing else: {more}")
    else:
        told = f"{name}: {_number(lost)} replaced from which packets do not arrive, nothing else"
        session.note(f"{told}: {more}")
    return Today(alive, name, changed, alive, True, changed, text, routes, still=True)


def arriving(fabric: Fabric, routes: Routes, traffic: Traffic) -> tuple[Traffic, int]:
    """The part of a traffic whose packets arrive with some routes, and how many pairs of it do not."""
    import numpy as np

    from netloom import _core

    table, links = routes.table(), fabric.link_table()
    hosts, end = fabric.hosts, fabric.hosts + fabric.switches
    # Where each port leads: switches by their place behind the hosts, then nowhere; so does the last column.
    ports = int(links["source_port"].max(initial=0)) + 1
    leads = np.full((fabric.switches, ports + 1), end, np.int64)
    alive = np.asarray(links["alive"])
    out = alive & (links["source"] >= hosts)
    leads[links["source"][out] - hosts, links["source_port"][out]] = links["target"][out]
    leaf = np.full(hosts, end, np.int64)
    cabled = alive[:hosts]
    leaf[cabled] = links["target"][:hosts][cabled]
    source = np.repeat(np.arange(hosts), np.diff(traffic.indptr))
    to = np.asarray(traffic.indices, np.int64)
    at = leaf[source]
    for _ in range(fabric.switches + 1):
        on = (at >= hosts) & (at < end)
        if not on.any():
            break
        port = np.minimum(table[at[on] - hosts, to[on] << routes.lmc], ports)
        at[on] = leads[at[on] - hosts, port]
    arrives = (at == to) | (source == to)
    lost = int((~arrives).sum())
    if not lost:
        return traffic, 0
    kept = _core.Traffic.from_triples(
        hosts, source[arrives], to[arrives], traffic.data[arrives], hosts_hash=traffic.hosts_hash
    )
    return kept, lost


TOLERANCE = 1e-9
"""Loads that differ by less than this part are the same."""


def repaired(today: Today | None, kept: bool) -> int | None:
    """How many of today's entries are others in what is written, whatever the search has changed."""
    if today is None:
        return None
    return today.repaired_in_given if kept else today.repaired_entries


def tell_kept(session: Session, today: Today, given: float, found: float) -> None:
    """Says that today's routes stay, and why; where they are better, that is what to know first."""
    name = _name(today.name)
    if today.still:
        return
    better = given < found * (1 - TOLERANCE)
    why = (
        "better than all that the search may write"
        if better
        else "they are safe, some of their ways are not up*/down*, and of those ways no better tables "
        "were found"
    )
    said = f"{name}: kept as they are ({units.size(given)}): {why} ({units.size(found)})"
    session.findings.append(finding("today-is-better" if better else "kept", said))
    session.note(said, kind="warning" if better else "note")


def tell_worse(session: Session, before: Mapping[str, Any], value: float, avoids: bool) -> None:
    """Says that the routes are worse than those that were there; these lost no packets."""
    start = before["value"]
    if before["lost_pairs"] or not value > start * (1 + TOLERANCE):
        return
    more = f"{(value / start - 1) * 100:.3g} % more" if start > 0 else "more"
    said = f"{before['routes']}: {units.size(start)} today, {units.size(value)} with these routes: {more}"
    if avoids:
        said += " without what is avoided"
    session.findings.append(finding("worse-than-today", said))
    session.note(said, kind="warning")


def _read(session: Session, source: Routes | str, fabric: Fabric) -> tuple[Routes, bytes]:
    """Routes, and the text of their file; that is empty of an engine's, and where it has no foreign LIDs."""
    from netloom import _core

    if not isinstance(source, str):
        return source, b""
    if _core.is_engine(source) or not is_file_or_stdin(source):
        return session.routes(source, fabric, None, strict=False), b""
    with session.timed("read"):
        data = session.read("routes", source)
        routes = _core.Routes.parse(data, fabric, label=source, strict=False)
        text = foreign_entries.plain(data)
        # Of so many lines each would be looked at: only where the reader left out some.
        odd = any(kind in ("unknown-lid", "conflict") for _, kind, _ in routes.faults)
        return routes, text if odd or any(word in text for word in _NO_DESTINATIONS) else b""


def _name(source: Routes | str) -> str:
    """What routes are called that were given."""
    if not isinstance(source, str):
        return "those given"
    return name_of(source)


def _tell_foreign_entries(session: Session, name: str, fabric: Fabric, text: bytes) -> None:
    """Says which LIDs no port of the fabric has."""
    lids = foreign_entries.lids(text, foreign_entries.of_fabric(fabric)) if text else []
    if lids:
        told = ", ".join(f"0x{lid:04x}" for lid in lids[:_TOLD]) + (", …" if len(lids) > _TOLD else "")
        which = "1 LID" if len(lids) == 1 else f"{units.count(len(lids))} LIDs"
        said = f"{name}: {which} that no port of the fabric has ({told}): written as they are, not checked"
        session.findings.append(finding("unknown-lid", said))
        session.note(said)


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
    return [*texts, f"{name}: and {units.count(more)} more"] if more > 0 else texts


def _number(entries: int) -> str:
    return f"{units.count(entries)} {'entry' if entries == 1 else 'entries'}"
