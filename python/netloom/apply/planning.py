"""A change of routes, planned against the fabric as it is now.

Idea: OpenSM accepts nearly anything, so everything is decided here: whether the new tables reach every
address from every host and cannot deadlock on the fabric as discovered, what of the tables in force they
change, and in which stages the change is safe however its blocks arrive.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import reading
from netloom.errors import NetloomError, RoutingError
from netloom.findings import Finding, finding, findings
from netloom.foreign_entries import blocks, with_entries

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Routes
    from netloom.live import Access

BLOCK = 64
"""LIDs of a forwarding table that one management packet sets."""
STAGES = 8
"""How many stages a change may have unless told."""
NONE = 65535
"""No entry, in tables of ports."""


@dataclass(frozen=True)
class Seen:
    """A fabric and the tables of its switches, at one moment."""

    access: Access
    fabric: Fabric
    tables: Routes
    raw: bytes = field(repr=False)
    """The tables as `dump_fts` prints them."""
    file: bytes | None = field(default=None, repr=False)
    """The file of routes that OpenSM reads."""
    unanswered: tuple[str, ...] = ()
    """Questions of the discovery that nobody answered: the fabric may be larger than it looks."""


@dataclass(frozen=True)
class Plan:
    """A change that has been looked into; `findings` say why it must not be made."""

    seen: Seen
    routes: Routes
    """The new tables, whole."""
    stages: Sequence[Routes]
    """The tables after every stage; the last are the new ones. Empty if nothing changes."""
    fewest: bool
    """Whether fewer stages are proven unsafe."""
    changes: Sequence[dict[str, Any]]
    """By switch: `switch`, `entries`, `blocks`."""
    findings: Sequence[Finding]
    """What forbids it: `kind` and `text`."""
    notes: Sequence[str] = ()

    @property
    def changed_entries(self) -> int:
        """Entries that differ from those in force."""
        return sum(row["entries"] for row in self.changes)

    @property
    def changed_blocks(self) -> int:
        """Blocks of 64 entries with such an entry: what OpenSM sends at least."""
        return sum(row["blocks"] for row in self.changes)

    @property
    def switches(self) -> int:
        """Switches with such an entry."""
        return len(self.changes)

    @property
    def verified(self) -> bool:
        """Whether nothing forbids it."""
        return not self.findings

    def file(self, routes: Routes) -> bytes:
        """Tables as OpenSM's `file` engine reads them; entries for foreign LIDs stay as they are."""
        return with_foreign_entries(routes.to_bytes(), self.seen)


def look(access: Access, file: Path | None = None, *, known: Fabric | None = None) -> Seen:
    """Discovers the fabric and reads all tables.

    Parameters
    ----------
    access : Access
        How it is reached.
    file : path, optional
        What OpenSM reads, if that is known.
    known : Fabric, optional
        What the fabric was a moment ago: tables are then read while it is discovered again.

    Raises
    ------
    LiveError
        If the fabric does not answer.
    """
    from netloom import _core
    from netloom.live import tables

    if known is None:
        found = access.discovery()
        fabric = _core.Fabric.parse(found.dump, label="ibnetdiscover")
        raw = tables.read_tables(access, fabric)
    else:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            finding = pool.submit(access.discovery)
            raw = tables.read_tables(access, known)
            found = finding.result()
            fabric = _core.Fabric.parse(found.dump, label="ibnetdiscover")
    kept = None
    if file is not None:
        with contextlib.suppress(OSError):
            kept = reading.whole(file)
    return Seen(access, fabric, read_tables(raw, fabric), raw, kept, found.unanswered)


def hidden(seen: Seen) -> str | None:
    """Why the fabric may be larger than it looks; None if everything in it has answered.

    `ibnetdiscover` leaves out what is behind a question that nobody answers, and ends well. Tables there can
    be neither verified nor read back.
    """
    lost = seen.unanswered
    if not lost:
        return None
    many = f"{len(lost)} questions" if len(lost) > 1 else "1 question"
    where = lost[0].split(" Attr")[0] + (", …" if len(lost) > 1 else "")
    return (
        f"{many} of the discovery got no answer over links that are up (directed route {where}): what is "
        "behind is not seen, and its tables cannot be read back; mend or cut the link (`ibqueryerrors` names "
        "bad ones), or say --allow unanswered"
    )


def read_tables(data: bytes, fabric: Fabric, *, label: str = "dump_fts") -> Routes:
    """Tables as far as they concern a fabric: those of switches that are not in it are left out."""
    from netloom import _core

    known = {int(guid) for guid in fabric.switch_table()["guid"]}
    parts = list(blocks(data))
    if any(guid not in known for guid, _, _ in parts):
        data = b"".join(data[start:end] for guid, start, end in parts if guid in known)
    return _core.Routes.parse(data, fabric, label=label, strict=False)


def plan(
    seen: Seen,
    routes: Routes,
    *,
    stages: int = STAGES,
    mend: bool = False,
    keep: bool = True,
    allow: Collection[str] = (),
    threads: int = 0,
) -> Plan:
    """Plans a change from the tables in force to `routes`, which belong to the fabric as seen.

    Parameters
    ----------
    seen : Seen
        The fabric now; see `look`.
    routes : Routes
        The new routes.
    stages : int
        How many stages there may be.
    mend : bool
        Whether entries that lead to dead ports or nowhere are replaced first.
    keep : bool
        Whether the present entries stay where the routes say nothing of the switches' own addresses.
    allow : collection of str
        Findings that are notes instead (`credit-loop`, `unanswered`).
    threads : int
        Threads to use; 0 is one a core.

    Raises
    ------
    RoutingError
        If the routes are of another kind or number of addresses than the fabric's.
    """
    from netloom import _core

    fabric = seen.fabric
    _same_addresses(fabric, routes)
    try:
        # Forwarding tables are sent, lanes are not: they must be safe without.
        new = routes.with_lanes(None)
        new = new.with_switches_of(seen.tables) if keep else new
    except RoutingError:
        routes.to_bytes()  # Says so where no forwarding table can hold them.
        raise
    notes = []
    if mend:
        sound = mended(fabric, new)
        count = sound.changed_entries(new)
        if count:
            notes.append(f"{count} entries of the new routes were mended: they led nowhere")
        new = sound
    report = _core.check(fabric, new, threads=threads)
    if report.credit_loops:
        # What routes leave out between switches, because it closes a circle, is not filled in again.
        routes = routes.with_lanes(None)
        bare = mended(fabric, routes) if mend else routes
        alone = _core.check(fabric, bare, threads=threads)
        if not alone.credit_loops:
            new, report = bare, alone
            notes.append("entries towards switches that the new routes leave out would close a credit loop")
    wrong = ("unreachable", "loop", "credit-loop", "missing-entry", "invalid-entry")
    told = [one for one in findings(report.findings) if one["kind"] in wrong]
    if report.credit_loops:
        safe, on_lanes = with_lanes_in_force(seen, new, threads)
        if safe:
            told = [one for one in told if one["kind"] != "credit-loop"]
            notes.append(on_lanes)
        told = [
            finding("credit-loop", f"{one['text']}; {on_lanes}") if one["kind"] == "credit-loop" else one
            for one in told
        ]
    unseen = hidden(seen)
    if unseen is not None:
        told.insert(0, finding("unanswered", unseen))
    refused = [one for one in told if one["kind"] not in allow]
    notes += [one["text"] for one in told if one["kind"] in allow]
    if report.non_minimal_pairs:
        notes.append(f"{report.non_minimal_pairs} pairs of hosts take longer ways than the shortest")
    if report.no_way_to_switch:
        notes.append(
            f"{report.no_way_to_switch} pairs of a host and a switch's own LID have no up*/down* way to take"
        )
    steps: list[Routes] = []
    fewest = True
    if not refused:
        try:
            steps, fewest = _core.stages(fabric, seen.tables, new, most=stages, threads=threads)
        except RoutingError as error:
            lost = lost_pairs(fabric, seen.tables) if mend else 0
            if lost:
                # Packets on their way may wait for a moment; these pairs would for ever.
                steps, fewest = [new], False
                notes.append(f"in one step, for {lost} pairs cannot talk now: {error}")
            else:
                refused.append(finding("stages", str(error)))
    return Plan(seen, new, steps, fewest, differences(seen, new), refused, notes)


def with_lanes_in_force(seen: Seen, new: Routes, threads: int = 0) -> tuple[bool, str]:
    """What the lanes that switches have now make of new tables with credit loops on one lane.

    Whether they break them at every service level, towards hosts and switches' own LIDs, in the new tables
    and in all mixes with those in force; and the same in words.
    """
    from netloom import _core
    from netloom.live import sl2vl

    try:
        rows = sl2vl.read(seen.access, seen.fabric).dump(seen.fabric)
        lanes = _core.LaneTables.parse(rows, seen.fabric, label="SL-to-VL tables in force")
    except NetloomError as error:
        return False, f"the lanes in force cannot be read: {error}"
    on_lanes = new.with_lanes(lanes)
    report = _core.check(seen.fabric, on_lanes, threads=threads)
    if lanes.uniform or report.credit_loops:
        # With the same row everywhere a packet never changes its lane: as good as one.
        return False, (
            "the lanes in force do not break it at every service level; routes that came with lanes need "
            "these first: netloom lanes load FILE --yes; where pairs of hosts have levels of their own "
            "(layers, dor on a torus) no switch knows whether programs keep to them: --allow credit-loop "
            "says that they do"
        )
    held = f"the {report.lanes} lanes in force break it, at every service level"
    if _core.mix(seen.fabric, seen.tables, on_lanes, threads=threads).credit_loops:
        return False, (
            f"{held}, but not in all mixes of old and new entries, which are there for a moment: "
            "--allow credit-loop goes on"
        )
    return True, f"one lane would have a credit loop; {held}, and in all mixes of old and new entries"


def differences(seen: Seen, new: Routes) -> list[dict[str, Any]]:
    """What differs from the tables in force, by switch: entries and blocks."""
    differ = seen.tables.table() != new.table()
    blocks = lids(seen.fabric, new.lmc) // BLOCK
    names = seen.fabric.switch_names
    return [
        {
            "switch": names[switch],
            "entries": int(differ[switch].sum()),
            "blocks": len(np.unique(blocks[differ[switch]])),
        }
        for switch in np.flatnonzero(differ.any(axis=1))
    ]


def last_entries(fabric: Fabric, old: Routes, new: Routes) -> list[tuple[int, int, int]]:
    """Of every switch that changes, the changed entry with the highest LID: its own LID, that one, the port.

    OpenSM sends block by block, the lowest first: where these are in force, it has sent nearly everything.
    """
    ports = new.table()
    differ = old.table() != ports
    addresses = lids(fabric, new.lmc)
    order = np.argsort(addresses)
    switches = fabric.switch_table()["lid"]
    found = []
    for switch in np.flatnonzero(differ.any(axis=1)):
        last = order[np.flatnonzero(differ[switch, order])[-1]]
        port = int(ports[switch, last])
        if port != NONE:
            found.append((int(switches[switch]), int(addresses[last]), port))
    return found


def lids(fabric: Fabric, lmc: int) -> npt.NDArray[np.int64]:
    """The LID of every destination of tables: of hosts, each with its addresses, then of switches."""
    hosts = fabric.host_table()["lid"].astype(np.int64)
    switches = fabric.switch_table()["lid"].astype(np.int64)
    paths = np.arange(1 << lmc, dtype=np.int64)
    return np.concatenate([(hosts[:, None] + paths).ravel(), switches])


def lost_pairs(fabric: Fabric, routes: Routes) -> int:
    """Pairs of hosts, and of hosts and switches, that cannot talk under these tables."""
    from netloom import _core

    return _core.check(fabric, routes).unreachable_pairs


def mended(fabric: Fabric, routes: Routes) -> Routes:
    """The tables with what leads nowhere replaced.

    Where they are shortest up*/down* routes but for that, entry by entry; else, and for switches' addresses,
    all entries for destinations that are not reached from everywhere.
    """
    from netloom import _core

    found = routes
    report = _core.check(fabric, routes)
    if not report.non_minimal_pairs and not report.up_down_violations and not report.shortest_turns:
        with contextlib.suppress(NetloomError):
            found = _core.repaired(fabric, routes)
    for engine in ("updn", "minhop"):
        if not lost_pairs(fabric, found):
            break
        with contextlib.suppress(NetloomError):
            found, _ = _core.patched(fabric, found, _core.route(engine, fabric, lmc=routes.lmc))
    return found


def with_foreign_entries(file: bytes, seen: Seen) -> bytes:
    """A file of routes with the present entries for what was not discovered.

    Routers and aggregation nodes have LIDs too, and a packet lost in discovery must not cost a host or switch
    its routes: in a file without them OpenSM would leave them without a way.
    """
    known = {int(lid) for lid in lids(seen.fabric, seen.tables.lmc)}
    switches = {int(guid) for guid in seen.fabric.switch_table()["guid"]}
    return with_entries(file, (seen.raw, seen.file or b""), switches, lambda lid, _: lid not in known)


def _same_addresses(fabric: Fabric, routes: Routes) -> None:
    """Refuses routes with another LMC than the fabric's."""
    if routes.lmc != fabric.lmc:
        raise RoutingError(
            f"LMC mismatch: the routes are for LMC {routes.lmc} ({1 << routes.lmc} addresses a host), the "
            f"fabric has LMC {fabric.lmc}: set lmc in OpenSM's options file and restart it, or make routes "
            "for this fabric"
        )
    if fabric.lmc and fabric.hosts:
        hosts = routes.table()[:, : fabric.hosts << fabric.lmc].reshape(fabric.switches, fabric.hosts, -1)
        if (hosts[:, :, 1:] == NONE).all() and not (hosts[:, :, 0] == NONE).all():
            raise RoutingError(
                f"LMC mismatch: the routes are for one address a host, the fabric has LMC {fabric.lmc}: make "
                "routes from a dump of this fabric"
            )
