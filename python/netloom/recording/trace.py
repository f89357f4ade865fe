"""A trace: what all ranks of a program did, in order, and its Parquet files (docs/methods/traces.md).

A folder has `events.parquet` (a row an event, rank by rank in order), `communicators.parquet` and
`trace.json`. What a source does not say is empty, never 0. A row of communicators is what one side knows of
one: both sides of an intercommunicator have a row each, of one context.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom import reading
from netloom.errors import FormatError
from netloom.files import Folder, Scratch
from netloom.reading import parquet
from netloom.recording import events as raw
from netloom.recording import schedules
from netloom.recording.events import ANY, NONE, Communicator, Ints, base_name, by_communicator
from netloom.recording.merging import Lost
from netloom.recording.records import SPAWNED, Record

VERSION = 1
EVENTS, COMMUNICATORS, META = "events.parquet", "communicators.parquet", "trace.json"
"""Names of the files of a trace."""

SENDS = ("Send", "Bsend", "Ssend", "Rsend", "Psend", "Sendrecv", "Sendrecv_replace")
RECEIVES = ("Recv", "Mrecv")
COMPLETES = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
_KNOWN = (
    *SENDS,
    *RECEIVES,
    *COMPLETES,
    *schedules.ALGORITHMS,
    *schedules.NEIGHBOURHOODS,
    *("Start", "Startall", "Probe", "Mprobe", "Cancel", "Pready", "Parrived", "Init", "Finalize"),
)
_STEMS = (
    "Buffer_",
    "Cart_",
    "Comm_",
    "Dist_graph_",
    "File_",
    "Graph_",
    "Group_",
    "Intercomm_",
    "Request_",
    "Win_",
)
"""Functions that a trace may have."""
_MOST_BYTES = 1 << 36
_MOST_META = 1 << 26
_MOST_RANKS = 10_000_000
_SCHEMA = "netloom.trace/"


@dataclass
class Events:
    """What one rank did, in order: columns of one length.

    Parameters
    ----------
    function : array of int
        Index into `Trace.functions`.
    thread, start_ns, end_ns, peer, tag, communicator, bytes : arrays of int
        As `netloom.recording.events.Rank`; communicators are those of the trace, `peer` is a rank of the
        world, of collectives too (their root).
    request : array of bool
        Whether a request began.
    completes : tuple of arrays
        Indices of events that complete requests, and of the events that began these.
    cancelled : array of bool
        Whether that request was cancelled: nothing was sent or received.
    counts : tuple of arrays
        Indices of events, which member, bytes.
    """

    function: Ints
    thread: Ints
    start_ns: Ints
    end_ns: Ints
    peer: Ints
    tag: Ints
    communicator: Ints
    bytes: Ints
    request: npt.NDArray[np.bool_]
    completes: tuple[Ints, Ints]
    cancelled: npt.NDArray[np.bool_]
    counts: tuple[Ints, Ints, Ints]

    def __len__(self) -> int:
        return len(self.function)


@dataclass
class Trace:
    """What a program did.

    Parameters
    ----------
    ranks : int
        In MPI_COMM_WORLD.
    functions : list of str
        MPI functions, without `MPI_`.
    events : list of Events
        By rank; empty for a rank that left none.
    communicators : list of Communicator
        The world is the first.
    meta : dict
        `program`, `mpi`, `abi`, `tool`, `hosts` by rank, `lost` ranks, `dropped` events by rank; `lacks`:
        what the source has and this has not, with numbers of calls; `timed`: false where calls take no time;
        `collective_tags`: from which tag on messages are those of collectives.
    """

    ranks: int
    functions: list[str]
    events: list[Events]
    communicators: list[Communicator]
    meta: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(one) for one in self.events)

    def bases(self) -> list[str]:
        """What each function is a form of: `Alltoall` of `Ialltoall`."""
        return [base_name(name) for name in self.functions]


def of_records(found: Iterable[Record], lost: Sequence[Lost] = (), hosts: Sequence[str | None] = ()) -> Trace:
    """A trace from the records of all ranks.

    Parameters
    ----------
    found : iterable of Record
        Files of events, as `merging.merge` accepted them.
    lost : sequence of Lost
        Ranks whose records end early or are not there.
    hosts : sequence of str
        By rank.

    Returns
    -------
    Trace
    """
    world = sorted((one for one in found if not one.flags & SPAWNED), key=lambda one: one.rank)
    ranks = world[0].ranks
    functions: dict[str, int] = {}
    communicators = [Communicator(np.arange(ranks), False, 0)]
    # Where nothing tells copies apart (records of earlier versions), one row has all of the same members.
    numbers: dict[tuple[bytes, bool, int | None], int] = {
        (communicators[0].members.tobytes(), False, None): 0
    }
    sides: dict[int, int] = {}
    groups: dict[bytes, Ints] = {}
    events = [_empty() for _ in range(ranks)]
    dropped, unread = {}, 0
    for record in world:
        own = raw.read(record)
        local = np.zeros(max(own.communicators, default=0) + 1, np.int64)
        for number, (members, remote, identity) in own.communicators.items():
            key = members.tobytes(), remote, identity
            if number and key not in numbers:
                row = numbers[key] = len(communicators)
                context = None if identity is None else sides.setdefault(identity, row) if remote else row
                communicators.append(Communicator(groups.setdefault(key[0], members), remote, context))
            local[number] = numbers[key] if number else 0
        names = [functions.setdefault(name[1:], len(functions)) for name in own.names]
        letters = np.array([name[:1] for name in own.names])
        communicator = local[own.communicator]
        _roots(own, letters, communicator, communicators)
        events[record.rank] = Events(
            np.array(names, np.int64)[own.function] if len(own) else own.function,
            own.thread,
            own.start_ns,
            own.end_ns,
            own.peer,
            own.tag,
            communicator,
            own.bytes,
            own.request,
            own.completes,
            own.cancelled,
            own.counts,
        )
        if own.dropped:
            dropped[str(record.rank)] = own.dropped
        unread += own.unread
    meta = {
        "program": world[0].program,
        "mpi": " ".join(world[0].library.split())[:200],
        "abi": world[0].abi,
        "tool": "netloom record",
        "hosts": list(hosts),
        "lost": [{"rank": one.rank, "host": one.host, "why": one.why} for one in lost],
        "dropped": dropped,
        "unread": unread,
    }
    return Trace(ranks, list(functions), events, communicators, meta)


def _roots(own: raw.Rank, letters: npt.NDArray[Any], communicator: Ints, known: list[Communicator]) -> None:
    """Roots of collectives become ranks of the world."""
    rooted = (
        np.flatnonzero((letters[own.function] == "C") & (own.peer >= 0))
        if len(own)
        else np.empty(0, np.int64)
    )
    for number, at in by_communicator(communicator, rooted).items():
        members = known[number].members
        inside = own.peer[at] < len(members)
        own.peer[at] = np.where(inside, members[np.minimum(own.peer[at], len(members) - 1)], NONE)


def _empty() -> Events:
    none = np.empty(0, np.int64)
    return Events(
        *(none, none, none, none, none, none, none, none, np.empty(0, bool), (none, none), np.empty(0, bool)),
        (none, none, none),
    )


# Parquet.


def to_files(trace: Trace) -> dict[str, bytes]:
    """A trace's three files, by their names.

    Parameters
    ----------
    trace : Trace
        What ranks did.

    Returns
    -------
    dict
        Contents of `events.parquet`, `communicators.parquet` and `trace.json`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, rows, groups = _schema(), io.BytesIO(), io.BytesIO()
    with pq.ParquetWriter(rows, schema, compression="zstd") as writer:
        for rank, events in enumerate(trace.events):
            if len(events):
                writer.write_table(_table(trace, rank, events, schema))
    members = np.concatenate([one.members for one in trace.communicators])
    ends = np.cumsum([0, *(len(one.members) for one in trace.communicators)])
    table = pa.table(
        {
            "communicator": pa.array(range(len(trace.communicators)), pa.int32()),
            "remote": pa.array([one.remote for one in trace.communicators], pa.bool_()),
            "context": pa.array([one.context for one in trace.communicators], pa.int32()),
            "members": pa.ListArray.from_arrays(
                pa.array(ends, pa.int32()), pa.array(members, pa.int32(), mask=members < 0)
            ),
        }
    )
    pq.write_table(table, groups, compression="zstd")
    meta = {"schema": f"{_SCHEMA}{VERSION}", "ranks": trace.ranks, **trace.meta}
    return {
        EVENTS: rows.getvalue(),
        COMMUNICATORS: groups.getvalue(),
        META: (json.dumps(meta, indent=1) + "\n").encode(),
    }


def write(folder: Path, trace: Trace, others: Mapping[str, bytes]) -> None:
    """Writes a trace's folder, whole or not at all.

    Parameters
    ----------
    folder : Path
        Where it goes; there is nothing yet.
    trace : Trace
        What ranks did.
    others : mapping
        Contents of other files in it, by name.

    Raises
    ------
    OSError
        If it cannot be written, or something is there.
    """
    contents = {**to_files(trace), **others}
    with Folder.open(folder.parent) as parent, Scratch(parent) as scratch:
        with scratch.folder("trace", make=True) as made:
            for name, data in contents.items():
                made.write(name, data)
        parent.take(scratch, "trace", folder.name)


def _schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("rank", pa.int32()),
            ("thread", pa.int32()),
            ("seq", pa.int64()),
            ("start_ns", pa.int64()),
            ("end_ns", pa.int64()),
            ("function", pa.dictionary(pa.int16(), pa.string())),
            ("peer", pa.int32()),
            ("root", pa.int32()),
            ("tag", pa.int32()),
            ("communicator", pa.int32()),
            ("bytes", pa.int64()),
            ("request", pa.bool_()),
            ("completes", pa.list_(pa.int64())),
            ("cancelled", pa.bool_()),
            ("counts", pa.map_(pa.int32(), pa.int64())),
        ]
    )


def _table(trace: Trace, rank: int, events: Events, schema: Any) -> Any:
    import pyarrow as pa

    n = len(events)
    bases = np.array(trace.bases())[events.function]
    pointed = np.isin(bases, [*SENDS, *RECEIVES]) | one_sided(bases)
    completing = np.isin(bases, COMPLETES)
    collective = ~pointed & ~completing

    def column(values: Ints, kind: Any, there: npt.NDArray[np.bool_]) -> Any:
        return pa.array(np.where(there, values, 0), kind, mask=~there)

    lists = np.bincount(events.completes[0], minlength=n)[:n]
    order = np.argsort(events.completes[0], kind="stable")
    offsets = np.concatenate([[0], np.cumsum(lists)]).astype(np.int32)
    completes = pa.ListArray.from_arrays(offsets, pa.array(events.completes[1][order], pa.int64()))
    kept = (events.counts[0] >= 0) & (events.counts[0] < n)
    which, member, size = (one[kept] for one in events.counts)
    order = np.argsort(which, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=n)[:n])]).astype(np.int32)
    counts = pa.MapArray.from_arrays(
        offsets, pa.array(member[order], pa.int32()), pa.array(size[order], pa.int64())
    )
    names = pa.DictionaryArray.from_arrays(
        pa.array(events.function, pa.int16()), pa.array(trace.functions, pa.string())
    )
    return pa.Table.from_arrays(
        [
            pa.array(np.full(n, rank), pa.int32()),
            pa.array(events.thread, pa.int32()),
            pa.array(np.arange(n), pa.int64()),
            column(events.start_ns, pa.int64(), events.start_ns >= 0),
            column(events.end_ns, pa.int64(), events.end_ns >= 0),
            names,
            column(events.peer, pa.int32(), pointed & (events.peer >= 0)),
            column(events.peer, pa.int32(), collective & (events.peer >= 0)),
            column(events.tag, pa.int32(), pointed & (events.tag >= 0)),
            column(events.communicator, pa.int32(), ~completing & ~one_sided(bases)),
            column(events.bytes, pa.int64(), ~completing & ~np.isin(bases, RECEIVES)),
            pa.array(events.request),
            completes,
            pa.array(events.cancelled),
            counts,
        ],
        schema=schema,
    )


def one_sided(bases: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which functions put or get."""
    stems = ("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")
    return np.isin(bases, [*stems, *(f"R{one[0].lower()}{one[1:]}" for one in stems)])


def is_folder(path: Path) -> bool:
    """Whether a folder has a trace, or what is left of one."""
    if any((path / name).is_file() for name in (EVENTS, COMMUNICATORS)):
        return True
    try:
        with Folder.open(path) as opened:
            meta = reading.of_json(opened.read(META, _MOST_META))
    except (OSError, ValueError, FormatError):
        return False
    return isinstance(meta, dict) and str(meta.get("schema", "")).startswith(_SCHEMA)


def read(folder: Path) -> Trace:
    """Reads a trace.

    Parameters
    ----------
    folder : Path
        With the three files of `to_files`.

    Returns
    -------
    Trace

    Raises
    ------
    FormatError
        Naming the file: it is no trace, of another version, lacks a column, or contradicts itself.
    OSError
        If a file cannot be read.
    """
    with Folder.open(folder) as opened:
        for name in (META, COMMUNICATORS, EVENTS):
            if not (folder / name).exists():
                label = str(folder / name)
                raise FormatError(f"{label}: expected this file of a recorded run, found none", label)
        meta_text = opened.read(META, _MOST_META)
        communicators_data = opened.read(COMMUNICATORS, _MOST_BYTES)
        events_data = opened.read(EVENTS, _MOST_BYTES)
    meta = _meta(meta_text, str(folder / META))
    ranks = meta.pop("ranks")
    communicators = _read_communicators(communicators_data, ranks, str(folder / COMMUNICATORS))
    functions, events = _read_events(events_data, ranks, communicators, str(folder / EVENTS))
    return Trace(ranks, functions, events, communicators, meta)


def _meta(data: bytes, label: str) -> dict[str, Any]:
    try:
        meta = reading.of_json(data)
    except ValueError as error:
        raise FormatError(f"{label}: expected JSON: {error}", label) from None
    if not isinstance(meta, dict) or meta.pop("schema", None) != f"{_SCHEMA}{VERSION}":
        raise FormatError(f"{label}: expected a trace of version {VERSION}, found something else", label)
    ranks = meta.get("ranks")
    if not isinstance(ranks, int) or isinstance(ranks, bool) or not 0 < ranks <= _MOST_RANKS:
        raise FormatError(f"{label}: expected a number of ranks, found {str(ranks)[:40]}", label)
    for key, kind in (("hosts", list), ("lost", list), ("dropped", dict), ("lacks", dict)):
        if not isinstance(meta.setdefault(key, kind()), kind):
            raise FormatError(f"{label}: expected {key} as a {kind.__name__}", label)
    if len(meta["hosts"]) not in (0, ranks):
        text = f"expected a host of each of {ranks} ranks, found {len(meta['hosts'])}"
        raise FormatError(f"{label}: {text}", label)
    for rank, events in meta["dropped"].items():
        is_rank = rank.isascii() and rank.isdigit() and len(rank) < 9 and int(rank) < ranks
        if not is_rank or not isinstance(events, int) or isinstance(events, bool) or events < 1:
            text = f"expected a rank below {ranks} and how many events it dropped"
            raise FormatError(f'{label}: {text}, found "{rank[:40]}": {str(events)[:40]}', label)
    since = meta.get("collective_tags")
    if since is not None and (not isinstance(since, int) or isinstance(since, bool) or since < 0):
        raise FormatError(f"{label}: expected a tag or null as collective_tags", label)
    if not all(isinstance(calls, int) for calls in meta["lacks"].values()):
        raise FormatError(f"{label}: expected numbers of calls in lacks", label)
    return meta


def _columns(data: bytes, label: str, wanted: Sequence[str]) -> Any:
    table = parquet.table(data, label)
    for name in wanted:
        if name not in table.column_names:
            raise FormatError(f"{label}: expected a column {name}, found none", label)
    return table


def _read_communicators(data: bytes, ranks: int, label: str) -> list[Communicator]:
    table = _columns(data, label, ("communicator", "remote", "members"))
    found: list[Communicator] = []
    # Traces of earlier versions do not say which are of one context.
    names = [name for name in ("communicator", "remote", "members", "context") if name in table.column_names]
    try:
        rows = table.select(names).to_pylist()
        for number, row in enumerate(rows):
            members = np.array([NONE if one is None else one for one in row["members"]], np.int64)
            if row["communicator"] != number or np.any((members < NONE) | (members >= ranks)):
                raise FormatError(
                    f"{label}: row {number}: expected a communicator of ranks below {ranks}", label
                )
            context = row.get("context")
            if context is not None and not 0 <= context < len(rows):
                raise FormatError(f"{label}: row {number}: expected a row as the context", label)
            found.append(Communicator(members, bool(row["remote"]), context))
    except (TypeError, ValueError, OverflowError):
        raise FormatError(
            f"{label}: expected numbers and lists of ranks, found something else", label
        ) from None
    if not found or found[0].remote or not np.array_equal(found[0].members, np.arange(ranks)):
        raise FormatError(f"{label}: expected all {ranks} ranks as communicator 0", label)
    return found


def _read_events(
    data: bytes, ranks: int, known: list[Communicator], label: str
) -> tuple[list[str], list[Events]]:
    import pyarrow as pa

    schema, communicators = _schema(), len(known)
    most = max(len(one.members) for one in known)
    # Traces of earlier versions do not say what was cancelled.
    table = _columns(data, label, [name for name in schema.names if name != "cancelled"])
    if "cancelled" not in table.column_names:
        table = table.append_column("cancelled", pa.array(np.zeros(table.num_rows, bool)))
    table = table.select(schema.names)
    try:
        table = table.cast(schema).combine_chunks()
    except (pa.ArrowException, ValueError):
        raise FormatError(f"{label}: expected columns of the types of a trace, found others", label) from None
    if table.num_rows == 0:
        return [], [_empty() for _ in range(ranks)]

    def numbers(name: str, lack: int) -> Ints:
        return np.asarray(table[name].fill_null(lack).to_numpy(), np.int64)

    rank = numbers("rank", -1)
    if np.any(np.diff(rank) < 0) or rank[0] < 0 or rank[-1] >= ranks:
        raise FormatError(f"{label}: expected ranks below {ranks}, in order", label)
    peer = np.maximum(numbers("peer", NONE), numbers("root", NONE))
    communicator = numbers("communicator", 0)
    if np.any((peer < NONE) | (peer >= ranks)) or np.any(
        (communicator < 0) | (communicator >= communicators)
    ):
        raise FormatError(
            f"{label}: expected peers below {ranks}, communicators below {communicators}", label
        )
    names = table["function"].chunk(0)
    if names.null_count:
        raise FormatError(f"{label}: expected a function in every row, found none", label)
    functions = names.dictionary.to_pylist()
    function = np.asarray(names.indices.to_numpy(), np.int64)
    bases = np.array([base_name(name) for name in functions])
    for number in np.unique(function).tolist():
        if not _is_known(str(bases[number])):
            text = f'expected functions of MPI without "MPI_", found "{functions[number][:40]}"'
            raise FormatError(f"{label}: {text}", label)
    peer = np.where((peer == NONE) & np.isin(bases[function], RECEIVES), ANY, peer)
    size, start, end = numbers("bytes", 0), numbers("start_ns", -1), numbers("end_ns", -1)
    if np.any((size < 0) | (size > 1 << 50)):
        raise FormatError(f"{label}: expected bytes, 0 or more, found another number", label)
    tag, thread = numbers("tag", -1), numbers("thread", 0)
    if np.any(numbers("seq", -1) != np.arange(len(rank)) - np.searchsorted(rank, rank)):
        raise FormatError(f"{label}: expected the events of each rank numbered from 0 as seq", label)
    lone = ~np.isin(bases, COMPLETES) & ~one_sided(bases)
    if np.any(lone[function] & (numbers("communicator", -1) < 0)):
        text = "expected a communicator of every message and collective, found none"
        raise FormatError(f"{label}: {text}", label)
    request = np.asarray(table["request"].fill_null(False).to_numpy(), bool)
    cancelled = np.asarray(table["cancelled"].fill_null(False).to_numpy(), bool)
    completes, counts = table["completes"].chunk(0), table["counts"].chunk(0)
    found = []
    bounds = np.searchsorted(rank, np.arange(ranks + 1)).tolist()
    for first, last in itertools.pairwise(bounds):
        part = slice(first, last)
        which, done = _lists(completes.slice(first, last - first))
        if np.any((done < 0) | (done >= last - first)) or np.any(done >= which):
            raise FormatError(f"{label}: expected requests that begin before they are complete", label)
        of, entries = _lists(counts.slice(first, last - first))
        member, sent = entries
        if np.any(sent < 0) or np.any(member < 0) or np.any(member >= most):
            raise FormatError(f"{label}: expected bytes by member, found other numbers", label)
        found.append(
            Events(
                function[part],
                thread[part],
                start[part],
                end[part],
                peer[part],
                tag[part],
                communicator[part],
                size[part],
                request[part],
                (which, done),
                cancelled[part],
                (of, member, sent),
            )
        )
    return functions, found


def _is_known(base: str) -> bool:
    """Whether MPI has such a function, of those that traces have."""
    return base in _KNOWN or base.startswith(_STEMS) or bool(one_sided(np.array([base]))[0])


def _lists(column: Any) -> tuple[Ints, Any]:
    """Which row each entry of a column of lists is of, and the entries; of maps keys and values."""
    import pyarrow as pa

    offsets = np.asarray(column.offsets.to_numpy(), np.int64)
    rows = np.repeat(np.arange(len(column)), np.diff(offsets))
    first, last = int(offsets[0]), int(offsets[-1])
    if pa.types.is_map(column.type):
        keys = np.asarray(column.keys.slice(first, last - first).to_numpy(zero_copy_only=False), np.int64)
        values = column.items.slice(first, last - first).fill_null(-1)
        return rows, (keys, np.asarray(values.to_numpy(zero_copy_only=False), np.int64))
    entries = column.values.slice(first, last - first).fill_null(-1)
    return rows, np.asarray(entries.to_numpy(zero_copy_only=False), np.int64)
